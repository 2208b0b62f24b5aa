"""The demo person: fixed bones, leg inverse kinematics, arms, forward kinematics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import convolve1d, minimum_filter1d
from scipy.spatial.transform import Rotation

from corpus.skeletons import SMPL22

Array = NDArray[np.float64]

SIDES = ("left", "right")
SIGN = {"left": 1.0, "right": -1.0}
"""Sign of the person's own side on the x axis when facing +Z."""

THIGH = SHANK = 0.41
HIP_WIDTH, HIP_DROP = 0.085, 0.08
ANKLE_HEIGHT, FOOT_LENGTH, HEEL = 0.06, 0.13, 0.05
"""Ankle above the floor, ankle to ball of the foot, ankle to heel, all along the foot."""
REACH = 0.9985 * (THIGH + SHANK)
"""Longest hip-ankle distance used: knees keep about 6 degrees of flexion."""

_HALF = {
    "hip": (HIP_WIDTH, -HIP_DROP, 0.0), "knee": (0.0, -THIGH, 0.0), "ankle": (0.0, -SHANK, 0.0),
    "foot": (0.0, -ANKLE_HEIGHT, FOOT_LENGTH), "collar": (0.075, 0.125, -0.02),
    "shoulder": (0.105, 0.03, -0.01), "elbow": (0.275, 0.0, 0.0), "wrist": (0.25, 0.0, 0.0),
}  # fmt: skip
_MIDDLE = {
    "pelvis": (0.0, 0.0, 0.0), "spine1": (0.0, 0.11, -0.015), "spine2": (0.0, 0.13, 0.0),
    "spine3": (0.0, 0.06, 0.015), "neck": (0.0, 0.21, -0.03), "head": (0.0, 0.09, 0.04),
}  # fmt: skip


def _offset(joint: str) -> tuple[float, float, float]:
    side, _, part = joint.partition("_")
    if part in _HALF:
        x, y, z = _HALF[part]
        return SIGN[side] * x, y, z
    return _MIDDLE[joint]


OFFSETS: Array = np.array([_offset(joint) for joint in SMPL22.joints])
"""Bone from parent to joint in the T-pose facing +Z, (22, 3), metres.

Proportions of an adult of about 1.70 m, near those of Winter (2009), rounded; ours.
"""
_EASE = 0.1
STANDING = ANKLE_HEIGHT + REACH + HIP_DROP + 0.004
"""Height of the pelvis in relaxed standing, metres."""


class Controls(NamedTuple):
    """What the animator moves, per frame. Angles in radians; T frames."""

    fps: float
    """Frames per second."""
    pelvis: Array
    """(T, 3) wanted pelvis position; its height gives way where a leg would not reach."""
    flying: Array
    """(T,) 1 where the pelvis flies and the legs follow, else 0."""
    heading: Array
    """(T,) yaw of the body; 0 faces +Z, positive turns to the person's left."""
    hips: Array
    """(T, 3) pitch (forward), roll (to the right) and yaw (to the left) of the pelvis."""
    spine: Array
    """(T, 3) the same for the chest against the pelvis."""
    head: Array
    """(T, 3) the same for the head against the heading."""
    feet: dict[str, Array]
    """Per side (T, 5): x, lift, z of the flat foot under the ankle, yaw, pitch (toes down)."""
    arms: dict[str, Array]
    """Per side (T, 7): upper arm and bend direction in the chest (x outward), elbow flexion."""


def euler(pitch: Array, roll: Array, yaw: Array) -> Rotation:
    """Yaw about Y, then pitch about X, then roll about Z, intrinsic."""
    return Rotation.from_euler("YXZ", np.stack([yaw, pitch, roll], axis=-1))


def about(axis: str, angle: Array) -> Rotation:
    """Rotation about one axis by an angle per frame."""
    return Rotation.from_euler(axis, angle[:, None])


def smoothstep(x: Array) -> Array:
    """Quintic step from 0 at 0 to 1 at 1."""
    x = np.clip(x, 0.0, 1.0)
    return x**3 * (10 - 15 * x + 6 * x * x)


