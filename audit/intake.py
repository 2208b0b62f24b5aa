"""Items from a table: questions of another benchmark, generated clips to be judged, prompts.

CSV, JSON and JSONL, with columns of any name. A row that cannot be an item is refused with its
reason and counted; the others go in.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_origin

from pydantic import ValidationError

from audit.answers import plain_text
from audit.shown import KINDS
from benchmarks.items import Benchmark, Item, Provenance, content_hash, make_item
from corpus.problems import InputError, Problem

RULE = "table-import/1"
"""Rule named in the provenance of imported items."""
LIST_MARK = "|"
"""Separates the entries of a list in a cell."""


class Table(NamedTuple):
    """How a kind of item stands in a table."""

    columns: dict[str, tuple[str, ...]]
    """Names a field's column may have, by field; the field's own name always may."""
    key: tuple[str, ...]
    """Fields that tell one row from another."""
    strata: tuple[str, ...]
    """Fields that counts are broken down by."""


TABLES: dict[str, Table] = {
    "pilot_question": Table(
        {
            "source_id": ("id", "question_id"),
            "clip_id": ("clip", "motion", "motion_id", "babel_id"),
            "query_type": ("type", "question_type"),
            "options": ("answers", "choices"),
        },
        ("source_id",),
        ("query_type",),
    ),
    "judged_clip": Table(
        {
            "prompt_id": ("id",),
            "prompt": ("text", "caption"),
            "method": ("model", "system"),
            "clip_id": ("clip", "motion", "motion_id"),
        },
        ("prompt_id", "method"),
        ("method",),
    ),
    "prompt": Table(
        {"prompt_id": ("id",), "text": ("prompt", "caption")},
        ("prompt_id",),
        ("category", "length"),
    ),
    "target": Table(
        {"prompt_id": ("id",), "text": ("prompt", "caption")},
        ("prompt_id", "target"),
        ("category",),
    ),
    "caption_set": Table({"clip_id": ("clip", "id", "motion_id")}, ("clip_id",), ()),
    "choice": Table({"clip_id": ("clip",)}, ("clip_id", "question"), ("axis", "difficulty")),
    "caption": Table({"clip_id": ("clip",)}, ("clip_id", "axis"), ("axis", "difficulty")),
    "correction": Table({"clip_id": ("clip",)}, ("clip_id", "corrupted"), ("axis", "difficulty")),
}
"""Kinds that can be imported."""


class Row(NamedTuple):
    """A row of a table."""

    place: str
    """Where it stands, e.g. ``row 3``."""
    values: dict[str, Any]
    """Value by column."""


class Intake(NamedTuple):
    """What a table gave."""

    items: list[Item]
    """Drafted items, in the order of the table."""
    refused: list[Problem]
    """Rows that are no items, with reasons."""


def read_table(path: Path) -> list[Row]:
    """Read a table.

    Args:
        path: ``.csv`` with a header, ``.jsonl`` with one object a line, or ``.json`` with a list of
            objects or an object of objects by id (which then have it as ``id``); UTF-8.

    Returns:
        Its rows; a line of JSON that is none is left to the reader as a row without values.

    Raises:
        InputError: It cannot be read or is none of these.
    """
    suffix = path.suffix.lower()
    readers = {".csv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".json": _json}
    if suffix not in readers:
        raise InputError(
            f"expected .csv, .json or .jsonl, got {suffix or 'no suffix'!r}", file=str(path)
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error}", file=str(path)) from error
    rows = list(readers[suffix](text, str(path)))
    if not rows:
        raise InputError("there is no row in it", file=str(path))
    return rows


def items_from_rows(
    rows: Sequence[Row],
    benchmark: Benchmark,
    kind: str,
    columns: Mapping[str, str],
    clips: Mapping[str, str],
    *,
    file: str = "",
    clip_prefix: str = "",
    max_options: int | None = None,
    seed: int = 0,
) -> Intake:
    """Make items of rows.

    A question without options of its own gets the answers of all questions of its type in the
    table, as HumanMotionQA has one set of answers a type.

    Args:
        rows: Rows of :func:`read_table`.
        benchmark: Benchmark of the items.
        kind: Key of ``TABLES``.
        columns: Column by field, where it is named otherwise.
        clips: Corpus of each clip of the workspace, by clip id.
        file: Name of the table, for reasons.
        clip_prefix: Put before each clip id, e.g. ``humanml3d:``.
        max_options: Most options of a question; the others are drawn by hash of seed and id.
        seed: Seed of that draw, kept in the provenance.

    Returns:
        Items and refused rows.

    Raises:
        InputError: The kind cannot be imported, a field is unknown, or a column is missing.
    """
    if kind not in TABLES:
        raise InputError(f"expected a kind of {sorted(TABLES)}, got {kind!r}")
    table = TABLES[kind]
    places = _columns(rows, kind, columns, file)
    answers = _answers_by_type(rows, places) if kind == "pilot_question" else {}
    items: list[Item] = []
    refused: list[Problem] = []
    seen: dict[tuple[str, ...], str] = {}
    for row in rows:
        try:
            values = _values(row, kind, places)
            if "clip_id" in values:
                values["clip_id"] = _clip(values["clip_id"], clip_prefix, clips)
            if kind == "pilot_question":
                _complete_question(values, answers, max_options, seed)
            payload = KINDS[kind].payload.model_validate(values)
            plain = payload.model_dump(mode="json")
            key = tuple(str(plain[name]) for name in table.key)
            if key in seen:
                raise InputError(f"{' and '.join(table.key)} {key} stands in {seen[key]} already")
            seen[key] = row.place
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            reason = f"{field}: {first['msg']}" if field else first["msg"]
            refused.append(Problem(file=file, place=row.place, reason=reason))
            continue
        except InputError as error:
            refused.append(Problem(file=file, place=row.place, reason=error.problem.reason))
            continue
        stratum = {name: str(plain[name]) for name in table.strata if plain.get(name) is not None}
        if "clip_id" in plain:
            stratum["corpus"] = clips[plain["clip_id"]]
        parameters = {"file": Path(file).name, "row": row.place}
        provenance = Provenance(rule=RULE, seed=seed, parameters=parameters)
        items.append(make_item(benchmark, kind, stratum, payload, provenance))
    return Intake(items, refused)


def _csv(text: str, file: str) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for values in reader:
            # Cells beyond the header stand under None, missing ones are None.
            known = {name: value for name, value in values.items() if isinstance(name, str)}
            extra = {"": "more cells than columns"} if None in values else {}
            yield Row(f"row {reader.line_num}", known | extra)
    except csv.Error as error:
        raise InputError(f"expected CSV: {error}", file=file, place=f"row {reader.line_num}") from (
            error
        )


def _jsonl(text: str, file: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            yield Row(f"line {number}", value if isinstance(value, dict) else {})


def _json(text: str, file: str) -> Iterator[Row]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected JSON: {error}", file=file) from error
    if isinstance(found, dict):
        found = [
            {"id": name, **value} if isinstance(value, dict) else value
            for name, value in found.items()
        ]
    if not isinstance(found, list):
        raise InputError("expected a list of objects, or objects by id", file=file)
    for number, value in enumerate(found, start=1):
        yield Row(f"entry {number}", value if isinstance(value, dict) else {})


def _columns(rows: Sequence[Row], kind: str, named: Mapping[str, str], file: str) -> dict[str, str]:
    fields = KINDS[kind].payload.model_fields
    unknown = sorted(set(named) - set(fields))
    if unknown:
        raise InputError(f"{kind} has no field {unknown[0]!r}; fields are {sorted(fields)}")
    present = dict.fromkeys(column for row in rows for column in row.values)
    places = {}
    missing = []
    for field, about in fields.items():
        names = (named[field],) if field in named else (field, *TABLES[kind].columns.get(field, ()))
        column = next((name for name in names if name in present), None)
        if column is not None:
            places[field] = column
        elif field in named or (
            about.is_required() and (kind, field) != ("pilot_question", "options")
        ):
            missing.append(f"{field} (as {' or '.join(names)})")
    if missing:
        raise InputError(
            f"no column for {', '.join(missing)}; columns are {list(present)[:30]}; "
            "name one with --map FIELD=COLUMN",
            file=file,
        )
    return places


def _values(row: Row, kind: str, places: Mapping[str, str]) -> dict[str, Any]:
    if not row.values:
        raise InputError("is no JSON object")
    if "" in row.values:
        raise InputError(str(row.values[""]))
    values: dict[str, Any] = {}
    for field, column in places.items():
        value = row.values.get(column)
        if value is None or value == "":
            continue
        if isinstance(value, str):
            value = plain_text(value).strip()
            if get_origin(KINDS[kind].payload.model_fields[field].annotation) is tuple:
                value = [one.strip() for one in value.split(LIST_MARK)]
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            value = str(value)
        values[field] = value
    return values


def _clip(value: Any, prefix: str, clips: Collection[str]) -> str:
    clip_id = f"{prefix}{value}"
    if clip_id not in clips:
        raise InputError(f"unknown clip {clip_id!r}; import its corpus first")
    return clip_id


def _query_type(value: Any) -> str:
    return str(value).strip().lower().removeprefix("query_").replace("-", "_").replace(" ", "_")


def _answers_by_type(rows: Sequence[Row], places: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        kind = row.values.get(places["query_type"])
        answer = row.values.get(places["answer"])
        if kind and isinstance(answer, str) and answer.strip():
            found.setdefault(_query_type(kind), set()).add(answer.strip())
    return {kind: sorted(answers) for kind, answers in found.items()}


def _complete_question(
    values: dict[str, Any], answers: Mapping[str, list[str]], most: int | None, seed: int
) -> None:
    if "query_type" in values:
        values["query_type"] = _query_type(values["query_type"])
    own = values.setdefault("options", answers.get(str(values.get("query_type")), []))
    answer = values.get("answer")
    if most is not None and isinstance(own, list) and len(own) > most and answer in own:
        identity = values.get("source_id")
        others = sorted(
            (one for one in own if one != answer),
            key=lambda one: content_hash([seed, identity, one], digits=64),
        )
        values["options"] = sorted([answer, *others[: most - 1]])
