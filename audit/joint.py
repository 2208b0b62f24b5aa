"""The room in which an item is edited jointly.

The coordinator, and experts whom they invite, see the item, everybody's answers without names or
codes, and each other's remarks; ``audit.versions`` makes what they agree on a new version.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.adjudication import rated
from audit.answers import plain_text
from audit.blind import BlindItem, blind_for
from audit.people import AccessError, require, require_actor
from audit.protocols.registry import PROTOCOLS
from audit.ratings import counted_labels
from audit.records import Study, StudyError, clock, get_study
from audit.versions import child_of, judges_of, propose_version, to_revise, wants_revision
from benchmarks.items import Frozen
from store.events import log
from store.tables import JointNoteRow, JointSeatRow

__all__ = [
    "NOTE_LIMIT",
    "JointItem",
    "Note",
    "Opinion",
    "add_note",
    "comments_and_edits",
    "invite_to_joint",
    "joint_items",
    "joint_rooms_of",
    "joint_view",
    "notes",
    "propose_version",
]

NOTE_LIMIT = 4000
"""Longest remark, characters."""


class JointItem(Frozen):
    """An item that experts want revised."""

    item_id: str
    """The item."""
    state: str
    """``in_review`` until its new version is made (or the study closes), then ``revise``."""
    votes: dict[str, dict[str, int]]
    """The verdicts, as counts."""
    opinions: int
    """Ratings that count."""
    invited: int
    """Experts who may see the room."""
    child: str | None
    """The new version; null while there is none."""


class Opinion(Frozen):
    """One expert's answers, without name, code or time."""

    answers: dict[str, Any]
    """All answers, comments and proposed edits among them."""


class Note(Frozen):
    """A remark made in the room, without its author."""

    text: str
    """What was said."""
    own: bool
    """Whether whoever asks wrote it."""
    created_at: float
    """UTC seconds."""