def ankle_from_foot(foot: Array) -> Array:
    """Return the ankle (T, 3) of a foot that rolls over its ball (toes down) or heel (toes up)."""
    turn = about("Y", foot[:, 3])
    tilt = turn * about("X", foot[:, 4])
    ball = turn.apply([0.0, 0.0, FOOT_LENGTH]) + tilt.apply([0.0, ANKLE_HEIGHT, -FOOT_LENGTH])
    heel = turn.apply([0.0, 0.0, -HEEL]) + tilt.apply([0.0, ANKLE_HEIGHT, HEEL])
    share = smoothstep(foot[:, 4] / 0.2 + 0.5)[:, None]
    result: Array = foot[:, :3] + share * ball + (1 - share) * heel
    return result


def solve(controls: Controls) -> tuple[Array, Array, Array]:
    """Pose the person.

    Returns:
        Positions (T, 22, 3) in metres, local rotations (T, 22, 3, 3), root translation (T, 3).
    """
    frames = len(controls.heading)
    world: dict[str, Rotation] = {}
    turn = about("Y", controls.heading)
    world["pelvis"] = turn * euler(*controls.hips.T)
    third = euler(*(controls.spine.T / 3))
    world["spine1"] = world["pelvis"] * third
    world["spine2"] = world["spine1"] * third
    world["spine3"] = world["spine2"] * third
    _aim_head(world, controls)
    for side in SIDES:
        _aim_arm(world, side, controls.arms[side])

    ankles = {side: ankle_from_foot(controls.feet[side]) for side in SIDES}
    hips = {s: world["pelvis"].apply(OFFSETS[SMPL22.index(f"{s}_hip")]) for s in SIDES}
    pelvis = controls.pelvis.copy()
    pelvis[:, 1] = _reachable_height(controls, hips, ankles)
    for side in SIDES:
        _aim_leg(world, side, pelvis + hips[side], ankles[side], controls)

    local = np.empty((frames, 22, 3, 3))
    positions = np.empty((frames, 22, 3))
    for j, (joint, parent) in enumerate(zip(SMPL22.joints, SMPL22.parents, strict=True)):
        if parent < 0:
            local[:, j], positions[:, j] = world[joint].as_matrix(), pelvis
            continue
        above = world[SMPL22.joints[parent]]
        local[:, j] = (above.inv() * world[joint]).as_matrix()
        positions[:, j] = positions[:, parent] + above.apply(OFFSETS[j])
    return positions, local, pelvis


def _aim_head(world: dict[str, Rotation], controls: Controls) -> None:
    """Neck and head share the way from the chest to a gaze that keeps steadier than the chest."""
    lean = controls.hips[:, 0] + controls.spine[:, 0]
    tilt = controls.hips[:, 1] + controls.spine[:, 1]
    pitch, roll, yaw = controls.head.T
    gaze = euler(0.4 * lean + pitch, 0.3 * tilt + roll, controls.heading + yaw)
    half = Rotation.from_rotvec(0.5 * (world["spine3"].inv() * gaze).as_rotvec())
    world["neck"] = world["spine3"] * half
    world["head"] = world["neck"] * half


def _unit(vector: Array) -> Array:
    result: Array = vector / np.linalg.norm(vector, axis=-1, keepdims=True)
    return result


def _aim_arm(world: dict[str, Rotation], side: str, arm: Array) -> None:
    sign = SIGN[side]
    mirror = np.array([sign, 1.0, 1.0])
    upper = _unit(arm[:, :3] * mirror)
    bend = arm[:, 3:6] * mirror
    bend = _unit(bend - np.sum(bend * upper, axis=1, keepdims=True) * upper)
    x_axis = sign * upper
    frame = Rotation.from_matrix(np.stack([x_axis, np.cross(bend, x_axis), bend], axis=-1))
    # The collarbone hangs with the arm, rises with it and comes forward with a reach.
    rise = 0.42 * smoothstep((upper[:, 1] + 0.6) / 1.6) - 0.2 * smoothstep(-upper[:, 1])
    reach = 0.22 * smoothstep(upper[:, 2])
    collar = Rotation.from_euler("ZY", np.stack([sign * rise, -sign * reach], axis=-1))
    world[f"{side}_collar"] = world["spine3"] * collar
    world[f"{side}_shoulder"] = world["spine3"] * frame
    hinge = about("Y", -sign * arm[:, 6])
    world[f"{side}_elbow"] = world[f"{side}_shoulder"] * hinge
    world[f"{side}_wrist"] = world[f"{side}_elbow"]


