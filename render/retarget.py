"""Joints of any known skeleton as the joints of SMPL that a body is posed by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.motion import Motion
from corpus.skeletons import SMPL22, SMPL24

SAME = (SMPL22.name, SMPL24.name)
"""Skeletons that need no retargeting."""


class BodyJoints(NamedTuple):
    """A motion in SMPL's joints."""

    positions: NDArray[np.float64]
    """(T, 22 or 24, 3) metres."""
    measured: tuple[str, ...]
    """Joints that the source has; the others were placed by proportion."""
    rotations: NDArray[np.float64] | None
    """(T, 22 or 24, 3, 3) local rotations, where the source has them for these joints."""


def body_joints(motion: Motion) -> BodyJoints:
    """Return a motion in SMPL's joints, matched by name: left goes to left.

    Skeletons other than SMPL's are matched by the rules of the BVH reader
    (``corpus.formats.bvh_names``): limbs by name, the spine along the chain from pelvis to neck,
    collars on the line from neck to shoulder where there are none. Rotations of other skeletons
    belong to other rest poses and are left out.

    Args:
        motion: Any skeleton of ``corpus.skeletons.SKELETONS``.

    Raises:
        InputError: A skeleton without the joints that a body needs.
    """
    from corpus.formats.bvh_names import as_smpl22

    positions = motion.positions.astype(np.float64)
    if motion.skeleton in SAME:
        turns = motion.local_rotations
        rotations = None if turns is None else turns.astype(np.float64)
        return BodyJoints(positions, motion.layout.joints, rotations)
    names = motion.layout.joints
    body, _ = as_smpl22(names, motion.layout.parents, positions)
    stands = np.linalg.norm(body[:, :, None] - positions[:, None], axis=3).max(axis=0) < 1e-9
    measured = tuple(name for name, own in zip(SMPL22.joints, stands, strict=True) if own.any())
    return BodyJoints(body, measured, None)
