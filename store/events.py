"""The event log: who did what when. Every action writes here in its own transaction."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.items import Frozen
from store.tables import EventRow


class Event(Frozen):
    """One logged action."""

    id: int
    """Running number."""
    at: float
    """UTC seconds since 1970-01-01."""
    person_id: str | None
    """Who acted; null for the command line."""
    action: str
    """What was done, e.g. ``label_submitted``."""
    study_id: str | None
    """Study concerned."""
    subject: str | None
    """Id of the item, assignment, label or person concerned."""
    details: dict[str, Any]
    """More about it; never answers, names or secrets."""


def log(
    session: Session,
    action: str,
    *,
    person_id: str | None = None,
    study_id: str | None = None,
    subject: str | None = None,
    details: dict[str, Any] | None = None,
    at: float | None = None,
) -> None:
    """Append one event.

    Args:
        session: A writing session.
        action: What was done, a verb in the past, e.g. ``study_launched``.
        person_id: Who acted; null for the command line.
        study_id: Study concerned.
        subject: Id of what the action was done to.
        details: More about it; never answers, names or secrets.
        at: UTC seconds; now by default.
    """
    session.add(
        EventRow(
            at=time.time() if at is None else at,
            person_id=person_id,
            action=action,
            study_id=study_id,
            subject=subject,
            details=details or {},
        )
    )


def list_events(
    session: Session,
    *,
    study_id: str | None = None,
    person_id: str | None = None,
    actions: tuple[str, ...] = (),
) -> list[Event]:
    """Return events in the order they were written, narrowed by what is given."""
    query = select(EventRow).order_by(EventRow.id)
    if study_id is not None:
        query = query.where(EventRow.study_id == study_id)
    if person_id is not None:
        query = query.where(EventRow.person_id == person_id)
    if actions:
        query = query.where(EventRow.action.in_(actions))
    return [
        Event(
            id=row.id,
            at=row.at,
            person_id=row.person_id,
            action=row.action,
            study_id=row.study_id,
            subject=row.subject,
            details=row.details,
        )
        for row in session.scalars(query)
    ]
