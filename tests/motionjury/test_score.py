"""The commands of the group score as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from corpus.problems import InputError
from corpus.synthetic import demo_corpus, write_demo_corpus
from corpus.synthetic.script import scenes
from motionjury.cli import cli
from motionjury.scored_clips import folder_clips

MOTIONS = 40


def run(*words: object) -> Any:
    done = CliRunner().invoke(cli, [*map(str, words)])
    if isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def as_json(*words: object) -> dict[str, Any]:
    return json.loads(run(*words, "--json"))


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    ids = [f"m{i}" for i in range(MOTIONS)]
    owner = np.repeat(np.arange(MOTIONS), 3)
    matrix = rng.standard_normal((3 * MOTIONS, MOTIONS))
    matrix[np.arange(3 * MOTIONS), owner] += 3
    path = tmp_path / "scores.npz"
    np.savez(
        path,
        scores=matrix,
        text_ids=np.array([f"{ids[i]}#{k}" for i in range(MOTIONS) for k in range(3)]),
        motion_ids=np.array(ids),
        text_motion=np.array(ids)[owner],
        higher_is_better=True,
        granularity=np.array(["concise", "standard", "fine"] * MOTIONS),
        captions=np.array([f"caption {i // 2} {k}" for i in range(MOTIONS) for k in range(3)]),
    )
    return path


def test_retrieval_prints_both_directions_and_the_settings(scores: Path) -> None:
    found = as_json("score", "retrieval", scores)
    assert list(found)[:3] == ["text_to_motion", "motion_to_text", "settings"]
    assert found["text_to_motion"]["n"] == 3 * MOTIONS
    assert found["motion_to_text"]["n"] == MOTIONS
    assert list(found["settings"]) == ["concise", "standard", "fine", "Mixed3"]
    assert found["settings"]["Mixed3"]["text_to_motion"] == found["text_to_motion"]
    for direction in ("text_to_motion", "motion_to_text"):
        assert found[direction]["R@1"] == pytest.approx(found[direction]["nDCG@1"])
        assert 0 < found[direction]["R@1"] < found[direction]["R@10"] <= 100
    assert found["configuration"]["ties"] == "average"
    assert found["sources"][0]["name"] == "scores.npz"


def test_several_models_make_the_tables_of_the_paper(scores: Path, tmp_path: Path) -> None:
    with np.load(scores) as stored:
        worse = dict(stored)
    worse["scores"] = -worse["scores"] + np.random.default_rng(1).random(worse["scores"].shape)
    worse["higher_is_better"] = np.array(False)
    other = tmp_path / "other.npz"
    np.savez_compressed(other, **worse)
    out = tmp_path / "out"
    names = ["--name", "H3D/TMR", "--name", "KIT-ML/TMR"]
    found = as_json("score", "retrieval", scores, other, *names, "-o", out)
    assert [m["trainset"] for m in found["models"]] == ["H3D", "KIT-ML"]
    assert r"\multicolumn{7}{c}{Text-to-motion}" in (out / "cross_dataset.tex").read_text()
    assert {p.name for p in out.iterdir()} >= {"result.json", "report.html", "retrieval.csv"}
    printed = run("score", "retrieval", scores, other, *names)
    assert "Across training sets" in printed
    assert "…" not in printed.split("texts ×")[0]


@pytest.mark.parametrize(
    ("protocol", "texts"),
    [("tmr-all", 40), ("tmr-guo", 32), ("motionpatches", 40), ("motionpatches-batch", 32)],
)
def test_protocols_by_name(protocol: str, texts: int, scores: Path) -> None:
    found = as_json("score", "retrieval", scores, "--protocol", protocol)
    assert found["n_texts"] == texts
    assert set(found["text_to_motion"]) >= {"R@1", "R@2", "R@3", "R@5", "R@10", "MedR"}


def test_positives_and_ties_are_options(scores: Path) -> None:
    with np.load(scores) as stored:
        coarse = dict(stored)
    # Halves tie, and of two neighbouring motions with one caption the other is often the nearest.
    noise = np.random.default_rng(1).normal(scale=1.5, size=coarse["scores"].shape)
    coarse["scores"] = np.round(2 * (coarse["scores"] + noise)) / 2
    np.savez(scores, **coarse)
    own, shared, hopeful, dark = (
        as_json("score", "retrieval", scores, *words)["text_to_motion"]["R@1"]
        for words in (
            (), ("--positives", "identical-caption"), ("--ties", "optimistic"),
            ("--ties", "pessimistic"),
        )
    )  # fmt: skip
    assert shared > own
    assert hopeful > own > dark


def test_intervals_are_given_where_something_can_be_resampled(scores: Path) -> None:
    found = as_json("score", "retrieval", scores, "--resamples", 50, "--seed", 3)
    low, high = found["text_to_motion"]["intervals"]["R@1"]
    assert low <= found["text_to_motion"]["R@1"] <= high
    assert "intervals" in found["settings"]["fine"]["motion_to_text"]
    assert found["seed"] == 3
    batches = as_json("score", "retrieval", scores, "--protocol", "tmr-guo", "--resamples", 50)
    assert "intervals" not in batches["text_to_motion"]
    assert "averaged" in batches["not_run"]["intervals"]


def test_retrieval_from_embeddings(tmp_path: Path) -> None:
    motion = np.random.default_rng(0).standard_normal((50, 8))
    np.save(tmp_path / "t.npy", motion + 0.1)
    np.save(tmp_path / "m.npy", motion)
    found = as_json(
        "score", "retrieval", "--text", tmp_path / "t.npy", "--motion", tmp_path / "m.npy"
    )
    assert found["text_to_motion"]["R@1"] > 90
    assert found["configuration"]["similarity"] == "cosine"


def test_embeddings_in_two_orders_are_not_paired_by_position(tmp_path: Path) -> None:
    for name, ids in (("text", ["b#0", "a#0"]), ("motion", ["a", "b"])):
        np.savez(tmp_path / f"{name}.npz", embeddings=np.eye(2), ids=np.array(ids))
    files = ["--text", tmp_path / "text.npz", "--motion", tmp_path / "motion.npz"]
    with pytest.raises(InputError, match="text 'b#0' stands beside motion 'a'"):
        run("score", "retrieval", *files)
    owners = {"text_motion": np.array(["b", "a"]), "ids": np.array(["b#0", "a#0"])}
    np.savez(tmp_path / "text.npz", embeddings=np.eye(2)[::-1], **owners)
    assert as_json("score", "retrieval", *files)["text_to_motion"]["R@1"] == 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--protocol", "tmr"], "--protocol: expected one of full, tmr-all"),
        (["--ties", "random"], "--ties: expected one of average, optimistic, pessimistic"),
        (["--positives", "all"], "--positives: expected one of own"),
        (["--device", "tpu"], "device 'tpu' cannot be used"),
        (["--lower-is-better"], "the file says higher is better, the option says lower"),
        (["--protocol", "tmr-threshold"], "needs text_similarity"),
        (["--protocol", "tmr-nsim"], "--subset"),
        (["--name", "a", "--name", "b"], "--name: expected 1"),
        (["--text", "t.npy"], "expected FILE, or both"),
    ],
)
def test_bad_options_are_refused(words: list[str], message: str, scores: Path) -> None:
    with pytest.raises(InputError) as refused:
        run("score", "retrieval", scores, *words)
    assert message in str(refused.value)


@pytest.fixture
def embeddings(tmp_path: Path) -> list[object]:
    rng = np.random.default_rng(0)
    motion = rng.standard_normal((330, 12))
    files = {
        "text": motion + rng.standard_normal(motion.shape),
        "motion": motion,
        "reference": rng.standard_normal((400, 12)),
        "repeats": rng.standard_normal((5, 12, 12)),
    }
    words: list[object] = []
    for name, array in files.items():
        np.save(tmp_path / f"{name}.npy", array)
        words += [f"--{name}", tmp_path / f"{name}.npy"]
    return words


def test_generation_from_embeddings(embeddings: list[object], tmp_path: Path) -> None:
    found = as_json("score", "generation", *embeddings, "-o", tmp_path / "out")
    assert 1 / 32 < found["R@1"] < found["R@2"] < found["R@3"] <= 1
    for name in ("MM-Dist", "FID", "Diversity", "MultiModality"):
        assert found[name] > 0
    assert found["reasons"] == {}
    assert (found["n"], found["kept"]) == (330, 320)
    assert "FID" not in found["intervals"]
    assert [source["role"] for source in found["sources"]][0] == "text embeddings"
    again = as_json("score", "generation", *embeddings)
    assert again == found
    assert (tmp_path / "out" / "generation.tex").exists()
    assert "R@1" in run("score", "generation", *embeddings)


def test_what_was_not_given_is_null_with_a_reason(embeddings: list[object]) -> None:
    found = as_json("score", "generation", *embeddings[:4])
    assert found["FID"] is None
    assert found["reasons"]["FID"] == "no reference motions were given"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pool", "331"], "330 pairs are fewer than a pool of 331"),
        (["--variant", "kit"], "--variant: expected one of humanml3d, snapmogen"),
        (["--motions", "x"], "need a --model"),
        (["--model", "builtin"], "--model embeds by itself"),
    ],
)
def test_bad_generation_options_are_refused(
    words: list[str], message: str, embeddings: list[object]
) -> None:
    with pytest.raises(InputError) as refused:
        run("score", "generation", *embeddings, *words)
    assert message in str(refused.value)


def test_a_row_with_nan_is_named_with_its_file(embeddings: list[object], tmp_path: Path) -> None:
    np.save(tmp_path / "motion.npy", np.where(np.arange(330)[:, None] == 9, np.nan, 1.0))
    with pytest.raises(InputError, match=r"motion.npy: motion embeddings: row 9 holds NaN"):
        run("score", "generation", *embeddings)


def test_rows_that_belong_to_different_clips_are_refused(tmp_path: Path) -> None:
    array = np.random.default_rng(0).standard_normal((40, 3))
    ids = np.array([f"m{i}" for i in range(40)])
    np.savez(tmp_path / "t.npz", embeddings=array, ids=np.char.add(ids, "#0"))
    np.savez(tmp_path / "m.npz", embeddings=array, ids=ids[::-1])
    with pytest.raises(InputError, match="row 0: text 'm0#0' stands beside motion 'm39'"):
        run("score", "generation", "--text", tmp_path / "t.npz", "--motion", tmp_path / "m.npz")


def test_plain_joints_of_a_generator_need_a_frame_rate(tmp_path: Path) -> None:
    np.save(tmp_path / "0001.npy", demo_corpus()[0].motion.positions[:20])
    with pytest.raises(InputError, match="no motion could be read"):
        folder_clips(tmp_path)
    with pytest.raises(InputError, match=r"--fps: expected a number in \(0, 1000\], got 0"):
        folder_clips(tmp_path, fps=0)
    (found,) = folder_clips(tmp_path, fps=20)
    assert found.tail == "0001"
    assert found.read().fps == 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pool", 200], "motions with a caption are fewer than a pool of 200"),
        (["--system", "A"], "--system: expected NAME=FOLDER, got A"),
    ],
)
def test_what_cannot_run_is_said_before_the_model_is_opened(
    words: list[Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        run("score", "generation", "--model", "builtin=not-there.npz", *words)


def test_snapmogen_is_scored_by_its_own_variant_unless_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpus.synthetic.scenes", lambda: scenes()[:8])
    monkeypatch.chdir(tmp_path)
    words = ("score", "generation", "--model", "snapmogen")
    with pytest.raises(InputError, match="fewer than a pool of 100"):
        run(*words)
    with pytest.raises(InputError, match="fewer than a pool of 32"):
        run(*words, "--variant", "humanml3d")


@pytest.fixture
def builtin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small model of its own and a small demo corpus; the user's cache is left alone."""
    monkeypatch.setattr("corpus.synthetic.scenes", lambda: scenes()[:16])
    from evaluators.training.builtin import BuiltinConfig, train_builtin

    weights = tmp_path / "weights.npz"
    train_builtin(
        weights,
        BuiltinConfig(performances=(1,), epochs=1, width=16, layers=1, heads=2),
        lambda *_: None,
    )
    return f"builtin={weights}"


