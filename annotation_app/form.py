"""What the labelling page is told: one blind item, its questions, the draft, the progress."""

from __future__ import annotations

from statistics import median
from typing import Any

from audit.blind import BlindItem
from audit.protocol import Condition, Protocol, Question

_USUAL_SECONDS = 45.0
"""Time taken for an item before the person's own times are known."""


def legend() -> list[dict[str, str]]:
    """Return the colours that tell the person's left from their right in every clip."""
    from render.body import PART_COLOURS

    sides = (("left_arm", "the person’s left"), ("right_arm", "the person’s right"))
    return [
        {"text": text, "colour": "rgb({}, {}, {})".format(*PART_COLOURS[part])}
        for part, text in sides
    ]


def task_data(
    protocol: Protocol,
    item: BlindItem,
    *,
    answers: dict[str, Any] | None = None,
    version: int = 0,
    activity: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one item as the component draws it.

    Args:
        protocol: Protocol of the study.
        item: The blind item; nothing else of the item is known here.
        answers: Answers saved so far.
        version: Version of that draft, 0 for none.
        activity: Seconds, plays and frames stepped so far.

    Returns:
        Plain JSON.

    Raises:
        ValueError: The item has more than one clip.
    """
    if len(item.stimuli) > 1:
        raise ValueError(f"the labelling page plays one clip, got {len(item.stimuli)}")
    clip = item.stimuli[0].model_dump() if item.stimuli else None
    return {
        "kind": "training" if item.training else "work",
        "id": item.assignment_id,
        "clip": clip,
        "captions": [caption.model_dump() for caption in item.captions],
        "prompt": item.prompt if {"question", "prompt"} & set(protocol.shows) else "",
        "lead": "",
        "questions": [
            _question(question, item.target)
            for question in protocol.questions
            if _can_show(question.shown_when, item.conditions)
        ],
        "answers": answers or {},
        "version": version,
        "activity": activity or {},
    }


def minutes_left(seconds_taken: list[float], remaining: int) -> int | None:
    """Estimate the minutes a person still needs, from the median of their own times.

    Args:
        seconds_taken: Active seconds of each item done.
        remaining: Items left.

    Returns:
        Whole minutes, 0 for under one; None when nothing is left.

    >>> minutes_left([30.0, 30.0, 600.0], 10)
    5
    """
    if remaining <= 0:
        return None
    usual = median(seconds_taken) if len(seconds_taken) >= 3 else _USUAL_SECONDS
    return int(usual * remaining // 60)


def _question(question: Question, target: str) -> dict[str, Any]:
    rule = question.shown_when
    by_answer = rule is not None and rule.question is not None
    return {
        "name": question.name,
        "text": question.text.replace("{target}", target),
        "help": question.help.replace("{target}", target),
        "kind": question.kind,
        "options": [option.model_dump() for option in question.options],
        "required": question.required,
        "shown_when": rule.model_dump(include={"question", "values"})
        if rule is not None and by_answer
        else None,
    }


def _can_show(rule: Condition | None, conditions: dict[str, str]) -> bool:
    if rule is None or rule.question is not None:
        return True
    return conditions.get(rule.stratum or "") in rule.values
