"""Correlations: published cases, scipy on the same resamples, undefined cases, test-retest."""

import json

import numpy as np
import pytest
from scipy import stats

from agreement.axis import Axis
from agreement.correlation import paired_scores
from agreement.kernel import condense, draw, make_design, resample, with_intervals
from agreement.registry import compute
from agreement.retest import retest
from tests.agreement.samples import noisy, table
from tests.shared_data import shared

NAMES = ("pearson_r", "spearman_rho", "kendall_tau_b")
SCIPY = {
    "pearson_r": stats.pearsonr,
    "spearman_rho": stats.spearmanr,
    "kendall_tau_b": stats.kendalltau,
}


@pytest.mark.parametrize("name", ["50_corr_anscombe1", "52_corr_kendall_ties"])
def test_published_cases(name):
    case = json.loads(shared(f"cases/agreement/{name}.json").read_text(encoding="utf-8"))
    ratings = paired_scores(case["x"], case["y"])
    for expected in case["expected"]:
        found = compute(ratings, expected["coefficient"])
        assert found.value == pytest.approx(expected["value"], abs=1e-9)
        kernel = float(found.evaluate(ratings.pattern_weight @ found.sums))
        assert kernel == pytest.approx(expected["value"], abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_resamples_equal_scipy_on_the_same_items(name):
    ratings = noisy(40, raters=2, seed=2, level="interval")
    found = compute(ratings, name)
    design, _ = condense(make_design(ratings), [found])
    values = resample([found], make_design(ratings), 30, 5)[0].values
    pattern = np.asarray(design.content.todense()).argmax(axis=1)
    for value, kinds in zip(values, np.concatenate(list(draw(design, 30, 5))), strict=True):
        codes = ratings.patterns[np.repeat(pattern, kinds.astype(int))]
        theirs = SCIPY[name](codes[:, 0], codes[:, 1]).statistic
        assert value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_undefined(name):
    constant = compute(paired_scores([1, 2, 3, 4], [3, 3, 3, 3]), name)
    assert (constant.value, constant.reason) == (None, "constant_input")
    two = compute(paired_scores([1, 2], [1, 2]), name)
    assert (two.value, two.reason) == (None, "too_few")
    none = compute(paired_scores([1, None], [None, 2]), name)
    assert (none.value, none.reason) == (None, "no_pairable_items")


def test_missing_scores_leave_their_pair_out():
    found = compute(paired_scores([1, 2, None, 4, 5], [2, 1, 9, float("nan"), 7]), "pearson_r")
    assert found.n == 3
    assert found.value == pytest.approx(stats.pearsonr([1, 2, 5], [2, 1, 7]).statistic)


def test_a_large_offset_costs_no_digits():
    x = [1e6 + 0.001 * k for k in range(20)]
    y = [1e6 + 0.001 * (k % 7) for k in range(20)]
    ratings = paired_scores(x, y)
    found = compute(ratings, "pearson_r")
    kernel = float(found.evaluate(ratings.pattern_weight @ found.sums))
    assert kernel == pytest.approx(found.value, abs=1e-9)


def test_too_many_pairs_for_ranks_have_a_value_and_say_why_no_interval():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2500)
    ratings = paired_scores(x.tolist(), (x + rng.normal(size=2500)).tolist())
    [found] = with_intervals([compute(ratings, "kendall_tau_b")], ratings, resamples=50)
    assert found.value == pytest.approx(0.5, abs=0.05)
    assert found.ci is None
    assert "no interval" in found.warnings[0]


def test_retest_compares_each_rater_with_themselves():
    first = {("i1", "A1"): "yes", ("i1", "A2"): "no", ("i2", "A1"): "no", ("i3", "A1"): "yes"}
    second = {("i1", "A1"): "yes", ("i1", "A2"): "yes", ("i2", "A1"): "no"}
    ratings = retest(Axis(name="x", level="nominal", domain=("yes", "no")), first, second)
    found = compute(ratings, "percent_agreement")
    assert found.n == 3
    assert found.value == pytest.approx(2 / 3)
    # Occasions: first yes no no, second yes yes no. p_o = 2/3, p_e = 1/3*2/3 + 2/3*1/3 = 4/9.
    assert compute(ratings, "cohen_kappa").value == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    assert make_design(ratings).n_units == 3


def test_ranks_do_not_lose_small_scores_beside_a_huge_one():
    rng = np.random.default_rng(2)
    small = rng.integers(1, 6, (30, 2))
    huge = np.array([[10**90 if v == 5 else int(v) for v in row] for row in small], dtype=object)
    for name in ("spearman_rho", "kendall_tau_b"):
        found = []
        for scores in (small, huge):
            domain = tuple(map(str, sorted({int(v) for v in scores.ravel()})))
            ratings = table([[str(v) for v in row] for row in scores], "interval", domain)
            statistic = compute(ratings, name, {"raters": [0, 1]})
            found.append(with_intervals([statistic], ratings, resamples=200)[0])
        assert found[0] == found[1]


def test_scores_far_from_zero_have_the_correlation_of_their_differences():
    rng = np.random.default_rng(4)
    near = rng.integers(1, 6, (40, 2))
    domain = tuple(str(v) for v in range(1, 6))
    far = tuple(str(10**15 + v) for v in range(1, 6))
    first = table([[str(v) for v in row] for row in near], "interval", domain)
    second = table([[str(10**15 + v) for v in row] for row in near], "interval", far)
    values = [compute(r, "pearson_r", {"raters": [0, 1]}).value for r in (first, second)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)
