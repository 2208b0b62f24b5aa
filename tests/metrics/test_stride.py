import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.stride import AXES, STRUCTURAL_AXES
from evaluators.vectors import cosine
from metrics.stride import StrideKey, StrideScores, credits_of, credits_of_choices, delta
from metrics.stride_cells import score_stride
from metrics.stride_grid import Grids, audit_mirrors
from tests.shared_data import shared


def keys(n=12, corpus="humanml3d", axes=AXES):
    return tuple(
        StrideKey(item_id=f"{axis}-{i}", corpus=corpus, axis=axis, motion_id=f"m{i}")
        for axis in axes
        for i in range(n)
    )


def scores_from(function, items=None, draws=4):
    """Scores of f(own motion?, original caption?, item, draw)."""
    items = items or keys()
    where = np.repeat(np.arange(len(items)), draws)
    draw = np.tile(np.arange(draws), len(items))
    return StrideScores(
        keys=items,
        matched=np.array(
            [[function(True, c, i, 0) for c in (True, False)] for i in range(len(items))]
        ),
        item=where,
        control=np.array(
            [
                [function(False, c, i, d) for c in (True, False)]
                for i, d in zip(where, draw, strict=True)
            ]
        ),
    )


def cell(result, axis="mirror_reflection"):
    return next(c for c in result.cells if c.axis == axis)


def test_numbers_by_hand():
    # Three items of one axis, two controls each. Items 1 and 2 are right, 3 wrong: acc 2/3.
    # Bias by item: 1/2, 0, 1/2, so 1/3. Delta = (2/3 - 1/3) / (2/3) = 1/2.
    scores = StrideScores(
        keys=keys(3, axes=("mirror_reflection",)),
        matched=np.array([[4.0, 1.0], [2.0, 1.0], [0.0, 1.0]]),
        item=np.array([0, 0, 1, 1, 2, 2]),
        control=np.array([[2, 1], [1, 2], [0, 2], [0, 2], [3, 1], [0, 2]], dtype=float),
    )
    found = cell(score_stride(credits_of(scores)))
    assert found.n == found.n_motions == 3
    assert found.acc == pytest.approx(2 / 3)
    assert found.bias == pytest.approx(1 / 3)
    assert found.delta == pytest.approx(1 / 2)
    # Item 3 has advantage -1: above the control's -2, below the other's 2.
    assert found.gpr == pytest.approx(100 * (1 + 1 + 1 / 2) / 3)
    assert found.tie_rate == 0


@pytest.mark.parametrize(
    ("acc", "bias", "expected"),
    # The first two are NegHML and HumanML3D on Mirror Reflection in the paper's E.2 (acc and
    # delta printed); the biases are those that the formula implies, 0.542 and 0.484.
    [(0.600, 0.5418, 0.127), (0.463, 0.4842, -0.041), (1.0, 0.5, 1.0), (0.0, 0.5, -1.0)],
)
def test_delta(acc, bias, expected):
    assert float(delta(acc, bias)) == pytest.approx(expected, abs=5e-4)


def test_a_perfect_scorer():
    # It knows the caption of the motion and is indifferent otherwise.
    result = score_stride(credits_of(scores_from(lambda own, c, i, d: float(own and c))))
    for axis in AXES:
        found = cell(result, axis)
        assert (found.acc, found.bias, found.delta, found.gpr) == (1.0, 0.5, 1.0, 100.0)
        assert found.tie_rate == 0.0
    assert result.corpora[0].macro_gpr == 100.0


def test_an_inverted_scorer():
    result = score_stride(credits_of(scores_from(lambda own, c, i, d: -float(own and c))))
    found = cell(result)
    assert (found.acc, found.bias, found.delta, found.gpr) == (0.0, 0.5, -1.0, 0.0)


@pytest.mark.parametrize(("ties", "half", "gpr"), [("half", 0.5, 50.0), ("strict", 0.0, 0.0)])
def test_a_constant_scorer(ties, half, gpr):
    result = score_stride(credits_of(scores_from(lambda *_: 7.0), ties), ties=ties)
    found = cell(result)
    assert (found.acc, found.bias, found.delta, found.gpr) == (half, half, 0.0, gpr)
    assert found.tie_rate == 1.0
    assert found.ci["acc"] is None
    assert found.reasons["ci.acc"] == "no_variation"


