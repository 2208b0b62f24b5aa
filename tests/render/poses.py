"""Small motions for the tests of rendering, built by forward kinematics."""

import numpy as np
from scipy.spatial.transform import Rotation

from corpus.motion import Motion
from corpus.skeletons import REST_OFFSETS, SMPL22


def motion_of(local, root=None, fps=30.0, rotations=True):
    """Motion of named local rotation vectors (degrees), each (3,) or (T, 3); the rest is zero."""
    frames = max([1, *(np.atleast_2d(v).shape[0] for v in local.values())])
    turns = np.zeros((frames, 22, 3))
    for name, vector in local.items():
        turns[:, SMPL22.index(name)] = np.radians(vector)
    own = Rotation.from_rotvec(turns.reshape(-1, 3)).as_matrix().reshape(frames, 22, 3, 3)
    world = own.copy()
    positions = np.zeros((frames, 22, 3))
    positions[:, 0] = (0.0, 0.95, 0.0) if root is None else root
    for j, parent in enumerate(SMPL22.parents):
        if parent >= 0:
            world[:, j] = world[:, parent] @ own[:, j]
            positions[:, j] = positions[:, parent] + world[:, parent] @ np.array(REST_OFFSETS[j])
    return Motion(
        positions=positions,
        fps=fps,
        local_rotations=own if rotations else None,
        root_translation=positions[:, 0] if rotations else None,
    )


STAND = {"left_shoulder": (0, 0, -75), "right_shoulder": (0, 0, 75)}
"""Arms hanging."""


def left_arm_up(frames=1, **options):
    """Standing with the left arm up and bent, the same in every frame."""
    pose = STAND | {"left_shoulder": (0, 0, 70), "left_elbow": (0, 0, 35)}
    return motion_of({k: np.tile(v, (frames, 1)) for k, v in pose.items()}, **options)


def striding(frames=12, **options):
    """One swing of both arms and legs, turning to the person's left."""
    swing = np.sin(np.linspace(0, 2 * np.pi, frames))[:, None]
    pose = {
        "pelvis": np.linspace(0, 60, frames)[:, None] * [0, 1, 0],
        "left_hip": swing * [-35, 0, 0],
        "right_hip": swing * [35, 0, 0],
        "left_knee": np.maximum(swing, 0) * [40, 0, 0],
        "left_shoulder": np.array([0, 0, -75]) + swing * [0, -25, 0],
        "right_shoulder": np.array([0, 0, 75]) + swing * [0, -25, 0],
        "right_elbow": np.tile((0, 50, 0), (frames, 1)),
    }
    return motion_of(pose, **options)
