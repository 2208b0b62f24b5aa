"""Tables from files: CSV, TSV, Parquet, JSONL, exports of Label Studio and Potato."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agreement.annotation_exports import json_fault, label_studio_rows, potato_rows
from corpus.parquet import parquet_columns
from corpus.problems import InputError


@dataclass(frozen=True)
class Table:
    """Columns of a file, not yet interpreted."""

    columns: dict[str, list[Any]]
    """Values by column, all of one length."""
    file: str
    """Name used in messages."""
    first_row: int
    """Number of the first row in messages."""
    notes: tuple[str, ...] = ()
    """What was left out while reading."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), []))

    def column(self, name: str) -> list[Any]:
        """Return a column.

        Raises:
            InputError: There is none of that name.
        """
        if name not in self.columns:
            raise InputError(
                f"no column {name!r}, expected one of {', '.join(map(repr, self.columns))}",
                file=self.file,
            )
        return self.columns[name]


def read_table(path: Path) -> Table:
    """Read a table by the ending of its name.

    Args:
        path: ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl`` or ``.ndjson``; a ``.json`` export of
            Label Studio; Potato's ``annotated_instances.jsonl`` or its folder of one folder per
            annotator. Exports have the columns ``item`` and ``rater`` and one per question.

    Returns:
        The table; CSV values are text.

    Raises:
        InputError: A file that is missing, empty, of another kind or damaged.
    """
    readers = {
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".parquet": _read_parquet,
        ".jsonl": _read_jsonl,
        ".ndjson": _read_jsonl,
        ".json": _read_label_studio,
    }
    if path.is_dir():
        return _read_potato_folder(path)
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"expected one of {', '.join(readers)}", file=str(path))
    if not path.is_file():
        raise InputError("no such file", file=str(path))
    table = reader(path)
    if not table.n_rows:
        raise InputError("the table has no rows", file=str(path))
    return table


def _read_csv(path: Path) -> Table:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(stream.readline())
            stream.seek(0)
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            header = [name.strip() for name in next(reader, [])]
            _check_header(header, path)
            columns: list[list[Any]] = [[] for _ in header]
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise InputError(
                        f"{len(row)} fields, expected {len(header)}",
                        file=str(path),
                        place=f"line {reader.line_num}",
                    )
                for column, value in zip(columns, row, strict=True):
                    column.append(value)
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error.reason}", file=str(path)) from error
    except csv.Error as error:
        raise InputError(f"expected CSV: {error}", file=str(path)) from error
    return Table(dict(zip(header, columns, strict=True)), str(path), 2)


def _delimiter(header: str) -> str:
    """What separates the fields of a CSV: a comma, or what spreadsheets write instead."""
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


def _check_header(header: list[str], path: Path) -> None:
    if not header:
        raise InputError("the file is empty, expected a header line", file=str(path))
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"column {twice[0]!r} stands twice in the header", file=str(path))


def _read_jsonl(path: Path) -> Table:
    rows = _json_lines(path)
    if rows and "label_annotations" in rows[0]:
        rows = potato_rows(rows, None, str(path))
    return _table_of_rows(rows, str(path), 1)


def _read_label_studio(path: Path) -> Table:
    rows, notes = label_studio_rows(path)
    return replace(_table_of_rows(rows, str(path), 1), notes=notes)


def _read_potato_folder(folder: Path) -> Table:
    files = sorted(folder.glob("*/annotated_instances.jsonl"))
    if not files:
        raise InputError(
            "expected Potato's folder: one folder per annotator with annotated_instances.jsonl",
            file=str(folder),
        )
    rows = [
        row for file in files for row in potato_rows(_json_lines(file), file.parent.name, str(file))
    ]
    return _table_of_rows(rows, str(folder), 1)


def _table_of_rows(rows: list[dict[str, Any]], file: str, first_row: int) -> Table:
    names = dict.fromkeys(name for row in rows for name in row)
    return Table({name: [row.get(name) for row in rows] for name in names}, file, first_row)


def _json_lines(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    what = json_fault(error)
                    raise InputError(
                        f"expected JSON: {what}", file=str(path), place=f"line {number}"
                    ) from error
                if not isinstance(row, dict):
                    raise InputError(
                        f"expected a JSON object, got {type(row).__name__}",
                        file=str(path),
                        place=f"line {number}",
                    )
                rows.append(row)
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error.reason}", file=str(path)) from error
    return rows


def _read_parquet(path: Path) -> Table:
    return Table(parquet_columns(path), str(path), 1)
