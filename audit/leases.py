"""Who holds which item, until when, and how it is taken back."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.people import require_actor
from audit.ratings import code_order
from audit.records import StudyError, clock, get_study
from benchmarks.items import Frozen
from store.events import log
from store.tables import AssignmentRow, DraftRow, MemberRow


class Lease(Frozen):
    """An item that someone holds."""

    assignment_id: str
    """The assignment."""
    item_id: str
    """The item."""
    code: str
    """Code of whoever holds it."""
    since: float
    """UTC seconds at which they were first given it."""
    lease_until: float
    """UTC seconds until which it is kept for them; 0 once it was taken back."""
    expired: bool
    """Whether it is free for others; they may still answer it."""
    saved_at: float | None
    """UTC seconds of their last draft; null when they saved none."""


def leases(
    session: Session, study_id: str, actor: str | None = None, now: float | None = None
) -> list[Lease]:
    """Return the items that are held, those held longest first.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        actor: Coordinator who asks; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: There is no such study.
    """
    require_actor(session, actor, "coordinator")
    study = get_study(session, study_id)
    at = clock(now)
    query = (
        select(AssignmentRow, MemberRow.code, DraftRow.saved_at)
        .join(
            MemberRow,
            (MemberRow.study_id == AssignmentRow.study_id)
            & (MemberRow.person_id == AssignmentRow.person_id),
        )
        .outerjoin(DraftRow, DraftRow.assignment_id == AssignmentRow.id)
        .where(AssignmentRow.study_id == study.id, AssignmentRow.state == "held")
    )
    found = [
        Lease(
            assignment_id=row.id,
            item_id=row.item_id,
            code=code,
            since=row.created_at,
            lease_until=row.lease_until,
            expired=row.lease_until <= at,
            saved_at=saved_at,
        )
        for row, code, saved_at in session.execute(query)
    ]
    return sorted(found, key=lambda lease: (lease.since, code_order(lease.code)))


def reclaim_expired(session: Session, study_id: str, now: float | None = None) -> list[str]:
    """Log the leases that ran out and were not logged yet.

    A lease that ran out frees its item by itself; this only writes it to the event log. What
    the person drafted is kept, and they may still submit it.

    Args:
        session: A writing session.
        study_id: The study.
        now: UTC seconds; the clock by default.

    Returns:
        Ids of the assignments concerned.
    """
    at = clock(now)
    query = select(AssignmentRow).where(
        AssignmentRow.study_id == study_id,
        AssignmentRow.state == "held",
        AssignmentRow.lease_until > 0.0,
        AssignmentRow.lease_until <= at,
    )
    rows = session.scalars(query.with_for_update(skip_locked=True)).all()
    for row in rows:
        _free(session, "lease_expired", row, None, at)
    return [row.id for row in rows]


def reclaim(
    session: Session, assignment_id: str, *, actor: str | None = None, now: float | None = None
) -> None:
    """Free an item that someone holds, at once; their draft is kept.

    Args:
        session: A writing session.
        assignment_id: The assignment.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: There is no such assignment, or it was answered.
    """
    require_actor(session, actor, "coordinator")
    row = session.get(AssignmentRow, assignment_id, with_for_update=True, populate_existing=True)
    if row is None or row.state != "held":
        raise StudyError("nobody holds this item any more")
    _free(session, "lease_reclaimed", row, actor, clock(now))


def _free(session: Session, action: str, row: AssignmentRow, actor: str | None, at: float) -> None:
    row.lease_until = 0.0
    session.flush()
    details = {"item": row.item_id, "person": row.person_id, "lease_until": 0.0}
    log(
        session,
        action,
        person_id=actor,
        study_id=row.study_id,
        subject=row.id,
        details=details,
        at=at,
    )
