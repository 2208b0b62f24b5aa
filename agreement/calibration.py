"""Do people know when they are right? Accuracy by stated confidence (NextMotionQA A.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.coefficient import Array, Coefficient, ratio
from agreement.kernel import DEFAULT_RESAMPLES, Design
from agreement.row_measures import mean_of, pearson
from agreement.rows import RowStatistic, estimate
from benchmarks.items import Frozen

HIGH = 4.0
"""Confidence from which an answer counts as confident (NextMotionQA A.2: at least 4 of 5)."""


class LevelAccuracy(Frozen):
    """Accuracy of the answers given with one confidence."""

    confidence: float
    """The stated level, as it was given; no bins and no edges."""
    n: int
    """Answers at the level."""
    n_correct: int
    """Of them right."""
    accuracy: float
    """Share right, 0..1."""
    wilson: tuple[float, float]
    """Wilson score interval, which takes answers as independent."""


class Calibration(Frozen):
    """How confidence goes with being right. Nothing here maps confidence to a probability."""

    n: int
    """Answers with a confidence."""
    levels: tuple[LevelAccuracy, ...]
    """By level, ascending; levels nobody stated are not there."""
    high: float
    """Confidence from which an answer is confident."""
    high_share: Coefficient
    """Share of the answers that are confident."""
    high_accuracy: Coefficient
    """Share of the confident answers that are right."""
    auroc: Coefficient
    """Chance that a right answer was given with more confidence than a wrong one, ties one half."""
    gamma: Coefficient
    """Goodman and Kruskal's gamma of confidence and being right: pairs tied on either left out."""
    pearson_r: Coefficient
    """Pearson's r of confidence and being right (0 or 1)."""


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Score interval of a share (Wilson 1927).

    Args:
        successes: Number of successes.
        n: Number of trials, at least one.
        level: Confidence level in 0..1.

    Returns:
        Low and high end, within 0..1.

    Raises:
        ValueError: No trial, or more successes than trials.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"wilson needs 0 <= successes <= n and n >= 1, not {successes} of {n}")
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    return float(low), float(high)


def calibrate(
    confidence: Array,
    correct: Array,
    design: Design,
    *,
    high: float = HIGH,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Calibration:
    """Relate stated confidence to being right.

    Args:
        confidence: (answers,) numbers.
        correct: (answers,) 0 or 1.
        design: Which answers are resampled together, from ``rows.unit_design``.
        high: Confidence from which an answer is confident.
        resamples: Resamples behind each interval.
        seed: Seed of the draws.
        level: Confidence level.

    Returns:
        The figures. AUROC and gamma are undefined (``no_variation``) where all answers are right,
        or all wrong, or (gamma) all pairs are tied.
    """
    values, place = np.unique(confidence, return_inverse=True)
    place = place.reshape(-1)
    confident = (confidence >= high).astype(np.float64)
    found = estimate(
        [
            mean_of("high_share", confident),
            mean_of("high_accuracy", correct, confident),
            _of_levels("auroc", place, correct, len(values), auroc_of_counts),
            _of_levels("goodman_kruskal_gamma", place, correct, len(values), gamma_of_counts),
            pearson(confidence, correct),
        ],
        design,
        resamples=resamples,
        seed=seed,
        level=level,
    )
    return Calibration(
        n=len(confidence),
        levels=tuple(
            LevelAccuracy(
                confidence=float(value),
                n=len(right),
                n_correct=int(right.sum()),
                accuracy=float(right.mean()),
                wilson=wilson(int(right.sum()), len(right), level),
            )
            for k, value in enumerate(values)
            for right in [correct[place == k]]
        ),
        high=high,
        high_share=found[0],
        high_accuracy=found[1],
        auroc=found[2],
        gamma=found[3],
        pearson_r=found[4],
    )


def auroc_of_counts(wrong: Array, right: Array) -> Array:
    """Area under the ROC curve from counts by ascending level.

    Args:
        wrong: (..., levels) wrong answers.
        right: (..., levels) right answers.

    Returns:
        (...,): 0..1; NaN without a right and a wrong answer.
    """
    below = np.cumsum(wrong, axis=-1) - wrong / 2.0
    return ratio((right * below).sum(-1), right.sum(-1) * wrong.sum(-1))


def gamma_of_counts(wrong: Array, right: Array) -> Array:
    """Goodman and Kruskal's gamma from counts by ascending level (Goodman and Kruskal 1954).

    Args:
        wrong: (..., levels) wrong answers.
        right: (..., levels) right answers.

    Returns:
        (...,): -1..1; NaN where every pair is tied.
    """
    concordant = (right * (np.cumsum(wrong, axis=-1) - wrong)).sum(-1)
    discordant = (wrong * (np.cumsum(right, axis=-1) - right)).sum(-1)
    return ratio(concordant - discordant, concordant + discordant)


def _of_levels(
    name: str,
    place: npt.NDArray[np.int64],
    correct: Array,
    n_levels: int,
    formula: Callable[[Array, Array], Array],
    **params: Any,
) -> RowStatistic:
    at = np.eye(max(n_levels, 1))[place] if len(place) else np.zeros((0, 1))
    sums = np.hstack([at * (1.0 - correct)[:, None], at * correct[:, None]])
    width = at.shape[1]
    return RowStatistic(
        name,
        len(place),
        sums,
        lambda s: formula(s[..., :width], s[..., width:]),
        params,
        "no_variation",
        None if len(place) else "too_few",
    )


def mean_and_sd(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation (n - 1); null where there is none.

    Args:
        values: Numbers.

    Returns:
        The mean, null for no value; the standard deviation, null for fewer than two.
    """
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean()) if array.size else None
    return mean, float(array.std(ddof=1)) if array.size > 1 else None
