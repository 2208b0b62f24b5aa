"""A pilot study: can experts recover a benchmark's answers? (NextMotionQA 3, Table 1, A.2, A.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agreement.analysis import small_sample_warnings
from agreement.axis import Axis
from agreement.calibration import HIGH, Calibration, calibrate, mean_and_sd
from agreement.coefficient import Coefficient
from agreement.fleiss import fleiss_kappa
from agreement.kernel import DEFAULT_RESAMPLES, FEW_UNITS, make_design, with_intervals
from agreement.pilot_table import FAILURES, PilotAnswers
from agreement.ratings import from_columns
from agreement.row_measures import mean_of
from agreement.rows import estimate, unit_design
from benchmarks.items import SCHEMA_VERSION, Frozen

MOST_WRONG = 30
"""Items listed as confidently wrong."""


class Accuracies(Frozen):
    """The rows of the paper's Table 1; shares in 0..1."""

    n_answers: int
    """Answers."""
    n_items: int
    """Items with an answer."""
    n_complete: int
    """Items that every rater answered; all and either correct are of these."""
    by_rater: dict[str, float | None]
    """Accuracy of each rater over the items they answered."""
    per_annotator_mean: float | None
    """Mean over raters."""
    per_annotator_sd: float | None
    """Sample standard deviation over raters (n - 1, ours)."""
    pooled: Coefficient
    """Share of all answers that are right."""
    all_correct: Coefficient
    """Share of complete items that every rater got right."""
    either_correct: Coefficient
    """Share of complete items that at least one rater got right."""


class QueryType(Accuracies):
    """The same for one type of query."""

    query_type: str
    """E.g. direction."""


class WrongItem(Frozen):
    """An item that somebody answered wrongly with high confidence."""

    item: str
    """The item."""
    query_type: str | None
    """Its type; null where there is none."""
    wrong: dict[str, float]
    """Confidence of the raters who were confidently wrong, by rater."""
    n_answers: int
    """Answers to the item."""
    answers: dict[str, str]
    """Answer by rater, where answers were given."""
    gold: str | None
    """The benchmark's answer, where it was given."""
    link: str | None
    """Where a coordinator can see it."""


class FailureMode(Frozen):
    """How often one failure mode was found."""

    mode: str
    """F1 body-part granularity, F2 frame of reference, F3 temporal scope, F4 composite action."""
    n_items: int
    """Items that bear it; an item may bear several."""
    share: float
    """Of the items that bear any."""
    by_query_type: dict[str, int]
    """Items by query type."""


class Pilot(Frozen):
    """A whole pilot study."""

    schema_version: int = SCHEMA_VERSION
    """Version of this record."""
    title: str
    """What was studied."""
    tool_version: str
    """Version of MotionJury."""
    raters: tuple[str, ...]
    """Raters."""
    whole: Accuracies
    """All answers."""
    by_query_type: tuple[QueryType, ...]
    """By type of query; empty where there is none."""
    fleiss_answers: Coefficient | None
    """Fleiss' kappa of the answers themselves; null where no answers were given."""
    fleiss_correct: Coefficient
    """Fleiss' kappa of right against wrong."""
    calibration: Calibration | None
    """Confidence; null where none was stated."""
    confidently_wrong: tuple[WrongItem, ...]
    """Items that most raters got wrong with high confidence, first."""
    n_confidently_wrong: int
    """Answers that are wrong with high confidence, in all items."""
    failures: tuple[FailureMode, ...]
    """F1 to F4; empty where none was noted."""
    unit: str
    """What is resampled."""
    n_units: int
    """How many there are."""
    resamples: int
    """Number of resamples."""
    seed: int
    """Seed of the draws."""
    level: float
    """Confidence level."""
    n_missing: int
    """Rows left out because neither right nor wrong was known."""
    warnings: tuple[str, ...]
    """What a reader must know first."""
    methods_text: str
    """A paragraph on how the numbers were made."""


