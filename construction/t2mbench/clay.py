"""The Clay Figurine Rule (T2MBench 3.1): could a clay figurine be bent into what a prompt says?

The paper asks for precise kinematic language about head, torso and limbs, without vague adjectives
and without Arabic numerals "except for numerical tasks". Its own whole-body and body-part prompts
hold digits ("2.8 meters", "15 cm"), so the whole Accuracy dimension is taken as numerical here. The
word lists, the bounds in words and the demands of each category are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from benchmarks.t2mbench import CATEGORIES, Length
from construction.text.tables import table, words
from construction.text.tokens import Token, tokenize, unreadable

RULE = "t2mbench.clay/1"
"""Name and version of the rule."""
TABLE = "t2m_clay"
"""Its table of words."""

WORD_BOUNDS: dict[Length, tuple[int, int]] = {"short": (4, 45), "long": (46, 160)}
"""Fewest and most words of a prompt, by length (ours)."""
_STAGES: dict[Length, int] = {"short": 2, "long": 4}
_NEAR = 3


class Fault(NamedTuple):
    """One way in which a prompt breaks the rule."""

    code: str
    """Short stable name."""
    reason: str
    """What was found, in one line."""


class _Text:
    """A prompt, read once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.count = sum(token.word for token in tokenize(text))
        self.low = " ".join(text.lower().split())
        for idiom in _phrases("idioms"):
            self.low = re.sub(rf"\b{idiom}\b ?", "", self.low)
        self.tokens = [token for token in tokenize(self.low) if token.word]
        self.words = [token.low for token in self.tokens]
        self.set = frozenset(self.words)

    def any_of(self, key: str) -> list[str]:
        """Return the words of a list that occur, in order, each once."""
        listed = words(TABLE, key)
        return [word for word in dict.fromkeys(self.words) if word in listed]

    def phrase(self, key: str) -> str | None:
        """Return the first phrase of a list that occurs."""
        return next((one for one in _phrases(key) if re.search(rf"\b{one}\b", self.low)), None)


def check_prompt(text: str, category: str, length: Length | None = None) -> list[Fault]:
    """Check a prompt against the Clay Figurine Rule.

    Args:
        text: The prompt.
        category: Key of ``CATEGORIES``; it decides whether digits and unseen things are allowed,
            and what must be there (a support for balance, both sides for asymmetry …).
        length: ``long`` or ``short`` for the bounds in words; None leaves them out.

    Returns:
        Every fault, in a fixed order; empty for a prompt that passes. A text that cannot be read,
        is empty or is in another language has that one fault only.

    Raises:
        ValueError: An unknown category.

    >>> check_prompt("A person raises the left arm forward.", "dance")
    []
    >>> [fault.code for fault in check_prompt("A person gracefully raises an arm.", "dance")]
    ['vague_word', 'side_missing']
    """
    if category not in CATEGORIES:
        raise ValueError(f"category: expected one of {sorted(CATEGORIES)}, got {category!r}")
    if not text.strip():
        return [Fault("empty", "there is no text")]
    if (why := unreadable(text)) is not None:
        return [Fault("unreadable", why)]
    read = _Text(text)
    if (foreign := _foreign(read)) is not None:
        return [foreign]
    found = [
        *_length(read, length),
        *_digits(read, category),
        *_wording(read, category),
        *_parts(read, category),
    ]
    demand = _DEMANDS.get(category)
    if demand is not None and (lacking := demand(read, length or "short")) is not None:
        found.append(Fault("category", lacking))
    return found


def _foreign(read: _Text) -> Fault | None:
    odd = next((t.text for t in read.tokens if not t.text.isascii() and t.text.isalpha()), None)
    plain = sum(token.text.isascii() for token in read.tokens)
    if plain * 2 < len(read.tokens):
        return Fault("language", f"expected English, got e.g. {odd!r}")
    if len(read.words) >= _NEAR and not read.any_of("english"):
        return Fault("language", "expected English, found none of its small words")
    return None


def _length(read: _Text, length: Length | None) -> list[Fault]:
    if length is None:
        return []
    fewest, most = WORD_BOUNDS[length]
    count = read.count
    if count < fewest:
        return [Fault("too_short", f"{length}: expected {fewest} to {most} words, got {count}")]
    if count > most:
        return [Fault("too_long", f"{length}: expected {fewest} to {most} words, got {count}")]
    return []


def _digits(read: _Text, category: str) -> list[Fault]:
    digit = next((char for char in read.text if char.isnumeric()), None)
    numerical = CATEGORIES[category].dimension == "accuracy"
    if digit is not None and not numerical:
        return [Fault("digit", f"a digit ({digit}) outside the numerical tasks")]
    if digit is None and numerical:
        return [Fault("no_number", "a numerical task needs a number in digits")]
    return []


