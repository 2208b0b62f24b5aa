"""Answers as JSON: the schema that is sent, and the checks a reply must pass, in one order."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic

from pydantic import BaseModel, ValidationError

from llm.outcome import OutcomeKind, T

_THOUGHT_END = re.compile(r"^.*</(?:think|thinking|reasoning|thought)>", re.S | re.I)
_THOUGHT_START = re.compile(r"^\s*<(?:think|thinking|reasoning|thought)>", re.I)
_FENCED = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\r?\n(.*?)```", re.S)
_DROPPED = frozenset({"default", "title"})
_DROPPED_OF_OBJECTS = _DROPPED | {"description", "properties"}
_MAX_REASON = 300


@dataclass(frozen=True)
class Checked(Generic[T]):
    """One reply after the checks."""

    outcome: OutcomeKind
    """``ok``, ``refused``, ``truncated`` or ``invalid``."""
    value: T | None
    """The answer when ``ok``."""
    reason: str
    """Why not, in one line; empty when ``ok``."""
    stripped: tuple[str, ...] = ()
    """What stood round the JSON: ``thinking``, ``fence``, ``prose``."""


@lru_cache(maxsize=64)
def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a record's JSON schema in the strict subset that endpoints enforce.

    Every object is closed and all its properties are required. Defaults, titles and docstrings of
    records are left out; what ``Field(description=…)`` says of a field stays.

    Args:
        model: The record.

    Returns:
        The schema; made once, so not to be changed.

    Raises:
        ValueError: The record has a free-form mapping, which the strict subset cannot say.

    >>> class Verdict(BaseModel):
    ...     yes: bool
    >>> strict_schema(Verdict)["required"]
    ['yes']
    """
    closed = _close(model.model_json_schema(), model.__name__)
    if not isinstance(closed, dict):
        raise ValueError(f"schema: {model.__name__} is no JSON object")
    return closed


def schema_instruction(schema: dict[str, Any]) -> str:
    """Return the words that print the schema in the prompt: not every server passes it on."""
    printed = json.dumps(schema, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return (
        "Answer with one JSON object and nothing else: no code fence, no comment. "
        f"It must match this JSON schema:\n{printed}"
    )


def check_reply(
    schema: type[T], text: str | None, finish_reason: str | None, refusal: str | None
) -> Checked[T]:
    """Check a reply: finish reason, refusal, then thinking and fences off, then the schema.

    Values are taken strictly: ``"4"`` is no number, ``"yes"`` no truth value.

    Args:
        schema: Record the answer must be.
        text: Text of the reply; None where there was none.
        finish_reason: Why the model stopped, as the server says.
        refusal: The refusal, where the server gives one in its own field.

    Returns:
        The outcome with the value or the reason.
    """
    if finish_reason == "length":
        return Checked("truncated", None, "the reply hit the token limit; raise max_tokens")
    if finish_reason == "content_filter":
        return Checked("refused", None, "the endpoint's content filter stopped the reply")
    if refusal:
        return Checked("refused", None, _one_line(f"the model refused: {refusal}"))
    bare, stripped = strip_reply(text or "")
    if not bare:
        return Checked("invalid", None, "the reply was empty", stripped)
    try:
        return Checked("ok", schema.model_validate_json(bare, strict=True), "", stripped)
    except ValidationError as error:
        return Checked("invalid", None, _complaint(error), stripped)


def strip_reply(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Take off what stands round the JSON of a reply.

    Args:
        text: The reply.

    Returns:
        The bare text, and what was taken off, in order: ``thinking`` (tagged, also where only the
        closing tag came), ``fence``, ``prose``. Thinking that never ends leaves nothing.

    >>> strip_reply('<think>hm</think>```json\n{"a": 1}\n```')
    ('{"a": 1}', ('thinking', 'fence'))
    """
    stripped: list[str] = []
    bare = text.strip()
    if not bare.startswith("{"):
        thought = _THOUGHT_END.sub("", bare)
        if _THOUGHT_START.match(thought):
            thought = ""
        if thought != bare:
            stripped.append("thinking")
        bare = thought.strip()
    if not bare.startswith("{") and (blocks := _FENCED.findall(bare)):
        bare = blocks[-1].strip()
        stripped.append("fence")
    start, end = bare.find("{"), bare.rfind("}") + 1
    if 0 <= start < end and (start, end) != (0, len(bare)):
        bare = bare[start:end]
        stripped.append("prose")
    return bare, tuple(stripped)


def repair_text(reason: str) -> str:
    """Return the words of the one repair turn: the last error and nothing of earlier ones."""
    return (
        f"That answer cannot be used: {reason}. "
        "Answer again with one JSON object that matches the schema, and nothing else."
    )


def _close(node: Any, name: str) -> Any:
    if isinstance(node, list):
        return [_close(part, name) for part in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("properties"), dict):
        return {
            **{k: _close(v, name) for k, v in node.items() if k not in _DROPPED_OF_OBJECTS},
            "properties": {k: _close(v, name) for k, v in node["properties"].items()},
            "required": list(node["properties"]),
            "additionalProperties": False,
        }
    if node.get("type") == "object":
        if node.get("additionalProperties"):
            raise ValueError(f"schema: {name} has a mapping with free keys; name its fields")
        return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    if "$defs" in node:
        return {**node, "$defs": {k: _close(v, name) for k, v in node["$defs"].items()}}
    return {
        k: v if k in ("enum", "const") else _close(v, name)
        for k, v in node.items()
        if k not in _DROPPED
    }


def _complaint(error: ValidationError) -> str:
    """Name the first faults by field; the reply's own words are not repeated."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    named = [
        f"{'.'.join(str(part) for part in fault['loc']) or 'the reply'}: {fault['msg']}"
        for fault in faults[:3]
    ]
    more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
    return _one_line("; ".join(named) + more)


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_REASON else flat[: _MAX_REASON - 1] + "…"
