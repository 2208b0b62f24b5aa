"""STRIDE: what a triplet is, its axes and the checks people make (STRIDE 2.1, 2.2)."""

from __future__ import annotations

from typing import Literal, get_args

from benchmarks.items import Frozen

StrideAxis = Literal["temporal_order", "mirror_reflection", "action_identity", "random_content"]
AXES: tuple[StrideAxis, ...] = get_args(StrideAxis)
"""All axes; ``random_content`` is the reference, not a structural axis."""
STRUCTURAL_AXES: tuple[StrideAxis, ...] = AXES[:3]
"""The axes whose pairs change one structural property (STRIDE 2.1)."""

TARGET_PROPERTY: dict[StrideAxis, str] = {
    "temporal_order": "the order of the events",
    "mirror_reflection": "left and right",
    "action_identity": "one action",
    "random_content": "the whole caption",
}
"""What the perturbation of each axis changes, in words an expert reads."""


class Triplet(Frozen):
    """A real motion, its caption and a single-property perturbation of it (STRIDE 2.1)."""

    axis: StrideAxis
    """The property that was changed."""
    corpus: str
    """Corpus of the motion, e.g. ``humanml3d``, ``synthetic``."""
    clip_id: str
    """Stable id of the motion clip."""
    caption_id: str
    """Stable id of the ground-truth caption."""
    caption: str
    """The ground-truth caption c."""
    perturbed: str
    """The perturbed caption c'."""
    edit: dict[str, str]
    """What was changed, e.g. ``{"source": "walks", "target": "runs"}``; axis-specific."""
