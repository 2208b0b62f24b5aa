"""Resampling: draw units, add up their sums, evaluate all coefficients on the same draws.

Every coefficient here is a function of sums over items, so a resample is one row of a matrix
product. Items that show the same pattern of ratings are interchangeable: they are drawn together
(multinomially) when they are few, one by one otherwise. Clusters are summed first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.coefficient import Array, Coefficient, Statistic
from agreement.ratings import Ratings

CHUNK_CELLS = 4_000_000
"""Cells of the weight matrix that are held at once (32 MB)."""
FEW_UNITS = 20
"""Below this many resampled units an interval carries a warning (a rule of thumb)."""
UNTRUSTED = 0.05
"""From this share of undefined resamples on, the warning says so (ours)."""
DEFAULT_RESAMPLES = 5_000
"""Resamples behind an interval unless asked otherwise."""


@dataclass(frozen=True, eq=False)
class Design:
    """What is resampled: distinct units, how many show each, and their stratum."""

    content: Array
    """(kinds, patterns): weight of items of each pattern that one unit of the kind holds."""
    multiplicity: npt.NDArray[np.int64]
    """(kinds,): how many units are of the kind."""
    stratum: npt.NDArray[np.int64]
    """(kinds,): stratum of the units; draws keep its number of units."""
    unit: str
    """What a unit is: ``item`` or ``cluster``."""

    @property
    def n_units(self) -> int:
        """Number of units, of all kinds."""
        return int(self.multiplicity.sum())


@dataclass(frozen=True)
class Interval:
    """A confidence interval from replicates."""

    low: float
    high: float
    method: str
    """``bca`` or ``percentile``."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """What resampling gave for one statistic."""

    values: Array
    """(resamples,): NaN where undefined."""
    jackknife: Array
    """(kinds,): value with one unit of the kind left out."""
    multiplicity: npt.NDArray[np.int64]
    """(kinds,): how many units each jackknife value stands for."""


def make_design(ratings: Ratings, stratify_by: str | None = None) -> Design:
    """Find the units to resample: clusters where there are any, else items.

    Args:
        ratings: The table.
        stratify_by: Name of a stratum; units are then drawn within it.

    Returns:
        The design.

    Raises:
        ValueError: A cluster that lies in two strata.
    """
    import scipy.sparse

    n = len(ratings.items)
    weights = np.ones(n) if ratings.weights is None else ratings.weights
    stratum = np.zeros(n, dtype=np.int64)
    if stratify_by is not None:
        _, stratum = np.unique(np.array(ratings.strata[stratify_by]), return_inverse=True)
    n_patterns = len(ratings.patterns)
    if ratings.clusters is None:
        kinds, kind_of, multiplicity = np.unique(
            np.column_stack([stratum, ratings.pattern_of, weights]),
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        content = scipy.sparse.csr_array(
            (kinds[:, 2], (np.arange(len(kinds)), kinds[:, 1].astype(np.int64))),
            shape=(len(kinds), n_patterns),
        )
        return Design(content, multiplicity, kinds[:, 0].astype(np.int64), "item")
    _, cluster = np.unique(ratings.clusters, return_inverse=True)
    n_clusters = int(cluster.max()) + 1 if n else 0
    cluster_stratum = np.zeros(n_clusters, dtype=np.int64)
    cluster_stratum[cluster] = stratum
    if (cluster_stratum[cluster] != stratum).any():
        raise ValueError(f"a cluster lies in two strata of {stratify_by!r}")
    content = scipy.sparse.csr_array(
        (weights, (cluster, ratings.pattern_of)), shape=(n_clusters, n_patterns)
    )
    return Design(content, np.ones(n_clusters, dtype=np.int64), cluster_stratum, "cluster")


def draw(design: Design, resamples: int, seed: int) -> Iterator[Array]:
    """Draw units with replacement within each stratum, in chunks.

    Args:
        design: The units.
        resamples: Number of resamples.
        seed: Seed of the generator.

    Yields:
        (chunk, kinds) counts of each kind of unit.
    """
    rng = np.random.default_rng(seed)
    kinds = len(design.multiplicity)
    members = [np.flatnonzero(design.stratum == s) for s in np.unique(design.stratum)]
    chunk = int(np.clip(CHUNK_CELLS // max(kinds, 1), 1, 1_000))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        counts = np.zeros((rows, kinds))
        for member in members:
            multiplicity = design.multiplicity[member]
            n = int(multiplicity.sum())
            if 2 * len(member) <= n:
                counts[:, member] = _multinomial(rng, multiplicity, rows)
                continue
            kind_of_unit = np.repeat(np.arange(len(member)), multiplicity)
            drawn = kind_of_unit[rng.integers(0, n, size=(rows, n))]
            drawn += np.arange(rows)[:, None] * len(member)
            flat = np.bincount(drawn.ravel(), minlength=rows * len(member))
            counts[:, member] = flat.reshape(rows, len(member))
        yield counts


def _multinomial(
    rng: np.random.Generator, multiplicity: npt.NDArray[np.int64], rows: int
) -> npt.NDArray[np.int64]:
    """Draw as many units as there are, by kind; twice as fast as ``Generator.multinomial``.

    Each kind is binomial given those before it, and one call draws it for all rows.
    """
    counts = np.empty((rows, len(multiplicity)), dtype=np.int64)
    left = np.full(rows, multiplicity.sum())
    behind = int(multiplicity.sum())
    for kind, size in enumerate(multiplicity[:-1]):
        counts[:, kind] = rng.binomial(left, size / behind)
        left -= counts[:, kind]
        behind -= int(size)
    counts[:, -1] = left
    return counts


def condense(design: Design, statistics: Sequence[Statistic]) -> tuple[Design, Array]:
    """Merge kinds of units that add the same to every sum.

    Which rater gave which label matters to few coefficients; for the others many patterns are one,
    and fewer kinds are quicker to draw.

    Args:
        design: The units.
        statistics: All that is evaluated.

    Returns:
        The merged design and its (kinds, m) sums, those of all statistics side by side.
    """
    sums = np.asarray(design.content @ np.hstack([s.sums for s in statistics]))
    keys = np.column_stack([design.stratum, np.round(sums, 12)])
    _, first, kind = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    merged = np.bincount(kind.reshape(-1), weights=design.multiplicity).astype(np.int64)
    return Design(design.content[first], merged, design.stratum[first], design.unit), sums[first]


def resample(
    statistics: Sequence[Statistic], design: Design, resamples: int, seed: int
) -> list[Replicates]:
    """Evaluate every statistic on the same resamples, and with each unit left out.

    Args:
        statistics: All of one table.
        design: Its units.
        resamples: Number of resamples.
        seed: Seed of the draws.

    Returns:
        One set of replicates per statistic, in order.
    """
    if not statistics:
        return []
    design, unit_sums = condense(design, statistics)
    edges = np.cumsum([0, *(s.sums.shape[1] for s in statistics)])
    spans = [slice(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    parts: list[list[Array]] = [[] for _ in statistics]
    for counts in draw(design, resamples, seed):
        sums = counts @ unit_sums
        for part, statistic, span in zip(parts, statistics, spans, strict=True):
            part.append(statistic.evaluate(sums[:, span]))
    left_out = design.multiplicity.astype(np.float64) @ unit_sums - unit_sums
    return [
        Replicates(
            values=np.concatenate(part) if part else np.empty(0),
            jackknife=statistic.evaluate(left_out[:, span]),
            multiplicity=design.multiplicity,
        )
        for part, statistic, span in zip(parts, statistics, spans, strict=True)
    ]


def interval(estimate: float, replicates: Replicates, level: float = 0.95) -> Interval | None:
    """Bias-corrected and accelerated interval, or percentile where that is undefined.

    Bias from the share of replicates below the estimate (ties count one half), acceleration from
    the jackknife over units (Efron 1987; Efron and Tibshirani 1993, ch. 14). Undefined replicates
    are left out.

    Args:
        estimate: The point value.
        replicates: What resampling gave.
        level: Confidence level in 0..1.

    Returns:
        The interval; None where fewer than two replicates are defined or all are equal, for then
        resampling says nothing about uncertainty.
    """
    from scipy.special import ndtr, ndtri

    values = replicates.values[np.isfinite(replicates.values)]
    if values.size < 2 or np.ptp(values) < 1e-12:
        return None
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    below = (values < estimate - 1e-12).mean()
    equal = (np.abs(values - estimate) <= 1e-12).mean()
    bias = ndtri(below + equal / 2)
    defined = np.isfinite(replicates.jackknife)
    acceleration = np.nan
    if defined.all():
        count = replicates.multiplicity
        away = np.average(replicates.jackknife, weights=count) - replicates.jackknife
        spread = float(count @ away**2)
        if spread > 1e-24:
            acceleration = float(count @ away**3) / (6 * spread**1.5)
    if np.isfinite(bias) and np.isfinite(acceleration):
        z = bias + ndtri(tails)
        denominator = 1 - acceleration * z
        if (denominator > 0).all():
            low, high = np.quantile(values, ndtr(bias + z / denominator))
            return Interval(float(low), float(high), "bca")
    low, high = np.quantile(values, tails)
    return Interval(float(low), float(high), "percentile")


def with_intervals(
    statistics: Sequence[Statistic],
    ratings: Ratings,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    stratify_by: str | None = None,
) -> tuple[Coefficient, ...]:
    """Report statistics with their intervals, all from the same resamples.

    Args:
        statistics: Statistics of ``ratings``.
        ratings: The table; its clusters are resampled where it has any.
        resamples: Number of resamples; 0 for no intervals.
        seed: Seed of the draws.
        level: Confidence level.
        stratify_by: Name of a stratum to draw within.

    Returns:
        One record per statistic, in order.
    """
    defined = (
        [s for s in statistics if s.value is not None and s.sums.shape[1]] if resamples else []
    )
    design = make_design(ratings, stratify_by) if defined else None
    found = resample(defined, design, resamples, seed) if design is not None else []
    replicates = {id(s): r for s, r in zip(defined, found, strict=True)}
    return tuple(reported(s, replicates.get(id(s)), level) for s in statistics)


def difference(
    first: Statistic,
    second: Statistic,
    ratings: Ratings,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Coefficient:
    """Report ``first - second`` with an interval from the same resamples of both.

    Args:
        first: A statistic of ``ratings``.
        second: Another statistic of the same ratings, e.g. of another pair of raters.
        ratings: The table both were computed on.
        resamples: Number of resamples.
        seed: Seed of the draws.
        level: Confidence level.

    Returns:
        A record named ``difference``, whose params name both sides.
    """
    split = first.sums.shape[1]
    value, reason = None, first.reason or second.reason
    if first.value is not None and second.value is not None:
        value = first.value - second.value
    both = Statistic(
        coefficient="difference",
        params={
            side: {"coefficient": s.coefficient, **s.params}
            for side, s in (("first", first), ("second", second))
        },
        n=min(first.n, second.n),
        sums=np.hstack([first.sums, second.sums]),
        evaluate=lambda sums: (
            first.evaluate(sums[..., :split]) - second.evaluate(sums[..., split:])
        ),
        value=value,
        reason=reason,
    )
    return with_intervals([both], ratings, resamples=resamples, seed=seed, level=level)[0]


def _share(part: float) -> str:
    return f"{part:.1%}" if part >= 0.001 else "under 0.1%"


def reported(statistic: Statistic, replicates: Replicates | None, level: float) -> Coefficient:
    """Put a statistic and what resampling gave into the record that is reported.

    Args:
        statistic: The statistic with its point value.
        replicates: Its replicates; None for no interval.
        level: Confidence level.

    Returns:
        The record, with a warning where resamples were undefined or all equal.
    """
    found: Interval | None = None
    warnings = list(statistic.warnings)
    if replicates is not None and statistic.value is not None:
        found = interval(statistic.value, replicates, level)
        undefined = float(np.isnan(replicates.values).mean())
        if undefined > 0:
            rough = ": the interval is not to be trusted" if undefined >= UNTRUSTED else ""
            warnings.append(f"undefined in {_share(undefined)} of the resamples{rough}")
        if found is not None and not found.low - 1e-9 <= statistic.value <= found.high + 1e-9:
            warnings.append("the value lies outside its interval, which is not to be trusted")
        if found is None and undefined < 1:
            warnings.append("no interval: every resample gives the same value")
    return Coefficient(
        coefficient=statistic.coefficient,
        params=statistic.params,
        value=statistic.value,
        ci=None if found is None else (found.low, found.high),
        method=None if found is None else found.method,
        n=statistic.n,
        reason=statistic.reason,
        warnings=tuple(warnings),
    )
