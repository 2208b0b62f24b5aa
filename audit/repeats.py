"""Repeated items: an expert is shown one of their own again, at a distance (test-retest).

The answers are stored apart from the first ones: they count as no rating and enter no coefficient
but the expert's agreement with themselves.
"""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.order import hash_order
from audit.records import Study
from store.tables import AssignmentRow, StudyItemRow


def due_repeat(session: Session, study: Study, person_id: str) -> str | None:
    """Return the item a person is to be shown again now, or ``None``.

    After each ``repeat_gap`` + 1 ratings one item comes back, until ``repeats`` have: of those
    answered at least ``repeat_gap`` ratings ago and not shown twice yet, the one with the lowest
    hash of seed, person and item.

    Args:
        session: Any session.
        study: The study.
        person_id: An expert who takes part in it.
    """
    config = study.config
    if config.repeats == 0:
        return None
    mine = (
        select(AssignmentRow.item_id, AssignmentRow.purpose)
        .join(
            StudyItemRow,
            (StudyItemRow.study_id == AssignmentRow.study_id)
            & (StudyItemRow.item_id == AssignmentRow.item_id),
        )
        .where(
            AssignmentRow.study_id == study.id,
            AssignmentRow.person_id == person_id,
            AssignmentRow.state != "held",
            StudyItemRow.withdrawn_at.is_(None),
        )
        .order_by(AssignmentRow.done_at, AssignmentRow.id)
    )
    rows = session.execute(mine).all()
    first = [item_id for item_id, purpose in rows if purpose == "work"]
    again = {item_id for item_id, purpose in rows if purpose == "repeat"}
    wanted = min(config.repeats, len(first) // (config.repeat_gap + 1))
    if len(again) >= wanted:
        return None
    old = [item_id for item_id in first[: -config.repeat_gap] if item_id not in again]
    return min(old, key=lambda one: hash_order(config.seed, f"repeat {person_id}", one))


def repeats_ahead(session: Session, study: Study, person_id: str, ahead: int) -> int:
    """Return how many items will come back to a person, as far as can be told now.

    Args:
        session: Any session.
        study: The study.
        person_id: An expert who takes part in it.
        ahead: Items to be rated that they were not given yet.
    """
    if study.config.repeats == 0:
        return 0
    given = select(AssignmentRow.purpose).where(
        AssignmentRow.study_id == study.id,
        AssignmentRow.person_id == person_id,
        AssignmentRow.purpose.in_(("work", "repeat")),
    )
    purposes = list(session.scalars(given))
    rated = purposes.count("work") + ahead
    wanted = min(study.config.repeats, rated // (study.config.repeat_gap + 1))
    return max(wanted - purposes.count("repeat"), 0)
