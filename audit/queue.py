"""What waits for a person in a study, in their order.

Items are passed over that they were given already, that are full, withdrawn or decided, or that
are kept for others.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, String, and_, cast, func, or_, select
from sqlalchemy.orm import Session

from audit.order import Entry, person_order
from audit.ratings import code_order
from audit.records import Study
from store.tables import AssignmentRow, DecisionRow, MemberRow, PersonRow, StudyItemRow


def counted(session: Session, study_id: str, now: float) -> dict[str, int]:
    """Return, by item, the ratings done plus the leases running."""
    query = (
        select(AssignmentRow.item_id, func.count())
        .where(AssignmentRow.study_id == study_id, counts_now(now))
        .group_by(AssignmentRow.item_id)
    )
    return {item_id: number for item_id, number in session.execute(query)}


def waiting(session: Session, study: Study, person_id: str, now: float) -> list[tuple[str, str]]:
    """Return item and purpose of what a person could claim now, attention items mixed in.

    An attention item never stands behind the last item to be rated: it would stand out there.
    Those that would, come just before it; where nothing is to be rated, none comes.
    """
    order = _in_order(session, study, person_id, now)
    last = max((n for n, (_item, purpose) in enumerate(order) if purpose == "work"), default=None)
    if last is None:
        return []
    return [*order[:last], *order[last + 1 :], order[last]]


def _in_order(session: Session, study: Study, person_id: str, now: float) -> list[tuple[str, str]]:
    shut = {
        item_id
        for item_id, number in counted(session, study.id, now).items()
        if number >= study.config.ratings_per_item
    }
    mine = select(AssignmentRow.item_id).where(
        AssignmentRow.study_id == study.id, AssignmentRow.person_id == person_id
    )
    shut.update(session.scalars(mine))
    shut.update(
        session.scalars(select(DecisionRow.item_id).where(DecisionRow.study_id == study.id))
    )
    shut |= _kept_for_others(session, study, person_id)
    query = (
        select(
            StudyItemRow.item_id,
            StudyItemRow.group_key,
            StudyItemRow.purpose,
            StudyItemRow.withdrawn_at,
        )
        .where(StudyItemRow.study_id == study.id, StudyItemRow.purpose != "training")
        .order_by(StudyItemRow.position)
    )
    rows = session.execute(query).all()
    purposes = {
        item_id: purpose
        for item_id, _group, purpose, withdrawn_at in rows
        if withdrawn_at is None and item_id not in shut
    }
    entries = tuple((item_id, group) for item_id, group, _purpose, _withdrawn_at in rows)
    return [
        (item_id, purposes[item_id])
        for item_id in _order(session, study, person_id, entries)
        if item_id in purposes
    ]


def _kept_for_others(session: Session, study: Study, person_id: str) -> set[str]:
    query = select(StudyItemRow.item_id, StudyItemRow.reserved_for).where(
        StudyItemRow.study_id == study.id,
        # Both the lack of a list and the list "null" mean that an item is for everybody.
        cast(StudyItemRow.reserved_for, String) != "null",
    )
    found = session.execute(query).all()
    active = _active_members(session, study.id) if found else set()
    return {item_id for item_id, only in found if not may_judge(person_id, only, active)}


def may_judge(person_id: str, reserved_for: list[str] | None, active: set[str]) -> bool:
    """Return whether an item is open to a person: where one it is kept for has left, to anybody.

    Args:
        person_id: The person.
        reserved_for: Whom the item is kept for; ``None`` for everybody.
        active: Experts who take part.
    """
    return reserved_for is None or person_id in reserved_for or not active.issuperset(reserved_for)


def _active_members(session: Session, study_id: str) -> set[str]:
    query = (
        select(MemberRow.person_id)
        .join(PersonRow, PersonRow.id == MemberRow.person_id)
        .where(
            MemberRow.study_id == study_id,
            MemberRow.retired_at.is_(None),
            PersonRow.active.is_(True),
        )
    )
    return set(session.scalars(query))


def _order(
    session: Session, study: Study, person_id: str, entries: tuple[Entry, ...]
) -> tuple[str, ...]:
    member = session.get(MemberRow, (study.id, person_id))
    rater = 0 if member is None else code_order(member.code)[1] - 1
    return person_order(study.config.seed, person_id, rater, entries)


def counts_now(now: float) -> ColumnElement[bool]:
    """Return the condition on an assignment that it takes the place of a rating."""
    return and_(
        AssignmentRow.purpose == "work",
        or_(
            AssignmentRow.state == "done",
            and_(AssignmentRow.state == "held", AssignmentRow.lease_until > now),
        ),
    )
