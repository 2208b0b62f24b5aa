"""Test-retest: how far raters agree with themselves on items they saw twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agreement.axis import Axis
from agreement.ratings import RatingRecord, Ratings, from_records

OCCASIONS = ("first", "second")
"""The two sides of the table, in place of raters."""


def retest(
    axis: Axis, first: Mapping[tuple[str, str], Any], second: Mapping[tuple[str, str], Any]
) -> Ratings:
    """Pair each rater's first and second rating of an item.

    Any coefficient of two raters then measures stability: the occasions stand for raters, the
    pairs (item, rater) for items, and all raters of one item form a cluster.

    Args:
        axis: What was rated.
        first: Label by (item, rater), on the first occasion.
        second: Label by (item, rater), on the second.

    Returns:
        Ratings of two raters named ``first`` and ``second``. Pairs rated once count as missing.

    Raises:
        InputError: A label outside the domain.
    """
    records = [
        RatingRecord(f"{item} / {rater}", occasion, label, item)
        for occasion, labels in zip(OCCASIONS, (first, second), strict=True)
        for (item, rater), label in labels.items()
    ]
    return from_records(axis, records)
