"""Which part of the picture is worth showing: the box around the body, over all frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.motion import Motion
from render import raster, scene
from render.actor import skinned
from render.clip import RenderSettings, Stage
from render.sheet import Picture

BROAD = (0.6, 1.8)
"""Least and greatest width of a window over its height."""
AIR = 0.05
"""Share of the box around the motion that is left free on each side."""
MEASURED = 512
"""Size at which the boxes are measured, pixels."""

Viewport = Literal["fixed", "follow"]


class Window(NamedTuple):
    """A stage of the right size and the part of its pictures that is shown."""

    stage: Stage
    left: int
    """First column that is shown; may lie outside the stage's pictures."""
    top: int
    """First row that is shown."""
    wide: int
    """Width of what is shown, pixels."""
    high: int
    """Height of what is shown, pixels."""
    travel: NDArray[np.float64] | None
    """(T, 3) metres by which the camera goes along; null where it stands still."""

    def picture(self, frame: int) -> Picture:
        """Return what is shown of a frame; beyond the picture's edge its last pixels go on."""
        if self.travel is not None:
            camera = self.stage.camera
            moved = camera._replace(eye=camera.eye + self.travel[frame])
            self.stage.under(scene.background(moved))
        whole = self.stage.picture(frame)
        rows = np.clip(np.arange(self.top, self.top + self.high), 0, whole.shape[0] - 1)
        columns = np.clip(np.arange(self.left, self.left + self.wide), 0, whole.shape[1] - 1)
        return np.ascontiguousarray(whole[rows[:, None], columns])


def window(
    motion: Motion,
    settings: RenderSettings,
    frames: Callable[[int], Sequence[int]],
    *,
    height: int | None = None,
    area: int | None = None,
    viewport: Viewport = "fixed",
) -> tuple[Window, list[int]]:
    """Find what to show of some frames, and make a stage on which it has the wanted size.

    Args:
        motion: A motion that ``render_clip`` takes.
        settings: As for the video; its size is not used, and of the marks only the arrow.
        frames: Given how many there are, the numbers of the frames to show, at least one.
        height: Height of what is shown, pixels.
        area: Or its width times its height.
        viewport: ``fixed``: the box around all frames, the same for each (T2MBench 3.3.1);
            ``follow``: the camera goes along with the pelvis over the floor.

    Returns:
        The window and the frames.

    Raises:
        InputError: As ``render_clip``.
    """
    travel = None
    plain = {"legend": False, "frame_counter": False, "frame_code": False}
    if viewport == "follow":
        motion, travel = _in_place(motion.resampled(settings.fps))
    small = Stage(
        motion, settings.model_copy(update=plain | {"size": MEASURED, "backend": "raster"})
    )
    chosen = list(frames(small.frames))
    left, top, right, bottom = _box(small, chosen)
    width, tall = (right - left) * (1 + 2 * AIR), (bottom - top) * (1 + 2 * AIR)
    width, tall = max(width, tall * BROAD[0]), max(tall, width / BROAD[1])
    wanted = float(height or np.sqrt((area or MEASURED**2) * tall / width))
    size = int(np.clip(2 * round(MEASURED * wanted / tall / 2), 64, 4096))
    scale = size / MEASURED
    wide, high = max(2, round(width * scale)), max(2, round(tall * scale))
    shown = Window(
        Stage(motion, settings.model_copy(update=plain | {"size": size})),
        round(((left + right) * scale - wide) / 2),
        round(((top + bottom) * scale - high) / 2),
        wide,
        high,
        travel,
    )
    return shown, chosen


def _in_place(motion: Motion) -> tuple[Motion, NDArray[np.float64]]:
    """Take the way of the pelvis over the floor out of a motion; return both."""
    root = motion.joint("pelvis")
    travel = (root - root[0]) * np.array([1, 0, 1], dtype=np.float32)
    changed: dict[str, object] = {"positions": motion.positions - travel[:, None]}
    if motion.root_translation is not None:
        changed["root_translation"] = motion.root_translation - travel
    return motion.model_copy(update=changed), travel.astype(np.float64)


def _box(stage: Stage, frames: Sequence[int]) -> tuple[float, float, float, float]:
    """Return left, top, right, bottom around the body over some frames, pixels."""
    world = np.empty_like(stage.actor.vertices)
    points = np.empty_like(world)
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for frame in frames:
        skinned(stage.actor, frame, world)
        raster.project(world, stage.camera.packed(), points)
        low = np.minimum(low, points[:, :2].min(axis=0))
        high = np.maximum(high, points[:, :2].max(axis=0))
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])
