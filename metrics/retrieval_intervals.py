"""Intervals of retrieval metrics: bootstrap over motions, which several texts share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.results import Cell
from metrics.retrieval import DIRECTIONS, Measured, Pool
from metrics.retrieval_ranks import Ranks

FloatArray = NDArray[np.float64]
_AT_ONCE = 2_000_000
"""Weights held at once."""


def with_intervals(
    measured: Measured, pool: Pool, *, resamples: int, seed: int, level: float = 0.95
) -> Measured:
    """Add percentile intervals to the metrics of one pool.

    Motions are drawn with replacement, each with all its texts; the pool that is searched stays as
    it is, so the interval is about other queries of the kind, not about other candidates (ours).

    Args:
        measured: What the pool gave.
        pool: The pool.
        resamples: Number of resamples, at least 1.
        seed: Of the draws.
        level: Share of resamples inside the interval.

    Returns:
        The same with ``ci`` in each defined cell.
    """
    metrics = {}
    for name, ranks in zip(DIRECTIONS, measured.ranks, strict=True):
        unit = pool.text_motion if name == DIRECTIONS[0] else np.arange(len(pool.motion_ids))
        metrics[name] = _direction(
            measured.metrics[name], ranks, unit, resamples, seed, (1 - level) / 2
        )
    return replace(measured, metrics=metrics)


def _direction(
    cells: dict[str, Cell],
    ranks: Ranks,
    unit: NDArray[np.int64],
    resamples: int,
    seed: int,
    tail: float,
) -> dict[str, Cell]:
    asked = ranks.relevant > 0
    if not asked.any():
        return cells
    best, place = ranks.best[asked], np.unique(unit[asked], return_inverse=True)[1]
    units = int(place.max()) + 1
    columns: dict[str, NDArray[np.floating[Any]]] = {}
    for metric in cells:
        head, _, cut = metric.partition("@")
        if head == "R":
            columns[metric] = 100.0 * (best < int(cut))
        elif head == "nDCG":
            columns[metric] = 100.0 * ranks.ndcg[int(cut)][asked]
    sums = np.stack([np.bincount(place, column, units) for column in columns.values()], axis=1)
    size = np.bincount(place, minlength=units)
    order = np.argsort(best, kind="stable")
    rng = np.random.default_rng(seed)
    drawn: list[Any] = []
    medians: list[Any] = []
    step = max(_AT_ONCE // max(units, len(best)), 1)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        weight = rng.multinomial(units, np.full(units, 1 / units), size=count).astype(np.float64)
        drawn.append((weight @ sums) / (weight @ size)[:, None])
        medians.append(_medians(best[order], weight[:, place[order]]))
    means = np.concatenate(drawn)
    ends = {
        metric: np.quantile(means[:, at], (tail, 1 - tail)) for at, metric in enumerate(columns)
    }
    ends["MedR"] = np.quantile(np.concatenate(medians) + 1, (tail, 1 - tail))
    return {
        metric: found
        if found.value is None
        else found.model_copy(update={"ci": (float(ends[metric][0]), float(ends[metric][1]))})
        for metric, found in cells.items()
    }


def _medians(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the median of sorted values, each repeated as often as its whole weight says."""
    upto = np.cumsum(weights, axis=1)
    total = upto[:, -1]
    middle = np.stack([np.floor((total + 1) / 2), np.ceil((total + 1) / 2)], axis=1)
    found = [values[np.searchsorted(row, at)] for row, at in zip(upto, middle, strict=True)]
    medians: FloatArray = np.asarray(found).mean(axis=1)
    return medians
