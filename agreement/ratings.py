"""The long table of ratings of one axis, encoded once: items by raters, missing as -1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agreement.axis import MISSING_WORDS, Axis, as_number, canonical
from corpus.problems import InputError

MAX_CELLS = 50_000_000
"""Most cells (items times raters) that are held in memory."""
MAX_LABELS = 2_000
"""Most distinct labels of a nominal, ordinal or ratio axis."""


class RatingRecord(NamedTuple):
    """One row of the long table."""

    item: str
    """What was rated."""
    rater: str
    """Who rated it."""
    label: Any
    """The rating; '', NA, None and NaN are missing."""
    cluster: str | None = None
    """Outermost unit that several items share (prompt, else clip)."""
    strata: Mapping[str, str] = {}
    """What the item is broken down by, e.g. axis and difficulty."""
    weight: float = 1.0
    """Weight of the item in every sum; 1 unless items were sampled unequally."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of one axis. Build it with ``from_records`` or ``from_columns``."""

    axis: Axis
    """What was rated; its domain is complete here."""
    items: tuple[str, ...]
    """Item ids, in order of first appearance."""
    raters: tuple[str, ...]
    """Rater ids, in natural order (A2 before A10) or as given."""
    codes: npt.NDArray[np.int32]
    """(items, raters): index into the domain, -1 where missing."""
    clusters: npt.NDArray[np.int64] | None = None
    """(items,): number of the item's cluster; None where items stand alone."""
    strata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By name of the stratum: its value for every item."""
    weights: npt.NDArray[np.float64] | None = None
    """(items,): weight of each item; None where all are 1."""
    n_missing_rows: int = 0
    """Rows of the table whose label was missing."""
    notes: tuple[str, ...] = ()
    """What was assumed while reading."""

    @cached_property
    def q(self) -> int:
        """Number of labels in the domain."""
        return len(self.axis.domain)

    @cached_property
    def per_item(self) -> npt.NDArray[np.int64]:
        """(items,): ratings per item."""
        return np.asarray((self.codes >= 0).sum(axis=1), dtype=np.int64)

    @cached_property
    def per_rater(self) -> npt.NDArray[np.int64]:
        """(raters,): ratings per rater."""
        return np.asarray((self.codes >= 0).sum(axis=0), dtype=np.int64)

    @property
    def n_ratings(self) -> int:
        """Number of ratings given."""
        return int(self.per_item.sum())

    @property
    def n_pairable(self) -> int:
        """Number of items with at least two ratings."""
        return int((self.per_item >= 2).sum())

    @property
    def n_raters(self) -> int:
        """Number of raters who gave at least one rating."""
        return int((self.per_rater > 0).sum())

    @property
    def missing_share(self) -> float | None:
        """Share of the cells items times raters that hold no rating; None for no cells."""
        return 1.0 - self.n_ratings / self.codes.size if self.codes.size else None

    @cached_property
    def _unique(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        rows, index = np.unique(self.codes, axis=0, return_inverse=True)
        return rows, np.asarray(index, dtype=np.int64).reshape(-1)

    @property
    def patterns(self) -> npt.NDArray[np.int32]:
        """(patterns, raters): the distinct rows of ``codes``."""
        return self._unique[0]

    @property
    def pattern_of(self) -> npt.NDArray[np.int64]:
        """(items,): which pattern each item shows."""
        return self._unique[1]

    @cached_property
    def pattern_weight(self) -> npt.NDArray[np.float64]:
        """(patterns,): total weight of the items that show the pattern."""
        weights = np.ones(len(self.items)) if self.weights is None else self.weights
        summed = np.bincount(self.pattern_of, weights=weights, minlength=len(self.patterns))
        return summed.astype(np.float64)

    @cached_property
    def pattern_counts(self) -> npt.NDArray[np.float64]:
        """(patterns, q): how many raters gave each label."""
        return count_labels(self.patterns, self.q)

    def label_counts(self) -> npt.NDArray[np.int64]:
        """Return (raters, q): how often each rater gave each label."""
        return np.stack(
            [
                np.bincount(column[column >= 0], minlength=self.q)
                for column in self.codes.T.astype(np.int64)
            ]
            or [np.zeros(self.q, dtype=np.int64)]
        )

    def select(self, keep: npt.NDArray[np.bool_]) -> Ratings:
        """Return the ratings of the items where ``keep`` (items,) is true; raters stay."""
        index = np.flatnonzero(keep)
        return replace(
            self,
            items=tuple(self.items[i] for i in index),
            codes=self.codes[index],
            clusters=None if self.clusters is None else self.clusters[index],
            strata={name: tuple(v[i] for i in index) for name, v in self.strata.items()},
            weights=None if self.weights is None else self.weights[index],
        )

    def with_note(self, note: str) -> Ratings:
        """Return the same ratings with one more note."""
        return replace(self, notes=(*self.notes, note))

    def without_rater(self, position: int) -> Ratings:
        """Return the ratings with one rater's column left out."""
        return replace(
            self,
            raters=self.raters[:position] + self.raters[position + 1 :],
            codes=np.delete(self.codes, position, axis=1),
        )


