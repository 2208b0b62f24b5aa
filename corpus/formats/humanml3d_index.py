"""HumanML3D's ``index.csv``: which stretch of which AMASS sequence each clip is (Guo et al. 2022).

The clips were cut after the first seconds of some datasets had been dropped, so frame numbers do
not count from the start of the AMASS file there. The offsets are those of the released processing
script (``raw_pose_processing``).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from benchmarks.items import Frozen
from corpus.formats.babel import amass_key
from corpus.formats.source import read_text
from corpus.problems import InputError, Problem

FPS = 20.0
"""Frames per second that ``start_frame`` and ``end_frame`` count."""

DROPPED_S: dict[str, float] = {
    "eyes_japan_dataset": 3.0,
    "mpi_hdm05": 3.0,
    "totalcapture": 1.0,
    "mpi_limits": 1.0,
    "transitions_mocap": 0.5,
}
"""Seconds dropped from the start of every sequence of a dataset, by AMASS folder, lower case."""

_COLUMNS = ("source_path", "start_frame", "end_frame", "new_name")


class IndexRow(Frozen):
    """One clip of HumanML3D, in the time of its AMASS sequence."""

    name: str
    """Id of the clip, e.g. ``000021``."""
    amass: str
    """Key of the AMASS sequence, see ``corpus.formats.babel.amass_key``."""
    start: float
    """Seconds from the start of the AMASS sequence, dropped seconds included."""
    end: float
    """Seconds from the start of the AMASS sequence."""


class Index(Frozen):
    """The index of a HumanML3D folder."""

    file: str
    """The file read."""
    rows: tuple[IndexRow, ...]
    """Clips that come from AMASS, as the lines stand."""
    elsewhere: int
    """Clips from HumanAct12, which BABEL does not label; not refused."""


def dropped_seconds(amass: str) -> float:
    """Return the seconds HumanML3D dropped before it counted frames.

    Args:
        amass: Key of the AMASS sequence.

    >>> dropped_seconds("mpi_hdm05/bk/hdm_bk_01-01_01_120"), dropped_seconds("kit/3/kick_01")
    (3.0, 0.0)
    """
    return DROPPED_S.get(amass.split("/")[0], 0.0)


def read_index(folder: Path) -> tuple[Index, list[Problem]]:
    """Read ``index.csv`` of a HumanML3D folder.

    Args:
        folder: The folder with ``index.csv``, or the one below it with ``texts``.

    Returns:
        The index, and one problem for each refused row: an id that stands twice, frames that
        cannot be, a path that is no AMASS path.

    Raises:
        InputError: No index there, or one without the four columns.
    """
    found = [file for at in (folder, folder.parent) if (file := at / "index.csv").is_file()]
    if not found:
        raise InputError("expected index.csv of HumanML3D, found none", file=str(folder))
    file = found[0]
    rows: list[IndexRow] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    elsewhere = 0
    for line, record in _records(file):
        try:
            row = _row(record)
            if row is None:
                elsewhere += 1
                continue
            if row.name in seen:
                raise InputError(f"id {row.name} stands in line {seen[row.name]} too")
            seen[row.name] = line
            rows.append(row)
        except InputError as error:
            problems.append(
                Problem(file=str(file), place=f"line {line}", reason=error.problem.reason)
            )
    return Index(file=str(file), rows=tuple(rows), elsewhere=elsewhere), problems


def texts_folder(folder: Path) -> Path:
    """Return the folder of HumanML3D's captions, at or below a folder the user named.

    Raises:
        InputError: There is none.
    """
    for at in (folder / "texts", folder / "HumanML3D" / "texts"):
        if at.is_dir():
            return at
    raise InputError("expected a folder texts (unpack texts.zip), found none", file=str(folder))


def _records(file: Path) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Read the lines of the index, each with its number.

    Raises:
        InputError: A column is missing, or the file is no CSV.
    """
    # Ends of lines as any system writes them, and blanks after a comma.
    text = io.StringIO(read_text(file), newline=None)
    reader = csv.DictReader(text, skipinitialspace=True)
    try:
        given = reader.fieldnames or ()
        if missing := [name for name in _COLUMNS if name not in given]:
            got = ", ".join(given)[:200] or "none"
            raise InputError(f"expected columns {', '.join(missing)}, got {got}", file=str(file))
        for record in reader:
            yield reader.line_num, record
    except csv.Error as error:
        place = f"line {reader.line_num}"
        raise InputError(f"expected CSV, got: {error}", file=str(file), place=place) from error


def _row(record: dict[str, str | None]) -> IndexRow | None:
    source, name = (record["source_path"] or "").strip(), (record["new_name"] or "").strip()
    if "humanact12" in source.casefold():
        return None
    if not name:
        raise InputError("new_name: expected an id, got nothing")
    try:
        key = amass_key(source)
    except ValueError as error:
        raise InputError(f"source_path: {error}") from error
    try:
        first, last = (int(float(record[c] or "")) for c in ("start_frame", "end_frame"))
    except (ValueError, OverflowError) as error:
        got = f"{record['start_frame']!r:.30} and {record['end_frame']!r:.30}"
        raise InputError(f"expected frame numbers, got {got}") from error
    if not 0 <= first < last:
        raise InputError(f"expected 0 <= start_frame < end_frame, got {first} and {last}")
    offset = dropped_seconds(key)
    return IndexRow(
        name=name.removesuffix(".npy"),
        amass=key,
        start=offset + first / FPS,
        end=offset + last / FPS,
    )
