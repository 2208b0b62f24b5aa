"""How long raters take over an item."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from agreement.ratings import natural_key
from benchmarks.items import Frozen


class RaterTime(Frozen):
    """Seconds per item of one rater, or of all."""

    rater: str | None
    """The rater; null for all together."""
    n: int
    """Items with a time."""
    median: float
    """Seconds."""
    lower_quartile: float
    """Seconds."""
    upper_quartile: float
    """Seconds."""
    total: float
    """Seconds, summed over items."""


def time_per_item(seconds: Mapping[tuple[str, str], float]) -> tuple[RaterTime, ...]:
    """Summarise seconds per item; pauses make means useless, so there are quartiles.

    Args:
        seconds: By item and rater; values that are not finite or are negative are left out.

    Returns:
        All raters together, then each in natural order; empty without a time.
    """
    by_rater: dict[str, list[float]] = {}
    for (_, rater), value in seconds.items():
        if math.isfinite(value) and value >= 0:
            by_rater.setdefault(rater, []).append(value)
    if not by_rater:
        return ()
    everything = [value for values in by_rater.values() for value in values]
    return (
        _summary(None, everything),
        *(_summary(name, by_rater[name]) for name in sorted(by_rater, key=natural_key)),
    )


def _summary(rater: str | None, values: list[float]) -> RaterTime:
    lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75])
    return RaterTime(
        rater=rater,
        n=len(values),
        median=float(median),
        lower_quartile=float(lower),
        upper_quartile=float(upper),
        total=float(sum(values)),
    )
