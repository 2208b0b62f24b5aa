"""Percent agreement, in its three usual definitions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from agreement.coefficient import Array, Statistic, make_statistic, pairing_reason, ratio
from agreement.ratings import Ratings
from agreement.weights import WeightName, agreement_weights

PercentHow = Literal["item_mean", "pooled", "unanimous"]


def item_agreement(counts: Array, weights: Array) -> Array:
    """Share of agreeing pairs of ratings within each row.

    Args:
        counts: (rows, q) how many raters gave each label.
        weights: (q, q) agreement weights.

    Returns:
        (rows,) in 0..1; 0 where a row has fewer than two ratings.
    """
    given = counts.sum(axis=1)
    agreeing = (counts * (counts @ weights - 1.0)).sum(axis=1)
    pairs = given * (given - 1.0)
    shares: Array = np.divide(agreeing, pairs, out=np.zeros_like(pairs), where=given >= 2)
    return shares


def percent_agreement(
    ratings: Ratings, how: PercentHow | None = None, weights: WeightName | None = None
) -> Statistic:
    """Observed agreement, without correction for chance.

    ``item_mean`` is the mean over items of the share of agreeing pairs (Gwet's p_a); ``pooled``
    the agreeing pairs of all items over all pairs, so items with more ratings weigh more;
    ``unanimous`` the share of items whose ratings are all the same. All over items with at least
    two ratings.

    Args:
        ratings: The table.
        how: Definition; ``item_mean`` by default.
        weights: Partial credit for near labels; for ``item_mean`` and ``pooled``.

    Returns:
        The statistic, 0..1. Undefined with one rater or no item with two ratings.

    Raises:
        ValueError: Weights with ``unanimous``.
    """
    if how == "unanimous" and weights is not None:
        raise ValueError("unanimous agreement takes no weights")
    counts = ratings.pattern_counts
    given = counts.sum(axis=1)
    paired = (given >= 2).astype(np.float64)
    share = item_agreement(counts, agreement_weights(ratings.axis, weights))
    if how is None or how == "item_mean":
        sums = np.column_stack([share * paired, paired])
    elif how == "pooled":
        pairs = given * (given - 1.0) / 2.0
        sums = np.column_stack([share * pairs, pairs])
    else:
        same = counts.max(axis=1, initial=0.0) == given
        sums = np.column_stack([same * paired, paired])
    asked = {"how": how, "weights": weights}
    params: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    return make_statistic(
        ratings,
        "percent_agreement",
        params,
        ratings.n_pairable,
        sums,
        lambda s: ratio(s[..., 0], s[..., 1]),
        reason=pairing_reason(ratings),
        undefined="no_pairable_items",
    )
