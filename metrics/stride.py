"""What an item of STRIDE earns: preference, bias under unrelated motions, gain (STRIDE 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.items import Frozen
from benchmarks.stride import StrideAxis

FloatArray = NDArray[np.float64]

Ties = Literal["half", "strict"]
"""What a tie counts: one half, or nothing (choice ours; the paper does not say)."""


ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Part of the largest score that differences of differences may be off by; within it they tie."""


class StrideKey(Frozen):
    """What an item is counted under."""

    item_id: str
    """Id of the item."""
    corpus: str
    """Corpus of its motion."""
    axis: StrideAxis
    """The property that was changed."""
    motion_id: str
    """Id of its motion; what intervals resample."""


@dataclass(frozen=True, slots=True)
class StrideScores:
    """Scores of N items with their own motions and of R control rows with unrelated ones."""

    keys: tuple[StrideKey, ...]
    """The N items, ids unique."""
    matched: FloatArray
    """(N, 2): s(m, c) and s(m, c'), finite, higher = better."""
    item: NDArray[np.int64]
    """(R,): position in ``keys`` of the item a control row belongs to."""
    control: FloatArray
    """(R, 2): s(u, c) and s(u, c') with an unrelated motion u."""


@dataclass(frozen=True, slots=True)
class Credits:
    """What each item earns; the mean over a cell is the cell's number."""

    keys: tuple[StrideKey, ...]
    """The N items."""
    acc: FloatArray
    """(N,): 1 where the original caption is preferred with the item's motion, 0 where not."""
    bias: FloatArray
    """(N,): share of its controls with which it is; NaN for an item without controls."""
    gain: FloatArray | None
    """(N,): share of its controls that the motion's advantage exceeds; None for choices."""
    tied: NDArray[np.bool_]
    """(N,): the two captions score the same with the item's motion."""
    invalid: FloatArray | None = None
    """(N,): share of unusable answers among an item's choices; None for scores."""


def delta(acc: Any, bias: Any) -> Any:
    """Return the normalised grounding gain (acc − bias) / (1 − bias); NaN where bias is 1.

    The paper prints no formula; this one fits its text and numbers (ours), also below 0.

    >>> float(delta(0.75, 0.5))
    0.5
    """
    acc, bias = np.asarray(acc, dtype=np.float64), np.asarray(bias, dtype=np.float64)
    room = 1 - bias
    blank = np.full(np.broadcast(acc, bias).shape, np.nan)
    return np.divide(acc - bias, room, out=blank, where=room > 1e-12)


def credits_of(scores: StrideScores, ties: Ties = "half", *, tolerance: float = 0.0) -> Credits:
    """Turn scores into what each item earns.

    Args:
        scores: Of all items; an item's controls are averaged before items are.
        ties: What equal scores earn.
        tolerance: Differences up to this are ties; what rounding in a model may cause. What our
            own subtractions round off ties in any case.

    Returns:
        Credits in the order of ``scores.keys``.
    """
    items = len(scores.keys)
    advantage = scores.matched[:, 0] - scores.matched[:, 1]
    unrelated = scores.control[:, 0] - scores.control[:, 1]
    bias = credit(unrelated, ties, tolerance)
    largest = max(float(np.abs(a).max(initial=0.0)) for a in (scores.matched, scores.control))
    gain = credit(advantage[scores.item] - unrelated, ties, max(tolerance, ROUNDING * largest))
    return Credits(
        keys=scores.keys,
        acc=credit(advantage, ties, tolerance),
        bias=_mean_by_item(bias, scores.item, items),
        gain=_mean_by_item(gain, scores.item, items),
        tied=np.asarray(np.abs(advantage) <= tolerance),
    )


def credits_of_choices(
    keys: Sequence[StrideKey],
    matched: Sequence[str],
    item: NDArray[np.int64],
    control: Sequence[str],
    ties: Ties = "half",
) -> Credits:
    """Turn forced choices into what each item earns (STRIDE D.2); GPR needs scores, so none here.

    An unusable answer counts like a tie (ours) and its share is printed.

    Args:
        keys: N items.
        matched: Choice for each with its own motion: ``original``, ``perturbed``, ``tie`` or
            ``invalid``.
        item: (R,) position of the item of each control.
        control: R choices with unrelated motions.
        ties: What a tie earns.
    """
    worth = {
        "original": 1.0,
        "perturbed": 0.0,
        "tie": 0.5 if ties == "half" else 0.0,
        "invalid": 0.5 if ties == "half" else 0.0,
    }
    everyone = np.concatenate((np.arange(len(keys)), item)).astype(np.int64)
    bad = np.array([choice == "invalid" for choice in (*matched, *control)], dtype=np.float64)
    return Credits(
        keys=tuple(keys),
        acc=np.array([worth[choice] for choice in matched]),
        bias=_mean_by_item(np.array([worth[c] for c in control]), item, len(keys)),
        gain=None,
        tied=np.array([choice == "tie" for choice in matched], dtype=bool),
        invalid=_mean_by_item(bad, everyone, len(keys)),
    )


def credit(difference: FloatArray, ties: Ties, tolerance: float) -> FloatArray:
    """Return 1 where a difference is above the tolerance, 0 below, the worth of a tie between."""
    tie = 0.5 if ties == "half" else 0.0
    return np.where(difference > tolerance, 1.0, np.where(difference < -tolerance, 0.0, tie))


def _mean_by_item(values: FloatArray, item: NDArray[np.int64], items: int) -> FloatArray:
    count = np.bincount(item, minlength=items)
    total = np.bincount(item, weights=values, minlength=items)
    means: FloatArray = np.divide(total, count, out=np.full(items, np.nan), where=count > 0)
    return means
