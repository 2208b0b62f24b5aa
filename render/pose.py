"""Joint rotations of a motion: its own where the source has them, else by inverse kinematics.

From positions, the pelvis and the upper spine are rigid fits (Kabsch 1976) to the joints around
them; every other bone is the least rotation from its parent's frame to the direction observed.
Twist, which positions do not show, comes from the plane of a bent elbow or knee and from the
foot, weighted by how clearly it is seen and smoothed over time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from corpus.motion import Motion
from corpus.skeletons import SMPL24
from render.body import Body
from render.retarget import body_joints

Floats = NDArray[np.float64]

JOINT = {name: number for number, name in enumerate(SMPL24.joints)}
TWIST_SECONDS = 0.1
"""Standard deviation of the smoothing of twist over time (ours)."""
BENT = (0.12, 0.45)
"""Sine of the elbow or knee angle at which its plane begins to count and counts fully (ours)."""
LENGTH_RATIO = (0.5, 2.0)
"""Bones stretch to the source's lengths within these ratios of the body's (ours)."""


RIGID = {
    JOINT["pelvis"]: ("left_hip", "right_hip", "spine1"),
    JOINT["spine3"]: ("neck", "left_collar", "right_collar"),
}
"""Joints that move as one with another, whose frame they show."""


TOE_BEND = np.radians(65.0)
"""Most that the toes bend up when the heel rises (ours)."""
TOE_NEAR = (0.03, 0.12)
"""Height of the toe joint over its lowest at which toes bend fully, and no more, metres (ours)."""


class Pose(NamedTuple):
    """Rotations for a body with bones as long as the source's."""

    joints: NDArray[np.float32]
    """(24, 3) rest joint centres: the body's directions, the source's bone lengths."""
    rotations: Floats
    """(T, 24, 3, 3) rotation of each joint from rest into the world."""
    positions: Floats
    """(T, 24, 3) joint centres after posing, metres; the root is where the source has it."""
    fit_error_mm: dict[str, float]
    """Mean distance of each source joint from the posed joint, millimetres."""


def pose_from_motion(
    motion: Motion, body: Body, *, keep_shape: bool = False, refine: bool = False
) -> Pose:
    """Pose a body after a motion. Travel over the floor is kept as it is, unscaled.

    Args:
        motion: Any skeleton of ``corpus.skeletons``; see ``render.retarget``.
        body: The body to pose, in its own size.
        keep_shape: Leave the body its own bones instead of stretching them to the source's; each
            frame is then raised or lowered until the lowest joint is as high as the source's, so
            that feet meet the floor when the source's do.
        refine: Improve positions-only poses by gradient descent, see ``render.refine``.

    Raises:
        InputError: A skeleton that lacks joints that a body needs.
    """
    source = body_joints(motion)
    observed = source.positions
    joints = _source_joints(observed, body)
    if source.rotations is not None:
        rotations = _world_rotations(source.rotations)
        joints = aimed = _with_bones(joints, _seen_bones(observed, rotations))
    else:
        for centre in RIGID:
            around = _around(observed, centre)
            frame = _rigid(observed, joints, centre, around)
            bones = _seen_bones(observed, np.repeat(frame[:, None], 24, axis=1))
            chosen = {JOINT[name] for name in (*RIGID[centre], *around)}
            joints = _with_bones(joints, {j: bones[j] for j in chosen})
        aimed = _calibrated(observed, joints, motion.fps)
        rotations = _inverse_kinematics(observed, aimed, motion.fps)
        if refine:
            from render.refine import refined

            rotations = refined(rotations, aimed, observed, motion.fps)
    root = observed[:, 0]
    if keep_shape:
        joints = aimed = body.joints.astype(np.float64)
        own = forward(rotations, joints, root)[:, : observed.shape[1], 1]
        root = root + np.outer(observed[..., 1].min(axis=1) - own.min(axis=1), [0.0, 1.0, 0.0])
    centres = forward(rotations, joints, root)
    reached = forward(rotations, aimed, root)
    error = np.linalg.norm(reached[:, : observed.shape[1]] - observed, axis=2).mean(axis=0) * 1000
    return Pose(
        joints.astype(np.float32),
        rotations,
        centres,
        {name: round(float(error[JOINT[name]]), 2) for name in source.measured},
    )


