"""Gwet's AC1 and AC2, and Brennan-Prediger (Gwet 2008, 2014; Brennan and Prediger 1981)."""

from __future__ import annotations

import numpy as np

from agreement.coefficient import Statistic, make_statistic, pairing_reason
from agreement.fleiss import chance_corrected, gwet_sums
from agreement.ratings import Ratings
from agreement.weights import WeightName, agreement_weights


def gwet_ac(ratings: Ratings, weights: WeightName | None = None) -> Statistic:
    """Agreement beyond chance that stays high under skewed label shares.

    ``p_e = T_w / (q (q-1)) * sum_k pi_k (1 - pi_k)`` with ``T_w`` the sum of all weights and q
    the number of declared labels, used or not.

    Args:
        ratings: The table.
        weights: None gives AC1, otherwise AC2.

    Returns:
        The statistic ``gwet_ac1`` or ``gwet_ac2``, at most 1. Defined (1) even where one label
        is used throughout; undefined with a domain of one label.
    """
    table = agreement_weights(ratings.axis, weights)
    q = ratings.q
    factor = table.sum() / (q * (q - 1.0)) if q > 1 else np.nan
    return make_statistic(
        ratings,
        "gwet_ac1" if weights is None else "gwet_ac2",
        {} if weights is None else {"weights": weights},
        ratings.n_pairable,
        gwet_sums(ratings.pattern_counts, table),
        chance_corrected(lambda share: factor * (share * (1.0 - share)).sum(axis=-1)),
        reason=pairing_reason(ratings),
    )


def brennan_prediger(ratings: Ratings, weights: WeightName | None = None) -> Statistic:
    """Agreement beyond that of raters who pick among the declared labels evenly.

    ``p_e = T_w / q^2``; unweighted ``1 / q``.

    Args:
        ratings: The table.
        weights: Weighting of near labels, or None.

    Returns:
        The statistic, at most 1. Undefined with a domain of one label.
    """
    table = agreement_weights(ratings.axis, weights)
    by_chance = table.sum() / ratings.q**2
    return make_statistic(
        ratings,
        "brennan_prediger",
        {} if weights is None else {"weights": weights},
        ratings.n_pairable,
        gwet_sums(ratings.pattern_counts, table),
        chance_corrected(lambda share: np.full(share.shape[:-1], by_chance)),
        reason=pairing_reason(ratings),
    )
