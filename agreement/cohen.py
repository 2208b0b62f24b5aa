"""Cohen's kappa of two raters, and Conger's kappa of several (Cohen 1960, 1968; Conger 1980)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from agreement.coefficient import Array, Reason, Statistic, make_statistic, pairing_reason, ratio
from agreement.percent import item_agreement
from agreement.ratings import Ratings
from agreement.weights import WeightName, agreement_weights, own_disagreement, rank_disagreement


def cohen_kappa(
    ratings: Ratings,
    raters: tuple[int, int] = (0, 1),
    weights: Literal["linear", "quadratic"] | None = None,
    *,
    disagreement_weights: Sequence[Sequence[float]] | None = None,
    drop_unused: bool = False,
) -> Statistic:
    """Agreement of two raters beyond chance, each with their own label shares.

    ``1 - sum d_kl o_kl / sum d_kl e_kl`` over the items both rated. Linear and quadratic
    disagreement go by the rank of the declared labels, used or not. The point value is
    statsmodels'.

    Args:
        ratings: The table.
        raters: Positions of the two raters.
        weights: Weighting of near labels, or None.
        disagreement_weights: Own (q, q) weights, zero on the diagonal; instead of ``weights``.
        drop_unused: Let labels that neither rater used fall out of the ranks, as R's irr does;
            ours is to keep the declared domain.

    Returns:
        The statistic, at most 1; 0 where one rater is constant. Undefined (``no_variation``)
        where both give one and the same label throughout.

    Raises:
        ValueError: Two kinds of weights at once, own weights of a wrong shape, equal raters.
    """
    if weights is not None and disagreement_weights is not None:
        raise ValueError("cohen_kappa takes weights or disagreement_weights, not both")
    first, second = raters
    if first == second:
        raise ValueError(f"cohen_kappa needs two different raters, not {first} twice")
    params: dict[str, Any] = {"raters": [first, second]}
    if weights is not None:
        params["weights"] = weights
    if disagreement_weights is not None:
        params["disagreement_weights"] = [list(row) for row in disagreement_weights]
    if drop_unused:
        params["drop_unused"] = True

    pair = ratings.patterns[:, [first, second]]
    both = np.asarray((pair >= 0).all(axis=1))
    n_items = int(((ratings.codes[:, [first, second]] >= 0).all(axis=1)).sum())
    kept = np.asarray(np.unique(pair[both]) if drop_unused else np.arange(ratings.q))
    rank = np.zeros(ratings.q, dtype=np.int64)
    rank[kept] = np.arange(len(kept))
    coded = rank[np.where(both[:, None], pair, 0)]
    if disagreement_weights is None:
        table = rank_disagreement(len(kept), weights)
    else:
        table = own_disagreement(disagreement_weights, len(kept))
    chosen = np.eye(len(kept))
    left = chosen[coded[:, 0]] * both[:, None]
    right = chosen[coded[:, 1]] * both[:, None]
    apart = table[coded[:, 0], coded[:, 1]] * both if len(kept) else np.zeros(len(pair))
    split = 1 + len(kept)

    def evaluate(sums: Array) -> Array:
        of_left, of_right = sums[..., 1:split], sums[..., split:]
        n = of_left.sum(axis=-1)
        expected = ((of_left @ table) * of_right).sum(axis=-1)
        n_safe = np.maximum(n, 1.0)
        return 1.0 - ratio(sums[..., 0] / n_safe, expected / n_safe**2)

    def library() -> float:
        from statsmodels.stats.inter_rater import cohens_kappa as reference

        confusion = left.T @ (right * ratings.pattern_weight[:, None])
        return float(reference(confusion, weights=table, return_results=False))

    reason: Reason | None = None
    if ratings.n_raters <= 1:
        reason = "single_rater"
    elif n_items == 0:
        reason = "no_pairable_items"
    return make_statistic(
        ratings,
        "cohen_kappa",
        params,
        n_items,
        np.column_stack([apart, left, right]),
        evaluate,
        reason=reason,
        library=library,
    )


def conger_kappa(ratings: Ratings, weights: WeightName | None = None) -> Statistic:
    """Agreement of several raters beyond chance, each with their own label shares.

    ``(p_a - p_e) / (1 - p_e)`` where ``p_e`` is the mean over pairs of raters of the agreement
    expected from their own shares (Conger 1980; Gwet 2014 for missing ratings: a rater's shares
    are over all their ratings). With two raters and no missing rating it is Cohen's kappa.

    Args:
        ratings: The table.
        weights: Weighting of near labels, or None.

    Returns:
        The statistic, at most 1. Undefined (``no_variation``) where all ratings bear one label.
    """
    table = agreement_weights(ratings.axis, weights)
    active = np.flatnonzero(ratings.per_rater > 0)
    counts = ratings.pattern_counts
    codes = ratings.patterns[:, active]
    chosen = np.vstack([np.eye(ratings.q), np.zeros(ratings.q)])[codes]
    paired = counts.sum(axis=1) >= 2
    n_active = len(active)

    def evaluate(sums: Array) -> Array:
        of_rater = sums[..., 2:].reshape(*sums.shape[:-1], n_active, ratings.q)
        share = ratio(of_rater, of_rater.sum(axis=-1, keepdims=True))
        total = share.sum(axis=-2)
        own = np.einsum("...gk,kl,...gl->...", share, table, share, optimize=True)
        every = np.einsum("...k,kl,...l->...", total, table, total, optimize=True)
        by_chance = (every - own) / max(n_active * (n_active - 1), 1)
        return ratio(ratio(sums[..., 0], sums[..., 1]) - by_chance, 1.0 - by_chance)

    return make_statistic(
        ratings,
        "conger_kappa",
        {} if weights is None else {"weights": weights},
        ratings.n_pairable,
        np.column_stack([item_agreement(counts, table), paired, chosen.reshape(len(codes), -1)]),
        evaluate,
        reason=pairing_reason(ratings),
    )
