"""Tries at training items: counted from the event log, and limited where a study says so."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.people import require_actor
from audit.records import Study, StudyError, clock, get_study
from benchmarks.items import Frozen
from store.events import Event, list_events, log
from store.tables import MemberRow

TRIED = "training_tried"
"""Action under which a try is logged; its details hold which questions were right."""
ALLOWED = "training_allowed"
"""Action under which a coordinator gives someone the tries anew; its subject is the person."""


class TrainingTries(Frozen):
    """How an expert's tries at the training items went."""

    tried: int
    """Training items tried at least once."""
    first: int
    """Of these, right in every judged question at the first try."""
    tries: int
    """Tries at all of them."""


def tries_of(session: Session, study_id: str, person_id: str) -> dict[str, list[dict[str, bool]]]:
    """Return each try of a person by training item, oldest first: which questions were right."""
    events = list_events(session, study_id=study_id, person_id=person_id, actions=(TRIED,))
    return _by_item(events)


def out_of_tries(session: Session, study: Study, person_id: str) -> bool:
    """Return whether a person has used up the tries at a training item and not passed it.

    Tries before a coordinator allowed them on again do not count.

    Args:
        session: Any session.
        study: A study; without a limit nobody is ever out of tries.
        person_id: An expert who has not passed training.
    """
    limit = study.config.training_tries
    if limit is None:
        return False
    recent = _recent(session, study, person_id)
    return any(len(tries) >= limit and not all(tries[-1].values()) for tries in recent.values())


def tries_left(session: Session, study: Study, person_id: str, item_id: str) -> int | None:
    """Return how often a person may still try a training item; None without a limit.

    Args:
        session: Any session.
        study: A study.
        person_id: An expert who takes part in it.
        item_id: A training item of it.
    """
    limit = study.config.training_tries
    if limit is None:
        return None
    return max(limit - len(_recent(session, study, person_id).get(item_id, [])), 0)


def _recent(session: Session, study: Study, person_id: str) -> dict[str, list[dict[str, bool]]]:
    """Return the tries of a person by item since a coordinator last allowed them on."""
    allowed = list_events(session, study_id=study.id, actions=(ALLOWED,))
    since = max((one.id for one in allowed if one.subject == person_id), default=0)
    events = list_events(session, study_id=study.id, person_id=person_id, actions=(TRIED,))
    return _by_item([one for one in events if one.id > since])


def stopped_in_training(session: Session, study: Study, person_id: str) -> bool:
    """Return whether someone may not go on until a coordinator allows it.

    Raises:
        StudyError: The person takes no part in the study.
    """
    member = session.get(MemberRow, (study.id, person_id))
    if member is None:
        raise StudyError("you take no part in this study")
    return member.trained_at is None and out_of_tries(session, study, person_id)


def allow_tries(
    session: Session,
    study_id: str,
    person_id: str,
    actor: str | None = None,
    now: float | None = None,
) -> None:
    """Let someone who ran out of tries train on, with as many tries as at the start.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        person_id: An expert who takes part in it.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: There is no such study, or the person is not stopped in its training.
    """
    require_actor(session, actor, "coordinator")
    study = get_study(session, study_id)
    member = session.get(MemberRow, (study.id, person_id))
    if member is None or not stopped_in_training(session, study, person_id):
        raise StudyError(f"this person has not run out of tries in study {study.name!r}")
    log(session, ALLOWED, person_id=actor, study_id=study.id, subject=person_id, at=clock(now))
    session.flush()


def training_tries(session: Session, study_id: str) -> dict[str, TrainingTries]:
    """Return how the tries of each expert of a study went, by code.

    Args:
        session: Any session.
        study_id: Id of a study.
    """
    events: dict[str, list[Event]] = {}
    for event in list_events(session, study_id=study_id, actions=(TRIED,)):
        events.setdefault(str(event.person_id), []).append(event)
    members = session.scalars(select(MemberRow).where(MemberRow.study_id == study_id))
    found = {}
    for member in members:
        by_item = _by_item(events.get(member.person_id, []))
        found[member.code] = TrainingTries(
            tried=len(by_item),
            first=sum(all(tries[0].values()) for tries in by_item.values()),
            tries=sum(map(len, by_item.values())),
        )
    return found


def _by_item(events: list[Event]) -> dict[str, list[dict[str, bool]]]:
    found: dict[str, list[dict[str, bool]]] = {}
    for event in events:
        found.setdefault(str(event.subject), []).append(event.details["right"])
    return found
