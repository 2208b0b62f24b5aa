"""HumanML3D's 263-dimensional features (Guo et al. 2022, section 3): features to joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FEATURES = 263
"""Width for 22 joints: root 4, positions 63, rotations 126, velocities 66, contacts 4."""


def recover_joints(features: NDArray[Any]) -> NDArray[np.float32]:
    """Recover joint positions from unnormalised 263-dimensional features.

    The root yaw and the root's velocity in the heading frame are integrated, then the 21
    root-relative positions are turned back and put on the root (``recover_from_ric`` in
    HumanML3D). Feature 0 is the half-angle yaw step, so the heading turns by twice its sum.

    Args:
        features: (T, 263); metres and radians per frame, not divided by Mean and Std.

    Returns:
        (T, 22, 3) float32, metres, Y up.

    Raises:
        ValueError: Another shape.
    """
    if features.ndim != 2 or features.shape[1] != FEATURES:
        raise ValueError(f"features: expected shape (T, {FEATURES}), got {features.shape}")
    data = features.astype(np.float64)
    frames = len(data)
    half = np.concatenate(([0.0], np.cumsum(data[:-1, 0]))) if frames else np.zeros(0)
    # The stored quaternion (cos a, 0, sin a, 0) takes the world to the heading frame; undo it.
    angle = -2.0 * half
    step = np.zeros((frames, 3))
    step[1:, [0, 2]] = data[:-1, 1:3]
    root = np.cumsum(_turn(step[:, None], angle)[:, 0], axis=0)
    root[:, 1] = data[:, 3]
    local = data[:, 4:67].reshape(frames, 21, 3)
    others = _turn(local, angle)
    others[..., 0] += root[:, None, 0]
    others[..., 2] += root[:, None, 2]
    return np.concatenate((root[:, None], others), axis=1).astype(np.float32)


def _turn(points: NDArray[np.float64], angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn (T, J, 3) points about Y by (T,) radians, positive to the left."""
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    turned = points.copy()
    turned[..., 0] = cos * points[..., 0] + sin * points[..., 2]
    turned[..., 2] = cos * points[..., 2] - sin * points[..., 0]
    return turned
