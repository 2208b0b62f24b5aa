"""What may leave the workspace of a study: labels and decisions under codes, no names or times."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.ratings import counted_labels
from audit.stimuli import study_media
from benchmarks.items import Frozen, Item
from store.clips import Media, get_clip
from store.items import get_item
from store.tables import (
    AssignmentRow,
    DecisionRow,
    StudyItemRow,
)


class LabelEvidence(Frozen):
    """The current label of one expert for one work item."""

    item_id: str
    """Item judged."""
    rater: str
    """Code of the expert within the study."""
    simulated: bool
    """Whether no person gave it."""
    revision: int
    """1 for the first submission."""
    protocol_version: int
    """Version of the protocol in force."""
    answers: dict[str, Any]
    """Answer by question."""
    activity: dict[str, Any]
    """Seconds active, plays and the like, as the client counted them."""


class DecisionEvidence(Frozen):
    """What the study decided about one item."""

    item_id: str
    """Item decided."""
    outcome: str
    """``accepted``, ``rejected`` or ``revise``."""
    rule: str
    """Rule of the protocol, or ``coordinator``."""
    reason: str
    """Why."""
    votes: dict[str, Any]
    """Votes the rule counted."""


class StudyEvidence(Frozen):
    """All labels and decisions of a study."""

    items: tuple[Item, ...]
    """Work items, sorted by id; withdrawn ones left out."""
    licences: dict[str, tuple[str, ...]]
    """Per corpus of their motions the licences that the sources state, sorted."""
    labels: tuple[LabelEvidence, ...]
    """Latest revisions, sorted by item and code; only those that count."""
    decisions: tuple[DecisionEvidence, ...]
    """Sorted by item."""
    shown: tuple[Media, ...]
    """Renderings that the work items were shown with, sorted by clip and key."""
    surplus: int
    """Assignments whose label came too late to count."""


def study_evidence(session: Session, study_id: str) -> StudyEvidence:
    """Read the items, labels and decisions of a study.

    Args:
        session: Any session.
        study_id: The study.

    Returns:
        Its evidence, without ids of persons and without times.
    """
    work = select(StudyItemRow.item_id).where(
        StudyItemRow.study_id == study_id,
        StudyItemRow.purpose == "work",
        StudyItemRow.withdrawn_at.is_(None),
    )
    decisions = session.scalars(
        select(DecisionRow).where(DecisionRow.study_id == study_id).order_by(DecisionRow.item_id)
    )
    surplus = session.scalar(
        select(func.count())
        .select_from(AssignmentRow)
        .where(AssignmentRow.study_id == study_id, AssignmentRow.state == "surplus")
    )
    items = tuple(get_item(session, item_id) for item_id in sorted(session.scalars(work)))
    return StudyEvidence(
        items=items,
        licences=_licences(session, items),
        labels=tuple(
            LabelEvidence(
                item_id=row.item_id,
                rater=code,
                simulated=row.simulated,
                revision=row.revision,
                protocol_version=row.protocol_version,
                answers=row.answers,
                activity=row.activity,
            )
            for row, code, _record in counted_labels(session, study_id)
        ),
        decisions=tuple(
            DecisionEvidence(
                item_id=row.item_id,
                outcome=row.outcome,
                rule=row.rule,
                reason=row.reason,
                votes=row.votes,
            )
            for row in decisions
        ),
        shown=tuple(study_media(session, study_id, work_only=True)),
        surplus=int(surplus or 0),
    )


def _licences(session: Session, items: Iterable[Item]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    clip_ids = {item.payload["clip_id"] for item in items if "clip_id" in item.payload}
    for clip_id in sorted(clip_ids):
        clip = get_clip(session, clip_id)
        found.setdefault(clip.corpus, set()).update({clip.licence} - {""})
    return {corpus: tuple(sorted(found[corpus])) for corpus in sorted(found)}
