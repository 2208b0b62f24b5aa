"""A caption of several events as slots: fixed words between events that can change places."""

from __future__ import annotations

from typing import NamedTuple

from construction.text.morphology import Reading, Tag, inflect, readings
from construction.text.tables import words
from construction.text.tokens import Token

_MARKS = frozenset({".", ",", ";", ":", "!", "?", "(", ")"})
_SLOT_ADVERBS = frozenset({"just", "sharply", "almost"})


def listed(key: str) -> frozenset[str]:
    """Return a word list of the temporal table."""
    return words("temporal", key)


def noun_openings() -> frozenset[str]:
    """Return the words that open a noun phrase: determiners and counts."""
    return words("verb_use", "determiners") | listed("counts")


class Slot(NamedTuple):
    """Place of one event: tokens [start, end) with its head verb."""

    start: int
    """First token."""
    end: int
    """Token after the last."""
    head: int
    """Token of the head verb; equals ``start`` for a noun phrase."""
    lemma: str
    """Lemma of the head; empty for a noun phrase or a bare direction."""
    tag: Tag | None
    """Inflection of the head; None for a noun phrase or a bare direction."""


class Plan(NamedTuple):
    """How a caption is put together."""

    slots: tuple[Slot, ...]
    """Events in text order."""
    connective: str
    """Name of the construction, e.g. ``then``, ``before``, ``after (fronted)``."""


class Unparsed(Exception):
    """The caption is not one the grammar covers; carries a reason code and a reason."""

    def __init__(self, code: str, reason: str) -> None:
        """Keep code and reason."""
        super().__init__(reason)
        self.code = code
        self.reason = reason


def is_adverb(word: str) -> bool:
    """Whether a word may stand before the verb inside an event."""
    return (word.endswith("ly") and word != "fly") or word in _SLOT_ADVERBS


def head_at(tokens: list[Token], i: int, end: int) -> int | None:
    """Return the token of the verb that begins an event at token i, or None."""
    j = i
    while j < end and j < i + 3 and is_adverb(tokens[j].low):
        j += 1
    if j < end and verb_readings(tokens, j):
        return j
    return None


def verb_readings(tokens: list[Token], j: int) -> tuple[Reading, ...]:
    """Readings of token j as a verb, by form only; be and have are verbs as well."""
    if not tokens[j].word:
        return ()
    return readings(tokens[j].low)


def finite_tags(word: str) -> set[Tag]:
    """Tags of a word that can be a finite verb."""
    return {r.tag for r in readings(word) if r.tag in {"VBZ", "VBD", "VB"}}


def pick_tag(word: str, allowed: tuple[Tag, ...]) -> Reading | None:
    """Return the reading of a word with the first allowed tag it has, or None."""
    for tag in allowed:
        for reading in readings(word):
            if reading.tag == tag:
                return reading
    return None


def subject_end(tokens: list[Token], i: int) -> int | None:
    """Return the token after a subject noun phrase that begins at token i, or None.

    A subject is a pronoun or at most four words ending in a noun for a person.
    """
    people = words("verb_use", "subjects") - {"who", "that"}
    determiners = words("verb_use", "determiners")
    if i < len(tokens) and tokens[i].low in listed("pronouns"):
        return i + 1
    for j in range(i, min(i + 5, len(tokens))):
        token = tokens[j]
        if not token.word and token.low != "-":
            return None
        if token.low in people:
            follows = tokens[j + 1].low if j + 1 < len(tokens) else ""
            if follows in people:
                continue
            return j + 1
        if token.low in determiners and j > i:
            return None
    return None


def same_subject(tokens: list[Token], first: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether a later subject surely means the first: a pronoun, or the same noun."""
    noun = tokens[other[1] - 1].low
    if noun in listed("pronouns"):
        return True
    if tokens[first[1] - 1].low in listed("pronouns"):
        return False
    opening = tokens[other[0]].low
    return noun == tokens[first[1] - 1].low and opening in {"the", "this", "that", noun}


def check_head(tokens: list[Token], slot: Slot) -> None:
    """Refuse a head that names no event, and "starts in a squat", which tells where one begins.

    Raises:
        Unparsed: It is refused.
    """
    said = tokens[slot.head].low if slot.lemma else ""
    if slot.lemma in {"appear", "seem", "have"}:
        raise Unparsed("unparsed", f"'{said}' does not name an event")
    if slot.lemma in {"start", "begin"}:
        follows = tokens[slot.head + 1].low if slot.head + 1 < slot.end else ""
        doing = any(r.tag == "VBG" and r.lemma not in listed("standing") for r in readings(follows))
        head = head_at(tokens, slot.head + 1, slot.end)
        adverbial = head is not None and pick_tag(tokens[head].low, ("VBG",)) is not None
        if not (doing or follows == "to" or (adverbial and is_adverb(follows))):
            raise Unparsed("unparsed", f"'{said}' tells where it begins")


def check_nouns(tokens: list[Token], slot: Slot) -> None:
    """Refuse a noun for an event that may hold more than itself or less than it needs.

    Raises:
        Unparsed: It is refused.
    """
    told = tokens[slot.start : slot.end]
    whole = all(t.word and t.low not in {"and", "or", "but"} for t in told)
    if slot.lemma or not whole or len(told) < 2 or told[-1].low in {"left", "right"}:
        raise Unparsed("unparsed", "the events are told by more than one noun each")


def coordinated_heads(tokens: list[Token], slot: Slot) -> list[int]:
    """Tokens of the verbs coordinated with the head inside an event, the head first."""
    heads = [slot.head]
    for j in range(slot.head + 1, slot.end):
        if tokens[j - 1].low == "and" or (j > 1 and tokens[j - 2].low == "and"):
            between_ok = tokens[j - 1].low == "and" or is_adverb(tokens[j - 1].low)
            if between_ok and any(r.tag == slot.tag for r in readings(tokens[j].low)):
                heads.append(j)
    return heads


def event_text(caption: str, tokens: list[Token], slot: Slot, tag: Tag | None) -> str | None:
    """Write an event with its verbs in another inflection.

    Args:
        caption: The caption.
        tokens: Its tokens.
        slot: The event.
        tag: Wanted inflection; None to keep the words as they are.

    Returns:
        The event's words, first letter in lower case unless it is a name or an all-capitals
        word; None where a form is not known.
    """
    start, end = tokens[slot.start].start, tokens[slot.end - 1].end
    text = caption[start:end]
    if tag is not None and tag != slot.tag:
        for j in reversed(coordinated_heads(tokens, slot)):
            reading = next((r for r in readings(tokens[j].low) if r.tag == slot.tag), None)
            form = inflect(reading.lemma, tag) if reading else None
            if form is None:
                return None
            if reading and reading.lemma == "be" and tag == "VB":
                return None
            a, b = tokens[j].start - start, tokens[j].end - start
            written = form.upper() if tokens[j].text.isupper() and len(form) > 1 else form
            text = text[:a] + written + text[b:]
    return text
