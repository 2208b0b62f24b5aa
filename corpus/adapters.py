"""Motions of other skeletons and frame rates as HumanML3D's models take them.

STRIDE scores SnapMoGen's motions with models of HumanML3D through a "fixed adapter" that it does
not describe; this one is ours and is named in results.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus.features import joints_to_features
from corpus.motion import Motion
from corpus.problems import InputError
from corpus.skeletons import SKELETONS, SMPL22

HUMANML3D_FPS = 20.0
"""Frames per second of HumanML3D."""
ADAPTER = "joints by name, linear resampling (ours)"
"""Name of the adapter in results."""


def as_humanml3d(motion: Motion) -> Motion:
    """Return a motion with the 22 joints and the 20 frames a second of HumanML3D.

    Joints are taken by name: SMPL's hands are left out, and so are the second neck and the lower
    pelvis of SnapMoGen. Nothing is moved; ``joints_to_features`` gives the body its proportions.
    Frames are resampled linearly.

    Args:
        motion: Of a skeleton that has the 22 joints by name.

    Returns:
        The same object where nothing has to be done.

    Raises:
        InputError: The skeleton lacks one of the joints; the first is named.
    """
    if motion.skeleton != SMPL22.name:
        has = SKELETONS[motion.skeleton].joints
        lacking = [joint for joint in SMPL22.joints if joint not in has]
        if lacking:
            raise InputError(
                "expected a motion of smpl22, smpl24 or snapmogen24 joints, "
                f"got {motion.skeleton}, which has no {lacking[0]}",
                file=motion.source,
            )
        motion = Motion(
            positions=motion.positions[:, [has.index(joint) for joint in SMPL22.joints]],
            fps=motion.fps,
            skeleton=SMPL22.name,
            source=motion.source,
            assumptions=(*motion.assumptions, f"adapter: {ADAPTER}"),
        )
    return motion.resampled(HUMANML3D_FPS)


def humanml3d_features(motion: Motion) -> NDArray[np.float32]:
    """Return the features of any motion that ``as_humanml3d`` takes, (T - 1, 263).

    Raises:
        InputError: As there, or fewer than two frames at 20 a second, or a bone of no length.
    """
    adapted = as_humanml3d(motion)
    try:
        return joints_to_features(adapted.positions)
    except ValueError as error:
        raise InputError(str(error), file=motion.source) from error
