"""Resampling: exactness on given resamples, intervals, clusters, strata, seeds."""

import krippendorff
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import fleiss_kappa

from agreement.analysis import analyse
from agreement.kernel import (
    Replicates,
    condense,
    difference,
    draw,
    interval,
    make_design,
    resample,
    with_intervals,
)
from agreement.registry import compute
from tests.agreement.samples import noisy, table


def test_resamples_equal_the_libraries_on_the_same_items():
    ratings = noisy(60, seed=1)
    kappa = compute(ratings, "fleiss_kappa")
    alpha = compute(ratings, "krippendorff_alpha", {"level": "ordinal"})
    design = make_design(ratings)
    both = resample([kappa, alpha], design, resamples=40, seed=7)
    counts = ratings.pattern_counts
    merged, _ = condense(design, [kappa, alpha])
    assert len(merged.multiplicity) < len(design.multiplicity)
    drawn = np.concatenate(list(draw(merged, 40, 7)))
    # With no weights a kind of unit is a pattern of ratings, so its copies can be laid out.
    pattern = np.asarray(merged.content.todense()).argmax(axis=1)
    for b, kinds in enumerate(drawn):
        items = counts[np.repeat(pattern, kinds.astype(int))]
        assert len(items) == 60
        assert both[0].values[b] == pytest.approx(fleiss_kappa(items), abs=1e-12)
        theirs = krippendorff.alpha(
            value_counts=items, value_domain=[1, 2, 3, 4, 5], level_of_measurement="ordinal"
        )
        assert both[1].values[b] == pytest.approx(theirs, abs=1e-12)


def test_one_by_one_and_multinomial_draws_have_the_same_spread():
    ratings = noisy(300, seed=2)
    lone = noisy(300, seed=2, clusters=[str(i) for i in range(300)])
    for params in ({"level": "nominal"}, {"level": "ordinal"}):
        few = resample(
            [compute(ratings, "krippendorff_alpha", params)], make_design(ratings), 4000, 0
        )[0]
        many = resample([compute(lone, "krippendorff_alpha", params)], make_design(lone), 4000, 1)[
            0
        ]
        assert few.values.std() == pytest.approx(many.values.std(), rel=0.06)
        assert few.values.mean() == pytest.approx(many.values.mean(), abs=0.003)


def test_bca_matches_scipy_on_a_mean():
    # Percent agreement is a mean over items, so scipy's BCa of a mean is an oracle.
    ratings = noisy(120, seed=4)
    found = compute(ratings, "percent_agreement")
    design = make_design(ratings)
    replicates = resample([found], design, 20_000, 0)[0]
    mine = interval(found.value, replicates)
    share = (found.sums[:, 0] / found.sums[:, 1])[ratings.pattern_of]
    theirs = stats.bootstrap(
        (share,), np.mean, n_resamples=20_000, method="BCa", random_state=1
    ).confidence_interval
    assert mine.method == "bca"
    assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), abs=0.004)


def test_percentile_where_acceleration_is_undefined():
    values = np.linspace(0, 1, 1001)
    flat = Replicates(values, np.full(5, 0.5), np.ones(5, dtype=np.int64))
    found = interval(0.5, flat)
    assert found.method == "percentile"
    assert found.low <= 0.5 <= found.high


def test_jackknife_leaves_each_unit_out():
    rows = [["a", "a"], ["a", "b"], ["b", "b"], ["c", "c"], ["c", "a"]]
    ratings = table(rows)
    statistic = compute(ratings, "fleiss_kappa")
    left = resample([statistic], make_design(ratings), 1, 0)[0]
    expanded = sorted(np.repeat(left.jackknife, left.multiplicity))
    again = sorted(
        compute(table(rows[:i] + rows[i + 1 :]), "fleiss_kappa").value for i in range(len(rows))
    )
    assert expanded == pytest.approx(again, abs=1e-12)


