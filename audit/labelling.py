"""Answers in: submissions and changed answers. Nothing is lost, nothing doubled.

A submission carries an id chosen by the client: the same id again is the same submission.
Labels are append-only; a changed answer is a new revision, and the newest one counts.
"""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.answers import AnswerError, check_activity, check_answers
from audit.assignment import has_room, own_assignment
from audit.blind import caption_names
from audit.drafts import Draft, StaleDraftError, load_draft, save_draft
from audit.people import require
from audit.protocols.registry import PROTOCOLS
from audit.ratings import RatingRow, study_ratings
from audit.records import (
    Study,
    StudyError,
    clock,
    conditions_of,
    get_study,
    item_record,
)
from audit.shown import form_of, shown_of
from benchmarks.items import Frozen
from store.events import log
from store.tables import AssignmentRow, DecisionRow, LabelRow, StudyItemRow

__all__ = [
    "AnswerError",
    "Draft",
    "SHOWN",
    "Label",
    "RatingRow",
    "StaleDraftError",
    "load_draft",
    "my_labels",
    "revise",
    "save_draft",
    "study_ratings",
    "submit",
]

SHOWN = "captions"
"""Key of a stored label's activity under which the order of the captions is kept; it tells which
one came with the clip, so no record that a view gets has it."""
_ID_LIMIT = 200


class Label(Frozen):
    """A submitted answer."""

    id: str
    """Random id."""
    assignment_id: str
    """The assignment it answers."""
    submission_id: str
    """Chosen by the client."""
    revision: int
    """1 for the first submission, then counting up."""
    item_id: str
    """The item."""
    protocol_version: int
    """Version of the form it was given on."""
    answers: dict[str, Any]
    """Answers by question."""
    activity: dict[str, Any]
    """What the browser measured: seconds active, plays, frames stepped."""
    surplus: bool
    """Whether no rating was wanted any more when it came; then it counts nowhere."""
    note: str = ""
    """Why not, in one sentence for the expert; empty where it counts."""
    created_at: float
    """UTC seconds."""


def submit(
    session: Session,
    assignment_id: str,
    person_id: str,
    submission_id: str,
    answers: dict[str, Any],
    activity: dict[str, Any],
    now: float | None = None,
) -> Label:
    """Store an answer.

    The same submission id again returns what was stored first, whatever else is sent. After a
    lease ran out the answer still counts if the rating is still wanted; otherwise, and when the
    item was withdrawn or settled meanwhile, it is stored as surplus and counts nowhere; ``note``
    says so.

    Args:
        session: A writing session.
        assignment_id: An assignment of this person.
        person_id: The expert.
        submission_id: Chosen by the client, 1 to 200 characters.
        answers: Answers by question.
        activity: What the browser measured.
        now: UTC seconds; the clock by default.

    Returns:
        The label.

    Raises:
        AnswerError: The protocol does not take the answers; all problems by question.
        StaleDraftError: The item was submitted before, under another submission id.
        AccessError: The assignment is not this person's, or they were revoked.
        StudyError: The study is not open, or its form changed since it was made.
    """
    at = clock(now)
    study, row = own_assignment(session, assignment_id, person_id)
    known = _submitted(session, row, submission_id)
    if known is not None:
        return known
    if row.state != "held":
        raise StaleDraftError(
            "this item was already submitted, in another window; reload for the next one"
        )
    label = _label(session, study, row, submission_id, answers, activity, at)
    wanted = has_room(session, study, row.item_id, person_id, at, row.purpose)
    row.state, row.done_at = ("done" if wanted else "surplus"), at
    session.add(label)
    session.flush()
    _log(session, "label_submitted", row, at, label=label.id, state=row.state)
    return _noted(session, _as_label(label, row.state), row)


def revise(
    session: Session,
    assignment_id: str,
    person_id: str,
    submission_id: str,
    answers: dict[str, Any],
    activity: dict[str, Any],
    now: float | None = None,
) -> Label:
    """Change a submitted answer while the study is open; the old one stays as history.

    Args:
        session: A writing session.
        assignment_id: An assignment of this person that was submitted.
        person_id: The expert.
        submission_id: Chosen by the client, another one than before.
        answers: Answers by question.
        activity: What the browser measured.
        now: UTC seconds; the clock by default.

    Returns:
        The new revision.

    Raises:
        AnswerError: The protocol does not take the answers; all problems by question.
        AccessError: The assignment is not this person's, or they were revoked.
        StudyError: The item was not submitted yet or was settled meanwhile, the study is not
            open, or its form changed.
    """
    at = clock(now)
    study, row = own_assignment(session, assignment_id, person_id)
    known = _submitted(session, row, submission_id)
    if known is not None:
        return known
    if row.state == "held":
        raise StudyError("this item was not submitted yet")
    if _decided(session, row):
        raise StudyError("this item was settled meanwhile; your first answer stands")
    label = _label(session, study, row, submission_id, answers, activity, at)
    session.add(label)
    session.flush()
    _log(session, "label_revised", row, at, label=label.id, revision=label.revision)
    return _noted(session, _as_label(label, row.state), row)


