"""Motions as the released evaluators take them: HumanML3D's joints or features, 20 fps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus.adapters import as_humanml3d, humanml3d_features
from corpus.motion import Motion


def body_joints(motion: Motion) -> NDArray[np.float32]:
    """Return a motion as (T, 22, 3) joints at 20 fps; other skeletons through the adapter.

    Raises:
        InputError: As ``corpus.adapters.as_humanml3d``.
    """
    return as_humanml3d(motion).positions


def body_features(motion: Motion) -> NDArray[np.float32]:
    """Return a motion as (T - 1, 263) features of HumanML3D, not normalised.

    Raises:
        InputError: As ``corpus.adapters.humanml3d_features``.
    """
    return humanml3d_features(motion)
