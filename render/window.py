"""Which part of the picture is worth showing: the box around the body, over all frames or one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.motion import Motion
from render import raster
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
    boxes: dict[int, NDArray[np.float64]]
    """Left, top, right, bottom that is put in the middle, by frame; pixels of the stage."""
    wide: int
    """Width of what is shown, pixels."""
    high: int
    """Height of what is shown, pixels."""

    def picture(self, frame: int) -> Picture:
        """Return what is shown of a frame; beyond the picture's edge its last pixels go on."""
        whole, box = self.stage.picture(frame), self.boxes[frame]
        left = round((box[0] + box[2] - self.wide) / 2)
        top = round((box[1] + box[3] - self.high) / 2)
        rows = np.clip(np.arange(top, top + self.high), 0, whole.shape[0] - 1)
        columns = np.clip(np.arange(left, left + self.wide), 0, whole.shape[1] - 1)
        return np.ascontiguousarray(whole[rows[:, None], columns])


def measured(motion: Motion, settings: RenderSettings) -> Stage:
    """Return a stage to find boxes on; nothing is written over it."""
    plain = {"legend": False, "frame_counter": False, "frame_code": False}
    return Stage(
        motion, settings.model_copy(update=plain | {"size": MEASURED, "backend": "raster"})
    )


def window(
    motion: Motion,
    settings: RenderSettings,
    frames: Sequence[int],
    *,
    height: int | None = None,
    area: int | None = None,
    viewport: Viewport = "fixed",
    stage: Stage | None = None,
) -> Window:
    """Find what to show of some frames, and make a stage on which it has the wanted size.

    Args:
        motion: A motion that ``render_clip`` takes.
        settings: As for the video; its size is not used.
        frames: Numbers of the frames, at least one.
        height: Height of what is shown, pixels.
        area: Or its width times its height.
        viewport: ``fixed``: the box around all frames, the same for each (T2MBench 3.3.1);
            ``follow``: a box of one size around the body in each.
        stage: What ``measured`` gave, where the caller has it.
    """
    small = stage or measured(motion, settings)
    own = _boxes(small, frames)
    around = np.concatenate([own[:, :2].min(axis=0), own[:, 2:].max(axis=0)])
    if viewport == "fixed":
        width, tall = around[2:] - around[:2]
    else:
        width, tall = (own[:, 2:] - own[:, :2]).max(axis=0)
    width, tall = width * (1 + 2 * AIR), tall * (1 + 2 * AIR)
    width, tall = max(width, tall * BROAD[0]), max(tall, width / BROAD[1])
    wanted = float(height or np.sqrt((area or MEASURED**2) * tall / width))
    size = int(np.clip(2 * round(MEASURED * wanted / tall / 2), 64, 4096))
    scale = size / MEASURED
    plain = {"legend": False, "frame_counter": False, "frame_code": False, "size": size}
    boxes = {
        frame: (around if viewport == "fixed" else own[number]) * scale
        for number, frame in enumerate(frames)
    }
    final = Stage(motion, settings.model_copy(update=plain))
    return Window(final, boxes, max(2, round(width * scale)), max(2, round(tall * scale)))


def _boxes(stage: Stage, frames: Sequence[int]) -> NDArray[np.float64]:
    """Return left, top, right, bottom around the body in each frame, pixels: (n, 4)."""
    world = np.empty_like(stage.actor.vertices)
    points = np.empty_like(world)
    boxes = np.empty((len(frames), 4))
    for number, frame in enumerate(frames):
        skinned(stage.actor, frame, world)
        raster.project(world, stage.camera.packed(), points)
        boxes[number] = *points[:, :2].min(axis=0), *points[:, :2].max(axis=0)
    return boxes
