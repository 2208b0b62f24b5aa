"""Motions and machines at their limits."""

import resource

import numpy as np
import pytest

from corpus.motion import Motion
from render.clip import RenderSettings, Stage, render_clip
from render.video import EncodingError
from tests.render.poses import left_arm_up, striding

SMALL = RenderSettings(size=256)


def _moved(motion, path):
    return Motion(positions=motion.positions + path[:, None], fps=motion.fps)


def _box(stage, frame):
    """Left, top, right, bottom of what differs from the empty scene, in pixels."""
    changed = (stage.picture(frame) != stage.ground).any(axis=2)
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    return columns[0], rows[0], columns[-1], rows[-1]


@pytest.mark.parametrize("axis", [0, 2])
def test_a_person_who_walks_forty_metres_stays_in_the_picture(axis):
    frames = 40
    path = np.zeros((frames, 3))
    path[:, axis] = np.linspace(0, 40, frames)
    stage = Stage(_moved(striding(frames, rotations=False), path), SMALL)
    boxes = np.array([_box(stage, frame) for frame in (0, 20, 39)])
    assert boxes.min() > 0
    assert boxes.max() < 255
    assert (boxes[:, 3] - boxes[:, 1]).min() >= 6  # small, but there
    if axis == 0:
        assert boxes[2, 0] > boxes[1, 2] > boxes[0, 2]


def test_a_body_that_leaves_the_ground_by_three_metres_is_seen_there():
    frames = 31
    path = np.zeros((frames, 3))
    path[:, 1] = 3.0 * np.sin(np.linspace(0, np.pi, frames))
    stage = Stage(_moved(left_arm_up(frames, rotations=False), path), SMALL)
    boxes = np.array([_box(stage, frame) for frame in (0, 15, 30)])
    assert boxes[1, 1] > 0
    assert boxes[1, 1] < boxes[0, 1] - 60
    assert np.abs(boxes[0] - boxes[2]).max() <= 1
    # Its shadow stays on the floor below.
    assert boxes[1, 3] > boxes[0, 3] - 30


def test_far_from_the_origin_the_picture_is_the_same():
    motion = left_arm_up(2, rotations=False)
    near = Stage(motion, SMALL).picture(1).astype(int)
    # A whole number of grid squares away.
    far = Stage(_moved(motion, np.tile([2000.0, 0.0, -3000.0], (2, 1))), SMALL).picture(1)
    assert np.abs(near - far).mean() < 1.0


def test_one_frame_makes_a_clip_and_a_picture(tmp_path):
    motion = left_arm_up(rotations=False)
    info = render_clip(motion, tmp_path / "clip.mp4", SMALL)
    assert (info.frames, info.seconds) == (1, pytest.approx(1 / 30))
    assert (tmp_path / "clip.mp4").stat().st_size > 500


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    out = tmp_path / "clip.mp4"
    out.write_bytes(b"the older clip")
    # A file can no longer grow, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(EncodingError, match=r"clip\.mp4: ffmpeg ended with code"):
            render_clip(striding(60), out, SMALL)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert out.read_bytes() == b"the older clip"
    assert [path.name for path in tmp_path.iterdir()] == ["clip.mp4"]
