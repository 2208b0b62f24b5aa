"""Clips with captions for the score commands: from a folder, a workspace or the demo corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corpus.problems import InputError

if TYPE_CHECKING:
    from corpus.clips import Caption, Clip
    from corpus.reading import Reading
    from evaluators.source import MotionLibrary


class ScoredClip(NamedTuple):
    """A clip, its captions and how to read it."""

    id: str
    """Its id."""
    captions: tuple[str, ...]
    """Captions of the whole clip, in order; may be none."""
    granularity: tuple[str | None, ...]
    """Granularity of each caption, where it has one."""
    content_hash: str
    """Hash of its motion."""
    read: Callable[[], Any]
    """Reads its motion."""

    @property
    def tail(self) -> str:
        """The id without its corpus, which a generated motion's file is named by."""
        return self.id.rpartition(":")[2]


def read_folder(path: Path, corpus: str | None = None, fps: float | None = None) -> Reading:
    """Read the clips of a file or folder with a bar.

    Args:
        path: What ``corpus import`` reads.
        corpus: First part of the ids; by default the format.
        fps: Frames a second of files that store none, such as plain arrays.

    Raises:
        InputError: There is nothing at ``path``, or a frame rate that is none.
    """
    from corpus.formats.source import ReadOptions
    from corpus.reading import read_path
    from motionjury.options import bar

    if fps is not None and not 0 < fps <= 1000:
        raise InputError(f"--fps: expected a number in (0, 1000], got {fps:g}")
    with bar(f"{path.name}: motions") as told:
        return read_path(path, ReadOptions(fps=fps), corpus=corpus, progress=told)


def folder_clips(
    path: Path, corpus: str | None = None, *, fps: float | None = None
) -> list[ScoredClip]:
    """Read the clips of a file or folder; refused ones are told on stderr.

    Args:
        path: As for ``read_folder``.
        corpus: As for ``read_folder``.
        fps: As for ``read_folder``.

    Raises:
        InputError: Nothing there can be read.
    """
    from motionjury.options import print_problems

    reading = read_folder(path, corpus, fps)
    print_problems(reading.problems)
    if not reading.clips:
        raise InputError("no motion could be read", file=str(path))
    return _joined(reading.clips, reading.captions, Path.cwd())


def known_clips(corpus: str | None, workspace: Path | None) -> tuple[list[ScoredClip], str]:
    """Find the clips of a workspace; without one those of the demo corpus.

    Args:
        corpus: Only clips of this corpus; all where None.
        workspace: The workspace; the nearest one upward where None.

    Returns:
        The clips, and what they are, for the result.

    Raises:
        InputError: The workspace has none.
    """
    from motionjury.workspace import open_workspace
    from store.clips import list_captions, list_clips

    try:
        opened = open_workspace(workspace)
    except InputError:
        if workspace is not None:
            raise
        return demo_clips(), "demo corpus"
    with opened.db.read() as session:
        clips, captions = list_clips(session, corpus), list_captions(session, corpus)
    if not clips:
        which = f"no clips of corpus {corpus!r}" if corpus else "no clips"
        raise InputError(f"{which}; import some with corpus import", file=str(opened.root))
    return _joined(clips, captions, opened.root), f"workspace {opened.root.name}"


def library(groups: Mapping[str, Iterable[ScoredClip]]) -> MotionLibrary:
    """Make the motions available to a model.

    Args:
        groups: Clips by what stands before their ids, since several sets may share ids.
    """
    from evaluators.source import MotionLibrary

    return MotionLibrary(
        {
            prefix + clip.id: (clip.content_hash, clip.read)
            for prefix, clips in groups.items()
            for clip in clips
        }
    )


def _joined(clips: Sequence[Clip], captions: Sequence[Caption], base: Path) -> list[ScoredClip]:
    from corpus.reading import load_motion

    texts: dict[str, list[Caption]] = {}
    for caption in captions:
        if caption.span is None:
            texts.setdefault(caption.clip_id, []).append(caption)
    return [
        ScoredClip(
            clip.id,
            tuple(caption.text for caption in texts.get(clip.id, ())),
            tuple(caption.granularity for caption in texts.get(clip.id, ())),
            clip.content_hash,
            partial(load_motion, clip, base),
        )
        for clip in clips
    ]


def demo_clips() -> list[ScoredClip]:
    """Return the clips of the demo corpus, made anew."""
    from corpus.synthetic import demo_corpus

    def reader(motion: Any) -> Callable[[], Any]:
        return lambda: motion

    return [
        ScoredClip(
            made.clip.id,
            tuple(caption.text for caption in made.captions),
            tuple(caption.granularity for caption in made.captions),
            made.clip.content_hash,
            reader(made.motion),
        )
        for made in demo_corpus()
    ]
