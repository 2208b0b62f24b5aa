"""Training and attention items of a study: what is right about them, how they get into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.answers import AnswerError, check_answers
from audit.people import require_actor
from audit.protocol import Protocol
from audit.protocols.registry import PROTOCOLS
from audit.records import StudyError, conditions_of, draft_study
from audit.shown import form_of
from benchmarks.items import Frozen, Item
from store.events import log
from store.items import add_items
from store.tables import StudyItemRow


class Gold(Frozen):
    """What is right about a training item, and why."""

    answers: dict[str, str] = Field(min_length=1)
    """Expected answers by question; questions left out are not judged."""
    explanation: str
    """Shown after the answer to a training item, one or two sentences."""


def add_training(
    session: Session,
    study_id: str,
    entries: Sequence[tuple[Item, Gold]],
    actor: str | None = None,
    now: float | None = None,
) -> None:
    """Add training items to a study that was not launched yet.

    Args:
        session: A writing session.
        study_id: The study.
        entries: Items with what is right about them. Items that the workspace does not have yet
            are added to it; they stay ``drafted`` and never become work in any study.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The study was launched, an item is in it already or is work in another
            study, or the expected answers are not answers of the protocol.
    """
    _add(session, study_id, entries, "training", actor, now)


def add_attention(
    session: Session,
    study_id: str,
    entries: Sequence[tuple[Item, Gold]],
    actor: str | None = None,
    now: float | None = None,
) -> None:
    """Add attention items: mixed in with the others, their answers known, never part of the data.

    Arguments and errors as :func:`add_training`; the explanation is not shown to anybody but the
    coordinator.
    """
    _add(session, study_id, entries, "attention", actor, now)


def _add(
    session: Session,
    study_id: str,
    entries: Sequence[tuple[Item, Gold]],
    purpose: Literal["training", "attention"],
    actor: str | None,
    now: float | None,
) -> None:
    require_actor(session, actor, "coordinator")
    row = draft_study(session, study_id)
    protocol = PROTOCOLS[row.protocol]
    last = session.scalar(
        select(func.max(StudyItemRow.position)).where(StudyItemRow.study_id == row.id)
    )
    position = 0 if last is None else last + 1
    for item, gold in entries:
        _check_gold(protocol, item, gold)
        add_items(session, [item.model_copy(update={"state": "drafted"})])
        used = select(StudyItemRow).where(StudyItemRow.item_id == item.id)
        for other in session.scalars(used):
            if other.study_id == row.id:
                raise StudyError(f"item {item.id} is in study {row.name!r} already")
            if other.purpose == "work":
                raise StudyError(f"item {item.id} is judged in a study; it cannot be {purpose}")
        session.add(
            StudyItemRow(
                study_id=row.id,
                item_id=item.id,
                purpose=purpose,
                position=position,
                gold=gold.model_dump(mode="json"),
                media_key=None,
                group_key=None,
                withdrawn_at=None,
                reserved_for=None,
            )
        )
        position += 1
    session.flush()
    details = {"items": [item.id for item, _gold in entries]}
    log(session, f"{purpose}_added", person_id=actor, study_id=row.id, details=details, at=now)


def _check_gold(protocol: Protocol, item: Item, gold: Gold) -> None:
    if item.benchmark != protocol.benchmark:
        raise StudyError(f"item {item.id} is of {item.benchmark}; {protocol.name} takes another")
    if protocol.kinds and item.kind not in protocol.kinds:
        raise StudyError(
            f"item {item.id} is of kind {item.kind!r}; {protocol.name} takes {list(protocol.kinds)}"
        )
    record = item.model_dump(mode="json")
    conditions = conditions_of(protocol, record)
    form = form_of(protocol, record)
    lenient = form.model_copy(
        update={
            "questions": tuple(
                question.model_copy(update={"required": False}) for question in form.questions
            )
        }
    )
    try:
        kept = check_answers(lenient, conditions, gold.answers)
    except AnswerError as error:
        raise StudyError(f"training item {item.id}: {error}") from error
    for name in gold.answers:
        if name not in kept:
            raise StudyError(f"training item {item.id}: {name!r} is not asked of it")
