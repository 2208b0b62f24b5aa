"""The kernel against libraries that others wrote: equal to 1e-12 where they define a value."""

import warnings

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from agreement.icc import ICC_TYPES
from agreement.kernel import with_intervals
from agreement.registry import compute
from tests.agreement.samples import noisy, rating_rows, table

DOMAIN = ("1", "2", "3", "4")


def kernel_value(ratings, name, params):
    """The value from the sums, whatever library the point value comes from."""
    found = compute(ratings, name, params)
    value = float(found.evaluate(ratings.pattern_weight @ found.sums))
    return None if np.isnan(value) else value


@settings(max_examples=60, deadline=None)
@given(rows=rating_rows(complete=True))
def test_kernel_is_statsmodels_fleiss(rows):
    ratings = table(rows, "ordinal", DOMAIN)
    mine = kernel_value(ratings, "fleiss_kappa", {})
    counts = ratings.pattern_counts[ratings.pattern_of]
    if (counts.sum(axis=0) > 0).sum() < 2:
        assert mine is None
    else:
        assert mine == pytest.approx(fleiss_kappa(counts), abs=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@settings(max_examples=40, deadline=None)
@given(rows=rating_rows())
def test_kernel_is_krippendorff(level, rows):
    ratings = table(rows, "ratio", DOMAIN)
    mine = kernel_value(ratings, "krippendorff_alpha", {"level": level})
    counts = ratings.pattern_counts[ratings.pattern_of]
    paired = counts[counts.sum(axis=1) >= 2]
    if not len(paired) or (paired.sum(axis=0) > 0).sum() < 2:
        assert mine is None
        return
    theirs = krippendorff.alpha(
        value_counts=counts, value_domain=[1.0, 2.0, 3.0, 4.0], level_of_measurement=level
    )
    assert mine == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@settings(max_examples=40, deadline=None)
@given(rows=rating_rows(complete=True))
def test_kernel_is_sklearn_cohen(weights, rows):
    ratings = table(rows, "ordinal", DOMAIN)
    params = {"raters": [0, 1]} if weights is None else {"raters": [0, 1], "weights": weights}
    first, second = ([row[k] for row in rows] for k in (0, 1))
    mine = kernel_value(ratings, "cohen_kappa", params)
    assert (mine is None) == (len(set(first + second)) == 1)
    if mine is not None:
        theirs = cohen_kappa_score(first, second, labels=list(DOMAIN), weights=weights)
        assert mine == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic", "ordinal"])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_kernel_is_irrcac(weights, missing):
    cac = pytest.importorskip("irrCAC.raw")
    ratings = noisy(40, raters=4, missing=missing, seed=3)
    numbers = np.where(ratings.codes < 0, np.nan, ratings.codes + 1.0)
    reference = cac.CAC(
        pd.DataFrame(numbers), weights=weights, categories=[1.0, 2.0, 3.0, 4.0, 5.0], digits=12
    )
    params = {} if weights == "identity" else {"weights": weights}
    ac = "gwet_ac1" if weights == "identity" else "gwet_ac2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = {
            "fleiss_kappa": reference.fleiss(),
            ac: reference.gwet(),
            "brennan_prediger": reference.bp(),
            "conger_kappa": reference.conger(),
        }
    for name, found in theirs.items():
        expected = found["est"]["coefficient_value"]
        assert kernel_value(ratings, name, params) == pytest.approx(expected, abs=1e-9), name
    agreed = theirs["fleiss_kappa"]["est"]["pa"]
    assert kernel_value(ratings, "percent_agreement", params) == pytest.approx(agreed, abs=1e-9)


def test_icc_is_pingouin():
    pingouin = pytest.importorskip("pingouin")
    ratings = noisy(25, raters=4, level="interval", seed=5)
    long = pd.DataFrame(
        [(i, r, float(c) + 1) for i, row in enumerate(ratings.codes) for r, c in enumerate(row)],
        columns=["item", "rater", "score"],
    )
    found = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="score")
    for _, row in found.iterrows():
        mine = kernel_value(ratings, "icc", {"type": row["Type"]})
        assert mine == pytest.approx(row["ICC"], abs=1e-9), row["Type"]


def test_icc_of_means_with_a_negative_variance_is_null():
    scores = [(3, 3), (2, 2), (1, 4), (5, 1), (4, 1), (1, 4), (1, 4), (2, 3)]
    ratings = table([[str(v) for v in row] for row in scores], "interval", tuple("12345"))
    mine = {form: compute(ratings, "icc", {"type": form}) for form in ICC_TYPES}
    of_means = mine.pop("ICC(A,k)")
    assert (of_means.value, of_means.reason) == (None, "no_variation")
    assert "estimated as zero or less" in of_means.warnings[0]
    assert all(found.value < 0 for found in mine.values())


def test_icc_of_means_keeps_no_resample_above_one():
    scores = [(3, 3), (2, 2), (1, 4), (5, 2), (4, 3), (1, 4), (1, 3), (5, 3)]
    ratings = table([[str(v) for v in row] for row in scores], "interval", tuple("12345"))
    found = compute(ratings, "icc", {"type": "ICC(A,k)"})
    [reported] = with_intervals([found], ratings, resamples=2_000)
    assert reported.ci[1] <= 1
    assert any("undefined in" in warning for warning in reported.warnings)
