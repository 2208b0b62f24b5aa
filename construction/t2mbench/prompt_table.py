"""Prompts from a table of one's own or of the paper's release, for targets and the OOD check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmarks.t2mbench import MotionPrompt
from construction.t2mbench.rows import category_of, first_of, read_rows
from corpus.problems import InputError, Problem

_ID = ("prompt_id", "id")
_TEXT = ("prompt", "text", "caption")
_CATEGORY = ("subcategory", "category", "type")
_LENGTH = ("length", "length_type")


def read_prompts(path: Path) -> tuple[list[MotionPrompt], list[Problem]]:
    """Read prompts from a table.

    Args:
        path: A file as ``rows.read_rows`` takes it, with ``prompt`` (or ``text``), perhaps
            ``prompt_id`` (or ``id``), ``subcategory`` (or ``category``) and ``length`` (or
            ``length_type``). Names of categories are taken in any case and with hyphens; a length
            other than long and short is left open.

    Returns:
        The prompts in order, and the rows that are none, with the reason.

    Raises:
        InputError: The file cannot be read, or has no usable row.
    """
    found: dict[str, MotionPrompt] = {}
    problems = []
    for place, row in read_rows(path):
        try:
            prompt = _prompt(row, place)
            if prompt.prompt_id in found:
                raise ValueError(f"id {prompt.prompt_id!r} was used before")
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            problems.append(Problem(file=str(path), place=place, reason=f"{where}: {first['msg']}"))
            continue
        except ValueError as error:
            problems.append(Problem(file=str(path), place=place, reason=str(error)))
            continue
        found[prompt.prompt_id] = prompt
    if not found:
        first_line = f"; first: {problems[0].place}: {problems[0].reason}" if problems else ""
        raise InputError(f"found no prompt that can be used{first_line}", file=str(path))
    return list(found.values()), problems


def _prompt(row: Any, place: str) -> MotionPrompt:
    if not isinstance(row, dict):
        raise ValueError("expected an object, or a row with as many cells as columns")
    text, category = first_of(row, _TEXT), first_of(row, _CATEGORY)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"expected text under {' or '.join(_TEXT)}, got {text!r:.40}")
    length = str(first_of(row, _LENGTH) or "").strip().lower()
    return MotionPrompt.model_validate(
        {
            "prompt_id": str(first_of(row, _ID) or place.replace(" ", "-")),
            "text": " ".join(text.split()),
            "category": category_of(str(category or "unknown")),
            "length": length if length in ("long", "short") else None,
        }
    )
