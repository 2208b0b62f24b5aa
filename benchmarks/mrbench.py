"""MRBench: one motion under three captions of growing detail, in a taxonomy of categories."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from benchmarks.items import Frozen

Granularity = Literal["concise", "standard", "fine"]
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)
"""From least to most detail (MRBench, Multi-granular Text Expansion)."""


class CaptionSet(Frozen):
    """A motion with its captions and category, as its reviewers judge it."""

    clip_id: str = Field(min_length=1)
    """Clip of the motion."""
    source: str = ""
    """Where the motion comes from (motion capture, in-the-wild …); never shown."""
    category: tuple[str, ...] = Field(min_length=1, max_length=3)
    """Path in the taxonomy: coarse, middle, fine (7, 33 and 118 of them in the paper)."""
    concise: str = Field(min_length=1)
    """The principal motion (9.2 words on average in the paper)."""
    standard: str = Field(min_length=1)
    """The usual amount of detail (16.5 words)."""
    fine: str = Field(min_length=1)
    """Body parts and their course in time (43.6 words)."""
