"""Targets as items for people to verify, and as the files that ``score accuracy`` takes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from benchmarks.items import Frozen, Item, Provenance, make_item
from benchmarks.t2mbench import (
    TARGET_CATEGORIES,
    BodyPartOffset,
    Joint,
    MotionPrompt,
    RootRotation,
    RootVelocity,
    Target,
    TargetCheck,
    TargetEntry,
    TargetFile,
    parse_target,
    target_line,
)
from construction.report import FLAGS, Rejected
from construction.stages import Stages
from construction.t2mbench.quantities import find_quantities, plain_numbers
from construction.t2mbench.targets import RULE, read_targets
from corpus.problems import InputError
from llm.outcome import Reply, tool_version
from llm.requests import Request

STAGE = "target"
"""Name of the stage that may ask a language model."""
KIND = "target"
"""Kind of the items."""
FILES = {"root_move.json": False, "body_part.json": True}
"""Names of the files (T2MBench 3.3.3), and whether each holds the body-part targets."""


class TargetLines(Frozen):
    """Answer of the stage ``target``."""

    lines: tuple[str, ...]
    """Targets as ``benchmarks.t2mbench.target_line`` writes them; none where there is none."""
    nothing_because: str
    """Why there is none; empty where there are some."""


@dataclass
class TargetDraft:
    """What reading brought."""

    items: list[Item] = field(default_factory=list)
    """Targets to be verified, of kind ``target``."""
    rejected: list[Rejected] = field(default_factory=list)
    """Prompts without a target, with the reason."""
    counts: list[dict[str, Any]] = field(default_factory=list)
    """Rows for the report: category, outcome, number of prompts."""


def draft_targets(
    prompts: Sequence[MotionPrompt],
    seed: int,
    stages: Stages,
) -> TargetDraft:
    """Read the targets of the Accuracy prompts, by rule and then by language model.

    Args:
        prompts: Prompts; those of other categories are left out.
        seed: Kept in the provenance.
        stages: With a model for ``target`` it is asked what the rules cannot read.

    Returns:
        One item for each target, unverified. A target of a language model whose numbers the text
        does not hold is flagged.

    Raises:
        InputError: A prompt file that cannot be used; as ``Stages.ask``.
    """
    found = TargetDraft()
    outcomes: Counter[tuple[str, str]] = Counter()
    unread: list[tuple[MotionPrompt, str, str]] = []
    concerned = [one for one in prompts if one.category in TARGET_CATEGORIES]
    for prompt in concerned:
        reading = read_targets(prompt.text, prompt.category)
        if reading.outcome == "targets":
            made = Provenance(rule=RULE, seed=seed, tool_version=tool_version())
            found.items.extend(_item(prompt, target, made) for target in reading.targets)
            outcomes[prompt.category, "read by rule"] += 1
        elif reading.outcome == "unread":
            unread.append((prompt, reading.code, reading.reason))
        else:
            outcomes[prompt.category, "nothing to measure"] += 1
            found.rejected.append(_refusal(prompt, "rule", reading.code, reading.reason))
    if unread and stages.has(STAGE):
        _ask(found, outcomes, [prompt for prompt, _, _ in unread], seed, stages)
    else:
        for prompt, code, reason in unread:
            outcomes[prompt.category, "unread"] += 1
            found.rejected.append(_refusal(prompt, "rule", code, reason))
    found.counts.extend(
        {"category": category, "outcome": outcome, "prompts": count}
        for (category, outcome), count in sorted(outcomes.items())
    )
    return found


def _ask(
    found: TargetDraft,
    outcomes: Counter[tuple[str, str]],
    prompts: Sequence[MotionPrompt],
    seed: int,
    stages: Stages,
) -> None:
    asked = stages.prompts.load("t2mbench.target")
    joints = ", ".join(get_args(Joint))
    requests = [
        Request(
            id=one.prompt_id,
            prompt=asked.render(
                {"text": one.text, "category": one.category.replace("_", " "), "joints": joints}
            ),
        )
        for one in prompts
    ]
    replies = stages.ask(STAGE, requests, TargetLines)
    if stages.dry_run:
        return
    for prompt, reply in zip(prompts, replies, strict=True):
        read, code, reason = _targets_of(reply)
        if code:
            told = "nothing to measure" if code == "nothing" else "unread"
            outcomes[prompt.category, told] += 1
            found.rejected.append(_refusal(prompt, STAGE, code, reason))
            continue
        outcomes[prompt.category, "read by model"] += 1
        for target in read:
            odd = foreign_numbers(prompt.text, target)
            flags = {FLAGS: [f"not in the text: {', '.join(odd)}"]} if odd else {}
            found.items.append(_item(prompt, target, reply.provenance(seed, **flags)))


def _targets_of(reply: Reply[TargetLines]) -> tuple[list[Target], str, str]:
    """Return the targets of an answer, or code and reason why there are none."""
    if reply.value is None:
        return [], reply.outcome, reply.reason
    if not reply.value.lines:
        return [], "nothing", reply.value.nothing_because or "the model names no target"
    try:
        read = [parse_target(line) for line in reply.value.lines]
    except ValueError as error:
        return [], "unparsable", str(error)
    return list({target_line(target): target for target in read}.values()), "", ""


def foreign_numbers(text: str, target: Target) -> list[str]:
    """Return the numbers of a target that its prompt does not hold, in any unit.

    Args:
        text: The prompt.
        target: A target read from it.

    Returns:
        The numbers as text, in metres, degrees and seconds; empty when all were found. Sums and
        differences of several numbers are not tried, so a right target may be named.
    """
    low = plain_numbers(" ".join(text.lower().split()))
    known = {round(one.value, 6) for one in find_quantities(low)}
    known |= {round(float(bare), 6) for bare in re.findall(r"\d+(?:\.\d+)?", low)}
    match target:
        case RootRotation():
            named = [abs(target.yaw_deg)]
        case RootVelocity():
            named = [target.speed_m_s, *([target.duration_s] if target.duration_s else [])]
        case BodyPartOffset():
            named = [abs(value) for value in target.offset_m if value]
        case _:
            named = [abs(value) for value in target.displacement_m if value]
    return [f"{value:g}" for value in named if round(value, 6) not in known]


def target_files(entries: Iterable[tuple[TargetCheck, bool]]) -> dict[str, TargetFile]:
    """Sort targets into ``root_move.json`` and ``body_part.json``.

    Args:
        entries: Each target with whether people verified it.

    Returns:
        File by name, entries by id; the second and further targets of a prompt are ``id#2`` ….
    """
    sorted_entries = sorted(entries, key=lambda pair: (pair[0].prompt_id, pair[0].target))
    numbers: Counter[str] = Counter()
    made: dict[str, list[TargetEntry]] = {name: [] for name in FILES}
    for check, verified in sorted_entries:
        numbers[check.prompt_id] += 1
        count = numbers[check.prompt_id]
        target = parse_target(check.target)
        of_parts = isinstance(target, BodyPartOffset)
        name = next(name for name, parts in FILES.items() if parts == of_parts)
        identity = check.prompt_id if count == 1 else f"{check.prompt_id}#{count}"
        made[name].append(
            TargetEntry(id=identity, prompt=check.text, target=target, verified=verified)
        )
    return {name: TargetFile(targets=tuple(found)) for name, found in made.items()}


def write_target_files(files: dict[str, TargetFile], folder: Path) -> list[Path]:
    """Write target files and return their paths; a file without a target is written too.

    Raises:
        InputError: The folder cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = folder / name
            path.write_text(content.model_dump_json(indent=2) + "\n", encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
    return written


def read_target_file(path: Path) -> TargetFile:
    """Read ``root_move.json`` or ``body_part.json``.

    Args:
        path: The file.

    Returns:
        Its targets; each says whether it was verified.

    Raises:
        InputError: It cannot be read, or is no such file; the first wrong field is named.
    """
    try:
        found = TargetFile.model_validate_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error}", file=str(path)) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(first["msg"], file=str(path), place=place) from None
    ids = Counter(entry.id for entry in found.targets)
    twice = next((one for one, count in ids.items() if count > 1), None)
    if twice is not None:
        raise InputError(f"id {twice!r} stands in it more than once", file=str(path))
    return found


def _item(prompt: MotionPrompt, target: Target, provenance: Provenance) -> Item:
    payload = TargetCheck(
        prompt_id=prompt.prompt_id,
        text=prompt.text,
        category=prompt.category,
        target=target_line(target),
    )
    stratum = {"category": prompt.category, "target": target.kind}
    return make_item("t2mbench", KIND, stratum, payload, provenance)


def _refusal(prompt: MotionPrompt, stage: str, code: str, reason: str) -> Rejected:
    cell = {"dimension": "accuracy", "category": prompt.category, "length": prompt.length or ""}
    return Rejected(
        source=prompt.prompt_id, cell=cell, stage=stage, code=code, reason=reason, text=prompt.text
    )
