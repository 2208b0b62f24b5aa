"""Results of every score suite: one record of numbers, configuration, hashes and what was dropped.

The record is written as JSON, CSV, LaTeX and one HTML page; all four say the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import model_validator

from benchmarks.items import SCHEMA_VERSION, Frozen


class Cell(Frozen):
    """One number of a table."""

    value: float | None
    """The number in the unit of its column; null where undefined."""
    ci: tuple[float, float] | None = None
    """95 % interval, low and high end, in the same unit; null where there is none."""
    reason: str = ""
    """Why the value is null, in words; empty where it is not."""
    n: int | None = None
    """Units behind the number: queries, items, pairs; null where the row says it."""

    @model_validator(mode="after")
    def _says_why(self) -> Cell:
        if self.value is None and not self.reason:
            raise ValueError("reason: expected one where value is null")
        if self.value is not None and not abs(self.value) < float("inf"):
            raise ValueError(f"value: expected a finite number or null, got {self.value}")
        return self


class Column(Frozen):
    """One metric of a table."""

    name: str
    """Key of the cells, e.g. ``R@1``."""
    title: str = ""
    """Heading; the name where empty."""
    better: Literal["higher", "lower"] | None = None
    """Which end is good; null where neither is (Diversity), and then nothing is marked."""
    decimals: int = 2
    """Decimals in print; CSV and JSON keep all."""
    unit: str = ""
    """``%`` for shares in percent; empty for plain numbers and proportions."""
    spanner: str = ""
    """Heading above neighbouring columns, e.g. ``Text-to-motion``."""
    plus_minus: bool = False
    """Whether intervals are symmetric by their making, and printed as ± half their width."""
    marked: bool = True
    """Whether best and second best are marked, where ``better`` says which end is good."""

    @property
    def heading(self) -> str:
        """Title with unit and arrow."""
        arrow = {"higher": " ↑", "lower": " ↓", None: ""}[self.better]
        return f"{self.title or self.name}{' (%)' if self.unit == '%' else ''}{arrow}"


class Row(Frozen):
    """One row of a table."""

    labels: dict[str, str]
    """What the row is about, e.g. ``{"Trainset": "H3D", "Method": "TMR"}``."""
    cells: dict[str, Cell]
    """By name of column; a missing cell is one that does not apply."""
    block: str = ""
    """Rows of one block are compared: best and second best are marked within it."""


class ResultTable(Frozen):
    """A table of a paper."""

    name: str
    """Name of the files, without ending, e.g. ``retrieval``."""
    title: str
    """Heading."""
    columns: tuple[Column, ...]
    """In the order of print."""
    rows: tuple[Row, ...]
    """In the order of print."""
    note: str = ""
    """What to know before reading it."""

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels of all rows, in order of appearance."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.labels))

    def places(self, column: Column) -> dict[int, int]:
        """Find the best and the second best rows of a column, before rounding.

        Args:
            column: One of the columns.

        Returns:
            1 or 2 by position of the row. Equal values share a place, those that differ by
            rounding errors (1e-12) as well; a block with fewer than two rows that have a value
            has none.
        """
        if column.better is None or not column.marked:
            return {}
        sign = 1.0 if column.better == "higher" else -1.0
        found: dict[int, int] = {}
        for block in dict.fromkeys(row.block for row in self.rows):
            values = {
                place: round(sign * cell.value, 12)
                for place, row in enumerate(self.rows)
                if row.block == block
                and (cell := row.cells.get(column.name)) is not None
                and cell.value is not None
            }
            if len(values) < 2:
                continue
            order = sorted(set(values.values()), reverse=True)[:2]
            found |= {p: order.index(v) + 1 for p, v in values.items() if v in order}
        return found


class Figure(Frozen):
    """A picture of a result."""

    name: str
    """Name of the file, without ending."""
    title: str
    """Heading."""
    svg: str
    """A complete ``<svg>`` element made by ``metrics.plots``, which escapes what it is given."""
    note: str = ""
    """What to read from it, and its limits."""


class Source(Frozen):
    """A file or model that a result was computed from."""

    name: str
    """Name as the user gave it, without its folder; or the model's name."""
    role: str
    """What it was, e.g. ``scores``, ``text embeddings``, ``model``."""
    sha256: str
    """SHA-256 of the content, hex; a model's fingerprint."""


class Dropped(Frozen):
    """Units that entered no number."""

    what: str
    """What was dropped, e.g. ``pairs``."""
    n: int
    """How many."""
    reason: str
    """Why."""


