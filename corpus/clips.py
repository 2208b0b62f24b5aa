"""Clips and captions as the workspace keeps them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from benchmarks.items import Frozen

Granularity = Literal["concise", "standard", "fine"]


class EventLabel(Frozen):
    """One action in a clip, where the source or the generator knows it."""

    action: str
    """Lemma of the action, e.g. ``walk``, ``kick``."""
    start: float
    """Start in seconds from the first frame."""
    end: float
    """End in seconds from the first frame."""
    side: Literal["left", "right", "both"] | None = None
    """Side of the body that acts, the person's own left or right; null where none."""
    direction: str | None = None
    """Direction of travel or turn in the person's frame, e.g. ``left``, ``forward``."""


class Clip(Frozen):
    """A motion the workspace knows. The motion itself stays in the user's file."""

    id: str
    """Stable id from the source, e.g. ``humanml3d:012314``."""
    corpus: str
    """Name of the corpus, e.g. ``humanml3d``, ``synthetic``, ``amass``, ``bvh``."""
    path: str
    """File the motion is read from; absolute, or relative to the workspace."""
    format: str
    """Reader that takes the file, a key of ``corpus.formats.registry.FORMATS``."""
    content_hash: str
    """SHA-256 of the motion's canonical positions, fps and skeleton (``Motion.content_hash``)."""
    frames: int
    """Number of frames, at least 2."""
    fps: float
    """Frames per second."""
    duration: float
    """Seconds: frames / fps."""
    joints: int
    """Number of joints."""
    skeleton: str
    """Name of the skeleton, a key of ``corpus.skeletons.SKELETONS`` or ``custom``."""
    split: str | None = None
    """``train``, ``val`` or ``test`` where the source says so."""
    span: tuple[float, float] | None = None
    """Seconds cut out of the file; null for the whole file."""
    licence: str = ""
    """Licence of the motion, as the source states it."""
    events: tuple[EventLabel, ...] = ()
    """True labels, where known (demo corpus)."""
    assumptions: tuple[str, ...] = ()
    """What the reader assumed: up-axis, unit, fps, mapping."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options the reader needs to read the file again (fps, up, unit)."""


class Caption(Frozen):
    """One caption of a clip."""

    id: str
    """Clip id and running number, e.g. ``humanml3d:012314#0``."""
    clip_id: str
    """The clip it describes."""
    text: str
    """The caption as the source has it, Unicode NFC, no control characters."""
    span: tuple[float, float] | None = None
    """Seconds of the clip it describes; null for the whole clip."""
    granularity: Granularity | None = None
    """MRBench granularity, where there is one."""
