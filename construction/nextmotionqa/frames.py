"""The frames of a clip that the second pass sees, drawn once and kept as files."""

from __future__ import annotations

import math
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.problems import InputError
from llm.media import Media, encode_frame, frames

if TYPE_CHECKING:
    from corpus.motion import Motion
    from render.clip import RenderSettings
    from render.keyframes import Keyframes

SIZE = 384
"""Pixels of the side of the square each frame's area equals (ours)."""
FEWEST, MOST, PER_SECOND = 8, 32, 2.0
"""Frames of a clip where no number is given: so many a second, within these bounds (ours)."""


def frame_count(seconds: float) -> int:
    """Return how many frames a clip is shown by where no number is given.

    >>> frame_count(2.0), frame_count(7.4), frame_count(119.9)
    (8, 15, 32)
    """
    return min(max(math.ceil(PER_SECOND * seconds), FEWEST), MOST)


def clip_frames(motion: Motion, count: int, folder: Path) -> tuple[Media, ...]:
    """Return frames of a motion at equal distances, first and last among them, with their times.

    The body is drawn as in the video people see, limbs coloured by side (NextMotionQA D).

    Args:
        motion: The motion.
        count: Number of frames, at least 1.
        folder: Where pictures are kept; those of an earlier run are used again.

    Returns:
        The frames, read from their files when they are sent.

    Raises:
        InputError: The motion cannot be drawn, or a file cannot be read or written.
    """
    from render.keyframes import keyframes

    kept = _folder(motion, count, folder)
    if not kept.is_dir():
        drawn = keyframes(motion, count, _settings(), trajectory=False)
        try:
            _write(drawn, folder, kept)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
    return _read(kept)


def reckoned_frames(motion: Motion, count: int, folder: Path) -> tuple[Media, ...]:
    """Return frames to reckon a run's cost by: those drawn before, else as many blank pictures.

    Args:
        motion: The motion.
        count: Number of frames.
        folder: Where pictures of earlier runs are kept; nothing is written.
    """
    import numpy as np

    kept = _folder(motion, count, folder)
    if kept.is_dir():
        return _read(kept)
    blank = encode_frame(np.zeros((1, 1, 3), np.uint8))
    return frames([(number * 1.0, blank) for number in range(min(count, motion.frames))])


def _write(drawn: Keyframes, folder: Path, kept: Path) -> None:
    from render.sheet import write_picture

    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder))
    try:
        for number, (picture, time) in enumerate(zip(drawn.pictures, drawn.times, strict=True)):
            write_picture(made / f"{number:03d}_{time:.3f}.png", picture)
        if not kept.is_dir():
            made.rename(kept)
    except OSError:
        # Another run may have drawn the same frames first.
        if not kept.is_dir():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _settings() -> RenderSettings:
    from render.clip import RenderSettings

    return RenderSettings(size=SIZE, view="mesh")


def _folder(motion: Motion, count: int, folder: Path) -> Path:
    from render.clip import stimulus_key

    return folder / f"{stimulus_key(motion, _settings())}-{count}"


def _read(kept: Path) -> tuple[Media, ...]:
    files = sorted(kept.glob("*.png"))
    return frames([(float(file.stem.split("_")[1]), file) for file in files])
