"""Fleiss' kappa, overall and for each category (Fleiss 1971; Gwet 2014 for missing ratings)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agreement.coefficient import Array, Statistic, make_statistic, pairing_reason, ratio
from agreement.percent import item_agreement
from agreement.ratings import Ratings
from agreement.weights import WeightName, agreement_weights


def gwet_sums(counts: Array, weights: Array) -> Array:
    """Sums that Fleiss' kappa, AC1/AC2 and Brennan-Prediger are functions of.

    Observed agreement is over items with two ratings or more, label shares over items with one
    or more: Gwet's generalisation to missing ratings.

    Args:
        counts: (rows, q) how many raters gave each label.
        weights: (q, q) agreement weights.

    Returns:
        (rows, q + 3): agreement, 1 if two ratings, 1 if one rating, share of each label.
    """
    given = counts.sum(axis=1)
    share = np.divide(counts, given[:, None], out=np.zeros_like(counts), where=given[:, None] > 0)
    agreed = item_agreement(counts, weights)
    return np.column_stack([agreed, given >= 2, given >= 1, share])


def chance_corrected(expected: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Turn expected agreement into a coefficient ``(p_a - p_e) / (1 - p_e)`` of ``gwet_sums``.

    Args:
        expected: From label shares (..., q) to expected agreement (...).

    Returns:
        A function from sums (..., q + 3) to values (...).
    """

    def evaluate(sums: Array) -> Array:
        observed = ratio(sums[..., 0], sums[..., 1])
        by_chance = expected(ratio(sums[..., 3:], sums[..., 2:3]))
        return ratio(observed - by_chance, 1.0 - by_chance)

    return evaluate


def fleiss_kappa(ratings: Ratings, weights: WeightName | None = None) -> Statistic:
    """Agreement of several raters beyond chance, with pooled label shares.

    ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum_kl w_kl pi_k pi_l``. For two raters this is Scott's
    pi. The point value is statsmodels' where every item has the same number of ratings.

    Args:
        ratings: The table.
        weights: Weighting of near labels, or None.

    Returns:
        The statistic, at most 1, negative below chance. Undefined (``no_variation``) where all
        ratings bear one label.
    """
    table = agreement_weights(ratings.axis, weights)
    given = ratings.per_item
    complete = weights is None and len(given) > 0 and given.min() == given.max()

    def library() -> float:
        from statsmodels.stats.inter_rater import fleiss_kappa as reference

        return float(reference(ratings.pattern_counts[ratings.pattern_of], method="fleiss"))

    lone: tuple[str, ...] = ()
    counts = ratings.pattern_counts
    if ratings.n_pairable and _varies(counts) and not _varies(counts[counts.sum(1) >= 2]):
        lone = ("the label varies only among items with a single rating",)
    return make_statistic(
        ratings,
        "fleiss_kappa",
        {} if weights is None else {"weights": weights},
        ratings.n_pairable,
        gwet_sums(ratings.pattern_counts, table),
        chance_corrected(lambda share: np.einsum("...k,kl,...l->...", share, table, share)),
        reason=pairing_reason(ratings),
        library=library if complete else None,
        warnings=lone,
    )


def category_kappa(ratings: Ratings, label: str) -> Statistic:
    """Fleiss' kappa of one label against all others (Fleiss 1971, p. 381).

    Args:
        ratings: The table.
        label: A label of the domain.

    Returns:
        The statistic named ``category_kappa``. Undefined where the label is never used, or is
        the only one used.

    Raises:
        ValueError: A label outside the domain.
    """
    if label not in ratings.axis.domain:
        raise ValueError(f"label {label!r}, expected one of {', '.join(ratings.axis.domain)}")
    k = ratings.axis.domain.index(label)
    mine = ratings.pattern_counts[:, k]
    counts = np.column_stack([mine, ratings.pattern_counts.sum(axis=1) - mine])
    return make_statistic(
        ratings,
        "category_kappa",
        {"category": label},
        ratings.n_pairable,
        gwet_sums(counts, np.eye(2)),
        chance_corrected(lambda share: (share**2).sum(axis=-1)),
        reason=pairing_reason(ratings),
    )


def _varies(counts: Array) -> bool:
    return bool((counts.sum(axis=0) > 0).sum() > 1)
