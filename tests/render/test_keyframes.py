import numpy as np
import pytest
from PIL import Image

from corpus.problems import InputError
from render.clip import RenderSettings, Stage
from render.keyframes import PATH_AHEAD, Keyframes, floor_path, frames_at, keyframes
from render.marks import INK
from tests.render.poses import motion_of, striding

SMALL = RenderSettings(size=128, view="skeleton")


def _walk(frames=61):
    root = np.zeros((frames, 3))
    root[:, 1] = 0.95
    root[:, 0] = np.linspace(0, 2, frames)
    return motion_of({"left_hip": np.zeros((frames, 3))}, root=root)


@pytest.mark.parametrize(
    ("frames", "count", "expected"),
    [
        (61, 6, [0, 12, 24, 36, 48, 60]),
        (61, 2, [0, 60]),
        (61, 1, [31]),
        (4, 6, [0, 1, 2, 3]),
        (1, 6, [0]),
    ],
)
def test_frames_at_equal_distances(frames, count, expected):
    found = keyframes(striding(frames), count, SMALL)
    assert found.frames == expected
    assert found.times == pytest.approx(np.array(expected) / 30)
    assert len({picture.shape for picture in found.pictures}) == 1


@pytest.mark.parametrize(
    ("fps", "expected"), [(5, [0, 6, 12, 18, 24]), (7, [0, 4, 9, 13, 17, 21, 26]), (0.1, [0])]
)
def test_frames_at_a_rate_are_those_nearest_in_time(fps, expected):
    found = frames_at(striding(30), fps, SMALL)
    assert found.frames == expected
    assert frames_at(striding(30), 60, SMALL).frames == list(range(30))


def test_pictures_are_frames_of_the_video():
    motion = striding(30)
    found = frames_at(motion, 5, SMALL)
    stage = Stage(motion, SMALL)
    for frame, picture in zip(found.frames, found.pictures, strict=True):
        assert np.array_equal(picture, stage.picture(frame))
    uncropped = keyframes(motion, 3, SMALL, trajectory=False, crop=False)
    assert np.array_equal(uncropped.pictures[2], stage.picture(29))


@pytest.mark.parametrize(
    ("width", "count", "columns"),
    [(60, 6, 6), (60, 7, 5), (100, 6, 6), (180, 6, 3), (180, 4, 2), (900, 3, 1), (180, 20, 3)],
)
def test_wide_frames_stand_in_shorter_rows(width, count, columns):
    pictures = [np.zeros((100, width, 3), np.uint8)] * count
    found = Keyframes(pictures, list(range(count)), [0.0] * count)
    assert found.as_one().shape == found.as_one(columns).shape
    assert found.as_one(1).shape[1] < found.as_one(2).shape[1]


def _near(picture, colour, x, y):
    part = picture[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2].reshape(-1, 3)
    return np.abs(part.astype(int) - colour).max(axis=1).min() < 25


def test_the_path_is_dark_where_the_pelvis_has_been_and_pale_where_it_will_go():
    motion = _walk()
    settings = RenderSettings(size=256, view="skeleton")
    found = keyframes(motion, 3, settings, crop=False)
    path = floor_path(motion, Stage(motion, settings))
    assert np.diff(path[:, 0]).min() > 0
    x, y = path[15]
    assert _near(found.pictures[0], PATH_AHEAD, x, y)
    assert _near(found.pictures[1], INK, x, y)
    x, y = path[45]
    assert _near(found.pictures[1], PATH_AHEAD, x, y)
    assert _near(found.pictures[2], INK, x, y)


def test_cropping_makes_the_person_large():
    motion = _walk()

    def share(picture):
        return (np.abs(picture[..., 0].astype(int) - picture[..., 2]) > 60).mean()

    whole, cropped = (
        keyframes(motion, 3, SMALL, trajectory=False, crop=crop).pictures[1]
        for crop in (False, True)
    )
    assert share(cropped) > 1.5 * share(whole)
    assert cropped.shape[0] * cropped.shape[1] == pytest.approx(128 * 128, rel=0.05)


def test_all_as_one_picture_or_as_numbered_files(tmp_path):
    found = frames_at(striding(30), 5, SMALL)
    assert found.captions()[1] == "frame 6   0.20 s"
    wide, high = found.as_one().shape[1], found.as_one(columns=1).shape[0]
    assert wide > 5 * 128
    assert high > 5 * 128
    assert found.write(tmp_path / "deep" / "all.jpg") == [tmp_path / "deep" / "all.jpg"]
    files = found.write(tmp_path / "frames")
    assert [f.name for f in files] == ["001.png", "002.png", "003.png", "004.png", "005.png"]
    with Image.open(files[3]) as image:
        assert np.array_equal(np.asarray(image), found.pictures[3])


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="count: expected 1 to 2000 frames, got 0"):
        keyframes(striding(4), 0)
    with pytest.raises(InputError, match="fps: expected a number above 0, got 0"):
        frames_at(striding(4), 0)
