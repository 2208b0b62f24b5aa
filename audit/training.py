"""Training: items with known answers, explained after each try. Never part of the data.

An expert may try again, as often as the study allows. The last try at each item counts, and
training is passed when the share of right answers over all training items reaches the protocol's
``training_pass_share``.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.answers import check_answers
from audit.gold import Gold
from audit.people import require
from audit.protocols.registry import PROTOCOLS
from audit.records import (
    StudyError,
    clock,
    conditions_of,
    get_study,
    item_record,
    lock_member,
    open_study,
)
from audit.shown import form_of
from audit.tries import TRIED, stopped_in_training, tries_left, tries_of
from benchmarks.items import Frozen
from store.events import log
from store.tables import MemberRow, StudyItemRow


class TrainingItem(Frozen):
    """A training item as one person stands with it."""

    item_id: str
    """The item."""
    passed: bool
    """Whether the person's last try was right in every question."""
    tries: int
    """How often they answered it."""


class QuestionFeedback(Frozen):
    """Feedback to one answer."""

    question: str
    """Name of the question."""
    right: bool
    """Whether it was the expected answer."""
    given: str
    """What the expert answered."""
    expected: str
    """What was expected."""


class Feedback(Frozen):
    """What an expert is told after a try."""

    questions: tuple[QuestionFeedback, ...]
    """One entry for each judged question, in the order of the form."""
    explanation: str
    """Why these answers are right."""
    passed: bool
    """Whether this try was right in every question."""
    trained: bool
    """Whether training is passed and labelling may begin."""
    left: int
    """Training items that were not answered yet."""
    stopped: bool
    """Whether no try is left, so that a coordinator has to be asked."""
    tries_left: int | None
    """How often this item may still be tried; null without a limit."""


def training_items(session: Session, study_id: str, person_id: str) -> list[TrainingItem]:
    """Return the training items of a study in their order, as this person stands with them.

    Args:
        session: Any session.
        study_id: The study.
        person_id: An expert who takes part in it.

    Raises:
        AccessError: The person is unknown, revoked or no expert.
        StudyError: The study is unknown, or the person takes no part in it.
    """
    require(session, person_id, "expert")
    study = get_study(session, study_id)
    if session.get(MemberRow, (study.id, person_id)) is None:
        raise StudyError("you take no part in this study")
    tries = tries_of(session, study.id, person_id)
    return [
        TrainingItem(
            item_id=row.item_id,
            passed=bool(tries.get(row.item_id)) and all(tries[row.item_id][-1].values()),
            tries=len(tries.get(row.item_id, [])),
        )
        for row in _rows(session, study.id)
    ]


def check_training(
    session: Session,
    study_id: str,
    person_id: str,
    item_id: str,
    answers: dict[str, Any],
    now: float | None = None,
) -> Feedback:
    """Compare a try with what is right, log it, and say why.

    Args:
        session: A writing session.
        study_id: The study.
        person_id: An expert who takes part in it.
        item_id: A training item of the study.
        answers: A whole form, as for a submission.
        now: UTC seconds; the clock by default.

    Returns:
        Feedback by question; nothing is stored as a label.

    Raises:
        AnswerError: The protocol does not take the answers.
        AccessError: The person is unknown, revoked or no expert.
        StudyError: The study is not open, the person takes no part in it, the item is no training
            item of it, or no try is left.
    """
    at = clock(now)
    require(session, person_id, "expert")
    study = open_study(session, study_id)
    member = lock_member(session, study.id, person_id)
    if stopped_in_training(session, study, person_id):
        raise StudyError("no try is left at this practice item; talk to your coordinator")
    row = session.get(StudyItemRow, (study.id, item_id))
    if row is None or row.purpose != "training" or row.gold is None:
        raise StudyError("this is no training item of the study")
    gold = Gold.model_validate(row.gold)
    protocol = PROTOCOLS[study.protocol]
    record = item_record(session, item_id)
    clean = check_answers(form_of(protocol, record), conditions_of(protocol, record), answers)
    questions = tuple(
        QuestionFeedback(
            question=question.name,
            right=clean.get(question.name) == gold.answers[question.name],
            given=str(clean.get(question.name, "")),
            expected=gold.answers[question.name],
        )
        for question in protocol.questions
        if question.name in gold.answers
    )
    right = {one.question: one.right for one in questions}
    log(
        session,
        TRIED,
        person_id=person_id,
        study_id=study.id,
        subject=item_id,
        details={"right": right},
        at=at,
    )
    session.flush()
    tries = tries_of(session, study.id, person_id)
    rows = _rows(session, study.id)
    left = sum(one.item_id not in tries for one in rows)
    results = [ok for one in rows if one.item_id in tries for ok in tries[one.item_id][-1].values()]
    if (
        member.trained_at is None
        and left == 0
        and sum(results) >= protocol.training_pass_share * len(results)
    ):
        member.trained_at = at
        log(session, "training_passed", person_id=person_id, study_id=study.id, at=at)
        session.flush()
    return Feedback(
        questions=questions,
        explanation=gold.explanation,
        passed=all(right.values()),
        trained=member.trained_at is not None,
        left=left,
        stopped=stopped_in_training(session, study, person_id),
        tries_left=tries_left(session, study, person_id, item_id),
    )


def acknowledge_guidelines(
    session: Session, study_id: str, person_id: str, now: float | None = None
) -> None:
    """Note that an expert says they have read the guidelines; later calls change nothing.

    Args:
        session: A writing session.
        study_id: The study.
        person_id: An expert who takes part in it.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The person is unknown, revoked or no expert.
        StudyError: The study is not open, or the person takes no part in it.
    """
    at = clock(now)
    require(session, person_id, "expert")
    study = open_study(session, study_id)
    member = lock_member(session, study.id, person_id)
    if member.guidelines_at is None:
        member.guidelines_at = at
        session.flush()
        log(session, "guidelines_read", person_id=person_id, study_id=study.id, at=at)


class Standing(Frozen):
    """How far a person is on the way to labelling."""

    guidelines_read: bool
    """Whether they said that they have read the guidelines."""
    trained: bool
    """Whether training is passed, or there is none."""
    stopped: bool
    """Whether they ran out of tries in training and have to wait for a coordinator."""


def standing(session: Session, study_id: str, person_id: str) -> Standing:
    """Return how far a person is on the way to labelling.

    Raises:
        AccessError: The person is unknown or revoked.
        StudyError: The study is unknown, or the person takes no part in it.
    """
    person = require(session, person_id)
    study = get_study(session, study_id)
    member = session.get(MemberRow, (study.id, person_id))
    if member is None:
        raise StudyError("you take no part in this study")
    trained = member.trained_at is not None or person.simulated or not _rows(session, study.id)
    return Standing(
        guidelines_read=member.guidelines_at is not None,
        trained=trained,
        stopped=not trained and stopped_in_training(session, study, person_id),
    )


def _rows(session: Session, study_id: str) -> list[StudyItemRow]:
    query = (
        select(StudyItemRow)
        .where(StudyItemRow.study_id == study_id, StudyItemRow.purpose == "training")
        .order_by(StudyItemRow.position)
    )
    return list(session.scalars(query))
