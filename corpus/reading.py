"""Clips out of files: read a path, inspect it, and read a known clip's motion again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from benchmarks.items import Frozen
from corpus.caption_rows import CaptionTable, with_captions
from corpus.clips import Caption, Clip
from corpus.formats.registry import FORMATS, get_format, scan_path
from corpus.formats.source import ReadOptions, Source
from corpus.motion import Motion
from corpus.problems import InputError, Problem

Progress = Callable[[int, int], None]
"""Called with the number of clips done and their total."""


class InspectedClip(Frozen):
    """One readable clip, as ``corpus inspect --json`` prints it."""

    id: str
    """Id the clip would have in a workspace, e.g. ``humanml3d:012314``."""
    frames: int
    """Number of frames."""
    fps: float
    """Frames per second."""
    duration_s: float
    """Seconds: frames / fps."""
    joints: int
    """Number of joints after reading."""
    skeleton: str
    """Key of ``corpus.skeletons.SKELETONS``."""
    captions: tuple[str, ...]
    """Texts of its captions."""
    assumptions: tuple[str, ...]
    """What the reader assumed: up-axis, unit, fps, mapping."""


class InspectedProblem(Frozen):
    """One refused file or row, as ``corpus inspect --json`` prints it."""

    file: str
    """Path of the file."""
    reason: str
    """Place within the file, what was expected, what came."""


class Inspection(Frozen):
    """What a path holds; field names are fixed for outsiders."""

    format: str
    """Key of ``FORMATS``; ``mixed`` where the clips differ, ``unknown`` where none was found."""
    clips: tuple[InspectedClip, ...] = ()
    """Clips that could be read."""
    problems: tuple[InspectedProblem, ...] = ()
    """Files and rows that were refused."""


class ReadClip(NamedTuple):
    """One clip with its captions; the motion has been read once and let go."""

    clip: Clip
    captions: tuple[Caption, ...]


class Reading(Frozen):
    """All clips of a path and all that was refused."""

    format: str
    """As in ``Inspection``."""
    clips: tuple[Clip, ...] = ()
    """Clips in a stable order."""
    captions: tuple[Caption, ...] = ()
    """Their captions."""
    problems: tuple[Problem, ...] = ()
    """What was refused, one entry each."""
    skipped: int = Field(default=0, ge=0)
    """Clips left out by ``limit`` or ``split``; not refused, not read."""


def read_path(
    path: Path,
    options: ReadOptions | None = None,
    *,
    format_name: str | None = None,
    corpus: str | None = None,
    splits: tuple[str, ...] = (),
    limit: int | None = None,
    captions: CaptionTable | None = None,
    progress: Progress | None = None,
) -> Reading:
    """Read every clip of a file or folder; what cannot be read is refused, the rest goes on.

    Args:
        path: File or folder.
        options: What the user knows of the files.
        format_name: Key of ``FORMATS`` to force.
        corpus: Name of the corpus, the first part of each id; by default the format.
        splits: Keep only clips of these splits; all when empty.
        limit: Keep only the first so many clips.
        captions: Captions beside those that the files hold.
        progress: Told how far it is.

    Raises:
        InputError: The path is not there or the format is unknown.
    """
    options = options or ReadOptions()
    scan = scan_path(path, format_name)
    sources, problems = scan.sources, list(scan.problems)
    if captions is not None:
        sources, refused = with_captions(sources, captions, corpus)
        problems.extend(refused)
    wanted = [s for s in sources if not splits or s.split in splits][:limit]
    clips: list[Clip] = []
    texts: list[Caption] = []
    for done, source in enumerate(wanted, 1):
        try:
            read, refused = read_source(source, options, corpus or source.format)
            clips.append(read.clip)
            texts.extend(read.captions)
            problems.extend(refused)
        except InputError as error:
            problems.append(error.problem)
        if progress is not None:
            progress(done, len(wanted))
    formats = {s.format for s in scan.sources}
    name = "mixed" if len(formats) > 1 else next(iter(formats), format_name or "unknown")
    return Reading(
        format=name,
        clips=tuple(clips),
        captions=tuple(texts),
        problems=tuple(problems),
        skipped=len(scan.sources) - len(wanted),
    )


def read_source(
    source: Source, options: ReadOptions, corpus: str
) -> tuple[ReadClip, list[Problem]]:
    """Read one scanned clip.

    Returns:
        The clip with the captions that fit it, and a problem for each caption that does not.

    Raises:
        InputError: The motion cannot be read.
    """
    motion = _load(source.format, source.path, options)
    span: tuple[float, float] | None = None
    if source.frames is not None:
        start, end = (frame / motion.fps for frame in source.frames)
        try:
            motion = motion.cropped(start, end)
        except ValueError as error:
            raise InputError(str(error), file=str(source.path), place=source.name) from error
        span = (start, end)
    clip = Clip(
        id=f"{corpus}:{source.name}",
        corpus=corpus,
        path=str(source.path.resolve()),
        format=source.format,
        content_hash=motion.content_hash(),
        frames=motion.frames,
        fps=motion.fps,
        duration=motion.duration,
        joints=int(motion.positions.shape[1]),
        skeleton=motion.skeleton,
        split=source.split,
        span=span,
        licence=source.licence,
        assumptions=motion.assumptions,
        options=options.given(),
    )
    problems = []
    captions = []
    for caption in source.captions:
        span = caption.span
        if span is not None and span[0] >= motion.duration:
            problems.append(
                Problem(
                    file=str(source.path),
                    place=f"caption {caption.number}",
                    reason=f"expected a start before the end of the motion at "
                    f"{motion.duration:.2f} s, got {span[0]:g} s",
                )
            )
            continue
        if span is not None:
            span = (span[0], min(span[1], motion.duration))
        captions.append(
            Caption(id=f"{clip.id}#{caption.number}", clip_id=clip.id, text=caption.text, span=span)
        )
    return ReadClip(clip, tuple(captions)), problems


def inspect_path(
    path: Path,
    options: ReadOptions | None = None,
    *,
    format_name: str | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Say what a file or folder holds.

    Raises:
        InputError: The path is not there or the format is unknown.
    """
    reading = read_path(path, options, format_name=format_name, progress=progress)
    texts: dict[str, list[str]] = {}
    for caption in reading.captions:
        texts.setdefault(caption.clip_id, []).append(caption.text)
    return Inspection(
        format=reading.format,
        clips=tuple(
            InspectedClip(
                id=c.id,
                frames=c.frames,
                fps=c.fps,
                duration_s=round(c.duration, 6),
                joints=c.joints,
                skeleton=c.skeleton,
                captions=tuple(texts.get(c.id, ())),
                assumptions=c.assumptions,
            )
            for c in reading.clips
        ),
        problems=tuple(
            InspectedProblem(file=p.file, reason=f"{p.place}: {p.reason}" if p.place else p.reason)
            for p in reading.problems
        ),
    )


