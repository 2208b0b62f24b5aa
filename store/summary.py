"""Counts of what a workspace holds."""

from __future__ import annotations

from typing import Any, get_args

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from benchmarks.items import ItemState
from store.tables import (
    AssignmentRow,
    CaptionRow,
    ClipRow,
    ItemRow,
    LabelRow,
    MediaRow,
    StudyItemRow,
    StudyRow,
)


def count_rows(session: Session) -> dict[str, Any]:
    """Count clips, captions, media, and items by state.

    Args:
        session: A session of the workspace.

    Returns:
        ``{"clips", "captions", "media", "items": {state: count}}``; every state is there.
    """
    counts: dict[str, Any] = {
        name: session.scalar(select(func.count()).select_from(table)) or 0
        for name, table in (("clips", ClipRow), ("captions", CaptionRow), ("media", MediaRow))
    }
    query = select(ItemRow.state, func.count()).group_by(ItemRow.state)
    by_state = {state: number for state, number in session.execute(query)}
    counts["items"] = {state: by_state.get(state, 0) for state in get_args(ItemState)}
    return counts


def study_counts(session: Session) -> list[dict[str, Any]]:
    """List the studies with their state, work items, and labels (first revisions, no checks).

    Args:
        session: A session of the workspace.

    Returns:
        One entry a study, oldest first: ``id, name, protocol, state, items, labels,
        simulated_labels``.
    """
    entries = []
    for study in session.scalars(select(StudyRow).order_by(StudyRow.created_at, StudyRow.id)):
        items = select(func.count()).where(
            StudyItemRow.study_id == study.id, StudyItemRow.purpose == "work"
        )
        labels = (
            select(func.count())
            .select_from(LabelRow)
            .join(AssignmentRow, AssignmentRow.id == LabelRow.assignment_id)
            .where(
                LabelRow.study_id == study.id,
                LabelRow.revision == 1,
                AssignmentRow.purpose == "work",
            )
        )
        entries.append(
            {
                "id": study.id,
                "name": study.name,
                "protocol": study.protocol,
                "state": study.state,
                "items": session.scalar(items) or 0,
                "labels": session.scalar(labels) or 0,
                "simulated_labels": session.scalar(labels.where(LabelRow.simulated.is_(True))) or 0,
            }
        )
    return entries
