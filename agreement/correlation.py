"""Pearson r, Spearman rho and Kendall tau-b of two raters, or of a judge and people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agreement.axis import Axis
from agreement.coefficient import (
    FEWEST,
    Array,
    Reason,
    Statistic,
    make_statistic,
    pearson_of_sums,
    ratio,
)
from agreement.ratings import Ratings, from_columns

MAX_RANKED_PATTERNS = 2_000
"""Most distinct pairs of scores for which rank correlations are resampled."""


def paired_scores(
    first: Sequence[float | None],
    second: Sequence[float | None],
    *,
    clusters: Sequence[Any] | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> Ratings:
    """Put two lists of scores into a table of two raters.

    Args:
        first: Scores, None or NaN where missing.
        second: Scores of the same items.
        clusters: Cluster of each item, to be resampled as a whole.
        names: Names of the two sides.

    Returns:
        Ratings on an interval axis.

    Raises:
        ValueError: Lists of different lengths.
        InputError: A score that is no finite number.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} scores, expected one pair per item")
    n = len(first)
    return from_columns(
        Axis(name="score", level="interval"),
        [*range(n), *range(n)],
        [names[0]] * n + [names[1]] * n,
        [*first, *second],
        clusters=None if clusters is None else [*clusters, *clusters],
        rater_order=names,
        first_row=1,
    )


def pearson_r(ratings: Ratings, raters: tuple[int, int] = (0, 1)) -> Statistic:
    """Linear correlation over the items both rated; scipy's point value.

    Args:
        ratings: The table; its labels must be numbers.
        raters: Positions of the two sides.

    Returns:
        The statistic, -1..1. Undefined: fewer than three items (``too_few``), a side that is
        constant (``constant_input``).

    Raises:
        ValueError: Labels that are no numbers.
    """
    pair = _Pair(ratings, raters)

    def library() -> float:
        from scipy.stats import pearsonr

        return float(pearsonr(*pair.scaled()).statistic)

    x, y = pair.x, pair.y
    sums = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y]) * pair.both[:, None]

    return pair.statistic("pearson_r", sums, pearson_of_sums, library)


def spearman_rho(ratings: Ratings, raters: tuple[int, int] = (0, 1)) -> Statistic:
    """Correlation of mid-ranks over the items both rated; scipy's point value.

    Args:
        ratings: The table; its labels must be numbers.
        raters: Positions of the two sides.

    Returns:
        The statistic, -1..1; undefined as ``pearson_r``.

    Raises:
        ValueError: Labels that are no numbers.
    """
    pair = _Pair(ratings, raters)

    def library() -> float:
        from scipy.stats import spearmanr

        return float(spearmanr(*pair.scores()).statistic)

    level_x, level_y = pair.levels(0), pair.levels(1)

    def evaluate(counts: Array) -> Array:
        n = np.maximum(counts.sum(axis=-1), 1.0)
        rank_x, rank_y = (_mid_ranks(counts, level) / n[..., None] for level in (level_x, level_y))
        share = counts / n[..., None]
        mean_x, mean_y = (share * rank_x).sum(-1), (share * rank_y).sum(-1)
        away_x, away_y = rank_x - mean_x[..., None], rank_y - mean_y[..., None]
        return _correlation(
            (share * away_x**2).sum(-1),
            (share * away_y**2).sum(-1),
            (share * away_x * away_y).sum(-1),
        )

    return pair.statistic("spearman_rho", pair.counts(), evaluate, library)


def kendall_tau_b(ratings: Ratings, raters: tuple[int, int] = (0, 1)) -> Statistic:
    """Concordant less discordant pairs of items, corrected for ties; scipy's point value.

    Args:
        ratings: The table; its labels must be numbers.
        raters: Positions of the two sides.

    Returns:
        The statistic, -1..1; undefined as ``pearson_r``.

    Raises:
        ValueError: Labels that are no numbers.
    """
    pair = _Pair(ratings, raters)

    def library() -> float:
        from scipy.stats import kendalltau

        return float(kendalltau(*pair.scores(), variant="b").statistic)

    counts = pair.counts()
    concordance = np.empty((0, 0))
    if counts.shape[1]:
        x, y = pair.place[ratings.patterns[pair.both][:, pair.raters]].T
        concordance = np.sign(x[:, None] - x[None, :]) * np.sign(y[:, None] - y[None, :]) * 1.0
    level_x, level_y = pair.levels(0), pair.levels(1)

    def evaluate(counts: Array) -> Array:
        n = counts.sum(axis=-1)
        pairs = n * (n - 1.0) / 2.0
        net = ((counts @ concordance) * counts).sum(axis=-1) / 2.0
        untied_x, untied_y = (pairs - _tied_pairs(counts, lv) for lv in (level_x, level_y))
        scale = np.maximum(pairs, 1.0)
        return ratio(net / scale, np.sqrt(np.maximum(untied_x * untied_y, 0.0)) / scale)

    return pair.statistic("kendall_tau_b", counts, evaluate, library)


