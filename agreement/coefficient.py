"""A coefficient while it is computed (sums over items) and when it is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agreement.ratings import Ratings
from benchmarks.items import Frozen

Array = npt.NDArray[np.float64]

Reason = Literal[
    "no_variation",
    "no_pairable_items",
    "single_rater",
    "constant_input",
    "too_few",
    "not_numeric",
]
"""Why a coefficient is undefined.

``no_variation``: 0/0, the ratings that enter hold one label only, or their variance is estimated as
zero or less. ``no_pairable_items``: no item
has two ratings. ``single_rater``: one rater only. ``constant_input``: one side of a correlation is
constant. ``too_few``: fewer items than the formula needs. ``not_numeric``: verdicts in words of
which none counts as 1.
"""

EPSILON = 1e-12
"""A denominator below this is zero: sums here are of order one and exact to about 1e-15."""
FEWEST = 3
"""Two points always lie on a line, so a correlation of fewer than three says nothing."""


class Coefficient(Frozen):
    """One reported coefficient."""

    coefficient: str
    """Name, as in ``agreement.registry``."""
    params: dict[str, Any]
    """What sets it apart from others of its name: weights, level, raters, type, how."""
    value: float | None
    """The estimate; null where undefined. Negative values are kept: below chance."""
    ci: tuple[float, float] | None = None
    """Confidence interval, low and high end; null where there is none."""
    method: str | None = None
    """How the interval was made: ``bca`` or ``percentile``; null where there is none."""
    n: int
    """Items that enter the observed agreement."""
    reason: Reason | None = None
    """Why the value is null; null where it is not."""
    warnings: tuple[str, ...] = ()
    """What a reader must know before trusting the value or its interval."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """A coefficient as a function of sums over items, which is what makes resampling cheap."""

    coefficient: str
    """Name of the coefficient."""
    params: dict[str, Any]
    """Parameters, as reported."""
    n: int
    """Items that enter the observed agreement."""
    sums: Array
    """(patterns, m): what one item of each pattern adds to the m sums."""
    evaluate: Callable[[Array], Array]
    """From sums (..., m) to values (...), NaN where undefined."""
    value: float | None
    """Point value: from the reference library where it is defined, else from the sums."""
    reason: Reason | None = None
    """Why the value is None."""
    warnings: tuple[str, ...] = field(default=())
    """Passed on to the report."""


def ratio(numerator: Array, denominator: Array) -> Array:
    """Divide, giving NaN where the denominator is zero (below ``EPSILON``)."""
    safe = np.abs(denominator) > EPSILON
    result = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=result, where=safe)
    return result


def pearson_of_sums(sums: Array) -> Array:
    """Pearson's r from sums (..., 6) of 1, x, y, xx, yy, xy; NaN where a side is constant."""
    n = np.maximum(sums[..., 0], 1.0)
    mean_x, mean_y = sums[..., 1] / n, sums[..., 2] / n
    variance_x = np.maximum(sums[..., 3] / n - mean_x**2, 0.0)
    variance_y = np.maximum(sums[..., 4] / n - mean_y**2, 0.0)
    r = ratio(sums[..., 5] / n - mean_x * mean_y, np.sqrt(variance_x * variance_y))
    return np.clip(r, -1.0, 1.0)


def make_statistic(
    ratings: Ratings,
    coefficient: str,
    params: dict[str, Any],
    n: int,
    sums: Array,
    evaluate: Callable[[Array], Array],
    *,
    undefined: Reason = "no_variation",
    reason: Reason | None = None,
    library: Callable[[], float] | None = None,
    warnings: tuple[str, ...] = (),
) -> Statistic:
    """Evaluate the point value and settle its reason.

    Args:
        ratings: The table.
        coefficient: Name.
        params: Parameters, as reported.
        n: Items that enter.
        sums: (patterns, m) contributions of one item of each pattern.
        evaluate: From sums (..., m) to values (...).
        undefined: Reason when the formula gives 0/0 although there was data.
        reason: Reason already known; the value is then None.
        library: Gives the point value where a reference library defines it; called only when the
            formula is defined.
        warnings: Passed on.

    Returns:
        The statistic with its point value.
    """
    value: float | None = None
    if reason is None:
        found = float(evaluate(ratings.pattern_weight @ sums))
        if np.isnan(found):
            reason = undefined
        elif library is not None and ratings.weights is None:
            value = float(library())
        else:
            value = found
    return Statistic(coefficient, params, n, sums, evaluate, value, reason, warnings)


def pairing_reason(ratings: Ratings) -> Reason | None:
    """Return why no two ratings can be compared, or None where some can."""
    if ratings.n_raters <= 1:
        return "single_rater"
    return "no_pairable_items" if ratings.n_pairable == 0 else None
