"""What experts disagree on, and how a coordinator settles it, without knowing who said what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.adjudication import Outcome, Verdict, record_decision
from audit.people import require_actor
from audit.protocol import Protocol, Question
from audit.protocols.registry import PROTOCOLS
from audit.ratings import counted_labels
from audit.records import Study, StudyError, as_study, clock, get_study, locked_study
from benchmarks.items import Frozen
from store.events import log
from store.tables import DecisionRow, ItemRow, StudyItemRow


class Dispute(Frozen):
    """An item of a study, with how far its raters are apart."""

    item_id: str
    """The item."""
    stratum: dict[str, str]
    """Its strata."""
    state: str
    """Its state, e.g. ``in_review``."""
    ratings: int
    """Ratings that count."""
    wanted: int
    """Ratings wanted."""
    disagreement: float | None = Field(ge=0.0, le=1.0)
    """Mean over questions of the mean distance between two raters (0 the same, 1 as far apart as
    can be; steps apart over steps possible on ordered answers); null below two ratings."""
    votes: dict[str, dict[str, int]]
    """Number of each answer, by question."""
    outcome: str | None
    """What was decided in this study; null while nothing was."""


def disputes(session: Session, study_id: str, actor: str | None = None) -> list[Dispute]:
    """Return the items of a study, the most disputed first; votes are counts, without codes.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        actor: Coordinator who asks; ``None`` at the command line.

    Returns:
        Items that have any rating, by falling disagreement, then by id.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: There is no such study.
    """
    require_actor(session, actor, "coordinator")
    study = get_study(session, study_id)
    protocol = PROTOCOLS[study.protocol]
    answers: dict[str, list[dict[str, Any]]] = {}
    for label, _code, _record in counted_labels(session, study.id):
        answers.setdefault(label.item_id, []).append(label.answers)
    query = select(DecisionRow.item_id, DecisionRow.outcome).where(DecisionRow.study_id == study.id)
    outcomes = {item_id: outcome for item_id, outcome in session.execute(query)}
    found = []
    for row in session.scalars(select(ItemRow).where(ItemRow.id.in_(list(answers)))):
        given = answers[row.id]
        found.append(
            Dispute(
                item_id=row.id,
                stratum=row.record["stratum"],
                state=row.state,
                ratings=len(given),
                wanted=study.config.ratings_per_item,
                disagreement=disagreement(protocol, given),
                votes=votes(protocol, given),
                outcome=outcomes.get(row.id),
            )
        )
    return sorted(found, key=lambda one: (-(one.disagreement or 0.0), one.item_id))


def votes(protocol: Protocol, answers: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Count each answer, by question with single answers; questions nobody was asked are left out.

    Args:
        protocol: The protocol.
        answers: Answers of each rater.
    """
    counts = {}
    for question in _compared(protocol):
        count = Counter(str(one[question.name]) for one in answers if question.name in one)
        if count:
            values = question.domain or tuple(sorted(count))
            counts[question.name] = {value: count[value] for value in values}
    return counts


def disagreement(protocol: Protocol, answers: Sequence[dict[str, Any]]) -> float | None:
    """Return how far raters of one item are apart.

    Args:
        protocol: Its single-answer questions that agreement is reported on count equally,
            confidence aside: being unsure is no dispute.
        answers: Answers of each rater.

    Returns:
        0 to 1; ``None`` when no question has two answers.
    """
    means = []
    for question in _compared(protocol):
        given = [str(one[question.name]) for one in answers if question.name in one]
        pairs = [_distance(question, *pair) for pair in combinations(given, 2)]
        if pairs and question.name != "confidence":
            means.append(sum(pairs) / len(pairs))
    return sum(means) / len(means) if means else None