def forward(rotations: Floats, joints: Floats, root: Floats) -> Floats:
    """Return joint centres (T, 24, 3) from world rotations, rest centres and the root's path."""
    centres = np.zeros((len(rotations), 24, 3))
    centres[:, 0] = root
    for j, parent in enumerate(SMPL24.parents):
        if parent >= 0:
            bone = joints[j] - joints[parent]
            centres[:, j] = centres[:, parent] + rotations[:, parent] @ bone
    return centres


def _world_rotations(local: Floats) -> Floats:
    world = np.zeros((len(local), 24, 3, 3))
    for j, parent in enumerate(SMPL24.parents):
        own = local[:, j] if j < local.shape[1] else np.eye(3)
        world[:, j] = own if parent < 0 else world[:, parent] @ own
    return world


def _source_joints(observed: Floats, body: Body) -> Floats:
    """Rest centres in the body's directions with the source's median bone lengths."""
    count = observed.shape[1]
    parents = np.array(SMPL24.parents)
    bones = (body.joints - body.joints[np.maximum(parents, 0)]).astype(np.float64)
    own = np.linalg.norm(bones, axis=1)
    seen = np.median(
        np.linalg.norm(observed[:, 1:] - observed[:, parents[1:count]], axis=2), axis=0
    )
    legs = [JOINT[f"{s}_{j}"] for s in ("left", "right") for j in ("knee", "ankle")]
    scale = float(np.clip(seen[np.array(legs) - 1].sum() / own[legs].sum(), 0.2, 5.0))
    ratio = np.full(24, scale)
    ratio[1:count] = np.clip(seen / own[1:count], LENGTH_RATIO[0] * scale, LENGTH_RATIO[1] * scale)
    joints = body.joints.astype(np.float64) * scale
    for j in range(1, 24):
        joints[j] = joints[parents[j]] + bones[j] * ratio[j]
    return joints


def _seen_bones(observed: Floats, rotations: Floats) -> dict[int, Floats]:
    """Each joint's bone from its parent in the parent's frame: mean over frames, metres."""
    bones = {}
    for j, parent in enumerate(SMPL24.parents[: observed.shape[1]]):
        if parent >= 0:
            bone = observed[:, j] - observed[:, parent]
            bones[j] = np.einsum("tba,tb->a", rotations[:, parent], bone) / len(bone)
    return bones


def _with_bones(joints: Floats, bones: dict[int, Floats]) -> Floats:
    """Rest centres with some bones replaced; what hangs on them moves along."""
    moved = joints.copy()
    for j, parent in enumerate(SMPL24.parents):
        if parent >= 0:
            moved[j] = moved[parent] + bones.get(j, joints[j] - joints[parent])
    return moved


def _calibrated(observed: Floats, joints: Floats, fps: float) -> Floats:
    """Turn the rest bones of feet and head to the source's own convention.

    Sources differ in where they put the toe and the head joint. The slope of a planted foot and,
    where it is far from the body's, the usual slope of the neck are taken as level.
    """
    aimed = joints.copy()
    slopes: list[Floats] = []
    step = max(1, round(fps * 0.05))
    for side in ("left", "right"):
        ankle, foot = JOINT[f"{side}_ankle"], JOINT[f"{side}_foot"]
        slope = _slope(observed[:, foot] - observed[:, ankle])
        low = observed[:, foot, 1] < observed[:, [10, 11], 1].min() + 0.05
        if len(observed) > step:
            moved = observed[step:, [ankle, foot]] - observed[:-step, [ankle, foot]]
            still = np.linalg.norm(moved, axis=2).max(axis=1) < 0.15 * step / fps
            low &= np.concatenate([still, np.repeat(still[-1:], step)])
        slopes.append(slope[low])
    planted = np.concatenate(slopes)
    if len(planted) >= 3:
        level = float(np.clip(np.median(planted), 0.0, np.radians(50)))
        for side in ("left", "right"):
            ankle, foot = JOINT[f"{side}_ankle"], JOINT[f"{side}_foot"]
            bone = joints[foot] - joints[ankle]
            flat = bone * [1, 0, 1]
            flat *= np.cos(level) * np.linalg.norm(bone) / np.linalg.norm(flat)
            down = np.array([0.0, -np.sin(level) * np.linalg.norm(bone), 0.0])
            aimed[foot] = aimed[ankle] + flat + down
    spine3 = JOINT["spine3"]
    chest = _rigid(observed, aimed, spine3, _around(observed, spine3))
    neck, head = JOINT["neck"], JOINT["head"]
    seen = np.einsum("tba,tb->ta", chest, observed[:, head] - observed[:, neck])
    usual = float(np.median(np.arctan2(seen[:, 2], seen[:, 1])))
    bone = joints[head] - joints[neck]
    if np.arctan2(bone[2], bone[1]) - usual > np.radians(22):
        usual = max(usual, 0.0)
        aimed[head] = aimed[neck] + np.linalg.norm(bone) * np.array(
            [0.0, np.cos(usual), np.sin(usual)]
        )
    return aimed


