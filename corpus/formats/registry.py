"""The formats by name, and which of them a path is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from corpus.formats import amass, arrays, bvh, humanml3d, kimodo, snapmogen
from corpus.formats.numpy_files import npz_names
from corpus.formats.source import ReadOptions, Scan
from corpus.motion import Motion
from corpus.problems import InputError, Problem


class Format(NamedTuple):
    """One source format."""

    scan: Callable[[Path], Scan]
    """List the clips of one file, or of one folder where the format is a folder layout."""
    load: Callable[[Path, ReadOptions], Motion]
    """Read the motion of one file; raises ``InputError``."""


FORMATS: dict[str, Format] = {
    "amass": Format(amass.scan, amass.load),
    "arrays": Format(arrays.scan, arrays.load),
    "bvh": Format(bvh.scan, bvh.load),
    "humanml3d": Format(humanml3d.scan, humanml3d.load),
    "kimodo": Format(kimodo.scan, kimodo.load),
    "snapmogen": Format(snapmogen.scan, snapmogen.load),
}
"""Readers by format name, as ``Clip.format`` holds it."""

FOLDER_FORMATS: dict[str, Callable[[Path], bool]] = {
    "humanml3d": humanml3d.is_folder,
    "kimodo": kimodo.is_folder,
    "snapmogen": snapmogen.is_folder,
}
"""Formats that are a folder layout, with the test for it."""

_ODD_NAME = "expected a file name in UTF-8 without control characters"
_OWN_IDS = ("humanml3d", "snapmogen")
"""Formats whose clips have ids of their own, wherever the folder lies."""
_NO_MOTION = ("shape.npz", "_stagei.npz")
"""Body shapes that AMASS keeps beside its motions; a walk passes over them."""
_SUFFIXES = (".bvh", ".npy", ".npz")


def get_format(name: str) -> Format:
    """Return a format by name.

    Raises:
        InputError: Unknown name; the message lists those that are known.
    """
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]


def detect(file: Path) -> str:
    """Return the format of one motion file by suffix and, for .npz, by the arrays in it.

    Raises:
        InputError: No reader takes such a file.
    """
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            f"expected a motion file ({', '.join(_SUFFIXES)}) or a folder, got {suffix or 'none'}",
            file=str(file),
        )
    if suffix == ".bvh":
        return "bvh"
    try:
        return "amass" if suffix == ".npz" and amass.POSES in npz_names(file) else "arrays"
    except InputError:
        # The reader refuses it again, as one problem among the others.
        return "arrays"


def scan_path(path: Path, format_name: str | None = None) -> Scan:
    """List the clips that a file or folder holds, in a stable order, without reading motions.

    A folder is walked; folder layouts inside it are taken whole, other files one by one. Names
    of clips found in a walk are their paths below the folder without suffix, except where the
    format gives ids of its own.

    Args:
        path: File or folder.
        format_name: Key of ``FORMATS`` to force; null to recognise it.

    Raises:
        InputError: The path is not there, the format is unknown, or no reader takes the file.
    """
    if format_name is not None:
        get_format(format_name)
    if not _is_plain(path):
        raise InputError(_ODD_NAME, file=_escaped(path))
    if not path.exists():
        raise InputError("no such file or folder", file=str(path))
    scan = _scan(path, format_name)
    odd = [s.path for s in scan.sources if not _is_plain(s.path)]
    scan.problems.extend(Problem(file=_escaped(p), reason=_ODD_NAME) for p in odd)
    return Scan([s for s in scan.sources if _is_plain(s.path)], scan.problems)


def _scan(path: Path, format_name: str | None) -> Scan:
    if path.is_file():
        return FORMATS[format_name or detect(path)].scan(path)
    for name, is_layout in FOLDER_FORMATS.items():
        if format_name in (None, name) and is_layout(path):
            return FORMATS[name].scan(path)
    return _walk(path, format_name)


def _is_plain(path: Path) -> bool:
    """Return whether a path can be an id and a line: UTF-8, nothing unprintable."""
    return str(path).isprintable()


def _escaped(path: Path) -> str:
    return ascii(str(path))[1:-1]


def _walk(top: Path, format_name: str | None) -> Scan:
    found = Scan([], [])
    for unit in _units(top, format_name):
        if not _is_plain(unit):
            found.problems.append(Problem(file=_escaped(unit), reason=_ODD_NAME))
            continue
        try:
            part = _scan_unit(unit, format_name)
        except InputError as error:
            found.problems.append(error.problem)
            continue
        prefix = unit.relative_to(top).parent.as_posix()
        for source in part.sources:
            own_ids = prefix == "." or source.format in _OWN_IDS
            name = source.name if own_ids else f"{prefix}/{source.name}"
            found.sources.append(source._replace(name=name))
        found.problems.extend(part.problems)
    return _distinct(found)


def _scan_unit(unit: Path, format_name: str | None) -> Scan:
    if unit.is_dir():
        name = next(n for n, is_layout in FOLDER_FORMATS.items() if is_layout(unit))
        return FORMATS[name].scan(unit)
    return FORMATS[format_name or detect(unit)].scan(unit)


def _units(top: Path, format_name: str | None) -> Iterator[Path]:
    """Yield folder layouts whole and the other motion files one by one, sorted."""
    for folder, subfolders, files in os.walk(top):
        here = Path(folder)
        subfolders.sort()
        if any(
            format_name in (None, name) and is_layout(here)
            for name, is_layout in FOLDER_FORMATS.items()
        ):
            subfolders.clear()
            yield here
            continue
        for file in sorted(files):
            if Path(file).suffix.lower() in _SUFFIXES and not file.endswith(_NO_MOTION):
                yield here / file


def _distinct(scan: Scan) -> Scan:
    """Refuse a second clip of the same name, e.g. ``a.npy`` beside ``a.bvh``."""
    seen: dict[str, Path] = {}
    kept = []
    for source in scan.sources:
        if source.name in seen:
            scan.problems.append(
                Problem(
                    file=str(source.path),
                    reason=f"expected one motion named {source.name!r}, "
                    f"got {seen[source.name]} too",
                )
            )
            continue
        seen[source.name] = source.path
        kept.append(source)
    return Scan(kept, scan.problems)
