"""What waits for a person in a study, in their order.

Items are passed over that they were given already, that are full, withdrawn or decided, or that
are kept for others.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from audit.order import person_order
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


def claimable(session: Session, study: Study, person_id: str, now: float) -> list[str]:
    """Return the items a person could claim now to rate them, in their order."""
    order = _in_order(session, study, person_id, now)
    return [item_id for item_id, purpose in order if purpose == "work"]


def waiting(session: Session, study: Study, person_id: str, now: float) -> list[tuple[str, str]]:
    """Return item and purpose of what a person could claim now, attention items mixed in.

    An attention item never stands behind the last item to be rated: it would stand out there.
    """
    order = _in_order(session, study, person_id, now)
    while order and order[-1][1] != "work":
        order.pop()
    return order


def _in_order(session: Session, study: Study, person_id: str, now: float) -> list[tuple[str, str]]:
    full = {
        item_id
        for item_id, number in counted(session, study.id, now).items()
        if number >= study.config.ratings_per_item
    }
    open_items = _open_to(session, study, person_id)
    return [
        (item_id, open_items[item_id])
        for item_id in _order(session, study, person_id)
        if item_id in open_items and item_id not in full
    ]


def _open_to(session: Session, study: Study, person_id: str) -> dict[str, str]:
    """Return the purpose of each item that a person has not been given and might be."""
    mine = select(AssignmentRow.item_id).where(
        AssignmentRow.study_id == study.id, AssignmentRow.person_id == person_id
    )
    decided = select(DecisionRow.item_id).where(DecisionRow.study_id == study.id)
    query = (
        select(StudyItemRow.item_id, StudyItemRow.purpose, StudyItemRow.reserved_for)
        .where(
            StudyItemRow.study_id == study.id,
            StudyItemRow.purpose != "training",
            StudyItemRow.withdrawn_at.is_(None),
            StudyItemRow.item_id.not_in(mine),
            StudyItemRow.item_id.not_in(decided),
        )
        .order_by(StudyItemRow.position)
    )
    found = session.execute(query).all()
    reserved = any(only is not None for _item, _purpose, only in found)
    active = _active_members(session, study.id) if reserved else set()
    return {
        item_id: purpose for item_id, purpose, only in found if may_judge(person_id, only, active)
    }


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


def _order(session: Session, study: Study, person_id: str) -> tuple[str, ...]:
    member = session.get(MemberRow, (study.id, person_id))
    rater = 0 if member is None else code_order(member.code)[1] - 1
    query = (
        select(StudyItemRow.item_id, StudyItemRow.group_key)
        .where(StudyItemRow.study_id == study.id, StudyItemRow.purpose != "training")
        .order_by(StudyItemRow.position)
    )
    entries = tuple((item_id, group) for item_id, group in session.execute(query))
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
