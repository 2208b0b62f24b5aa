"""Means, correlations and kappas of rows, and differences and averages of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.coefficient import FEWEST, Array, Reason, pearson_of_sums, ratio
from agreement.rows import RowStatistic


def mean_of(name: str, values: Array, keep: Array | None = None, **params: Any) -> RowStatistic:
    """Mean of a column over the rows kept.

    Args:
        name: Name, as reported.
        values: (rows,) numbers; shares are means of 0 and 1.
        keep: (rows,) 0/1; all rows by default.
        params: Parameters, as reported.

    Returns:
        The statistic; undefined (``too_few``) where no row is kept.
    """
    kept = np.ones(len(values)) if keep is None else keep.astype(np.float64)
    sums = np.column_stack([np.where(kept > 0, values, 0.0), kept])
    return RowStatistic(
        name, int(kept.sum()), sums, lambda s: ratio(s[..., 0], s[..., 1]), params, "too_few"
    )


def pearson(x: Array, y: Array, keep: Array | None = None, **params: Any) -> RowStatistic:
    """Linear correlation of two columns over the rows kept.

    Args:
        x: (rows,) numbers.
        y: (rows,) numbers.
        keep: (rows,) 0/1; all rows by default.
        params: Parameters, as reported.

    Returns:
        ``pearson_r``, -1..1. Undefined: fewer than three rows (``too_few``), a constant side
        (``constant_input``).
    """
    kept, x, y = _standard(x, y, keep)
    sums = np.column_stack([kept, x, y, x * x, y * y, x * y]) * kept[:, None]
    return RowStatistic(
        "pearson_r",
        int(kept.sum()),
        sums,
        pearson_of_sums,
        params,
        "constant_input",
        _too_few(kept),
    )


def spearman(x: Array, y: Array, keep: Array | None = None, **params: Any) -> RowStatistic:
    """Correlation of mid-ranks of two columns over the rows kept.

    Args:
        x: (rows,) numbers.
        y: (rows,) numbers.
        keep: (rows,) 0/1; all rows by default.
        params: Parameters, as reported.

    Returns:
        ``spearman_rho``, -1..1; undefined as ``pearson``.
    """
    kept, x, y = _standard(x, y, keep)
    chosen = np.flatnonzero(kept)
    rank_x, rank_y = _ranker(x[chosen]), _ranker(y[chosen])

    def evaluate(counts: Array) -> Array:
        weight = counts[..., chosen]
        n = np.maximum(weight.sum(axis=-1, keepdims=True), 1.0)
        a, b = rank_x(weight) / n, rank_y(weight) / n
        a = a - (weight * a).sum(axis=-1, keepdims=True) / n
        b = b - (weight * b).sum(axis=-1, keepdims=True) / n
        spread = (weight * a * a).sum(-1) * (weight * b * b).sum(-1) / n[..., 0] ** 2
        return np.clip(ratio((weight * a * b).sum(-1) / n[..., 0], np.sqrt(spread)), -1.0, 1.0)

    return RowStatistic(
        "spearman_rho", len(chosen), None, evaluate, params, "constant_input", _too_few(kept)
    )


def cohen(
    a: npt.NDArray[np.int64],
    b: npt.NDArray[np.int64],
    q: int,
    keep: Array | None = None,
    *,
    quadratic: bool = False,
    **params: Any,
) -> RowStatistic:
    """Cohen's kappa of two columns of label codes over the rows kept (Cohen 1960, 1968).

    Args:
        a: (rows,) codes 0..q-1.
        b: (rows,) codes 0..q-1.
        q: Number of labels.
        keep: (rows,) 0/1; all rows by default.
        quadratic: Weight disagreement by the squared distance of codes.
        params: Parameters, as reported.

    Returns:
        ``cohen_kappa``, at most 1; 0 where one side is constant. Undefined (``no_variation``)
        where both give one and the same label throughout, ``too_few`` without rows.
    """
    kept = np.ones(len(a)) if keep is None else keep.astype(np.float64)
    rank = np.arange(q, dtype=np.float64)
    table = np.abs(rank[:, None] - rank[None, :]) ** 2 if quadratic else 1.0 - np.eye(q)
    one = np.eye(q)
    left, right = (one[np.where(kept > 0, side, 0)] * kept[:, None] for side in (a, b))
    apart = (table[np.where(kept > 0, a, 0), np.where(kept > 0, b, 0)] * kept)[:, None]

    def evaluate(sums: Array) -> Array:
        of_a, of_b = sums[..., 1 : 1 + q], sums[..., 1 + q :]
        n = np.maximum(of_a.sum(axis=-1), 1.0)
        expected = ((of_a @ table) * of_b).sum(axis=-1) / n**2
        return 1.0 - ratio(sums[..., 0] / n, expected)

    return RowStatistic(
        "cohen_kappa",
        int(kept.sum()),
        np.hstack([apart, left, right]),
        evaluate,
        {**params, "weights": "quadratic"} if quadratic else params,
        reason=None if kept.any() else "too_few",
    )


def difference_of(first: RowStatistic, second: RowStatistic, **params: Any) -> RowStatistic:
    """``first - second`` on the same draws.

    Args:
        first: A statistic of the rows.
        second: Another statistic of the same rows.
        params: What the two sides are.

    Returns:
        The statistic ``difference``; undefined where one side is.
    """
    base = {"coefficient": first.name, **params}
    reason = first.reason or second.reason
    n = min(first.n, second.n)
    if first.sums is None or second.sums is None:
        return RowStatistic(
            "difference", n, None, lambda w: first.at(w) - second.at(w), base,
            first.undefined, reason,
        )  # fmt: skip
    split = first.sums.shape[1]
    return RowStatistic(
        "difference",
        n,
        np.hstack([first.sums, second.sums]),
        lambda s: first.evaluate(s[..., :split]) - second.evaluate(s[..., split:]),
        base,
        first.undefined,
        reason,
    )


def average_of(parts: Sequence[RowStatistic], **params: Any) -> RowStatistic:
    """Mean of statistics of the same kind, e.g. of the correlations within each method.

    Args:
        parts: Statistics of the same rows; those undefined on the data must be left out before.
        params: Parameters, as reported.

    Returns:
        The statistic under the parts' name; undefined on a resample where any part is.

    Raises:
        ValueError: No part.
    """
    if not parts:
        raise ValueError("average_of needs at least one statistic")

    def evaluate(counts: Array) -> Array:
        return np.asarray(np.mean([part.at(counts) for part in parts], axis=0))

    def of_sums(sums: Array) -> Array:
        found, start = [], 0
        for part, width in zip(parts, widths, strict=True):
            found.append(part.evaluate(sums[..., start : start + width]))
            start += width
        return np.asarray(np.mean(found, axis=0))

    given = [part.sums for part in parts if part.sums is not None]
    widths = [sums.shape[1] for sums in given]
    summed = len(given) == len(parts)
    return RowStatistic(
        parts[0].name,
        sum(part.n for part in parts),
        np.hstack(given) if summed else None,
        of_sums if summed else evaluate,
        params,
        parts[0].undefined,
        next((part.reason for part in parts if part.reason), None),
    )


def _standard(x: Array, y: Array, keep: Array | None) -> tuple[Array, Array, Array]:
    """Shift and scale both sides so that squares lose nothing; rows left out become zero."""
    kept = np.ones(len(x)) if keep is None else keep.astype(np.float64)
    sides = []
    for side in (x, y):
        used = side[kept > 0]
        spread = float(np.ptp(used)) if used.size else 0.0
        centre = float(used.mean()) if used.size else 0.0
        scaled = (side - centre) / (spread or 1.0) if spread else np.zeros(len(side))
        sides.append(np.where(kept > 0, scaled, 0.0))
    return kept, sides[0], sides[1]


def _too_few(kept: Array) -> Reason | None:
    return "too_few" if kept.sum() < FEWEST else None


def _ranker(values: Array) -> Callable[[Array], Array]:
    """Mid-ranks of the rows when row i is there ``weight[i]`` times."""
    levels, index = np.unique(values, return_inverse=True)
    index = index.reshape(-1)
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(len(levels)))

    def ranks(weight: Array) -> Array:
        at_level = np.add.reduceat(weight[..., order], starts, axis=-1)
        mid: Array = np.cumsum(at_level, axis=-1) - at_level / 2.0 + 0.5
        return np.asarray(mid[..., index])

    return ranks
