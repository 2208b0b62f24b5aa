"""Krippendorff's alpha for nominal, ordinal, interval and ratio data (Krippendorff 2011)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from agreement.axis import Axis, Level
from agreement.coefficient import Array, Statistic, make_statistic, pairing_reason, ratio
from agreement.ratings import Ratings

LIBRARY_CELLS = 5_000_000
"""Above this many cells (items x labels x labels) the point value is the kernel's own."""


def krippendorff_alpha(ratings: Ratings, level: Level | None = None) -> Statistic:
    """One minus observed over expected disagreement, over items with at least two ratings.

    ``alpha = 1 - D_o / D_e``; distances: nominal 0/1, interval ``(c-k)^2``, ratio
    ``((c-k)/(c+k))^2``, ordinal ``(sum of the frequencies from c to k minus half of those at the
    ends)^2``, which is the interval distance of mid-ranks among the pairable ratings. Interval
    alpha of labels that are no numbers goes by their rank. The point value is the
    ``krippendorff`` package's.

    Args:
        ratings: The table.
        level: Level of measurement; the axis's own by default.

    Returns:
        The statistic, at most 1, negative below chance. Undefined (``no_variation``) where the
        pairable ratings bear one label.

    Raises:
        ValueError: Ratio asked of labels that are no numbers, or of negative ones.
    """
    level = level or ratings.axis.level
    given = (ratings.patterns >= 0).sum(axis=1).astype(np.float64)
    pairable = given >= 2
    scale = np.divide(1.0, given - 1.0, out=np.zeros_like(given), where=pairable)
    if level == "interval":
        # Scores may be as many as there are ratings: no table of labels.
        codes = np.where(pairable[:, None], ratings.patterns, -1)
        sums, evaluate = _interval(codes, scale, _numbers(ratings.axis, level))
    else:
        kept = np.where(pairable[:, None], ratings.pattern_counts, 0.0)
        sums, evaluate = (
            _ordinal(kept, scale)
            if level == "ordinal"
            else _fixed(kept, scale, _distance(ratings.axis, level))
        )

    def library() -> float:
        import krippendorff as reference

        return float(
            reference.alpha(
                value_counts=ratings.pattern_counts[ratings.pattern_of],
                value_domain=_library_domain(ratings.axis, level),
                level_of_measurement=level,
            )
        )

    small = len(ratings.items) * ratings.q**2 <= LIBRARY_CELLS
    return make_statistic(
        ratings,
        "krippendorff_alpha",
        {"level": level},
        ratings.n_pairable,
        sums,
        evaluate,
        reason=pairing_reason(ratings),
        library=library if small else None,
    )


def _library_domain(axis: Axis, level: Level) -> list[str] | list[float]:
    if level in ("nominal", "ordinal"):
        return list(map(float, range(len(axis.domain))))
    return list(_numbers(axis, level))


def _numbers(axis: Axis, level: Level) -> Array:
    values = axis.values
    if values is None and level == "interval":
        return np.arange(len(axis.domain), dtype=np.float64)
    if values is None:
        raise ValueError(f"{level} alpha needs numbers, not {list(axis.domain)}")
    if level == "ratio" and min(values, default=0.0) < 0:
        raise ValueError("ratio alpha needs labels that are not negative")
    return np.array(values, dtype=np.float64)


def _distance(axis: Axis, level: Level) -> Array:
    if level == "nominal":
        return 1.0 - np.eye(len(axis.domain))
    values = _numbers(axis, level)
    total = values[:, None] + values[None, :]
    apart = values[:, None] - values[None, :]
    return np.divide(apart, total, out=np.zeros_like(total), where=total > 0) ** 2


def _fixed(kept: Array, scale: Array, distance: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Sums: observed disagreement and the frequency of each label."""
    observed = np.einsum("ic,ck,ik->i", kept, distance, kept, optimize=True) * scale

    def evaluate(sums: Array) -> Array:
        n_c = sums[..., 1:]
        n = n_c.sum(axis=-1)
        expected = ((n_c @ distance) * n_c).sum(axis=-1)
        return _alpha(sums[..., 0], expected, n)

    return np.column_stack([observed, kept]), evaluate


def _interval(
    codes: npt.NDArray[np.int32], scale: Array, values: Array
) -> tuple[Array, Callable[[Array], Array]]:
    """Sums: observed disagreement, n, sum and sum of squares."""
    there = codes >= 0
    centre = float(values[codes[there]].mean()) if there.any() else 0.0
    spread = float(np.ptp(values)) if len(values) else 0.0
    x = np.where(there, np.append((values - centre) / (spread or 1.0), 0.0)[codes], 0.0)
    n, first, second = there.sum(axis=1), x.sum(axis=1), (x**2).sum(axis=1)
    observed = 2.0 * (n * second - first**2) * scale

    def evaluate(sums: Array) -> Array:
        expected = 2.0 * (sums[..., 1] * sums[..., 3] - sums[..., 2] ** 2)
        return _alpha(sums[..., 0], expected, sums[..., 1])

    return np.column_stack([observed, n, first, second]), evaluate


def _ordinal(kept: Array, scale: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Sums: coincidences of labels c <= k, then frequencies; distances follow the resample."""
    q = kept.shape[1]
    upper = np.triu_indices(q)
    cross = kept[:, upper[0]] * kept[:, upper[1]]
    cross[:, upper[0] == upper[1]] -= kept
    twice = np.where(upper[0] == upper[1], 1.0, 2.0)
    coincidences = cross * twice * scale[:, None]

    def evaluate(sums: Array) -> Array:
        n_c = sums[..., len(twice) :]
        n = n_c.sum(axis=-1)
        mid = (np.cumsum(n_c, axis=-1) - n_c / 2.0) / np.maximum(n, 1.0)[..., None]
        apart = (mid[..., upper[0]] - mid[..., upper[1]]) ** 2
        observed = (sums[..., : len(twice)] * apart).sum(axis=-1)
        expected = 2.0 * (n * (n_c * mid**2).sum(-1) - (n_c * mid).sum(-1) ** 2)
        return _alpha(observed, expected, n)

    return np.column_stack([coincidences, kept]), evaluate


def _alpha(observed: Array, expected: Array, n: Array) -> Array:
    """Return ``1 - (n - 1) D_o / D_e`` from unnormalised disagreements."""
    share = ratio(expected, np.maximum(n, 1.0) ** 2)
    return 1.0 - (n - 1.0) * ratio(observed / np.maximum(n, 1.0) ** 2, share)
