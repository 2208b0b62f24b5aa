"""Studies: made, given members and training, launched, closed."""

from __future__ import annotations

import secrets

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.adjudication import RULES, CloseReport, apply
from audit.gold import Gold, add_training
from audit.people import require, require_actor
from audit.progress import ExpertProgress, Progress, StratumProgress, progress
from audit.protocols.registry import PROTOCOLS
from audit.records import (
    Study,
    StudyConfig,
    StudyError,
    as_study,
    clock,
    draft_study,
    get_study,
    locked_study,
)
from benchmarks.items import Benchmark, Item, ItemState
from store.clips import media_for_clip
from store.events import log
from store.items import get_item, list_items, set_state
from store.tables import ItemRow, MemberRow, StudyItemRow, StudyRow

__all__ = [
    "ExpertProgress",
    "Gold",
    "Progress",
    "StratumProgress",
    "Study",
    "StudyConfig",
    "StudyError",
    "add_member",
    "add_training",
    "close",
    "create_study",
    "free_items",
    "get_study",
    "launch",
    "list_studies",
    "progress",
    "studies_of",
    "study_clips",
]

_REVIEWABLE: tuple[ItemState, ...] = ("drafted", "in_review")


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
        StudyError: The name is taken or not printable, the protocol or rule is unknown, the
            protocol has no 3D view, or an item is missing, named twice, of another benchmark,
            decided or a training item.
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
    if config.decision is not None and config.decision not in (*RULES, "none"):
        raise StudyError(
            f"unknown decision rule {config.decision!r}; rules are {[*sorted(RULES), 'none']}"
        )
    protocol = PROTOCOLS[config.protocol]
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
            )
        )
    session.flush()
    details = {"items": len(config.item_ids), "protocol": protocol.name}
    log(session, "study_created", person_id=actor, study_id=row.id, details=details, at=at)
    return as_study(row)


def add_member(
    session: Session,
    study_id: str,
    person_id: str,
    actor: str | None = None,
    now: float | None = None,
) -> str:
    """Let an expert take part in a study, at any time before it is closed.

    Args:
        session: A writing session.
        study_id: The study.
        person_id: The expert.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        Their anonymous code, ``A1``, ``A2`` …; the same when they are in it already.

    Raises:
        AccessError: The actor is no coordinator, or the person is unknown, revoked or no expert.
        StudyError: The study is unknown or closed.
    """
    require_actor(session, actor, "coordinator")
    require(session, person_id, "expert")
    row = locked_study(session, study_id)
    if row.state == "closed":
        raise StudyError(f"study {row.name!r} is closed")
    member = session.get(MemberRow, (row.id, person_id))
    if member is not None:
        return member.code
    taken = session.scalar(
        select(func.count()).select_from(MemberRow).where(MemberRow.study_id == row.id)
    )
    code = f"A{(taken or 0) + 1}"
    session.add(
        MemberRow(
            study_id=row.id,
            person_id=person_id,
            code=code,
            joined_at=clock(now),
            guidelines_at=None,
            trained_at=None,
        )
    )
    session.flush()
    log(
        session,
        "member_added",
        person_id=actor,
        study_id=row.id,
        subject=person_id,
        details={"code": code},
        at=now,
    )
    return code


