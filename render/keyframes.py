"""A few frames of a motion as pictures, for language models and for print.

STRIDE (appendix D.2) shows six uniformly spaced skeleton frames with the root's trajectory, left
to right. MRBench shows frames at 5 per second. Both use the camera of the video.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from corpus.motion import Motion
from corpus.problems import InputError
from render import raster
from render.clip import RenderSettings, Stage
from render.marks import INK
from render.sheet import Picture, sheet, write_picture
from render.window import window

PATH_AHEAD = (126, 133, 145)
"""sRGB of the part of the trajectory that is still to come."""
MOST = 2000
"""Most frames that are drawn at once."""
WIDEST = 6.0
"""Most that a row of frames is wider than high, unless asked for (ours)."""
DEFAULTS = RenderSettings(size=384, view="skeleton")
"""Settings where none are given."""


class Keyframes(NamedTuple):
    """Pictures of one motion in order of time."""

    pictures: list[Picture]
    """(H, W, 3) uint8 RGB each, all of one size."""
    frames: list[int]
    """Number of each frame in the video of the same settings, from 0."""
    times: list[float]
    """Its time, seconds from the start."""

    def captions(self) -> list[str]:
        """Return a line for each picture: frame number and time."""
        return [
            f"frame {frame}   {time:.2f} s"
            for frame, time in zip(self.frames, self.times, strict=True)
        ]

    def as_one(self, columns: int | None = None) -> Picture:
        """Return one picture of all, left to right and row by row.

        Args:
            columns: Pictures in a row; null for one row up to 6, else rows of 5, and fewer where
                the row would get wider than ``WIDEST``, as somebody who walks far makes it.
        """
        return sheet(self.pictures, columns or self._in_a_row(), self.captions())

    def _in_a_row(self) -> int:
        height, width = self.pictures[0].shape[:2]
        count = len(self.pictures)
        usual, fitting = count if count <= 6 else 5, max(1, int(WIDEST * height / width))
        if usual <= fitting:
            return usual
        rows = -(-count // fitting)
        return -(-count // rows)

    def write(self, out: Path, kind: str = "png", columns: int | None = None) -> list[Path]:
        """Write one picture of all, or one file for each frame; return the files.

        Args:
            out: A PNG or JPEG by its suffix, or, without suffix, a folder for ``001.png``, …
            kind: ``png`` or ``jpg`` for the files in a folder.
            columns: As in ``as_one``.
        """
        if out.suffix:
            write_picture(out, self.as_one(columns))
            return [out]
        digits = max(3, len(str(len(self.pictures))))
        files = [out / f"{n:0{digits}d}.{kind}" for n in range(1, len(self.pictures) + 1)]
        for file, picture in zip(files, self.pictures, strict=True):
            write_picture(file, picture)
        return files


def keyframes(
    motion: Motion,
    count: int = 6,
    settings: RenderSettings | None = None,
    trajectory: bool = True,
    crop: bool = True,
) -> Keyframes:
    """Draw frames at equal distances, the first and the last among them.

    Args:
        motion: A motion that ``render_clip`` takes.
        count: Number of frames, at least 1; one alone is the middle one. A motion of fewer
            frames gives each of them once.
        settings: As for the video; null for a skeleton of 384 pixels.
        trajectory: Draw the path of the pelvis on the floor: dark where it has been, pale where
            it will go.
        crop: Show only the box around all these frames, the same in each, so that the person is
            large; it has as many pixels as the settings' square.

    Raises:
        InputError: As ``render_clip``; a count out of range.
    """
    if not 1 <= count <= MOST:
        raise InputError(f"count: expected 1 to {MOST} frames, got {count}")
    chosen = settings or DEFAULTS

    def uniform(total: int) -> list[int]:
        at = np.linspace(0, total - 1, count) if count > 1 else np.array([total / 2])
        return [int(frame) for frame in np.unique(np.floor(at + 0.5).clip(max=total - 1))]

    if crop:
        shown, frames = window(motion, chosen, uniform, area=chosen.size**2)
        return _drawn(motion, shown.stage, frames, trajectory, shown.picture)
    stage = Stage(motion, chosen)
    return _drawn(motion, stage, uniform(stage.frames), trajectory, stage.picture)


def frames_at(
    motion: Motion,
    fps: float = 5.0,
    settings: RenderSettings | None = None,
    trajectory: bool = False,
) -> Keyframes:
    """Draw the frames nearest to 0, 1/fps, 2/fps … seconds, up to the last frame.

    Args:
        motion: A motion that ``render_clip`` takes.
        fps: Frames per second, above 0; MRBench: 5. Above the settings' rate every frame is
            drawn once.
        settings: As for the video; null for a skeleton of 384 pixels.
        trajectory: As in ``keyframes``.

    Raises:
        InputError: As ``render_clip``; a rate out of range or over 2,000 frames.
    """
    if not (np.isfinite(fps) and fps > 0):
        raise InputError(f"fps: expected a number above 0, got {fps:g}")
    stage = Stage(motion, settings or DEFAULTS)
    count = int(np.floor((stage.frames - 1) / stage.fps * fps + 1e-6)) + 1
    at = np.round(np.arange(count) * stage.fps / fps).clip(max=stage.frames - 1)
    frames = [int(frame) for frame in np.unique(at)]
    if len(frames) > MOST:
        raise InputError(
            f"fps: expected at most {MOST} frames, got {len(frames)}; take a lower rate"
        )
    return _drawn(motion, stage, frames, trajectory, stage.picture)


def _drawn(
    motion: Motion,
    stage: Stage,
    frames: list[int],
    trajectory: bool,
    picture: Callable[[int], Picture],
) -> Keyframes:
    path = floor_path(motion, stage) if trajectory else None
    ground = stage.ground
    pictures = []
    for frame in frames:
        if path is not None:
            stage.under(_with_path(ground, path, frame))
        pictures.append(picture(frame))
    return Keyframes(pictures, frames, [frame / stage.fps for frame in frames])


def floor_path(motion: Motion, stage: Stage) -> NDArray[np.float32]:
    """Return the pelvis on the floor as the stage's camera sees it: (T, 2) pixels."""
    root = motion.resampled(stage.fps).joint("pelvis").copy()
    root[:, 1] = 0.0
    points = np.empty_like(root)
    raster.project(root, stage.camera.packed(), points)
    path: NDArray[np.float32] = points[:, :2]
    return path


