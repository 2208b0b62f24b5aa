import json

import numpy as np
import pytest

from corpus.adapters import as_humanml3d, humanml3d_features
from corpus.features import joints_to_features, recover_joints
from corpus.motion import Motion
from corpus.problems import InputError
from corpus.skeletons import SMPL22
from tests.shared_data import shared

CASES = "cases/oracles/features"


def test_the_sample_is_recovered():
    sample = shared("data/motions/humanml3d_sample")
    features = np.load(sample / "new_joint_vecs/012314.npy")
    joints = np.load(sample / "new_joints/012314.npy")
    assert np.abs(recover_joints(features) - joints).max() < 1e-5


@pytest.mark.parametrize(
    "case",
    ["process_000000", "process_012314", "process_M000000_mirrored", "process_syn_turn_in_place"],
)
def test_recovery_is_that_of_the_original_code(case):
    # Recorded from HumanML3D's own recover_from_ric (commit 9176e8f); the last case holds a yaw
    # step whose sign the original loses, and recovery has to follow it.
    oracle = np.load(shared(f"{CASES}/{case}.npz"), allow_pickle=False)
    recovered = recover_joints(oracle["expected_features"])
    assert np.abs(recovered - oracle["expected_recovered_joints"]).max() < 1e-5


def test_walking_straight_and_a_half_turn_by_hand():
    # 3 frames, root 1 m up, 0.1 m forward a frame, then half of a quarter turn stored (pi / 4):
    # the heading turns by -pi / 2 about Y, and a joint 1 m ahead comes to lie to the right (-X).
    features = np.zeros((3, 263))
    features[:, 3] = 1.0
    features[:, 2] = 0.1
    features[1, 0] = np.pi / 4
    features[:, 4:7] = [0.0, 0.5, 1.0]
    joints = recover_joints(features)
    assert np.allclose(joints[1, 0], [0, 1, 0.1], atol=1e-6)
    assert np.allclose(joints[1, 1], [0, 0.5, 1.1], atol=1e-6)
    assert np.allclose(joints[2, 1] - joints[2, 0], [-1.0, -0.5, 0.0], atol=1e-6)


@pytest.mark.parametrize("shape", [(10, 251), (263,), (1, 10, 263)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="features: expected shape"):
        recover_joints(np.zeros(shape))


def test_no_frame_gives_no_frame():
    assert recover_joints(np.zeros((0, 263))).shape == (0, 22, 3)


PROCESSED = [
    "process_000000",
    "process_012314",
    "process_M000000_mirrored",
    "process_syn_turn_in_place",
]


@pytest.mark.parametrize("case", PROCESSED)
def test_features_are_those_of_the_original_code(case):
    # Recorded from HumanML3D's own process_file (commit 9176e8f). The turn in place holds a row
    # whose yaw step has the wrong sign; it has to come out so, hence no row is left out.
    oracle = np.load(shared(f"{CASES}/{case}.npz"), allow_pickle=False)
    features = joints_to_features(oracle["joints"])
    expected = oracle["expected_features"]
    assert features.shape == expected.shape
    assert np.abs(features[:, :259] - expected[:, :259]).max() < 1e-4
    assert np.array_equal(features[:, 259:], oracle["expected_foot_contacts_L7_L10_R8_R11"])


def test_the_wrap_gives_one_step_the_wrong_sign():
    # A body that turns left by 2.7 degrees a frame: each stored half step is -1.35 degrees, a
    # little off where the smoothing reaches past an end, but the one step past half a turn.
    oracle = np.load(shared(f"{CASES}/process_syn_turn_in_place.npz"), allow_pickle=False)
    steps = np.degrees(joints_to_features(oracle["joints"])[30:-30, 0])
    assert np.isclose(np.abs(steps), 1.35, atol=0.05).all()
    assert (steps > 0).sum() == 1


def test_place_heading_and_size_of_the_body_do_not_matter():
    joints = np.load(shared(f"{CASES}/process_012314.npz"), allow_pickle=False)["joints"]
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    moved = 1.3 * (joints.astype(float) @ turn.T) + [5.0, -2.0, 7.0]
    assert np.abs(joints_to_features(moved) - joints_to_features(joints)).max() < 1e-4


def test_a_mirrored_motion_swaps_the_contacts_and_turns_the_other_way():
    oracle = np.load(shared(f"{CASES}/process_000000.npz"), allow_pickle=False)
    motion = Motion(positions=oracle["joints"], fps=20.0)
    plain, mirrored = humanml3d_features(motion), humanml3d_features(motion.mirrored())
    # The template's legs differ by a few millimetres, so contacts agree on all but a frame or two.
    assert (plain[:, 259:] != mirrored[:, [261, 262, 259, 260]]).mean() < 0.01
    assert np.corrcoef(plain[1:, 0], mirrored[1:, 0])[0, 1] < -0.99


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (np.zeros((5, 21, 3)), "expected shape"),
        (np.zeros((1, 22, 3)), "T >= 2"),
        (np.full((5, 22, 3), np.nan), "finite"),
        (np.zeros((5, 22, 3)), "coincides with its parent"),
    ],
)
def test_joints_without_features_are_refused(joints, message):
    with pytest.raises(ValueError, match=message):
        joints_to_features(joints)


