"""HumanML3D's 263-dimensional features (Guo et al. 2022, section 3), from joints and back.

The published processing is followed with its faults, for the released evaluators were trained on
what it gives: the heading takes the hip term with the wrong sign, a heading that passes half a
turn from the start flips one step of the root yaw, and the rotations of the first bones of each
chain turn with the heading. Headings for metrics come from joints, never from these features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.skeletons import SMPL22

FloatArray = NDArray[np.float64]

FEATURES = 263
"""Width for 22 joints: root 4, positions 63, rotations 126, velocities 66, contacts 4."""
CONTACT_SQUARED_STEP = 0.002
"""A foot that moves less than this (squared metres a frame, all three axes) is in contact."""
HEADING_SIGMA = 20.0
"""Standard deviation of the Gaussian that smooths the facing direction, frames."""

TEMPLATE_BONES: tuple[float, ...] = (
    0.103100, 0.109868, 0.131603, 0.393589, 0.390126, 0.143164, 0.432215, 0.425708, 0.057362,
    0.143381, 0.149541, 0.219349, 0.137450, 0.143361, 0.103109, 0.131558, 0.123003, 0.256925,
    0.263132, 0.266011, 0.269718,
)  # fmt: skip
"""Length in metres of the bone that ends in each joint of ``SMPL22`` but the pelvis.

Every motion of HumanML3D is given the body of its clip 000021; these are that body's bones,
which are not the same left and right.
"""

_CHAINS = (
    (0, 2, 5, 8, 11),
    (0, 1, 4, 7, 10),
    (0, 3, 6, 9, 12, 15),
    (9, 14, 17, 19, 21),
    (9, 13, 16, 18, 20),
)
_DOWN = (4, 5, 7, 8, 16, 17, 18, 19, 20, 21)
_FORWARD = (10, 11, 15)
_SCALE_BONES = (5, 8)
"""Right shin and right foot's upper end: the leg by which the whole body is scaled."""
_FEET = (7, 10, 8, 11)
_LEFT_HIP, _RIGHT_HIP, _LEFT_SHOULDER, _RIGHT_SHOULDER = 1, 2, 16, 17


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


def joints_to_features(positions: NDArray[Any]) -> NDArray[np.float32]:
    """Turn joints into HumanML3D's features (``process_file`` of its published processing).

    The body is given the template's bones, put on the floor, moved to the origin and turned to
    face +Z in the first frame. Row t then holds the root's yaw step (half angle), its velocity in
    the next frame's heading, its height, 21 positions and 21 rotations in frame t's heading, 22
    velocities, and the contacts of left ankle, left foot, right ankle, right foot.

    Args:
        positions: (T, 22, 3) of ``SMPL22``, metres, Y up, 20 frames a second, T at least 2.

    Returns:
        (T - 1, 263) float32, not divided by Mean and Std.

    Raises:
        ValueError: Another shape, fewer than two frames, a value that is not finite, or a bone
            of no length.
    """
    data = np.asarray(positions, dtype=np.float64)
    if data.ndim != 3 or data.shape[1:] != (22, 3) or len(data) < 2:
        raise ValueError(f"positions: expected shape (T, 22, 3) with T >= 2, got {data.shape}")
    if not np.isfinite(data).all():
        raise ValueError("positions: expected finite numbers, got NaN or infinity")
    posed = _settled(_with_template_body(data))
    frames = len(posed)
    half = _half_turns(posed)
    local = posed.copy()
    local[..., [0, 2]] -= posed[:, :1, [0, 2]]
    local = _turn(local, 2 * half)
    steps = np.diff(posed, axis=0)
    root = _turn(steps[:, :1], 2 * half[1:])[:, 0]
    contact = (np.square(steps[:, _FEET]).sum(axis=2) < CONTACT_SQUARED_STEP).astype(np.float64)
    features = np.concatenate(
        (
            # arcsin of the sine: a jump by half a turn comes out with the opposite sign.
            np.arcsin(np.sin(np.diff(half)))[:, None],
            root[:, [0, 2]],
            local[:-1, 0, 1:2],
            local[:-1, 1:].reshape(frames - 1, 63),
            _rotations(posed, half)[:-1].reshape(frames - 1, 126),
            _turn(steps, 2 * half[:-1]).reshape(frames - 1, 66),
            contact,
        ),
        axis=1,
    )
    result: NDArray[np.float32] = features.astype(np.float32)
    return result


