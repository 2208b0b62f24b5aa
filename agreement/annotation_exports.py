"""Exports of Label Studio and Potato, read as tables: one row per annotation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from corpus.problems import InputError

NOT_CHOSEN = ("", "0", "false", "False", "None", "null")
"""How Potato writes that a label was not chosen."""


def json_fault(error: ValueError | RecursionError) -> str:
    """Say what is wrong with a text that ``json`` does not read.

    Args:
        error: What it raised.

    Returns:
        A few words.
    """
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return str(error)
    return "a number of too many digits"


def label_studio_rows(path: Path) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Read a JSON export of Label Studio.

    Args:
        path: A ``.json`` file: a list of tasks with their annotations (JSON), or of flat
            annotations (JSON-MIN).

    Returns:
        One row per annotation: ``item`` (task id), ``rater`` (who completed it), one column per
        control named as its ``from_name``, the task's data as ``data.<name>``; and what was left
        out. Controls with several answers keep their list.

    Raises:
        InputError: No JSON, or no list of tasks with annotations.
    """
    try:
        tasks = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected JSON: {json_fault(error)}", file=str(path)) from error
    if not isinstance(tasks, list):
        raise InputError("expected a list of Label Studio tasks", file=str(path))
    rows: list[dict[str, Any]] = []
    cancelled = 0
    for number, task in enumerate(tasks, start=1):
        annotations = task.get("annotations") if isinstance(task, dict) else None
        if isinstance(task, dict) and {"id", "annotator", "annotation_id"} <= task.keys():
            rest = {name: v for name, v in task.items() if name not in ("id", "annotator")}
            rows.append({"item": task["id"], "rater": task["annotator"], **rest})
            continue
        if not isinstance(annotations, list) or "id" not in task:
            raise InputError(
                "expected a task with id and annotations", file=str(path), place=f"task {number}"
            )
        data = task.get("data") if isinstance(task.get("data"), dict) else {}
        shown = {f"data.{name}": value for name, value in data.items()}
        for annotation in annotations:
            if not isinstance(annotation, dict):
                raise InputError(
                    "expected an annotation object", file=str(path), place=f"task {number}"
                )
            if annotation.get("was_cancelled"):
                cancelled += 1
                continue
            answers = annotation.get("result") or []
            if not isinstance(answers, list):
                raise InputError(
                    f"expected a list as result of an annotation, got {answers!r:.40}",
                    file=str(path),
                    place=f"task {number}",
                )
            rows.append(
                {
                    "item": task["id"],
                    "rater": _who(annotation.get("completed_by")),
                    **shown,
                    **_answers(answers),
                }
            )
    left_out = f"{cancelled} skipped annotations are left out"
    return rows, (left_out,) if cancelled else ()


def potato_rows(rows: list[dict[str, Any]], rater: str | None, file: str) -> list[dict[str, Any]]:
    """Flatten Potato's annotated instances.

    Args:
        rows: Parsed lines of ``annotated_instances.jsonl``.
        rater: Who annotated, where the folder tells; else each line's ``user_id``.
        file: Name used in messages.

    Returns:
        One row per line: ``item``, ``rater`` and one column per annotation scheme. The label is
        the one that was chosen, or the value of a Likert scale; several are kept as a list.

    Raises:
        InputError: A line without an id or without labels.
    """
    found = []
    for number, row in enumerate(rows, start=1):
        item = row.get("instance_id", row.get("id"))
        schemes = row.get("label_annotations")
        if item is None or not isinstance(schemes, dict):
            raise InputError(
                "expected id (or instance_id) and label_annotations",
                file=file,
                place=f"line {number}",
            )
        labels = {name: _chosen(values) for name, values in schemes.items()}
        found.append({"item": item, "rater": rater or row.get("user_id"), **labels})
    return found


def _who(completed_by: Any) -> Any:
    if isinstance(completed_by, dict):
        return completed_by.get("id", completed_by.get("email"))
    return completed_by


def _answers(result: list[Any]) -> dict[str, Any]:
    """One answer per control; lists of one are their element."""
    answers: dict[str, Any] = {}
    for region in result:
        if not isinstance(region, dict) or not isinstance(region.get("value"), dict):
            continue
        value = region["value"].get(region.get("type"))
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        name = str(region.get("from_name"))
        answers[name] = [answers[name], value] if name in answers else value
    return answers


def _chosen(values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    chosen = {name: v for name, v in values.items() if str(v) not in NOT_CHOSEN}
    if len(chosen) > 1:
        return list(chosen)
    for name, value in chosen.items():
        return value if name.startswith("scale_") else name
    return None
