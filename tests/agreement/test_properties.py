"""What must hold for every coefficient, and how each is classified."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement.registry import COEFFICIENTS, compute
from tests.agreement.samples import rating_rows, table

DOMAIN = ("1", "2", "3", "4")

EXAMPLES = {
    "percent_agreement": [{}, {"how": "pooled"}, {"how": "unanimous"}, {"weights": "linear"}],
    "cohen_kappa": [{"raters": [0, 1]}, {"raters": [0, 1], "weights": "quadratic"}],
    "fleiss_kappa": [{}, {"weights": "ordinal"}],
    "conger_kappa": [{}, {"weights": "quadratic"}],
    "krippendorff_alpha": [
        {"level": level} for level in ("nominal", "ordinal", "interval", "ratio")
    ],
    "gwet_ac1": [{}],
    "gwet_ac2": [{"weights": "linear"}],
    "brennan_prediger": [{}, {"weights": "quadratic"}],
    "category_kappa": [{"category": "2"}],
    "pearson_r": [{}],
    "spearman_rho": [{}],
    "kendall_tau_b": [{}],
    "icc": [{"type": form} for form in ("ICC(1,1)", "ICC(A,1)", "ICC(C,k)")],
}
LABEL_NAMES_DO_NOT_MATTER = [
    ("percent_agreement", {}),
    ("cohen_kappa", {"raters": [0, 1]}),
    ("fleiss_kappa", {}),
    ("conger_kappa", {}),
    ("krippendorff_alpha", {"level": "nominal"}),
    ("gwet_ac1", {}),
    ("brennan_prediger", {}),
]
REVERSIBLE = [
    *LABEL_NAMES_DO_NOT_MATTER,
    ("krippendorff_alpha", {"level": "ordinal"}),
    ("krippendorff_alpha", {"level": "interval"}),
    ("gwet_ac2", {"weights": "quadratic"}),
    ("icc", {"type": "ICC(A,1)"}),
]
PAIRED = ("cohen_kappa", "pearson_r", "spearman_rho", "kendall_tau_b")
UNCHANGED_BY_DUPLICATES = [
    # The others carry a small-sample term: alpha n - 1, ICC degrees of freedom.
    name
    for name in EXAMPLES
    if name not in ("krippendorff_alpha", "icc")
]
CASES = [(name, params) for name, many in EXAMPLES.items() for params in many]
IDS = [f"{name}-{'-'.join(map(str, params.values()))}" for name, params in CASES]


def same(first, second):
    if first.value is None or second.value is None:
        assert first.value is second.value
        assert first.reason == second.reason
    else:
        assert first.value == pytest.approx(second.value, abs=1e-9)


def test_every_coefficient_is_classified():
    assert set(EXAMPLES) == set(COEFFICIENTS)


@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(rows=rating_rows(), data=st.data())
def test_item_order_does_not_matter(name, params, rows, data):
    shuffled = data.draw(st.permutations(rows))
    one = compute(table(rows, "ratio", DOMAIN), name, params)
    two = compute(table(shuffled, "ratio", DOMAIN), name, params)
    same(one, two)


@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(rows=rating_rows())
def test_rater_order_does_not_matter(name, params, rows):
    turned = [row[::-1] for row in rows]
    other = dict(params)
    if name in PAIRED:
        last = len(rows[0]) - 1
        other["raters"] = [last, last - 1]
    same(
        compute(table(rows, "ratio", DOMAIN), name, params),
        compute(table(turned, "ratio", DOMAIN), name, other),
    )


@pytest.mark.parametrize(("name", "params"), LABEL_NAMES_DO_NOT_MATTER)
@settings(max_examples=25, deadline=None)
@given(rows=rating_rows(), order=st.permutations(DOMAIN))
def test_relabelling_does_not_matter(name, params, rows, order):
    rename = {**dict(zip(DOMAIN, order, strict=True)), None: None}
    renamed = [[rename[label] for label in row] for row in rows]
    same(
        compute(table(rows, "ordinal", DOMAIN), name, params),
        compute(table(renamed, "ordinal", DOMAIN), name, params),
    )


@pytest.mark.parametrize(("name", "params"), REVERSIBLE)
@settings(max_examples=25, deadline=None)
@given(rows=rating_rows())
def test_turning_the_scale_round_does_not_matter(name, params, rows):
    turn = {**dict(zip(DOMAIN, DOMAIN[::-1], strict=True)), None: None}
    same(
        compute(table(rows, "ordinal", DOMAIN), name, params),
        compute(table([[turn[v] for v in row] for row in rows], "ordinal", DOMAIN), name, params),
    )


@pytest.mark.parametrize("name", UNCHANGED_BY_DUPLICATES)
@settings(max_examples=25, deadline=None)
@given(rows=rating_rows())
def test_the_data_twice_over_gives_the_same(name, rows):
    for params in EXAMPLES[name]:
        once = compute(table(rows, "ratio", DOMAIN), name, params)
        if once.reason != "too_few":
            same(once, compute(table(rows + rows, "ratio", DOMAIN), name, params))


@pytest.mark.parametrize(("name", "params"), CASES, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(rows=rating_rows())
def test_never_above_one_and_never_nan(name, params, rows):
    found = compute(table(rows, "ratio", DOMAIN), name, params)
    if found.value is None:
        assert found.reason is not None
    else:
        assert np.isfinite(found.value)
        assert found.value <= 1 + 1e-9


@settings(max_examples=50, deadline=None)
@given(rows=rating_rows(complete=True))
def test_weight_two_is_the_item_twice(rows):
    weights = [2.0 if i % 2 else 1.0 for i in range(len(rows))]
    doubled = rows + rows[1::2]
    for name, params in CASES:
        if name in ("icc", "krippendorff_alpha"):
            continue
        weighted = compute(table(rows, "ratio", DOMAIN, weights=weights), name, params)
        if weighted.reason == "too_few":
            continue
        same(weighted, compute(table(doubled, "ratio", DOMAIN), name, params))
