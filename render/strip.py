"""A motion as one picture: frames at a fixed stride, time left to right, wrapped in rows.

T2MBench (3.3.1) shows a judge one strip of body frames with colour-coded parts, sampled at a
fixed stride, from a fixed camera whose viewport is the box around the whole motion. A strip of a
long motion is too wide to be read, so it is wrapped (ours); each tile tells its frame and how far
the pelvis has moved.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from corpus.motion import Motion
from corpus.problems import InputError
from render.clip import RenderSettings, Stage
from render.marks import INK
from render.sheet import Picture, sheet, write_picture
from render.window import Viewport, window

STRIDE = 3
"""Frames from one tile to the next (T2MBench leaves it open; ours)."""
ROW = (10, 17)
"""Fewest and most tiles in a row of several."""
TILE = 200
"""Height of a tile, pixels."""
MOST = 20 * ROW[1]
"""Most tiles in a strip."""
WIDEST = 3400
"""Width in pixels from which on rows become shorter, down to the fewest tiles."""
HEADER = (
    "Time runs left to right, row by row. Under each tile: frame number; metres the pelvis has "
    "moved towards the viewer's right (+) or left (-), and towards the viewer (+) or away (-). "
    "Person's left limbs blue, right limbs orange."
)


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
            whole motion, so travel is seen; in ``follow`` the camera goes along with the person,
            who stays large, and travel is seen by the floor, in the numbers, and sideways by a
            mark on a line along the lower edge.
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

    def every(count: int) -> range:
        found = range(0, count, stride)
        if len(found) > MOST:
            raise InputError(
                f"expected at most {MOST} tiles, got {len(found)} at stride {stride}; "
                f"take a stride of {-(-count // MOST)} or crop the motion",
                file=motion.source,
            )
        return found

    shown, frames = window(motion, chosen, every, height=tile, viewport=viewport)
    moved = _displacement(motion, shown.stage)
    spread = (float(moved[:, 0].min()), float(moved[:, 0].max()))
    tiles = [shown.picture(frame) for frame in frames]
    if viewport == "follow":
        tiles = [
            _with_ruler(drawn, float(moved[frame, 0]), spread)
            for frame, drawn in zip(frames, tiles, strict=True)
        ]
    shift = moved[frames]
    captions = [
        f"{frame}   {_signed(x)}  {_signed(z)} m"
        for frame, (x, z) in zip(frames, shift, strict=True)
    ]
    wanted = columns or _row_length(len(frames), shown.wide)
    page = sheet(tiles, wanted, captions, HEADER if header else "")
    return Strip(
        page, frames, [f / shown.stage.fps for f in frames], shift, min(wanted, len(frames))
    )


def write_strip(
    motion: Motion,
    out: Path,
    stride: int = STRIDE,
    settings: RenderSettings | None = None,
    *,
    columns: int | None = None,
    tile: int = TILE,
    viewport: Viewport = "fixed",
    header: bool = True,
) -> Strip:
    """Draw a strip and write it as PNG or JPEG by the suffix of ``out``; see ``strip``."""
    drawn = strip(
        motion, stride, settings, columns=columns, tile=tile, viewport=viewport, header=header
    )
    write_picture(out, drawn.picture)
    return drawn


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


def _signed(metres: float) -> str:
    """Two decimals with a sign; no minus before zero."""
    return f"{round(metres, 2) + 0.0:+.2f}"


def _row_length(count: int, wide: int) -> int:
    """Tiles in a row: one row where it is short, else the length that leaves fewest gaps.

    Broad tiles come in shorter rows, so that the strip is not much wider than ``WIDEST``.
    """
    fewest, most = ROW[0], min(ROW[1], max(ROW[0], WIDEST // wide))
    if count <= most:
        return count
    return min(range(most, fewest - 1, -1), key=lambda length: -count % length)
