"""Released models, models of one's own and vision-language models through `score stride`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus.problems import InputError
from evaluators.own import kind_of, open_own
from motionjury.cli import cli
from motionjury.models import open_models
from motionjury.vlm import open_vlm
from tests.evaluators import test_registry
from tests.evaluators.test_vlm import truthful
from tests.llm.server import KEY, FakeEndpoint
from tests.metrics import stride_release

OWN = '''
import numpy as np


class Sides:
    """Scores a text that names the side of the hand or foot that moves more."""

    name = "Sides"
    native_metric = "one if the side is right"
    fingerprint = "sides/1"

    def score(self, texts, motions):
        found = []
        for text, motion in zip(texts, motions, strict=True):
            swing = {
                side: max(np.ptp(motion.joint(f"{side}_{part}"), axis=0).max()
                          for part in ("wrist", "ankle"))
                for side in ("left", "right")
            }
            side = max(swing, key=swing.get)
            found.append(float(side in text))
        return np.array(found, dtype=np.float32)


def opened():
    return Sides()


def two_things():
    model = Sides()
    model.choose = lambda *_: []
    return model


def nothing():
    return 3


def nameless():
    model = Sides()
    model.name = ""
    return model
'''


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    return stride_release.write(tmp_path_factory.mktemp("stride") / "release")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("MOTIONJURY_WORKSPACE", raising=False)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def stride(*words: object) -> dict:
    done = CliRunner().invoke(cli, ["score", "stride", *map(str, words), "--json"])
    if isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_released_model_scores_a_release_from_joints(tmp_path: Path, release: Path) -> None:
    test_registry.write_tmr(tmp_path / "run")
    found = stride(release, "--model", f"tmr={tmp_path / 'run'}", "--controls", "2")
    assert found["n_kept"] == 16
    assert {cell["axis"] for cell in found["cells"]} > {"mirror_reflection"}
    # "kicks", "leg", "arm" and "raises" are unknown to this vocabulary, the sides are not.
    assert all(
        cell["invisible_rate"] == 0 for cell in found["cells"] if "random" not in cell["axis"]
    )
    again = stride(release, "--model", f"tmr={tmp_path / 'run'}", "--controls", "2")
    assert again["cells"] == found["cells"]


def test_a_model_of_ones_own_that_knows_sides_wins(tmp_path: Path, release: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    found = stride(release, "--model", "own=mine.py:opened", "--controls", "2")
    cells = {cell["axis"]: cell for cell in found["cells"]}
    assert cells["mirror_reflection"]["acc"] == 1.0
    assert cells["mirror_reflection"]["delta"] == 1.0


def test_a_vision_language_model_chooses(monkeypatch, tmp_path: Path, release: Path) -> None:
    with FakeEndpoint(truthful) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = stride(release, "--model", "vlm=seer", "--controls", "1")
        assert {got.body["model"] for got in server.got} == {"seer"}
    assert all(cell["gpr"] is None for cell in found["cells"])
    assert {cell["acc"] for cell in found["cells"]} <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_a_vision_language_model_without_an_endpoint_is_refused() -> None:
    with pytest.raises(InputError, match="no endpoint or model is named"):
        open_vlm("seer", None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("mine.py", "expected FILE.py:FUNCTION"),
        ("absent.py:opened", "it is not there"),
        ("mine.py:absent", "expected a function absent"),
        ("broken.py:opened", "cannot be imported"),
        ("no_such_module_at_all:opened", "cannot be imported"),
        ("mine.py:nothing", "got int"),
        ("mine.py:nameless", "expected a text as name"),
        ("mine.py:two_things", "pair and forced choice"),
    ],
)
def test_what_is_no_model_is_refused_by_name(words: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("import no_such_module_at_all\n")
    with pytest.raises(InputError, match=message):
        open_own(words)


def test_a_module_on_the_path_does_too(tmp_path: Path) -> None:
    (tmp_path / "my_sides_module.py").write_text(OWN)
    kind, model = open_own("my_sides_module:opened")
    assert kind == "pair" == kind_of(model, "it")


def test_files_are_for_one_released_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected one released model, got 0"):
        open_models(["own=mine.py:opened"], ["mean=x.npy"])
    with pytest.raises(InputError, match="expected one of builtin, own, vlm, humanml3d"):
        open_models(["tmrr"])
