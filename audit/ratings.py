"""Labels as rows for agreement and export: one counted answer of one rater to one question."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.protocol import Level
from audit.protocols.registry import PROTOCOLS
from audit.records import get_study
from audit.shown import shown_of
from benchmarks.items import Frozen
from store.tables import AssignmentRow, ItemRow, LabelRow, MemberRow, StudyItemRow


class RatingRow(Frozen):
    """One answer."""

    axis: str
    """Name of the question, e.g. ``fluent``."""
    level: Level
    """Level of measurement of the question."""
    domain: tuple[str, ...]
    """Its answers in declared order; those of all items, sorted, where each has its own."""
    item_id: str
    """The item."""
    rater: str
    """Anonymous code of the rater in the study, e.g. ``A1``."""
    label: str
    """The answer."""
    clip_id: str
    """Clip of the item, the unit of resampling."""
    stratum: dict[str, str]
    """Strata of the item."""
    simulated: bool
    """Whether a program answered."""
    seconds: float | None = None
    """Seconds the rater was active on the item, all questions together; null where unknown."""


def study_ratings(session: Session, study_id: str) -> list[RatingRow]:
    """Return the counted answers of a study to the questions that agreement is reported on.

    The newest revision of each answer; training, attention, repeated and surplus answers are not in
    it, nor those to withdrawn items, free text, and questions with several answers at once.

    Args:
        session: Any session.
        study_id: Id or name of the study.

    Returns:
        Rows ordered by question (as declared), item and rater code.

    Raises:
        StudyError: There is no such study.
    """
    study = get_study(session, study_id)
    questions = [
        question
        for question in PROTOCOLS[study.protocol].questions
        if question.agreement and question.kind in ("choice", "likert", "verdict")
    ]
    labels = counted_labels(session, study.id)
    own = tuple(
        sorted({text for _label, _code, record in labels for text in shown_of(record).options})
    )
    rows = []
    for label, code, record in labels:
        for place, question in enumerate(questions):
            if question.name in label.answers:
                row = RatingRow(
                    axis=question.name,
                    level=question.level,
                    domain=own if question.options_from else question.domain,
                    item_id=label.item_id,
                    rater=code,
                    label=label.answers[question.name],
                    clip_id=str(record["payload"].get("clip_id", "")),
                    stratum=record["stratum"],
                    simulated=label.simulated,
                    seconds=label.activity.get("seconds"),
                )
                rows.append((place, row))
    rows.sort(key=lambda pair: (pair[0], pair[1].item_id, code_order(pair[1].rater)))
    return [row for _place, row in rows]


def counted_labels(session: Session, study_id: str) -> list[tuple[LabelRow, str, dict[str, Any]]]:
    """Return the newest counted label of each assignment, with rater code and item record.

    Args:
        session: Any session.
        study_id: Id of the study.

    Returns:
        Ordered by item and rater code.
    """
    query = (
        select(LabelRow, MemberRow.code, ItemRow.record)
        .join(AssignmentRow, AssignmentRow.id == LabelRow.assignment_id)
        .join(
            MemberRow,
            (MemberRow.study_id == LabelRow.study_id) & (MemberRow.person_id == LabelRow.person_id),
        )
        .join(ItemRow, ItemRow.id == LabelRow.item_id)
        .join(
            StudyItemRow,
            (StudyItemRow.study_id == LabelRow.study_id)
            & (StudyItemRow.item_id == LabelRow.item_id),
        )
        .where(
            LabelRow.study_id == study_id,
            AssignmentRow.state == "done",
            AssignmentRow.purpose == "work",
            StudyItemRow.withdrawn_at.is_(None),
        )
        .order_by(LabelRow.revision)
    )
    newest = {
        label.assignment_id: (label, code, record) for label, code, record in session.execute(query)
    }
    return sorted(newest.values(), key=lambda entry: (entry[0].item_id, code_order(entry[1])))


def code_order(code: str) -> tuple[str, int]:
    """Return a sort key that puts ``A2`` before ``A10``."""
    return code[:1], int(code[1:])