def _wording(read: _Text, category: str) -> list[Fault]:
    found = []
    vague = [word for word in dict.fromkeys(read.words) if _is_vague(word)]
    if vague:
        found.append(Fault("vague_word", f"says how it looks, not what moves: {_few(vague)}"))
    for key, code, reason in (
        ("mind", "mind", "tells what is felt or meant"),
        ("face", "face_or_fingers", "a figurine has no face, voice or fingers"),
        ("appearance", "appearance", "tells who or in what clothes"),
        ("scenery", "scenery", "needs a place or another person"),
    ):
        if named := read.any_of(key):
            found.append(Fault(code, f"{reason}: {_few(named)}"))
    things = read.any_of("things")
    handled = category == "invisible_object" and read.any_of("unseen")
    if things and not handled:
        found.append(Fault("object", f"needs an object: {_few(things)}"))
    if (simile := read.phrase("similes")) is not None:
        found.append(Fault("simile", f"a comparison: {simile}"))
    return found


def _parts(read: _Text, category: str) -> list[Fault]:
    found = []
    if category != "whole_body" and not _names_part(read) and not _counts(read, category):
        found.append(Fault("no_body_part", "names no part of the body"))
    if not read.any_of("directions") and not _counts(read, category):
        found.append(Fault("no_direction", "names no direction"))
    if category != "whole_body":
        bare = [s for s in _sentences(read.text) if not _names_part(_Text(s))]
        if bare and _names_part(read) and CATEGORIES[category].dimension != "accuracy":
            found.append(Fault("bare_sentence", f"names no part of the body: {bare[0][:60]!r}"))
    if (limb := _without_side(read.tokens)) is not None:
        found.append(Fault("side_missing", f"does not say which {limb}"))
    return found


def _names_part(read: _Text) -> bool:
    """Return whether a part is named as such: not "shoulder height", nor "back" for a way."""
    parts = words(TABLE, "limbs") | words(TABLE, "trunk")
    after = [*read.words[1:], ""]
    measures = words(TABLE, "measures")
    named = any(
        w in parts and after[at] not in measures and after[at : at + 2] != ["s", "length"]
        for at, w in enumerate(read.words)
    )
    return named or re.search(r"\b(?:the|their|upper|lower) back\b", read.low) is not None


def _counts(read: _Text, category: str) -> bool:
    """Return whether a numerical task counts something whole, such as jumps or steps."""
    return category == "numerical" and bool(read.any_of("counted"))


def _without_side(tokens: list[Token]) -> str | None:
    """Return the first limb in the singular that could be either one.

    "The leg" and "the bent leg" are the one of the side named before it in the text.
    """
    sided, sides, measures = (words(TABLE, key) for key in ("sided", "sides", "measures"))
    for at, token in enumerate(tokens):
        if token.low not in sided:
            continue
        after = [one.low for one in tokens[at + 1 : at + 3]]
        if after[:1] and after[0] in measures or after == ["s", "length"]:
            continue
        before = [one.low for one in tokens[:at]]
        told = "the" in before[-2:] and {"left", "right"} & set(before)
        if not told and not sides & set(before[-_NEAR:]):
            return token.low
    return None


def _is_vague(word: str) -> bool:
    if word in words(TABLE, "not_vague"):
        return False
    endings = tuple(words(TABLE, "vague_endings"))
    return word in words(TABLE, "vague") or (len(word) > 5 and word.endswith(endings))


def _multi_stage(read: _Text, length: Length) -> str | None:
    marks = sum(word in words(TABLE, "sequence") for word in read.words)
    stages = marks + read.text.count(",") + read.text.count(";") + len(_sentences(read.text)) - 1
    fewest = _STAGES[length]
    return None if stages >= fewest else f"expected {fewest + 1} stages or more in order"


def _asymmetric(read: _Text, length: Length) -> str | None:
    both = {"left", "right"} <= read.set or {"other", "opposite"} & read.set
    return None if both else "expected different motion of the left and the right side"


def _balance(read: _Text, length: Length) -> str | None:
    return None if read.phrase("support") else "expected a leg, foot or toes to balance on"


def _explosive(read: _Text, length: Length) -> str | None:
    return None if read.any_of("quick") else "expected a jump, thrust or other quick motion"


def _intent(read: _Text, length: Length) -> str | None:
    to = re.findall(r"\b(?:to|and) ([a-z]+)", read.low)
    return None if words(TABLE, "purposes") & set(to) else "expected what the motion is to do"


def _invisible(read: _Text, length: Length) -> str | None:
    return None if read.any_of("unseen") else "expected an invisible object"


def _body_part(read: _Text, length: Length) -> str | None:
    named = [*read.any_of("limbs"), *read.any_of("trunk")]
    repeated = sum(w in words(TABLE, "limbs") | words(TABLE, "trunk") for w in read.words)
    return None if named and repeated >= 2 else "expected two parts of the body"


_DEMANDS: dict[str, Callable[[_Text, Length], str | None]] = {
    "multi_stage": _multi_stage,
    "asymmetric": _asymmetric,
    "balance": _balance,
    "explosive": _explosive,
    "intent": _intent,
    "invisible_object": _invisible,
    "body_part": _body_part,
}


def _sentences(text: str) -> list[str]:
    return [one.strip() for one in re.split(r"[.!?]+(?=\s|$)", text) if one.strip()]


def _few(found: list[str]) -> str:
    return ", ".join(found[:3]) + ("" if len(found) <= 3 else f" and {len(found) - 3} more")


@cache
def _phrases(key: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in str(table(TABLE)[key]).split("|") if one.strip())