def _with_path(ground: Picture, path: NDArray[np.float32], frame: int) -> Picture:
    """Draw the trajectory over the floor, smooth edges by drawing at three times the size."""
    size, fine = ground.shape[0], 3
    width = max(1, round(size / 110)) * fine
    image = Image.fromarray(ground)
    for points, colour in ((path, PATH_AHEAD), (path[: frame + 1], INK)):
        line = _spaced(points * fine, width)
        mask = Image.new("L", (size * fine, size * fine))
        pen = ImageDraw.Draw(mask)
        if len(line) > 1:
            pen.line(line, 255, width, joint="curve")
        for x, y in (line[0], line[-1]):
            pen.ellipse((x - width, y - width * 0.6, x + width, y + width * 0.6), 255)
        image.paste(colour, mask=mask.resize((size, size), Image.Resampling.BOX))
    return np.asarray(image)


def _spaced(points: NDArray[np.float32], apart: float) -> list[tuple[float, float]]:
    """Leave out points nearer than a distance to the one kept before, which would show as beads."""
    kept = [0]
    for number in range(1, len(points)):
        if np.linalg.norm(points[number] - points[kept[-1]]) >= apart:
            kept.append(number)
    if kept[-1] != len(points) - 1:
        kept[-1 if len(kept) > 1 else len(kept) :] = [len(points) - 1]
    return [(float(x), float(y)) for x, y in points[kept]]
