"""What an expert may see of an item. Blindness is a type: what is not here cannot leak."""

from __future__ import annotations

import hashlib
from string import ascii_uppercase

from sqlalchemy.orm import Session

from audit.access import grant_media, shown_in_3d
from audit.people import AccessError, require
from audit.protocol import Option, Protocol, Question
from audit.protocols.registry import PROTOCOLS
from audit.records import (
    Study,
    StudyError,
    conditions_of,
    get_study,
    item_record,
)
from audit.shown import Shown, shown_of
from audit.stimuli import clip_video
from benchmarks.items import Frozen
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


class BlindOption(Frozen):
    """An answer under its letter in this person's order."""

    letter: str
    """``A``, ``B`` …"""
    text: str
    """The answer; also the value that is stored."""


class BlindFact(Frozen):
    """Something the expert must know to judge the item."""

    name: str
    """What it is, e.g. ``Category``."""
    text: str
    """Its value."""


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
    """Clips, in this person's order; none where the protocol shows no video."""
    captions: tuple[BlindCaption, ...] = ()
    """Captions; in this person's order where they are compared."""
    prompt: str = ""
    """The question or prompt that belongs to the item, where the protocol shows one."""
    options: tuple[BlindOption, ...] = ()
    """The item's own answers, in this person's order, where the protocol shows or asks them."""
    facts: tuple[BlindFact, ...] = ()
    """What must be known to judge the item, e.g. its category, where the protocol shows it."""
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
    return blind_for(session, study, row.item_id, person_id, row.id)


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
    return blind_for(session, study, item_id, person_id, handle, training=True)


def blind_for(
    session: Session,
    study: Study,
    item_id: str,
    person_id: str,
    handle: str,
    *,
    training: bool = False,
) -> BlindItem:
    """Build what a person may see of an item of a study; whoever calls has checked that they may.

    Args:
        session: A writing session.
        study: The study.
        item_id: One of its items.
        person_id: Whose order and tokens.
        handle: Goes out as ``assignment_id``.
        training: Whether it is a training item.

    Raises:
        StudyError: The item has no rendered clip.
    """
    protocol = PROTOCOLS[study.protocol]
    record = item_record(session, item_id)
    shown = shown_of(record)
    seed, parts = study.config.seed, protocol.shows
    stimuli = (_stimulus(session, study, item_id, person_id),) if protocol.shows_clip else ()
    captions = _captions(shown, seed, person_id, item_id) if "captions" in parts else ()
    options = option_order(shown.options, seed, person_id, item_id)
    asked = any(question.options_from is not None for question in protocol.questions)
    return BlindItem(
        assignment_id=handle,
        stimuli=stimuli,
        captions=tuple(
            BlindCaption(letter=letter, text=text)
            for letter, (_name, text) in zip(ascii_uppercase, captions, strict=False)
        ),
        prompt=shown.prompt if {"question", "prompt"} & set(parts) else "",
        options=tuple(
            BlindOption(letter=letter, text=text)
            for letter, text in zip(ascii_uppercase, options, strict=False)
        )
        if asked or "options" in parts
        else (),
        facts=tuple(BlindFact(name=name, text=text) for name, text in shown.facts)
        if "facts" in parts
        else (),
        target=shown.target,
        conditions=conditions_of(protocol, record),
        training=training,
    )


def form_for(protocol: Protocol, item: BlindItem) -> tuple[Question, ...]:
    """Return the questions of a protocol as this person is asked them about this item.

    Args:
        protocol: The protocol.
        item: The blind item.

    Returns:
        All questions, in order; those with ``options_from`` have the item's own options, in this
        person's order.
    """
    own = tuple(Option(value=one.text, text=one.text) for one in item.options)
    return tuple(
        question.model_copy(update={"options": own}) if question.options_from else question
        for question in protocol.questions
    )


def caption_order(seed: int, person_id: str, item_id: str) -> tuple[str, ...]:
    """Return the captions' fields in a person's order; half of all pairs are swapped.

    Args:
        seed: Seed of the study.
        person_id: The expert.
        item_id: The item.

    Returns:
        ``CAPTION_FIELDS``, or the two the other way round.
    """
    return CAPTION_FIELDS[::-1] if _swapped(seed, person_id, item_id) else CAPTION_FIELDS


def option_order(
    options: tuple[str, ...], seed: int, person_id: str, item_id: str
) -> tuple[str, ...]:
    """Return an item's own options in a person's order."""
    return tuple(
        sorted(options, key=lambda text: _hash(seed, person_id, item_id, f"option {text}"))
    )


def caption_names(shown: Shown, seed: int, person_id: str, item_id: str) -> tuple[str, ...]:
    """Return the captions' fields in a person's order; empty where captions are not compared."""
    if not shown.compared:
        return ()
    return tuple(name for name, _text in _captions(shown, seed, person_id, item_id))


def _captions(shown: Shown, seed: int, person_id: str, item_id: str) -> tuple[tuple[str, str], ...]:
    swapped = shown.compared and _swapped(seed, person_id, item_id)
    return shown.captions[::-1] if swapped else shown.captions


def _swapped(seed: int, person_id: str, item_id: str) -> bool:
    return int(_hash(seed, person_id, item_id, "captions")[:8], 16) % 2 == 1


def _stimulus(session: Session, study: Study, item_id: str, person_id: str) -> BlindStimulus:
    row = session.get(StudyItemRow, (study.id, item_id))
    key = None if row is None else row.media_key
    if key is None and study.state == "draft":
        # Only a preview asks before launch fixes the clip.
        clip_id = shown_of(item_record(session, item_id)).clip_id
        key = clip_video(session, clip_id, study.config)
    if key is None:
        raise StudyError("this item has no rendered clip; tell your coordinator")
    media = get_media(session, key)
    token = grant_media(session, person_id, study.id, media.key)
    return BlindStimulus(
        token=token, fps=media.fps, frames=media.frames, has_3d=shown_in_3d(study, media)
    )


def _hash(seed: int, person_id: str, item_id: str, purpose: str) -> str:
    text = f"{purpose}\x1f{seed}\x1f{person_id}\x1f{item_id}"
    return hashlib.sha256(text.encode()).hexdigest()
