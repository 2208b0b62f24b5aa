"""A motion as one picture: frames at a fixed stride, time left to right, wrapped in rows.

T2MBench (3.3.1) shows a judge one strip of body frames with colour-coded parts, sampled at a
fixed stride, from a fixed camera whose viewport is the box around the whole motion. A strip of a
long motion is too wide to be read, so it is wrapped (ours); each tile tells its frame and how far
the pelvis has moved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from corpus.motion import Motion
from corpus.problems import InputError
from render import raster
from render.actor import skinned
from render.clip import RenderSettings, Stage
from render.marks import INK
from render.sheet import Picture, sheet, write_picture

STRIDE = 3
"""Frames from one tile to the next (T2MBench leaves it open; ours)."""
ROW = (10, 17)
"""Fewest and most tiles in a row of several."""
TILE = 200
"""Height of a tile, pixels."""
MOST = 20 * ROW[1]
"""Most tiles in a strip."""
BROAD = (0.6, 1.8)
"""Least and greatest width of a tile over its height."""
AIR = 0.05
"""Share of the box around the motion that is left free on each side."""
HEADER = (
    "Time runs left to right, row by row. Under each tile: frame number; metres the pelvis has "
    "moved towards the viewer's right (+) or left (-), and towards the viewer (+) or away (-). "
    "Person's left limbs blue, right limbs orange."
)

Viewport = Literal["fixed", "follow"]


class Strip(NamedTuple):
    """A strip and what is on it."""

    picture: Picture
    """(H, W, 3) uint8 RGB."""
    frames: list[int]
    """Number of each tile's frame in the video of the same settings, from 0."""
    times: list[float]
    """Its time, seconds from the start."""
    displacement: NDArray[np.float64]
    """(n, 2) metres the pelvis has moved from frame 0: to the viewer's right, to the viewer."""
    columns: int
    """Tiles in a row."""


def strip(
    motion: Motion,
    stride: int = STRIDE,
    settings: RenderSettings | None = None,
    *,
    columns: int | None = None,
    tile: int = TILE,
    viewport: Viewport = "fixed",
    header: bool = True,
) -> Strip:
    """Draw a strip.

    Args:
        motion: A motion that ``render_clip`` takes.
        stride: Frames of the video from one tile to the next, at least 1.
        settings: As for the video, but for the size, which follows from ``tile``.
        columns: Tiles in a row; null for 10 to 17, whichever fills the last row best.
        tile: Height of a tile in pixels, 64 to 1024.
        viewport: ``fixed`` shows the same part of the world in every tile, the box around the
            whole motion, so travel is seen; ``follow`` keeps the person in the middle and large,
            so travel is seen in the numbers and by a mark on the line under the person only.
        header: Say over the tiles how they are read.

    Raises:
        InputError: As ``render_clip``; an argument out of range; over 340 tiles.
    """
    if stride < 1:
        raise InputError(f"stride: expected at least 1 frame, got {stride}")
    if not 64 <= tile <= 1024:
        raise InputError(f"tile: expected 64 to 1024 pixels, got {tile}")
    if columns is not None and columns < 1:
        raise InputError(f"columns: expected at least 1 tile, got {columns}")
    chosen = settings or RenderSettings()
    plain = chosen.model_copy(update={"legend": False, "frame_counter": False, "frame_code": False})
    small = Stage(motion, plain.model_copy(update={"size": 512, "backend": "raster"}))
    frames = list(range(0, small.frames, stride))
    if len(frames) > MOST:
        raise InputError(
            f"expected at most {MOST} tiles, got {len(frames)} at stride {stride}; "
            f"take a stride of {-(-small.frames // MOST)} or crop the motion",
            file=motion.source,
        )
    boxes = _boxes(small, frames)
    window = _window(boxes, viewport)
    size = int(np.clip(2 * round(512 * tile / window[1] / 2), 64, 4096))
    stage = Stage(motion, plain.model_copy(update={"size": size}))
    wide, high = (max(2, round(side * size / 512)) for side in window)
    moved = _displacement(motion, stage)
    spread = (float(moved[:, 0].min()), float(moved[:, 0].max()))
    tiles = []
    for number, frame in enumerate(frames):
        box = boxes[number] if viewport == "follow" else _around(boxes)
        shown = _cut(stage.picture(frame), box * size / 512, wide, high)
        if viewport == "follow":
            shown = _with_ruler(shown, float(moved[frame, 0]), spread)
        tiles.append(shown)
    shift = moved[frames]
    captions = [f"{f}   {x:+.2f}  {z:+.2f} m" for f, (x, z) in zip(frames, shift, strict=True)]
    wanted = columns or _row_length(len(frames))
    page = sheet(tiles, wanted, captions, HEADER if header else "")
    return Strip(page, frames, [f / stage.fps for f in frames], shift, min(wanted, len(frames)))


