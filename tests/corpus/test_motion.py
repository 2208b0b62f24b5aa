import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.motion import Motion
from corpus.skeletons import REST_OFFSETS, SMPL24
from tests.corpus.people import moving, posed

motions = st.builds(
    moving,
    frames=st.integers(2, 40),
    fps=st.sampled_from([20.0, 30.0, 59.94, 120.0]),
    skeleton=st.sampled_from(["smpl22", "smpl24"]),
    seed=st.integers(0, 1000),
)
quick = settings(max_examples=25, deadline=None)


def bones(motion: Motion) -> np.ndarray:
    parents = np.array(motion.layout.parents[1:])
    return np.linalg.norm(motion.positions[:, 1:] - motion.positions[:, parents], axis=-1)


@quick
@given(motions)
def test_mirroring_twice_gives_the_motion_back(motion):
    back = motion.mirrored().mirrored()
    assert np.array_equal(back.positions, motion.positions)
    assert np.allclose(back.local_rotations, motion.local_rotations)
    assert np.array_equal(back.root_translation, motion.root_translation)


@quick
@given(motions)
def test_the_mirror_image_has_the_left_where_the_right_was(motion):
    mirror = motion.mirrored()
    wanted = motion.joint("right_wrist") * [-1, 1, 1]
    assert np.allclose(mirror.joint("left_wrist"), wanted)
    assert not np.allclose(mirror.joint("left_wrist"), motion.joint("left_wrist"))


@quick
@given(motions)
def test_mirrored_rotations_pose_the_mirrored_positions(motion):
    mirror = motion.mirrored()
    assert np.allclose(posed(mirror), mirror.positions, atol=1e-5)
    assert np.allclose(np.linalg.det(mirror.local_rotations), 1.0, atol=1e-5)


@quick
@given(motions)
def test_playing_backwards_twice_gives_the_motion_back(motion):
    back = motion.time_reversed()
    assert np.array_equal(back.positions[0], motion.positions[-1])
    assert np.array_equal(back.local_rotations[0], motion.local_rotations[-1])
    assert back.time_reversed().content_hash() == motion.content_hash()


@quick
@given(motions, st.floats(-3, 3))
def test_grounding_forgets_the_height_and_nothing_else(motion, height):
    lifted = motion.model_copy(
        update={"positions": motion.positions + np.float32([0, height, 0])}
    ).grounded()
    assert lifted.positions[..., 1].min() == pytest.approx(0, abs=1e-6)
    assert np.allclose(lifted.positions, motion.grounded().positions, atol=1e-5)
    assert np.allclose(lifted.positions[..., [0, 2]], motion.positions[..., [0, 2]])
    assert np.allclose(posed(motion.grounded()), motion.grounded().positions, atol=1e-5)


@quick
@given(motions, st.floats(5, 200))
def test_resampling_keeps_start_and_stays_inside(motion, fps):
    other = motion.resampled(fps)
    assert other.fps == fps
    assert np.allclose(other.positions[0], motion.positions[0], atol=1e-6)
    last = (other.frames - 1) / fps
    assert last <= (motion.frames - 1) / motion.fps + 1e-6
    assert last > (motion.frames - 1) / motion.fps - 1 / fps - 1e-6
    assert (other.positions.min((0, 1)) >= motion.positions.min((0, 1)) - 1e-6).all()
    assert (other.positions.max((0, 1)) <= motion.positions.max((0, 1)) + 1e-6).all()
    assert np.allclose(np.linalg.det(other.local_rotations), 1, atol=1e-4)


def test_resampling_to_a_divisor_takes_every_nth_frame():
    motion = moving(frames=41, fps=120.0)
    third = motion.resampled(30.0)
    assert np.allclose(third.positions, motion.positions[::4], atol=1e-6)
    assert np.allclose(third.local_rotations, motion.local_rotations[::4], atol=1e-5)


def test_resampling_to_a_multiple_puts_positions_halfway_and_rotations_on_the_arc():
    motion = moving(frames=5, fps=10.0)
    double = motion.resampled(20.0)
    assert double.frames == 9
    assert np.allclose(
        double.positions[1], (motion.positions[0] + motion.positions[1]) / 2, atol=1e-6
    )
    first, half, second = (double.local_rotations[k].astype(float) for k in (0, 1, 2))
    to_half = np.swapaxes(first, 1, 2) @ half
    assert np.allclose(first @ to_half @ to_half, second, atol=1e-5)


def test_a_motion_of_the_same_rate_is_not_touched():
    motion = moving()
    assert motion.resampled(motion.fps).content_hash() == motion.content_hash()


def test_cropping_takes_whole_frames_and_joins_again():
    motion = moving(frames=60, fps=30.0)
    first, second = motion.cropped(0, 0.5), motion.cropped(0.5, 2.0)
    assert (first.frames, second.frames) == (15, 45)
    joined = np.concatenate([first.positions, second.positions])
    assert np.array_equal(joined, motion.positions)


@pytest.mark.parametrize("span", [(0.5, 0.5), (1.0, 0.5), (-0.1, 1.0), (0.0, 2.1), (5.0, 6.0)])
def test_a_span_without_a_frame_or_outside_is_refused(span):
    with pytest.raises(ValueError, match="span: expected 0 <= start < end <= 2.000 s"):
        moving(frames=60, fps=30.0).cropped(*span)


@pytest.mark.parametrize("fps", [0.0, -30.0, float("nan"), float("inf")])
def test_a_frame_rate_that_is_none_is_refused(fps):
    with pytest.raises(ValueError, match="fps"):
        moving().resampled(fps)


@quick
@given(motions)
def test_bone_lengths_survive_every_rigid_method(motion):
    for other in (motion.mirrored(), motion.time_reversed(), motion.grounded()):
        assert np.allclose(np.sort(bones(other)[0]), np.sort(bones(motion)[0]), atol=1e-5)


def test_motions_cannot_be_changed():
    motion = moving()
    with pytest.raises(ValueError, match="read-only"):
        motion.positions[0, 0, 0] = 1.0


def test_the_rest_skeleton_is_symmetric_and_of_human_size():
    rest = np.array(REST_OFFSETS)
    swapped = rest[SMPL24.mirror_index()] * [-1, 1, 1]
    assert np.allclose(rest, swapped)
    heights = np.zeros((24, 3))
    for joint, parent in enumerate(SMPL24.parents):
        if parent >= 0:
            heights[joint] = heights[parent] + rest[joint]
    assert 1.4 < heights[15, 1] - heights[:, 1].min() < 1.7