def test_opposite_of_the_rest_pose_is_finite():
    joints = np.zeros((3, 22, 3))
    for joint, parent in enumerate(SMPL22.parents):
        if joint:
            joints[:, joint] = joints[:, parent] + [0.01 * (joint % 2 * 2 - 1), 0.1, 0.0]
    joints[:, 4] = joints[:, 1] + [0.0, 0.4, 0.0]
    assert np.isfinite(joints_to_features(joints)).all()


def test_snapmogen_joints_are_taken_by_name_at_twenty_frames_a_second():
    rng = np.random.default_rng(0)
    motion = Motion(
        positions=rng.normal(size=(61, 24, 3)), fps=30.0, skeleton="snapmogen24", source="a"
    )
    adapted = as_humanml3d(motion)
    assert (adapted.skeleton, adapted.fps, adapted.frames) == ("smpl22", 20.0, 41)
    assert np.allclose(adapted.joint("left_wrist")[2], motion.joint("left_wrist")[3], atol=1e-6)
    assert "ours" in adapted.assumptions[-1]
    assert humanml3d_features(motion).shape == (40, 263)


def test_a_skeleton_without_the_joints_is_refused():
    motion = Motion(positions=np.ones((5, 21, 3)), fps=12.5, skeleton="kit21", source="kit:1")
    with pytest.raises(InputError, match="kit:1: expected .* got kit21, which has no"):
        as_humanml3d(motion)


def test_the_official_features_give_back_place_and_heading():
    # Recorded from recover_root_rot_pos and recover_from_ric (commit 9176e8f) on the official file.
    root = np.load(shared(f"{CASES}/recover_012314.npz"), allow_pickle=False)
    whole = np.load(shared(f"{CASES}/recover_012314_joints.npz"), allow_pickle=False)
    found = recover_joints(root["features"])
    assert np.abs(found[:, 0] - root["expected_root_pos"]).max() < 1e-5
    assert np.abs(found - whole["expected_recovered_joints_ric"]).max() < 1e-5


def test_mirroring_is_as_inexact_as_the_original():
    # The template is not the same left and right, so the mirror image of a processed motion and
    # the processed mirror image differ; how much was recorded (cross_checks.json).
    told = json.loads(shared(f"{CASES}/cross_checks.json").read_text())
    raw = Motion(
        positions=np.load(shared(f"{CASES}/process_000000.npz"), allow_pickle=False)["joints"],
        fps=20.0,
    )
    plain, turned = (recover_joints(humanml3d_features(m)) for m in (raw, raw.mirrored()))
    image = Motion(positions=plain, fps=20.0).mirrored().positions
    wanted = told[
        "recovered joints of mirrored 000000 minus swap_left_right(recovered joints of 000000), "
        "max abs"
    ]
    assert np.abs(image - turned).max() == pytest.approx(wanted, abs=1e-4)
