"""Tables of ratings from files: CSV, TSV, Parquet, JSONL, exports; long or one column a rater."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agreement.annotation_exports import label_studio_rows, potato_rows
from agreement.axis import LEVELS, MISSING_WORDS, Axis, Level, as_number, canonical
from agreement.ratings import Ratings, from_columns, natural_key
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


def ratings_from_table(
    table: Table,
    *,
    item: str,
    rater: str | None,
    label: str | None,
    level: str,
    categories: Sequence[str] = (),
    cluster: str | None = None,
    strata: Sequence[str] = (),
    wide: bool = False,
    rater_columns: Sequence[str] = (),
    name: str | None = None,
) -> Ratings:
    """Interpret a table as ratings of one axis.

    Args:
        table: The file's columns.
        item: Column of item ids.
        rater: Column of rater ids (long tables).
        label: Column of labels (long tables).
        level: Level of measurement.
        categories: Ordered domain. Without it nominal labels are taken as found, with a note, and
            ordinal labels must be numbers.
        cluster: Column of the outermost unit that items share.
        strata: Columns that items are broken down by.
        wide: One column per rater instead of ``rater`` and ``label``.
        rater_columns: The raters' columns of a wide table; by default all that have no other use.
        name: Name of the axis; the label column by default.

    Returns:
        The encoded ratings.

    Raises:
        InputError: A missing column or anything ``agreement.ratings`` refuses.
    """
    if level not in LEVELS:
        raise InputError(f"level {level!r}, expected one of {', '.join(LEVELS)}")
    order: list[str] | None = None
    if wide:
        others = {item, cluster, *strata}
        order = list(rater_columns) or [c for c in table.columns if c not in others]
        if not order:
            raise InputError("a wide table needs one column per rater", file=table.file)
        rows = range(table.n_rows)
        repeat = len(order)
        labels = [v for row in zip(*(table.column(c) for c in order), strict=True) for v in row]
        raters: list[Any] = [column for _ in rows for column in order]
        order = [canonical(column) for column in order]
    else:
        if rater is None or label is None:
            raise InputError("a long table needs a rater and a label column", file=table.file)
        repeat = 1
        raters, labels = table.column(rater), table.column(label)

    def per_row(column: str) -> list[Any]:
        return [value for value in table.column(column) for _ in range(repeat)]

    items = per_row(item)
    if wide:
        _refuse_repeated_items(table, item)
    axis, note = _axis(name or label or "label", level, categories, labels, table.file)
    ratings = from_columns(
        axis,
        items,
        raters,
        labels,
        clusters=per_row(cluster) if cluster else None,
        strata={column: per_row(column) for column in strata},
        rater_order=order,
        file=table.file,
        first_row=table.first_row,
    )
    for text in (*table.notes, *([note] if note else [])):
        ratings = ratings.with_note(text)
    return ratings


def _refuse_repeated_items(table: Table, item: str) -> None:
    seen: dict[str, int] = {}
    for row, raw in enumerate(table.column(item)):
        name = canonical(raw)
        if name and name in seen:
            raise InputError(
                f"item {name!r} stands in row {seen[name] + table.first_row} already, "
                "expected one row per item in a wide table",
                file=table.file,
                place=f"row {row + table.first_row}",
            )
        seen[name] = row


def _axis(
    name: str, level: Any, categories: Sequence[str], labels: Sequence[Any], file: str
) -> tuple[Axis, str | None]:
    note = None
    domain = tuple(canonical(label) for label in categories)
    if not domain and level in ("nominal", "ordinal"):
        single = (label for label in labels if not isinstance(label, list | dict))
        found = {canonical(label) for label in single} - MISSING_WORDS
        if not found:
            raise InputError("no label in the table, every one is missing", file=file)
        numbers = {text: as_number(text) for text in found}
        numeric = all(number is not None for number in numbers.values())
        if level == "ordinal" and not numeric:
            raise InputError(
                "ordinal labels that are no numbers need their order: give --categories",
                file=file,
            )
        ordered = sorted(found, key=lambda text: numbers[text] or 0.0) if numeric else None
        domain = tuple(ordered or sorted(found, key=natural_key))
        note = (
            "labels taken from the data: coefficients that count unused labels "
            "(AC1, AC2, Brennan–Prediger, weighted κ) assume there are no others; "
            "declare them with --categories"
        )
    return build_axis(name, level, domain), note


def build_axis(name: str, level: Level, domain: Sequence[Any]) -> Axis:
    """Build an axis from a user's words.

    Args:
        name: Name of the axis.
        level: Level of measurement.
        domain: Ordered labels.

    Returns:
        The axis.

    Raises:
        InputError: A domain that does not fit the level.
    """
    from pydantic import ValidationError

    try:
        return Axis(name=name, level=level, domain=tuple(domain))
    except ValidationError as error:
        reason = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise InputError(reason) from error


def _read_csv(path: Path) -> Table:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
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
                except json.JSONDecodeError as error:
                    raise InputError(
                        f"expected JSON: {error.msg}", file=str(path), place=f"line {number}"
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
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        read = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"expected Parquet: {error}", file=str(path)) from error
    return Table({name: read.column(name).to_pylist() for name in read.column_names}, str(path), 1)
