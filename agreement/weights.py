"""Agreement weights between labels: 1 on the diagonal, less further apart (Gwet 2014, ch. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from agreement.axis import Axis
from agreement.coefficient import Array

WeightName = Literal["linear", "quadratic", "ordinal"]
WEIGHTS: tuple[WeightName, ...] = get_args(WeightName)
"""Named weightings; unweighted is None."""


def agreement_weights(axis: Axis, name: WeightName | None) -> Array:
    """Weights of Gwet's family of coefficients.

    Linear and quadratic use the declared numbers, or the rank where labels are no numbers;
    ordinal uses ranks only: ``1 - C(|k-l|+1, 2) / C(q, 2)``. They are not Krippendorff's ordinal
    distances, which depend on how often each label is used.

    Args:
        axis: Gives the ordered domain.
        name: Weighting, or None for exact agreement.

    Returns:
        (q, q) symmetric weights in 0..1 with a diagonal of ones.

    Raises:
        ValueError: An unknown weighting.
    """
    q = len(axis.domain)
    if name is None or q < 2:
        return np.eye(q)
    rank = np.arange(q, dtype=np.float64)
    if name == "ordinal":
        steps = np.abs(rank[:, None] - rank[None, :])
        return 1.0 - steps * (steps + 1.0) / (q * (q - 1.0))
    position = np.array(axis.values) if axis.values is not None else rank
    apart: Array = np.abs(position[:, None] - position[None, :]) / float(np.ptp(position))
    if name == "linear":
        return 1.0 - apart
    if name == "quadratic":
        return 1.0 - apart**2
    raise ValueError(f"weights {name!r}, expected one of {', '.join(WEIGHTS)} or None")


def rank_disagreement(q: int, name: Literal["linear", "quadratic"] | None) -> Array:
    """Disagreement weights of Cohen's weighted kappa, by distance of ranks (Cohen 1968).

    Args:
        q: Number of declared labels, used or not.
        name: ``linear``, ``quadratic`` or None for 0/1.

    Returns:
        (q, q) weights with a zero diagonal.
    """
    rank = np.arange(q, dtype=np.float64)
    apart = np.abs(rank[:, None] - rank[None, :])
    if name is None:
        return (apart > 0).astype(np.float64)
    return apart if name == "linear" else apart**2


def own_disagreement(table: Sequence[Sequence[float]], q: int) -> Array:
    """Check a user's disagreement weights.

    Args:
        table: q rows of q weights.
        q: Number of declared labels.

    Returns:
        The table as (q, q) floats.

    Raises:
        ValueError: Wrong shape, a negative weight, or a diagonal that is not zero.
    """
    weights = np.asarray(table, dtype=np.float64)
    if weights.shape != (q, q):
        raise ValueError(f"disagreement_weights of shape {weights.shape}, expected {(q, q)}")
    if (weights < 0).any() or weights.diagonal().any():
        raise ValueError("disagreement_weights must not be negative, with a diagonal of zeros")
    return weights
