import subprocess

import numpy as np
import pytest
from pydantic import ValidationError

from corpus.motion import Motion
from render import marks, raster
from render.body import PART_COLOURS
from render.clip import RenderSettings, Stage, render_clip, stimulus_key
from tests.render.poses import left_arm_up, motion_of, striding

SMALL = RenderSettings(size=256)


def _changed(with_it, without):
    return (with_it.astype(int) != without).any(axis=2)


def test_marks_are_off_by_default_and_change_the_key():
    settings = RenderSettings()
    names = ("facing_arrow", "legend", "frame_counter", "frame_code")
    assert not any(getattr(settings, name) for name in names)
    keys = {stimulus_key(striding(), RenderSettings(**{name: True})) for name in names}
    assert len({*keys, stimulus_key(striding(), settings)}) == 5


def test_the_arrow_points_where_the_person_faces_in_each_frame():
    turns = [0, 90, 180, -90]
    motion = motion_of({"pelvis": np.repeat([(0, t, 0) for t in turns], 30, axis=0)})
    ahead = marks.facing(motion)
    for number, turn in enumerate(np.radians(turns)):
        assert ahead[30 * number + 15] == pytest.approx([np.sin(turn), np.cos(turn)], abs=0.01)
    stage = Stage(motion, SMALL.model_copy(update={"facing_arrow": True}))
    plain = Stage(motion, SMALL)
    tips = motion.joint("pelvis") * np.float32([1, 0, 1])
    tips[:, [0, 2]] += ahead * marks.ARROW[1]
    points = np.empty_like(tips)
    raster.project(tips, stage.camera.packed(), points)
    for number in range(4):
        frame = 30 * number + 15
        dark = np.abs(stage.picture(frame).astype(int) - marks.INK).max(axis=2) < 60
        dark &= np.arange(256)[:, None] > 190
        x = points[frame, 0]
        near = dark[:, max(0, int(x) - 14) : int(x) + 15].sum()
        assert near > 8, turns[number]
    assert plain.actor.transforms.shape[1] == stage.actor.transforms.shape[1] - 1


def test_the_arrow_keeps_its_direction_while_lying_on_the_side():
    motion = motion_of({"pelvis": [(0, 0, 0)] * 20 + [(0, 0, 90)] * 20})
    assert marks.facing(motion)[-1] == pytest.approx([0, 1], abs=0.05)
    still = Motion(positions=np.zeros((3, 22, 3)), fps=30)
    assert marks.facing(still) == pytest.approx(np.tile([0, 1], (3, 1)))


@pytest.mark.parametrize("size", [384, 768])
def test_the_legend_stands_above_the_body_with_the_limbs_colours(size):
    plain = RenderSettings(size=size)
    picture = Stage(left_arm_up(), plain.model_copy(update={"legend": True})).picture(0)
    changed = _changed(picture, Stage(left_arm_up(), plain).picture(0))
    assert np.argwhere(changed)[:, 0].max() < 0.07 * size
    columns = np.unique(np.argwhere(changed)[:, 1])
    assert columns.min() < 0.04 * size
    assert columns.max() > 0.96 * size
    # Four groups with room between: viewer's left, person's right and left, viewer's right.
    gaps = np.diff(columns)
    assert (gaps > 0.02 * size).sum() == 3
    band = picture[: size // 14].reshape(-1, 3).astype(int)
    right, left = (
        np.flatnonzero((band == PART_COLOURS[f"{side}_arm"]).all(axis=1)) % size
        for side in ("right", "left")
    )
    assert len(right) > 20
    assert len(left) > 20
    assert right.max() < left.min()


def test_a_legend_too_small_to_read_is_refused():
    with pytest.raises(ValidationError, match="legend: expected a size of at least 384"):
        RenderSettings(size=256, legend=True)


def test_the_counter_is_small_and_leaves_nothing_behind():
    stage = Stage(left_arm_up(30), SMALL.model_copy(update={"frame_counter": True}))
    plain = Stage(left_arm_up(30), SMALL).picture(0)
    seen = [_changed(stage.picture(frame), plain) for frame in (28, 3, 0)]
    for changed in seen:
        assert 5 < changed.sum() < 0.01 * 256 * 256
        assert np.argwhere(changed).min() > 215
    assert seen[0].sum() > seen[1].sum()
    assert not np.array_equal(seen[1], seen[2])
    again = Stage(left_arm_up(30), SMALL.model_copy(update={"frame_counter": True}))
    assert np.array_equal(_changed(again.picture(0), plain), seen[2])


@pytest.mark.parametrize("size", [64, 192, 768])
def test_the_frame_code_is_read_back(size):
    picture = np.full((size, size, 3), 120, dtype=np.uint8)
    assert marks.read_code(picture) is None
    for number in (0, 1, 305, 0b1010101010101010, 65535):
        box = marks.draw_code(picture, number)
        assert marks.read_code(picture) == number
        assert (box % 2 == 0).all()
    with pytest.raises(ValueError, match="expected 0 to 65535, got 65536"):
        marks.draw_code(picture, 65536)


@pytest.mark.parametrize("size", [64, 256])
def test_every_frame_of_an_encoded_clip_tells_its_number(tmp_path, size):
    import imageio_ffmpeg

    settings = RenderSettings(size=size, frame_code=True)
    render_clip(striding(40), tmp_path / "clip.mp4", settings)
    run = subprocess.run(
        [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-i", str(tmp_path / "clip.mp4"),
         "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True, check=True,
    )  # fmt: skip
    frames = np.frombuffer(run.stdout, dtype=np.uint8).reshape(-1, size, size, 3)
    assert [marks.read_code(frame) for frame in frames] == list(range(40))


def test_planes_hold_the_marks_of_their_own_frame():
    settings = RenderSettings(size=384, frame_counter=True, legend=True, frame_code=True)
    stage, other = Stage(striding(6), settings), Stage(striding(6), settings)
    planes = [bytes(frame) for frame in stage.planes()]
    for frame in (5, 2):
        other.picture(frame)
    luma = np.frombuffer(planes[5], dtype=np.uint8)[: 384 * 384].reshape(384, 384)
    other.picture(5)
    assert np.array_equal(
        luma,
        np.frombuffer(bytes(other._painter.i420()), dtype=np.uint8)[: 384 * 384].reshape(384, 384),
    )