@pytest.mark.slow
def test_interventions_and_generators_with_a_model(
    builtin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    few = ["--pool", 8, "--replications", 2]
    found = as_json("score", "generation", "--model", builtin, *few)
    assert list(found["sets"]) == ["original", "mirrored", "time_reversed", "shuffled"]
    assert found["sets"]["original"]["FID"] == pytest.approx(0, abs=1e-9)
    assert found["sets"]["mirrored"]["FID"] > 0
    assert found["sets"]["shuffled"]["R@1"] < found["sets"]["original"]["R@1"] + 0.2
    write_demo_corpus(tmp_path / "generated")
    words = ["--model", builtin, "--system", f"Copy={tmp_path / 'generated'}", *few]
    copied = as_json("score", "generation", *words)["sets"]
    assert list(copied) == ["Ground truth", "Copy"]
    assert copied["Copy"]["R@1"] == pytest.approx(copied["Ground truth"]["R@1"], abs=0.05)
    assert copied["Copy"]["FID"] == pytest.approx(0, abs=1e-3)
    assert copied["Copy"]["MultiModality"] is None
    # Three folders of one system: each text has three generations.
    folders = [tmp_path / "generated", tmp_path / "second", tmp_path / "third"]
    for seed, folder in enumerate(folders):
        write_demo_corpus(folder, seed)
    several = [f"--system=Copy={folder}" for folder in folders]
    three = as_json(
        "score", "generation", "--model", builtin, *several, *few, "--multimodality-pairs", 2
    )
    got = three["sets"]["Copy"]
    assert got["MultiModality"] > 0
    assert got["intervals"]["FID"][1] > got["intervals"]["FID"][0]
    assert three["not_run"] == {}
    too_few = as_json("score", "generation", "--model", builtin, *several, *few)
    assert "need 11 generations" in too_few["not_run"]["MultiModality of Copy"]
    assert "3 repeats a text are too few" in too_few["sets"]["Copy"]["reasons"]["MultiModality"]
    with pytest.raises(InputError, match="--system Copy: .* is given twice"):
        run("score", "generation", "--model", builtin, several[0], several[0], *few)
