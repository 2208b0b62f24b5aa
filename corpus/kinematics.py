"""Rotations and forward kinematics on arrays of frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def axis_angle_to_matrix(axis_angle: NDArray[Any]) -> NDArray[np.float64]:
    """Return rotation matrices (..., 3, 3) of axis-angle vectors (..., 3), radians."""
    from scipy.spatial.transform import Rotation

    flat = np.asarray(axis_angle, dtype=np.float64).reshape(-1, 3)
    matrices: NDArray[np.float64] = Rotation.from_rotvec(flat).as_matrix()
    return matrices.reshape(*axis_angle.shape[:-1], 3, 3)


def slerp(first: NDArray[Any], second: NDArray[Any], share: NDArray[Any]) -> NDArray[np.float64]:
    """Go from one rotation to another on the shortest arc (Shoemake 1985).

    Args:
        first: (N, J, 3, 3) rotations at share 0.
        second: (N, J, 3, 3) rotations at share 1.
        share: (N,) in [0, 1].

    Returns:
        (N, J, 3, 3).
    """
    from scipy.spatial.transform import Rotation

    start = Rotation.from_matrix(np.asarray(first, dtype=np.float64).reshape(-1, 3, 3))
    end = Rotation.from_matrix(np.asarray(second, dtype=np.float64).reshape(-1, 3, 3))
    arc = (start.inv() * end).as_rotvec()
    part = Rotation.from_rotvec(arc * np.repeat(share, first.shape[1])[:, None])
    result: NDArray[np.float64] = (start * part).as_matrix()
    return result.reshape(first.shape)


def forward(
    rotations: NDArray[Any],
    offsets: NDArray[Any],
    root: NDArray[Any],
    parents: tuple[int, ...],
) -> NDArray[np.float64]:
    """Return joint positions of a posed tree.

    Args:
        rotations: (T, J, 3, 3), each joint in its parent's frame.
        offsets: (J, 3) or (T, J, 3), each joint from its parent in the parent's frame.
        root: (T, 3), position of joint 0.
        parents: Parent of each joint, -1 for joint 0; parents come before children.

    Returns:
        (T, J, 3), in the unit of the offsets.
    """
    frames, joints = rotations.shape[:2]
    lengths = np.broadcast_to(np.asarray(offsets, dtype=np.float64), (frames, joints, 3))
    turned = np.empty((frames, joints, 3, 3))
    positions = np.empty((frames, joints, 3))
    for joint, parent in enumerate(parents):
        local = np.asarray(rotations[:, joint], dtype=np.float64)
        if parent < 0:
            turned[:, joint], positions[:, joint] = local, root
            continue
        turned[:, joint] = turned[:, parent] @ local
        moved = turned[:, parent] @ lengths[:, joint, :, None]
        positions[:, joint] = positions[:, parent] + moved[..., 0]
    return positions