class _Pair:
    """The patterns of two columns, as numbers."""

    def __init__(self, ratings: Ratings, raters: tuple[int, int]) -> None:
        values = ratings.axis.values
        if values is None:
            raise ValueError(
                f"a correlation needs labels that are numbers, not {list(ratings.axis.domain)}"
            )
        self.ratings = ratings
        self.raters = [int(raters[0]), int(raters[1])]
        scores = np.array([*values, 0.0])
        self.raw = scores
        self.place = np.unique(values, return_inverse=True)[1].reshape(-1)
        used = ratings.codes[:, self.raters]
        self.complete = np.asarray((used >= 0).all(axis=1))
        codes = ratings.patterns[:, self.raters]
        self.both = np.asarray((codes >= 0).all(axis=1))
        # Shifted and scaled so that squares lose nothing; no coefficient here notices.
        centre = float(np.mean(values)) if values else 0.0
        spread = float(np.ptp(values)) if values else 0.0
        scaled = (scores - centre) / (spread or 1.0)
        self.x, self.y = (np.where(self.both, scaled[codes[:, k]], 0.0) for k in (0, 1))

    def scores(self) -> tuple[Array, Array]:
        """Scores of the items both rated, as they were given."""
        codes = self.ratings.codes[self.complete][:, self.raters]
        return self.raw[codes[:, 0]], self.raw[codes[:, 1]]

    def scaled(self) -> tuple[Array, Array]:
        """Scores of the items both rated, shifted and scaled: a large offset costs no digits."""
        pattern_of = self.ratings.pattern_of[self.complete]
        return self.x[pattern_of], self.y[pattern_of]

    def levels(self, side: int) -> Array:
        """(complete patterns, distinct scores): which score each pattern has, ascending."""
        codes = self.ratings.patterns[self.both][:, self.raters[side]]
        values, index = np.unique(self.place[codes], return_inverse=True)
        few = len(index) <= MAX_RANKED_PATTERNS
        return np.eye(len(values))[index.reshape(-1)] if few else np.empty((0, 0))

    def counts(self) -> Array:
        """(patterns, complete patterns): ones; no columns where there are too many."""
        complete = np.flatnonzero(self.both)
        if len(complete) > MAX_RANKED_PATTERNS:
            return np.empty((len(self.both), 0))
        return np.asarray(np.eye(len(self.both))[:, complete])

    def statistic(
        self,
        name: str,
        sums: Array,
        evaluate: Callable[[Array], Array],
        library: Callable[[], float],
    ) -> Statistic:
        n = int(self.complete.sum())
        reason: Reason | None = None
        if self.ratings.n_raters <= 1:
            reason = "single_rater"
        elif n < FEWEST:
            reason = "too_few" if n else "no_pairable_items"
        elif any(np.ptp(side[self.both]) == 0 for side in (self.x, self.y)):
            reason = "constant_input"
        params: dict[str, Any] = {"raters": self.raters}
        if not sums.shape[1]:
            warning = f"no interval: more than {MAX_RANKED_PATTERNS} different pairs of scores"
            value = library() if reason is None else None
            return Statistic(name, params, n, sums, evaluate, value, reason, (warning,))
        return make_statistic(
            self.ratings,
            name,
            params,
            n,
            sums,
            evaluate,
            undefined="constant_input",
            reason=reason,
            library=library,
        )


def _mid_ranks(counts: Array, level: Array) -> Array:
    """Mid-rank of each pattern when pattern p is there ``counts[p]`` times."""
    at_level = counts @ level
    ranks: Array = (np.cumsum(at_level, axis=-1) - at_level / 2.0 + 0.5) @ level.T
    return ranks


def _tied_pairs(counts: Array, level: Array) -> Array:
    at_level = counts @ level
    tied: Array = (at_level * (at_level - 1.0) / 2.0).sum(axis=-1)
    return tied


def _correlation(variance_x: Array, variance_y: Array, covariance: Array) -> Array:
    return ratio(covariance, np.sqrt(np.maximum(variance_x * variance_y, 0.0)))