def _slope(bone: Floats) -> Floats:
    return np.asarray(np.arctan2(-bone[:, 1], np.hypot(bone[:, 0], bone[:, 2])))


def _inverse_kinematics(observed: Floats, joints: Floats, fps: float) -> Floats:
    world = np.zeros((len(observed), 24, 3, 3))

    def seen(start: str, end: str) -> Floats:
        return observed[:, JOINT[end]] - observed[:, JOINT[start]]

    def rest(start: str, end: str) -> Floats:
        return np.asarray(joints[JOINT[end]] - joints[JOINT[start]])

    pelvis = _rigid(observed, joints, 0, RIGID[0])
    spine3 = JOINT["spine3"]
    chest = _rigid(observed, joints, spine3, _around(observed, spine3))
    world[:, 0], world[:, spine3] = pelvis, chest
    turn = Rotation.from_matrix(np.swapaxes(pelvis, 1, 2) @ chest).as_rotvec()
    for name, child, share in (("spine1", "spine2", 1 / 3), ("spine2", "spine3", 2 / 3)):
        frame = pelvis @ Rotation.from_rotvec(turn * share).as_matrix()
        world[:, JOINT[name]] = _swung(frame, rest(name, child), seen(name, child))
    world[:, JOINT["neck"]] = _swung(chest, rest("neck", "head"), seen("neck", "head"))
    world[:, JOINT["head"]] = world[:, JOINT["neck"]]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        names = {n: f"{side}_{n}" for n in (
            "collar", "shoulder", "elbow", "wrist", "hand", "hip", "knee", "ankle", "foot"
        )}  # fmt: skip
        collar = _swung(
            chest,
            rest(names["collar"], names["shoulder"]),
            seen(names["collar"], names["shoulder"]),
        )
        upper, fore = seen(names["shoulder"], names["elbow"]), seen(names["elbow"], names["wrist"])
        # At rest the palms face down and the forearm bends forward.
        shoulder = _twisted(
            collar, rest(names["shoulder"], names["elbow"]), np.array([0.0, -sign, 0.0]), upper,
            [_plane(upper, fore)], fps,
        )  # fmt: skip
        elbow = _swung(shoulder, rest(names["elbow"], names["wrist"]), fore)
        wrist = elbow
        if observed.shape[1] > JOINT[names["hand"]]:
            hand = seen(names["wrist"], names["hand"])
            wrist = _swung(elbow, rest(names["wrist"], names["hand"]), hand)
        thigh, shank = seen(names["hip"], names["knee"]), seen(names["knee"], names["ankle"])
        foot = seen(names["ankle"], names["foot"])
        hinge, certain = _plane(foot, shank)
        hip = _twisted(
            pelvis, rest(names["hip"], names["knee"]), np.array([1.0, 0.0, 0.0]), thigh,
            [_plane(thigh, shank), (hinge, 0.5 * certain)], fps,
        )  # fmt: skip
        knee = _swung(hip, rest(names["knee"], names["ankle"]), shank)
        ankle = _swung(knee, rest(names["ankle"], names["foot"]), foot)
        toes = _toes(ankle, observed[:, JOINT[names["foot"]], 1], observed[:, [10, 11], 1].min())
        for name, rotation in (
            ("collar", collar), ("shoulder", shoulder), ("elbow", elbow), ("wrist", wrist),
            ("hand", wrist), ("hip", hip), ("knee", knee), ("ankle", ankle), ("foot", toes),
        ):  # fmt: skip
            world[:, JOINT[names[name]]] = rotation
    return world


