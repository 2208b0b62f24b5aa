"""The versions of an item, from the first draft to the last, with what was decided of each."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.people import require_actor
from benchmarks.items import Frozen, Item
from store.items import get_item
from store.tables import DecisionRow, ItemRow, StudyRow


class VersionDecision(Frozen):
    """What a study decided about a version."""

    study: str
    """Name of the study."""
    outcome: str
    """``accepted``, ``rejected`` or ``revise``."""
    rule: str
    """Rule of the protocol, or ``coordinator``."""
    reason: str
    """Why."""
    created_at: float
    """UTC seconds."""


class Version(Frozen):
    """One version of an item."""

    item: Item
    """The version; ``parent`` is the one before."""
    decisions: tuple[VersionDecision, ...]
    """Oldest first."""


def lineage(session: Session, item_id: str, actor: str | None = None) -> list[Version]:
    """Return all versions of an item, whichever of them is named.

    Args:
        session: Any session.
        item_id: Any version.
        actor: Coordinator or analyst who asks; ``None`` at the command line.

    Returns:
        From the first draft on, parents before children.

    Raises:
        AccessError: The actor is neither.
        InputError: No item has this id.
    """
    require_actor(session, actor, "coordinator", "analyst")
    item = get_item(session, item_id)
    while item.parent is not None:
        item = get_item(session, item.parent)
    versions = [item]
    for known in versions:
        children = select(ItemRow.id).where(ItemRow.parent == known.id).order_by(ItemRow.id)
        versions.extend(get_item(session, child) for child in session.scalars(children))
    return [Version(item=one, decisions=_decisions(session, one.id)) for one in versions]


def relatives(session: Session, item_ids: Collection[str]) -> list[Version]:
    """Return the other versions of some items: all before and after them.

    Args:
        session: Any session.
        item_ids: Items, as many as there are.

    Returns:
        Versions that are not among ``item_ids``, by id.
    """
    edges = select(ItemRow.id, ItemRow.parent).where(ItemRow.parent.is_not(None))
    near: dict[str, set[str]] = {}
    for child, parent in session.execute(edges):
        near.setdefault(child, set()).add(str(parent))
        near.setdefault(str(parent), set()).add(child)
    found = set(item_ids)
    new = found & set(near)
    while new:
        new = {other for one in new for other in near[one]} - found
        found |= new
    return [
        Version(item=get_item(session, one), decisions=_decisions(session, one))
        for one in sorted(found - set(item_ids))
    ]


def _decisions(session: Session, item_id: str) -> tuple[VersionDecision, ...]:
    query = (
        select(DecisionRow, StudyRow.name)
        .join(StudyRow, StudyRow.id == DecisionRow.study_id)
        .where(DecisionRow.item_id == item_id)
        .order_by(DecisionRow.created_at, DecisionRow.id)
    )
    return tuple(
        VersionDecision(
            study=name,
            outcome=row.outcome,
            rule=row.rule,
            reason=row.reason,
            created_at=row.created_at,
        )
        for row, name in session.execute(query)
    )
