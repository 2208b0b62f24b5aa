"""Whether the second pass changed what a draft means (NextMotionQA 4.2, stage 2)."""

from __future__ import annotations

from benchmarks.nextmotionqa import CaptionItem, ChoiceItem, CorrectionItem
from construction.nextmotionqa.drafts import Payload, same_words
from construction.nextmotionqa.words import content, table
from construction.text.morphology import lemmas


def divergence(first: Payload, second: Payload) -> str:
    """Say how the second pass changed the meaning of a draft; empty where it did not.

    Spelling, case, inflection and words such as articles may change. Any other word, an option, a
    gold answer, or the order of actions counts as a change of meaning: a rule cannot tell a
    synonym from another motion, and what is flagged wrongly costs one look (ours).

    Args:
        first: Payload of pass 1.
        second: Payload of pass 2, of the same task.

    Returns:
        What differs, in words.

    Raises:
        TypeError: The two are of different tasks.
    """
    if isinstance(first, ChoiceItem) and isinstance(second, ChoiceItem):
        return _choices(first, second)
    if isinstance(first, CaptionItem) and isinstance(second, CaptionItem):
        return _texts("caption", first.caption, second.caption)
    if isinstance(first, CorrectionItem) and isinstance(second, CorrectionItem):
        return _texts("corrected caption", first.corrected, second.corrected) or _texts(
            "corrupted caption", first.corrupted, second.corrupted
        )
    raise TypeError(f"expected two drafts of one task, got {type(first)} and {type(second)}")


def _choices(first: ChoiceItem, second: ChoiceItem) -> str:
    options = [{same_words(option) for option in item.options} for item in (first, second)]
    if options[0] != options[1]:
        gone, new = sorted(options[0] - options[1]), sorted(options[1] - options[0])
        return f"options: {', '.join(gone)} became {', '.join(new)}"
    gold = [sorted(same_words(answer) for answer in item.gold) for item in (first, second)]
    if gold[0] != gold[1]:
        return f"gold: {', '.join(gold[0])} became {', '.join(gold[1])}"
    return _texts("question", first.question, second.question)


def _texts(what: str, first: str, second: str) -> str:
    one, other = content(first), content(second)
    for axis in ("action", "direction", "body_part"):
        if one.on(axis) != other.on(axis):
            return f"{what}: {axis.replace('_', ' ')} differs"
    gone, new = _telling(first) - _telling(second), _telling(second) - _telling(first)
    if gone or new:
        return f"{what}: {', '.join(sorted(gone)) or '-'} became {', '.join(sorted(new)) or '-'}"
    return ""


def _telling(text: str) -> frozenset[str]:
    """Return the words that carry meaning, inflection taken off."""
    filler = set(str(table("words")["filler"]["words"]).split())
    words = set(same_words(text).split()) - filler
    return frozenset(min(lemmas(word)) for word in words)