def my_labels(session: Session, study_id: str, person_id: str) -> list[Label]:
    """Return a person's own answers, the newest revision of each, in the order first submitted.

    Raises:
        AccessError: The person is unknown or revoked.
        StudyError: There is no such study.
    """
    require(session, person_id)
    study = get_study(session, study_id)
    query = (
        select(LabelRow, AssignmentRow)
        .join(AssignmentRow, AssignmentRow.id == LabelRow.assignment_id)
        .where(LabelRow.study_id == study.id, LabelRow.person_id == person_id)
        .order_by(AssignmentRow.done_at, AssignmentRow.id, LabelRow.revision)
    )
    newest = {row.id: _as_label(label, row.state) for label, row in session.execute(query)}
    return list(newest.values())


def _submitted(session: Session, row: AssignmentRow, submission_id: str) -> Label | None:
    if not isinstance(submission_id, str) or not 1 <= len(submission_id) <= _ID_LIMIT:
        raise AnswerError({"": f"expected a submission id of 1 to {_ID_LIMIT} characters"})
    query = select(LabelRow).where(LabelRow.submission_id == submission_id)
    label = session.scalars(query).one_or_none()
    if label is None:
        return None
    if label.assignment_id != row.id:
        raise AnswerError({"": "this submission id was used for another item; reload the page"})
    return _noted(session, _as_label(label, row.state), row)


def _noted(session: Session, label: Label, row: AssignmentRow) -> Label:
    if not label.surplus:
        return label
    place = session.get(StudyItemRow, (row.study_id, row.item_id))
    if place is not None and place.withdrawn_at is not None:
        reason = "this item was withdrawn while you had it open"
    elif _decided(session, row):
        reason = "this item was settled while you had it open"
    else:
        reason = "others had given this item all its ratings before you sent yours"
    return label.model_copy(update={"note": f"{reason}; your answer is kept but does not count"})


def _decided(session: Session, row: AssignmentRow) -> bool:
    query = select(DecisionRow.id).where(
        DecisionRow.study_id == row.study_id, DecisionRow.item_id == row.item_id
    )
    return session.scalars(query.limit(1)).first() is not None


def _label(
    session: Session,
    study: Study,
    row: AssignmentRow,
    submission_id: str,
    answers: dict[str, Any],
    activity: dict[str, Any],
    at: float,
) -> LabelRow:
    protocol = PROTOCOLS[study.protocol]
    if protocol.version != study.protocol_version:
        raise StudyError(
            f"the form of this study changed (version {study.protocol_version} to "
            f"{protocol.version}); your draft is kept, tell your coordinator"
        )
    person = require(session, row.person_id)
    record = item_record(session, row.item_id)
    form = form_of(protocol, record)
    clean = check_answers(form, conditions_of(protocol, record), answers)
    measured = check_activity(activity)
    measured.pop(SHOWN, None)
    names = caption_names(shown_of(record), study.config.seed, row.person_id, row.item_id)
    if names:
        measured[SHOWN] = ",".join(names)
    last = session.scalar(
        select(func.max(LabelRow.revision)).where(LabelRow.assignment_id == row.id)
    )
    return LabelRow(
        id=secrets.token_hex(12),
        assignment_id=row.id,
        submission_id=submission_id,
        revision=(last or 0) + 1,
        study_id=study.id,
        item_id=row.item_id,
        person_id=row.person_id,
        protocol_version=protocol.version,
        answers=clean,
        activity=measured,
        simulated=person.simulated,
        created_at=at,
    )


def _as_label(label: LabelRow, state: str) -> Label:
    return Label(
        id=label.id,
        assignment_id=label.assignment_id,
        submission_id=label.submission_id,
        revision=label.revision,
        item_id=label.item_id,
        protocol_version=label.protocol_version,
        answers=label.answers,
        activity={name: value for name, value in label.activity.items() if name != SHOWN},
        surplus=state == "surplus",
        created_at=label.created_at,
    )


def _log(session: Session, action: str, row: AssignmentRow, at: float, **details: Any) -> None:
    log(
        session,
        action,
        person_id=row.person_id,
        study_id=row.study_id,
        subject=row.id,
        details={"item": row.item_id, **details},
        at=at,
    )
