"""A table of human and judge scores, read into one row per method, clip and question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from agreement.axis import MISSING_WORDS, as_number, canonical, identity
from agreement.coefficient import Array
from agreement.encoding import LARGEST
from agreement.files import Table
from agreement.ratings import natural_key
from corpus.problems import InputError

MAX_WORDS = 50
"""Most distinct labels of verdicts in words."""


@dataclass(frozen=True, eq=False)
class JudgeScores:
    """Scores of one or several judges beside those of people. Rows without either are kept."""

    methods: tuple[str, ...]
    """Systems that were rated, in natural order."""
    clips: tuple[str, ...]
    """Clips, or prompts that several methods answered."""
    questions: tuple[str, ...]
    """Questions; one empty name where there is no question column."""
    method: npt.NDArray[np.int64]
    """(rows,): position in ``methods``."""
    clip: npt.NDArray[np.int64]
    """(rows,): position in ``clips``."""
    question: npt.NDArray[np.int64]
    """(rows,): position in ``questions``."""
    cluster: npt.NDArray[np.int64]
    """(rows,): what is resampled as a whole; the clip unless a column was named."""
    unit: str
    """What a cluster is: ``clip`` or the name of the column."""
    human: Array
    """(rows, raters): scores, or codes of ``labels``; NaN where missing."""
    judge: Array
    """(rows, judges): as ``human``."""
    raters: tuple[str, ...]
    """Human raters."""
    judges: tuple[str, ...]
    """Judges."""
    kind: Literal["numbers", "words"]
    """Scores, or verdicts in words."""
    labels: tuple[str, ...]
    """Verdicts in words, in declared or natural order; empty for numbers."""
    positive: int | None
    """Position of the verdict that counts as 1; None where none was named."""
    strata: dict[str, tuple[str, ...]]
    """By name (version, axis, difficulty): value of every row."""
    notes: tuple[str, ...] = field(default=())
    """What was assumed while reading."""

    def select(self, keep: npt.NDArray[np.bool_]) -> JudgeScores:
        """Return the rows where ``keep`` (rows,) is true; names of methods and clips stay."""
        index = np.flatnonzero(keep)
        return replace(
            self,
            **{
                name: getattr(self, name)[index]
                for name in ("method", "clip", "question", "cluster", "human", "judge")
            },
            strata={name: tuple(v[i] for i in index) for name, v in self.strata.items()},
        )


@dataclass(frozen=True)
class JudgeColumns:
    """Which column is what."""

    clip: str
    human: tuple[str, ...]
    """Columns of people's scores, one per rater; or one, with ``rater`` saying whose."""
    judge: tuple[str, ...]
    """Columns of judges' scores."""
    method: str | None = None
    rater: str | None = None
    question: str | None = None
    cluster: str | None = None
    strata: tuple[tuple[str, str], ...] = ()
    """Pairs of name (version, axis, difficulty) and column."""


def read_scores(
    table: Table,
    columns: JudgeColumns,
    *,
    categories: Sequence[str] = (),
    positive: str | None = None,
) -> JudgeScores:
    """Interpret a table as human and judge scores.

    Args:
        table: The file's columns.
        columns: Which column is what.
        categories: Verdicts in words, in order; by default as found, in natural order.
        positive: The verdict that counts as 1, so that means and correlations exist.

    Returns:
        One row per method, clip and question.

    Raises:
        InputError: A missing column, a row that stands twice, an empty id, scores that mix numbers
            and words, a verdict outside the categories, two judge scores of one clip.
    """
    reader = _Reader(table)
    if columns.rater and len(columns.human) != 1:
        raise InputError("--rater goes with one human column", file=table.file)
    if set(columns.human) & set(columns.judge):
        both = sorted(set(columns.human) & set(columns.judge))[0]
        raise InputError(f"column {both!r} is named as human and as judge", file=table.file)
    names = {
        "method": reader.ids(columns.method, "method"),
        "clip": reader.ids(columns.clip, "clip"),
        "question": reader.ids(columns.question, "question"),
    }
    raters = columns.human
    rater_of = [0] * table.n_rows
    if columns.rater:
        by_name = reader.ids(columns.rater, "rater")
        raters = tuple(sorted(dict.fromkeys(by_name), key=natural_key))
        rater_of = [raters.index(name) for name in by_name]
    row_of: dict[tuple[str, ...], int] = {}
    index = []
    seen: set[tuple[Any, ...]] = set()
    for row, key in enumerate(zip(*names.values(), strict=True)):
        if (key, rater_of[row]) in seen:
            said = ", ".join(f"{k} {v!r}" for k, v in zip(names, key, strict=True) if v)
            more = "" if columns.rater else "; several raters need --rater or a column each"
            raise reader.error(f"{said} stands a second time, expected one row{more}", row)
        seen.add((key, rater_of[row]))
        index.append(row_of.setdefault(key, len(row_of)))
    first = {number: row for row, number in reversed(list(enumerate(index)))}
    n = len(row_of)

    coder = _Coder(reader, [*columns.human, *columns.judge], tuple(categories), positive)
    human = np.full((n, len(raters)), np.nan)
    for at, column in enumerate(columns.human):
        for row, value in enumerate(coder.values(column)):
            human[index[row], rater_of[row] if columns.rater else at] = value
    judge = np.full((n, len(columns.judge)), np.nan)
    for at, column in enumerate(columns.judge):
        for row, value in enumerate(coder.values(column)):
            before = judge[index[row], at]
            if row != first[index[row]] and not (
                before == value or (np.isnan(before) and np.isnan(value))
            ):
                raise reader.error(f"a second, different score in {column!r} of one clip", row)
            judge[index[row], at] = value
    keys = list(row_of)
    listed = [tuple(sorted({k[i] for k in keys}, key=natural_key)) for i in range(3)]
    place = [{name: i for i, name in enumerate(found)} for found in listed]
    coded = np.array([[place[i][k[i]] for i in range(3)] for k in keys], dtype=np.int64)
    clusters = reader.per_row(columns.cluster, index, n, "cluster")
    number: dict[str, int] = {}
    _refuse_split_clips(reader, keys, clusters, first)
    return JudgeScores(
        methods=listed[0],
        clips=listed[1],
        questions=listed[2],
        method=coded[:, 0],
        clip=coded[:, 1],
        question=coded[:, 2],
        cluster=coded[:, 1]
        if clusters is None
        else np.array([number.setdefault(c, len(number)) for c in clusters], dtype=np.int64),
        unit=columns.cluster or "clip",
        human=human,
        judge=judge,
        raters=raters,
        judges=columns.judge,
        kind=coder.kind,
        labels=coder.labels if coder.kind == "words" else (),
        positive=coder.positive,
        strata={
            name: tuple(found)
            for name, column in columns.strata
            if (found := reader.per_row(column, index, n, name)) is not None
        },
        notes=(*table.notes, *coder.notes),
    )