def test_a_random_scorer_is_at_chance():
    rng = np.random.default_rng(5)
    items = keys(800)
    result = score_stride(credits_of(scores_from(lambda *_: rng.normal(), items)), resamples=200)
    for axis in AXES:
        found = cell(result, axis)
        assert found.acc == pytest.approx(0.5, abs=0.06)
        assert found.delta == pytest.approx(0.0, abs=0.15)
        assert found.gpr == pytest.approx(50, abs=5)
        low, high = found.ci["delta"]
        assert low < 0 < high


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-5, 5), min_size=48, max_size=48), st.integers(1, 5))
def test_a_scorer_that_reads_only_the_text_gets_nothing(prefers, draws):
    result = score_stride(
        credits_of(scores_from(lambda own, c, i, d: prefers[i] * c, draws=draws)), resamples=0
    )
    for found in result.cells:
        if found.bias < 1:
            assert found.delta == 0
        else:
            assert found.reasons["delta"] == "bias_is_1"
        assert found.gpr == 50
    assert result.corpora[0].macro_gpr == 50


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.1, 9), st.floats(-3, 3))
def test_a_rising_line_changes_nothing(seed, slope, shift):
    rng = np.random.default_rng(seed)
    scores = scores_from(lambda *_: float(rng.integers(-4, 5)))
    moved = StrideScores(
        scores.keys, slope * scores.matched + shift, scores.item, slope * scores.control + shift
    )
    plain = score_stride(credits_of(scores), resamples=0)
    other = score_stride(credits_of(moved), resamples=0)
    for a, b in zip(plain.cells, other.cells, strict=True):
        assert (a.acc, a.bias, a.delta) == (b.acc, b.bias, b.delta)


def test_bias_is_a_mean_by_item_first():
    # One item with one control that prefers c, one with nine that do not: 1/2, not 1/10.
    scores = StrideScores(
        keys=keys(2, axes=("temporal_order",)),
        matched=np.array([[1.0, 0.0], [1.0, 0.0]]),
        item=np.array([0] + [1] * 9),
        control=np.array([[1.0, 0.0]] + [[0.0, 1.0]] * 9),
    )
    assert cell(score_stride(credits_of(scores)), "temporal_order").bias == 0.5


def test_macro_leaves_random_content_out_and_needs_all_three():
    scores = scores_from(lambda own, c, i, d: float(own and c))
    lame = np.array([k.axis == "random_content" for k in scores.keys])
    matched = np.where(lame[:, None], 0.0, scores.matched)
    result = score_stride(
        credits_of(StrideScores(scores.keys, matched, scores.item, scores.control))
    )
    assert cell(result, "random_content").gpr == 50
    assert result.corpora[0].macro_gpr == 100
    two = keys(axes=("temporal_order", "random_content"))
    partial = score_stride(credits_of(scores_from(lambda own, c, i, d: float(own and c), two)))
    assert partial.corpora[0].macro_gpr is None
    assert partial.corpora[0].reasons["macro_gpr"] == "no_items_of_mirror_reflection"


def test_the_gap_to_random_content_has_an_interval():
    # Mirror is a coin flip, Random Content is known: the gap is near -1 and its interval below 0.
    rng = np.random.default_rng(1)
    items = keys(60)

    def blind(own, c, i, d):
        axis = items[i].axis
        return rng.normal() if axis in STRUCTURAL_AXES else float(own and c) + 1e-3 * rng.normal()

    corpus = score_stride(credits_of(scores_from(blind, items))).corpora[0]
    assert corpus.gaps["mirror_reflection"] < -0.5
    low, high = corpus.ci["gap.mirror_reflection"]
    assert low < corpus.gaps["mirror_reflection"] < high < 0


def test_corpora_stand_apart():
    both = (*keys(5, "humanml3d"), *keys(7, "snapmogen"))
    result = score_stride(credits_of(scores_from(lambda own, c, i, d: float(own and c), both)))
    assert [(c.corpus, c.n) for c in result.cells] == [("humanml3d", 5)] * 4 + [
        ("snapmogen", 7)
    ] * 4
    assert [c.corpus for c in result.corpora] == ["humanml3d", "snapmogen"]


