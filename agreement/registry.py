"""Every coefficient by name, and which of them an axis calls for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from agreement.axis import LEVELS, Level
from agreement.coefficient import Coefficient, Statistic
from agreement.cohen import cohen_kappa, conger_kappa
from agreement.correlation import kendall_tau_b, pearson_r, spearman_rho
from agreement.fleiss import category_kappa, fleiss_kappa
from agreement.gwet import brennan_prediger, gwet_ac
from agreement.icc import ICC_TYPES, icc
from agreement.krippendorff import krippendorff_alpha
from agreement.percent import percent_agreement
from agreement.ratings import Ratings
from agreement.weights import WEIGHTS

if TYPE_CHECKING:
    from agreement.analysis import Analysis

MAX_PAIRED_RATERS = 12
"""Coefficients of pairs are listed up to this many raters (66 pairs)."""


def _icc(ratings: Ratings, type: str = "ICC(A,1)") -> Statistic:  # noqa: A002
    return icc(ratings, type)  # type: ignore[arg-type]


def _cohen(ratings: Ratings, raters: Any = (0, 1), **params: Any) -> Statistic:
    return cohen_kappa(ratings, (int(raters[0]), int(raters[1])), **params)


def _category(ratings: Ratings, category: str) -> Statistic:
    return category_kappa(ratings, category)


COEFFICIENTS: dict[str, Callable[..., Statistic]] = {
    "percent_agreement": percent_agreement,
    "cohen_kappa": _cohen,
    "fleiss_kappa": fleiss_kappa,
    "conger_kappa": conger_kappa,
    "krippendorff_alpha": krippendorff_alpha,
    "gwet_ac1": gwet_ac,
    "gwet_ac2": gwet_ac,
    "brennan_prediger": brennan_prediger,
    "category_kappa": _category,
    "icc": _icc,
    "pearson_r": pearson_r,
    "spearman_rho": spearman_rho,
    "kendall_tau_b": kendall_tau_b,
}
"""By name: a function of the ratings and of the parameters that are reported with the value."""

TITLES: dict[str, str] = {
    "percent_agreement": "Percent agreement",
    "cohen_kappa": "Cohen’s κ",
    "fleiss_kappa": "Fleiss’ κ",
    "conger_kappa": "Conger’s κ",
    "krippendorff_alpha": "Krippendorff’s α",
    "gwet_ac1": "Gwet’s AC1",
    "gwet_ac2": "Gwet’s AC2",
    "brennan_prediger": "Brennan–Prediger",
    "category_kappa": "κ of one label",
    "icc": "Intraclass correlation",
    "pearson_r": "Pearson r",
    "spearman_rho": "Spearman ρ",
    "kendall_tau_b": "Kendall τ-b",
    "difference": "Difference",
}
"""Names as people read them."""


def compute(ratings: Ratings, coefficient: str, params: dict[str, Any] | None = None) -> Statistic:
    """Compute one coefficient by name.

    Args:
        ratings: The table.
        coefficient: A key of ``COEFFICIENTS``.
        params: Its parameters, as reported.

    Returns:
        The statistic.

    Raises:
        ValueError: An unknown name, or parameters that do not fit the axis.
    """
    function = COEFFICIENTS.get(coefficient)
    if function is None:
        raise ValueError(f"coefficient {coefficient!r}, expected one of {', '.join(COEFFICIENTS)}")
    return function(ratings, **(params or {}))


def alpha_levels(ratings: Ratings) -> tuple[Level, ...]:
    """Levels at which alpha can be taken of the axis, its own first.

    A nominal axis has its own only; others have every level that their labels allow.
    """
    axis = ratings.axis
    if axis.level == "nominal":
        return ("nominal",)
    values = axis.values
    possible: list[Level] = [axis.level]
    for level in LEVELS:
        if level in possible or (level == "ordinal" and ratings.q > 300):
            continue
        if level in ("interval", "ratio") and values is None:
            continue
        if level == "ratio" and min(values or (0.0,)) < 0:
            continue
        if level in ("nominal", "ratio") and ratings.q > 300:
            continue
        possible.append(level)
    return tuple(possible)


def choose(ratings: Ratings) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name the coefficients that the axis calls for.

    All axes: percent agreement, Fleiss, Conger, alpha, AC1, Brennan-Prediger, Cohen for each
    pair, kappa of each label. Ordered axes also the weighted forms; numeric ordered axes also
    intraclass correlations. Axes with more than 300 labels: alpha and intraclass correlation only.

    Args:
        ratings: The table.

    Yields:
        Name and parameters, in the order in which a report lists them. Percent agreement comes
        under its short name, and once more under the definition it stands for.
    """
    ordered = ratings.axis.level != "nominal"
    few = ratings.q <= 300
    own, *other = alpha_levels(ratings)
    if few:
        yield "percent_agreement", {}
        for how in ("item_mean", "pooled", "unanimous"):
            yield "percent_agreement", {"how": how}
        yield "fleiss_kappa", {}
    yield "krippendorff_alpha", {"level": own}
    if few:
        yield "gwet_ac1", {}
        yield "brennan_prediger", {}
        yield "conger_kappa", {}
    for level in other:
        yield "krippendorff_alpha", {"level": level}
    if ordered and few:
        for weights in WEIGHTS:
            yield "percent_agreement", {"weights": weights}
        for name in ("fleiss_kappa", "gwet_ac2", "brennan_prediger", "conger_kappa"):
            for weights in WEIGHTS:
                yield name, {"weights": weights}
    if ordered and ratings.axis.values is not None:
        for form in ICC_TYPES:
            yield "icc", {"type": form}
    if not few:
        return
    if len(ratings.raters) <= MAX_PAIRED_RATERS:
        for pair in combinations(range(len(ratings.raters)), 2):
            yield "cohen_kappa", {"raters": list(pair)}
            if ordered:
                for weights in ("linear", "quadratic"):
                    yield "cohen_kappa", {"raters": list(pair), "weights": weights}
            if ordered and ratings.axis.values is not None:
                for name in ("pearson_r", "spearman_rho", "kendall_tau_b"):
                    yield name, {"raters": list(pair)}
    if 2 < ratings.q <= 20:
        for label in ratings.axis.domain:
            yield "category_kappa", {"category": label}


