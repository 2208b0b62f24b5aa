"""From an item's payload to what of it may be shown: one small function a kind, in one table.

What a function does not pick cannot reach an expert: gold, method, model and source stay out here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from audit.protocol import Option, Protocol
from benchmarks.items import Benchmark
from benchmarks.judged import JudgedClip
from benchmarks.mrbench import GRANULARITIES, CaptionSet
from benchmarks.nextmotionqa import (
    SEMANTIC_AXES,
    TASKS,
    CaptionItem,
    ChoiceItem,
    CorrectionItem,
    PilotQuestion,
)
from benchmarks.stride import TARGET_PROPERTY, Triplet
from benchmarks.t2mbench import MotionPrompt, TargetCheck, describe_target, parse_target
from corpus.problems import InputError


class Shown(NamedTuple):
    """What may be shown of an item, before it is put in a person's order."""

    clip_id: str | None = None
    """Clip to play."""
    captions: tuple[tuple[str, str], ...] = ()
    """Field and text of each caption."""
    compared: bool = False
    """Whether the captions are compared, so that their order must tell nothing."""
    prompt: str = ""
    """Prompt or question."""
    options: tuple[str, ...] = ()
    """Answers to choose from."""
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value of what the expert must know to judge, e.g. the category."""
    target: str = ""
    """The property the item is about, in words."""


class Kind(NamedTuple):
    """A kind of item."""

    benchmarks: tuple[Benchmark, ...]
    """Where it occurs."""
    payload: type[BaseModel]
    """Its payload."""
    shown: Callable[[Mapping[str, Any]], Shown]
    """What may be shown of a payload."""


def _triplet(payload: Mapping[str, Any]) -> Shown:
    return Shown(
        clip_id=payload["clip_id"],
        captions=tuple((name, payload[name]) for name in ("caption", "perturbed")),
        compared=True,
        target=TARGET_PROPERTY[payload["axis"]],
    )


def _pilot_question(payload: Mapping[str, Any]) -> Shown:
    return Shown(
        clip_id=payload["clip_id"], prompt=payload["question"], options=tuple(payload["options"])
    )


def _choice(payload: Mapping[str, Any]) -> Shown:
    return Shown(
        clip_id=payload["clip_id"],
        prompt=payload["question"],
        options=tuple(payload["options"]),
        facts=_cell("T1", payload),
    )


def _caption(payload: Mapping[str, Any]) -> Shown:
    return Shown(clip_id=payload["clip_id"], prompt=payload["caption"], facts=_cell("T2", payload))


def _correction(payload: Mapping[str, Any]) -> Shown:
    return Shown(
        clip_id=payload["clip_id"], prompt=payload["corrupted"], facts=_cell("T3", payload)
    )


def _cell(task: str, payload: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (
        ("Task", TASKS[task]),  # type: ignore[index]
        ("Axis", SEMANTIC_AXES[payload["axis"]]),
        ("Difficulty", str(payload["difficulty"])),
    )


def _judged_clip(payload: Mapping[str, Any]) -> Shown:
    return Shown(clip_id=payload["clip_id"], prompt=payload["prompt"])


def _caption_set(payload: Mapping[str, Any]) -> Shown:
    return Shown(
        clip_id=payload["clip_id"],
        captions=tuple((name, payload[name]) for name in GRANULARITIES),
        facts=(("Category", " / ".join(payload["category"])),),
    )


def _prompt(payload: Mapping[str, Any]) -> Shown:
    return Shown(prompt=payload["text"])


def _target(payload: Mapping[str, Any]) -> Shown:
    line = str(payload["target"])
    facts = (("Target", describe_target(parse_target(line))), ("As it is kept", line))
    return Shown(prompt=payload["text"], facts=facts)


KINDS: dict[str, Kind] = {
    "triplet": Kind(("stride",), Triplet, _triplet),
    "pilot_question": Kind(("nextmotionqa",), PilotQuestion, _pilot_question),
    "choice": Kind(("nextmotionqa",), ChoiceItem, _choice),
    "caption": Kind(("nextmotionqa",), CaptionItem, _caption),
    "correction": Kind(("nextmotionqa",), CorrectionItem, _correction),
    "judged_clip": Kind(("nextmotionqa", "t2mbench"), JudgedClip, _judged_clip),
    "caption_set": Kind(("mrbench",), CaptionSet, _caption_set),
    "prompt": Kind(("t2mbench",), MotionPrompt, _prompt),
    "target": Kind(("t2mbench",), TargetCheck, _target),
}
"""Every kind of item by ``Item.kind``; a new one is one function and one entry."""


def kind_of(record: Mapping[str, Any]) -> Kind:
    """Return the kind of an item.

    Args:
        record: ``Item`` as plain JSON.

    Raises:
        InputError: There is no such kind.
    """
    found = KINDS.get(record["kind"])
    if found is None:
        raise InputError(f"unknown kind of item {record['kind']!r}; kinds are {sorted(KINDS)}")
    return found


def shown_of(record: Mapping[str, Any]) -> Shown:
    """Return what may be shown of an item, given as plain JSON.

    Raises:
        InputError: Its kind is unknown.
    """
    return kind_of(record).shown(record["payload"])


def form_of(protocol: Protocol, record: Mapping[str, Any]) -> Protocol:
    """Return a protocol whose questions have the item's own options filled in.

    Args:
        protocol: A protocol; questions with ``options_from`` have none yet.
        record: ``Item`` as plain JSON.
    """
    if all(question.options_from is None for question in protocol.questions):
        return protocol
    options = tuple(Option(value=text, text=text) for text in shown_of(record).options)
    return protocol.model_copy(
        update={
            "questions": tuple(
                question.model_copy(update={"options": options})
                if question.options_from is not None
                else question
                for question in protocol.questions
            )
        }
    )
