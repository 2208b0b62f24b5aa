"""MoBERT on a tiny checkpoint of its layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist

from corpus.problems import InputError
from evaluators.checkpoints import read_weights
from evaluators.mobert import Mobert
from evaluators.protocol import PairScorer, SeesText
from evaluators.regression import Regression, read_regression
from evaluators.weights import Weights
from tests.evaluators import layouts, reference

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

MARKS = ("[PAD]", "[UNK]", "[MASK]", "[CLS]", "[MOT]", "[SOT]")
WORDS = (*MARKS, "a", "person", "walks", "jumps", "left")


def tokenizer():
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    made = Tokenizer(WordLevel({word: k for k, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = WhitespaceSplit()
    return made


def opened(folder: Path, **more) -> tuple[Mobert, dict]:
    state = layouts.mobert(len(WORDS))
    torch.save({"model_state_dict": state, "optimizer_state_dict": {}}, folder / "best.pth")
    weights = read_weights(folder / "best.pth")
    return Mobert(weights, *layouts.statistics(), tokenizer(), **more), state


def chunks_of(clip: np.ndarray, most: int) -> list[np.ndarray]:
    """Chunks of 14 frames every 10; one that reaches the clip's end is left out."""
    found, start = [], 0
    while start + 14 < len(clip):
        found.append(clip[start : start + 14])
        start += 10
    return found[:most]


@pytest.mark.parametrize("places", [21, 15])
def test_pairs_equal_a_plain_forward_pass(places: int, tmp_path: Path) -> None:
    model, state = opened(tmp_path, chunks=places)
    mean, std = layouts.statistics()
    clips = layouts.clips((40, 200, 77, 14 + 40))
    texts = ["a person walks", "left unknown a", "jumps", "a person walks " * 40]
    p = reference.plain(state)
    room = 64 - 3 - places
    expected = [
        reference.mobert(
            p,
            [WORDS.index(w) if w in WORDS else 1 for w in text.split()][:room],
            chunks_of((clip.astype(np.float64) - mean) / std, places),
            [WORDS.index(m) for m in ("[CLS]", "[SOT]", "[MOT]")],
            room,
        )
        for text, clip in zip(texts, clips, strict=True)
    ]
    assert np.std(expected) > 1e-3
    np.testing.assert_allclose(model.score_features(texts, clips), expected, rtol=0, atol=2e-4)


def test_a_batch_is_what_its_pairs_are_alone(tmp_path: Path) -> None:
    model, _ = opened(tmp_path)
    motions = [layouts.motion(90), layouts.motion(60, source="made:2")]
    texts = ["a person walks", "jumps", "left jumps a person"]
    together = model.score(texts, [motions[0], motions[1], motions[0]])
    alone = [model.score([t], [m])[0] for t, m in zip(texts, [*motions, motions[0]], strict=True)]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-5)
    assert isinstance(model, PairScorer)
    assert isinstance(model, SeesText)
    assert model.score([], []).shape == (0,)


def test_captions_are_cut_where_the_sequence_is_full(tmp_path: Path) -> None:
    model, _ = opened(tmp_path)
    long = "a person walks " * 40
    assert model.visible(long) == model.visible(long + "jumps")
    assert model.visible("jumps") != model.visible("left")
    rows = model.score([long, long + "jumps"], [layouts.motion()] * 2)
    assert abs(rows[0] - rows[1]) < 1e-5


def test_too_short_a_motion_is_refused_by_name(tmp_path: Path) -> None:
    model, _ = opened(tmp_path)
    with pytest.raises(InputError, match=r"made:9: .*T >= 40, got \(29, 263\)"):
        model.score(["a"], [layouts.motion(30, source="made:9")])


def test_what_is_assumed_is_said(tmp_path: Path) -> None:
    model, _ = opened(tmp_path)
    assert [note for note in model.notes if note.startswith("assumed")]
    assert set(model.unused) == {k for k in layouts.mobert(9) if k.startswith("token_pred_head")}


def test_the_regression_equals_its_formula(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    vectors, weights, rows = rng.normal(size=(7, 5)), rng.normal(size=7), rng.normal(size=(4, 5))
    np.savez(
        tmp_path / "svr.npz",
        support_vectors=vectors,
        dual_coef=weights[None],
        intercept=np.array([0.3]),
        gamma=0.2,
    )
    expected = np.exp(-0.2 * cdist(rows, vectors, "sqeuclidean")) @ weights + 0.3
    found = read_regression(tmp_path / "svr.npz").predict(rows)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_regression_equals_scikit_learns(tmp_path: Path) -> None:
    from sklearn.svm import SVR

    rng = np.random.default_rng(0)
    rows, goal = rng.normal(size=(30, 4)), rng.normal(size=30)
    fitted = SVR().fit(rows, goal)
    own = Regression(
        fitted.support_vectors_, fitted.dual_coef_[0], fitted.intercept_[0], fitted._gamma
    )
    np.testing.assert_allclose(own.predict(rows), fitted.predict(rows), atol=1e-9)


@pytest.mark.parametrize("svr_input", ["official", "fit"])
def test_faithfulness_is_a_quarter_of_the_regression(svr_input: str, tmp_path: Path) -> None:
    first = np.zeros((1, 1 + 3 * 32))
    at_logit = Regression(first, np.array([0.0]), 2.0, 1.0)
    model, _ = opened(tmp_path, rating="faithfulness", regression=at_logit, svr_input=svr_input)
    assert model.score(["a person"], [layouts.motion()])[0] == pytest.approx(0.5)
    assert model.native_metric.startswith("faithfulness")


def test_what_faithfulness_reads_is_the_pair(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    one = Regression(rng.normal(size=(5, 97)), rng.normal(size=5), 0.0, 0.001)
    model, _ = opened(tmp_path, rating="faithfulness", regression=one)
    scores = model.score(["a person", "jumps"], [layouts.motion()] * 2)
    assert np.isfinite(scores).all()
    assert scores[0] != scores[1]


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="faithfulness needs the regression"):
        opened(tmp_path, rating="faithfulness")
    with pytest.raises(InputError, match="no place is left for words"):
        opened(tmp_path, chunks=61)
    wide = Regression(np.zeros((1, 3)), np.ones(1), 0.0, 1.0)
    with pytest.raises(InputError, match="svr: expected support vectors of width 97, got 3"):
        opened(tmp_path, rating="faithfulness", regression=wide)
    state = layouts.mobert(len(WORDS))
    with pytest.raises(InputError, match=r"mean: expected shape \(263,\), got \(262,\)"):
        Mobert(Weights(state, "x"), np.zeros(262), np.ones(262), tokenizer())
