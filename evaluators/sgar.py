"""SGAR (Zhang et al. 2025): MotionPatches with register tokens, the global vector alone.

Its part scores need a language model's text for each body part and are left out, as in MRBench.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.motionpatches import MotionPatches, open_as

if TYPE_CHECKING:
    from evaluators.models import ModelFiles

NAME = "SGAR"
CHAINS: tuple[tuple[int, ...], ...] = (
    (9, 14, 17, 19, 21),
    (9, 13, 16, 18, 20),
    (0, 3, 6, 9, 12, 15),
    (0, 2, 5, 8, 11),
    (0, 1, 4, 7, 10),
)
"""Right arm, left arm, torso, right leg, left leg: not the order of MotionPatches."""
MOTION_HEAD = "motion_projection.0."
"""The head of the global vector; those of the five parts follow it."""


def open_model(files: ModelFiles) -> MotionPatches:
    """Open a released checkpoint; see ``evaluators.registry`` for the files.

    Raises:
        InputError: A file is missing or not what it should be.
    """
    return open_as(files, NAME, CHAINS, MOTION_HEAD)
