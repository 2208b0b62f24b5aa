"""A generated motion that people or a language model score, whatever benchmark asks for it."""

from __future__ import annotations

from pydantic import Field

from benchmarks.items import Frozen


class JudgedClip(Frozen):
    """One method's motion for one prompt (NextMotionQA 4.3; T2MBench 4.2.1)."""

    prompt_id: str = Field(min_length=1)
    """Stable id of the prompt; the clips of one prompt are what methods are compared on."""
    prompt: str = Field(min_length=1)
    """The text the motion was made from."""
    method: str = Field(min_length=1)
    """The generator, or ``ground-truth``; never shown to whoever judges."""
    clip_id: str = Field(min_length=1)
    """Clip of the motion."""
