"""Studies: made, given members and training, launched, closed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.access import require, require_actor
from audit.adjudication import RULES, CloseReport, apply
from audit.answers import AnswerError, check_answers
from audit.progress import ExpertProgress, Progress, StratumProgress, progress
from audit.protocols.registry import PROTOCOLS
from audit.records import (
    Study,
    StudyConfig,
    StudyError,
    as_study,
    clock,
    conditions_of,
    get_study,
    study_row,
)
from audit.training import Gold
from benchmarks.items import Item
from store.clips import media_for_clip
from store.events import log
from store.items import add_items, get_item, set_state
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
    "get_study",
    "launch",
    "list_studies",
    "progress",
    "studies_of",
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
        StudyError: The name is taken or not printable, the protocol or rule is unknown, or an
            item is missing, named twice, of another benchmark, decided or a training item.
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
    _check_items(session, config)
    protocol = PROTOCOLS[config.protocol]
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
    require_actor(session, actor, "coordinator")
    row = _draft_row(session, study_id)
    protocol = PROTOCOLS[row.protocol]
    last = session.scalar(
        select(func.max(StudyItemRow.position)).where(StudyItemRow.study_id == row.id)
    )
    position = 0 if last is None else last + 1
    for item, gold in entries:
        _check_gold(protocol.name, item, gold)
        add_items(session, [item.model_copy(update={"state": "drafted"})])
        used = select(StudyItemRow).where(StudyItemRow.item_id == item.id)
        for other in session.scalars(used):
            if other.study_id == row.id:
                raise StudyError(f"item {item.id} is in study {row.name!r} already")
            if other.purpose == "work":
                raise StudyError(f"item {item.id} is judged in a study; it cannot be training")
        session.add(
            StudyItemRow(
                study_id=row.id,
                item_id=item.id,
                purpose="training",
                position=position,
                gold=gold.model_dump(mode="json"),
                media_key=None,
            )
        )
        position += 1
    session.flush()
    details = {"items": [item.id for item, _gold in entries]}
    log(session, "training_added", person_id=actor, study_id=row.id, details=details, at=now)


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
    row = _locked(session, study_id)
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
    row = _draft_row(session, study_id)
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
    missing = []
    for entry, item in entries:
        entry.media_key = _clip_video(session, str(item.record["payload"]["clip_id"]))
        if entry.media_key is None:
            missing.append(item.id)
        if entry.purpose == "training":
            continue
        if item.id in elsewhere:
            raise StudyError(f"item {item.id} is in review in another open study")
        if item.state == "drafted":
            set_state(session, item.id, "in_review")
        elif item.state != "in_review":
            raise StudyError(f"item {item.id} is {item.state} already")
    if missing:
        raise StudyError(
            f"{len(missing)} of {len(entries)} items have no rendered clip (first: {missing[0]}); "
            "run `motionjury render all`"
        )
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
    row = _locked(session, study_id)
    if row.state != "open":
        raise StudyError(f"study {row.name!r} is not open but {row.state}")
    at = clock(now)
    report = apply(session, as_study(row), actor, at)
    row.state, row.closed_at = "closed", at
    session.flush()
    details = {"outcomes": report.outcomes, "incomplete": len(report.incomplete)}
    log(session, "study_closed", person_id=actor, study_id=row.id, details=details, at=at)
    return report


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
        if item.state not in ("drafted", "in_review"):
            raise StudyError(f"item {item_id} is {item.state} already")
        if item_id in training:
            raise StudyError(f"item {item_id} is a training item; its answers are known")


def _check_gold(protocol_name: str, item: Item, gold: Gold) -> None:
    protocol = PROTOCOLS[protocol_name]
    if item.benchmark != protocol.benchmark:
        raise StudyError(f"item {item.id} is of {item.benchmark}; {protocol.name} takes another")
    conditions = conditions_of(protocol, item.model_dump(mode="json"))
    lenient = protocol.model_copy(
        update={
            "questions": tuple(
                question.model_copy(update={"required": False}) for question in protocol.questions
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


def _clip_video(session: Session, clip_id: str) -> str | None:
    videos = [media for media in media_for_clip(session, clip_id) if media.file.endswith(".mp4")]
    return videos[0].key if videos else None


def _locked(session: Session, study_id: str) -> StudyRow:
    found = study_row(session, study_id)
    session.refresh(found, with_for_update=True)
    return found


def _draft_row(session: Session, study_id: str) -> StudyRow:
    row = _locked(session, study_id)
    if row.state != "draft":
        raise StudyError(f"study {row.name!r} was launched already; it does not change any more")
    return row
