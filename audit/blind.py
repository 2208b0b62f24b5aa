"""What an expert may see of an item. Blindness is a type: what is not here cannot leak."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy.orm import Session

from audit.access import grant_media, shown_in_3d
from audit.people import AccessError, require
from audit.protocols.registry import PROTOCOLS
from audit.records import (
    Study,
    StudyError,
    conditions_of,
    get_study,
    item_record,
)
from benchmarks.items import Frozen
from benchmarks.stride import TARGET_PROPERTY
from store.clips import get_media
from store.tables import AssignmentRow, MemberRow, StudyItemRow

CAPTION_FIELDS = ("caption", "perturbed")
"""Fields of ``benchmarks.stride.Triplet`` that are shown side by side."""


class BlindCaption(Frozen):
    """A caption under its letter in this person's order."""

    letter: str
    """``A``, ``B`` …"""
    text: str
    """The caption."""


class BlindStimulus(Frozen):
    """A clip to play."""

    token: str
    """Opaque, per person and study; ``/clip/<token>`` serves it to its owner only."""
    fps: float
    """Frames per second of the rendered clip."""
    frames: int
    """Number of frames of the rendered clip."""
    has_3d: bool = False
    """Whether the study offers the same clip in 3D, at ``/clip/<token>/motion``."""


class BlindItem(Frozen):
    """All that a view may draw of an item: no gold, model, source, parent, other labels."""

    assignment_id: str
    """Random id of this person's assignment."""
    stimuli: tuple[BlindStimulus, ...]
    """Clips, in this person's order."""
    captions: tuple[BlindCaption, ...] = ()
    """Captions, in this person's order."""
    prompt: str = ""
    """The question or prompt that belongs to the item, where the protocol shows one."""
    target: str = ""
    """The property the item is about, in words (``benchmarks.stride.TARGET_PROPERTY``)."""
    conditions: dict[str, str] = {}
    """Strata that decide which questions are shown, and nothing else (e.g. ``axis``)."""
    training: bool = False
    """Whether this is a training item."""


def blind_item(session: Session, assignment_id: str, person_id: str) -> BlindItem:
    """Return what an expert may see of the item they were given.

    Args:
        session: A writing session: media tokens are made on the first call.
        assignment_id: An assignment of this person.
        person_id: The expert.

    Returns:
        The item in this person's order; the same on every call.

    Raises:
        AccessError: The assignment is not this person's, or they were revoked.
        StudyError: The item has no rendered clip.
    """
    require(session, person_id, "expert")
    row = session.get(AssignmentRow, assignment_id)
    if row is None or row.person_id != person_id:
        raise AccessError("no such item for you")
    study = get_study(session, row.study_id)
    return _blind(session, study, row.item_id, person_id, row.id, training=False)


def blind_training(session: Session, study_id: str, person_id: str, item_id: str) -> BlindItem:
    """Return what an expert may see of a training item before they answer it.

    Its ``assignment_id`` is an opaque handle that belongs to no assignment.

    Args:
        session: A writing session: media tokens are made on the first call.
        study_id: The study.
        person_id: An expert who takes part in it.
        item_id: A training item of the study.

    Raises:
        AccessError: The person is revoked or takes no part in the study.
        StudyError: The item is no training item of the study, or has no rendered clip.
    """
    require(session, person_id, "expert")
    study = get_study(session, study_id)
    if session.get(MemberRow, (study.id, person_id)) is None:
        raise AccessError("you take no part in this study")
    row = session.get(StudyItemRow, (study.id, item_id))
    if row is None or row.purpose != "training":
        raise StudyError("this is no training item of the study")
    handle = "training-" + _hash(study.config.seed, person_id, item_id, "handle")[:24]
    return _blind(session, study, item_id, person_id, handle, training=True)


def caption_order(seed: int, person_id: str, item_id: str) -> tuple[str, ...]:
    """Return the captions' fields in a person's order; half of all pairs are swapped.

    Args:
        seed: Seed of the study.
        person_id: The expert.
        item_id: The item.

    Returns:
        ``CAPTION_FIELDS``, or the two the other way round.
    """
    swapped = int(_hash(seed, person_id, item_id, "captions")[:8], 16) % 2 == 1
    return CAPTION_FIELDS[::-1] if swapped else CAPTION_FIELDS


def _blind(
    session: Session, study: Study, item_id: str, person_id: str, handle: str, *, training: bool
) -> BlindItem:
    protocol = PROTOCOLS[study.protocol]
    record = item_record(session, item_id)
    payload: dict[str, Any] = record["payload"]
    captions = tuple(
        BlindCaption(letter=letter, text=str(payload[field]))
        for letter, field in zip(
            "AB", caption_order(study.config.seed, person_id, item_id), strict=True
        )
    )
    return BlindItem(
        assignment_id=handle,
        stimuli=(_stimulus(session, study, item_id, person_id),),
        captions=captions if "captions" in protocol.shows else (),
        target=TARGET_PROPERTY[payload["axis"]],
        conditions=conditions_of(protocol, record),
        training=training,
    )


def _stimulus(session: Session, study: Study, item_id: str, person_id: str) -> BlindStimulus:
    row = session.get(StudyItemRow, (study.id, item_id))
    if row is None or row.media_key is None:
        raise StudyError("this item has no rendered clip; tell your coordinator")
    media = get_media(session, row.media_key)
    token = grant_media(session, person_id, study.id, media.key)
    return BlindStimulus(
        token=token, fps=media.fps, frames=media.frames, has_3d=shown_in_3d(study, media)
    )


def _hash(seed: int, person_id: str, item_id: str, purpose: str) -> str:
    text = f"{purpose}\x1f{seed}\x1f{person_id}\x1f{item_id}"
    return hashlib.sha256(text.encode()).hexdigest()
