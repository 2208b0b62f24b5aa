"""Small motions of our own for reader tests."""

from __future__ import annotations

import numpy as np

from corpus.kinematics import axis_angle_to_matrix, forward
from corpus.motion import Motion
from corpus.skeletons import REST_OFFSETS, SKELETONS


def moving(frames: int = 12, fps: float = 30.0, skeleton: str = "smpl22", seed: int = 0) -> Motion:
    """A standing person whose joints all turn a little and who drifts forward."""
    rng = np.random.default_rng(seed)
    layout = SKELETONS[skeleton]
    joints = len(layout.joints)
    time = np.arange(frames)[:, None, None] / fps
    swing = rng.uniform(-0.4, 0.4, (1, joints, 3)) * np.sin(
        2 * np.pi * time + rng.uniform(0, 6, (1, joints, 1))
    )
    rotations = axis_angle_to_matrix(swing)
    root = np.column_stack(
        [np.full(frames, 0.2), np.full(frames, 0.95), np.arange(frames) / fps * 1.2]
    )
    positions = forward(rotations, np.array(REST_OFFSETS[:joints]), root, layout.parents)
    return Motion(
        positions=positions,
        fps=fps,
        skeleton=skeleton,
        local_rotations=rotations,
        root_translation=root,
    )


def posed(motion: Motion) -> np.ndarray:
    """Joint positions that the motion's rotations give on our rest skeleton."""
    return forward(
        motion.local_rotations,
        np.array(REST_OFFSETS[: motion.positions.shape[1]]),
        motion.root_translation,
        motion.layout.parents,
    )
