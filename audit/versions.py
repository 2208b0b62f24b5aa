"""The new version of an item that experts want revised, and its judging anew.

NextMotionQA 4.2: "revise-flagged items are jointly edited and re-judged". The new version goes to
the same experts in the same study, blind again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.adjudication import decide, rated, record_decision
from audit.answers import plain_text
from audit.disputes import judged_item
from audit.lifecycle import group_key
from audit.people import require_actor
from audit.protocols.registry import PROTOCOLS
from audit.records import Study, StudyError, as_study, clock, conditions_of, locked_study
from audit.shown import kind_of
from benchmarks.items import Item, Provenance, make_item
from store.events import log
from store.items import add_items, get_item, set_state
from store.tables import AssignmentRow, ItemRow, StudyItemRow


def propose_version(
    session: Session,
    study_id: str,
    item_id: str,
    new_payload: Mapping[str, Any],
    reason: str,
    actor: str | None = None,
    now: float | None = None,
) -> Item:
    """Make the new version of an item; the old one goes into state ``revise`` for good.

    In an open study the new version is judged at once, by the experts who judged the old one (by
    anybody where one of them has left). Where the study is closed it is left ``drafted``, free for
    a new study.

    Args:
        session: A writing session.
        study_id: Id or name of the study.
        item_id: An item that experts want revised.
        new_payload: The whole payload, changed.
        reason: What was changed and why.
        actor: Coordinator who does it; ``None`` at the command line.
        now: UTC seconds; the clock by default.

    Returns:
        The new version; its ``parent`` is ``item_id``.

    Raises:
        AccessError: The actor is no coordinator.
        StudyError: The item is not to be revised or has a new version already, the payload is not
            one of its kind, unchanged or shows another clip, or there is no reason.
    """
    require_actor(session, actor, "coordinator")
    row = locked_study(session, study_id)
    study = as_study(row)
    at = clock(now)
    words = plain_text(reason).strip()
    if not words:
        raise StudyError("expected a reason for the new version, got none")
    place = to_revise(session, study, item_id)
    if child_of(session, item_id) is not None:
        raise StudyError(f"item {item_id} has a new version already")
    old = get_item(session, item_id)
    child = _new_version(old, new_payload, words, study.name)
    judges = sorted(judges_of(session, study.id, item_id))
    if old.state == "in_review":
        given = [answers for row, answers in rated(session, study) if row.id == item_id][0]
        conditions = conditions_of(PROTOCOLS[study.protocol], old.model_dump(mode="json"))
        verdict = decide(given, PROTOCOLS[study.protocol], study.rule, conditions)
        record_decision(session, study, item_id, verdict, actor, at)
    add_items(session, [child])
    if study.state == "open":
        last = session.scalar(
            select(func.max(StudyItemRow.position)).where(StudyItemRow.study_id == study.id)
        )
        record = child.model_dump(mode="json")
        session.add(
            StudyItemRow(
                study_id=study.id,
                item_id=child.id,
                purpose="work",
                position=(last or 0) + 1,
                gold=None,
                media_key=place.media_key,
                group_key=group_key(PROTOCOLS[study.protocol], record),
                withdrawn_at=None,
                reserved_for=judges,
            )
        )
        set_state(session, child.id, "in_review")
    session.flush()
    details = {"parent": item_id, "reason": words[:1000]}
    log(
        session,
        "version_made",
        person_id=actor,
        study_id=study.id,
        subject=child.id,
        details=details,
        at=at,
    )
    return get_item(session, child.id)


def _new_version(old: Item, new_payload: Mapping[str, Any], reason: str, study: str) -> Item:
    record = old.model_dump(mode="json")
    try:
        payload: BaseModel = kind_of(record).payload.model_validate(dict(new_payload))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "payload"
        raise StudyError(f"{field}: {first['msg']}") from error
    plain = payload.model_dump(mode="json")
    if plain == old.payload:
        raise StudyError("the new version is the same as the old one")
    if plain.get("clip_id") != old.payload.get("clip_id"):
        raise StudyError("the new version shows another clip; draft a new item instead")
    stratum = {
        name: str(plain[name]) if name in old.payload and name in plain else value
        for name, value in old.stratum.items()
    }
    provenance = Provenance(
        rule="joint-edit/1",
        parameters={"reason": reason, "study": study},
        tool_version=old.provenance.tool_version,
        media=old.provenance.media,
    )
    return make_item(old.benchmark, old.kind, stratum, payload, provenance, parent=old.id)


def to_revise(session: Session, study: Study, item_id: str) -> StudyItemRow:
    """Return the place in a study of an item that is to be revised.

    Raises:
        StudyError: The experts do not want it revised (yet), and nobody settled on it.
    """
    place = judged_item(session, study, item_id)
    for row, given in rated(session, study):
        if row.id == item_id and (row.state == "revise" or wants_revision(study, row, given)):
            return place
    raise StudyError(f"item {item_id} is not to be revised")


def wants_revision(study: Study, row: ItemRow, given: list[dict[str, Any]]) -> bool:
    """Return whether an undecided item has all its ratings and the rule says ``revise``."""
    protocol = PROTOCOLS[study.protocol]
    if row.state != "in_review" or len(given) < study.config.ratings_per_item:
        return False
    if study.rule == "none":
        return False
    conditions = conditions_of(protocol, row.record)
    return decide(given, protocol, study.rule, conditions).outcome == "revise"


def judges_of(session: Session, study_id: str, item_id: str) -> set[str]:
    """Return the ids of those whose ratings of an item count."""
    query = select(AssignmentRow.person_id).where(
        AssignmentRow.study_id == study_id,
        AssignmentRow.item_id == item_id,
        AssignmentRow.purpose == "work",
        AssignmentRow.state == "done",
    )
    return set(session.scalars(query))


def child_of(session: Session, item_id: str) -> str | None:
    """Return the version that revises an item, or ``None``."""
    return session.scalars(select(ItemRow.id).where(ItemRow.parent == item_id).limit(1)).first()