def _refuse_split_clips(
    reader: _Reader,
    keys: Sequence[tuple[str, ...]],
    clusters: Sequence[str] | None,
    first: dict[int, int],
) -> None:
    """Refuse a clip of one method whose questions lie in two clusters."""
    of_clip: dict[tuple[str, str], str] = {}
    for i, (key, cluster) in enumerate(zip(keys, clusters or (), strict=clusters is not None)):
        before = of_clip.setdefault((key[0], key[1]), cluster)
        if before != cluster:
            reason = f"clip {key[1]!r} has cluster {cluster!r}, expected {before!r} as before"
            raise reader.error(reason, first[i])


class _Reader:
    """Columns of the table, with the row named in every refusal."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def error(self, reason: str, row: int) -> InputError:
        return InputError(reason, file=self.table.file, place=f"row {row + self.table.first_row}")

    def ids(self, column: str | None, what: str) -> list[str]:
        if column is None:
            return [""] * self.table.n_rows
        found = [identity(raw) for raw in self.table.column(column)]
        for row, name in enumerate(found):
            if not name:
                raise self.error(f"the {what} is empty", row)
        return found

    def per_row(
        self, column: str | None, index: Sequence[int], n: int, what: str
    ) -> list[str] | None:
        """Bring a column to one value per method, clip and question."""
        if column is None:
            return None
        found: list[str | None] = [None] * n
        for row, name in enumerate(self.ids(column, what)):
            before = found[index[row]]
            if before is not None and before != name:
                raise self.error(f"{what} {name!r}, expected {before!r} as before", row)
            found[index[row]] = name
        return [name or "" for name in found]


class _Coder:
    """Scores as numbers; verdicts in words as codes of one list of labels."""

    def __init__(
        self,
        reader: _Reader,
        columns: Sequence[str],
        categories: tuple[str, ...],
        positive: str | None,
    ) -> None:
        self.reader = reader
        self.text = {name: [self._plain(v) for v in reader.table.column(name)] for name in columns}
        self.notes: tuple[str, ...] = ()
        self.positive: int | None = None
        declared = tuple(canonical(label) for label in categories)
        missing = MISSING_WORDS - set(declared)
        self.text = {
            name: ["" if v in missing else v for v in values] for name, values in self.text.items()
        }
        found = {v for values in self.text.values() for v in values if v}
        if not found:
            raise InputError("every score is missing", file=reader.table.file)
        sizes = {v: abs(number) for v in found if (number := as_number(v)) is not None}
        numeric = set(sizes)
        words = positive is not None or bool(declared) or not numeric
        self.kind: Literal["numbers", "words"] = "words" if words else "numbers"
        self.labels = declared or tuple(sorted(found, key=natural_key))
        if not words and numeric != found:
            self._refuse(found - numeric, "expected a number as in other rows")
        if not words:
            self._refuse({v for v in found if sizes[v] > LARGEST}, f"expected up to {LARGEST:g}")
        if words:
            self._check(found, declared, positive)

    def _check(self, found: set[str], declared: tuple[str, ...], positive: str | None) -> None:
        if len(set(declared)) != len(declared):
            raise InputError(f"--categories names a label twice: {', '.join(declared)}")
        if found - set(self.labels):
            self._refuse(found - set(self.labels), f"expected one of {', '.join(self.labels)}")
        if len(self.labels) > MAX_WORDS:
            raise InputError(
                f"{len(self.labels)} different verdicts, at most {MAX_WORDS}: are they an id?",
                file=self.reader.table.file,
            )
        if positive is None:
            return
        name = canonical(positive)
        if name not in self.labels and (declared or len(self.labels) > 1):
            raise InputError(
                f"--positive {positive!r}, expected one of {', '.join(self.labels)}",
                file=self.reader.table.file,
            )
        if name not in self.labels:
            self.labels = (*self.labels, name)
        self.positive = self.labels.index(name)

    def _plain(self, raw: Any) -> str:
        if isinstance(raw, list | tuple | dict | set):
            raise InputError(f"score {raw!r} holds several values", file=self.reader.table.file)
        return canonical(raw)

    def _refuse(self, wrong: set[str], expected: str) -> None:
        for name, values in self.text.items():
            for row, value in enumerate(values):
                if value in wrong:
                    raise self.reader.error(f"{value!r} in column {name!r}, {expected}", row)

    def values(self, column: str) -> list[float]:
        if self.kind == "words":
            code = {label: float(i) for i, label in enumerate(self.labels)}
            return [code.get(value, np.nan) for value in self.text[column]]
        return [float(value) if value else np.nan for value in self.text[column]]