def _toes(ankle: Floats, height: Floats, lowest: float) -> Floats:
    """Keep the toes flat where the heel rises over a toe joint that stays near the floor."""
    forward = ankle[:, :, 2]
    raised = np.arctan2(-forward[:, 1], np.hypot(forward[:, 0], forward[:, 2]))
    near = np.clip((TOE_NEAR[1] - (height - lowest)) / (TOE_NEAR[1] - TOE_NEAR[0]), 0.0, 1.0)
    bend = np.clip(raised, 0.0, TOE_BEND) * near
    return np.asarray(ankle @ Rotation.from_rotvec(np.outer(-bend, [1.0, 0, 0])).as_matrix())


def _around(observed: Floats, centre: int) -> tuple[str, ...]:
    """Return the joints that show a frame; shoulders where both collars stand in one place."""
    names = RIGID[centre]
    if centre != JOINT["spine3"]:
        return names

    def apart(joint: str) -> float:
        across = observed[:, JOINT[f"left_{joint}"]] - observed[:, JOINT[f"right_{joint}"]]
        return float(np.median(np.linalg.norm(across, axis=1)))

    if apart("collar") > 0.1 * apart("shoulder"):
        return names
    return ("neck", "left_shoulder", "right_shoulder")


def _rigid(observed: Floats, joints: Floats, centre: int, around: tuple[str, ...]) -> Floats:
    """Rotation (T, 3, 3) that best takes rest bones to observed ones (Kabsch 1976)."""
    chosen = [JOINT[name] for name in around]
    source = _unit(joints[chosen] - joints[centre])
    target = _unit(observed[:, chosen] - observed[:, [centre]])
    u, _, vt = np.linalg.svd(np.einsum("ka,tkb->tab", source, target))
    sign = np.ones((len(observed), 3))
    sign[:, 2] = np.sign(np.linalg.det(u) * np.linalg.det(vt))
    return np.asarray(np.einsum("tba,tb,tcb->tac", vt, sign, u))


def _unit(vectors: Floats) -> Floats:
    return np.asarray(
        vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9),
        dtype=np.float64,
    )


def _swung(frame: Floats, bone: Floats, seen: Floats) -> Floats:
    """Turn a frame by the least rotation that takes its rest bone to the observed direction."""
    start = _unit(frame @ bone)
    end = _unit(seen)
    end = np.where(np.linalg.norm(seen, axis=1, keepdims=True) < 1e-6, start, end)
    axis = np.cross(start, end)
    cosine = (start * end).sum(axis=1)
    sine = np.linalg.norm(axis, axis=1)
    angle = np.arctan2(sine, cosine)
    # Opposite directions leave the axis open: turn about the frame's own forward axis.
    spare = np.cross(start, frame[:, :, 2])
    about = np.where((sine < 1e-7)[:, None], spare, axis).astype(np.float64)
    turn = Rotation.from_rotvec(_unit(about) * angle[:, None]).as_matrix()
    return np.asarray(turn @ frame)


def _plane(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Hinge axis of two bones (T, 3) and how clearly it is seen, 0 to 1."""
    axis = np.cross(_unit(first), _unit(second)).astype(np.float64)
    share = np.clip((np.linalg.norm(axis, axis=1) - BENT[0]) / (BENT[1] - BENT[0]), 0.0, 1.0)
    return axis, np.asarray(share * share * (3 - 2 * share), dtype=np.float64)


def _twisted(
    frame: Floats,
    bone: Floats,
    hinge: Floats,
    seen: Floats,
    evidence: list[tuple[Floats, Floats]],
    fps: float,
) -> Floats:
    """Swing a frame to the observed bone, then twist it so that its hinge meets the evidence."""
    swung = _swung(frame, bone, seen)
    along = _unit(swung @ bone)
    own = swung @ hinge
    own -= (own * along).sum(axis=1, keepdims=True) * along
    # A little weight on no twist decides where nothing is seen; angles add as unit vectors.
    total = np.full(len(seen), 0.03, dtype=np.complex128)
    for axis, weight in evidence:
        across = axis - (axis * along).sum(axis=1, keepdims=True) * along
        sine = (np.cross(own, across) * along).sum(axis=1)
        total += weight * np.exp(1j * np.arctan2(sine, (own * across).sum(axis=1)))
    sigma = TWIST_SECONDS * fps
    smooth = gaussian_filter1d(total.real, sigma, mode="nearest") + 1j * gaussian_filter1d(
        total.imag, sigma, mode="nearest"
    )
    turn = Rotation.from_rotvec(along * np.angle(smooth)[:, None]).as_matrix()
    return np.asarray(turn @ swung)
