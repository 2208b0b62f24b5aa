"""One table of ratings in; its data block and all its coefficients out."""

from __future__ import annotations

from typing import Any

import numpy as np

from agreement.axis import Axis
from agreement.coefficient import Coefficient
from agreement.kernel import DEFAULT_RESAMPLES, FEW_UNITS, make_design, with_intervals
from agreement.ratings import Ratings
from agreement.registry import MAX_PAIRED_RATERS, choose, compute
from benchmarks.items import Frozen

RARE = 20
"""Fewer items than this beside the commonest label make intervals too narrow (measured)."""


class Resampling(Frozen):
    """How the intervals were made."""

    unit: str
    """What was drawn: ``item`` or ``cluster``."""
    n_units: int
    """How many there are."""
    resamples: int
    """Number of resamples; 0 means no intervals."""
    seed: int
    """Seed of the draws."""
    level: float
    """Confidence level in 0..1."""
    stratified_by: str | None = None
    """Stratum within which units were drawn."""


class RaterSummary(Frozen):
    """What one rater did."""

    rater: str
    """Rater id."""
    n: int
    """Ratings given."""
    labels: dict[str, int]
    """How often each label was given, in the order of the domain; unused labels have 0."""
    constant: bool
    """True where all ratings of the rater bear one label."""


class Analysis(Frozen):
    """Agreement on one axis: what went in, what came out."""

    axis: Axis
    """What was rated."""
    n_items: int
    """Items in the table, rated or not."""
    n_pairable: int
    """Items with at least two ratings."""
    n_ratings: int
    """Ratings given."""
    n_raters: int
    """Raters with at least one rating."""
    missing_share: float | None
    """Share of the cells items times raters without a rating, 0..1; null for an empty table."""
    n_missing_rows: int
    """Rows whose label was empty, NA, None or NaN."""
    raters: tuple[RaterSummary, ...]
    """One entry per rater, in order; positions are those of ``raters`` in the coefficients."""
    labels: dict[str, int]
    """How often each label was given, in the order of the domain."""
    coefficients: tuple[Coefficient, ...]
    """All coefficients the axis calls for."""
    resampling: Resampling
    """How intervals were made."""
    warnings: tuple[str, ...]
    """What a reader must know before trusting the table."""

    def find(self, coefficient: str, **params: Any) -> Coefficient | None:
        """Return the coefficient of that name and exactly those parameters, if it is there."""
        for found in self.coefficients:
            if found.coefficient == coefficient and found.params == params:
                return found
        return None


def analyse(
    ratings: Ratings,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    stratify_by: str | None = None,
) -> Analysis:
    """Compute all that the axis calls for.

    Args:
        ratings: The table.
        resamples: Resamples behind each interval; 0 for none.
        seed: Seed of the draws.
        level: Confidence level.
        stratify_by: Name of a stratum to draw within.

    Returns:
        The analysis. Undefined values are None with a reason.

    Raises:
        ValueError: Negative resamples, a level outside 0..1.
    """
    if resamples < 0:
        raise ValueError(f"resamples {resamples}, expected 0 or more")
    if not 0 < level < 1:
        raise ValueError(f"level {level}, expected a number between 0 and 1")
    statistics = [compute(ratings, name, params) for name, params in choose(ratings)]
    coefficients = with_intervals(
        statistics, ratings, resamples=resamples, seed=seed, level=level, stratify_by=stratify_by
    )
    design = make_design(ratings, stratify_by)
    by_rater = ratings.label_counts()
    names = ratings.axis.domain if ratings.q <= 300 else ()
    return Analysis(
        axis=ratings.axis if names else ratings.axis.model_copy(update={"domain": ()}),
        n_items=len(ratings.items),
        n_pairable=ratings.n_pairable,
        n_ratings=ratings.n_ratings,
        n_raters=ratings.n_raters,
        missing_share=ratings.missing_share,
        n_missing_rows=ratings.n_missing_rows,
        raters=tuple(
            RaterSummary(
                rater=rater,
                n=int(row.sum()),
                labels={name: int(count) for name, count in zip(names, row, strict=False)},
                constant=int((row > 0).sum()) == 1 and int(row.sum()) > 1,
            )
            for rater, row in zip(ratings.raters, by_rater, strict=True)
        ),
        labels={name: int(n) for name, n in zip(names, by_rater.sum(axis=0), strict=False)},
        coefficients=coefficients,
        resampling=Resampling(
            unit=design.unit,
            n_units=design.n_units,
            resamples=resamples,
            seed=seed,
            level=level,
            stratified_by=stratify_by,
        ),
        warnings=(*ratings.notes, *_warnings(ratings, design.n_units, design.unit)),
    )


def small_sample_warnings(ratings: Ratings, n_units: int, unit: str) -> list[str]:
    """Say where there is too little for an interval that can be trusted.

    Args:
        ratings: The table.
        n_units: Units that are resampled.
        unit: What they are.

    Returns:
        One line each for few units and for few items that bear another label than the commonest.
    """
    found = []
    if 0 < n_units < FEW_UNITS:
        units = f"1 {unit} is" if n_units == 1 else f"{n_units} {unit}s are"
        found.append(f"only {units} resampled: intervals are rough below {FEW_UNITS}")
    codes = ratings.codes
    paired = ratings.per_item >= 2
    of_pairs = codes[paired]
    used = np.bincount(of_pairs[of_pairs >= 0], minlength=ratings.q)
    if (used > 0).sum() > 1:
        commonest = int(np.argmax(used))
        rare = int(((of_pairs >= 0) & (of_pairs != commonest)).any(axis=1).sum())
        if rare < RARE:
            items_carry = "1 item carries" if rare == 1 else f"{rare} items carry"
            found.append(
                f"only {items_carry} a label other than "
                f"{ratings.axis.domain[commonest]!r}: intervals are too narrow below {RARE}"
            )
    return found


def _warnings(ratings: Ratings, n_units: int, unit: str) -> list[str]:
    found = small_sample_warnings(ratings, n_units, unit)
    if len(ratings.raters) > MAX_PAIRED_RATERS and ratings.q <= 300:
        found.append(
            f"pairs of raters are listed up to {MAX_PAIRED_RATERS} raters, "
            f"here are {len(ratings.raters)}"
        )
    return found