def launch(
    session: Session, study_id: str, actor: str | None = None, now: float | None = None
) -> Study:
    """Open a study: its configuration is frozen, its items go into review, each with its clip.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        The open study.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: It was launched before, has no items, an item has no rendered clip, was
            decided meanwhile or is in review in another open study.
    """
    require_actor(session, actor, "coordinator")
    row = draft_study(session, study_id)
    at = clock(now)
    entries = session.execute(
        select(StudyItemRow, ItemRow)
        .join(ItemRow, ItemRow.id == StudyItemRow.item_id)
        .where(StudyItemRow.study_id == row.id)
        .order_by(StudyItemRow.position)
    ).all()
    if not any(entry.purpose == "work" for entry, _item in entries):
        raise StudyError(f"study {row.name!r} has no items")
    elsewhere = set(
        session.scalars(
            select(StudyItemRow.item_id)
            .join(StudyRow, StudyRow.id == StudyItemRow.study_id)
            .where(StudyRow.state == "open", StudyItemRow.purpose == "work")
        )
    )
    videos = {
        item.id: _clip_video(session, str(item.record["payload"]["clip_id"]))
        for _entry, item in entries
    }
    missing = [item_id for item_id, video in videos.items() if video is None]
    if missing:
        raise StudyError(
            f"{len(missing)} of {len(entries)} items have no rendered clip (first: {missing[0]}); "
            "run `motionjury render all`"
        )
    for entry, item in entries:
        if entry.purpose == "work" and item.id in elsewhere:
            raise StudyError(f"item {item.id} is in review in another open study")
        if entry.purpose == "work" and item.state not in _REVIEWABLE:
            raise StudyError(f"item {item.id} is {item.state} already")
    for entry, item in entries:
        entry.media_key = videos[item.id]
        if entry.purpose == "work" and item.state == "drafted":
            set_state(session, item.id, "in_review")
    row.state, row.launched_at = "open", at
    session.flush()
    log(session, "study_launched", person_id=actor, study_id=row.id, at=at)
    return as_study(row)


def close(
    session: Session, study_id: str, actor: str | None = None, now: float | None = None
) -> CloseReport:
    """Close a study: no more labels; every item that has its ratings is decided by the rule.

    Items that lack ratings stay in review and are reported; a new study may take them up.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        What was decided and what was not, with reasons.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: It is not open.
    """
    require_actor(session, actor, "coordinator")
    row = locked_study(session, study_id)
    if row.state != "open":
        raise StudyError(f"study {row.name!r} is not open but {row.state}")
    at = clock(now)
    report = apply(session, as_study(row), actor, at)
    row.state, row.closed_at = "closed", at
    session.flush()
    details = {"outcomes": report.outcomes, "incomplete": len(report.incomplete)}
    log(session, "study_closed", person_id=actor, study_id=row.id, details=details, at=at)
    return report


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


def free_items(session: Session, benchmark: Benchmark) -> list[Item]:
    """Return the items that a new study may take, by id.

    Args:
        session: Any session.
        benchmark: Their benchmark.

    Returns:
        Undecided items that are in no other draft or open study and train nobody.
    """
    taken = set(
        session.scalars(
            select(StudyItemRow.item_id)
            .join(StudyRow, StudyRow.id == StudyItemRow.study_id)
            .where((StudyRow.state != "closed") | (StudyItemRow.purpose == "training"))
        )
    )
    return [
        item
        for state in _REVIEWABLE
        for item in list_items(session, benchmark, state)
        if item.id not in taken
    ]


def _check_items(session: Session, config: StudyConfig) -> None:
    protocol = PROTOCOLS[config.protocol]
    if not config.item_ids:
        raise StudyError("expected at least one item, got none")
    if len(set(config.item_ids)) != len(config.item_ids):
        raise StudyError("an item is named twice")
    training = set(
        session.scalars(select(StudyItemRow.item_id).where(StudyItemRow.purpose == "training"))
    )
    for item_id in config.item_ids:
        item = get_item(session, item_id)
        if item.benchmark != protocol.benchmark:
            raise StudyError(
                f"item {item_id} is of {item.benchmark}; {protocol.name} takes {protocol.benchmark}"
            )
        if item.state not in _REVIEWABLE:
            raise StudyError(f"item {item_id} is {item.state} already")
        if item_id in training:
            raise StudyError(f"item {item_id} is a training item; its answers are known")


def _clip_video(session: Session, clip_id: str) -> str | None:
    videos = [media for media in media_for_clip(session, clip_id) if media.file.endswith(".mp4")]
    return videos[0].key if videos else None
