"""HumanML3D folders (Guo et al. 2022): joints or features, captions with spans, splits."""

from __future__ import annotations

from pathlib import Path

from corpus.formats import arrays
from corpus.formats.source import (
    ReadOptions,
    Scan,
    Source,
    SourceCaption,
    clean_caption,
    parse_span,
    read_text,
)
from corpus.motion import Motion
from corpus.problems import InputError, Problem

MOTION_FOLDERS = ("new_joints", "new_joint_vecs")
"""Folders of motions in order of preference: positions, then features to recover them from."""

_SPLITS = ("train", "val", "test")


def is_folder(path: Path) -> bool:
    """Return whether a folder has the layout: motions, with captions or split lists beside."""
    return any((path / name).is_dir() for name in MOTION_FOLDERS)


def scan(path: Path) -> Scan:
    """List the clips of a HumanML3D folder with captions and splits.

    An id that captions or a split list name but that has neither joints nor features is a
    problem; one of the two is enough.

    Args:
        path: The folder that holds ``new_joints`` and/or ``new_joint_vecs``.
    """
    problems: list[Problem] = []
    files: dict[str, Path] = {}
    for folder in reversed(MOTION_FOLDERS):
        files |= {f.stem: f for f in sorted((path / folder).glob("*.npy"))}
    splits = _splits(path, problems)
    texts = {f.stem: f for f in sorted((path / "texts").glob("*.txt"))}
    sources: list[Source] = []
    for name in sorted({*files, *texts, *splits}):
        if name not in files:
            named = f"texts/{name}.txt" if name in texts else f"{splits[name]}.txt"
            problems.append(
                Problem(
                    file=str(path / named),
                    place=f"id {name}",
                    reason=f"expected new_joints/{name}.npy or new_joint_vecs/{name}.npy, "
                    "neither is there",
                )
            )
            continue
        captions: tuple[SourceCaption, ...] = ()
        if name in texts:
            captions, refused = read_captions(texts[name])
            problems += refused
        sources.append(Source(files[name], name, "humanml3d", splits.get(name), captions))
    return Scan(sources, problems)


def read_captions(path: Path) -> tuple[tuple[SourceCaption, ...], list[Problem]]:
    """Read a ``texts`` file: lines of ``caption#token/POS ...#start#end``, seconds.

    Returns:
        The captions numbered by line, and one problem for each refused line or for the file.
    """
    try:
        text = read_text(path)
    except InputError as error:
        return (), [error.problem]
    captions: list[SourceCaption] = []
    problems: list[Problem] = []
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip("\r\t ")]
    for number, (line_number, line) in enumerate(lines):
        try:
            parts = line.rsplit("#", 3)
            if len(parts) != 4:
                raise InputError(f"expected caption#tokens#start#end, got {len(parts)} of 4 fields")
            span = parse_span(parts[2].strip(), parts[3].strip())
            captions.append(SourceCaption(number, clean_caption(parts[0]), span))
        except InputError as error:
            problems.append(
                Problem(file=str(path), place=f"line {line_number}", reason=error.problem.reason)
            )
    return tuple(captions), problems


def load(path: Path, options: ReadOptions) -> Motion:
    """Read one ``new_joints`` or ``new_joint_vecs`` file: 20 fps, metres, Y up unless told.

    Raises:
        InputError: Not joints of 22 or features of 263.
    """
    known = ReadOptions(
        fps=options.fps or arrays.HUMANML3D_FPS, up=options.up or "y", unit=options.unit or "m"
    )
    motion = arrays.load(path, known)
    if motion.skeleton != "smpl22":
        raise InputError(f"expected 22 joints, got {motion.skeleton}", file=str(path))
    said = ["fps 20, metres, up-axis y: HumanML3D's frame"] if not options.given() else []
    kept = [a for a in motion.assumptions if options.given() or "as given" not in a]
    return motion.model_copy(update={"assumptions": (*said, *kept)})


def _splits(path: Path, problems: list[Problem]) -> dict[str, str]:
    found: dict[str, str] = {}
    for split in _SPLITS:
        file = path / f"{split}.txt"
        if not file.is_file():
            continue
        try:
            names = read_text(file).split()
        except InputError as error:
            problems.append(error.problem)
            continue
        for name in names:
            if found.get(name, split) != split:
                problems.append(
                    Problem(
                        file=str(file),
                        place=f"id {name}",
                        reason=f"expected each id in one split, it is in {found[name]} too",
                    )
                )
                continue
            found[name] = split
    return found
