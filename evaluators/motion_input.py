"""Motions as the released evaluators take them: HumanML3D's joints or features, 20 fps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus.adapters import humanml3d_features
from corpus.features import recover_joints
from corpus.motion import Motion


def body_joints(motion: Motion) -> NDArray[np.float32]:
    """Return a motion as the (T - 1, 22, 3) joints of HumanML3D's ``new_joints``, 20 fps.

    Those are what its features give back: the template's body, on the floor, facing +Z at first.
    A mirrored, reversed or foreign motion gets that form too.

    Raises:
        InputError: As ``corpus.adapters.humanml3d_features``.
    """
    return recover_joints(humanml3d_features(motion))


def body_features(motion: Motion) -> NDArray[np.float32]:
    """Return a motion as (T - 1, 263) features of HumanML3D, not normalised.

    Raises:
        InputError: As ``corpus.adapters.humanml3d_features``.
    """
    return humanml3d_features(motion)