def describe(found: Coefficient, analysis: Analysis) -> str:
    """Name a reported coefficient for people.

    Args:
        found: The coefficient.
        analysis: Where it stands; gives the raters' names.

    Returns:
        E.g. ``Cohen’s κ, A1 and A3, quadratic weights``.
    """
    params = dict(found.params)
    parts = [TITLES.get(found.coefficient, found.coefficient)]
    if "raters" in params:
        parts.append(" and ".join(analysis.raters[i].rater for i in params.pop("raters")))
    if "weights" in params:
        parts.append(f"{params.pop('weights')} weights")
    if "level" in params:
        parts.append(params.pop("level"))
    if "how" in params:
        parts.append({"item_mean": "item mean"}.get(params["how"], params["how"]))
        del params["how"]
    if "category" in params:
        parts.append(f"“{params.pop('category')}”")
    if "type" in params:
        parts.append(params.pop("type"))
    return ", ".join([*parts, *(f"{key} {value}" for key, value in params.items())])


def is_main(found: Coefficient, analysis: Analysis) -> bool:
    """Tell whether a coefficient belongs in a short table.

    Args:
        found: The coefficient.
        analysis: Where it stands.

    Returns:
        True for unweighted coefficients of all raters, alpha at the axis's own level, and for
        ordered axes AC2 with quadratic weights and ICC(A,1).
    """
    if found.params in ({"how": "item_mean"}, {"weights": "linear"}, {"weights": "ordinal"}):
        return False
    if found.coefficient == "krippendorff_alpha":
        return bool(found.params["level"] == analysis.axis.level)
    if found.coefficient == "icc":
        return bool(found.params["type"] == "ICC(A,1)")
    if "weights" in found.params:
        return found.coefficient == "gwet_ac2"
    return "raters" not in found.params and found.coefficient != "category_kappa"
