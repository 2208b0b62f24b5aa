"""The long table of ratings of one axis, encoded once: items by raters, missing as -1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agreement.axis import Axis
from agreement.encoding import Encoder


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
    refuse_ids: bool = False,
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
        refuse_ids: Refuse ten rows or more whose raters are all different: in a user's file that
            is a column of ids. In a study everyone may have rated once so far.
        file: Name used in messages.
        first_row: Number of the first row in messages (2 for a CSV with a header).

    Returns:
        The encoded table.

    Raises:
        InputError: As ``from_records``.
    """
    encoder = Encoder(file, first_row)
    item_index, item_names = encoder.ids(items, "item")
    rater_index, found_raters = encoder.ids(raters, "rater")
    raters_sorted = list(rater_order or sorted(found_raters, key=natural_key))
    position = {name: i for i, name in enumerate(raters_sorted)}
    rater_index = np.array([position[name] for name in found_raters], dtype=np.int64)[rater_index]
    if refuse_ids:
        encoder.refuse_id_column(raters_sorted, len(items))
    encoder.refuse_too_large(item_names, raters_sorted)
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
