"""Who said what: told to coordinators only, and only after they have unblinded the study.

Unblinding cannot be taken back; it is an event in the log with its reason.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.people import AccessError, require_actor
from audit.ratings import code_order
from audit.records import Study, StudyError, as_study, clock, get_study, locked_study
from benchmarks.items import Frozen
from store.events import log
from store.tables import AssignmentRow, LabelRow, MemberRow, PersonRow


class Attributed(Frozen):
    """One revision of one answer, with its author."""

    item_id: str
    """The item."""
    code: str
    """The expert's code."""
    name: str
    """The expert's name."""
    purpose: str
    """``work``, ``attention`` or ``repeat``."""
    state: str
    """State of the assignment: ``done``, ``surplus`` or ``retired``."""
    revision: int
    """1 for the first submission, then counting up."""
    answers: dict[str, Any]
    """Answers by question."""
    created_at: float
    """UTC seconds."""


def unblind(
    session: Session,
    study_id: str,
    reason: str,
    actor: str | None = None,
    now: float | None = None,
) -> Study:
    """Let coordinators see who said what in a study, from now on.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        reason: Why; it goes into the log.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        The study. Unblinding again changes nothing.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The study is unknown or was not launched, or there is no reason.
    """
    require_actor(session, actor, "coordinator")
    row = locked_study(session, study_id)
    if row.state == "draft":
        raise StudyError(f"study {row.name!r} has not started yet")
    if not reason.strip():
        raise StudyError("expected a reason for unblinding, got none")
    if row.unblinded_at is None:
        at = clock(now)
        row.unblinded_at = at
        session.flush()
        details = {"reason": reason.strip()[:1000], "state": row.state}
        log(session, "study_unblinded", person_id=actor, study_id=row.id, details=details, at=at)
    return as_study(row)


def who_said_what(session: Session, study_id: str, actor: str | None = None) -> list[Attributed]:
    """Return all answers of an unblinded study with their authors, every revision.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        actor: Coordinator who asks; ``None`` at the command line.

    Returns:
        Ordered by item, code and time.

    Raises:
        AccessError: The actor is no coordinator, or the study was not unblinded.
        StudyError: There is no such study.
    """
    require_actor(session, actor, "coordinator")
    study = get_study(session, study_id)
    if study.unblinded_at is None:
        raise AccessError(f"study {study.name!r} is blind; unblind it first, with a reason")
    query = (
        select(LabelRow, AssignmentRow, MemberRow.code, PersonRow.name)
        .join(AssignmentRow, AssignmentRow.id == LabelRow.assignment_id)
        .join(PersonRow, PersonRow.id == LabelRow.person_id)
        .join(
            MemberRow,
            (MemberRow.study_id == LabelRow.study_id) & (MemberRow.person_id == LabelRow.person_id),
        )
        .where(LabelRow.study_id == study.id)
    )
    found = [
        Attributed(
            item_id=label.item_id,
            code=code,
            name=name,
            purpose=assignment.purpose,
            state=assignment.state,
            revision=label.revision,
            answers=label.answers,
            created_at=label.created_at,
        )
        for label, assignment, code, name in session.execute(query)
    ]
    return sorted(found, key=lambda one: (one.item_id, code_order(one.code), one.created_at))