def open_motion(
    path: Path, options: ReadOptions | None = None, *, format_name: str | None = None
) -> Motion:
    """Read the one motion of a file (or of a folder that holds one), with no workspace.

    Raises:
        InputError: Nothing readable, or more than one motion.
    """
    scan = scan_path(path, format_name)
    if len(scan.sources) != 1:
        reason = scan.problems[0].reason if scan.problems and not scan.sources else ""
        raise InputError(
            f"expected one motion, got {len(scan.sources)}{': ' if reason else ''}{reason}",
            file=str(path),
        )
    source = scan.sources[0]
    return _load(source.format, source.path, options or ReadOptions())


def load_motion(clip: Clip, base: Path) -> Motion:
    """Read a known clip's motion again and check that it is still the same.

    Args:
        clip: The clip; its path is absolute or relative to ``base``.
        base: The workspace folder.

    Returns:
        The motion, cropped to the clip's span where it has one. The content hash is that of the
        motion returned.

    Raises:
        InputError: The file is gone, cannot be read, or holds another motion than at import.
    """
    get_format(clip.format)
    path = base / clip.path
    motion = _load(clip.format, path, ReadOptions(**clip.options))
    if clip.span is not None:
        try:
            motion = motion.cropped(*clip.span)
        except ValueError as error:
            raise InputError(str(error), file=str(path)) from error
    if motion.content_hash() != clip.content_hash:
        raise InputError(
            f"expected the motion imported as {clip.id} (content hash "
            f"{clip.content_hash[:12]}), the file holds another ({motion.content_hash()[:12]})",
            file=str(path),
        )
    return motion.model_copy(update={"source": clip.id})


def read_motions(clips: list[Clip], base: Path) -> Iterator[tuple[Clip, Motion | Problem]]:
    """Yield each clip with its motion, or with the problem that kept it from being read."""
    for clip in clips:
        try:
            yield clip, load_motion(clip, base)
        except InputError as error:
            yield clip, error.problem


def _load(format_name: str, path: Path, options: ReadOptions) -> Motion:
    try:
        return FORMATS[format_name].load(path, options)
    except InputError as error:
        if error.problem.file:
            raise
        raise InputError(error.problem.reason, file=str(path), place=error.problem.place) from error
    except MemoryError as error:
        raise InputError("too large to read into memory", file=str(path)) from error
