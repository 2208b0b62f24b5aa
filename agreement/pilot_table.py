"""A table of experts' answers, right or wrong, with their confidence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.axis import MISSING_WORDS, as_number, canonical
from agreement.coefficient import Array
from agreement.encoding import LARGEST, Encoder
from agreement.files import Table
from agreement.ratings import natural_key
from corpus.problems import InputError

FAILURES = ("F1", "F2", "F3", "F4")
"""Body-part granularity, frame of reference, temporal scope, composite action (A.3)."""
RIGHT = frozenset({"1", "true", "yes", "right", "correct"})
WRONG = frozenset({"0", "false", "no", "wrong", "incorrect"})
"""Words for a right and a wrong answer, case aside."""


@dataclass(frozen=True, eq=False)
class PilotAnswers:
    """One row per answer whose correctness is known."""

    items: tuple[str, ...]
    """Items, in order of first appearance."""
    raters: tuple[str, ...]
    """Raters, in natural order."""
    item: npt.NDArray[np.int64]
    """(answers,): position in ``items``."""
    rater: npt.NDArray[np.int64]
    """(answers,): position in ``raters``."""
    correct: Array
    """(answers,): 1 right, 0 wrong."""
    confidence: Array
    """(answers,): as stated; NaN where missing."""
    cluster: npt.NDArray[np.int64]
    """(answers,): what is resampled as a whole."""
    unit: str
    """What a cluster is: ``item`` or the name of the column."""
    query_type: tuple[str, ...]
    """(answers,): type of the item's query; '' where there is none."""
    answer: tuple[str, ...] | None
    """(answers,): what was answered."""
    gold: tuple[str, ...] | None
    """(answers,): the benchmark's answer."""
    failures: tuple[tuple[str, ...], ...]
    """(answers,): failure modes noted."""
    n_missing: int
    """Rows left out: no answer."""
    notes: tuple[str, ...]
    """What was assumed while reading."""


@dataclass(frozen=True)
class PilotColumns:
    """Which column is what."""

    item: str
    rater: str
    correct: str | None = None
    """Right or wrong; or give ``answer`` and ``gold``."""
    answer: str | None = None
    gold: str | None = None
    confidence: str | None = None
    query_type: str | None = None
    failure: str | None = None
    """F1 to F4, several with a comma or semicolon between."""
    cluster: str | None = None


def read_answers(table: Table, columns: PilotColumns) -> PilotAnswers:
    """Interpret a table as answers of a pilot study.

    Args:
        table: The file's columns.
        columns: Which column is what.

    Returns:
        One row per answer.

    Raises:
        InputError: A missing column, an item answered twice by one rater, a word that is neither
            right nor wrong, a confidence that is no number, an unknown failure mode, a query type
            or cluster that changes within an item.
    """
    encoder = Encoder(table.file, table.first_row)
    item, items = encoder.ids(table.column(columns.item), "item")
    rater, found = encoder.ids(table.column(columns.rater), "rater")
    encoder.refuse_id_column(found, table.n_rows)
    raters = sorted(found, key=natural_key)
    rater = np.array([raters.index(name) for name in found], dtype=np.int64)[rater]
    encoder.refuse_duplicates(item, rater, items, raters)
    answer = _texts(table, columns.answer)
    gold = _texts(table, columns.gold)
    correct = _correct(table, columns, encoder, answer, gold)
    confidence = _numbers(table, columns.confidence, encoder)
    types = per_item(table, columns.query_type, encoder, item, items, "query type")
    clusters = per_item(table, columns.cluster, encoder, item, items, columns.cluster or "")
    number: dict[str, int] = {}
    units = (
        np.array([number.setdefault(name, len(number)) for name in clusters], dtype=np.int64)
        if clusters is not None
        else np.arange(len(items))
    )
    kept = np.flatnonzero(np.isfinite(correct))
    if not kept.size:
        raise InputError("no row says whether the answer is right", file=table.file)
    failures = _failures(table, columns.failure, encoder)
    return PilotAnswers(
        items=tuple(items),
        raters=tuple(raters),
        item=item[kept],
        rater=rater[kept],
        correct=correct[kept],
        confidence=confidence[kept],
        cluster=units[item[kept]],
        unit=columns.cluster or "item",
        query_type=tuple(types[item[row]] if types is not None else "" for row in kept),
        answer=tuple(answer[row] for row in kept) if answer is not None else None,
        gold=tuple(gold[row] for row in kept) if gold is not None else None,
        failures=tuple(failures[row] for row in kept),
        n_missing=table.n_rows - kept.size,
        notes=table.notes,
    )


def per_item(
    table: Table,
    column: str | None,
    encoder: Encoder,
    item: npt.NDArray[np.int64],
    items: list[str],
    what: str,
) -> list[str] | None:
    """Bring a column to one value per item; None without a column."""
    if column is None:
        return None
    return encoder.per_item(table.column(column), item, items, what)


def _texts(table: Table, column: str | None) -> list[str] | None:
    if column is None:
        return None
    found = [canonical(raw) for raw in table.column(column)]
    return ["" if text in MISSING_WORDS else text for text in found]


def _correct(
    table: Table,
    columns: PilotColumns,
    encoder: Encoder,
    answer: list[str] | None,
    gold: list[str] | None,
) -> Array:
    correct = np.full(table.n_rows, np.nan)
    if columns.correct is None:
        if answer is None or gold is None:
            raise InputError("name --correct, or both --answer and --gold", file=table.file)
        for row, (given, right) in enumerate(zip(answer, gold, strict=True)):
            if given and not right:
                raise encoder.error("the gold answer is empty", row)
            if given:
                correct[row] = given.casefold() == right.casefold()
        return correct
    for row, raw in enumerate(table.column(columns.correct)):
        text = canonical(raw).casefold()
        if text in {word.casefold() for word in MISSING_WORDS}:
            continue
        if text not in RIGHT | WRONG:
            raise encoder.error(
                f"{text!r} in column {columns.correct!r}, expected 1 or 0, yes or no", row
            )
        correct[row] = text in RIGHT
    return correct


def _numbers(table: Table, column: str | None, encoder: Encoder) -> Array:
    found = np.full(table.n_rows, np.nan)
    for row, raw in enumerate(table.column(column) if column is not None else ()):
        text = canonical(raw)
        if text in MISSING_WORDS:
            continue
        number = as_number(text)
        if number is None or abs(number) > LARGEST:
            raise encoder.error(f"confidence {text!r}, expected a number up to {LARGEST:g}", row)
        found[row] = number
    return found


def _failures(table: Table, column: str | None, encoder: Encoder) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    values: list[Any] = table.column(column) if column is not None else [None] * table.n_rows
    for row, raw in enumerate(values):
        text = ",".join(map(str, raw)) if isinstance(raw, list | tuple) else canonical(raw)
        modes = [m.upper() for m in re.split(r"[,;\s]+", text) if m and m not in MISSING_WORDS]
        for mode in modes:
            if mode not in FAILURES:
                raise encoder.error(f"failure mode {mode!r}, expected F1, F2, F3 or F4", row)
        found.append(tuple(dict.fromkeys(modes)))
    return found
