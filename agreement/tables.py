"""Tables as ratings: long, one column a rater, or answers on several axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from agreement.axis import LEVELS, MISSING_WORDS, Axis, Level, as_number, canonical, identity
from agreement.files import Table
from agreement.ratings import RatingRecord, Ratings, from_columns, from_records, natural_key
from corpus.problems import InputError

ROWS_OF_AN_ID = 10
"""Rows from which on a column that holds no value twice is taken for an id, not for ratings."""


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
        InputError: A missing column or anything ``agreement.encoding`` refuses.
    """
    if level not in LEVELS:
        raise InputError(f"level {level!r}, expected one of {', '.join(LEVELS)}")
    order: list[str] | None = None
    if wide:
        others = {item, cluster, *strata}
        order = list(rater_columns) or [c for c in table.columns if c not in others]
        if not order:
            raise InputError("a wide table needs one column per rater", file=table.file)
        for column in order:
            if column in others or order.count(column) > 1:
                use = "also the item, cluster or stratum" if column in others else "named twice"
                raise InputError(f"rater column {column!r} is {use}", file=table.file)
        rows = range(table.n_rows)
        repeat = len(order)
        labels = [v for row in zip(*(table.column(c) for c in order), strict=True) for v in row]
        raters: list[Any] = [column for _ in rows for column in order]
        order = [identity(column) for column in order]
    else:
        if rater is None or label is None:
            raise InputError("a long table needs a rater and a label column", file=table.file)
        if len({item, rater, label}) < 3:
            raise InputError(
                f"item {item!r}, rater {rater!r} and label {label!r}: expected three columns",
                file=table.file,
            )
        repeat = 1
        raters, labels = table.column(rater), table.column(label)

    def per_row(column: str) -> list[Any]:
        return [value for value in table.column(column) for _ in range(repeat)]

    items = per_row(item)
    if wide:
        _refuse_repeated_items(table, item)
        if not rater_columns:
            _refuse_id_columns(table, order or [], level)
    axis, note = _axis(name or label or "label", level, categories, labels, table.file)
    ratings = from_columns(
        axis,
        items,
        raters,
        labels,
        clusters=per_row(cluster) if cluster else None,
        strata={column: per_row(column) for column in strata},
        rater_order=order,
        refuse_ids=not wide,
        file=table.file,
        first_row=table.first_row,
    )
    guessed = None
    if wide and not rater_columns:
        guessed = f"every other column is taken as a rater: {', '.join(ratings.raters)}"
    alike = _alike(ratings.raters)
    doubt = f"raters {alike[0]!r} and {alike[1]!r} count as two" if alike else None
    for text in filter(None, (*table.notes, guessed, note, doubt)):
        ratings = ratings.with_note(text)
    return ratings


class AxisRating(Protocol):
    """One answer on one of several axes, as ``audit.ratings.RatingRow`` holds it."""

    @property
    def axis(self) -> str:
        """Name of the axis."""

    @property
    def level(self) -> Level:
        """Its level of measurement."""

    @property
    def domain(self) -> tuple[str, ...]:
        """Its labels in order."""

    @property
    def item_id(self) -> str:
        """What was rated."""

    @property
    def rater(self) -> str:
        """Who rated it, anonymous."""

    @property
    def label(self) -> str:
        """The answer."""

    @property
    def clip_id(self) -> str:
        """The unit that several items may share; empty where there is none."""

    @property
    def stratum(self) -> dict[str, str]:
        """What the item is broken down by."""


def ratings_by_axis(rows: Iterable[AxisRating]) -> list[Ratings]:
    """Bring answers on several axes to one table of ratings per axis.

    Args:
        rows: The answers.

    Returns:
        One table per axis, in order of first appearance; items that share a clip form a cluster.

    Raises:
        InputError: As ``agreement.ratings.from_records``.
    """
    by_axis: dict[str, list[AxisRating]] = {}
    for row in rows:
        by_axis.setdefault(row.axis, []).append(row)
    return [
        from_records(
            build_axis(name, group[0].level, group[0].domain),
            [
                RatingRecord(r.item_id, r.rater, r.label, r.clip_id or None, r.stratum)
                for r in group
            ],
        )
        for name, group in by_axis.items()
    ]


def _refuse_repeated_items(table: Table, item: str) -> None:
    seen: dict[str, int] = {}
    for row, raw in enumerate(table.column(item)):
        name = identity(raw)
        if name and name in seen:
            raise InputError(
                f"item {name!r} stands in row {seen[name] + table.first_row} already, "
                "expected one row per item in a wide table",
                file=table.file,
                place=f"row {row + table.first_row}",
            )
        seen[name] = row


def _refuse_id_columns(table: Table, columns: Sequence[str], level: str) -> None:
    """Refuse a column of a wide table that nobody named as a rater and that names the rows.

    What holds for all columns tells none of them apart: ranks hold no value twice either.
    """
    if table.n_rows < ROWS_OF_AN_ID:
        return
    cells = {column: [canonical(raw) for raw in table.column(column)] for column in columns}
    counting = [column for column in columns if _counts(cells[column])]
    once = [column for column in columns if len(set(cells[column])) == table.n_rows]
    for found in (counting, once if level in ("nominal", "ordinal") else []):
        if found and len(found) < len(columns):
            raise InputError(
                f"column {found[0]!r} holds {table.n_rows} different values in as many rows: it "
                "looks like an id, expected ratings; name the raters' columns with --rater",
                file=table.file,
            )


def _counts(texts: Sequence[str]) -> bool:
    numbers = [as_number(text) for text in texts]
    return numbers[0] is not None and numbers == [numbers[0] + n for n in range(len(numbers))]


def _axis(
    name: str, level: Any, categories: Sequence[str], labels: Sequence[Any], file: str
) -> tuple[Axis, str | None]:
    note = None
    domain = tuple(canonical(label) for label in categories)
    if not domain and level in ("nominal", "ordinal"):
        single = [label for label in labels if not isinstance(label, list | dict)]
        found = {canonical(label) for label in single} - MISSING_WORDS
        if not found and len(single) < len(labels):
            raise InputError("every label holds several values, expected one", file=file)
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
        alike = _alike(domain)
        if alike:
            note += f"; {alike[0]!r} and {alike[1]!r} count as two labels"
    return build_axis(name, level, domain), note


def _alike(domain: Sequence[str]) -> tuple[str, str] | None:
    """Two labels that a reader would take for one: case, spaces and invisible characters aside."""
    seen: dict[str, str] = {}
    for label in domain:
        key = "".join(c for c in label.casefold() if c.isprintable() and not c.isspace())
        if key in seen:
            return seen[key], label
        seen[key] = label
    return None


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
