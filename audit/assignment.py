"""Who gets which item next, and for how long.

Each person goes through a study in an order of their own, the order of the hash of study seed,
person and item: nobody sees anybody else's order, and it stays the same on every day. An item
is claimed under a lock on its row in the study, so the ratings done and the leases running never
exceed the ratings wanted, however many experts ask at once.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
from typing import Literal

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from audit.people import AccessError, require, require_actor
from audit.records import Study, StudyError, clock, get_study, lock_member, open_study
from benchmarks.items import Frozen
from store.events import log
from store.tables import AssignmentRow, StudyItemRow


class Assignment(Frozen):
    """One item given to one person in one study."""

    id: str
    """Random id."""
    study_id: str
    """The study."""
    item_id: str
    """The item."""
    person_id: str
    """Whose it is."""
    state: Literal["held", "done", "surplus"]
    """``held`` until answered; ``surplus`` when the answer came after the ratings were full."""
    created_at: float
    """UTC seconds."""
    lease_until: float
    """UTC seconds until which the item is kept for the person."""
    done_at: float | None
    """UTC seconds of the first submission."""


def next_assignment(
    session: Session, study_id: str, person_id: str, now: float | None = None
) -> Assignment | None:
    """Return the item a person holds, or claim the next one for them.

    Calling it again returns the same item, with its lease renewed. An item whose lease ran out
    is renewed if there is still room for the person's rating, and passed over otherwise.

    Args:
        session: A writing session.
        study_id: The study.
        person_id: An expert who takes part in it.
        now: UTC seconds; the clock by default.

    Returns:
        The assignment, or ``None`` when there is nothing (left) for this person.

    Raises:
        AccessError: The person is unknown, revoked or no expert.
        StudyError: The study is unknown, not open, the person takes no part in it, or has not
            passed its training.
    """
    at = clock(now)
    person = require(session, person_id, "expert")
    study = open_study(session, study_id)
    member = lock_member(session, study.id, person_id)
    if member.trained_at is None and not person.simulated and _has_training(session, study.id):
        raise StudyError("the training items come first")
    lease_until = at + study.config.lease_minutes * 60.0
    held = select(AssignmentRow).where(
        AssignmentRow.study_id == study.id,
        AssignmentRow.person_id == person_id,
        AssignmentRow.state == "held",
    )
    for row in session.scalars(held.order_by(AssignmentRow.created_at, AssignmentRow.id)).all():
        if has_room(session, study, row.item_id, person_id, at):
            row.lease_until = max(row.lease_until, lease_until)
            session.flush()
            _log(session, "assignment_opened", row, at)
            return as_assignment(row)
    for item_id in claimable(session, study, person_id, at):
        if has_room(session, study, item_id, person_id, at):
            row = AssignmentRow(
                id=secrets.token_hex(12),
                study_id=study.id,
                item_id=item_id,
                person_id=person_id,
                state="held",
                created_at=at,
                lease_until=lease_until,
            )
            session.add(row)
            session.flush()
            _log(session, "assignment_claimed", row, at)
            return as_assignment(row)
    return None


def upcoming(
    session: Session, study_id: str, person_id: str, now: float | None = None
) -> str | None:
    """Return the rendered clip this person will most likely see next, for loading ahead.

    Nothing is claimed: another expert may still take the last place.

    Args:
        session: Any session.
        study_id: The study.
        person_id: An expert who takes part in it.
        now: UTC seconds; the clock by default.

    Returns:
        Key of the media, or ``None`` when nothing follows.
    """
    study = get_study(session, study_id)
    items = claimable(session, study, person_id, clock(now))
    if not items:
        return None
    row = session.get(StudyItemRow, (study.id, items[0]))
    return None if row is None else row.media_key


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
        row.lease_until = 0.0
        _log(session, "lease_expired", row, at)
    session.flush()
    return [row.id for row in rows]


def reclaim(
    session: Session, assignment_id: str, *, actor: str | None = None, now: float | None = None
) -> None:
    """Free an item that someone holds, at once.

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
    row.lease_until = 0.0
    session.flush()
    _log(session, "lease_reclaimed", row, clock(now), actor=actor)


