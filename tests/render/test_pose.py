import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corpus.motion import Motion
from corpus.skeletons import SKELETONS, SMPL22, SMPL24
from render.body import load_body
from render.pose import forward, pose_from_motion
from tests.render.poses import STAND, left_arm_up, motion_of, striding


def _apart(a, b):
    """Angle between rotations, degrees."""
    return np.degrees(Rotation.from_matrix(np.swapaxes(a, -1, -2) @ b).magnitude())


def _world(motion):
    world = motion.local_rotations.astype(float)
    for j, parent in enumerate(SMPL22.parents):
        if parent >= 0:
            world[:, j] = world[:, parent] @ world[:, j]
    return world


def test_given_rotations_are_used_as_they_are():
    motion = striding()
    pose = pose_from_motion(motion, load_body())
    assert _apart(pose.rotations[:, :22], _world(motion)).max() < 0.05
    assert max(pose.fit_error_mm.values()) < 0.1
    assert pose.positions[:, :22] == pytest.approx(motion.positions, abs=1e-4)


def test_positions_alone_give_the_same_joints():
    motion = striding(rotations=False)
    pose = pose_from_motion(motion, load_body())
    assert max(pose.fit_error_mm.values()) < 10.0
    # The body hangs on its own pelvis, so errors add up towards the ends.
    assert np.abs(pose.positions[:, :22] - motion.positions).max() < 0.03


def test_bent_elbow_and_knee_show_the_twist_of_the_bone_above():
    pose = STAND | {
        "left_shoulder": (20, -10, -60), "left_elbow": (0, -70, 0),
        "right_hip": (-60, 25, 0), "right_knee": (80, 0, 0),
    }  # fmt: skip
    local = {name: np.tile(turn, (8, 1)) for name, turn in pose.items()}
    truth = _world(motion_of(local))
    found = pose_from_motion(motion_of(local, rotations=False), load_body()).rotations
    for name, most in (("left_shoulder", 8), ("left_elbow", 8), ("right_hip", 12)):
        j = SMPL22.index(name)
        assert _apart(found[:, j], truth[:, j]).max() < most, name


def test_forearm_bends_forwards_at_rest_and_shank_backwards():
    pose = STAND | {"left_elbow": (0, -60, 0), "left_knee": (60, 0, 0)}
    motion = motion_of(pose)
    elbow, wrist = motion.joint("left_elbow")[0], motion.joint("left_wrist")[0]
    knee, ankle = motion.joint("left_knee")[0], motion.joint("left_ankle")[0]
    assert wrist[2] > elbow[2] + 0.1
    assert ankle[2] < knee[2] - 0.1


def test_twist_does_not_jump_while_the_arm_straightens():
    bend = np.concatenate([np.linspace(80, 0, 20), np.zeros(20), np.linspace(0, 80, 20)])
    turn = {
        "right_shoulder": np.tile((0, 30, 40), (60, 1)),
        "right_elbow": bend[:, None] * [0, 1, 0],
    }
    rotations = pose_from_motion(motion_of(turn, rotations=False), load_body()).rotations
    shoulder = rotations[:, SMPL24.index("right_shoulder")]
    assert _apart(shoulder[:-1], shoulder[1:]).max() < 4.0


def test_left_stays_left_when_mirrored():
    motion = striding(rotations=False)
    pose = pose_from_motion(motion, load_body())
    mirrored = pose_from_motion(motion.mirrored(), load_body())
    expected = pose.positions[:, SMPL24.mirror_index()] * [-1, 1, 1]
    assert mirrored.positions == pytest.approx(expected, abs=1e-4)


def test_shoulders_show_the_chest_where_both_collars_stand_in_one_place():
    # As in CMU's hierarchy: both collars hang at the spine's end.
    joints = {name: SMPL22.index(name) for name in SMPL22.joints}
    motion = striding(frames=40, rotations=False)
    positions = motion.positions.copy()
    for side in ("left", "right"):
        positions[:, joints[f"{side}_collar"]] = positions[:, joints["spine3"]] + [0, 0.04, 0]
    pose = pose_from_motion(motion.model_copy(update={"positions": positions}), load_body())
    shoulders = positions[:, joints["left_shoulder"]] - positions[:, joints["right_shoulder"]]
    left = pose.rotations[:, joints["spine3"], :, 0]
    aligned = np.einsum("ta,ta->t", left, shoulders) / np.linalg.norm(shoulders, axis=1)
    assert aligned.min() > 0.97
    assert max(pose.fit_error_mm.values()) < 15


def test_root_travel_is_kept_unscaled():
    root = np.array([[0.0, 0.95, 0.0], [1.5, 0.95, 2.0]])
    local = {"left_shoulder": np.tile((0, 0, -70), (2, 1))}
    pose = pose_from_motion(motion_of(local, root=root, rotations=False), load_body())
    assert pose.positions[1, 0] - pose.positions[0, 0] == pytest.approx([1.5, 0, 2.0], abs=1e-6)


def test_bones_take_the_length_of_the_source():
    motion = left_arm_up(rotations=False)
    small = Motion(positions=motion.positions * 0.5, fps=30)
    body = load_body()
    joints = [pose_from_motion(m, body).joints for m in (motion, small)]
    assert joints[1] - joints[1][0] == pytest.approx((joints[0] - joints[0][0]) * 0.5, abs=1e-4)


