"""Reading a release back into its records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from audit.protocol import Question
from corpus.problems import Problem
from exports.folder import LINEAGE
from exports.layouts import LAYOUTS, Content
from exports.records import (
    Manifest,
    Record,
    ReleaseDecision,
    ReleaseStudy,
)
from exports.release import shown_questions
from exports.stimuli import STIMULI, Stimulus
from exports.tables import Row, from_jsonl, label_columns, label_of, parse_array, parse_object
from exports.versions import VersionRow

R = TypeVar("R", bound=Record)


class Loaded(NamedTuple):
    """A release as records."""

    content: Content
    """Items, labels, decisions and studies."""
    questions: list[Question]
    """Columns of ``labels``."""
    agreement: Row
    """What ``agreement.json`` holds."""
    schema: Row
    """What ``schema.json`` holds."""


class UnreadableError(ValueError):
    """A file that cannot be turned into records; ``problem`` names it."""

    def __init__(self, file: str, reason: str) -> None:
        """Keep the problem."""
        super().__init__(reason)
        self.problem = Problem(file=file, reason=" ".join(reason.split()))


def load_release(manifest: Manifest, data: dict[str, bytes]) -> Loaded:
    """Turn the files of a release into records.

    Args:
        manifest: Its manifest.
        data: Content by file name, all files that its benchmark has.

    Returns:
        The records.

    Raises:
        UnreadableError: A file does not hold what the layout says; the first is named.
    """
    layout = LAYOUTS[manifest.benchmark]
    studies: tuple[ReleaseStudy, ...] = tuple(
        _record("studies.json", f"study {number}", layout.study.model_validate, value)
        for number, value in enumerate(
            _parse("studies.json", data, lambda text: parse_array(text, "whole file")), start=1
        )
    )
    try:
        comments = manifest.configuration.include_comments
        questions = shown_questions(studies, comments)
        label_columns(questions)
    except ValueError as error:
        raise UnreadableError("studies.json", str(error)) from error
    content = Content(
        items=_rows("items.jsonl", data, layout.item.model_validate),
        excluded=_rows("excluded.jsonl", data, layout.excluded.model_validate),
        labels=_rows("labels.jsonl", data, lambda row: label_of(row, questions)),
        decisions=_rows("decisions.jsonl", data, ReleaseDecision.model_validate),
        studies=studies,
        versions=_rows(LINEAGE, data, VersionRow.model_validate) if layout.lineage else (),
        stimuli=_rows(STIMULI, data, Stimulus.model_validate) if STIMULI in data else None,
    )
    agreement, schema = (
        _parse(file, data, lambda text: parse_object(text, "whole file"))
        for file in ("agreement.json", "schema.json")
    )
    return Loaded(content, questions, agreement, schema)


def _parse(file: str, data: dict[str, bytes], parser: Callable[[str], Any]) -> Any:
    try:
        return parser(data[file].decode("utf-8"))
    except ValueError as error:
        raise UnreadableError(file, str(error)) from error


def _rows(file: str, data: dict[str, bytes], build: Callable[[Row], R]) -> tuple[R, ...]:
    try:
        rows = from_jsonl(data[file])
    except ValueError as error:
        raise UnreadableError(file, str(error)) from error
    return tuple(_record(file, f"line {i}", build, row) for i, row in enumerate(rows, start=1))


def _record(file: str, place: str, build: Callable[[Any], R], value: Any) -> R:
    try:
        return build(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UnreadableError(file, f"{place}, {field}: {first['msg']}") from error
    except ValueError as error:
        raise UnreadableError(file, f"{place}: {error}") from error
