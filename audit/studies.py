"""Studies: made and found. Their life is in ``lifecycle``, their experts are in ``members``."""

from __future__ import annotations

import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.adjudication import rules_for
from audit.gold import Gold, add_attention, add_training
from audit.lifecycle import (
    REVIEWABLE,
    close,
    launch,
    move_deadline,
    pause,
    resume,
)
from audit.members import add_member, retire, roster
from audit.people import require, require_actor
from audit.progress import ExpertProgress, Progress, StratumProgress, progress
from audit.protocols.registry import PROTOCOLS
from audit.records import (
    Study,
    StudyConfig,
    StudyError,
    as_study,
    clock,
    get_study,
)
from audit.shown import KINDS
from benchmarks.items import Benchmark, Item
from store.events import log
from store.items import get_item, list_items
from store.tables import ItemRow, MemberRow, StudyItemRow, StudyRow

__all__ = [
    "ExpertProgress",
    "Gold",
    "Progress",
    "StratumProgress",
    "Study",
    "StudyConfig",
    "StudyError",
    "add_attention",
    "add_member",
    "add_training",
    "close",
    "create_study",
    "free_items",
    "get_study",
    "launch",
    "list_studies",
    "move_deadline",
    "pause",
    "progress",
    "resume",
    "retire",
    "roster",
    "studies_of",
    "study_clips",
]


def create_study(
    session: Session, config: StudyConfig, actor: str | None = None, now: float | None = None
) -> Study:
    """Make a study in state ``draft``.

    Args:
        session: A writing session.
        config: What is asked of which items, how often.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        The study.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The name is taken or not printable, the protocol, label or rule is unknown,
            the deadline has passed, the protocol has no 3D view, or an item is missing, named
            twice, of another benchmark or kind, decided, or a training or attention item.
    """
    require_actor(session, actor, "coordinator")
    at = clock(now)
    name = config.name.strip()
    if not name or not name.isprintable():
        raise StudyError("expected a study name of printable characters")
    if session.scalars(select(StudyRow).where(StudyRow.name == name)).first() is not None:
        raise StudyError(f"a study is called {name!r} already")
    if config.protocol not in PROTOCOLS:
        raise StudyError(f"unknown protocol {config.protocol!r}; there are {sorted(PROTOCOLS)}")
    protocol = PROTOCOLS[config.protocol]
    if config.decision is not None and config.decision not in rules_for(protocol):
        raise StudyError(
            f"unknown decision rule {config.decision!r}; "
            f"rules of {protocol.name} are {list(rules_for(protocol))}"
        )
    if config.label is not None and config.label not in protocol.study_labels:
        raise StudyError(
            f"unknown label {config.label!r}; "
            f"labels of {protocol.name} are {list(protocol.study_labels) or 'none'}"
        )
    if config.deadline is not None and config.deadline <= at:
        raise StudyError("expected a deadline in the future")
    if (config.facing_arrow or config.legend) and not protocol.shows_clip:
        raise StudyError(f"{protocol.name} shows no clip that could carry an arrow or a legend")
    if config.allow_3d and not protocol.allows_3d:
        raise StudyError(f"{protocol.name} is judged on the video alone; it has no 3D view")
    _check_items(session, config)
    row = StudyRow(
        id=secrets.token_hex(8),
        name=name,
        protocol=protocol.name,
        protocol_version=protocol.version,
        state="draft",
        config=config.model_copy(update={"name": name}).model_dump(mode="json"),
        created_at=at,
        launched_at=None,
        closed_at=None,
        paused_at=None,
        deadline=config.deadline,
        unblinded_at=None,
    )
    session.add(row)
    session.flush()
    for position, item_id in enumerate(config.item_ids):
        session.add(
            StudyItemRow(
                study_id=row.id,
                item_id=item_id,
                purpose="work",
                position=position,
                gold=None,
                media_key=None,
                group_key=None,
                withdrawn_at=None,
                reserved_for=None,
            )
        )
    session.flush()
    details = {"items": len(config.item_ids), "protocol": protocol.name}
    log(session, "study_created", person_id=actor, study_id=row.id, details=details, at=at)
    return as_study(row)


