import numpy as np
import pytest
from PIL import Image

from corpus.problems import InputError
from render.clip import RenderSettings, Stage
from render.strip import strip, write_strip
from tests.render.poses import motion_of, striding


def _walk(metres, frames=40, axis=0):
    root = np.zeros((frames, 3))
    root[:, 1] = 0.95
    root[:, axis] = np.linspace(0, metres, frames)
    return motion_of({"left_hip": np.linspace(-20, 20, frames)[:, None] * [1, 0, 0]}, root=root)


def test_every_third_frame_with_its_time():
    drawn = strip(striding(40), tile=64)
    assert drawn.frames == list(range(0, 40, 3))
    assert drawn.times == pytest.approx(np.arange(0, 40, 3) / 30)
    assert drawn.columns == 14


@pytest.mark.parametrize(("tiles", "columns"), [(17, 17), (18, 10), (30, 15), (34, 17), (102, 17)])
def test_rows_have_ten_to_seventeen_tiles_and_few_gaps(tiles, columns):
    from render.strip import _row_length

    found = _row_length(tiles, 120)
    assert 10 <= found <= 17
    gaps = [-tiles % length for length in range(10, 18)]
    assert -tiles % found == min(gaps) or tiles <= 17
    if tiles != 18:
        assert found == columns
    assert _row_length(tiles, 400) == 10 or tiles <= 10


def test_displacement_is_told_in_the_viewers_axes():
    # The person faces the camera: their left (+X) is the viewer's right; forward is towards it.
    for axis, column in ((0, 0), (2, 1)):
        drawn = strip(_walk(1.5, axis=axis), tile=64)
        at = np.array(drawn.frames) / 39 * 1.5
        assert drawn.displacement[:, column] == pytest.approx(at, abs=1e-4)
        assert drawn.displacement[:, 1 - column] == pytest.approx(0.0, abs=1e-4)


def _middle(tile):
    """Column of the coloured limbs' centre."""
    limbs = np.abs(tile[..., 0].astype(int) - tile[..., 2]) > 60
    return np.argwhere(limbs)[:, 1].mean()


def test_a_fixed_window_shows_travel_and_a_following_one_keeps_the_person_in_the_middle():
    motion = _walk(1.5)
    found = {}
    for viewport in ("fixed", "follow"):
        drawn = strip(motion, 13, tile=128, columns=4, viewport=viewport, header=False)
        page = drawn.picture
        wide = (page.shape[1] - 4) // 4
        tiles = [page[4:132, 4 + n * wide : n * wide + wide] for n in range(4)]
        found[viewport] = np.array([_middle(tile) for tile in tiles]) / wide
    assert np.diff(found["fixed"]).min() > 0.08
    assert np.ptp(found["follow"]) < 0.06
    assert found["follow"].mean() == pytest.approx(0.5, abs=0.05)


def test_who_walks_forty_metres_stays_large_when_followed():
    motion = _walk(40.0, axis=2)
    large = {}
    for viewport in ("fixed", "follow"):
        page = strip(motion, 13, tile=96, columns=4, viewport=viewport, header=False).picture
        wide = (page.shape[1] - 4) // 4
        limbs = np.abs(page[..., 0].astype(int) - page[..., 2]) > 60
        large[viewport] = [limbs[:, n * wide : (n + 1) * wide].sum() for n in range(4)]
    assert large["fixed"][0] < 0.1 * large["fixed"][3]
    assert min(large["follow"]) > 0.7 * max(large["follow"])


def test_tiles_are_the_frames_of_the_video():
    motion = striding(7)
    drawn = strip(motion, 3, tile=128, header=False)
    assert drawn.picture.shape[0] > 128
    colours = {tuple(c) for c in drawn.picture.reshape(-1, 3)[::7].tolist()}
    stage = Stage(motion, RenderSettings(size=192))
    limb = tuple(int(c) for c in stage.actor.colours[6])
    assert any(np.abs(np.array(c) - limb).max() < 40 for c in colours)


def test_the_strip_of_the_mirrored_motion_is_not_the_same():
    pictures = [strip(m, 3, tile=96).picture for m in (striding(7), striding(7).mirrored())]
    assert pictures[0].shape == pictures[1].shape
    assert np.abs(pictures[0].astype(int) - pictures[1]).mean() > 0.5


def test_it_is_written_as_png_or_jpeg(tmp_path):
    for name, kind in (("a.png", "PNG"), ("b.jpg", "JPEG")):
        drawn = write_strip(striding(7), tmp_path / "deep" / name, tile=64)
        with Image.open(tmp_path / "deep" / name) as image:
            assert image.format == kind
            assert image.size == drawn.picture.shape[1::-1]
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["a.png", "b.jpg"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stride": 0}, "stride: expected at least 1 frame, got 0"),
        ({"tile": 20}, "tile: expected 64 to 1024"),
        ({"columns": 0}, "columns: expected at least 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        strip(striding(4), **options)


def test_too_long_a_motion_is_told_which_stride_to_take():
    with pytest.raises(
        InputError, match="at most 340 tiles, got 400 at stride 1; take a stride of 2"
    ):
        strip(striding(400), 1)


def test_one_frame_is_a_strip_of_one_tile():
    assert strip(striding(1), tile=64).frames == [0]
