"""What a study is, and how one is read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.protocol import Protocol
from audit.protocols.registry import PROTOCOLS
from benchmarks.items import Frozen
from corpus.problems import InputError
from store.tables import ItemRow, MemberRow, StudyRow


class StudyError(InputError):
    """A study is unknown, or not in a state in which this can be done."""


class PausedError(StudyError):
    """Nobody is given new items at the moment; what someone holds may still be answered."""


class StudyConfig(Frozen):
    """How a study is run. Nothing of it changes after launch."""

    name: str = Field(min_length=1, max_length=120)
    """Unique name."""
    protocol: str
    """Key of ``audit.protocols.registry.PROTOCOLS``."""
    item_ids: tuple[str, ...]
    """Items to be judged, in the order in which they are stored; each once."""
    ratings_per_item: int = Field(default=3, ge=1)
    """Ratings wanted of each item."""
    seed: int = 0
    """Seed of the order of items and captions."""
    lease_minutes: float = Field(default=30.0, gt=0)
    """How long an item is kept for an expert who does nothing."""
    decision: str | None = None
    """Decision rule in place of the protocol's, one of ``audit.adjudication.rules_for``."""
    label: str | None = None
    """One of the protocol's ``study_labels``, e.g. ``V1``."""
    deadline: float | None = Field(default=None, gt=0)
    """Planned end, UTC seconds; the one in force is ``Study.deadline``."""
    repeats: int = Field(default=0, ge=0)
    """Items each expert is shown a second time, to see how they agree with themselves."""
    repeat_gap: int = Field(default=10, ge=1)
    """Least number of other items an expert answers before one comes back."""
    training_tries: int | None = Field(default=None, ge=1)
    """Most tries at a training item; after it an expert stops until a coordinator allows them on.
    Null for as many as they like."""
    allow_3d: bool = False
    """Whether experts may also see each clip in 3D; the video stays what is judged."""
    facing_arrow: bool = False
    """Whether the clips shown have an arrow on the floor that tells where the person faces."""
    legend: bool = False
    """Whether they say along the upper edge which side is the viewer's left and the person's."""


class Study(Frozen):
    """A study."""

    id: str
    """Random id."""
    name: str
    """Unique name."""
    protocol: str
    """Key of ``audit.protocols.registry.PROTOCOLS``."""
    protocol_version: int
    """Version of the protocol the study was made with."""
    state: Literal["draft", "open", "closed"]
    """``draft`` until launched, ``closed`` when no label is taken any more."""
    config: StudyConfig
    """Its configuration."""
    created_at: float
    """UTC seconds."""
    launched_at: float | None
    """UTC seconds; null before launch."""
    closed_at: float | None
    """UTC seconds; null until closed."""
    paused_at: float | None = None
    """UTC seconds since which nobody is given new items; null while the study runs."""
    deadline: float | None = None
    """UTC seconds after which nobody is given new items; null for none."""
    unblinded_at: float | None = None
    """UTC seconds since which coordinators may see who said what; null while nobody may."""

    @property
    def rule(self) -> str:
        """Decision rule in force."""
        return self.config.decision or PROTOCOLS[self.protocol].decision

    @property
    def tells_codes(self) -> bool:
        """Whether pages may show codes beside answers and exact counts.

        Not while it runs: then names and codes can be paired by watching who joins and leaves.
        """
        return self.state == "closed" or self.unblinded_at is not None

    @property
    def offers_3d(self) -> bool:
        """Whether the 3D view is offered: the study and its protocol both allow it."""
        return self.config.allow_3d and PROTOCOLS[self.protocol].allows_3d


def get_study(session: Session, id_or_name: str) -> Study:
    """Return a study by id or name.

    Raises:
        StudyError: There is none.
    """
    return as_study(study_row(session, id_or_name))


