"""Autosaved drafts: every change is kept, and no window overwrites what another saved later."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from audit.answers import check_activity, check_draft
from audit.assignment import has_room, own_assignment
from audit.people import AccessError, require
from audit.protocols.registry import PROTOCOLS
from audit.records import StudyError, clock
from benchmarks.items import Frozen
from store.events import log
from store.tables import AssignmentRow, DraftRow


class StaleDraftError(StudyError):
    """Another window, or a submission, is ahead of what was sent."""


class Draft(Frozen):
    """Autosaved answers."""

    assignment_id: str
    """The assignment."""
    version: int
    """Counts up with every save; 0 when nothing was saved yet."""
    answers: dict[str, Any]
    """Answers so far, unchecked."""
    activity: dict[str, Any]
    """Seconds, plays, frames stepped so far."""
    saved_at: float | None
    """UTC seconds; null when nothing was saved yet."""


def save_draft(
    session: Session,
    assignment_id: str,
    person_id: str,
    answers: dict[str, Any],
    activity: dict[str, Any],
    version: int,
    now: float | None = None,
) -> int:
    """Keep what was chosen so far; the lease is renewed while the rating is still wanted.

    Args:
        session: A writing session.
        assignment_id: An assignment of this person.
        person_id: The expert.
        answers: Answers so far, by question; checked only for being plain and not huge.
        activity: What the browser measured so far.
        version: Version this window loaded or last saved, 0 for none. The same save sent again
            is recognised.
        now: UTC seconds; the clock by default.

    Returns:
        The new version.

    Raises:
        StaleDraftError: Another window saved since, or the item was submitted.
        AnswerError: The answers cannot be kept.
        AccessError: The assignment is not this person's, or they were revoked.
        StudyError: The study is not open.
    """
    at = clock(now)
    study, row = own_assignment(session, assignment_id, person_id)
    if row.state != "held":
        raise StaleDraftError("this item was already submitted; reload for the next one")
    kept = check_draft(PROTOCOLS[study.protocol], answers)
    measured = check_activity(activity)
    draft = session.get(DraftRow, row.id, populate_existing=True)
    current = 0 if draft is None else draft.version
    if draft is not None and version == current - 1 and draft.answers == kept:
        return current
    if version != current:
        raise StaleDraftError("this item was changed in another window; reload to go on from there")
    if draft is None:
        draft = DraftRow(assignment_id=row.id)
        session.add(draft)
    draft.version, draft.answers, draft.activity = current + 1, kept, measured
    draft.saved_at = at
    # A running lease is counted already; one that ran out is renewed only where there is room.
    if row.lease_until > at or has_room(session, study, row.item_id, person_id, at, row.purpose):
        row.lease_until = max(row.lease_until, at + study.config.lease_minutes * 60.0)
    session.flush()
    log(
        session,
        "draft_saved",
        person_id=person_id,
        study_id=study.id,
        subject=row.id,
        details={
            "item": row.item_id,
            "version": draft.version,
            "lease_until": row.lease_until,
        },
        at=at,
    )
    return draft.version


def load_draft(session: Session, assignment_id: str, person_id: str) -> Draft:
    """Return what was saved last; version 0 and no answers when nothing was.

    Args:
        session: Any session.
        assignment_id: An assignment of this person.
        person_id: The expert.

    Raises:
        AccessError: The assignment is not this person's, or they were revoked.
    """
    require(session, person_id, "expert")
    row = session.get(AssignmentRow, assignment_id)
    if row is None or row.person_id != person_id:
        raise AccessError("no such item for you")
    draft = session.get(DraftRow, assignment_id)
    if draft is None:
        return Draft(assignment_id=assignment_id, version=0, answers={}, activity={}, saved_at=None)
    return Draft(**{name: getattr(draft, name) for name in Draft.model_fields})