def analyse_pilot(
    answers: PilotAnswers,
    *,
    title: str,
    tool_version: str,
    high: float = HIGH,
    links: Mapping[str, str] | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> Pilot:
    """Compute all figures of a pilot study.

    Args:
        answers: The table.
        title: What was studied.
        tool_version: Version of MotionJury.
        high: Confidence from which an answer is confident.
        links: By item: where a coordinator can see it.
        resamples: Resamples behind each interval.
        seed: Seed of the draws.
        level: Confidence level.

    Returns:
        The study. Undefined values are null with a reason.
    """
    how: dict[str, Any] = {"resamples": resamples, "seed": seed, "level": level}
    types = sorted({t for t in answers.query_type if t})
    calibration = None
    stated = np.isfinite(answers.confidence)
    if stated.any():
        calibration = calibrate(
            answers.confidence[stated],
            answers.correct[stated],
            unit_design(answers.cluster[stated], unit=answers.unit),
            high=high,
            **how,
        )
    wrong = _confidently_wrong(answers, high, dict(links or {}))
    n_units = len(np.unique(answers.cluster))
    right = ["right" if value else "wrong" for value in answers.correct]
    kappa_correct, notes = _fleiss(answers, right, ("wrong", "right"), how)
    kappa_answers: Coefficient | None = None
    if answers.answer is not None:
        domain = tuple(dict.fromkeys(a for a in answers.answer if a))
        kappa_answers, _ = _fleiss(answers, answers.answer, domain, how)
    return Pilot(
        title=title,
        tool_version=tool_version,
        raters=answers.raters,
        whole=Accuracies(**_accuracies(answers, np.ones(len(answers.correct), bool), how)),
        by_query_type=tuple(
            QueryType(query_type=name, **_accuracies(answers, keep, how))
            for name in types
            for keep in [np.array([t == name for t in answers.query_type])]
        ),
        fleiss_answers=kappa_answers,
        fleiss_correct=kappa_correct,
        calibration=calibration,
        confidently_wrong=tuple(wrong[:MOST_WRONG]),
        n_confidently_wrong=sum(len(item.wrong) for item in wrong),
        failures=tuple(_failures(answers)),
        unit=answers.unit,
        n_units=n_units,
        n_missing=answers.n_missing,
        warnings=(
            *answers.notes,
            *(
                [f"only {n_units} {answers.unit}s are resampled: intervals are rough"]
                if n_units < FEW_UNITS
                else []
            ),
            *(text for text in notes if "resampled" not in text),
        ),
        methods_text=_methods_text(answers, calibration, how, tool_version),
        **how,
    )


def _accuracies(answers: PilotAnswers, keep: Any, how: dict[str, Any]) -> dict[str, Any]:
    """Table 1 of the answers kept."""
    n_items, n_raters = len(answers.items), len(answers.raters)
    grid = np.full((n_items, n_raters), np.nan)
    grid[answers.item[keep], answers.rater[keep]] = answers.correct[keep]
    there = np.isfinite(grid)
    asked = there.any(axis=1)
    complete = there.all(axis=1)
    units = np.zeros(n_items, dtype=np.int64)
    units[answers.item] = answers.cluster
    right = np.where(there, grid, 0.0)
    design = unit_design(units[asked], unit=answers.unit)
    every, either = estimate(
        [
            mean_of("all_correct", right[asked].min(axis=1), complete[asked] * 1.0),
            mean_of("either_correct", right[asked].max(axis=1), complete[asked] * 1.0),
        ],
        design,
        **how,
    )
    [pooled] = estimate(
        [mean_of("pooled_accuracy", answers.correct[keep])],
        unit_design(answers.cluster[keep], unit=answers.unit),
        **how,
    )
    own = {
        name: float(right[:, r].sum() / there[:, r].sum()) if there[:, r].any() else None
        for r, name in enumerate(answers.raters)
    }
    mean, sd = mean_and_sd([value for value in own.values() if value is not None])
    return {
        "n_answers": int(keep.sum()),
        "n_items": int(asked.sum()),
        "n_complete": int(complete.sum()),
        "by_rater": own,
        "per_annotator_mean": mean,
        "per_annotator_sd": sd,
        "pooled": pooled,
        "all_correct": every,
        "either_correct": either,
    }


def _fleiss(
    answers: PilotAnswers, labels: Any, domain: tuple[str, ...], how: dict[str, Any]
) -> tuple[Coefficient, list[str]]:
    ratings = from_columns(
        Axis(name="answer", level="nominal", domain=domain),
        [answers.items[i] for i in answers.item],
        [answers.raters[r] for r in answers.rater],
        labels,
        clusters=[str(c) for c in answers.cluster],
    )
    [found] = with_intervals([fleiss_kappa(ratings)], ratings, **how)
    design = make_design(ratings)
    return found, small_sample_warnings(ratings, design.n_units, design.unit)


def _confidently_wrong(
    answers: PilotAnswers, high: float, links: dict[str, str]
) -> list[WrongItem]:
    rows_of: dict[int, list[int]] = {}
    for row, item in enumerate(answers.item):
        rows_of.setdefault(int(item), []).append(row)
    found = []
    for item, rows in rows_of.items():
        wrong = {
            answers.raters[answers.rater[row]]: float(answers.confidence[row])
            for row in rows
            if answers.confidence[row] >= high and not answers.correct[row]
        }
        if not wrong:
            continue
        name = answers.items[item]
        given = answers.answer
        found.append(
            WrongItem(
                item=name,
                query_type=answers.query_type[rows[0]] or None,
                wrong=wrong,
                n_answers=len(rows),
                answers={answers.raters[answers.rater[row]]: given[row] for row in rows}
                if given is not None
                else {},
                gold=answers.gold[rows[0]] if answers.gold is not None else None,
                link=links.get(name),
            )
        )
    found.sort(key=lambda w: (-len(w.wrong), -sum(w.wrong.values())))
    return found


def _failures(answers: PilotAnswers) -> list[FailureMode]:
    bearing: dict[str, set[int]] = {mode: set() for mode in FAILURES}
    type_of: dict[int, str] = {}
    for row, modes in enumerate(answers.failures):
        type_of[int(answers.item[row])] = answers.query_type[row]
        for mode in modes:
            bearing[mode].add(int(answers.item[row]))
    marked = set().union(*bearing.values())
    if not marked:
        return []
    types = sorted({t for t in answers.query_type if t})
    return [
        FailureMode(
            mode=mode,
            n_items=len(items),
            share=len(items) / len(marked),
            by_query_type={t: sum(type_of[i] == t for i in items) for t in types},
        )
        for mode, items in bearing.items()
    ]


def _methods_text(
    answers: PilotAnswers,
    calibration: Calibration | None,
    how: dict[str, Any],
    tool_version: str,
) -> str:
    confidence = (
        "Accuracy by confidence has one bin per stated level with Wilson intervals, which take "
        "answers as independent; AUROC and Goodman and Kruskal's gamma need no mapping of "
        "confidence to a probability. An answer is confident from a confidence of "
        f"{calibration.high:g}. "
        if calibration is not None
        else ""
    )
    intervals = (
        f"Other {how['level']:.0%} intervals are bias-corrected and accelerated bootstrap intervals"
        f" ({how['resamples']} resamples of {answers.unit}s with all their answers, seed "
        f"{how['seed']}), percentile intervals where those are undefined; raters stay fixed. "
        if how["resamples"]
        else ""
    )
    return (
        f"{len(answers.raters)} raters gave {len(answers.correct)} answers to {len(answers.items)} "
        "items. Per-annotator accuracy is the mean over raters with the sample standard deviation; "
        "pooled accuracy is over all answers; all correct and either correct are over items that "
        f"every rater answered. {confidence}{intervals}MotionJury {tool_version}."
    )