def test_clusters_widen_the_interval_of_items_that_repeat():
    # Ten copies of each item carry no more information than one.
    single = noisy(40, seed=6)
    rows = [[single.axis.domain[c] for c in row] for row in single.codes for _ in range(10)]
    clips = [f"clip{i}" for i in range(40) for _ in range(10)]
    domain = single.axis.domain

    def width(ratings):
        found = with_intervals([compute(ratings, "fleiss_kappa")], ratings, resamples=3000)[0]
        return found.ci[1] - found.ci[0]

    alone, clustered = (
        table(rows, "ordinal", domain),
        table(rows, "ordinal", domain, clusters=clips),
    )
    assert width(clustered) == pytest.approx(width(single), rel=0.08)
    assert width(alone) < 0.5 * width(clustered)


def test_same_seed_same_interval_and_another_seed_another():
    ratings = noisy(50, seed=8)

    def ends(seed):
        return [c.ci for c in analyse(ratings, resamples=300, seed=seed).coefficients]

    assert ends(1) == ends(1)
    assert ends(1) != ends(2)


def test_difference_uses_the_same_resamples():
    ratings = noisy(80, seed=9)
    kappa = compute(ratings, "fleiss_kappa")
    same = difference(kappa, kappa, ratings, resamples=200)
    assert same.value == 0
    assert same.ci is None
    apart = difference(compute(ratings, "gwet_ac1"), kappa, ratings, resamples=2000)
    alone = with_intervals([kappa], ratings, resamples=2000)[0]
    assert apart.ci[0] <= apart.value <= apart.ci[1]
    assert apart.ci[1] - apart.ci[0] < 0.5 * (alone.ci[1] - alone.ci[0])


def test_strata_keep_their_numbers():
    rows = [["a", "a"]] * 30 + [["b", "b"]] * 10
    ratings = table(rows)
    named = type(ratings)(
        axis=ratings.axis,
        items=ratings.items,
        raters=ratings.raters,
        codes=ratings.codes,
        strata={"part": ("x",) * 30 + ("y",) * 10},
    )
    design = make_design(named, "part")
    drawn = np.concatenate(list(draw(design, 50, 0)))
    for stratum, n in ((0, 30), (1, 10)):
        assert (drawn[:, design.stratum == stratum].sum(axis=1) == n).all()


def test_a_rare_label_and_few_items_are_warned_of():
    few = analyse(noisy(10), resamples=0)
    assert any("only 10 items are resampled" in w for w in few.warnings)
    rare = analyse(table([["a", "a"]] * 95 + [["b", "a"]] * 5, domain=("a", "b")), resamples=200)
    assert any("only 5 items carry a label other than 'a'" in w for w in rare.warnings)
    assert not any("are resampled" in w for w in rare.warnings)
    assert any("undefined in" in w for w in rare.find("fleiss_kappa").warnings)


def test_the_commonest_label_is_that_of_the_items_not_of_their_patterns():
    rare = [["b", "b", "c"], ["b", "c", "b"], ["c", "b", "b"], ["b", "b", "b"], ["a", "b", "b"]]
    warnings = analyse(table([*[["a", "a", "a"]] * 200, *rare]), resamples=0).warnings
    assert any("only 5 items carry a label other than 'a'" in text for text in warnings)


def test_units_are_drawn_multinomially():
    from agreement.kernel import draw, make_design

    ratings = noisy(400, raters=2, q=2, seed=9)
    design = make_design(ratings)
    counts = np.concatenate(list(draw(design, 20_000, seed=3)))
    assert (counts.sum(axis=1) == 400).all()
    p = design.multiplicity / 400
    spread = np.sqrt(400 * p * (1 - p))
    assert np.abs(counts.mean(axis=0) - 400 * p).max() < 5 * spread.max() / np.sqrt(20_000)
    covariance = np.cov(counts.T)
    expected = 400 * (np.diag(p) - np.outer(p, p))
    assert np.abs(covariance - expected).max() < 0.05 * expected.diagonal().max()
