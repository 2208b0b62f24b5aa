"""Seeds: what prompts are expanded from (T2MBench 3.1 began with 450 files of another corpus)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from benchmarks.items import Frozen
from benchmarks.t2mbench import CATEGORIES
from construction.t2mbench.moves import moves
from construction.text.tokens import unreadable
from corpus.problems import InputError, Problem

MAX_CHARS = 2000
"""Longest seed, characters."""
_TEXT = ("text", "prompt", "caption", "seed", "name")
_CATEGORY = ("category", "subcategory")
_SUFFIXES = (".csv", ".json", ".jsonl", ".ndjson", ".txt")


class Seed(Frozen):
    """One idea."""

    id: str = Field(min_length=1)
    """Stable id: the file's own, else the row."""
    text: str = Field(min_length=1, max_length=MAX_CHARS)
    """A technique, an action or a sentence, e.g. ``roundhouse kick``."""
    category: str | None = None
    """Key of ``CATEGORIES``; null: it serves every category."""


def builtin_seeds(category: str) -> tuple[Seed, ...]:
    """Return our own seeds of a category: the names of its moves; none for the Accuracy ones."""
    return tuple(
        Seed(id=f"builtin:{category}:{move.name.replace(' ', '-')}", text=move.name)
        for move in moves(category)
    )


def seeds_of(category: str, given: Sequence[Seed]) -> list[Seed]:
    """Return the seeds that serve a category: those given, or our own where none do."""
    own = [seed for seed in given if seed.category in (None, category)]
    return own or list(builtin_seeds(category))


def read_seeds(path: Path) -> tuple[list[Seed], list[Problem]]:
    """Read a file of seeds.

    Args:
        path: ``.txt`` with one seed a line; ``.jsonl``, ``.json`` (a list, or objects by id) or
            ``.csv`` with ``text`` (or ``prompt``, ``caption``, ``name``), perhaps ``id`` and
            ``category``; UTF-8.

    Returns:
        The seeds in order, and the rows that are none, with the reason. A text that came before
        is refused.

    Raises:
        InputError: The file cannot be read, or has no usable row.
    """
    if path.suffix.lower() not in _SUFFIXES:
        expected = ", ".join(_SUFFIXES)
        raise InputError(f"expected a file of {expected}, got {path.suffix!r}", file=str(path))
    try:
        raw = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error}", file=str(path)) from error
    found: list[Seed] = []
    problems: list[Problem] = []
    texts: dict[tuple[str, str | None], str] = {}
    ids: set[str] = set()
    for place, row in _rows(raw, path):
        try:
            seed = _seed(row, place)
            key = (" ".join(seed.text.casefold().split()), seed.category)
            if key in texts:
                raise ValueError(f"the same seed stands in {texts[key]} already")
            if seed.id in ids:
                raise ValueError(f"id {seed.id!r} was used before")
        except ValueError as error:
            problems.append(Problem(file=str(path), place=place, reason=str(error)))
            continue
        texts[key] = place
        ids.add(seed.id)
        found.append(seed)
    if not found:
        first = f"; first: {problems[0].place}: {problems[0].reason}" if problems else ""
        raise InputError(f"expected seeds, found none that can be used{first}", file=str(path))
    return found, problems


def _rows(raw: str, path: Path) -> Iterator[tuple[str, Any]]:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        reader = csv.DictReader(io.StringIO(raw, newline=""), strict=True)
        try:
            for row in reader:
                if None in row:
                    yield f"row {reader.line_num}", None
                else:
                    yield f"row {reader.line_num}", row
        except csv.Error as error:
            place = f"row {reader.line_num}"
            raise InputError(f"expected CSV: {error}", file=str(path), place=place) from error
        return
    if suffix == ".json":
        yield from _entries(raw, path)
        return
    for number, line in enumerate(raw.split("\n"), start=1):
        if not line.strip():
            continue
        if suffix == ".txt":
            yield f"line {number}", {"text": line}
            continue
        try:
            yield f"line {number}", json.loads(line)
        except (ValueError, RecursionError):
            yield f"line {number}", None


def _entries(raw: str, path: Path) -> Iterable[tuple[str, Any]]:
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
        raise InputError("expected a list of seeds, or seeds by id", file=str(path))
    return [(f"entry {number}", row) for number, row in enumerate(found, start=1)]


def _seed(row: Any, place: str) -> Seed:
    """Make a seed of a row.

    Raises:
        ValueError: It is none; the message says why.
    """
    if isinstance(row, str):
        row = {"text": row}
    if not isinstance(row, dict):
        raise ValueError("expected an object with text, or a row with as many cells as columns")
    named = next((row[key] for key in _TEXT if row.get(key) not in (None, "")), None)
    if not isinstance(named, str):
        raise ValueError(f"expected text under {' or '.join(_TEXT)}, got {type(named).__name__}")
    text = " ".join(named.split())
    why = unreadable(text) or (
        f"longer than {MAX_CHARS} characters" if len(text) > MAX_CHARS else ""
    )
    if why:
        raise ValueError(f"text: {why}")
    category = next((row[key] for key in _CATEGORY if row.get(key) not in (None, "")), None)
    if category is not None:
        category = str(category).strip().lower().replace("-", "_").replace(" ", "_")
        if category not in CATEGORIES:
            raise ValueError(f"category: expected one of {', '.join(CATEGORIES)}, got {category!r}")
    own = row.get("id")
    name = str(own) if isinstance(own, str | int) and str(own) else place.replace(" ", "-")
    return Seed(id=name, text=text, category=category)
