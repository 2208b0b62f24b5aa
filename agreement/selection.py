"""Which judge is nearest to people: mean absolute differences (T2MBench 4.2.1, Table 2)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agreement.coefficient import Array, Coefficient
from agreement.judge_levels import as_numbers
from agreement.judge_table import JudgeScores
from agreement.row_measures import difference_of, mean_of
from agreement.rows import RowStatistic, estimate, unit_design
from benchmarks.items import Frozen

OVERALL = "overall"
"""Name of the last column: difference of the sums over all dimensions."""


class SelectionCell(Frozen):
    """One judge on one dimension."""

    dimension: str
    """The question, or ``overall``."""
    mean_absolute_difference: Coefficient
    """Mean over prompts of |judge - mean of raters|, in points of the scale."""
    mean_bias: Coefficient
    """Mean over prompts of judge - mean of raters; positive: lenient."""
    smallest: bool
    """Whether no judge is nearer to people on this dimension (ties are all marked)."""


class SelectionRow(Frozen):
    """One judge."""

    judge: str
    """The judge."""
    cells: tuple[SelectionCell, ...]
    """By dimension, overall last."""
    behind: Coefficient | None
    """Overall difference less that of the nearest judge, on the same resamples; null for the
    nearest itself and where there is no overall."""


class Selection(Frozen):
    """Mean absolute difference of every judge to the mean of the raters."""

    n_raters: int
    """Raters behind the mean."""
    dimensions: tuple[str, ...]
    """Columns; overall last where every clip has several dimensions."""
    n_prompts: int
    """Clips that all judges scored on all dimensions; only these enter, for all judges."""
    rows: tuple[SelectionRow, ...]
    """By judge, in the order given."""


def select_judge(
    scores: JudgeScores, *, resamples: int, seed: int, level: float
) -> Selection | None:
    """Compare judges by their distance to people, on the clips that all of them scored.

    Overall is the difference of sums over the dimensions (T2MBench's total of 0 to 60).

    Args:
        scores: The table.
        resamples: Resamples behind each interval.
        seed: Seed of the draws.
        level: Confidence level.

    Returns:
        The comparison; None where scores are no numbers or no clip is complete.
    """
    numbers = as_numbers(scores, scores.human)
    judges = as_numbers(scores, scores.judge)
    if numbers is None or judges is None:
        return None
    people, them, units = _complete_clips(scores, numbers, judges)
    if not len(people):
        return None
    names = list(scores.questions if len(scores.questions) > 1 else ("score",))
    if len(scores.questions) > 1:
        people = np.column_stack([people, people.sum(axis=1)])
        them = np.concatenate([them, them.sum(axis=1, keepdims=True)], axis=1)
        names.append(OVERALL)
    design = unit_design(units, unit=scores.unit)
    distance = [
        [mean_of("mean_absolute_difference", np.abs(them[:, d, j] - people[:, d])) for d in cols]
        for cols in [range(len(names))]
        for j in range(len(scores.judges))
    ]
    bias = [
        [mean_of("mean_bias", them[:, d, j] - people[:, d]) for d in range(len(names))]
        for j in range(len(scores.judges))
    ]
    value = np.array([[float(s.at(np.ones(len(people)))) for s in row] for row in distance])
    smallest = value <= value.min(axis=0, keepdims=True) + 1e-12
    best = int(value[:, -1].argmin())
    behind: list[RowStatistic] = [difference_of(row[-1], distance[best][-1]) for row in distance]
    flat = [s for rows in (distance, bias) for row in rows for s in row]
    found = estimate([*flat, *behind], design, resamples=resamples, seed=seed, level=level)
    width, half = len(names), len(flat) // 2
    return Selection(
        n_raters=len(scores.raters),
        dimensions=tuple(names),
        n_prompts=len(people),
        rows=tuple(
            SelectionRow(
                judge=judge,
                cells=tuple(
                    SelectionCell(
                        dimension=name,
                        mean_absolute_difference=found[j * width + d],
                        mean_bias=found[half + j * width + d],
                        smallest=bool(smallest[j, d]),
                    )
                    for d, name in enumerate(names)
                ),
                behind=None if j == best else found[2 * half + j],
            )
            for j, judge in enumerate(scores.judges)
        ),
    )


def _complete_clips(
    scores: JudgeScores, human: Array, judges: Array
) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Clips with a human score and all judges on every question.

    Returns:
        (clips, questions) mean human scores, (clips, questions, judges), (clips,) units.
    """
    keep = np.isfinite(human).any(axis=1) & np.isfinite(judges).all(axis=1)
    key = scores.method * len(scores.clips) + scores.clip
    found, index = np.unique(key, return_inverse=True)
    index = index.reshape(-1)
    q = len(scores.questions)
    people = np.full((len(found), q), np.nan)
    them = np.full((len(found), q, judges.shape[1]), np.nan)
    units = np.zeros(len(found), dtype=np.int64)
    units[index] = scores.cluster
    where = np.flatnonzero(keep)
    people[index[where], scores.question[where]] = np.nanmean(human[where], axis=1)
    them[index[where], scores.question[where]] = judges[where]
    complete = np.isfinite(people).all(axis=1)
    return people[complete], them[complete], units[complete]
