"""Judge studies: how far one or several judges stand in for people (NextMotionQA 4.3, Table 5)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from agreement.ceiling import find_ceiling
from agreement.coefficient import Array, Coefficient
from agreement.judge_levels import (
    WIDEST,
    Answers,
    Clips,
    answers_of,
    both_scored,
    clips_of,
    instance_statistics,
    mean_defined,
    permutation_p,
    question_statistics,
    system_statistic,
    undefined,
    within_methods,
)
from agreement.judge_records import (
    ClassRates,
    InstanceLevel,
    JudgeReport,
    JudgeStudy,
    LevelGroup,
    Levels,
    MethodMean,
    MethodValue,
    OneQuestion,
    QuestionLevel,
    SystemLevel,
    Within,
)
from agreement.judge_table import JudgeScores
from agreement.kernel import DEFAULT_RESAMPLES, FEW_UNITS
from agreement.ratings import natural_key
from agreement.row_measures import cohen, mean_of, pearson, spearman
from agreement.rows import RowStatistic, estimate
from agreement.selection import select_judge

MOST_LABELS = 20
"""Most labels for which the table of judge against people is kept."""


def study_judges(
    scores: JudgeScores,
    *,
    title: str,
    tool_version: str,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> JudgeStudy:
    """Measure every judge of a table.

    Args:
        scores: The table.
        title: What was judged.
        tool_version: Version of MotionJury.
        resamples: Resamples behind each interval; 0 for none.
        seed: Seed of the draws.
        level: Confidence level in 0..1.

    Returns:
        The study. Undefined values are null with a reason.
    """
    how: dict[str, Any] = {"resamples": resamples, "seed": seed, "level": level}
    first, *others = (_judge(scores, j, how) for j in range(len(scores.judges)))
    clips = clips_of(scores.select(both_scored(scores, 0)), 0)
    kept = np.unique(scores.cluster[both_scored(scores, 0)])
    return JudgeStudy(
        **{name: getattr(first, name) for name in JudgeReport.model_fields},
        title=title,
        tool_version=tool_version,
        n_rows=len(scores.method),
        raters=scores.raters,
        unit=scores.unit,
        n_units=len(kept),
        within_methods=clips is not None and clips.stratified,
        others=tuple(others),
        selection=select_judge(scores, **how),
        notes=scores.notes,
        methods_text=_methods_text(scores, how, tool_version, clips),
        **how,
    )


def _judge(scores: JudgeScores, judge: int, how: dict[str, Any]) -> JudgeReport:
    keep = both_scored(scores, judge)
    no_human = ~np.isfinite(scores.human).any(axis=1)
    kept = scores.select(keep)
    levels = _levels(kept, judge, how, questions=True)
    dropped = {
        "no_human": int(no_human.sum()),
        "no_judge": int((~keep & ~no_human).sum()),
    }
    return JudgeReport(
        **dict(levels),
        judge=scores.judges[judge],
        ceiling=find_ceiling(kept, judge, **how),
        groups=tuple(_groups(kept, judge, how)),
        dropped={reason: n for reason, n in dropped.items() if n},
        warnings=tuple(_warnings(kept, levels)),
    )


def _groups(scores: JudgeScores, judge: int, how: dict[str, Any]) -> list[LevelGroup]:
    wanted: list[tuple[str, ...]] = [(name,) for name in scores.strata]
    if {"axis", "difficulty"} <= set(scores.strata):
        wanted.append(("axis", "difficulty"))
    found = []
    for names in wanted:
        columns = [np.array(scores.strata[name]) for name in names]
        if all(len(set(scores.strata[name])) < 2 for name in names):
            continue
        for cell in product(*(in_order(scores.strata[name]) for name in names)):
            keep = np.logical_and.reduce([c == v for c, v in zip(columns, cell, strict=True)])
            if keep.any():
                levels = _levels(scores.select(keep), judge, how, questions=False)
                stratum = dict(zip(names, cell, strict=True))
                found.append(LevelGroup(**dict(levels), stratum=stratum))
    return found


def in_order(values: Iterable[str]) -> list[str]:
    """Sort the values of a stratum: easy, medium, hard by their meaning, others naturally."""
    known = {"easy": 0, "medium": 1, "hard": 2, "borderline": 3}
    return sorted(set(values), key=lambda v: (known.get(v.lower(), -1), natural_key(v)))


def _levels(scores: JudgeScores, judge: int, how: dict[str, Any], *, questions: bool) -> Levels:
    clips = clips_of(scores, judge)
    return Levels(
        instance=_instance(clips, scores, how),
        question=_question(scores, judge, how, questions),
        system=_system(clips, scores, how),
    )


def _instance(clips: Clips | None, scores: JudgeScores, how: dict[str, Any]) -> InstanceLevel:
    names = ("pearson_r", "spearman_rho", "mean_bias", "mean_absolute_difference")
    if clips is None:
        reason: Any = "not_numeric" if len(scores.method) else "too_few"
        n = len(np.unique(scores.method * len(scores.clips) + scores.clip))
        blank = {name: undefined(name, reason, n) for name in names}
        return InstanceLevel(n_clips=n, within_method=None, **blank)
    rows = len(clips.human)
    parts = {f: within_methods(clips, f) for f in (pearson, spearman)}
    means, counts = zip(
        *(
            mean_defined([s for _, s in found], rows, within="method", aggregate="mean")
            for found in parts.values()
        ),
        strict=True,
    )
    values = estimate([*instance_statistics(clips), *means], clips.design, **how)
    each = [
        estimate([p, s], clips.design, resamples=0)
        for (_, p), (_, s) in zip(parts[pearson], parts[spearman], strict=True)
    ]
    return InstanceLevel(
        n_clips=rows,
        **dict(zip(names, values[:4], strict=True)),
        within_method=Within(
            pearson_r=values[4],
            spearman_rho=values[5],
            n_methods=counts[0],
            by_method=tuple(
                MethodValue(method=scores.methods[m], pearson_r=p, spearman_rho=s)
                for (m, _), (p, s) in zip(parts[pearson], each, strict=True)
            ),
        ),
    )


def _question(
    scores: JudgeScores, judge: int, how: dict[str, Any], questions: bool
) -> QuestionLevel:
    answers = answers_of(scores, judge)
    q, n = len(answers.labels), len(answers.human)
    statistics = question_statistics(answers)
    ordered = scores.kind == "numbers" and q <= WIDEST
    if ordered:
        statistics.append(cohen(answers.human, answers.judge, q, quadratic=True))
    rates = _rate_statistics(answers) if q <= MOST_LABELS else []
    found = estimate([*statistics, *rates], answers.design, **how)
    rest = found[len(statistics) :]
    table = np.zeros((q, q), dtype=np.int64)
    np.add.at(table, (answers.human, answers.judge), 1)
    return QuestionLevel(
        n=n,
        n_tied=answers.n_tied,
        accuracy=found[0],
        cohen_kappa=found[1],
        cohen_kappa_quadratic=found[2] if ordered else None,
        labels=answers.labels if q <= MOST_LABELS else (),
        confusion=tuple(tuple(int(v) for v in row) for row in table) if q <= MOST_LABELS else (),
        classes=tuple(
            ClassRates(
                label=label,
                n_human=int(table[k].sum()),
                n_judge=int(table[:, k].sum()),
                recall=rest[2 * k],
                precision=rest[2 * k + 1],
            )
            for k, label in enumerate(answers.labels if rates else ())
        ),
        by_question=_by_question(scores, judge, answers, how) if questions else (),
    )


def _rate_statistics(answers: Answers) -> list[RowStatistic]:
    same = (answers.human == answers.judge).astype(np.float64)
    found = []
    for k, label in enumerate(answers.labels):
        found.append(mean_of("recall", same, answers.human == k, label=label))
        found.append(mean_of("precision", same, answers.judge == k, label=label))
    return found


def _by_question(
    scores: JudgeScores, judge: int, answers: Answers, how: dict[str, Any]
) -> tuple[OneQuestion, ...]:
    if len(scores.questions) < 2:
        return ()
    found = []
    for k, name in enumerate(scores.questions):
        part = scores.select(scores.question == k)
        clips = clips_of(part, judge)
        keep = answers.question == k
        accuracy, kappa = estimate(question_statistics(answers, keep), answers.design, **how)
        instance = _instance(clips, part, {**how, "resamples": 0})
        if clips is not None:
            r, rho, bias = estimate(instance_statistics(clips)[:3], clips.design, **how)
        else:
            r, rho, bias = instance.pearson_r, instance.spearman_rho, instance.mean_bias
        found.append(
            OneQuestion(
                question=name,
                accuracy=accuracy,
                cohen_kappa=kappa,
                pearson_r=r,
                spearman_rho=rho,
                mean_bias=bias,
            )
        )
    return tuple(found)


def _system(clips: Clips | None, scores: JudgeScores, how: dict[str, Any]) -> SystemLevel:
    if clips is None:
        m = len(np.unique(scores.method))
        reason: Any = "not_numeric" if m else "too_few"
        nothing: Any = {"p": None, "spearman_rho": None, "kendall_tau_b": None, "methods": ()}
        return SystemLevel(n_methods=m, pearson_r=undefined("pearson_r", reason, m), **nothing)
    [r] = estimate([system_statistic(clips.human, clips.judge, clips.method)], clips.design, **how)
    means = [
        MethodMean(
            method=scores.methods[m],
            n_clips=int(mine.sum()),
            human=float(clips.human[mine].mean()),
            judge=float(clips.judge[mine].mean()),
        )
        for m in np.unique(clips.method)
        for mine in [clips.method == m]
    ]
    human, judge = np.array([m.human for m in means]), np.array([m.judge for m in means])
    return SystemLevel(
        n_methods=len(means),
        pearson_r=r,
        p=permutation_p(human.tolist(), judge.tolist()) if r.value is not None else None,
        spearman_rho=_rank_correlation("spearman", human, judge, r),
        kendall_tau_b=_rank_correlation("kendall", human, judge, r),
        methods=tuple(sorted(means, key=lambda m: -m.human)),
    )


def _rank_correlation(kind: str, human: Array, judge: Array, r: Coefficient) -> float | None:
    """Rank correlation of method means; means equal to within rounding error are ties."""
    from scipy.stats import kendalltau, spearmanr

    if r.value is None:
        return None
    a, b = np.round(human, 9), np.round(judge, 9)
    result = spearmanr(a, b) if kind == "spearman" else kendalltau(a, b, variant="b")
    return float(result.statistic) if np.isfinite(result.statistic) else None


def _warnings(scores: JudgeScores, levels: Levels) -> list[str]:
    found = []
    if not len(scores.method):
        return ["no row has both a human and a judge score"]
    units = len(np.unique(scores.cluster))
    if units < FEW_UNITS:
        found.append(
            f"only {units} {scores.unit}s are resampled: intervals are rough below {FEW_UNITS}"
        )
    counts = [m.n_clips for m in levels.system.methods]
    if counts and len(set(counts)) > 1:
        found.append(
            f"methods are rated on different numbers of clips ({min(counts)} to {max(counts)}): "
            "method means compare different clips"
        )
    given = [row for row in levels.question.classes if row.n_judge]
    people = [row for row in levels.question.classes if row.n_human]
    if len(given) == 1 and len(people) > 1:
        found.append(
            f"the judge always says {given[0].label!r}: accuracy is the share of that label "
            "and tells nothing about the judge"
        )
    return found


def _methods_text(
    scores: JudgeScores, how: dict[str, Any], tool_version: str, clips: Clips | None
) -> str:
    within = ", within methods" if clips is not None and clips.stratified else ""
    intervals = (
        f"{how['level']:.0%} intervals are bias-corrected and accelerated bootstrap intervals "
        f"({how['resamples']} resamples of {scores.unit}s{within}, seed {how['seed']}), percentile "
        "intervals where those are undefined; methods and raters stay fixed. "
        if how["resamples"]
        else "No intervals were computed. "
    )
    people = (
        f"the mean of {len(scores.raters)} raters" if len(scores.raters) > 1 else "one human score"
    )
    return (
        f"The human reference is {people}. Instance level: correlation over clips, a clip's score "
        "being the mean of its questions; pooled over methods, and within methods as the mean over "
        "methods. Question level: accuracy and unweighted Cohen's kappa of scores rounded to whole "
        "points, a half up; verdicts in words go by majority. System level: Pearson correlation of "
        "method means with a two-sided exact permutation p for up to eight methods. The ceiling "
        "puts each rater in the judge's place against the mean of the other raters. "
        f"{intervals}MotionJury {tool_version}."
    )
