"""The generation suite against numbers of the original code, and what must hold of any scorer."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.problems import InputError
from metrics.generation import (
    diversity,
    draw_pools,
    frechet_distance,
    gaussian,
    multimodality,
    pool_hits,
    prepare,
    replicate_interval,
)
from metrics.generation_suite import TOPS, Settings, evaluate
from tests.shared_data import shared


def case(name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    folder = shared("cases/oracles/humanml")
    with np.load(folder / f"{name}.npz", allow_pickle=False) as arrays:
        return json.loads((folder / f"{name}.json").read_text()), dict(arrays)


def some(n: int, d: int = 8, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def test_r_precision_and_matching_score_are_the_original_ones() -> None:
    told, arrays = case("rprecision_n640_d64_f32")
    pairs = prepare(arrays["text"], arrays["motion"], "euclidean")
    hits = pool_hits(pairs, draw_pools(640, 32, None), TOPS)
    np.testing.assert_array_equal(hits, arrays["expected_batch_hits_top123"])
    found = evaluate(arrays["text"], arrays["motion"])
    for top in TOPS:
        assert found.file_order[f"R@{top}"] == told["expected"][f"r_precision_top{top}"]
    matching = told["expected"]["matching_score_linalg_norm_mean"]
    assert found.file_order["MM-Dist"] == pytest.approx(matching, rel=1e-5)
    assert found.cells["MM-Dist"].value == pytest.approx(matching, rel=1e-5)


def test_nearly_equal_pairs_do_not_cancel_to_nan() -> None:
    told, arrays = case("rprecision_cancellation_nan")
    found = evaluate(arrays["text"], arrays["motion"])
    assert [found.file_order[f"R@{top}"] for top in TOPS] == told["correct_value"]["r_precision"]
    wanted = told["correct_value"]["matching_score"]
    assert found.file_order["MM-Dist"] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("name", ["fid_n600_d32", "fid_rank_deficient_n40_d64", "fid_d1"])
def test_fid_is_the_closed_form_and_the_original(name: str) -> None:
    told, arrays = case(name)
    first, second = gaussian(arrays["reference"]), gaussian(arrays["generated"])
    np.testing.assert_allclose(first.mean, arrays["expected_mu_reference"], rtol=1e-6, atol=1e-7)
    if "expected_cov_generated" in arrays:
        covariance = second.factor.T @ second.factor
        np.testing.assert_allclose(covariance, arrays["expected_cov_generated"], atol=1e-9)
    distance = frechet_distance(first, second)
    assert distance == pytest.approx(told["analytic_value_own"], rel=1e-9)
    if isinstance(told["expected"]["float64"], float):
        assert distance == pytest.approx(told["expected"]["float64"], rel=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 123])
def test_diversity_draws_as_the_original_does(seed: int) -> None:
    told, arrays = case("diversity_n600_d32")
    found = diversity(arrays["activations"], told["times"], np.random.RandomState(seed))
    assert found == pytest.approx(told["expected"][f"seed{seed}"]["value"], rel=1e-5)


@pytest.mark.parametrize("seed", [0, 7])
def test_multimodality_draws_as_the_original_does(seed: int) -> None:
    told, arrays = case("multimodality_20x30x16")
    found = multimodality(arrays["activations"], told["times"], np.random.RandomState(seed))
    assert found == pytest.approx(told["expected"][f"seed{seed}"]["value"], rel=1e-5)


def test_as_many_draws_as_there_are_items_is_refused() -> None:
    _told, arrays = case("multimodality_20x30x16")
    with pytest.raises(ValueError, match="more than 30 repeats, got 30"):
        multimodality(arrays["activations"], 30, np.random.RandomState(0))
    with pytest.raises(ValueError, match="more than 300, got 300"):
        diversity(some(300), 300, np.random.RandomState(0))


def test_the_interval_of_replications_is_the_original_one() -> None:
    told, arrays = case("replication_statistics")
    wanted = told["expected"]
    mean, low, high = replicate_interval(arrays["values"])
    assert mean == pytest.approx(wanted["values"]["mean"], rel=1e-12)
    assert (high - low) / 2 == pytest.approx(wanted["values"]["ci"], rel=1e-12)
    for column, (at, half) in enumerate(
        zip(wanted["values3"]["mean"], wanted["values3"]["ci"], strict=True)
    ):
        mean, low, high = replicate_interval(arrays["values3"][:, column])
        assert mean == pytest.approx(at, rel=1e-12)
        assert (high - low) / 2 == pytest.approx(half, rel=1e-12)


def test_a_perfect_evaluator_finds_every_pair() -> None:
    found = evaluate(some(100), some(100), reference=some(100), settings=Settings(pool=32))
    assert [found.cells[f"R@{top}"].value for top in TOPS] == [1.0, 1.0, 1.0]
    assert found.cells["MM-Dist"].value == 0.0
    assert found.cells["FID"].value == pytest.approx(0.0, abs=1e-9)
    assert (found.n, found.kept) == (100, 96)


def test_a_constant_evaluator_is_at_chance() -> None:
    found = evaluate(np.ones((64, 4)), np.ones((64, 4)))
    for top in TOPS:
        assert found.cells[f"R@{top}"].value == pytest.approx(top / 32)


def test_an_inverted_evaluator_finds_nothing() -> None:
    text = some(320, 16)
    found = evaluate(text, -text)
    assert found.cells["R@3"].value == 0.0


def test_a_random_evaluator_is_near_chance() -> None:
    found = evaluate(some(3200, 16, 1), some(3200, 16, 2))
    # 20 draws of 3,200 queries: one standard deviation of one draw is 0.3 points.
    assert found.cells["R@1"].value == pytest.approx(1 / 32, abs=0.012)


@given(st.integers(0, 2**31 - 1))
def test_the_order_of_the_pairs_changes_no_number_that_is_not_drawn(seed: int) -> None:
    text, motion = some(64, 5, 1), some(64, 5, 2)
    order = np.random.default_rng(seed).permutation(64)
    one = evaluate(text, motion, reference=some(50, 5), settings=Settings(replications=1, pool=64))
    other = evaluate(
        text[order],
        motion[order],
        reference=some(50, 5),
        settings=Settings(replications=1, pool=64),
    )
    for name in ("R@1", "R@2", "R@3", "MM-Dist", "FID"):
        assert one.cells[name].value == pytest.approx(other.cells[name].value, rel=1e-9)


@given(st.integers(0, 100))
def test_r_at_k_grows_with_k(seed: int) -> None:
    found = evaluate(some(64, 3, seed), some(64, 3, seed + 1), settings=Settings(replications=2))
    values = [found.cells[f"R@{top}"].value for top in TOPS]
    assert values == sorted(values)


@given(st.floats(0.5, 3), st.floats(-2, 2))
def test_fid_of_shifted_gaussians_is_known(scale: float, shift: float) -> None:
    # tr(S + s²S − 2sS) = (1 − s)² tr S for S2 = s² S1, and |shift|² on top.
    one = some(200, 6)
    centred = one - one.mean(axis=0)
    other = scale * centred + one.mean(axis=0) + shift
    wanted = 6 * shift**2 + (1 - scale) ** 2 * np.trace(np.cov(one.T))
    assert frechet_distance(gaussian(one), gaussian(other)) == pytest.approx(wanted, abs=1e-9)


def test_what_cannot_be_computed_says_why() -> None:
    found = evaluate(some(40), some(40), repeats=some(5)[None].repeat(3, axis=0))
    assert found.cells["FID"].value is None
    assert "no reference" in found.cells["FID"].reason
    assert "40 motions are too few for 300 pairs" in found.cells["Diversity"].reason
    assert "5 repeats a text are too few" in found.cells["MultiModality"].reason


def test_few_references_are_noted() -> None:
    found = evaluate(some(64, 70), some(64, 70), reference=some(64, 70, 1))
    assert found.cells["FID"].value is not None
    assert "no full rank" in found.notes[0]


def test_generations_of_several_replications_are_used_each_once() -> None:
    motions = np.stack([some(64, 8, seed) for seed in range(3)])
    found = evaluate(
        some(64), motions, reference=some(90, 8, 9), settings=Settings(replications=20)
    )
    assert found.cells["R@1"].n == 3
    assert found.cells["FID"].n == 3
    assert found.cells["FID"].ci is not None
    single = [frechet_distance(gaussian(some(90, 8, 9)), gaussian(m)) for m in motions]
    assert found.cells["FID"].value == pytest.approx(np.mean(single))


def test_snapmogens_variant_compares_cosines_in_pools_of_100() -> None:
    text, motion = some(250, 6), some(250, 6) + some(250, 6, 3)
    settings = Settings(pool=100, distance="cosine", matching="Matching score")
    found = evaluate(text, 7 * motion, settings=settings)
    assert found.kept == 200
    unit = [a / np.linalg.norm(a, axis=1, keepdims=True) for a in (text[:200], motion[:200])]
    scores = [unit[0][k : k + 100] @ unit[1][k : k + 100].T for k in (0, 100)]
    best = np.mean([(s.argmax(axis=1) == np.arange(100)).mean() for s in scores])
    assert found.file_order["R@1"] == pytest.approx(best)
    own = np.mean([np.diag(s).mean() for s in scores])
    assert found.file_order["Matching score"] == pytest.approx(own)


@pytest.mark.parametrize(
    ("text", "motion", "message"),
    [
        (some(31), some(31), "31 pairs are fewer than a pool of 32"),
        (some(40), some(40, 9), "unequal widths: text embeddings have 8 numbers"),
        (some(40), some(41), "40 texts and 41 motions"),
        (some(40), np.where(some(40) == some(40)[7, 0], np.nan, some(40)), "row 7 holds NaN"),
        (some(40)[0], some(40), "expected numbers of shape"),
    ],
)
def test_bad_embeddings_are_refused(text: np.ndarray, motion: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(text, motion)


def test_a_reference_of_another_width_is_refused() -> None:
    with pytest.raises(InputError, match="reference embeddings have 9 numbers"):
        evaluate(some(40), some(40), reference=some(40, 9))


def test_repeated_generations_of_another_evaluator_are_refused() -> None:
    repeats = np.random.default_rng(0).standard_normal((5, 12, 9))
    with pytest.raises(InputError, match="repeated generations have 9 numbers, motion embeddings"):
        evaluate(some(40), some(40), repeats=repeats)
    found = evaluate(some(40), some(40), repeats=repeats, fid_motion=some(40, 9))
    assert isinstance(found.cells["MultiModality"].value, float)


def test_embeddings_that_would_overflow_are_refused() -> None:
    with pytest.raises(InputError, match=r"reference embeddings: expected numbers up to 1e\+70"):
        evaluate(some(40), some(40), reference=some(40) * 1e200)


def test_the_largest_embeddings_give_finite_numbers() -> None:
    huge = np.clip(some(400) * 1e70, -1e70, 1e70)
    found = evaluate(huge, huge[::-1], reference=huge)
    assert all(np.isfinite(found.cells[name].value) for name in ("MM-Dist", "FID", "Diversity"))
