import numpy as np
import pytest

from corpus.features import recover_joints
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
