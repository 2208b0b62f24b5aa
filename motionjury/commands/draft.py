"""`motionjury draft`: captions in, draft items out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.stride import AXES
from corpus.problems import InputError, Problem
from motionjury.commands.draft_audit import audit
from motionjury.commands.draft_mrbench import mrbench
from motionjury.commands.draft_nextmotionqa import nextmotionqa
from motionjury.commands.draft_stride import axis_named, stride
from motionjury.commands.draft_t2mbench import t2mbench, t2mbench_ood
from motionjury.commands.draft_targets import t2mbench_targets
from motionjury.commands.drafting import SeedOption
from motionjury.options import JsonOption, print_problems

app = typer.Typer()
app.command("mrbench")(mrbench)
app.command("nextmotionqa")(nextmotionqa)
app.command("stride")(stride)
app.command("audit")(audit)
app.command("t2mbench")(t2mbench)
app.command("t2mbench-ood")(t2mbench_ood)
app.command("t2mbench-targets")(t2mbench_targets)


class _Line:
    """One usable input line, or the reason why a line with an id cannot be used."""

    def __init__(self, key: str | int, caption: str | None, reason: str = "") -> None:
        self.key = key
        self.caption = caption
        self.reason = reason


def _read_line(raw: bytes, seen: set[str | int]) -> _Line:
    """Read one line.

    Raises:
        ValueError: The line has no usable id.
    """
    try:
        record = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8, byte {error.start} is not") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"expected a JSON object, got: {error}") from error
    except RecursionError as error:
        raise ValueError("expected a flat JSON object, got one nested too deep") from error
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, got {type(record).__name__}")
    key = record.get("id")
    if isinstance(key, bool) or not isinstance(key, str | int) or key == "":
        raise ValueError(f"id: expected text or a whole number, got {json.dumps(key)[:40]}")
    if isinstance(key, str) and any("\ud800" <= char <= "\udfff" for char in key):
        raise ValueError("id: half of a surrogate pair is no text")
    caption = record.get("caption")
    if key in seen:
        return _Line(key, None, f"id {key!r} was used by an earlier line")
    seen.add(key)
    if "caption" not in record:
        return _Line(key, None, "caption: expected text, the field is missing")
    if not isinstance(caption, str):
        return _Line(key, None, f"caption: expected text, got {type(caption).__name__}")
    return _Line(key, caption)


def _read_lines(path: Path) -> tuple[list[_Line], list[Problem]]:
    if not path.is_file():
        raise InputError("expected a JSONL file, found none", file=str(path))
    lines: list[_Line] = []
    problems: list[Problem] = []
    seen: set[str | int] = set()
    for number, raw in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        reason = ""
        try:
            line = _read_line(raw, seen)
            lines.append(line)
            reason = line.reason
        except ValueError as error:
            reason = str(error)
        if reason:
            problems.append(Problem(file=str(path), place=f"line {number}", reason=reason))
    if not any(line.caption is not None for line in lines):
        first = f"; first: {problems[0].place}: {problems[0].reason}" if problems else ""
        raise InputError(f"no usable caption in {len(problems)} lines{first}", file=str(path))
    return lines, problems


@app.command()
def captions(
    file: Annotated[Path, typer.Argument(help="JSONL, one {id, caption} per line.")],
    axis: Annotated[str, typer.Option("--axis", help=f"One of {', '.join(AXES)}.")],
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Answer so many lines, the first.")
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Edit bare captions on one STRIDE axis; prints one JSON line per input line.

    Outcomes: `item` (text holds the edit), `not_applicable`, `rejected`. A line with an id that
    cannot be used is answered `rejected`; a line without one is named on stderr and has no
    answer. The output is JSON lines with and without --json.

    Example: motionjury draft captions captions.jsonl --axis mirror_reflection --json
    """
    del as_json
    from construction.sampling import random_content
    from construction.stride import edit_caption
    from construction.text.outcome import rejected

    wanted = axis_named(axis)
    lines, problems = _read_lines(file)
    pool = sorted((str(line.key), line.caption) for line in lines if line.caption is not None)
    for line in lines[:limit]:
        if line.caption is None:
            outcome = rejected(line.reason, "bad_line")
        elif wanted == "random_content":
            outcome = random_content(line.caption, str(line.key), pool, seed)
        else:
            outcome = edit_caption(line.caption, wanted, seed)
        answer = {"id": line.key, "outcome": outcome.outcome, "text": outcome.text}
        answer["reason"] = outcome.reason
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    refused = print_problems(problems)
    if refused:
        print(f"refused {refused} of {refused + len(pool)} lines", file=sys.stderr)
