"""Columns of a long table into indices; what cannot be used is refused, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.axis import MISSING_WORDS, Axis, as_number, canonical, identity
from corpus.problems import InputError

MAX_CELLS = 50_000_000
"""Most cells (items times raters) that are held in memory."""
MAX_LABELS = 2_000
"""Most distinct labels of a nominal, ordinal or ratio axis."""
LARGEST = 1e100
"""Largest size of a label or score: squares and sums must stay finite."""


class Encoder:
    """Turns columns into indices and says which row is at fault (``InputError``)."""

    def __init__(self, file: str, first_row: int) -> None:
        """Keep the file's name and the number of its first row, for messages."""
        self.file = file
        self.first_row = first_row

    def error(self, reason: str, row: int | None = None) -> InputError:
        """Build the refusal of a row, or of the whole table."""
        place = "" if row is None else f"row {row + self.first_row}"
        if not self.file and place:
            return InputError(f"{place}: {reason}")
        return InputError(reason, file=self.file, place=place)

    def ids(self, column: Sequence[Any], what: str) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Index every id by first appearance."""
        seen: dict[str, int] = {}
        index = np.empty(len(column), dtype=np.int64)
        for row, raw in enumerate(column):
            if isinstance(raw, list | tuple | dict | set):
                raise self.error(f"{what} {raw!r} holds several values, expected one", row)
            name = identity(raw)
            if not name:
                raise self.error(f"the {what} is empty", row)
            index[row] = seen.setdefault(name, len(seen))
        return index, list(seen)

    def refuse_id_column(self, raters: list[str], rows: int) -> None:
        """Refuse a rater column of a file that names rows, not people."""
        if len(raters) == rows and rows >= 10:
            raise self.error(
                f"the rater column holds {len(raters)} different values in {rows} rows, none twice:"
                " it looks like an id, expected who rated"
            )

    def refuse_too_large(self, items: list[str], raters: list[str]) -> None:
        """Refuse a table that would not fit into memory."""
        if len(items) * len(raters) > MAX_CELLS:
            raise self.error(
                f"{len(items)} items by {len(raters)} raters is more than {MAX_CELLS} cells:"
                " is the rater column an id?"
            )

    def labels(
        self, column: Sequence[Any], axis: Axis
    ) -> tuple[npt.NDArray[np.int32], tuple[str, ...], int, tuple[str, ...]]:
        """Encode labels against the declared domain, or against the numbers found."""
        for row, raw in enumerate(column):
            if isinstance(raw, list | tuple | dict | set):
                raise self.error(f"label {raw!r} holds several values, expected one", row)
        texts = [canonical(raw) for raw in column]
        declared = set(axis.domain)
        missing = [text in MISSING_WORDS and text not in declared for text in texts]
        domain = axis.domain or self._numbers_found(texts, missing, axis)
        code = {label: i for i, label in enumerate(domain)}
        codes = np.full(len(texts), -1, dtype=np.int32)
        for row, text in enumerate(texts):
            if missing[row]:
                continue
            found = code.get(text)
            if found is None:
                raise self.error(
                    f"label {text!r} is not in the domain of {axis.name!r}, "
                    f"expected one of {', '.join(domain)}",
                    row,
                )
            codes[row] = found
        if len(domain) > MAX_LABELS and axis.level != "interval":
            raise self.error(
                f"{len(domain)} different labels on {axis.level} axis {axis.name!r}, "
                f"at most {MAX_LABELS}: is the label column an id?"
            )
        text_rows = sum(
            isinstance(raw, str) for raw, gone in zip(column, missing, strict=True) if not gone
        )
        mixed = 0 < text_rows < len(texts) - sum(missing)
        notes = (
            ("labels come as text and as numbers; 1 and '1' are read as one label",)
            if mixed
            else ()
        )
        return codes, domain, sum(missing), notes

    def _numbers_found(self, texts: list[str], missing: list[bool], axis: Axis) -> tuple[str, ...]:
        numbers: dict[str, float] = {}
        for row, text in enumerate(texts):
            if missing[row] or text in numbers:
                continue
            number = as_number(text)
            if number is None or (axis.level == "ratio" and number < 0):
                kind = "a number that is not negative" if axis.level == "ratio" else "a number"
                raise self.error(f"label {text!r} on {axis.level} axis, expected {kind}", row)
            if abs(number) > LARGEST:
                raise self.error(f"label {text!r}, expected at most {LARGEST:g} in size", row)
            numbers[text] = number
        ordered = sorted(numbers, key=numbers.__getitem__)
        for first, second in pairwise(ordered):
            if numbers[first] == numbers[second]:
                raise self.error(
                    f"labels {first!r} and {second!r} are one number, expected one way to write it"
                )
        return tuple(ordered)

    def refuse_duplicates(
        self,
        item_index: npt.NDArray[np.int64],
        rater_index: npt.NDArray[np.int64],
        items: list[str],
        raters: list[str],
    ) -> None:
        """Refuse a second rating of an item by one rater."""
        cell = item_index * max(len(raters), 1) + rater_index
        _, first, count = np.unique(cell, return_index=True, return_counts=True)
        if count.size and count.max() > 1:
            again = np.ones(len(cell), dtype=bool)
            again[first] = False
            row = int(np.flatnonzero(again)[0])
            raise self.error(
                f"rater {raters[rater_index[row]]!r} rates item {items[item_index[row]]!r} a second"
                f" time, expected one rating by each rater ({int(again.sum())} such rows)",
                row,
            )

    def per_item(
        self, column: Sequence[Any], item_index: npt.NDArray[np.int64], items: list[str], what: str
    ) -> list[str]:
        """Bring a column that is constant within an item to one value per item."""
        found: list[str | None] = [None] * len(items)
        for row, raw in enumerate(column):
            item = int(item_index[row])
            value = identity(raw)
            if found[item] is None:
                found[item] = value
            elif found[item] != value:
                raise self.error(
                    f"item {items[item]!r} has {what} {value!r}, "
                    f"and {found[item]!r} in an earlier row",
                    row,
                )
        return [value or "" for value in found]

    def clusters(
        self, column: Sequence[Any], item_index: npt.NDArray[np.int64], items: list[str]
    ) -> npt.NDArray[np.int64]:
        """Number the clusters; an item with none stands alone."""
        seen: dict[str, int] = {}
        names = self.per_item(column, item_index, items, "cluster")
        keys = [f"cluster {name}" if name else f"item {items[i]}" for i, name in enumerate(names)]
        return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)

    def weights(
        self, column: Sequence[float], item_index: npt.NDArray[np.int64], n: int
    ) -> npt.NDArray[np.float64]:
        """Bring weights to one per item; they must be finite and positive."""
        values = np.asarray(column, dtype=np.float64)
        bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
        if bad.size:
            raise self.error(f"weight {values[bad[0]]} , expected a positive number", int(bad[0]))
        found = np.full(n, np.nan)
        found[item_index] = values
        clash = np.flatnonzero(found[item_index] != values)
        if clash.size:
            raise self.error("an item has two weights", int(clash[0]))
        return found