@pytest.mark.parametrize("scale", [0.0, 1e-7])
def test_joints_in_one_point_still_give_rotations(scale):
    motion = left_arm_up(frames=3, rotations=False)
    pose = pose_from_motion(Motion(positions=motion.positions * scale, fps=30), load_body())
    assert np.isfinite(pose.rotations).all()
    assert np.linalg.det(pose.rotations) == pytest.approx(1.0, abs=1e-5)


def test_forward_of_no_rotation_is_the_rest():
    joints = load_body().joints.astype(float)
    posed = forward(np.tile(np.eye(3), (1, 24, 1, 1)), joints, joints[:1])
    assert posed[0] == pytest.approx(joints, abs=1e-6)


FROM_SMPL = {
    "kit21": {"spine1": "spine1", "spine2": "spine3", "left_midfoot": None, "right_midfoot": None},
    "snapmogen24": {"neck2": None, "lower_pelvis": "pelvis"},
}
"""Joints of other skeletons that are not SMPL's joint of the same name; null: between the two."""


def _as(skeleton, motion):
    """The same person as another skeleton would have recorded them."""
    layout = SKELETONS[skeleton]
    named = FROM_SMPL[skeleton]
    paths = []
    for joint in layout.joints:
        name = named.get(joint, joint)
        if name is not None:
            paths.append(motion.joint(name))
        elif joint == "neck2":
            paths.append((motion.joint("neck") + motion.joint("head")) / 2)
        else:
            side = joint.split("_")[0]
            paths.append((motion.joint(f"{side}_ankle") + motion.joint(f"{side}_foot")) / 2)
    return Motion(positions=np.stack(paths, axis=1), fps=motion.fps, skeleton=skeleton)


@pytest.mark.parametrize("skeleton", FROM_SMPL)
def test_other_skeletons_pose_the_body_as_smpl_does(skeleton):
    motion = striding(rotations=False)
    body = load_body()
    ours = pose_from_motion(motion, body)
    theirs = pose_from_motion(_as(skeleton, motion), body)
    limbs = [
        SMPL22.index(f"{side}_{joint}")
        for side in ("left", "right")
        for joint in ("hip", "knee", "ankle", "foot", "shoulder", "elbow", "wrist")
    ]
    assert np.abs(theirs.positions[:, limbs] - ours.positions[:, limbs]).max() < 0.03
    assert max(theirs.fit_error_mm.values()) < 30
    assert ("left_collar" in theirs.fit_error_mm) is (skeleton == "snapmogen24")
    assert {"left_wrist", "right_foot", "head"} <= set(theirs.fit_error_mm)


@pytest.mark.parametrize("skeleton", FROM_SMPL)
def test_left_stays_left_in_other_skeletons(skeleton):
    local = {"left_hip": [[0, 0, 0], [-80, 0, 0]], "right_shoulder": [[0, 0, 70], [0, 0, -70]]}
    pose = pose_from_motion(_as(skeleton, motion_of(local, rotations=False)), load_body())
    rise = pose.positions[1, :, 1] - pose.positions[0, :, 1]
    assert rise[SMPL22.index("left_knee")] > 0.2
    assert abs(rise[SMPL22.index("right_knee")]) < 0.03
    assert rise[SMPL22.index("right_wrist")] > 0.4
    assert abs(rise[SMPL22.index("left_wrist")]) < 0.03


def test_a_body_of_its_own_size_meets_the_floor_when_the_source_does():
    frames = 20
    root = np.stack([np.zeros(frames), 0.95 + 0.5 * np.hanning(frames), np.zeros(frames)], axis=1)
    bend = np.linspace(0, 70, frames)[:, None] * [1, 0, 0]
    motion = motion_of({"left_knee": bend}, root=root, rotations=False)
    body = load_body()
    small = body._replace(joints=body.joints * np.float32(0.7))
    pose = pose_from_motion(motion, small, keep_shape=True)
    assert pose.joints == pytest.approx(small.joints, abs=1e-6)
    assert pose.positions[:, :22, 1].min(axis=1) == pytest.approx(
        motion.positions[..., 1].min(axis=1), abs=1e-6
    )
    assert max(pose.fit_error_mm.values()) > 30


def test_refinement_brings_joints_closer_without_shaking():
    rng = np.random.default_rng(1)
    motion = striding(16, rotations=False)
    # The source's bones change their length, as those of estimated poses do.
    noisy = (
        motion.positions + rng.normal(0, 0.02, (1, 22, 3)) * np.linspace(-1, 1, 16)[:, None, None]
    )
    seen = Motion(positions=noisy, fps=30)
    plain, better = (pose_from_motion(seen, load_body(), refine=r) for r in (False, True))

    def mean(pose):
        return np.mean(list(pose.fit_error_mm.values()))

    assert mean(better) < 0.8 * mean(plain)
    steps = [_apart(p.rotations[:-1], p.rotations[1:]) for p in (plain, better)]
    assert steps[1].mean() < 1.2 * steps[0].mean()
