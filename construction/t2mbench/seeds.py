"""Seeds: what prompts are expanded from (T2MBench 3.1 began with 450 files of another corpus)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from benchmarks.items import Frozen
from benchmarks.t2mbench import CATEGORIES
from construction.t2mbench.moves import moves
from construction.t2mbench.rows import category_of, first_of, read_rows
from construction.text.tokens import unreadable
from corpus.problems import InputError, Problem

MAX_CHARS = 2000
"""Longest seed, characters."""
_TEXT = ("text", "prompt", "caption", "seed", "name")
_CATEGORY = ("category", "subcategory")


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
    found: list[Seed] = []
    problems: list[Problem] = []
    texts: dict[tuple[str, str | None], str] = {}
    ids: set[str] = set()
    for place, row in read_rows(path):
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


def _seed(row: Any, place: str) -> Seed:
    """Make a seed of a row.

    Raises:
        ValueError: It is none; the message says why.
    """
    if not isinstance(row, dict):
        raise ValueError("expected an object with text, or a row with as many cells as columns")
    named = first_of(row, _TEXT)
    if not isinstance(named, str):
        raise ValueError(f"expected text under {' or '.join(_TEXT)}, got {type(named).__name__}")
    text = " ".join(named.split())
    if (why := unreadable(text)) is not None:
        raise ValueError(f"text: {why}")
    if len(text) > MAX_CHARS:
        raise ValueError(f"text: expected at most {MAX_CHARS} characters, got {len(text)}")
    given = first_of(row, _CATEGORY)
    category = None if given is None else category_of(str(given))
    if category is not None and category not in CATEGORIES:
        raise ValueError(f"category: expected one of {', '.join(CATEGORIES)}, got {given!r}")
    own = row.get("id")
    name = str(own) if isinstance(own, str | int) and str(own) else place.replace(" ", "-")
    return Seed(id=name, text=text, category=category)
