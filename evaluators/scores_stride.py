"""STRIDE scores from a user's file: wide, long, or forced choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.score_tables import ScoreTable, read_score_table

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
StrideChoice = Literal["original", "perturbed", "tie", "invalid"]
"""Which caption a forced choice took; ``invalid`` where the answer names neither."""

WIDE = ("s_mc", "s_mcp", "s_uc", "s_ucp")
_CHOICES: tuple[StrideChoice, ...] = ("original", "perturbed", "tie", "invalid")
_ROLES = ("matched", "unrelated")
_CAPTIONS = ("orig", "pert")
_ABOUT = ("corpus", "axis", "motion_id")


@dataclass(frozen=True, slots=True)
class FileItems:
    """The N items of a file, in order of appearance, and what it says about them."""

    ids: tuple[str, ...]
    """Item ids, unique."""
    corpus: tuple[str, ...] | None
    """Corpus of each item; None where the file has no such column."""
    axis: tuple[str, ...] | None
    """Axis of each item, as written; None where the file has no such column."""
    motion_id: tuple[str, ...] | None
    """Motion of each item; None where the file has no such column."""


@dataclass(frozen=True, slots=True)
class FileScores:
    """Scores of a file, higher = better."""

    items: FileItems
    """The N items."""
    matched: FloatArray
    """(N, 2): s(m, c) and s(m, c')."""
    item: IntArray
    """(R,): item of each control row; every item has one or more."""
    control: FloatArray
    """(R, 2): s(u, c) and s(u, c')."""


@dataclass(frozen=True, slots=True)
class FileChoices:
    """Forced choices of a file."""

    items: FileItems
    """The N items."""
    matched: tuple[StrideChoice, ...]
    """(N,): choice with the item's own motion."""
    item: IntArray
    """(R,): item of each control row; every item has one or more."""
    control: tuple[StrideChoice, ...]
    """(R,): choices with unrelated motions."""


def read_stride_file(path: Path, higher_is_better: bool | None) -> FileScores | FileChoices:
    """Read scores or choices by the columns of the file.

    Args:
        path: CSV, TSV or Parquet with ``item_id``, optionally ``corpus``, ``axis``, ``motion_id``,
            and one of: wide, ``s_mc, s_mcp, s_uc, s_ucp`` with one row an item or, with ``draw``,
            one row a control; long, ``role`` (``matched`` or ``unrelated``), ``caption`` (``orig``
            or ``pert``), ``score`` and ``draw``; choices, ``role``, ``choice`` (``original``,
            ``perturbed``, ``tie``, ``invalid``) and ``draw``.
        higher_is_better: What the user said of the scores; not needed for choices.

    Returns:
        Items in order of appearance.

    Raises:
        InputError: NaN, a missing score, an item twice, an unknown word, or an unknown direction;
            the message names file and row.
    """
    table = read_score_table(path)
    table.text("item_id")
    if "choice" in table.columns:
        return _choices(table)
    if "score" in table.columns:
        return _long(table, table.sign(higher_is_better))
    return _wide(table, table.sign(higher_is_better))


def _wide(table: ScoreTable, sign: float) -> FileScores:
    drawn = "draw" in table.columns
    table.refuse_repeats(["item_id", "draw"] if drawn else ["item_id"])
    scores = sign * np.column_stack([table.numbers(name) for name in WIDE])
    items, item = _items(table)
    first = np.unique(item, return_index=True)[1]
    matched = scores[first, :2]
    other = np.flatnonzero((scores[:, :2] != matched[item]).any(axis=1))
    if len(other):
        row = int(other[0])
        raise InputError(
            f"item {items.ids[item[row]]!r} has other s_mc or s_mcp in "
            f"{table.place(int(first[item[row]]))}; they must be the same in all draws",
            file=table.file,
            place=table.place(row),
        )
    return FileScores(items, matched, item, scores[:, 2:])


def _long(table: ScoreTable, sign: float) -> FileScores:
    drawn = ["draw"] if "draw" in table.columns else []
    role = _words(table, "role", _ROLES)
    caption = _words(table, "caption", _CAPTIONS)
    values = sign * table.numbers("score")
    items, item = _items(table)
    keys = _draws(table, role)
    table_keys: dict[tuple[int, str, str], dict[str, float]] = {}
    for row in range(table.n_rows):
        both = table_keys.setdefault((int(item[row]), role[row], keys[row]), {})
        if caption[row] in both:
            named = ", ".join(["item_id", "role", *drawn, "caption"])
            raise InputError(
                f"a second score for the same {named}", file=table.file, place=table.place(row)
            )
        both[caption[row]] = float(values[row])
    for (place, what, draw), both in table_keys.items():
        if len(both) < 2:
            lacking = next(word for word in _CAPTIONS if word not in both)
            which = f" in draw {draw}" if draw else ""
            raise InputError(
                f"item {items.ids[place]!r}: no {what} score{which} for caption {lacking!r}",
                file=table.file,
            )
    pairs = [(k[0], k[1], (v["orig"], v["pert"])) for k, v in table_keys.items()]
    own = {place: pair for place, what, pair in pairs if what == "matched"}
    controls = [(place, pair) for place, what, pair in pairs if what == "unrelated"]
    _complete(items, own, [place for place, _ in controls], table)
    return FileScores(
        items,
        np.array([own[place] for place in range(len(items.ids))]),
        np.array([place for place, _ in controls], dtype=np.int64),
        np.array([pair for _, pair in controls]),
    )


def _choices(table: ScoreTable) -> FileChoices:
    role = _words(table, "role", _ROLES)
    choice = _words(table, "choice", _CHOICES)
    items, item = _items(table)
    keys = _draws(table, role)
    seen: set[tuple[int, str, str]] = set()
    own: dict[int, StrideChoice] = {}
    controls: list[tuple[int, StrideChoice]] = []
    for row, word in enumerate(choice):
        key = (int(item[row]), role[row], keys[row])
        if key in seen:
            raise InputError(
                f"a second {role[row]} choice for item {items.ids[key[0]]!r}; number them in a "
                "column draw",
                file=table.file,
                place=table.place(row),
            )
        seen.add(key)
        taken = next(known for known in _CHOICES if known == word)
        if role[row] == "matched":
            own[key[0]] = taken
        else:
            controls.append((key[0], taken))
    _complete(items, own, [place for place, _ in controls], table)
    return FileChoices(
        items,
        tuple(own[place] for place in range(len(items.ids))),
        np.array([place for place, _ in controls], dtype=np.int64),
        tuple(word for _, word in controls),
    )


def _items(table: ScoreTable) -> tuple[FileItems, IntArray]:
    """Return the items and the item of each row; what is said about an item must not change."""
    ids = table.text("item_id")
    order = {name: place for place, name in enumerate(dict.fromkeys(ids))}
    item = np.array([order[name] for name in ids], dtype=np.int64)
    first = np.unique(item, return_index=True)[1]
    about: dict[str, tuple[str, ...] | None] = {}
    for name in _ABOUT:
        column = table.optional(name)
        about[name] = None if column is None else tuple(column[row] for row in first)
        for row, value in enumerate(column or ()):
            start = int(first[item[row]])
            if column is not None and value != column[start]:
                raise InputError(
                    f"item {ids[row]!r} has {name} {value!r} here and {column[start]!r} in "
                    f"{table.place(start)}",
                    file=table.file,
                    place=table.place(row),
                )
    return FileItems(tuple(order), about["corpus"], about["axis"], about["motion_id"]), item


def _draws(table: ScoreTable, role: Sequence[str]) -> list[str]:
    """Return what tells the rows of one item and role apart; a matched row may have no draw."""
    if "draw" not in table.columns:
        return [""] * table.n_rows
    found = table.columns["draw"]
    for row, value in enumerate(found):
        if not value and role[row] == "unrelated":
            raise InputError("draw is empty", file=table.file, place=table.place(row))
    return ["" if role[row] == "matched" else value for row, value in enumerate(found)]


def _words(table: ScoreTable, name: str, allowed: Sequence[str]) -> list[str]:
    values = [value.lower() for value in table.text(name)]
    for row, value in enumerate(values):
        if value not in allowed:
            raise InputError(
                f"{name}: expected one of {', '.join(allowed)}, got {value[:40]!r}",
                file=table.file,
                place=table.place(row),
            )
    return values


def _complete(
    items: FileItems, own: Mapping[int, object], controls: Sequence[int], table: ScoreTable
) -> None:
    for what, known in (("matched", set(own)), ("unrelated", set(controls))):
        missing = [name for place, name in enumerate(items.ids) if place not in known]
        if missing:
            more = f" and {len(missing) - 1} more items" if len(missing) > 1 else ""
            raise InputError(f"item {missing[0]!r}{more}: no {what} row", file=table.file)
