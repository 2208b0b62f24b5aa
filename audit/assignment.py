"""Who gets which item next, and for how long.

Each person goes through a study in an order of their own (``audit.order``). An item is claimed
under a lock on its row in the study, so the ratings done and the leases running never exceed the
ratings wanted, however many experts ask at once. Attention and repeated items are mixed in
(``audit.repeats``); they take no place of a rating.
"""

from __future__ import annotations

import secrets
from typing import Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.people import AccessError, require
from audit.queue import counts_now, waiting
from audit.records import (
    Study,
    StudyError,
    check_running,
    clock,
    get_study,
    lock_member,
    open_study,
)
from audit.repeats import due_repeat
from benchmarks.items import Frozen
from store.events import log
from store.tables import AssignmentRow, DecisionRow, StudyItemRow

__all__ = [
    "Assignment",
    "as_assignment",
    "has_room",
    "next_assignment",
    "own_assignment",
    "upcoming",
]

_LOOKS = 5
"""How often the queue is read again when others took all of it in the meantime."""


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
    state: Literal["held", "done", "surplus", "retired"]
    """``held`` until answered; ``surplus`` when the answer came after the ratings were full;
    ``retired`` when its expert was replaced."""
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
        PausedError: The study is paused.
        StudyError: The study is unknown, not open or past its deadline, the person takes no part
            in it (any more), or has not passed its training.
    """
    person = require(session, person_id, "expert")
    study = open_study(session, study_id)
    member = lock_member(session, study.id, person_id)
    # The clock is read once the locks are there: waiting for them takes time too.
    at = clock(now)
    check_running(study, at)
    if member.trained_at is None and not person.simulated and _has_training(session, study.id):
        raise StudyError("the training items come first")
    held = select(AssignmentRow).where(
        AssignmentRow.study_id == study.id,
        AssignmentRow.person_id == person_id,
        AssignmentRow.state == "held",
    )
    for row in session.scalars(held.order_by(AssignmentRow.created_at, AssignmentRow.id)).all():
        if _keep_room(session, study, row.item_id, person_id, at, row.purpose):
            row.lease_until = max(row.lease_until, at + study.config.lease_minutes * 60.0)
            session.flush()
            _log(session, "assignment_opened", row, at)
            return as_assignment(row)
    repeated = due_repeat(session, study, person_id)
    if repeated is not None:
        return _claim(session, study, repeated, person_id, "repeat", at)
    for _look in range(_LOOKS):
        queue = waiting(session, study, person_id, at)
        for item_id, purpose in queue:
            if _keep_room(session, study, item_id, person_id, at, purpose):
                return _claim(session, study, item_id, person_id, purpose, at)
        if not queue:
            break
        # Others were quicker at all of them; what looked full before may be free by now.
    return None


def _keep_room(
    session: Session, study: Study, item_id: str, person_id: str, at: float, purpose: str
) -> bool:
    # An item without room is let go at once: people go through the items in orders of their own,
    # and two who each hold what the other looks at next would wait for ever.
    attempt = session.begin_nested()
    found = has_room(session, study, item_id, person_id, at, purpose)
    if found:
        attempt.commit()
    else:
        attempt.rollback()
    return found


def _claim(
    session: Session, study: Study, item_id: str, person_id: str, purpose: str, at: float
) -> Assignment:
    row = AssignmentRow(
        id=secrets.token_hex(12),
        study_id=study.id,
        item_id=item_id,
        person_id=person_id,
        state="held",
        purpose=purpose,
        created_at=at,
        lease_until=at + study.config.lease_minutes * 60.0,
    )
    session.add(row)
    session.flush()
    _log(session, "assignment_claimed", row, at)
    return as_assignment(row)


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
    queue = waiting(session, study, person_id, clock(now))
    if not queue:
        return None
    row = session.get(StudyItemRow, (study.id, queue[0][0]))
    return None if row is None else row.media_key


def has_room(
    session: Session,
    study: Study,
    item_id: str,
    person_id: str,
    now: float,
    purpose: str = "work",
) -> bool:
    """Lock an item of a study and return whether this person's rating is still wanted.

    The lock lasts until the commit; ratings and leases of others are counted under it. An item
    that was withdrawn or decided wants no rating; attention and repeated items are for everybody.
    """
    withdrawn = session.execute(
        select(StudyItemRow.withdrawn_at)
        .where(StudyItemRow.study_id == study.id, StudyItemRow.item_id == item_id)
        .with_for_update()
    ).scalar_one()
    if withdrawn is not None:
        return False
    if purpose != "work":
        return True
    decided = select(DecisionRow.id).where(
        DecisionRow.study_id == study.id, DecisionRow.item_id == item_id
    )
    if session.scalars(decided.limit(1)).first() is not None:
        return False
    others = session.scalar(
        select(func.count())
        .select_from(AssignmentRow)
        .where(
            AssignmentRow.study_id == study.id,
            AssignmentRow.item_id == item_id,
            AssignmentRow.person_id != person_id,
            counts_now(now),
        )
    )
    return (others or 0) < study.config.ratings_per_item


def own_assignment(
    session: Session, assignment_id: str, person_id: str
) -> tuple[Study, AssignmentRow]:
    """Return an assignment of this person in an open study; what they do there waits for this.

    Raises:
        AccessError: It is not this person's, or they are unknown, revoked or no expert.
        StudyError: The study is not open, or the person takes no part in it any more.
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


def _has_training(session: Session, study_id: str) -> bool:
    query = select(StudyItemRow.item_id).where(
        StudyItemRow.study_id == study_id, StudyItemRow.purpose == "training"
    )
    return session.scalars(query.limit(1)).first() is not None


def _log(session: Session, action: str, row: AssignmentRow, at: float) -> None:
    log(
        session,
        action,
        person_id=row.person_id,
        study_id=row.study_id,
        subject=row.id,
        details={
            "item": row.item_id,
            "person": row.person_id,
            "purpose": row.purpose,
            "lease_until": row.lease_until,
        },
        at=at,
    )
