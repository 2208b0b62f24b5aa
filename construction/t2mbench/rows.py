"""Rows of tables from outside: lines of text, CSV, JSON, JSONL."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.t2mbench import CATEGORIES
from corpus.problems import InputError

SUFFIXES = (".csv", ".json", ".jsonl", ".ndjson", ".txt")
"""Endings of files that can be read."""
_SHORT_NAMES = {
    "martial": "martial_arts",
    "invisible": "invisible_object",
    "multistage": "multi_stage",
    "wholebody": "whole_body",
    "bodypart": "body_part",
}


def first_of(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the value of the first column that is there and not empty; None where none is."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def category_of(name: str) -> str:
    """Return the key of ``CATEGORIES`` that a name means; one that means none in plain form.

    >>> category_of("Invisible-object"), category_of("Martial"), category_of("My own")
    ('invisible_object', 'martial_arts', 'my_own')
    """
    plain = "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())
    return plain if plain in CATEGORIES else _SHORT_NAMES.get(plain, plain)


def read_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Read the rows of a file.

    Args:
        path: ``.txt`` (one text a line), ``.csv`` with a header, ``.jsonl``, or ``.json`` with a
            list or with values by id; UTF-8.

    Yields:
        Place and row; a text alone is ``{"text": …}``, a row that cannot be read is None.

    Raises:
        InputError: The file cannot be read, or is none of these.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"expected a file of {', '.join(SUFFIXES)}, got {suffix!r}", file=str(path)
        )
    try:
        raw = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error}", file=str(path)) from error
    readers = {".csv": _csv, ".json": _json, ".txt": _lines}
    for place, row in readers.get(suffix, _jsonl)(raw, path):
        yield place, {"text": row} if isinstance(row, str) else row


def _lines(raw: str, path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(raw.split("\n"), start=1):
        if line.strip():
            yield f"line {number}", line


def _jsonl(raw: str, path: Path) -> Iterator[tuple[str, Any]]:
    for place, line in _lines(raw, path):
        try:
            yield place, json.loads(line)
        except (ValueError, RecursionError):
            yield place, None


def _csv(raw: str, path: Path) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(io.StringIO(raw, newline=""), strict=True)
    try:
        for row in reader:
            # Cells beyond the header stand under None.
            yield f"row {reader.line_num}", None if None in row else row
    except csv.Error as error:
        place = f"row {reader.line_num}"
        raise InputError(f"expected CSV: {error}", file=str(path), place=place) from error


def _json(raw: str, path: Path) -> Iterator[tuple[str, Any]]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected JSON: {error}", file=str(path)) from error
    if isinstance(found, dict):
        found = [
            {"id": key, **(value if isinstance(value, dict) else {"text": value})}
            for key, value in found.items()
        ]
    if not isinstance(found, list):
        raise InputError("expected a list, or values by id", file=str(path))
    for number, row in enumerate(found, start=1):
        yield f"entry {number}", row