def study_row(session: Session, id_or_name: str) -> StudyRow:
    """Return the row of a study by id or name.

    Raises:
        StudyError: There is none.
    """
    row = session.get(StudyRow, id_or_name)
    if row is None:
        row = session.scalars(select(StudyRow).where(StudyRow.name == id_or_name)).one_or_none()
    if row is None:
        raise StudyError(f"unknown study {id_or_name!r}")
    return row


def as_study(row: StudyRow) -> Study:
    """Turn a row into the record."""
    return Study(
        id=row.id,
        name=row.name,
        protocol=row.protocol,
        protocol_version=row.protocol_version,
        state=row.state,
        config=StudyConfig.model_validate(row.config),
        created_at=row.created_at,
        launched_at=row.launched_at,
        closed_at=row.closed_at,
        paused_at=row.paused_at,
        deadline=row.deadline,
        unblinded_at=row.unblinded_at,
    )


def open_study(session: Session, study_id: str) -> Study:
    """Return a study that takes labels, and keep it from being closed until the commit.

    Raises:
        StudyError: It is unknown, not launched or closed.
    """
    row = session.get(StudyRow, study_id, with_for_update={"read": True}, populate_existing=True)
    if row is None:
        raise StudyError(f"unknown study {study_id!r}")
    if row.state == "draft":
        raise StudyError(f"study {row.name!r} has not started yet")
    if row.state == "closed":
        raise StudyError(f"study {row.name!r} is closed; it takes no more answers")
    return as_study(row)


def locked_study(session: Session, id_or_name: str) -> StudyRow:
    """Return the row of a study, locked until the commit.

    Raises:
        StudyError: There is none.
    """
    row = study_row(session, id_or_name)
    session.refresh(row, with_for_update=True)
    return row


def draft_study(session: Session, id_or_name: str) -> StudyRow:
    """Return the row of a study that may still be changed, locked until the commit.

    Raises:
        StudyError: There is none, or it was launched.
    """
    row = locked_study(session, id_or_name)
    if row.state != "draft":
        raise StudyError(f"study {row.name!r} was launched already; it does not change any more")
    return row


def check_running(study: Study, now: float) -> None:
    """Check that an open study gives out items.

    Raises:
        PausedError: It is paused.
        StudyError: Its deadline has passed.
    """
    if study.paused_at is not None:
        raise PausedError(f"study {study.name!r} is paused; your answers are kept, come back later")
    if study.deadline is not None and now >= study.deadline:
        raise StudyError(f"the deadline of study {study.name!r} has passed; thank you")


def lock_member(session: Session, study_id: str, person_id: str) -> MemberRow:
    """Return a person's part in a study; what they do there waits for one another.

    Raises:
        StudyError: The person takes no part in it, or does not any more.
    """
    row = session.get(
        MemberRow, (study_id, person_id), with_for_update=True, populate_existing=True
    )
    if row is None:
        raise StudyError("you take no part in this study")
    if row.retired_at is not None:
        raise StudyError("your part in this study has ended; all you did is kept")
    return row


def conditions_of(protocol: Protocol, record: Mapping[str, Any]) -> dict[str, str]:
    """Return the strata of an item that decide which questions are asked, and nothing else.

    Args:
        protocol: The protocol.
        record: ``Item`` as plain JSON, with ``stratum`` and ``payload``.
    """
    names = {
        question.shown_when.stratum
        for question in protocol.questions
        if question.shown_when is not None and question.shown_when.stratum is not None
    }
    known = {**record["payload"], **record["stratum"]}
    return {name: str(known[name]) for name in sorted(names) if name in known}


def item_record(session: Session, item_id: str) -> dict[str, Any]:
    """Return an item as plain JSON.

    Raises:
        StudyError: No item has this id.
    """
    row = session.get(ItemRow, item_id)
    if row is None:
        raise StudyError(f"unknown item {item_id!r}")
    return row.record


def clock(now: float | None) -> float:
    """Return ``now``, or the clock's UTC seconds when it is ``None``."""
    return time.time() if now is None else now
