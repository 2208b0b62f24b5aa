"""Questions out as JSONL for an endpoint's batch service, its answers back into the cache.

The files have the form of OpenAI's Batch API; ``custom_id`` is the cache key. Sending and
fetching them is left to the user: many compatible servers have no such service.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, NamedTuple

from pydantic import BaseModel

from corpus.problems import InputError, Problem
from llm.bodies import read_completion
from llm.cache import ResponseCache
from llm.outcome import Reply, T
from llm.requests import Question, Request
from llm.retry import CallError
from llm.settings import LlmSettings
from llm.structured import check_reply

MOST_LINES = 50_000
"""Most questions of one file (OpenAI Batch API)."""
MOST_BYTES = 200_000_000
"""Largest file, bytes (OpenAI Batch API)."""


NO_LINE = "the batch files hold no answer"
"""Reason of a reply that stands for a question the files say nothing of."""


class Exported(NamedTuple):
    """What ``export_batch`` wrote."""

    files: tuple[Path, ...]
    """The files, in order; none when everything is answered."""
    lines: int
    """Questions written."""
    cached: int
    """Questions left out because the cache answers them."""
    doubled: int
    """Questions left out because a line asks the same."""


class Imported(NamedTuple, Generic[T]):
    """What ``import_batch`` found."""

    replies: list[Reply[T]]
    """One reply for each request, in order; ``error`` where the file has none."""
    problems: list[Problem]
    """Lines that could not be read, and answers to questions nobody asked."""


def export_batch(
    requests: Sequence[Request],
    schema: type[BaseModel],
    settings: LlmSettings,
    folder: Path,
    cache: ResponseCache | None = None,
    *,
    most_lines: int = MOST_LINES,
    most_bytes: int = MOST_BYTES,
) -> Exported:
    """Write the questions that have no answer yet.

    Args:
        requests: The questions.
        schema: Record of the answers.
        settings: Endpoint, model and parameters the answers will be kept under.
        folder: Where ``batch-001.jsonl`` … are written; made when absent.
        cache: Answers of earlier runs.
        most_lines: Most questions of one file.
        most_bytes: Largest file, bytes.

    Returns:
        What was written.

    Raises:
        InputError: ``folder`` holds batch files already, a question is larger than a whole file,
            or the endpoint cannot take it.
    """
    if any(folder.glob("batch-*.jsonl")):
        raise InputError("expected a folder without batch-*.jsonl files", file=str(folder))
    cached, written = 0, dict[str, Question]()
    for request in requests:
        question = Question(request, settings, schema)
        if cache is not None and question.key in cache:
            cached += 1
        else:
            written.setdefault(question.key, question)
    files: list[Path] = []
    for text in _parts(written, most_lines, most_bytes):
        folder.mkdir(parents=True, exist_ok=True)
        files.append(folder / f"batch-{len(files) + 1:03d}.jsonl")
        files[-1].write_bytes(text)
    doubled = len(requests) - cached - len(written)
    return Exported(tuple(files), len(written), cached, doubled)


def import_batch(
    requests: Sequence[Request],
    schema: type[T],
    settings: LlmSettings,
    files: Sequence[Path],
    cache: ResponseCache,
) -> Imported[T]:
    """Read the answers of a batch; the valid ones go into the cache. There is no repair turn.

    Args:
        requests: The questions that were exported.
        schema: Record of the answers.
        settings: The settings of the export; others make other keys, so nothing would match.
        files: Result and error files of the batch service.
        cache: Where valid answers are kept.

    Returns:
        The replies and what could not be used.

    Raises:
        InputError: A file that cannot be read, or a cache that cannot be written.
    """
    asked = [Question(request, settings, schema) for request in requests]
    questions = {question.key: question for question in asked}
    problems: list[Problem] = []
    found: dict[str, Reply[T]] = {}
    for file in files:
        for place, line in _lines(file):
            try:
                key, reply = _reply(line, questions, schema)
            except ValueError as error:
                problems.append(Problem(file=str(file), place=place, reason=str(error)))
                continue
            if reply.exchange is not None and reply.usable:
                cache.put(reply.exchange)
            if key not in found or reply.usable:
                found[key] = reply
    none = Reply[T]("", "error", None, NO_LINE)
    replies = [replace(found.get(q.key, none), id=q.request.id) for q in asked]
    return Imported(replies, problems)


def _parts(questions: dict[str, Question], most_lines: int, most_bytes: int) -> Iterator[bytes]:
    part: list[bytes] = []
    size = 0
    for key, question in questions.items():
        line = {"custom_id": key, "method": "POST", "url": "/v1/chat/completions"}
        raw = json.dumps({**line, "body": question.body()}, ensure_ascii=False).encode() + b"\n"
        if len(raw) > most_bytes:
            reason = f"expected a question of at most {most_bytes} bytes, got {len(raw)}"
            raise InputError(reason, file=question.request.id)
        if part and (len(part) >= most_lines or size + len(raw) > most_bytes):
            yield b"".join(part)
            part, size = [], 0
        part.append(raw)
        size += len(raw)
    if part:
        yield b"".join(part)


def _lines(file: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield f"line {number}", line
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(file)) from error


def _reply(line: bytes, questions: dict[str, Question], schema: type[T]) -> tuple[str, Reply[T]]:
    """Read one line; ValueError says why it is no answer to anything."""
    try:
        row = json.loads(line.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"expected a line of UTF-8 JSON: {error}") from None
    key = row.get("custom_id") if isinstance(row, dict) else None
    if not isinstance(key, str) or key not in questions:
        raise ValueError("its custom_id belongs to none of the questions (were settings changed?)")
    response = row.get("response")
    if not isinstance(response, dict) or response.get("status_code") != 200:
        told = row.get("error") or (response.get("body") if isinstance(response, dict) else None)
        words = " ".join(json.dumps(told, ensure_ascii=False).split())[:300]
        return key, Reply("", "error", None, f"the batch service failed: {words}")
    request_id = response.get("request_id")
    try:
        raw = read_completion(
            response.get("body"), request_id if isinstance(request_id, str) else None
        )
    except CallError as error:
        return key, Reply("", "error", None, error.reason)
    checked = check_reply(schema, raw.text, raw.finish_reason, raw.refusal)
    exchange = questions[key].record(
        raw, raw.usage, attempts=1, stripped=checked.stripped, repaired=False, seconds=0.0
    )
    return key, Reply("", checked.outcome, checked.value, checked.reason, exchange)
