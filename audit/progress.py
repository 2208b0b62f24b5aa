"""How far a study is: counts by expert code and stratum, without telling who answered what.

The same counts come from the tables and from the event log alone; that they are equal is tested.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.protocols.registry import PROTOCOLS
from audit.ratings import code_order, counted_labels
from audit.records import Study, clock, get_study
from benchmarks.items import Frozen
from store.events import list_events
from store.tables import (
    AssignmentRow,
    DecisionRow,
    ItemRow,
    MemberRow,
    PersonRow,
    StudyItemRow,
)


class ExpertProgress(Frozen):
    """One expert, by code."""

    code: str
    """Anonymous code in the study."""
    done: int
    """Ratings that count."""
    surplus: int
    """Answers that came after the item had its ratings."""
    held: int
    """Items held at this moment."""
    remaining: int
    """Items they could still be given."""
    guidelines_read: bool
    """Whether they said that they have read the guidelines."""
    trained: bool
    """Whether they passed training."""
    simulated: bool
    """Whether a program answers in their place."""
    active: bool
    """False once revoked."""

    @property
    def stage(self) -> str:
        """Where they are, in words.

        Whoever was given an item is past training, or the study has none.
        """
        if not self.active:
            return "access revoked"
        if self.simulated:
            return "program"
        if not self.guidelines_read:
            return "has not started"
        given = self.done + self.surplus + self.held
        if not self.trained and not given:
            return "in training"
        return "labelling" if self.held or self.remaining else "finished"


class StratumProgress(Frozen):
    """One value of one stratum, e.g. axis = mirror_reflection."""

    stratum: str
    """Name of the stratum."""
    value: str
    """Its value."""
    items: int
    """Items in the study."""
    complete: int
    """Items that have all their ratings."""
    ratings: int
    """Ratings that count."""


class Progress(Frozen):
    """How far a study is."""

    study_id: str
    """The study."""
    name: str
    """Its name."""
    state: str
    """``draft``, ``open`` or ``closed``."""
    items: int
    """Items in the study, training aside."""
    complete: int
    """Items that have all their ratings."""
    ratings: int
    """Ratings that count."""
    ratings_wanted: int
    """Items times ratings per item."""
    held: int
    """Items held at this moment, summed over experts."""
    surplus: int
    """Answers that count nowhere."""
    simulated_share: float | None
    """Share of counted ratings given by programs, 0 to 1; null when there are none."""
    experts: tuple[ExpertProgress, ...]
    """By code."""
    strata: tuple[StratumProgress, ...]
    """By stratum and value."""
    outcomes: dict[str, int]
    """Decided items by outcome."""
    checks: dict[str, dict[str, int]]
    """Counted answers by question and value, summed over experts."""


class _Part(NamedTuple):
    person_id: str
    item_id: str
    state: str
    lease_until: float


class _Member(NamedTuple):
    code: str
    guidelines_read: bool
    trained: bool


def progress(session: Session, study_id: str, now: float | None = None) -> Progress:
    """Count from the tables.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        now: UTC seconds at which leases are looked at; the clock by default.

    Raises:
        StudyError: There is no such study.
    """
    study = get_study(session, study_id)
    members = {
        row.person_id: _Member(row.code, row.guidelines_at is not None, row.trained_at is not None)
        for row in session.scalars(select(MemberRow).where(MemberRow.study_id == study.id))
    }
    parts = [
        _Part(row.person_id, row.item_id, row.state, row.lease_until)
        for row in session.scalars(select(AssignmentRow).where(AssignmentRow.study_id == study.id))
    ]
    decided = select(DecisionRow.outcome).where(DecisionRow.study_id == study.id)
    outcomes = Counter(session.scalars(decided))
    return _build(session, study, members, parts, outcomes, study.state, clock(now))


def progress_from_log(session: Session, study_id: str, now: float | None = None) -> Progress:
    """Count from the event log alone; items and people are looked up by id.

    Args:
        session: Any session.
        study_id: Id or name of the study.
        now: UTC seconds at which leases are looked at; the clock by default.

    Returns:
        What :func:`progress` returns, if the log is whole.

    Raises:
        StudyError: There is no such study.
    """
    study = get_study(session, study_id)
    members: dict[str, _Member] = {}
    parts: dict[str, _Part] = {}
    outcomes: Counter[str] = Counter()
    state = "draft"
    revoked = list_events(session, actions=("person_revoked",))
    events = list_events(session, study_id=study.id) + revoked
    for event in sorted(events, key=lambda event: event.id):
        subject, person, details = event.subject or "", event.person_id or "", event.details
        match event.action:
            case "study_launched":
                state = "open"
            case "study_closed":
                state = "closed"
            case "member_added":
                members[subject] = _Member(details["code"], False, False)
            case "guidelines_read":
                members[person] = members[person]._replace(guidelines_read=True)
            case "training_passed":
                members[person] = members[person]._replace(trained=True)
            case "assignment_claimed":
                parts[subject] = _Part(person, details["item"], "held", details["lease_until"])
            case "assignment_opened" | "draft_saved" | "lease_expired" | "lease_reclaimed":
                parts[subject] = parts[subject]._replace(lease_until=details["lease_until"])
            case "label_submitted":
                parts[subject] = parts[subject]._replace(state=details["state"])
            case "person_revoked":
                for key, part in parts.items():
                    if part.person_id == subject and part.state == "held":
                        parts[key] = part._replace(lease_until=0.0)
            case "item_decided":
                outcomes[details["outcome"]] += 1
    return _build(session, study, members, list(parts.values()), outcomes, state, clock(now))


def _build(
    session: Session,
    study: Study,
    members: dict[str, _Member],
    parts: list[_Part],
    outcomes: Counter[str],
    state: str,
    now: float,
) -> Progress:
    work = (
        select(ItemRow.id, ItemRow.record)
        .join(StudyItemRow, StudyItemRow.item_id == ItemRow.id)
        .where(StudyItemRow.study_id == study.id, StudyItemRow.purpose == "work")
    )
    strata = {item_id: record["stratum"] for item_id, record in session.execute(work)}
    wanted = study.config.ratings_per_item
    done = Counter(part.item_id for part in parts if part.state == "done")
    live = [part for part in parts if part.state == "held" and part.lease_until > now]
    taken = done + Counter(part.item_id for part in live)
    full = {item_id for item_id in strata if taken[item_id] >= wanted}
    people = {
        row.id: row
        for row in session.scalars(select(PersonRow).where(PersonRow.id.in_(list(members))))
    }
    experts = []
    for person_id, member in members.items():
        own = [part for part in parts if part.person_id == person_id]
        person = people[person_id]
        seen = {part.item_id for part in own}
        experts.append(
            ExpertProgress(
                code=member.code,
                done=sum(part.state == "done" for part in own),
                surplus=sum(part.state == "surplus" for part in own),
                held=sum(part.person_id == person_id for part in live),
                remaining=len(strata.keys() - full - seen) if person.active else 0,
                guidelines_read=member.guidelines_read,
                trained=member.trained,
                simulated=person.simulated,
                active=person.active,
            )
        )
    ratings = sum(done.values())
    simulated = sum(part.state == "done" and people[part.person_id].simulated for part in parts)
    return Progress(
        study_id=study.id,
        name=study.name,
        state=state,
        items=len(strata),
        complete=sum(done[item_id] >= wanted for item_id in strata),
        ratings=ratings,
        ratings_wanted=wanted * len(strata),
        held=len(live),
        surplus=sum(part.state == "surplus" for part in parts),
        simulated_share=simulated / ratings if ratings else None,
        experts=tuple(sorted(experts, key=lambda expert: code_order(expert.code))),
        strata=_strata(strata, done, wanted),
        outcomes=dict(sorted(outcomes.items())),
        checks=_checks(session, study),
    )


def _strata(
    strata: dict[str, dict[str, str]], done: Counter[str], wanted: int
) -> tuple[StratumProgress, ...]:
    groups: dict[tuple[str, str], list[str]] = {}
    for item_id, stratum in strata.items():
        for pair in stratum.items():
            groups.setdefault(pair, []).append(item_id)
    return tuple(
        StratumProgress(
            stratum=name,
            value=value,
            items=len(ids),
            complete=sum(done[item_id] >= wanted for item_id in ids),
            ratings=sum(done[item_id] for item_id in ids),
        )
        for (name, value), ids in sorted(groups.items())
    )


def _checks(session: Session, study: Study) -> dict[str, dict[str, int]]:
    answers = [label.answers for label, _code, _record in counted_labels(session, study.id)]
    counts = {}
    for question in PROTOCOLS[study.protocol].questions:
        if question.agreement and question.kind in ("choice", "likert", "verdict"):
            count = Counter(one[question.name] for one in answers if question.name in one)
            counts[question.name] = {value: count[value] for value in question.domain}
    return counts
