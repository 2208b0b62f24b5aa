"""A judge against people at three levels: the clip, the question, the system.

NextMotionQA 4.3 and Table 5. A judge may rank systems rightly and be of no use for a single clip,
or the other way round, so the three always stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.coefficient import FEWEST, Array, Coefficient, Reason, pearson_of_sums
from agreement.judge_table import JudgeScores
from agreement.kernel import Design
from agreement.row_measures import (
    average_of,
    cohen,
    mean_of,
    pearson,
    spearman,
)
from agreement.rows import RowStatistic, unit_design

EXACT_UP_TO = 8
"""Most methods for which all permutations are tried."""
WIDEST = 50
"""Most labels for which weighted kappa is taken; rounded scores that span more are no scale."""


@dataclass(frozen=True, eq=False)
class Clips:
    """Scores of clips: means over the questions that both a person and the judge answered."""

    human: Array
    """(clips,): mean over raters, then over questions."""
    judge: Array
    """(clips,)."""
    by_rater: Array
    """(clips, raters): NaN where the rater gave none."""
    method: npt.NDArray[np.int64]
    """(clips,)."""
    design: Design
    """Clips or prompts, drawn within methods where no prompt is shared between them."""
    stratified: bool
    """Whether they are drawn within methods."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Rounded scores, or verdicts, of one clip and question each."""

    human: npt.NDArray[np.int64]
    """(rows,): position in ``labels``."""
    judge: npt.NDArray[np.int64]
    """(rows,)."""
    question: npt.NDArray[np.int64]
    """(rows,)."""
    labels: tuple[str, ...]
    """All whole scores between the smallest and the largest, or the verdicts."""
    design: Design
    """As for clips."""
    n_tied: int
    """Rows left out because people's verdicts were tied."""


def both_scored(scores: JudgeScores, judge: int) -> npt.NDArray[np.bool_]:
    """(rows,): where at least one person and the judge gave a score."""
    found: npt.NDArray[np.bool_] = np.isfinite(scores.human).any(axis=1) & np.isfinite(
        scores.judge[:, judge]
    )
    return found


def as_numbers(scores: JudgeScores, values: Array) -> Array | None:
    """Scores as they are, verdicts as 1 for the positive one and 0 for others; None without one."""
    if scores.kind == "numbers":
        return values
    if scores.positive is None:
        return None
    return np.where(np.isnan(values), np.nan, (values == scores.positive).astype(np.float64))


def clips_of(scores: JudgeScores, judge: int) -> Clips | None:
    """Average the questions of each clip of each method.

    Args:
        scores: Rows that a person and the judge both scored.
        judge: Position of the judge.

    Returns:
        The clips; None for verdicts in words without a positive one, or without rows.
    """
    human, given = as_numbers(scores, scores.human), as_numbers(scores, scores.judge[:, judge])
    if human is None or given is None or not len(given):
        return None
    key = scores.method * len(scores.clips) + scores.clip
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    index = index.reshape(-1)

    def mean(values: Array) -> Array:
        there = np.isfinite(values)
        total = np.bincount(index, np.where(there, values, 0.0), len(first))
        count = np.bincount(index, there.astype(np.float64), len(first))
        found: Array = np.divide(total, count, out=np.full(len(first), np.nan), where=count > 0)
        return found

    method = scores.method[first]
    design, stratified = _design(scores.cluster[first], method, scores.unit)
    raters = [mean(human[:, r]) for r in range(human.shape[1])]
    return Clips(
        mean(np.nanmean(human, axis=1)),
        mean(given),
        np.column_stack(raters),
        method,
        design,
        stratified,
    )


def answers_of(scores: JudgeScores, judge: int) -> Answers:
    """Round the scores of each clip and question; verdicts go by the majority of raters.

    A half is rounded up (ours).

    Args:
        scores: Rows that a person and the judge both scored.
        judge: Position of the judge.

    Returns:
        The answers; ties between verdicts are left out and counted.
    """
    given = scores.judge[:, judge]
    if scores.kind == "words":
        human, keep = majority(scores.human, len(scores.labels))
        labels, low = scores.labels, 0
        theirs = given
    else:
        human = rounded(np.nanmean(scores.human, axis=1)) if len(given) else given
        theirs, keep = rounded(given), np.ones(len(given), dtype=bool)
        low = int(min(human.min(), theirs.min())) if len(given) else 0
        high = int(max(human.max(), theirs.max())) if len(given) else 0
        if high - low >= WIDEST:
            used, codes = np.unique(np.concatenate([human, theirs]), return_inverse=True)
            codes = codes.reshape(-1)
            labels = tuple(str(int(v)) for v in used)
            human, theirs = codes[: len(given)] + low, codes[len(given) :] + low
        else:
            labels = tuple(str(v) for v in range(low, high + 1))
    design, _ = _design(scores.cluster[keep], scores.method[keep], scores.unit)
    return Answers(
        (human[keep] - low).astype(np.int64),
        (theirs[keep] - low).astype(np.int64),
        scores.question[keep],
        labels,
        design,
        int((~keep).sum()),
    )


def rounded(values: Array) -> Array:
    """Round to whole scores, a half up."""
    return np.floor(values + 0.5)


