"""The human ceiling of a judge: each rater in the judge's place, against the other raters."""

from __future__ import annotations

from typing import Any

import numpy as np

from agreement.coefficient import Array, Coefficient
from agreement.judge_levels import (
    Clips,
    clips_of,
    mean_defined,
    rounded,
    system_statistic,
    undefined,
)
from agreement.judge_table import JudgeScores
from agreement.row_measures import cohen, difference_of, mean_of, pearson, spearman
from agreement.rows import RowStatistic, estimate, unit_design
from benchmarks.items import Frozen


class CeilingRow(Frozen):
    """One measure, taken of people and of the judge in the same way."""

    measure: str
    """``instance_pearson_r``, ``instance_spearman_rho``, ``question_accuracy``,
    ``question_cohen_kappa`` or ``system_pearson_r``."""
    human: Coefficient
    """A rater against the mean of the other raters, averaged over raters."""
    judge: Coefficient
    """The judge against the same means of the other raters, averaged over raters."""
    difference: Coefficient
    """Judge less human, with an interval from the same resamples; negative: below the ceiling."""


class Ceiling(Frozen):
    """How far people agree with each other, measured like the judge."""

    n_raters: int
    """Raters that could be put in the judge's place."""
    rows: tuple[CeilingRow, ...]
    """The measures."""


def find_ceiling(
    scores: JudgeScores, judge: int, *, resamples: int, seed: int, level: float
) -> Ceiling | None:
    """Put each rater in the judge's place.

    Args:
        scores: Rows that a person and the judge both scored.
        judge: Position of the judge.
        resamples: Resamples behind each interval.
        seed: Seed of the draws.
        level: Confidence level.

    Returns:
        The ceiling; None with fewer than two raters, without rows, or for verdicts in words.
    """
    clips = clips_of(scores, judge)
    if clips is None or scores.human.shape[1] < 2 or scores.kind != "numbers":
        return None
    pairs = [*_clip_pairs(clips), *_answer_pairs(scores, judge)]
    if not pairs:
        return None
    rows = []
    answer_design = unit_design(
        scores.cluster, scores.method if clips.stratified else None, scores.unit
    )
    for name, people, judges in pairs:
        design = answer_design if name.startswith("question") else clips.design
        size = design.content.shape[1]
        human, n_human = mean_defined(people, size, aggregate="mean over raters")
        machine, n_judge = mean_defined(judges, size, aggregate="mean over raters")
        found = estimate(
            [human, machine, difference_of(machine, human, of=name)],
            design,
            resamples=resamples,
            seed=seed,
            level=level,
        )
        gap = found[2]
        if not (n_human and n_judge):
            gap = undefined("difference", found[0].reason or found[1].reason or "too_few", of=name)
        rows.append(CeilingRow(measure=name, human=found[0], judge=found[1], difference=gap))
    return Ceiling(n_raters=int(_usable(clips.by_rater).any(axis=0).sum()), rows=tuple(rows))


Pair = tuple[str, list[RowStatistic], list[RowStatistic]]


def _clip_pairs(clips: Clips) -> list[Pair]:
    usable = _usable(clips.by_rater)
    raters = [r for r in range(usable.shape[1]) if usable[:, r].any()]
    if not raters:
        return []
    found: list[Pair] = []
    for name, how in (
        ("instance_pearson_r", pearson),
        ("instance_spearman_rho", spearman),
        ("system_pearson_r", None),
    ):
        sides: tuple[list[RowStatistic], list[RowStatistic]] = ([], [])
        for r in raters:
            keep = usable[:, r].astype(np.float64)
            others = np.where(keep > 0, _others(clips.by_rater, r), 0.0)
            own = np.where(keep > 0, clips.by_rater[:, r], 0.0)
            for side, values in zip(sides, (own, clips.judge), strict=True):
                if how is None:
                    side.append(system_statistic(others, values, clips.method, keep))
                else:
                    side.append(how(others, values, keep))
        found.append((name, *sides))
    return found


def _answer_pairs(scores: JudgeScores, judge: int) -> list[Pair]:
    usable = _usable(scores.human)
    raters = [r for r in range(usable.shape[1]) if usable[:, r].any()]
    if not raters:
        return []
    given = rounded(scores.judge[:, judge])
    everything = [given, rounded(scores.human[usable])]
    low = int(min(side.min() for side in everything))
    q = int(max(side.max() for side in everything)) - low + 1
    if q > 50:
        return []
    accuracy: Pair = ("question_accuracy", [], [])
    kappa: Pair = ("question_cohen_kappa", [], [])
    for r in raters:
        keep = usable[:, r]
        kept = keep.astype(np.float64)
        others = np.where(keep, rounded(np.where(keep, _others(scores.human, r), low)) - low, 0)
        reference = others.astype(np.int64)
        own = np.where(keep, rounded(np.where(keep, scores.human[:, r], low)) - low, 0)
        for place, side in ((1, own), (2, given - low)):
            coded = side.astype(np.int64)
            same = (coded == reference).astype(np.float64)
            for pair, statistic in (
                (accuracy, mean_of("accuracy", same, kept)),
                (kappa, cohen(coded, reference, q, kept)),
            ):
                (pair[1] if place == 1 else pair[2]).append(statistic)
    return [accuracy, kappa]


def _usable(by_rater: Array) -> Any:
    """(rows, raters): where the rater and another one gave a score."""
    given = np.isfinite(by_rater)
    return given & (given.sum(axis=1, keepdims=True) >= 2)


def _others(by_rater: Array, rater: int) -> Array:
    """(rows,): mean of the other raters; NaN where there is none."""
    rest = np.delete(by_rater, rater, axis=1)
    there = np.isfinite(rest)
    n = there.sum(axis=1)
    total = np.where(there, rest, 0.0).sum(axis=1)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)
