"""Checking what came from a form against its protocol."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping
from typing import Any

from audit.protocol import Condition, Protocol, Question
from corpus.problems import InputError

TEXT_LIMIT = 10_000
"""Longest free text of a submission, characters."""
DRAFT_LIMIT = 200_000
"""Longest draft, characters of its JSON; more than a submission, so that nothing is lost."""
_ACTIVITY_KEYS = 40
_ACTIVITY_TEXT = 200
_MEASURES = frozenset({"seconds", "plays", "frames_stepped"})


class AnswerError(InputError):
    """Answers that the protocol does not take; ``problems`` says what is wrong by question."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        """Keep all problems; the message lists them."""
        self.problems = dict(problems)
        super().__init__("; ".join(self.problems.values()))


def is_asked(question: Question, conditions: Mapping[str, str], answers: Mapping[str, Any]) -> bool:
    """Return whether a question is shown for an item and the answers so far.

    Args:
        question: The question.
        conditions: Strata of the item, by name.
        answers: Answers to the other questions.
    """
    return question.shown_when is None or _holds(question.shown_when, conditions, answers)


def check_answers(
    protocol: Protocol, conditions: Mapping[str, str], answers: Any
) -> dict[str, Any]:
    """Return the answers as they are stored.

    Answers to questions that are not shown are dropped, so that an answer given before another
    one hid its question does not survive; what they force (``Protocol.forced``) holds even so.
    Free text loses control characters (line ends and tabs stay) and outer blanks, and is otherwise
    kept as it is; empty text is no answer.

    Args:
        protocol: The protocol, with the item's own options filled in (``audit.shown.form_of``).
        conditions: Strata of the item, by name.
        answers: What came, by question name.

    Returns:
        Clean answers in the order of the questions: text, or for ``multi`` a list of text in
        the declared order.

    Raises:
        AnswerError: A required answer is missing, a value is not one of the options, a text is
            too long, an answer is not the one another forces, or there is no such question. All
            problems at once.
    """
    if not isinstance(answers, Mapping):
        raise AnswerError({"": f"expected answers by question, got {type(answers).__name__}"})
    names = {question.name for question in protocol.questions}
    problems = {
        str(name): f"{str(name)[:60]!r} is not a question of {protocol.name}"
        for name in answers
        if name not in names
    }
    clean: dict[str, Any] = {}
    for question in protocol.questions:
        if not is_asked(question, conditions, answers):
            continue
        value = answers.get(question.name)
        try:
            stored = _stored(question, value)
        except AnswerError as error:
            problems.update(error.problems)
            continue
        if stored is not None:
            clean[question.name] = stored
        elif question.required:
            problems[question.name] = f"{question.name!r} has no answer yet"
    for rule in protocol.forced:
        forces = _contains(answers.get(rule.question), rule.values)
        if forces and rule.then not in problems and clean.get(rule.then) != rule.must_be:
            problems[rule.then] = rule.message
    if problems:
        raise AnswerError(problems)
    return clean


def check_draft(protocol: Protocol, answers: Any) -> dict[str, Any]:
    """Return answers that may be kept as a draft: any JSON under known questions.

    Raises:
        AnswerError: No mapping, an unknown question, no JSON, or longer than ``DRAFT_LIMIT``.
    """
    if not isinstance(answers, Mapping):
        raise AnswerError({"": f"expected answers by question, got {type(answers).__name__}"})
    names = {question.name for question in protocol.questions}
    for name in answers:
        if name not in names:
            raise AnswerError(
                {str(name): f"{str(name)[:60]!r} is not a question of {protocol.name}"}
            )
    try:
        text = json.dumps(dict(answers), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AnswerError({"": f"expected plain JSON answers: {error}"}) from error
    if len(text) > DRAFT_LIMIT:
        raise AnswerError(
            {"": f"the draft has {len(text)} characters; at most {DRAFT_LIMIT} are kept"}
        )
    kept: dict[str, Any] = _without_controls(json.loads(text))
    return kept


def check_activity(activity: Any) -> dict[str, Any]:
    """Keep what a browser may report of its own: finite numbers, flags and short texts.

    Anything else is dropped: it is a measurement, not an answer, and never a reason to refuse one.
    """
    if not isinstance(activity, Mapping):
        return {}
    kept: dict[str, Any] = {}
    for name, value in list(activity.items())[:_ACTIVITY_KEYS]:
        if not isinstance(name, str) or len(name) > 60:
            continue
        measured = (
            isinstance(value, (int, float))
            and not isinstance(value, bool)
            and math.isfinite(value)
            and abs(value) < 1e12
        )
        if name in _MEASURES:
            # Readers count on these being numbers, whatever a browser was made to send.
            if measured and value >= 0:
                kept[name] = value
        elif measured or isinstance(value, bool):
            kept[name] = value
        elif isinstance(value, str) and len(value) <= _ACTIVITY_TEXT:
            kept[name] = plain_text(value)
    return kept


def plain_text(text: str) -> str:
    r"""Return text without control characters and lone surrogates; line ends become ``\n``.

    Marks that steer the direction of writing and join emoji stay.

    >>> plain_text("a\x00b\r\nc")
    'ab\nc'
    """
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in unified if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))


def _stored(question: Question, value: Any) -> str | list[str] | None:
    if value is None:
        return None
    if question.kind == "text":
        if not isinstance(value, str):
            raise AnswerError({question.name: f"{question.name!r} expects text"})
        text = plain_text(value).strip()
        if len(text) > TEXT_LIMIT:
            raise AnswerError(
                {
                    question.name: f"{question.name!r} has {len(text)} characters; "
                    f"at most {TEXT_LIMIT} can be submitted"
                }
            )
        return text or None
    if question.kind == "multi":
        if not isinstance(value, (list, tuple)):
            raise AnswerError({question.name: f"{question.name!r} expects a list of answers"})
        chosen = {_option(question, one) for one in value}
        return [one for one in question.domain if one in chosen] or None
    return _option(question, value)


def _option(question: Question, value: Any) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or text not in question.domain:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise AnswerError(
            {
                question.name: f"{shown} is not an answer of {question.name!r}; "
                f"answers are {list(question.domain)}"
            }
        )
    return text


def _holds(condition: Condition, conditions: Mapping[str, str], answers: Mapping[str, Any]) -> bool:
    if condition.question is None:
        return conditions.get(condition.stratum or "") in condition.values
    return _contains(answers.get(condition.question), condition.values)


def _contains(value: Any, values: tuple[str, ...]) -> bool:
    given = value if isinstance(value, (list, tuple)) else [value]
    return any(one in values for one in given)


def _without_controls(value: Any) -> Any:
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, list):
        return [_without_controls(one) for one in value]
    if isinstance(value, dict):
        return {plain_text(name): _without_controls(one) for name, one in value.items()}
    return value
