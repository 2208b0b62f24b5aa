"""Kimodo sample folders: generated motions with their prompts as captions."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from corpus.formats import arrays
from corpus.formats.source import ReadOptions, Scan, Source, SourceCaption, clean_caption, read_text
from corpus.motion import Motion
from corpus.problems import InputError, Problem

_META = "meta.json"
_MOTION = "motion.npz"


def is_folder(path: Path) -> bool:
    """Return whether a folder holds one motion with its prompt."""
    return (path / _META).is_file() and (path / _MOTION).is_file()


def scan(path: Path) -> Scan:
    """Return the motion of a folder, or of a ``motion.npz``, with its prompts as captions.

    Several prompts follow each other; each caption's span is that of its prompt.
    """
    folder = path if path.is_dir() else path.parent
    captions: tuple[SourceCaption, ...] = ()
    problems: list[Problem] = []
    if (folder / _META).is_file():
        try:
            captions = tuple(
                SourceCaption(n, clean_caption(text), span)
                for n, (text, span) in enumerate(_prompts(folder / _META))
            )
        except InputError as error:
            problems.append(error.problem.model_copy(update={"file": str(folder / _META)}))
    name = folder.name if path.is_dir() else path.stem
    motion = folder / _MOTION if path.is_dir() else path
    return Scan([Source(motion, name, "kimodo", None, captions)], problems)


def load(path: Path, options: ReadOptions) -> Motion:
    """Read ``motion.npz``; the frame rate is frames over the seconds of ``meta.json``.

    Raises:
        InputError: As ``corpus.formats.arrays.load``.
    """
    if options.fps is not None or not (path.parent / _META).is_file():
        return arrays.load(path, options)
    seconds = _seconds(path.parent / _META)
    # The rate enters the reader only for this file; the positions do not depend on it.
    motion = arrays.load(path, options.model_copy(update={"fps": 30.0}))
    fps = round(motion.frames / seconds, 3)
    if not 1 <= fps <= 1000:
        raise InputError(
            f"expected 1 to 1000 frames a second, got {motion.frames} frames over {seconds:g} s",
            file=str(path.parent / _META),
        )
    said = f"fps {fps:g}: {motion.frames} frames over {seconds:.4g} s in {_META}"
    rest = [a for a in motion.assumptions if not a.startswith("fps ")]
    return motion.model_copy(update={"fps": fps, "assumptions": (said, *rest)})


def _prompts(file: Path) -> list[tuple[str, tuple[float, float] | None]]:
    meta = _meta(file)
    texts = meta.get("texts")
    if texts is None:
        return [(meta["text"], None)] if isinstance(meta.get("text"), str) else []
    durations = _durations(meta, file)
    if (
        not isinstance(texts, list)
        or len(texts) != len(durations)
        or not all(isinstance(t, str) for t in texts)
    ):
        raise InputError(f"expected a text for each of {len(durations)} durations", file=str(file))
    ends = list(itertools.accumulate(durations))
    return [(t, (e - d, e)) for t, d, e in zip(texts, durations, ends, strict=True)]


def _seconds(file: Path) -> float:
    return sum(_durations(_meta(file), file))


def _durations(meta: dict[str, Any], file: Path) -> list[float]:
    value = meta.get("durations", meta.get("duration"))
    values = value if isinstance(value, list) else [value]
    seconds = [float(v) for v in values if isinstance(v, int | float) and 0 < v < 1e6]
    if not values or len(seconds) != len(values):
        raise InputError(
            f"expected duration or durations in seconds, got {value!r}", file=str(file)
        )
    return seconds


def _meta(file: Path) -> dict[str, Any]:
    try:
        meta = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"expected JSON, got: {error}", file=str(file)) from error
    if not isinstance(meta, dict):
        raise InputError(f"expected a JSON object, got {type(meta).__name__}", file=str(file))
    return meta
