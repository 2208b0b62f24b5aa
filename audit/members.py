"""Experts of a study: added early or late, retired, listed by name without their codes."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from audit.people import require, require_actor
from audit.records import StudyError, clock, get_study, locked_study
from audit.tries import stopped_in_training
from benchmarks.items import Frozen
from store.events import log
from store.tables import AssignmentRow, DecisionRow, MemberRow, PersonRow


class Seat(Frozen):
    """A person's part in a study, for coordinators; it does not tell their code."""

    person_id: str
    """The person."""
    name: str
    """Their name."""
    simulated: bool
    """Whether a program answers in their place."""
    active: bool
    """False once their access was revoked."""
    guidelines_read: bool
    """Whether they said that they have read the guidelines."""
    trained: bool
    """Whether they passed training."""
    stopped: bool
    """Whether they take part, ran out of tries in training and wait to be allowed on."""
    retired_at: float | None
    """UTC seconds since which they take no part any more; null while they do."""


def add_member(
    session: Session,
    study_id: str,
    person_id: str,
    actor: str | None = None,
    now: float | None = None,
) -> str:
    """Let an expert take part in a study, at any time before it is closed; also one who retired.

    Args:
        session: A writing session.
        study_id: The study.
        person_id: The expert.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        Their code, ``A1``, ``A2`` …, until the study is closed and codes are dealt anew; the same
        when they are in it already.

    Raises:
        AccessError: The actor is no coordinator, or the person is unknown, revoked or no expert.
        StudyError: The study is unknown or closed.
    """
    require_actor(session, actor, "coordinator")
    require(session, person_id, "expert")
    row = locked_study(session, study_id)
    if row.state == "closed":
        raise StudyError(f"study {row.name!r} is closed")
    member = session.get(MemberRow, (row.id, person_id))
    if member is not None and member.retired_at is None:
        return member.code
    if member is not None:
        member.retired_at = None
        session.flush()
        _log(session, "member_added", row.id, person_id, actor, now, {"code": member.code})
        return member.code
    taken = session.scalar(
        select(func.count()).select_from(MemberRow).where(MemberRow.study_id == row.id)
    )
    code = f"A{(taken or 0) + 1}"
    session.add(
        MemberRow(
            study_id=row.id,
            person_id=person_id,
            code=code,
            joined_at=clock(now),
            guidelines_at=None,
            trained_at=None,
            retired_at=None,
        )
    )
    session.flush()
    _log(session, "member_added", row.id, person_id, actor, now, {"code": code})
    return code


def retire(
    session: Session,
    study_id: str,
    person_id: str,
    *,
    replace: bool = False,
    actor: str | None = None,
    now: float | None = None,
) -> int:
    """End an expert's part in a study; all they did is kept, and what they hold is free at once.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        person_id: An expert who takes part in it.
        replace: Whether their ratings are to be given by others instead. They then count no more:
            their assignments go into state ``retired`` and stay on record. Ratings of items that
            are settled already stay as they are.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        How many of their ratings others will give anew.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The study is unknown or closed, or the person takes no part in it any more.
    """
    require_actor(session, actor, "coordinator")
    row = locked_study(session, study_id)
    if row.state == "closed":
        raise StudyError(f"study {row.name!r} is closed")
    member = session.get(
        MemberRow, (row.id, person_id), with_for_update=True, populate_existing=True
    )
    if member is None or member.retired_at is not None:
        raise StudyError(f"this person takes no part in study {row.name!r}")
    at = clock(now)
    member.retired_at = at
    own = (AssignmentRow.study_id == row.id, AssignmentRow.person_id == person_id)
    session.execute(
        update(AssignmentRow).where(*own, AssignmentRow.state == "held").values(lease_until=0.0)
    )
    given_up: list[str] = []
    if replace:
        decided = select(DecisionRow.item_id).where(DecisionRow.study_id == row.id)
        rated = session.scalars(
            select(AssignmentRow).where(
                *own,
                AssignmentRow.state == "done",
                AssignmentRow.purpose == "work",
                AssignmentRow.item_id.not_in(decided),
            )
        )
        for assignment in rated:
            assignment.state = "retired"
            given_up.append(assignment.id)
    session.flush()
    details = {"code": member.code, "replaced": given_up}
    _log(session, "member_retired", row.id, person_id, actor, at, details)
    return len(given_up)


def deal_codes(session: Session, study_id: str, actor: str | None, at: float) -> None:
    """Deal the codes of a study anew, at random: those of the time before tell nothing of them.

    While a study runs, whoever watches it being joined and left can tell whose row is whose; from
    its close on, codes stand beside answers.

    Args:
        session: A writing session.
        study_id: Id of a study that has just been closed.
        actor: Coordinator who closed it; ``None`` at the command line.
        at: UTC seconds.
    """
    rows = session.scalars(select(MemberRow).where(MemberRow.study_id == study_id)).all()
    codes = [row.code for row in rows]
    random.SystemRandom().shuffle(codes)
    for place, row in enumerate(rows):
        row.code = f"x{place}"  # a code is never held twice, not even for a moment
    session.flush()
    for row, code in zip(rows, codes, strict=True):
        row.code = code
    session.flush()
    details = {"codes": {row.person_id: row.code for row in rows}}
    log(session, "codes_dealt", person_id=actor, study_id=study_id, details=details, at=at)


def roster(session: Session, study_id: str, actor: str | None = None) -> list[Seat]:
    """Return who takes part in a study, by name; which code is whose is not told.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        actor: Coordinator who asks; ``None`` at the command line.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: There is no such study.
    """
    require_actor(session, actor, "coordinator")
    study = get_study(session, study_id)
    query = (
        select(MemberRow, PersonRow)
        .join(PersonRow, PersonRow.id == MemberRow.person_id)
        .where(MemberRow.study_id == study.id)
        .order_by(PersonRow.name, PersonRow.id)
    )
    return [
        Seat(
            person_id=person.id,
            name=person.name,
            simulated=person.simulated,
            active=person.active,
            guidelines_read=member.guidelines_at is not None,
            trained=member.trained_at is not None,
            stopped=person.active
            and member.retired_at is None
            and stopped_in_training(session, study, person.id),
            retired_at=member.retired_at,
        )
        for member, person in session.execute(query)
    ]


def _log(
    session: Session,
    action: str,
    study_id: str,
    person_id: str,
    actor: str | None,
    at: float | None,
    details: dict[str, Any],
) -> None:
    log(
        session,
        action,
        person_id=actor,
        study_id=study_id,
        subject=person_id,
        details=details,
        at=at,
    )
