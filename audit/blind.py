"""What an expert may see of an item. Blindness is a type: what is not here cannot leak."""

from __future__ import annotations

from benchmarks.items import Frozen


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
