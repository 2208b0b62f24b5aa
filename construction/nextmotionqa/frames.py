"""The frames of a clip that the second pass sees, drawn once and kept as files."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from llm.media import Media, frames

if TYPE_CHECKING:
    from corpus.motion import Motion

SIZE = 384
"""Pixels of the side of the square each frame's area equals (ours)."""


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
        InputError: The motion cannot be drawn, or a file cannot be read.
    """
    from render.clip import RenderSettings, stimulus_key
    from render.keyframes import keyframes
    from render.sheet import write_picture

    settings = RenderSettings(size=SIZE, view="mesh")
    kept = folder / f"{stimulus_key(motion, settings)}-{count}"
    if not kept.is_dir():
        drawn = keyframes(motion, count, settings, trajectory=False)
        folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder))
        for number, (picture, time) in enumerate(zip(drawn.pictures, drawn.times, strict=True)):
            write_picture(made / f"{number:03d}_{time:.3f}.png", picture)
        try:
            made.rename(kept)
        except OSError:
            # Another run drew the same frames first.
            shutil.rmtree(made)
    files = sorted(kept.glob("*.png"))
    return frames([(float(file.stem.split("_")[1]), file) for file in files])
