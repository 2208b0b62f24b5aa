"""Whether a word form is used as a verb in a caption, and in which inflection."""

from __future__ import annotations

from construction.text.morphology import Tag, readings
from construction.text.tables import words
from construction.text.tokens import Token

_SEQUENCE = frozenset({"then", "finally", "afterwards", "afterward"})
_CLAUSE_MARKS = frozenset({".", ",", ";", ":", "!", "?"})


def _w(key: str) -> frozenset[str]:
    return words("verb_use", key)


def _before(tokens: list[Token], i: int) -> list[str]:
    """Words before token i, nearest first, adverbs skipped; a clause mark is kept."""
    found = [t.low for t in reversed(tokens[max(0, i - 6) : i])]
    skipped = 0
    while (
        skipped < len(found)
        and (found[skipped].endswith("ly") or found[skipped] in _w("adverbs"))
        and skipped < 3
    ):
        skipped += 1
    return found[skipped:] if skipped < len(found) else []


def _finite_fits(before: list[str], tokens: list[Token], i: int) -> bool:
    """Whether a finite verb can stand here: after a subject, a conjunction or a clause mark."""
    if not before:
        return True
    p1 = before[0]
    if p1 in _w("determiners") - {"that"}:
        return False
    if p1 in _w("subjects") or p1 in _CLAUSE_MARKS:
        return not (p1 in _CLAUSE_MARKS and _list_of_nouns(before[1:]))
    if p1 in {"and", "or", "but"}:
        return not _list_of_nouns(before[1:])
    return p1 == tokens[i - 1].low and p1 in {"then", "which"}


def _list_of_nouns(before: list[str]) -> bool:
    """Whether the words before a conjunction end in an action noun: "throws punches and …"."""
    if not before:
        return False
    words_before = [w for w in before if w not in _CLAUSE_MARKS]
    if not words_before:
        return False
    last = words_before[0]
    if not any(r.tag in {"VBZ", "VB"} for r in readings(last)):
        return False
    context = words_before[1:3]
    if not context:
        return False
    nearest = context[0]
    subject_like = nearest in _w("subjects") | {"then", "and", "to"} or nearest.endswith("ly")
    return not subject_like


def verb_tag(tokens: list[Token], i: int, forms: dict[Tag, str]) -> Tag | None:
    """Decide in which inflection a token is used as a verb.

    Args:
        tokens: The caption's tokens.
        i: Index of the token, a form of the verb.
        forms: The verb's inflections.

    Returns:
        The tag, or None where the token may be a noun or an adjective.
    """
    low = tokens[i].low
    possible = {tag for tag, form in forms.items() if form == low}
    if i and tokens[i - 1].low in {"-", "'"}:
        return None
    if i + 1 < len(tokens) and tokens[i + 1].low in {"-", "'"}:
        return None
    before = _before(tokens, i)
    p1 = before[0] if before else ""
    raw = tokens[i - 1].low if i else ""
    if raw in _SEQUENCE and i > 1:
        return _after_sequence(possible, tokens, i)
    if raw in _w("determiners") - {"that"}:
        return _attributive(tokens, i, possible)
    if "VBG" in possible:
        return "VBG" if _gerund_fits(before) else None
    if "VBN" in possible and (p1 in _w("have") or p1 in _w("be")):
        return "VBN"
    if "VBD" in possible and _finite_fits(before, tokens, i):
        return "VBD"
    if "VBZ" in possible and _finite_fits(before, tokens, i):
        return "VBZ"
    if "VB" in possible and (p1 in _w("before_base") or p1 in _w("plural_subjects") or not before):
        return "VB"
    return None


def _after_sequence(possible: set[Tag], tokens: list[Token], i: int) -> Tag | None:
    """Read the verb after "then": finite in most captions, else an -ing form."""
    order: tuple[Tag, ...] = ("VBZ", "VBG", "VBD")
    for tag in order:
        if tag in possible:
            return tag
    plural = any(t.low in _w("plural_subjects") for t in tokens[:i])
    return "VB" if plural and "VB" in possible else None


def _gerund_fits(before: list[str]) -> bool:
    if not before:
        return True
    p1 = before[0]
    if p1 in _CLAUSE_MARKS or p1 in {"and", "then", "or"}:
        return True
    return p1 in _w("be") | _w("before_ing") | _w("subjects")


def _attributive(tokens: list[Token], i: int, possible: set[Tag]) -> Tag | None:
    """Read "a walking man", "makes a kicking motion"; any other determined form is a noun."""
    after = tokens[i + 1].low if i + 1 < len(tokens) else ""
    if "VBG" in possible and after in _w("subjects") | {"motion", "motions", "movement"}:
        return "VBG"
    return None
