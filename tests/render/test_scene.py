import numpy as np
import pytest

from corpus.motion import Motion
from render import raster, scene
from render.actor import mesh_actor, skinned
from render.clip import RenderSettings, Stage
from render.paint import Painter, RasterLayer
from tests.render.poses import motion_of, striding


def _walk_to(target, frames=30, turn=0.0):
    root = np.linspace((0, 0.95, 0), (target[0], 0.95 + target[1], target[2]), frames)
    return motion_of({"pelvis": np.tile((0, turn, 0), (frames, 1))}, root=root, rotations=False)


def _projected(stage):
    out = np.empty_like(stage.actor.vertices)
    points = np.empty_like(out)
    found = []
    for frame in range(stage.frames):
        skinned(stage.actor, frame, out)
        raster.project(out, stage.camera.packed(), points)
        found.append(points.copy())
    return np.array(found)


@pytest.mark.parametrize("turn", [0, 30, 90, 180, -120])
def test_heading_is_the_yaw_of_the_first_frame(turn):
    expected = np.angle(np.exp(1j * np.radians(turn)))
    found = scene.heading(_walk_to((0, 0, 1), turn=turn))
    assert np.angle(np.exp(1j * (found - expected))) == pytest.approx(0.0, abs=1e-5)


def test_heading_of_a_degenerate_frame_is_forward():
    assert scene.heading(Motion(positions=np.zeros((1, 22, 3)), fps=30)) == 0.0


@pytest.mark.parametrize(
    "target", [(0, 0, 0), (40, 0, 0), (0, 0, 40), (0, 0, -40), (0, 3, 0), (-3, 0, 5)]
)
def test_whole_body_is_in_the_picture_in_every_frame(target):
    stage = Stage(_walk_to(target), RenderSettings(size=256))
    points = _projected(stage)
    assert points[..., :2].min() > 256 * 0.03
    assert points[..., :2].max() < 256 * 0.97
    assert points[..., 2].max() < 1.0  # nothing nearer to the camera than 1 m


@pytest.mark.parametrize("size", [0.3, 2.0, 6.0])
@pytest.mark.parametrize("view", ["mesh", "skeleton"])
def test_a_person_of_any_size_fills_the_picture_alike(size, view):
    usual = striding(rotations=False)
    scaled = Motion(positions=usual.positions * size, fps=30)
    for number, motion in enumerate((usual, scaled)):
        points = _projected(Stage(motion, RenderSettings(size=256, view=view)))[..., :2]
        assert points.min() > 256 * (scene.MARGIN - 0.005)
        assert points.max() < 256 * (1 - scene.MARGIN + 0.005)
        tall = np.ptp(points[0, :, 1])
        if number == 0:
            expected = tall
    assert tall == pytest.approx(expected, rel=0.06)


def test_a_path_across_the_picture_reaches_from_margin_to_margin():
    points = _projected(Stage(_walk_to((5, 0, 0)), RenderSettings(size=256)))[..., 0]
    # To half a pixel at the end; at the start the free room about the person is a little wider.
    assert points.min() == pytest.approx(256 * scene.MARGIN, abs=1.5)
    assert points.max() == pytest.approx(256 * (1 - scene.MARGIN), abs=0.5)


@pytest.mark.parametrize("turn", [0, 75, 180])
def test_camera_faces_the_person_whose_left_is_on_the_viewers_right(turn):
    motion = _walk_to((0, 0, 0), turn=turn)
    stage = Stage(motion, RenderSettings(size=256))
    toward = stage.camera.eye - motion.joint("pelvis")[0]
    facing = np.array([np.sin(np.radians(turn)), 0, np.cos(np.radians(turn))])
    assert toward @ facing > 2.0
    assert stage.camera.eye[1] > 1.2
    points = np.empty((2, 3), dtype=np.float32)
    hands = np.array([motion.joint("left_wrist")[0], motion.joint("right_wrist")[0]])
    raster.project(hands, stage.camera.packed(), points)
    assert points[0, 0] > points[1, 0] + 20


def test_grid_lines_lie_on_whole_metres():
    stage = Stage(_walk_to((0, 0, 0)), RenderSettings(size=512))
    image = scene.background(stage.camera).astype(int).sum(axis=2)
    points = np.empty((2, 3), dtype=np.float32)
    on, off = (0.0, 0.0, 0.27), (0.25, 0.0, 0.27)
    raster.project(np.array([on, off]), stage.camera.packed(), points)
    bright, plain = (image[int(y), int(x)] for x, y, _ in points)
    assert bright > plain + 60


def test_feet_stand_on_the_floor():
    motion = striding(rotations=False)
    actor = mesh_actor(Motion(positions=motion.positions + [0, 1.7, 0], fps=30))
    out = np.empty_like(actor.vertices)
    lowest = []
    for frame in range(len(actor.transforms)):
        skinned(actor, frame, out)
        lowest.append(out[:, 1].min())
    assert min(lowest) == pytest.approx(0.0, abs=1e-4)


def test_a_body_of_many_pixels_is_drawn_with_one_sample_per_pixel_and_looks_alike():
    assert Painter(*_set(striding(), 128)).samples == 2
    painter = Painter(*_set(striding(rotations=False), 768))
    assert painter.samples == 1
    painter.draw(4)
    soft = painter.frame.astype(float)
    painter.samples = 2
    painter._layer = RasterLayer(painter.actor, painter.size, 2)
    painter.draw(4)
    away = np.abs(soft - painter.frame)
    assert (painter.frame != painter.background).any(axis=2).sum() > 20_000
    assert away.mean() < 0.3
    assert (away.max(axis=2) > 100).sum() < 100


def _set(motion, size):
    stage = Stage(motion, RenderSettings(size=size))
    return stage.actor, stage.camera


def test_shadow_is_dark_under_a_standing_and_faint_under_a_floating_body():
    motion = motion_of({})
    stage = Stage(motion, RenderSettings(size=256))
    standing = Painter(stage.actor, stage.camera)
    high = stage.actor.transforms.copy()
    high[:, :, 1, 3] += 1.0
    floating = Painter(stage.actor._replace(transforms=high), stage.camera)
    spot = np.empty((1, 3), dtype=np.float32)
    raster.project(np.array([[0.09, 0.0, 0.16]]), stage.camera.packed(), spot)
    top = int(spot[0, 1]) - 4
    plain = scene.background(stage.camera)[top : top + 14].astype(int)
    darkest = []
    for painter in (standing, floating):
        painter.draw(0)
        shown = painter.frame[top : top + 14].astype(int)
        grey = np.abs(shown[..., 0] - shown[..., 2]) < 25  # the floor, not the coloured feet
        darkest.append(((plain - shown).mean(axis=2) * grey).max())
    assert darkest[0] > 45
    assert 8 < darkest[1] < darkest[0] / 2