def _bones(positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return unit direction (T, 21, 3) and length (T, 21) of the bones that end in joints 1–21."""
    bones = positions[:, 1:] - positions[:, list(SMPL22.parents[1:])]
    lengths = np.linalg.norm(bones, axis=2)
    if not (lengths > 0).all():
        frame, bone = (int(i) for i in np.argwhere(lengths <= 0)[0])
        raise ValueError(
            f"positions: frame {frame}, {SMPL22.joints[bone + 1]} coincides with its parent"
        )
    return bones / lengths[..., None], lengths


def _with_template_body(positions: FloatArray) -> FloatArray:
    directions, lengths = _bones(positions)
    target = np.array(TEMPLATE_BONES)
    legs = [joint - 1 for joint in _SCALE_BONES]
    scale = target[legs].sum() / lengths[0, legs].sum()
    posed = np.empty_like(positions)
    posed[:, 0] = positions[:, 0] * scale
    for joint, parent in enumerate(SMPL22.parents):
        if joint:
            posed[:, joint] = posed[:, parent] + target[joint - 1] * directions[:, joint - 1]
    return posed


def _settled(positions: FloatArray) -> FloatArray:
    """Floor at height 0, first pelvis above the origin, facing +Z in the first frame."""
    moved = positions.copy()
    moved[..., 1] -= moved[..., 1].min()
    moved[..., [0, 2]] -= moved[0, 0, [0, 2]]
    first = moved[:1]
    across = (first[:, _RIGHT_HIP] - first[:, _LEFT_HIP]) + (
        first[:, _RIGHT_SHOULDER] - first[:, _LEFT_SHOULDER]
    )
    return _turn(moved, np.repeat(2 * _half_angle(_facing(across)), len(moved)))


def _half_turns(positions: FloatArray) -> FloatArray:
    """Return half the turn about Y that brings each frame's heading to +Z, (T,) radians.

    The hips enter with the opposite sign, as published. Frame 0 counts as turned by nothing.
    """
    from scipy.ndimage import gaussian_filter1d

    across = (positions[:, _LEFT_HIP] - positions[:, _RIGHT_HIP]) + (
        positions[:, _RIGHT_SHOULDER] - positions[:, _LEFT_SHOULDER]
    )
    facing = gaussian_filter1d(_facing(across), HEADING_SIGMA, axis=0, mode="nearest")
    half = _half_angle(facing)
    half[0] = 0.0
    return half


def _facing(across: FloatArray) -> FloatArray:
    """Return up x across, (N, 3), after ``across`` has length 1; its height takes no part."""
    norm = np.linalg.norm(across, axis=1, keepdims=True)
    unit = np.divide(across, norm, out=np.zeros_like(across), where=norm > 0)
    return np.stack((unit[:, 2], np.zeros(len(unit)), -unit[:, 0]), axis=1)


def _half_angle(facing: FloatArray) -> FloatArray:
    """Return half the angle from ``facing`` to +Z about Y, in [-pi/2, pi/2]."""
    half: FloatArray = np.arctan2(-facing[:, 0], facing[:, 2]) / 2
    return half


def _rotations(positions: FloatArray, half: FloatArray) -> FloatArray:
    """Return the first two columns of each bone's rotation in the bone before it, (T, 21, 6).

    A chain starts from the turn to the heading, not from its inverse, as published.
    """
    directions, _ = _bones(positions)
    cos, sin, zero = np.cos(2 * half), np.sin(2 * half), np.zeros(len(half))
    turn = np.stack((cos, zero, sin, zero, zero + 1, zero, -sin, zero, cos), axis=1)
    heading = turn.reshape(-1, 3, 3)
    columns = np.empty((len(half), 21, 6))
    for chain in _CHAINS:
        before: FloatArray = heading
        for joint in chain[1:]:
            bone = _between(_rest_direction(joint), directions[:, joint - 1])
            local = before.transpose(0, 2, 1) @ bone
            columns[:, joint - 1] = np.concatenate((local[:, :, 0], local[:, :, 1]), axis=1)
            before = bone
    return columns


def _rest_direction(joint: int) -> FloatArray:
    """Return the axis along which the bone that ends in a joint lies at rest."""
    if joint in _DOWN:
        return np.array([0.0, -1.0, 0.0])
    if joint in _FORWARD:
        return np.array([0.0, 0.0, 1.0])
    side = SMPL22.joints[joint].partition("_")[0]
    if side in ("left", "right"):
        return np.array([1.0 if side == "left" else -1.0, 0.0, 0.0])
    return np.array([0.0, 1.0, 0.0])


def _between(start: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the shortest rotation (T, 3, 3) from a unit vector to each of (T, 3) unit vectors.

    Opposite vectors have no shortest one; the half turn about a fixed perpendicular is taken.
    """
    from scipy.spatial.transform import Rotation

    quaternion = np.concatenate((np.cross(start, ends), 1 + ends @ start[:, None]), axis=1)
    opposite = np.linalg.norm(quaternion, axis=1) < 1e-9
    quaternion[opposite] = [*np.roll(start, 1), 0.0]
    matrices: FloatArray = Rotation.from_quat(quaternion).as_matrix()
    return matrices


def _turn(points: NDArray[np.float64], angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn (T, J, 3) points about Y by (T,) radians, positive to the left."""
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    turned = points.copy()
    turned[..., 0] = cos * points[..., 0] + sin * points[..., 2]
    turned[..., 2] = cos * points[..., 2] - sin * points[..., 0]
    return turned