def study_clips(session: Session, study_id: str) -> set[str]:
    """Return the ids of the clips that a study shows, those of its training items included.

    Args:
        session: Any session.
        study_id: Id or name of the study.

    Raises:
        StudyError: The study is unknown.
    """
    study = get_study(session, study_id)
    query = (
        select(ItemRow)
        .join(StudyItemRow, StudyItemRow.item_id == ItemRow.id)
        .where(StudyItemRow.study_id == study.id)
    )
    payloads = [item.record["payload"] for item in session.scalars(query)]
    return {str(payload["clip_id"]) for payload in payloads if "clip_id" in payload}


def list_studies(session: Session) -> list[Study]:
    """Return all studies in the order they were made."""
    query = select(StudyRow).order_by(StudyRow.created_at, StudyRow.id)
    return [as_study(row) for row in session.scalars(query)]


def studies_of(session: Session, person_id: str) -> list[Study]:
    """Return the studies a person may see: experts those they take part in, once launched.

    Args:
        session: Any session.
        person_id: The person.

    Returns:
        In the order they were made; all of them for coordinators and analysts.

    Raises:
        AccessError: The person is unknown or revoked.
    """
    person = require(session, person_id)
    studies = list_studies(session)
    if person.role != "expert":
        return studies
    mine = set(session.scalars(select(MemberRow.study_id).where(MemberRow.person_id == person_id)))
    return [study for study in studies if study.id in mine and study.state != "draft"]


def free_items(session: Session, benchmark: Benchmark, kinds: tuple[str, ...] = ()) -> list[Item]:
    """Return the items that a new study may take, by id.

    Args:
        session: Any session.
        benchmark: Their benchmark.
        kinds: Only these kinds; all of them by default.

    Returns:
        Undecided items that are in no other draft or open study (unless withdrawn there), and
        whose answers nobody was told or tested on.
    """
    taken = set(
        session.scalars(
            select(StudyItemRow.item_id)
            .join(StudyRow, StudyRow.id == StudyItemRow.study_id)
            .where(
                ((StudyRow.state != "closed") & StudyItemRow.withdrawn_at.is_(None))
                | (StudyItemRow.purpose != "work")
            )
        )
    )
    return [
        item
        for state in REVIEWABLE
        for item in list_items(session, benchmark, state)
        if item.id not in taken and (not kinds or item.kind in kinds)
    ]


def _check_items(session: Session, config: StudyConfig) -> None:
    protocol = PROTOCOLS[config.protocol]
    if not config.item_ids:
        raise StudyError("expected at least one item, got none")
    if len(set(config.item_ids)) != len(config.item_ids):
        raise StudyError("an item is named twice")
    purposes = select(StudyItemRow.item_id, StudyItemRow.purpose).where(
        StudyItemRow.purpose != "work"
    )
    known = {item_id: purpose for item_id, purpose in session.execute(purposes)}
    for item_id in config.item_ids:
        item = get_item(session, item_id)
        if item.benchmark != protocol.benchmark:
            raise StudyError(
                f"item {item_id} is of {item.benchmark}; {protocol.name} takes {protocol.benchmark}"
            )
        if protocol.kinds and item.kind not in protocol.kinds:
            raise StudyError(
                f"item {item_id} is of kind {item.kind!r}; "
                f"{protocol.name} takes {list(protocol.kinds)}"
            )
        if item.kind not in KINDS:
            raise StudyError(f"item {item_id} is of unknown kind {item.kind!r}")
        if item.state not in REVIEWABLE:
            raise StudyError(f"item {item_id} is {item.state} already")
        if item_id in known:
            raise StudyError(f"item {item_id} is a {known[item_id]} item; its answers are known")