def _reachable_height(
    controls: Controls, hips: dict[str, Array], ankles: dict[str, Array]
) -> Array:
    """Wanted pelvis height, or what the standing legs allow, joined smoothly.

    The allowed height is lowered to its least value within ``_EASE`` seconds and then averaged
    over as long, so that it glides and still never exceeds what a leg reaches.
    """
    limits = []
    for side in SIDES:
        # A foot in the air binds less, none in a jump: there the legs follow the pelvis.
        gap = ankles[side] - controls.pelvis - hips[side]
        flat = np.minimum(gap[:, 0] ** 2 + gap[:, 2] ** 2, (0.95 * REACH) ** 2)
        limit = ankles[side][:, 1] - hips[side][:, 1] + np.sqrt(REACH**2 - flat)
        limits.append(limit + 1.2 * controls.feet[side][:, 1] + controls.flying)
    half = max(1, round(_EASE * controls.fps))
    kernel = np.hanning(2 * half + 3)[1:-1]
    lowest = minimum_filter1d(np.min(limits, axis=0), 2 * half + 1, mode="nearest")
    allowed = convolve1d(lowest, kernel / kernel.sum(), mode="nearest")
    softness = 0.008
    excess = np.logaddexp(0.0, (controls.pelvis[:, 1] - allowed) / softness)
    result: Array = controls.pelvis[:, 1] - softness * excess
    return result


def _aim_leg(
    world: dict[str, Rotation], side: str, hip: Array, ankle: Array, controls: Controls
) -> None:
    foot = controls.feet[side]
    way = ankle - hip
    wanted = np.linalg.norm(way, axis=1)
    direction = way / wanted[:, None]
    # Legs are as long as they are: a target out of reach is approached, never reached.
    far = 0.9995 * (THIGH + SHANK)
    length = np.clip(wanted, 0.25, far)
    # The knee points where pelvis and foot point, carried along as the leg swings up.
    pelvis_yaw = controls.heading + controls.hips[:, 2]
    yaw = pelvis_yaw + 0.6 * (foot[:, 3] - pelvis_yaw)
    forward = np.stack([np.sin(yaw), np.zeros_like(yaw), np.cos(yaw)], axis=-1)
    down = np.array([0.0, -1.0, 0.0])
    axis = np.cross(down, direction)
    cosine = np.clip(direction @ down, -0.999, 1.0)[:, None]
    pole = (
        forward * cosine
        + np.cross(axis, forward)
        + axis * np.sum(axis * forward, axis=1, keepdims=True) / (1 + cosine)
    )
    side_axis = _unit(np.cross(pole, direction))
    pole = np.cross(direction, side_axis)
    half = np.arccos(length / (THIGH + SHANK))
    thigh = np.cos(half)[:, None] * direction + np.sin(half)[:, None] * pole
    y_axis = -thigh
    frame = np.stack([side_axis, y_axis, np.cross(side_axis, y_axis)], axis=-1)
    world[f"{side}_hip"] = Rotation.from_matrix(frame)
    world[f"{side}_knee"] = world[f"{side}_hip"] * about("X", 2 * half)
    turn = about("Y", foot[:, 3])
    world[f"{side}_ankle"] = turn * about("X", foot[:, 4])
    # Toes stay flat on the floor while the heel rises.
    grip = smoothstep(1 - foot[:, 1] / 0.06) * np.clip(foot[:, 4], 0.0, 0.9)
    world[f"{side}_foot"] = world[f"{side}_ankle"] * about("X", -grip)
