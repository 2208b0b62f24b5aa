"""Rows to bytes and back: JSONL and Parquet that hold the same and never differ between builds.

JSONL is canonical: keys in declared order, UTF-8 unescaped, a line end after every row. Parquet
holds the same columns; what is not a scalar is JSON text there, so that every reader can take it.
There is no CSV: a spreadsheet would run a caption that begins with ``=``.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from audit.protocol import Question
from exports.records import Record, ReleaseLabel

if TYPE_CHECKING:
    import pyarrow as pa

ColumnKind = Literal["text", "integer", "number", "flag", "json"]
Row = dict[str, Any]
MAX_PARQUET_BYTES = 2_000_000_000
"""Most bytes a Parquet file may unpack to when it is read."""

_SCALARS: dict[type, ColumnKind] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "flag",
}


def columns_of(record: type[Record]) -> dict[str, ColumnKind]:
    """Return the columns of a record type, in order, with their kind on disk."""
    return {name: _kind(field.annotation) for name, field in record.model_fields.items()}


def label_columns(questions: Sequence[Question]) -> dict[str, ColumnKind]:
    """Return the columns of ``labels``: the record's own, then one per question.

    Raises:
        ValueError: A question has the name of a column of its own.
    """
    columns = columns_of(ReleaseLabel)
    del columns["answers"]
    for question in questions:
        if question.name in ReleaseLabel.model_fields:
            raise ValueError(f"question {question.name!r} has the name of a column of labels")
        columns[question.name] = _QUESTION_KINDS[question.kind]
    return columns


_QUESTION_KINDS: dict[str, ColumnKind] = {
    "choice": "text",
    "verdict": "text",
    "text": "text",
    "multi": "json",
    "likert": "integer",
}


def plain_row(record: Record) -> Row:
    """Turn a record into JSON values: fields in declared order, keys inside them sorted."""
    return {name: _sorted(value) for name, value in record.model_dump(mode="json").items()}


def label_row(label: ReleaseLabel, questions: Sequence[Question]) -> Row:
    """Flatten a label: one column per question, null where it was not asked or not answered."""
    row = label.model_dump(mode="json", exclude={"answers"})
    for question in questions:
        answer = label.answers.get(question.name)
        if answer is not None and question.kind == "likert":
            answer = int(answer)
        row[question.name] = answer
    return row


def label_of(row: Row, questions: Sequence[Question]) -> ReleaseLabel:
    """Build the label of a row; likert answers become the text values of their question again."""
    own = {name: row[name] for name in row if name in ReleaseLabel.model_fields}
    answers = {
        question.name: str(row[question.name]) if question.kind == "likert" else row[question.name]
        for question in questions
        if row.get(question.name) is not None
    }
    return ReleaseLabel.model_validate({**own, "answers": answers})


def canonical_json(value: Any, indent: int | None = None) -> str:
    """Write JSON the one way releases write it: UTF-8 unescaped, no NaN, keys as given."""
    separators = (",", ": ") if indent else (",", ":")
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )


def to_jsonl(rows: Sequence[Row]) -> bytes:
    """Encode rows as JSON lines."""
    return "".join(canonical_json(row) + "\n" for row in rows).encode()


def from_jsonl(data: bytes) -> list[Row]:
    r"""Decode JSON lines; only ``\n`` ends a line, whatever a caption holds.

    Raises:
        ValueError: Not UTF-8, not JSON, a line that is no object; the line is named.
    """
    rows: list[Row] = []
    lines = data.decode("utf-8").split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        rows.append(parse_object(line, f"line {number}"))
    return rows


def parse_object(text: str, place: str) -> Row:
    """Decode one JSON object, refusing what JSON forbids but Python takes.

    Raises:
        ValueError: Not JSON, NaN or Infinity, a repeated key, no object, nested too deep.
    """
    value = _parse(text, place)
    if not isinstance(value, dict):
        raise ValueError(f"{place}: expected a JSON object, got {type(value).__name__}")
    return value


def parse_array(text: str, place: str) -> list[Any]:
    """Decode one JSON array, as strictly as ``parse_object``.

    Raises:
        ValueError: As ``parse_object``, or no array.
    """
    value = _parse(text, place)
    if not isinstance(value, list):
        raise ValueError(f"{place}: expected a JSON array, got {type(value).__name__}")
    return value


def to_parquet(rows: Sequence[Row], columns: dict[str, ColumnKind]) -> bytes:
    """Encode rows as one Parquet row group after another, the same bytes for the same rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = [
        pa.array([_cell(row[name], kind) for row in rows], type=_arrow_type(kind))
        for name, kind in columns.items()
    ]
    schema = pa.schema([pa.field(name, _arrow_type(kind)) for name, kind in columns.items()])
    buffer = io.BytesIO()
    pq.write_table(
        pa.Table.from_arrays(arrays, schema=schema),
        buffer,
        version="2.6",
        compression="zstd",
        row_group_size=65_536,
        store_schema=False,
    )
    return buffer.getvalue()


def from_parquet(data: bytes, columns: dict[str, ColumnKind]) -> list[Row]:
    """Decode a Parquet table of a release into the rows that JSONL holds.

    Raises:
        ValueError: No Parquet file, other columns than expected, JSON text that is none.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        groups = range(file.metadata.num_row_groups)
        unpacked = sum(file.metadata.row_group(i).total_byte_size for i in groups)
        if unpacked > MAX_PARQUET_BYTES:
            raise ValueError(f"unpacks to {unpacked} bytes, at most {MAX_PARQUET_BYTES}")
        table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"expected a Parquet table, got: {_first_line(error)}") from error
    expected = {name: str(_arrow_type(kind)) for name, kind in columns.items()}
    found = {field.name: str(field.type) for field in table.schema}
    if list(found.items()) != list(expected.items()):
        raise ValueError(f"expected the columns {expected}, got {found}")
    rows: list[Row] = table.to_pylist()
    for name, kind in columns.items():
        if kind == "json":
            for number, row in enumerate(rows, start=1):
                row[name] = _parse_cell(row[name], f"row {number}, column {name}")
    return rows


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(entry) for entry in value]
    return value


def _parse(text: str, place: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        if "\\ud" in text.lower():
            # An escaped half of a surrogate pair is no text and cannot be written again.
            canonical_json(value).encode()
        return value
    except RecursionError as error:
        raise ValueError(f"{place}: expected flat JSON, got deep nesting") from error
    except ValueError as error:
        raise ValueError(f"{place}: expected JSON, got: {error}") from error


def _parse_cell(text: str | None, place: str) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: expected JSON text") from error


def _kind(annotation: Any) -> ColumnKind:
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    options = [option for option in get_args(annotation) if option is not type(None)]
    if options and all(isinstance(option, str) for option in options):
        return "text"
    return _kind(options[0]) if len(options) == 1 else "json"


def _cell(value: Any, kind: ColumnKind) -> Any:
    if kind == "json":
        return None if value is None else canonical_json(value)
    return value


def _arrow_type(kind: ColumnKind) -> pa.DataType:
    import pyarrow as pa

    return {
        "text": pa.string(),
        "json": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
    }[kind]


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> Row:
    found: Row = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} comes twice")
        found[key] = value
    return found


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