def joint_items(session: Session, study_id: str, actor: str | None = None) -> list[JointItem]:
    """Return the items of a study whose experts want a revision, those without a new one first.

    An item is among them once it has all its ratings and the rule says ``revise``, or when the
    coordinator settled on it.

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
    found = []
    for row, given in rated(session, study):
        if row.state != "revise" and not wants_revision(study, row, given):
            continue
        invited = session.scalar(
            select(func.count())
            .select_from(JointSeatRow)
            .where(JointSeatRow.study_id == study.id, JointSeatRow.item_id == row.id)
        )
        question = PROTOCOLS[study.protocol].verdict
        votes: dict[str, dict[str, int]] = {}
        if question is not None:
            said = [one.get(question.name) for one in given]
            votes = {question.name: {value: said.count(value) for value in question.domain}}
        found.append(
            JointItem(
                item_id=row.id,
                state=row.state,
                votes=votes,
                opinions=len(given),
                invited=invited or 0,
                child=child_of(session, row.id),
            )
        )
    return sorted(found, key=lambda one: (one.child is not None, one.item_id))


def invite_to_joint(
    session: Session,
    study_id: str,
    item_id: str,
    person_id: str,
    actor: str | None = None,
    now: float | None = None,
) -> None:
    """Let an expert into the room of an item that they have judged; again changes nothing.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        item_id: An item that experts want revised.
        person_id: An expert who has judged it: the room would tell others' answers.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The actor is no coordinator, or the person is no expert or was revoked.
        StudyError: The item is not to be revised, or the person has not judged it.
    """
    require_actor(session, actor, "coordinator")
    require(session, person_id, "expert")
    study = get_study(session, study_id)
    to_revise(session, study, item_id)
    if person_id not in judges_of(session, study.id, item_id):
        raise StudyError("only experts who have judged the item may see what others said")
    if session.get(JointSeatRow, (study.id, item_id, person_id)) is not None:
        return
    at = clock(now)
    session.add(
        JointSeatRow(study_id=study.id, item_id=item_id, person_id=person_id, created_at=at)
    )
    session.flush()
    details = {"person": person_id}
    log(
        session,
        "joint_invited",
        person_id=actor,
        study_id=study.id,
        subject=item_id,
        details=details,
        at=at,
    )


def joint_rooms_of(session: Session, study_id: str, person_id: str) -> list[str]:
    """Return the items of a study to whose open rooms an expert was invited.

    Raises:
        AccessError: The person is no expert or was revoked.
        StudyError: There is no such study.
    """
    require(session, person_id, "expert")
    study = get_study(session, study_id)
    query = (
        select(JointSeatRow.item_id)
        .where(JointSeatRow.study_id == study.id, JointSeatRow.person_id == person_id)
        .order_by(JointSeatRow.created_at, JointSeatRow.item_id)
    )
    return [one for one in session.scalars(query) if child_of(session, one) is None]


def joint_view(session: Session, study_id: str, item_id: str, actor: str) -> BlindItem:
    """Return the item as it is shown in its room: what the experts saw, without gold or source.

    Args:
        session: A writing session: media tokens are made on the first call.
        study_id: Id or name of the study.
        item_id: An item that experts want revised.
        actor: A coordinator or an invited expert.

    Raises:
        AccessError: The actor is neither.
        StudyError: The item is not to be revised.
    """
    study = _room(session, study_id, item_id, actor)
    return blind_for(session, study, item_id, actor, "joint")


def comments_and_edits(
    session: Session, study_id: str, item_id: str, actor: str | None = None
) -> list[Opinion]:
    """Return what the experts said about an item, in an order that tells nothing.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        item_id: An item that experts want revised.
        actor: A coordinator or an invited expert; ``None`` at the command line.

    Raises:
        AccessError: The actor is neither.
        StudyError: The item is not to be revised.
    """
    study = _room(session, study_id, item_id, actor)
    labels = [
        label
        for label, _code, _record in counted_labels(session, study.id)
        if label.item_id == item_id
    ]
    labels.sort(key=lambda label: hashlib.sha256(label.id.encode()).digest())
    return [Opinion(answers=label.answers) for label in labels]


def add_note(
    session: Session,
    study_id: str,
    item_id: str,
    text: str,
    actor: str | None = None,
    now: float | None = None,
) -> None:
    """Say something in the room of an item.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        item_id: An item that experts want revised.
        text: 1 to ``NOTE_LIMIT`` characters.
        actor: A coordinator or an invited expert; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The actor is neither.
        StudyError: The item is not to be revised, or the text is empty or too long.
    """
    study = _room(session, study_id, item_id, actor)
    words = plain_text(text).strip()
    if not 1 <= len(words) <= NOTE_LIMIT:
        raise StudyError(f"expected a remark of 1 to {NOTE_LIMIT} characters, got {len(words)}")
    at = clock(now)
    note = JointNoteRow(
        id=secrets.token_hex(12),
        study_id=study.id,
        item_id=item_id,
        person_id=actor,
        text=words,
        created_at=at,
    )
    session.add(note)
    session.flush()
    log(session, "joint_noted", person_id=actor, study_id=study.id, subject=item_id, at=at)


def notes(session: Session, study_id: str, item_id: str, actor: str | None = None) -> list[Note]:
    """Return what was said in the room of an item, oldest first; errors as :func:`add_note`."""
    study = _room(session, study_id, item_id, actor)
    query = (
        select(JointNoteRow)
        .where(JointNoteRow.study_id == study.id, JointNoteRow.item_id == item_id)
        .order_by(JointNoteRow.created_at, JointNoteRow.id)
    )
    return [
        Note(text=row.text, own=row.person_id == actor, created_at=row.created_at)
        for row in session.scalars(query)
    ]


def _room(session: Session, study_id: str, item_id: str, actor: str | None) -> Study:
    study = get_study(session, study_id)
    if actor is not None and require(session, actor).role != "coordinator":
        require(session, actor, "expert")
        if session.get(JointSeatRow, (study.id, item_id, actor)) is None:
            raise AccessError("you were not invited to this room")
    to_revise(session, study, item_id)
    return study