def test_intervals_resample_motions_not_items():
    # Ten items of one motion are one unit: no interval. The same items on ten motions have one.
    rng = np.random.default_rng(0)
    right = rng.integers(0, 2, 40)

    def run(motions):
        items = tuple(
            StrideKey(item_id=str(i), corpus="a", axis="temporal_order", motion_id=str(i % motions))
            for i in range(40)
        )
        return cell(
            score_stride(credits_of(scores_from(lambda o, c, i, d: float(right[i] == c), items))),
            "temporal_order",
        )

    assert run(1).ci["acc"] is None
    assert run(1).reasons["ci.acc"] == "one_motion"
    width = [np.diff(run(m).ci["acc"])[0] for m in (40, 40)]
    assert width[0] == width[1] > 0.1


def test_no_unrelated_motion_is_undefined_with_a_reason():
    scores = StrideScores(
        keys=keys(2, axes=("temporal_order",)),
        matched=np.ones((2, 2)),
        item=np.array([0]),
        control=np.ones((1, 2)),
    )
    found = cell(score_stride(credits_of(scores)), "temporal_order")
    assert found.bias is found.delta is found.gpr is None
    assert found.reasons["bias"] == "no_unrelated_motion_for_1_of_2_items"


def test_strict_accuracy_is_chronologically_accurate_retrieval():
    # Recorded from ChronAccRet's retrieval_shuffle.py (commit 9b29a45): ties are wrong, clips with
    # one event do not count.
    case = np.load(shared("cases/oracles/car/toy_n8.npz"), allow_pickle=False)
    expected = json.loads(shared("cases/oracles/car/toy_n8.json").read_text())["expected"]
    rows = np.flatnonzero(case["n_events"] > 1)
    scores = StrideScores(
        keys=keys(len(rows), axes=("temporal_order",)),
        matched=np.column_stack(
            [
                np.diag(cosine(case[name][rows], case["motion"][rows]))
                for name in ("text", "shuffled_text")
            ]
        ).astype(float),
        item=np.zeros(0, dtype=np.int64),
        control=np.zeros((0, 2)),
    )
    found = cell(score_stride(credits_of(scores, "strict"), ties="strict"), "temporal_order")
    assert found.n == expected["items_counted"]
    assert found.acc == pytest.approx(expected["CAR"])
    assert found.tie_rate == pytest.approx(expected["ties"] / 7)


def test_choices_give_delta_but_no_gpr():
    items = keys(4, axes=("action_identity",))
    found = cell(
        score_stride(
            credits_of_choices(
                items,
                ["original", "original", "perturbed", "invalid"],
                np.array([0, 1, 2, 3]),
                ["perturbed", "original", "perturbed", "tie"],
            )
        ),
        "action_identity",
    )
    assert found.acc == 2.5 / 4
    assert found.bias == 1.5 / 4
    assert found.delta == pytest.approx((2.5 / 4 - 1.5 / 4) / (1 - 1.5 / 4))
    assert found.gpr is None
    assert found.reasons["gpr"] == "choices_have_no_scores"
    assert found.invalid_rate == pytest.approx(1 / 8)


def test_a_score_of_caption_plus_motion_gains_nothing():
    # Sums of the two are rounded, so the differences differ in the last bit; that is a tie.
    rng = np.random.default_rng(0)
    items = keys(100)
    text, own, other = rng.random((400, 2)), rng.random((400, 1)), rng.random((400, 1))
    scores = StrideScores(items, text + own, np.arange(400), text + other)
    result = score_stride(credits_of(scores), resamples=0)
    assert {found.gpr for found in result.cells} == {50.0}


@pytest.mark.parametrize("reads", ["caption", "motion", "both"])
def test_a_mirror_grid_without_interaction_ties(reads):
    rng = np.random.default_rng(1)
    text, motion = rng.random((300, 2)), rng.random((300, 2))
    caption, body = text * (reads != "motion"), motion * (reads != "caption")
    grid = (body[:, :, None] + caption[:, None, :]).reshape(300, 4)
    names = tuple(map(str, range(300)))
    (found,) = audit_mirrors(Grids(names, ("a",) * 300, names, grid))
    assert found.diagonal == 0.5
    assert (found.motion_original == 0.5) == (reads == "caption")


def test_mirror_scores_tie_within_what_the_source_resolves():
    grid = np.array([[0.5, 0.1, 0.5 + 1e-8, 0.1], [0.9, 0.1, 0.2, 0.8]])
    exact, blurred = (
        audit_mirrors(Grids(("a", "b"), ("x", "x"), ("m", "n"), grid), resolution=r)[0]
        for r in (0.0, 1e-6)
    )
    assert (exact.diagonal, blurred.diagonal) == (0.5, 0.75)
    assert (exact.motion_original, blurred.motion_original) == (0.5, 0.75)
