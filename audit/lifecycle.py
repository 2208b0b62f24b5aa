"""The life of a study: launched, paused and resumed, closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.adjudication import CloseReport, apply
from audit.members import deal_codes
from audit.people import require_actor
from audit.protocol import Protocol
from audit.protocols.registry import PROTOCOLS
from audit.records import (
    Study,
    StudyError,
    as_study,
    clock,
    draft_study,
    locked_study,
)
from audit.shown import shown_of
from audit.stimuli import clip_video
from benchmarks.items import ItemState, content_hash
from store.clips import get_media
from store.events import log
from store.items import set_state
from store.tables import ItemRow, StudyItemRow, StudyRow

REVIEWABLE: tuple[ItemState, ...] = ("drafted", "in_review")
"""States of items that a study may judge."""


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
        StudyError: It was launched before, has no items, an item that is shown with a video has
            no clip rendered with the study's marks, was decided meanwhile or is in review in
            another open study; or the clips were rendered in different ways.
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
            .where(
                StudyRow.state == "open",
                StudyItemRow.purpose == "work",
                StudyItemRow.withdrawn_at.is_(None),
            )
        )
    )
    protocol, config = PROTOCOLS[row.protocol], as_study(row).config
    videos = {
        item.id: clip_video(session, shown_of(item.record).clip_id, config)
        if protocol.shows_clip
        else None
        for _entry, item in entries
    }
    missing = [item_id for item_id, video in videos.items() if video is None]
    if protocol.shows_clip and missing:
        raise StudyError(
            f"{len(missing)} of {len(entries)} items have no rendered clip (first: {missing[0]}); "
            "run `motionjury render all --study`"
        )
    if len({content_hash(get_media(session, key).settings) for key in videos.values() if key}) > 1:
        raise StudyError(
            "the clips of this study were rendered in different ways; draw them all alike with "
            "`motionjury render all --study`"
        )
    for entry, item in entries:
        if entry.purpose == "work" and item.id in elsewhere:
            raise StudyError(f"item {item.id} is in review in another open study")
        if entry.purpose == "work" and item.state not in REVIEWABLE:
            raise StudyError(f"item {item.id} is {item.state} already")
    for entry, item in entries:
        entry.media_key = videos[item.id]
        entry.group_key = group_key(protocol, item.record)
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

    The experts' codes are dealt anew (``audit.members.deal_codes``).

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
    deal_codes(session, row.id, actor, at)
    details = {"outcomes": report.outcomes, "incomplete": len(report.incomplete)}
    log(session, "study_closed", person_id=actor, study_id=row.id, details=details, at=at)
    return report


def pause(
    session: Session, study_id: str, actor: str | None = None, now: float | None = None
) -> Study:
    """Give nobody new items for a while; what someone holds may still be saved and submitted.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        The study.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The study is unknown, not open or paused already.
    """
    row = _running(session, study_id, actor)
    if row.paused_at is not None:
        raise StudyError(f"study {row.name!r} is paused already")
    at = clock(now)
    row.paused_at = at
    session.flush()
    log(session, "study_paused", person_id=actor, study_id=row.id, at=at)
    return as_study(row)


def resume(
    session: Session, study_id: str, actor: str | None = None, now: float | None = None
) -> Study:
    """Go on after a pause; arguments and errors as :func:`pause`."""
    row = _running(session, study_id, actor)
    if row.paused_at is None:
        raise StudyError(f"study {row.name!r} is not paused")
    row.paused_at = None
    session.flush()
    log(session, "study_resumed", person_id=actor, study_id=row.id, at=clock(now))
    return as_study(row)


def move_deadline(
    session: Session,
    study_id: str,
    deadline: float | None,
    actor: str | None = None,
    now: float | None = None,
) -> Study:
    """Set another deadline; the planned one stays in the study's configuration.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        deadline: UTC seconds; ``None`` for none.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        The study.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The study is unknown or not open, or the deadline has passed already.
    """
    row = _running(session, study_id, actor)
    at = clock(now)
    if deadline is not None and deadline <= at:
        raise StudyError("expected a deadline in the future")
    row.deadline = deadline
    session.flush()
    details = {"deadline": deadline}
    log(session, "deadline_moved", person_id=actor, study_id=row.id, details=details, at=at)
    return as_study(row)


def group_key(protocol: Protocol, record: Mapping[str, Any]) -> str | None:
    """Return what an item shares with those it is compared with, by the protocol's ``group_by``."""
    if protocol.group_by is None or protocol.group_by not in record["payload"]:
        return None
    return str(record["payload"][protocol.group_by])


def _running(session: Session, study_id: str, actor: str | None) -> StudyRow:
    require_actor(session, actor, "coordinator")
    row = locked_study(session, study_id)
    if row.state != "open":
        raise StudyError(f"study {row.name!r} is not open but {row.state}")
    return row