class Result(Frozen):
    """What a suite found, and all that is needed to find it again."""

    suite: str
    """Command that made it, e.g. ``score retrieval``."""
    title: str
    """Heading."""
    tables: tuple[ResultTable, ...]
    """The numbers."""
    figures: tuple[Figure, ...] = ()
    """Pictures of them."""
    configuration: dict[str, Any]
    """Every option in force by name; the value of a choice that no paper states ends in
    ``(ours)``."""
    sources: tuple[Source, ...] = ()
    """Files and models."""
    item_set: str
    """Hash of the ids that entered, in order; equal hashes mean the same items."""
    n_kept: int
    """Units that entered."""
    n_unit: str
    """What the units are, e.g. ``texts``."""
    dropped: tuple[Dropped, ...] = ()
    """Units that did not enter."""
    seed: int | None = None
    """Seed of every draw; null where nothing was drawn."""
    notes: tuple[str, ...] = ()
    """What the numbers alone would hide."""
    not_run: dict[str, str] = {}
    """What was not run, and why."""
    tool_version: str
    """Version of MotionJury."""
    schema_version: int = SCHEMA_VERSION
    """Version of this record."""


def cell(value: float | None, reason: str = "", **more: Any) -> Cell:
    """Make a cell of a number that may be NaN.

    Args:
        value: The number, NaN or None where undefined.
        reason: Why it is undefined; dropped where it is not.
        **more: ``ci`` and ``n``.

    Returns:
        The cell.
    """
    if value is None or value != value:
        return Cell(value=None, reason=reason or "undefined", n=more.get("n"))
    return Cell(value=float(value), **more)


def file_source(path: Path, role: str) -> Source:
    """Describe a file by its name and content, read in pieces.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Source(name=path.name, role=role, sha256=digest)


def hash_ids(*lists: Iterable[str]) -> str:
    """Hash lists of ids, in order; the same ids in the same order give the same hash."""
    digest = hashlib.sha256()
    for ids in lists:
        for name in ids:
            raw = name.encode("utf-8", "surrogatepass")
            digest.update(len(raw).to_bytes(4, "big") + raw)
        digest.update(b"\xff\xff\xff\xff")
    return digest.hexdigest()


def as_json(result: Result) -> dict[str, Any]:
    """Put a result into plain values; pictures are left out, their files lie beside it."""
    return result.model_dump(mode="json", exclude={"figures": {"__all__": {"svg"}}})


def write_result(result: Result, folder: Path) -> Path:
    """Write ``result.json``, ``report.html`` and for each table and figure its own files.

    Args:
        result: The record.
        folder: Where; made if it is not there. Tables and figures of an earlier result go.

    Returns:
        Path of the page.

    Raises:
        InputError: The folder cannot be written.
    """
    import json

    from corpus.problems import InputError
    from metrics.result_files import render_html, to_csv, to_latex

    texts: dict[str, str] = {
        "result.json": json.dumps(as_json(result), ensure_ascii=False, indent=2, allow_nan=False)
        + "\n",
        "report.html": render_html(result),
    }
    for table in result.tables:
        texts[f"{table.name}.csv"] = to_csv(table)
        texts[f"{table.name}.tex"] = to_latex(table, result)
    for figure in result.figures:
        texts[f"{figure.name}.svg"] = figure.svg
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in _written_before(folder) - texts.keys():
            (folder / name).unlink(missing_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
    return folder / "report.html"


def _written_before(folder: Path) -> set[str]:
    """Return the files of the tables and figures of a result that lies in a folder."""
    import json

    try:
        found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        tables = [str(table["name"]) for table in found["tables"]]
        figures = [str(figure["name"]) for figure in found["figures"]]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    names = {f"{name}.{kind}" for name in tables for kind in ("csv", "tex")}
    names |= {f"{name}.svg" for name in figures}
    return {name for name in names if Path(name).name == name}


def rows_of(
    values: Mapping[str, Mapping[str, Cell]], label: str, columns: Sequence[Column]
) -> tuple[Row, ...]:
    """Make rows of cells by name of row and column.

    Args:
        values: Cells by row, then by column; other names are left out.
        label: Name of the label that names the row.
        columns: The columns wanted.

    Returns:
        One row for each entry of ``values``, all in one block.
    """
    wanted = {column.name for column in columns}
    return tuple(
        Row(labels={label: name}, cells={k: c for k, c in cells.items() if k in wanted})
        for name, cells in values.items()
    )