def majority(codes: Array, q: int) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Verdict of most raters.

    Args:
        codes: (rows, raters), NaN where missing.
        q: Number of labels.

    Returns:
        (rows,) code of the commonest verdict, and where it is the only commonest.
    """
    count = np.stack([(codes == k).sum(axis=1) for k in range(q)], axis=1)
    most = count.max(axis=1, keepdims=True, initial=0)
    alone = ((count == most).sum(axis=1) == 1) & (most[:, 0] > 0)
    return count.argmax(axis=1).astype(np.float64), alone


def _design(
    cluster: npt.NDArray[np.int64], method: npt.NDArray[np.int64], unit: str
) -> tuple[Design, bool]:
    """Draw clusters, within methods where none of them is shared between methods."""
    pairs = np.unique(np.column_stack([cluster, method]), axis=0)
    apart = len(pairs) == len(np.unique(cluster)) and len(np.unique(method)) > 1
    return unit_design(cluster, method if apart else None, unit), apart


def instance_statistics(clips: Clips) -> list[RowStatistic]:
    """Pearson and Spearman over clips, bias and absolute difference."""
    away = clips.judge - clips.human
    return [
        pearson(clips.human, clips.judge),
        spearman(clips.human, clips.judge),
        mean_of("mean_bias", away),
        mean_of("mean_absolute_difference", np.abs(away)),
    ]


def within_methods(clips: Clips, how: Any) -> list[tuple[int, RowStatistic]]:
    """A correlation within each method.

    Args:
        clips: The clips.
        how: ``pearson`` or ``spearman``.

    Returns:
        Pairs of the method's position and its statistic.
    """
    return [
        (int(m), how(clips.human, clips.judge, (clips.method == m).astype(np.float64)))
        for m in np.unique(clips.method)
    ]


def mean_defined(
    parts: Sequence[RowStatistic], rows: int, **params: Any
) -> tuple[RowStatistic, int]:
    """Average the statistics that are defined.

    Args:
        parts: At least one.
        rows: Number of rows.
        params: Parameters, as reported.

    Returns:
        Their mean, or the first part with its reason where none is defined; and how many are.
    """
    defined = [p for p in parts if is_defined(p, rows)]
    return (average_of(defined, **params) if defined else parts[0]), len(defined)


def is_defined(statistic: RowStatistic, rows: int) -> bool:
    """Tell whether a statistic has a value on the data."""
    return statistic.reason is None and not np.isnan(float(statistic.at(np.ones(rows))))


def system_statistic(
    human: Array, judge: Array, method: npt.NDArray[np.int64], keep: Array | None = None
) -> RowStatistic:
    """Pearson's r of method means.

    Args:
        human: (clips,) numbers.
        judge: (clips,) numbers.
        method: (clips,) number of the method.
        keep: (clips,) 0/1; all by default.

    Returns:
        ``pearson_r`` with n the number of methods. Undefined: fewer than three methods
        (``too_few``), equal means on one side (``constant_input``).
    """
    kept = np.ones(len(human)) if keep is None else keep
    found, index = np.unique(method[kept > 0], return_inverse=True)
    place = np.zeros((len(human), len(found)))
    place[np.flatnonzero(kept), index.reshape(-1)] = 1.0
    columns = []
    for side in (human, judge):
        used = side[kept > 0]
        spread = float(np.ptp(used)) if used.size else 0.0
        centre = float(used.mean()) if used.size else 0.0
        columns.append(np.where(kept > 0, (side - centre) / (spread or 1.0), 0.0))
    m = len(found)
    sums = np.hstack([place, place * columns[0][:, None], place * columns[1][:, None]])

    def evaluate(s: Array) -> Array:
        n = np.where(s[..., :m] > 0, s[..., :m], np.nan)
        x, y = s[..., m : 2 * m] / n, s[..., 2 * m :] / n
        total = [np.full(x.shape[:-1], float(m)), x.sum(-1), y.sum(-1)]
        total += [(x * x).sum(-1), (y * y).sum(-1), (x * y).sum(-1)]
        return pearson_of_sums(np.stack(total, axis=-1))

    reason: Reason | None = "too_few" if m < FEWEST else None
    return RowStatistic("pearson_r", m, sums, evaluate, {}, "constant_input", reason)


def permutation_p(human: Sequence[float], judge: Sequence[float]) -> float | None:
    """Two-sided exact permutation p of Pearson's r over method means.

    Args:
        human: Method means of people.
        judge: Method means of the judge.

    Returns:
        Share of all orders of the judge's means whose |r| is no smaller; the least possible is
        1/M!, or 2/M! where the means are symmetric. None for fewer than three or more than eight
        methods, or equal means on one side.
    """
    m = len(human)
    if not FEWEST <= m <= EXACT_UP_TO:
        return None
    x = np.asarray(human) - np.mean(human)
    y = np.asarray(judge) - np.mean(judge)
    scale = float(np.sqrt((x @ x) * (y @ y)))
    if scale < 1e-12:
        return None
    r = (y[_orders(m)] @ x) / scale
    return float((np.abs(r) >= abs(float(x @ y) / scale) - 1e-9).mean())


@lru_cache(maxsize=8)
def _orders(m: int) -> npt.NDArray[np.int64]:
    return np.array(list(permutations(range(m))), dtype=np.int64)


def question_statistics(answers: Answers, keep: Array | None = None) -> list[RowStatistic]:
    """Accuracy and kappa of rounded scores; with a keep, of the rows kept."""
    q = len(answers.labels)
    same = (answers.human == answers.judge).astype(np.float64)
    return [
        mean_of("accuracy", same, keep),
        cohen(answers.human, answers.judge, q, keep),
    ]


def undefined(name: str, reason: Reason, n: int = 0, **params: Any) -> Coefficient:
    """Report a coefficient that has no value."""
    return Coefficient(coefficient=name, params=params, value=None, n=n, reason=reason)
