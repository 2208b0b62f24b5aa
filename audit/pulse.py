"""Whether anything changed that the counted answers of a study depend on; one cheap question."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from benchmarks.items import Frozen
from store.tables import AssignmentRow, LabelRow, StudyItemRow, StudyRow


class Pulse(Frozen):
    """Counts that change whenever the counted answers of a study do; hashable."""

    study_id: str
    """The study."""
    labels: int
    """Answers ever given, revisions of them included."""
    retired: int
    """Answers that count no more because their expert was replaced."""
    withdrawn: int
    """Items that are no longer part of the study."""
    closed: bool
    """Whether the study was closed, and its codes dealt anew."""


def pulse(session: Session, study_id: str) -> Pulse:
    """Return the counts of a study; equal ones mean equal counted answers under equal codes.

    Args:
        session: Any session.
        study_id: Id of the study.
    """
    labels = select(func.count()).select_from(LabelRow).where(LabelRow.study_id == study_id)
    retired = (
        select(func.count())
        .select_from(AssignmentRow)
        .where(AssignmentRow.study_id == study_id, AssignmentRow.state == "retired")
    )
    withdrawn = (
        select(func.count())
        .select_from(StudyItemRow)
        .where(StudyItemRow.study_id == study_id, StudyItemRow.withdrawn_at.is_not(None))
    )
    return Pulse(
        study_id=study_id,
        labels=session.scalar(labels) or 0,
        retired=session.scalar(retired) or 0,
        withdrawn=session.scalar(withdrawn) or 0,
        closed=session.scalar(select(StudyRow.state).where(StudyRow.id == study_id)) == "closed",
    )
