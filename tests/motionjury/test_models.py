"""Released models, models of one's own and vision-language models through `score stride`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from corpus.problems import InputError
from corpus.synthetic.script import scenes
from evaluators.own import kind_of, open_own
from motionjury.cli import cli
from motionjury.commands.score_stride import _tasks
from motionjury.models import open_models
from motionjury.retrieval_runs import model_pools
from motionjury.scored_clips import known_clips
from motionjury.vlm import open_vlm
from tests.evaluators import test_registry
from tests.evaluators.test_vlm import truthful
from tests.llm.server import KEY, FakeEndpoint
from tests.metrics import stride_release

OWN = '''
import numpy as np

from corpus.problems import InputError


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


class OneSided(Sides):
    """Takes no mirror image of a motion it knows."""

    name, fingerprint = "OneSided", "one-sided/1"

    def __init__(self):
        self.known = set()

    def score(self, texts, motions):
        for motion in motions:
            if motion.mirrored().content_hash() in self.known:
                raise InputError("a mirror image")
            self.known.add(motion.content_hash())
        return super().score(texts, motions)


class Vectors:
    """Vectors of unlike length, so that a product ranks otherwise than a cosine."""

    name, native_metric, fingerprint = "Vectors", "whatever it says", "vectors/1"

    def embed_texts(self, texts):
        return np.array([[len(text), text.count("left"), 1] for text in texts], dtype=np.float32)

    def embed_motions(self, motions):
        found = [[m.frames, np.ptp(m.positions[:, 0, 0]) * 50, 1] for m in motions]
        return np.array(found, dtype=np.float32)

    def similarity(self, texts, motions):
        return texts @ motions.T


class Skewed(Vectors):
    name, fingerprint = "Skewed", "skewed/1"

    def similarity(self, texts, motions):
        return np.minimum(texts[:, None], motions[None]).sum(axis=2)


class Broken(Vectors):
    name, fingerprint = "Broken", "broken/1"

    def similarity(self, texts, motions):
        return np.full((len(texts), len(motions)), np.nan)


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


def test_mirror_images_that_a_model_refuses_are_counted(tmp_path: Path, release: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    found = stride(release, "--model", "own=mine.py:OneSided", "--controls", "2")
    mirrored = next(c["n"] for c in found["cells"] if c["axis"] == "mirror_reflection")
    lost = [row for row in found["dropped"] if row["what"] == "OneSided: mirror pairs"]
    assert [row["n"] for row in lost] == [mirrored]
    assert found["mirror"] == []


def test_a_vision_language_model_chooses(monkeypatch, tmp_path: Path, release: Path) -> None:
    with FakeEndpoint(truthful) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        found = stride(release, "--model", "vlm=seer", "--controls", "1")
        assert {got.body["model"] for got in server.got} == {"seer"}
    assert all(cell["gpr"] is None for cell in found["cells"])
    assert {cell["acc"] for cell in found["cells"]} <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_what_a_judge_was_shown_and_said_lies_beside_the_result(
    monkeypatch, tmp_path: Path, release: Path
) -> None:
    drafted = [
        task.model_copy(update={"drafter": "vendor/Seer-2025-01-02"}) for task in _tasks(release)
    ]
    monkeypatch.setattr("motionjury.commands.score_stride._tasks", lambda _: drafted)
    out = tmp_path / "out"
    with FakeEndpoint(truthful) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        words = ("--model", "vlm=seer", "--controls", "1", "--both-orders", "-o", out)
        found = stride(release, *words)
        with pytest.raises(InputError, match="--both-orders: expected --model vlm"):
            stride(release, "--model", "builtin", "--both-orders")
    with (out / "choices_seer.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 16
    texts = {task.item_id: task.triplet for task in drafted}
    for row in rows:
        shown = texts[row["item_id"]]
        a = shown.caption if row["caption_a"] == "original" else shown.perturbed
        assert row["letter"] == ("A" if "left" in a else "B")
        assert row["outcome"] == "ok"
    assert sum(row["draw"] == "" for row in rows) == 32
    # In both orders each question shows either caption as A once.
    assert sum(row["caption_a"] == "original" for row in rows) == 32
    assert any("seer is the model that drafted the items" in note for note in found["notes"])


def test_a_vision_language_model_keeps_to_its_budget(
    monkeypatch, tmp_path: Path, release: Path
) -> None:
    with FakeEndpoint(truthful) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        words = (release, "--model", "vlm=seer", "--controls", "1", "--max-calls")
        with pytest.raises(InputError, match=r"seer: \d+ of \d+ questions are without an answer"):
            stride(*words, "2")
        assert len(server.got) == 2
        with pytest.raises(InputError, match="--max-usd and --max-calls: expected --model vlm"):
            stride(release, "--model", "builtin", "--max-usd", "1")


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
        ("failing.py:opened", r"own: opened failed: ZeroDivisionError: .*\(failing\.py, line 3\)"),
        ("stopped.py:opened", r"cannot be imported: ValueError: no \(stopped\.py, line 1\)"),
    ],
)
def test_what_is_no_model_is_refused_by_name(words: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("import no_such_module_at_all\n")
    (tmp_path / "failing.py").write_text("x = 0\ndef opened():\n    return 1 / x\n")
    (tmp_path / "stopped.py").write_text("raise ValueError('no')\n")
    with pytest.raises(InputError, match=message):
        open_own(words)


def test_a_model_may_be_a_dataclass(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class Model:\n"
        "    name: str = 'mine'\n"
        "    native_metric: str = 'length'\n"
        "    fingerprint: str = '1'\n"
        "    def score(self, texts, motions):\n"
        "        return [len(text) for text in texts]\n"
    )
    kind, model = open_own(f"{tmp_path}/data.py:Model")
    assert (kind, model.name) == ("pair", "mine")


def test_a_module_on_the_path_does_too(tmp_path: Path) -> None:
    (tmp_path / "my_sides_module.py").write_text(OWN)
    kind, model = open_own("my_sides_module:opened")
    assert kind == "pair" == kind_of(model, "it")


def test_files_are_for_one_released_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected one released model, got 0"):
        open_models(["own=mine.py:opened"], ["mean=x.npy"])
    with pytest.raises(InputError, match="expected one of builtin, own, vlm, humanml3d"):
        open_models(["tmrr"])


@pytest.mark.parametrize("name", ["Vectors", "Skewed"])
def test_retrieval_compares_as_the_model_does(name: str, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    monkeypatch.setattr("corpus.synthetic.scenes", lambda: scenes()[:12])
    (_, pool, _, _) = model_pools(
        [f"own=mine.py:{name}"], motions=None, corpus=None, workspace=None, opening={}
    )[0]
    texts, motions = pool.scores.shape
    row, column = np.divmod(np.arange(texts * motions), motions)
    (opened,) = open_models([f"own=mine.py:{name}"])
    clips = {clip.id: clip for clip in known_clips(None, None)[0]}
    wanted = opened.model.similarity(
        opened.model.embed_texts(pool.captions),
        opened.model.embed_motions([clips[m].read() for m in pool.motion_ids]),
    )
    assert pool.scores.pairs(row, column) == pytest.approx(wanted.ravel(), rel=1e-5)


def test_a_similarity_of_nan_is_refused(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    monkeypatch.setattr("corpus.synthetic.scenes", lambda: scenes()[:3])
    with pytest.raises(InputError, match="Broken: similarity returned NaN"):
        model_pools(
            ["own=mine.py:Broken"], motions=None, corpus=None, workspace=None,
            opening={},
        )  # fmt: skip


def test_training_writes_over_nothing_but_weights_of_its_own(tmp_path: Path) -> None:
    precious = tmp_path / "finest.tar"
    precious.write_bytes(b"somebody's checkpoint")
    words = ["train", "builtin", "--out", str(precious), "--epochs", "1", "--performances", "1"]
    refused = CliRunner().invoke(cli, words).exception
    assert isinstance(refused, InputError)
    assert "finest.tar: is there, but no weights of the built-in evaluator" in str(refused)
    assert precious.read_bytes() == b"somebody's checkpoint"
