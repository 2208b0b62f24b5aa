"""Motions as the released evaluators take them: HumanML3D's joints or features, 20 fps.

Joints are taken as they are on ``smpl22``. A SnapMoGen motion is brought onto it by an adapter of
our own: the papers name none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus.features import joints_to_features
from corpus.motion import Motion
from corpus.problems import InputError
from corpus.skeletons import SKELETONS

FPS = 20.0
"""Frames a second of HumanML3D."""
SNAP_ADAPTER = "24 to 22 joints by name, positions linear in time to 20 fps (ours)"
"""What is done to a SnapMoGen motion, for results."""

_FROM_SNAPMOGEN = {
    "pelvis": "pelvis", "spine1": "spine1", "spine2": "spine2", "spine3": "spine3",
    "neck": "neck", "head": "head",
    **{
        f"{side}_{joint}": f"{side}_{joint}"
        for side in ("left", "right")
        for joint in (
            "hip", "knee", "ankle", "foot", "collar", "shoulder", "elbow", "wrist",
        )
    },
}  # fmt: skip
"""SnapMoGen's joint for each of ``SMPL22``; its second neck joint and lower pelvis are left out."""


def body_joints(motion: Motion) -> NDArray[np.float32]:
    """Return a motion as (T, 22, 3) joints at 20 fps.

    ``smpl24`` gives its first 22 joints, ``snapmogen24`` is brought over by ``SNAP_ADAPTER``.

    Raises:
        InputError: A skeleton that is neither of these.
    """
    known = motion.resampled(FPS)
    if motion.skeleton == "smpl22":
        return known.positions
    if motion.skeleton == "smpl24":
        return known.positions[:, :22]
    if motion.skeleton == "snapmogen24":
        source = SKELETONS["snapmogen24"]
        order = [source.index(_FROM_SNAPMOGEN[name]) for name in SKELETONS["smpl22"].joints]
        return known.positions[:, order]
    raise InputError(
        f"expected a motion of smpl22, smpl24 or snapmogen24 joints, got {motion.skeleton}",
        file=motion.source or "motion",
    )


def body_features(motion: Motion) -> NDArray[np.float32]:
    """Return a motion as (T - 1, 263) features of HumanML3D, not normalised.

    Raises:
        InputError: As ``body_joints``; fewer than two frames at 20 fps.
    """
    try:
        return joints_to_features(body_joints(motion))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(str(error), file=motion.source or "motion") from error
