"""How far a study is: counts by expert code and stratum, without telling who answered what.

The same counts come from the tables and from the event log alone (``audit.replay``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.protocols.registry import PROTOCOLS
from audit.queue import may_judge
from audit.ratings import code_order, counted_labels
from audit.records import Study, clock, get_study
from benchmarks.items import Frozen
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
    retired: bool = False
    """Whether their part in the study has ended."""

    @property
    def stage(self) -> str:
        """Where they are, in words.

        Whoever was given an item is past training, or the study has none.
        """
        if not self.active:
            return "access revoked"
        if self.retired:
            return "retired"
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
    paused: bool
    """Whether nobody is given new items."""
    items: int
    """Items to be rated, withdrawn ones aside."""
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


class Part(NamedTuple):
    """An assignment."""

    person_id: str
    item_id: str
    state: str
    lease_until: float
    purpose: str


class Member(NamedTuple):
    """An expert of the study."""

    code: str
    guidelines_read: bool
    trained: bool
    retired: bool = False


@dataclass
class Tally:
    """Who did what, from the tables or from the log, before it is counted."""

    members: dict[str, Member]
    """By id of the person."""
    parts: list[Part]
    """All assignments."""
    decided: dict[str, str]
    """Outcome by item."""
    withdrawn: set[str]
    """Items that are no longer part of the study."""
    state: str = "draft"
    """State of the study."""
    paused: bool = False
    """Whether nobody is given new items."""


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
        row.person_id: Member(
            row.code,
            row.guidelines_at is not None,
            row.trained_at is not None,
            row.retired_at is not None,
        )
        for row in session.scalars(select(MemberRow).where(MemberRow.study_id == study.id))
    }
    parts = [
        Part(row.person_id, row.item_id, row.state, row.lease_until, row.purpose)
        for row in session.scalars(select(AssignmentRow).where(AssignmentRow.study_id == study.id))
    ]
    query = select(DecisionRow.item_id, DecisionRow.outcome).where(DecisionRow.study_id == study.id)
    decided = {item_id: outcome for item_id, outcome in session.execute(query)}
    withdrawn = select(StudyItemRow.item_id).where(
        StudyItemRow.study_id == study.id, StudyItemRow.withdrawn_at.is_not(None)
    )
    tally = Tally(members, parts, decided, set(session.scalars(withdrawn)))
    tally.state, tally.paused = study.state, study.paused_at is not None
    return build(session, study, tally, clock(now))


def build(session: Session, study: Study, tally: Tally, now: float) -> Progress:
    """Count what a study's tally tells; items and people are looked up by id."""
    work = (
        select(ItemRow.id, ItemRow.record, StudyItemRow.reserved_for)
        .join(StudyItemRow, StudyItemRow.item_id == ItemRow.id)
        .where(StudyItemRow.study_id == study.id, StudyItemRow.purpose == "work")
    )
    strata, reserved = {}, {}
    for item_id, record, only in session.execute(work):
        if item_id not in tally.withdrawn:
            strata[item_id] = record["stratum"]
            reserved[item_id] = only
    parts = [part for part in tally.parts if part.purpose == "work" and part.item_id in strata]
    members = tally.members
    wanted = study.config.ratings_per_item
    done = Counter(part.item_id for part in parts if part.state == "done")
    live = [part for part in parts if part.state == "held" and part.lease_until > now]
    taken = done + Counter(part.item_id for part in live)
    full = {item_id for item_id in strata if taken[item_id] >= wanted}.union(tally.decided)
    people = {
        row.id: row
        for row in session.scalars(select(PersonRow).where(PersonRow.id.in_(list(members))))
    }
    active = {one for one, member in members.items() if people[one].active and not member.retired}
    experts = []
    for person_id, member in members.items():
        own = [part for part in parts if part.person_id == person_id]
        person = people[person_id]
        seen = {part.item_id for part in own}
        left = [
            item_id
            for item_id in strata.keys() - full - seen
            if may_judge(person_id, reserved[item_id], active)
        ]
        experts.append(
            ExpertProgress(
                code=member.code,
                done=sum(part.state == "done" for part in own),
                surplus=sum(part.state == "surplus" for part in own),
                held=sum(part.person_id == person_id for part in live),
                remaining=len(left) if person_id in active else 0,
                guidelines_read=member.guidelines_read,
                trained=member.trained,
                simulated=person.simulated,
                active=person.active,
                retired=member.retired,
            )
        )
    ratings = sum(done.values())
    simulated = sum(part.state == "done" and people[part.person_id].simulated for part in parts)
    return Progress(
        study_id=study.id,
        name=study.name,
        state=tally.state,
        paused=tally.paused,
        items=len(strata),
        complete=sum(done[item_id] >= wanted for item_id in strata),
        ratings=ratings,
        ratings_wanted=wanted * len(strata),
        held=len(live),
        surplus=sum(part.state == "surplus" for part in parts),
        simulated_share=simulated / ratings if ratings else None,
        experts=tuple(sorted(experts, key=lambda expert: code_order(expert.code))),
        strata=_strata(strata, done, wanted),
        outcomes=dict(sorted(Counter(tally.decided.values()).items())),
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
            values = sorted(count) if question.options_from else question.domain
            counts[question.name] = {value: count[value] for value in values}
    return counts
