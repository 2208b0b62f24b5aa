"""Pictures against references. Make them anew: ``python -m tests.render.test_golden``."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from render.body import PARTS
from render.clip import RenderSettings, Stage
from render.keyframes import keyframes
from render.strip import strip
from tests.render.poses import left_arm_up, striding

REFERENCE = Path(__file__).parent / "reference"
FAILURE = Path(__file__).resolve().parents[1] / "failure"
ERROR = 0.003
"""Mean absolute difference over mean brightness: room for another processor's rounding only."""

MARKED = RenderSettings(size=384, facing_arrow=True, legend=True, frame_counter=True)


def _frame(motion, frame, view):
    return Stage(motion, RenderSettings(size=192, view=view)).picture(frame)


SCENES = {
    "left_arm_up": lambda: _frame(left_arm_up(), 0, "mesh"),
    "left_arm_up_from_positions": lambda: _frame(left_arm_up(rotations=False), 0, "mesh"),
    "striding": lambda: _frame(striding(), 4, "mesh"),
    "striding_skeleton": lambda: _frame(striding(), 4, "skeleton"),
    "striding_marked": lambda: Stage(striding(), MARKED).picture(9),
    "striding_strip": lambda: strip(striding(), 3, columns=2, tile=128, viewport="follow").picture,
    "striding_keyframes": lambda: keyframes(
        striding(), 3, RenderSettings(size=128, view="skeleton")
    ).as_one(),
}


def _relative_error(picture, reference):
    return np.abs(picture.astype(float) - reference).mean() / reference.mean()


@pytest.mark.parametrize("name", SCENES)
def test_picture_is_like_its_reference(name):
    picture = SCENES[name]()
    with Image.open(REFERENCE / f"{name}.png") as image:
        reference = np.asarray(image.convert("RGB"))
    assert picture.shape == reference.shape
    error = _relative_error(picture, reference)
    if error > ERROR:
        FAILURE.mkdir(exist_ok=True)
        away = np.abs(picture.astype(int) - reference).astype(np.uint8)
        Image.fromarray(np.concatenate([reference, picture, away], axis=1)).save(
            FAILURE / f"{name}.png"
        )
    assert error <= ERROR, f"see {FAILURE / name}.png: reference, picture, difference"


def test_the_error_tells_poses_apart():
    assert _relative_error(SCENES["striding"](), SCENES["left_arm_up"]()) > 2 * ERROR


@pytest.mark.parametrize("rotations", [True, False])
@pytest.mark.parametrize("view", ["mesh", "skeleton"])
def test_mirrored_motion_gives_the_mirrored_picture(view, rotations):
    settings = RenderSettings(size=192, view=view)
    stage = Stage(striding(rotations=rotations), settings)
    mirrored = Stage(striding(rotations=rotations).mirrored(), settings)
    swap = [
        PARTS.index({"left": "right", "right": "left"}.get(p.split("_")[0], "") + p[p.find("_") :])
        if "_" in p
        else number
        for number, p in enumerate(PARTS)
    ]
    colours = mirrored.actor.colours.copy()
    mirrored.actor.colours[:] = colours[swap]
    for frame in (0, 4, 9):
        flipped = mirrored.picture(frame)[:, ::-1]
        assert _relative_error(flipped, stage.picture(frame)) < 0.004
    # Thin bones with left and right in each other's colours are told from that.
    mirrored.actor.colours[:] = colours
    assert _relative_error(mirrored.picture(4)[:, ::-1], stage.picture(4)) > 2 * 0.004


if __name__ == "__main__":
    REFERENCE.mkdir(exist_ok=True)
    for name in SCENES:
        Image.fromarray(SCENES[name]()).save(REFERENCE / f"{name}.png", optimize=True)
