"""Tables of scores: columns by name, numbers that must be finite, ids that must be unique."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.parquet import parquet_columns
from corpus.problems import InputError

SAY_DIRECTION = "unknown direction: say --higher-is-better or --lower-is-better"
DIRECTION_COLUMN = "higher_is_better"
LARGEST = 1e150
"""Scores beyond this are refused: sums and differences of them have to stay finite."""
EXACT = 2**53
"""Whole numbers up to this are exact as floats."""
_WHOLE = re.compile(r"[+-]?\d+", re.A)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)", re.A | re.I)
_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})


@dataclass(frozen=True)
class ScoreTable:
    """Columns of a file as text, not yet interpreted."""

    columns: dict[str, list[str]]
    """Values by column, all of one length; empty where the file has nothing."""
    file: str
    """Name used in messages."""
    row_word: str
    """``line`` for text files, ``row`` for Parquet."""
    first_row: int
    """Number of the first row in messages."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), []))

    def place(self, row: int) -> str:
        """Name a row for a message.

        Args:
            row: Position from 0.
        """
        return f"{self.row_word} {self.first_row + row}"

    def text(self, name: str, rows: Sequence[int] | None = None) -> list[str]:
        """Return a column whose cells must not be empty.

        Args:
            name: The column.
            rows: Rows that are wanted, the only ones that are looked at; None for all.

        Raises:
            InputError: No such column, or an empty cell.
        """
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise InputError(
                f"no column {name!r} of texts or numbers, expected it beside {known}",
                file=self.file,
            )
        column = self.columns[name]
        wanted = range(len(column)) if rows is None else rows
        for row in wanted:
            if not column[row]:
                raise InputError(f"{name} is empty", file=self.file, place=self.place(row))
        return [column[row] for row in wanted]

    def optional(self, name: str) -> list[str] | None:
        """Return a column as ``text`` does; None where the file has none of that name."""
        return self.text(name) if name in self.columns else None

    def numbers(self, name: str, rows: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return a column of finite numbers.

        Args:
            name: The column.
            rows: As in ``text``.

        Raises:
            InputError: No such column, or a cell that is empty, no number, NaN, infinite, huge, or
                a whole number that a float would round.
        """
        values = self.text(name, rows)
        places = range(self.n_rows) if rows is None else rows
        found = np.empty(len(values))
        for at, (row, value) in enumerate(zip(places, values, strict=True)):
            # float() also takes 1_0 and digits of other scripts, which nobody means as a score.
            if not _NUMBER.fullmatch(value):
                raise self._refused(name, "a number", repr(value[:40]), row)
            found[at] = float(value)
            if abs(found[at]) >= EXACT and _WHOLE.fullmatch(value):
                wanted = f"a whole number below {EXACT:,} (larger ones round)"
                raise self._refused(name, wanted, value[:40], row)
        bad = np.flatnonzero(~(np.abs(found) <= LARGEST))
        if len(bad):
            more = f" ({len(bad)} such rows)" if len(bad) > 1 else ""
            wanted = "a finite number" if not np.isfinite(found[bad[0]]) else "a number up to 1e150"
            raise self._refused(name, wanted, values[bad[0]][:40] + more, places[bad[0]])
        return found

    def _refused(self, name: str, wanted: str, got: str, row: int) -> InputError:
        return InputError(
            f"{name}: expected {wanted}, got {got}", file=self.file, place=self.place(row)
        )

    def refuse_repeats(self, names: Sequence[str]) -> None:
        """Refuse two rows with the same values in the given columns.

        Raises:
            InputError: There are two; both rows are named.
        """
        seen: dict[tuple[str, ...], int] = {}
        for row, key in enumerate(zip(*(self.columns[name] for name in names), strict=True)):
            if (first := seen.setdefault(key, row)) != row:
                what = ", ".join(f"{n} {v!r}" for n, v in zip(names, key, strict=True))
                raise InputError(
                    f"{what} stands twice, first in {self.place(first)}",
                    file=self.file,
                    place=self.place(row),
                )

    def sign(self, higher_is_better: bool | None) -> float:
        """Return 1 where higher scores are better and −1 where lower ones are.

        Args:
            higher_is_better: What the user said; None where nothing. A column
                ``higher_is_better`` says it too, with one value throughout.

        Raises:
            InputError: Nobody says it, or user and file contradict each other.
        """
        column = self.optional(DIRECTION_COLUMN)
        stated = {value.lower() for value in column or ()}
        if stated and not (stated <= _TRUE or stated <= _FALSE):
            raise InputError(
                f"{DIRECTION_COLUMN}: expected true or false throughout, got "
                f"{', '.join(sorted(stated))[:60]}",
                file=self.file,
            )
        return direction(higher_is_better, stated <= _TRUE if stated else None, self.file)


def direction(said: bool | None, stored: bool | None, file: str) -> float:
    """Settle which end of a score is good.

    Args:
        said: What the user said; None where nothing.
        stored: What the file says; None where nothing.
        file: Name used in messages.

    Returns:
        1 where higher is better, −1 where lower is.

    Raises:
        InputError: Nobody says it, or the two contradict each other.
    """
    if said is None and stored is None:
        raise InputError(SAY_DIRECTION, file=file)
    if said is not None and stored is not None and said != stored:
        words = {True: "higher", False: "lower"}
        raise InputError(
            f"the file says {words[stored]} is better, the option says {words[said]}", file=file
        )
    return 1.0 if (stored if said is None else said) else -1.0


def read_score_table(path: Path) -> ScoreTable:
    """Read a table by the ending of its name.

    Args:
        path: ``.csv``, ``.tsv`` or ``.parquet``.

    Returns:
        The table, every value as text.

    Raises:
        InputError: A file that is missing, empty, of another kind or damaged.
    """
    ending = path.suffix.lower()
    if ending not in (".csv", ".tsv", ".parquet"):
        raise InputError("expected a table of scores: .csv, .tsv or .parquet", file=str(path))
    if not path.is_file():
        raise InputError("no such file", file=str(path))
    columns = _parquet(path) if ending == ".parquet" else _separated(path)
    if not next(iter(columns.values()), []):
        raise InputError("the table has no rows", file=str(path))
    if ending == ".parquet":
        return ScoreTable(columns, str(path), "row", 1)
    return ScoreTable(columns, str(path), "line", 2)


def _separated(path: Path) -> dict[str, list[str]]:
    import pandas as pd

    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header = stream.readline()
        marks = "\t" if path.suffix.lower() == ".tsv" else ",;\t"
        mark = next((char for char in marks if char in header), ",")
        frame = pd.read_csv(
            path,
            sep=mark,
            dtype=str,
            keep_default_na=False,
            header=None,
            encoding="utf-8-sig",
            skip_blank_lines=False,
        )
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error.reason}", file=str(path)) from error
    except pd.errors.EmptyDataError as error:
        raise InputError("the file is empty, expected a header line", file=str(path)) from error
    except pd.errors.ParserError as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ")
        raise InputError(f"expected a table: {reason}", file=str(path)) from error
    rows = frame.fillna("").astype(str)
    while len(rows) and not rows.iloc[-1].str.strip().any():
        rows = rows.iloc[:-1]
    names = [str(name).strip() for name in rows.iloc[0]] if len(rows) else []
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"column {twice[0]!r} stands twice in the header", file=str(path))
    return {
        name: [value.strip() for value in rows.iloc[1:, place].tolist()]
        for place, name in enumerate(names)
    }


def _parquet(path: Path) -> dict[str, list[str]]:
    return {
        name: [_word(value) for value in values]
        for name, values in parquet_columns(path).items()
        if not any(isinstance(value, list | dict | bytes) for value in values)
    }


def _word(value: Any) -> str:
    # NaN is how pandas writes that a cell is empty.
    return "" if value is None or value != value else str(value).strip()