def write_strip(motion: Motion, out: Path, **options: object) -> Strip:
    """Draw a strip and write it as PNG or JPEG by the suffix of ``out``; see ``strip``."""
    drawn = strip(motion, **options)  # type: ignore[arg-type]
    write_picture(out, drawn.picture)
    return drawn


def _boxes(stage: Stage, frames: list[int]) -> NDArray[np.float64]:
    """Return left, top, right, bottom around the body in each frame, pixels: (n, 4)."""
    world = np.empty_like(stage.actor.vertices)
    points = np.empty_like(world)
    boxes = np.empty((len(frames), 4))
    for number, frame in enumerate(frames):
        skinned(stage.actor, frame, world)
        raster.project(world, stage.camera.packed(), points)
        boxes[number] = *points[:, :2].min(axis=0), *points[:, :2].max(axis=0)
    return boxes


def _around(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])


def _window(boxes: NDArray[np.float64], viewport: Viewport) -> tuple[float, float]:
    """Width and height of what a tile shows, pixels of the picture that was measured."""
    if viewport == "fixed":
        left, top, right, bottom = _around(boxes)
        width, height = right - left, bottom - top
    else:
        width, height = (boxes[:, 2:] - boxes[:, :2]).max(axis=0)
    width, height = width * (1 + 2 * AIR), height * (1 + 2 * AIR)
    low, high = BROAD
    return max(width, height * low), max(height, width / high)


def _cut(picture: Picture, box: NDArray[np.float64], wide: int, high: int) -> Picture:
    """Cut a tile with the box in its middle; beyond the picture's edge its last pixels go on."""
    left = round((box[0] + box[2] - wide) / 2)
    top = round((box[1] + box[3] - high) / 2)
    rows = np.clip(np.arange(top, top + high), 0, len(picture) - 1)
    columns = np.clip(np.arange(left, left + wide), 0, picture.shape[1] - 1)
    return np.ascontiguousarray(picture[rows[:, None], columns])


def _displacement(motion: Motion, stage: Stage) -> NDArray[np.float64]:
    """Return the (T, 2) way of the pelvis since frame 0: viewer's right, towards the viewer."""
    root = motion.resampled(stage.fps).joint("pelvis").astype(np.float64)
    moved = (root - root[0]) * [1.0, 0.0, 1.0]
    right = stage.camera.axes[0]
    towards = np.array([-right[2], 0.0, right[0]])
    return np.stack([moved @ right, moved @ towards], axis=1)


def _with_ruler(tile: Picture, at: float, spread: tuple[float, float]) -> Picture:
    """Draw a line along the lower edge that spans the travel sideways, with a mark for now."""
    high, wide = tile.shape[:2]
    image = Image.fromarray(tile)
    pen = ImageDraw.Draw(image)
    y, inset = high - 6, 8
    pen.line((inset, y, wide - inset, y), INK, 1)
    share = (at - spread[0]) / (spread[1] - spread[0]) if spread[1] - spread[0] > 0.02 else 0.5
    x = inset + share * (wide - 2 * inset)
    pen.rectangle((x - 2, y - 4, x + 2, y + 4), INK)
    return np.asarray(image)


def _row_length(count: int) -> int:
    """Tiles in a row: all of them up to the most, else the length that leaves fewest gaps."""
    if count <= ROW[1]:
        return count
    return min(range(ROW[1], ROW[0] - 1, -1), key=lambda length: -count % length)