def count_labels(codes: npt.NDArray[np.int32], q: int) -> npt.NDArray[np.float64]:
    """Count the labels of each row.

    Args:
        codes: (rows, raters) indices into the domain, -1 where missing.
        q: Number of labels in the domain.

    Returns:
        (rows, q) counts, as floats.
    """
    rows = len(codes)
    given = codes >= 0
    flat = (np.arange(rows)[:, None] * q + codes)[given]
    return np.bincount(flat, minlength=rows * q).reshape(rows, q).astype(np.float64)


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts A2 before A10.

    >>> sorted(["A10", "A2", "B1"], key=natural_key)
    ['A2', 'A10', 'B1']
    """
    parts: list[tuple[int, int, str]] = []
    run = ""
    for char in text + "\0":
        if run and (char.isdecimal() != run[0].isdecimal() or char == "\0"):
            parts.append((0, int(run), run) if run[0].isdecimal() else (1, 0, run))
            run = ""
        run += char
    return tuple(parts)


def from_records(axis: Axis, records: Iterable[RatingRecord], *, file: str = "") -> Ratings:
    """Encode records of one axis.

    Args:
        axis: What was rated.
        records: One per rating, missing ratings included or left out.
        file: Name used in messages.

    Returns:
        The encoded table.

    Raises:
        InputError: A label outside the domain, an item rated twice by one rater, an empty item or
            rater id, an item in two clusters or strata.
    """
    rows = list(records)
    names = {name for row in rows for name in row.strata}
    return from_columns(
        axis,
        [row.item for row in rows],
        [row.rater for row in rows],
        [row.label for row in rows],
        clusters=[row.cluster for row in rows]
        if any(r.cluster is not None for r in rows)
        else None,
        strata={name: [row.strata.get(name, "") for row in rows] for name in sorted(names)},
        weights=[row.weight for row in rows] if any(r.weight != 1.0 for r in rows) else None,
        file=file,
        first_row=1,
    )


def from_columns(
    axis: Axis,
    items: Sequence[Any],
    raters: Sequence[Any],
    labels: Sequence[Any],
    *,
    clusters: Sequence[Any] | None = None,
    strata: Mapping[str, Sequence[Any]] | None = None,
    weights: Sequence[float] | None = None,
    rater_order: Sequence[str] | None = None,
    file: str = "",
    first_row: int = 2,
) -> Ratings:
    """Encode the columns of a long table; see ``from_records`` for what is refused.

    Args:
        axis: What was rated.
        items: Item id of each row.
        raters: Rater id of each row.
        labels: Label of each row; '', NA, None and NaN are missing and counted.
        clusters: Cluster id of each row.
        strata: Further columns that are constant within an item.
        weights: Weight of each row's item.
        rater_order: Order of the raters; by default natural order.
        file: Name used in messages.
        first_row: Number of the first row in messages (2 for a CSV with a header).

    Returns:
        The encoded table.

    Raises:
        InputError: As ``from_records``.
    """
    encoder = _Encoder(file, first_row)
    item_index, item_names = encoder.ids(items, "item")
    rater_index, found_raters = encoder.ids(raters, "rater")
    raters_sorted = list(rater_order or sorted(found_raters, key=natural_key))
    position = {name: i for i, name in enumerate(raters_sorted)}
    rater_index = np.array([position[name] for name in found_raters], dtype=np.int64)[rater_index]
    encoder.refuse_id_column(item_names, raters_sorted, len(items))
    codes_of_row, domain, n_missing, notes = encoder.labels(labels, axis)
    encoder.refuse_duplicates(item_index, rater_index, item_names, raters_sorted)

    codes = np.full((len(item_names), len(raters_sorted)), -1, dtype=np.int32)
    codes[item_index, rater_index] = codes_of_row
    n = len(item_names)
    return Ratings(
        axis=axis.model_copy(update={"domain": domain}),
        items=tuple(item_names),
        raters=tuple(raters_sorted),
        codes=codes,
        clusters=None if clusters is None else encoder.clusters(clusters, item_index, item_names),
        strata={
            name: tuple(encoder.per_item(column, item_index, item_names, name))
            for name, column in (strata or {}).items()
        },
        weights=None if weights is None else encoder.weights(weights, item_index, n),
        n_missing_rows=n_missing,
        notes=notes,
    )


class _Encoder:
    """Turns columns into indices and says which row is at fault."""

    def __init__(self, file: str, first_row: int) -> None:
        self.file = file
        self.first_row = first_row

    def error(self, reason: str, row: int | None = None) -> InputError:
        place = "" if row is None else f"row {row + self.first_row}"
        if not self.file and place:
            return InputError(f"{place}: {reason}")
        return InputError(reason, file=self.file, place=place)

    def ids(self, column: Sequence[Any], what: str) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Index every id by first appearance."""
        seen: dict[str, int] = {}
        index = np.empty(len(column), dtype=np.int64)
        for row, raw in enumerate(column):
            name = canonical(raw)
            if not name:
                raise self.error(f"the {what} is empty", row)
            index[row] = seen.setdefault(name, len(seen))
        return index, list(seen)

    def refuse_id_column(self, items: list[str], raters: list[str], rows: int) -> None:
        """Refuse a rater column that names rows, not people."""
        if len(raters) == rows and rows >= 10:
            raise self.error(
                f"the rater column holds {len(raters)} different values in {rows} rows, none twice:"
                " it looks like an id, expected who rated"
            )
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
            numbers[text] = number
        return tuple(sorted(numbers, key=numbers.__getitem__))

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
            value = canonical(raw)
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