def hash_order(seed: int, person_id: str, item_id: str) -> bytes:
    """Return the sort key of an item in a person's order."""
    return hashlib.sha256(f"{seed}\x1f{person_id}\x1f{item_id}".encode()).digest()


def counted(session: Session, study_id: str, now: float) -> dict[str, int]:
    """Return, by item, the ratings done plus the leases running."""
    query = (
        select(AssignmentRow.item_id, func.count())
        .where(AssignmentRow.study_id == study_id, _counts(now))
        .group_by(AssignmentRow.item_id)
    )
    return {item_id: number for item_id, number in session.execute(query)}


def has_room(session: Session, study: Study, item_id: str, person_id: str, now: float) -> bool:
    """Lock an item of a study and return whether this person's rating is still wanted.

    The lock lasts until the commit; ratings and leases of others are counted under it.
    """
    session.execute(
        select(StudyItemRow.item_id)
        .where(StudyItemRow.study_id == study.id, StudyItemRow.item_id == item_id)
        .with_for_update()
    ).one()
    others = session.scalar(
        select(func.count())
        .select_from(AssignmentRow)
        .where(
            AssignmentRow.study_id == study.id,
            AssignmentRow.item_id == item_id,
            AssignmentRow.person_id != person_id,
            _counts(now),
        )
    )
    return (others or 0) < study.config.ratings_per_item


def own_assignment(
    session: Session, assignment_id: str, person_id: str
) -> tuple[Study, AssignmentRow]:
    """Return an assignment of this person in an open study; what they do there waits for this.

    Raises:
        AccessError: It is not this person's, or they are unknown, revoked or no expert.
        StudyError: The study is not open.
    """
    require(session, person_id, "expert")
    found = session.get(AssignmentRow, assignment_id)
    if found is None or found.person_id != person_id:
        raise AccessError("no such item for you")
    study = open_study(session, found.study_id)
    lock_member(session, study.id, person_id)
    session.refresh(found, with_for_update=True)
    return study, found


def as_assignment(row: AssignmentRow) -> Assignment:
    """Turn a row into the record."""
    return Assignment(**{name: getattr(row, name) for name in Assignment.model_fields})


def claimable(session: Session, study: Study, person_id: str, now: float) -> list[str]:
    """Return the items a person could claim now, in their order."""
    full = {
        item_id
        for item_id, number in counted(session, study.id, now).items()
        if number >= study.config.ratings_per_item
    }
    mine = select(AssignmentRow.item_id).where(
        AssignmentRow.study_id == study.id, AssignmentRow.person_id == person_id
    )
    passed_over = full.union(session.scalars(mine))
    order = _order(study.config.seed, person_id, study.config.item_ids)
    return [item_id for item_id in order if item_id not in passed_over]


@functools.lru_cache(maxsize=128)
def _order(seed: int, person_id: str, item_ids: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(item_ids, key=lambda item_id: hash_order(seed, person_id, item_id)))


def _counts(now: float) -> ColumnElement[bool]:
    return or_(
        AssignmentRow.state == "done",
        and_(AssignmentRow.state == "held", AssignmentRow.lease_until > now),
    )


def _has_training(session: Session, study_id: str) -> bool:
    query = select(StudyItemRow.item_id).where(
        StudyItemRow.study_id == study_id, StudyItemRow.purpose == "training"
    )
    return session.scalars(query.limit(1)).first() is not None


def _log(
    session: Session, action: str, row: AssignmentRow, at: float, actor: str | None = None
) -> None:
    log(
        session,
        action,
        person_id=row.person_id if action.startswith("assignment") else actor,
        study_id=row.study_id,
        subject=row.id,
        details={
            "item": row.item_id,
            "person": row.person_id,
            "lease_until": row.lease_until,
        },
        at=at,
    )