def settle(
    session: Session,
    study_id: str,
    item_id: str,
    outcome: Outcome,
    reason: str,
    actor: str | None = None,
    now: float | None = None,
) -> None:
    """Decide an item in place of the rule, with a reason; open or closed study.

    An answer that is still on its way is kept and does not count. ``revise`` sends the item to
    joint editing.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        item_id: An undecided item of it.
        outcome: ``accepted``, ``rejected`` or ``revise``.
        reason: Why, in the coordinator's words.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The study was not launched, the item is not judged in it, was withdrawn or is
            decided, the outcome is unknown, or there is no reason.
    """
    require_actor(session, actor, "coordinator")
    row = locked_study(session, study_id)
    if row.state == "draft":
        raise StudyError(f"study {row.name!r} has not started yet")
    if outcome not in ("accepted", "rejected", "revise"):
        raise StudyError(f"expected accepted, rejected or revise, got {outcome!r}")
    words = reason.strip()
    if not words or len(words) > 2000:
        raise StudyError(f"expected a reason of 1 to 2000 characters, got {len(words)}")
    judged_item(session, as_study(row), item_id)
    item = session.get(ItemRow, item_id)
    if item is None or item.state != "in_review":
        raise StudyError(f"item {item_id} is {item.state if item else 'unknown'} already")
    protocol = PROTOCOLS[row.protocol]
    given = [
        label.answers
        for label, _code, _record in counted_labels(session, row.id)
        if label.item_id == item_id
    ]
    verdict = Verdict(
        outcome=outcome, rule="coordinator", votes=votes(protocol, given), reason=words
    )
    record_decision(session, as_study(row), item_id, verdict, actor, clock(now))


def withdraw_item(
    session: Session,
    study_id: str,
    item_id: str,
    reason: str,
    actor: str | None = None,
    now: float | None = None,
) -> None:
    """Take an item out of an open study: nobody is given it any more, and its ratings do not count.

    Whoever has it open may still send their answer; it is kept, and they are told. The item itself
    stays in review, free for another study.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        item_id: An item of it, attention items included.
        reason: Why; it goes into the log.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The study is not open, the item is not judged in it, was withdrawn before or
            is decided, or there is no reason.
    """
    require_actor(session, actor, "coordinator")
    study = locked_study(session, study_id)
    if study.state != "open":
        raise StudyError(f"study {study.name!r} is not open but {study.state}")
    if not reason.strip():
        raise StudyError("expected a reason for withdrawing the item, got none")
    row = judged_item(session, as_study(study), item_id)
    decided = select(DecisionRow.outcome).where(
        DecisionRow.study_id == study.id, DecisionRow.item_id == item_id
    )
    outcome = session.scalars(decided).one_or_none()
    if outcome is not None:
        raise StudyError(f"item {item_id} is decided already: {outcome}")
    at = clock(now)
    row.withdrawn_at = at
    session.flush()
    details = {"reason": reason.strip()[:1000]}
    log(
        session,
        "item_withdrawn",
        person_id=actor,
        study_id=study.id,
        subject=item_id,
        details=details,
        at=at,
    )


def judged_item(session: Session, study: Study, item_id: str) -> StudyItemRow:
    """Return an item's place in a study in which it is judged.

    Raises:
        StudyError: The item is not in the study, a training item, or was withdrawn.
    """
    row = session.get(StudyItemRow, (study.id, item_id))
    if row is None or row.purpose == "training":
        raise StudyError(f"item {item_id} is not judged in study {study.name!r}")
    if row.withdrawn_at is not None:
        raise StudyError(f"item {item_id} was withdrawn from study {study.name!r}")
    return row


def _compared(protocol: Protocol) -> list[Question]:
    return [
        question
        for question in protocol.questions
        if question.agreement and question.kind in ("choice", "likert", "verdict")
    ]


def _distance(question: Question, one: str, other: str) -> float:
    if question.level == "nominal" or len(question.domain) < 2:
        return float(one != other)
    steps = abs(question.domain.index(one) - question.domain.index(other))
    return steps / (len(question.domain) - 1)
