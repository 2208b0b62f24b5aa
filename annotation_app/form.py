"""What the labelling page is told: one blind item, its questions, the draft, the progress."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Any

from audit.blind import BlindItem, form_for
from audit.protocol import Condition, Protocol, Question

if TYPE_CHECKING:
    from annotation_app.texts import Texts

_USUAL_SECONDS = 45.0
"""Time taken for an item before the person's own times are known."""
_LAST, _KNOWN = 12, 8
"""So many last answers are looked at; from so many on, the usual time does not enter any more."""
_LEAST_SECONDS = 10.0
"""Nobody keeps up less than this for long: a clip has to be watched."""


def legend(texts: Texts) -> list[dict[str, str]]:
    """Return the colours that tell the person's left from their right in every clip."""
    from render.body import PART_COLOURS

    sides = (("left_arm", texts("desk.left_limbs")), ("right_arm", texts("desk.right_limbs")))
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
        "options": [option.model_dump() for option in item.options]
        if "options" in protocol.shows
        else [],
        "facts": [fact.model_dump() for fact in item.facts],
        "forced": [rule.model_dump() for rule in protocol.forced],
        "lead": "",
        "questions": [
            _question(question, item.target)
            for question in form_for(protocol, item)
            if _can_show(question.shown_when, item.conditions)
        ],
        "answers": answers or {},
        "version": version,
        "activity": activity or {},
    }


def minutes_left(seconds_taken: list[float], remaining: int) -> int | None:
    """Estimate the minutes a person still needs, from the median of their last times.

    While they have answered fewer than eight items, a usual time of 45 s enters in the place of
    those missing, so that a few quick answers do not promise an early end (ours).

    Args:
        seconds_taken: Active seconds of each item done, the last one last.
        remaining: Items left.

    Returns:
        Minutes, rounded up; 0 for under one; None when nothing is left.

    >>> minutes_left([30.0] * 7 + [600.0], 10)
    5
    """
    if remaining <= 0:
        return None
    last = seconds_taken[-_LAST:]
    own = min(len(last), _KNOWN)
    pace = max(median(last), _LEAST_SECONDS) if last else 0.0
    left = remaining * (own * pace + (_KNOWN - own) * _USUAL_SECONDS) / _KNOWN
    return 0 if left < 60 else math.ceil(left / 60)


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
