"""Statistics of rows: clips with scores on two sides, answers with a confidence.

Where ``kernel`` resamples ratings by pattern, these take rows as they are, drawn by unit: most are
functions of sums over rows, rank correlations are functions of how often each row was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.coefficient import Array, Coefficient, Reason, Statistic
from agreement.kernel import DEFAULT_RESAMPLES, Design, Replicates, draw, reported

MAX_RANKED_ROWS = 20_000
"""Most rows for which rank correlations are resampled."""
CHUNK_CELLS = 4_000_000
"""Cells of the matrix resamples x rows that are held at once (32 MB)."""


@dataclass(frozen=True, eq=False)
class RowStatistic:
    """A statistic of rows that may be drawn several times."""

    name: str
    """Name, as reported."""
    n: int
    """Rows that enter."""
    sums: Array | None
    """(rows, m): what one row adds to the m sums; None for a function of the row counts."""
    evaluate: Callable[[Array], Array]
    """From sums (..., m), or counts (..., rows), to values (...), NaN where undefined."""
    params: dict[str, Any]
    """Parameters, as reported."""
    undefined: Reason = "no_variation"
    """Reason when the formula gives 0/0."""
    reason: Reason | None = None
    """Reason known beforehand."""

    def at(self, counts: Array) -> Array:
        """Evaluate for row counts (..., rows)."""
        return self.evaluate(counts if self.sums is None else counts @ self.sums)


def unit_design(
    units: npt.NDArray[np.int64], strata: npt.NDArray[np.int64] | None = None, unit: str = "cluster"
) -> Design:
    """Say which rows are drawn together.

    Args:
        units: (rows,) number of the unit of each row.
        strata: (rows,) number of the stratum; units are drawn within it. Constant within a unit.
        unit: What a unit is, for the report.

    Returns:
        A design whose patterns are the rows.
    """
    import scipy.sparse

    found, index = np.unique(units, return_inverse=True)
    index = index.reshape(-1)
    stratum = np.zeros(len(found), dtype=np.int64)
    if strata is not None:
        stratum[index] = strata
    content = scipy.sparse.csr_array(
        (np.ones(len(units)), (index, np.arange(len(units)))), shape=(len(found), len(units))
    )
    return Design(content, np.ones(len(found), dtype=np.int64), stratum, unit)


def estimate(
    statistics: Sequence[RowStatistic],
    design: Design,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[Coefficient, ...]:
    """Report statistics with intervals, all from the same draws of units.

    Args:
        statistics: Statistics of the rows of ``design``.
        design: Units, from ``unit_design``.
        resamples: Number of resamples; 0 for no intervals.
        seed: Seed of the draws.
        level: Confidence level.

    Returns:
        One record per statistic, in order.
    """
    plain = [_with_value(s, design.content.shape[1]) for s in statistics]
    found = _resample(statistics, plain, design, resamples, seed) if resamples else {}
    return tuple(reported(p, found.get(i), level) for i, p in enumerate(plain))


def _with_value(statistic: RowStatistic, rows: int) -> Statistic:
    value, reason = None, statistic.reason
    if reason is None:
        at_all = float(statistic.at(np.ones(rows)))
        reason = statistic.undefined if np.isnan(at_all) else None
        value = None if np.isnan(at_all) else at_all
    warnings: tuple[str, ...] = ()
    if value is not None and statistic.sums is None and rows > MAX_RANKED_ROWS:
        warnings = (f"no interval: more than {MAX_RANKED_ROWS} rows to rank",)
    return Statistic(
        statistic.name,
        statistic.params,
        statistic.n,
        np.empty((rows, 0)),
        statistic.evaluate,
        value,
        reason,
        warnings,
    )


def _resample(
    statistics: Sequence[RowStatistic],
    plain: Sequence[Statistic],
    design: Design,
    resamples: int,
    seed: int,
) -> dict[int, Replicates]:
    """Replicates by position of the statistics that have a value."""
    rows = design.content.shape[1]
    wanted = {
        i: s
        for i, (s, p) in enumerate(zip(statistics, plain, strict=True))
        if p.value is not None and not p.warnings
    }
    summed = {i: s for i, s in wanted.items() if s.sums is not None}
    ranked = {i: s for i, s in wanted.items() if s.sums is None}
    return {
        **_resample_sums(summed, design, resamples, seed),
        **_resample_counts(ranked, design, resamples, seed, rows),
    }


def _resample_sums(
    statistics: dict[int, RowStatistic], design: Design, resamples: int, seed: int
) -> dict[int, Replicates]:
    """Draw units that add the same to every sum together: they are interchangeable."""
    if not statistics:
        return {}
    given = [s.sums for s in statistics.values() if s.sums is not None]
    edges = np.cumsum([0, *(sums.shape[1] for sums in given)])
    spans = [slice(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    sums = np.asarray(design.content @ np.hstack(given))
    keys = np.column_stack([design.stratum, np.round(sums, 12)])
    _, first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    multiplicity = np.bincount(kind.reshape(-1)).astype(np.int64)
    kinds, sums = Design(sums[first], multiplicity, design.stratum[first], design.unit), sums[first]
    parts: dict[int, list[Array]] = {i: [] for i in statistics}
    for counts in draw(kinds, resamples, seed):
        totals = counts @ sums
        for (i, statistic), span in zip(statistics.items(), spans, strict=True):
            parts[i].append(statistic.evaluate(totals[:, span]))
    left_out = multiplicity.astype(np.float64) @ sums - sums
    return {
        i: Replicates(np.concatenate(parts[i]), s.evaluate(left_out[:, span]), multiplicity)
        for (i, s), span in zip(statistics.items(), spans, strict=True)
    }


def _resample_counts(
    statistics: dict[int, RowStatistic], design: Design, resamples: int, seed: int, rows: int
) -> dict[int, Replicates]:
    """Draw units one by one and tell each statistic how often every row came."""
    if not statistics:
        return {}
    parts: dict[int, list[Array]] = {i: [] for i in statistics}
    step = max(1, CHUNK_CELLS // max(rows, 1))
    for counts in draw(design, resamples, seed):
        for start in range(0, len(counts), step):
            drawn = np.asarray(counts[start : start + step] @ design.content)
            for i, statistic in statistics.items():
                parts[i].append(statistic.evaluate(drawn))
    return {
        i: Replicates(np.concatenate(parts[i]), _jackknife(s, design), design.multiplicity)
        for i, s in statistics.items()
    }


def _jackknife(statistic: RowStatistic, design: Design) -> Array:
    units, rows = design.content.shape
    step = max(1, CHUNK_CELLS // max(rows, 1))
    parts = []
    for start in range(0, units, step):
        left_out = np.eye(min(step, units - start), units, start)
        parts.append(statistic.evaluate(1.0 - np.asarray(left_out @ design.content)))
    return np.concatenate(parts)
