"""Frames of a motion for a language model: five a second, drawn once and kept on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from benchmarks.items import content_hash
from corpus.clips import Clip
from corpus.motion import Motion
from corpus.problems import InputError
from llm.media import Media, frames

FPS = 5.0
"""Frames per second (MRBench, Semantic Alignment and Disambiguation)."""
MOST = 90
"""Most frames of one motion (ours): 17.5 s, the longest of MRBench's motions, at 5 per second. A
longer motion is shown at a lower rate, which its record states."""

FrameSource = Callable[[Clip], tuple[Media, ...]]
"""Returns the frames of a clip, in order of time."""

_VERSION = 1
_INDEX = "frames.json"


def frame_source(
    load: Callable[[Clip], Motion], folder: Path, fps: float = FPS, *, reckon: bool = False
) -> FrameSource:
    """Return a source that draws the frames of clips and keeps them.

    Args:
        load: Reads the motion of a clip.
        folder: Where the pictures are kept, a folder for each motion and rate.
        fps: Frames per second.
        reckon: Draw nothing: frames that are not kept are stood in for, so many as there would be.

    Returns:
        The source; it raises ``InputError`` for a motion that cannot be read or drawn, and for a
        folder that cannot be written.
    """

    def source(clip: Clip) -> tuple[Media, ...]:
        from render.keyframes import DEFAULTS

        rate = frame_rate(clip.duration, fps)
        settings = DEFAULTS.model_dump(mode="json")
        key = content_hash([_VERSION, clip.content_hash, round(rate, 6), settings])
        place = folder / key[:2] / key
        try:
            kept = json.loads((place / _INDEX).read_bytes())
            return frames((float(time), place / name) for name, time in kept)
        except (OSError, ValueError):
            if reckon:
                return _stand_ins(clip, rate)
            return _draw(load(clip), rate, place)

    return source


def _stand_ins(clip: Clip, fps: float) -> tuple[Media, ...]:
    count = max(1, int(clip.duration * fps))
    return tuple(
        Media(sha256=content_hash([clip.content_hash, k], 64), mime="image/png", label="Frame")
        for k in range(count)
    )


def frame_rate(duration: float, fps: float = FPS) -> float:
    """Return the rate at which a motion gets at most ``MOST`` frames.

    Args:
        duration: Seconds.
        fps: Rate wanted, frames per second.

    >>> frame_rate(6.0), frame_rate(36.0)
    (5.0, 2.5)
    """
    return min(fps, MOST / duration) if duration > 0 else fps


def _draw(motion: Motion, fps: float, place: Path) -> tuple[Media, ...]:
    from render.keyframes import frames_at

    drawn = frames_at(motion, fps)
    try:
        files = drawn.write(place)
        index = [[file.name, time] for file, time in zip(files, drawn.times, strict=True)]
        # Written last: a folder without it is drawn anew.
        (place / _INDEX).write_text(json.dumps(index), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(place)) from error
    return frames(zip(drawn.times, files, strict=True))
