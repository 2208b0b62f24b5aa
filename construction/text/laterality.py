"""Reading "left" and "right" in context: a side, leaving, remaining, emphasis, correctness."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from construction.text.side_reading import (
    DIRECTION_WORDS,
    Context,
    CueReading,
    read_left,
    read_right,
)
from construction.text.tables import words
from construction.text.tokens import Token

Stem = Literal["left", "right", "clockwise", "counterclockwise", "cw", "ccw"]


@dataclass(frozen=True, slots=True)
class Cue:
    """A word that may name a side or a sense of rotation."""

    stem: Stem
    """What it names, if it does."""
    text: str
    """The part of the caption an exchange replaces, as written."""
    start: int
    """Offset of that part in the caption."""
    end: int
    """Offset after it."""
    index: int
    """Its first token."""
    tokens: int
    """Number of tokens it covers."""
    reading: CueReading
    """How it is read here."""
    why: str
    """Why it is read so, in words."""
    split_wise: bool = False
    """Rotation written "clock wise"."""


def _w(key: str) -> frozenset[str]:
    return words("lateral", key)


def _rotation(tokens: list[Token], i: int) -> tuple[Stem, int, bool] | None:
    """Recognise a rotation word from token i on: (stem, tokens covered, "clock wise")."""

    def low(j: int) -> str:
        return tokens[j].low if j < len(tokens) else ""

    word = low(i)
    prefixes = ("counter", "anti", "contra")
    if word in {"cw", "ccw"}:
        return ("cw" if word == "cw" else "ccw"), 1, False
    if word == "clockwise":
        return "clockwise", 1, False
    if word == "clock" and low(i + 1) == "wise":
        return "clockwise", 2, True
    if word == "clock" and (low(i + 1), low(i + 2)) == ("-", "wise"):
        return "clockwise", 3, True
    if word in {p + "clockwise" for p in prefixes}:
        return "counterclockwise", 1, False
    if word in {p + "clock" for p in prefixes} and low(i + 1) == "wise":
        return "counterclockwise", 2, True
    if word in prefixes:
        j = i + 1 + (low(i + 1) == "-")
        if low(j) == "clockwise":
            return "counterclockwise", j + 1 - i, False
        if low(j) == "clock" and low(j + 1) == "wise":
            return "counterclockwise", j + 2 - i, True
    return None


def _abbreviation(tokens: list[Token], i: int) -> bool:
    """Whether token i is L or R for a side, not a letter shape ("an L shape") or a clitic."""
    token = tokens[i]
    before = tokens[i - 1].low if i else ""
    after = tokens[i + 1].low if i + 1 < len(tokens) else ""
    beyond = tokens[i + 2].low if i + 2 < len(tokens) else ""
    if token.low not in {"l", "r"} or before in {"'", "\u2019"}:
        return False
    shape = {"shape", "shaped", "sit", "shapes", "letter"}
    if after in shape or (after == "-" and beyond in shape) or before in {"letter", "shape"}:
        return False
    return token.text.isupper() or after in _w("side_nouns") | {"/", "."} or before == "/"


def lateral_cues(tokens: list[Token]) -> list[Cue]:
    """Find and read every word of a caption that may name a side.

    Args:
        tokens: The caption's tokens.

    Returns:
        Cues in order, with the reading of each in its context.
    """
    caption_cues: list[Cue] = []
    directions = Counter(t.low for t in tokens if t.low in DIRECTION_WORDS)
    i = 0
    while i < len(tokens):
        token = tokens[i]
        rotation = _rotation(tokens, i)
        if rotation:
            stem, count, split = rotation
            last = tokens[i + count - 1]
            written = _join(tokens, i, count)
            caption_cues.append(
                Cue(stem, written, token.start, last.end, i, count, "lateral", "rotation", split)
            )
            i += count
            continue
        cue = _side_cue(tokens, i, directions)
        if cue:
            caption_cues.append(cue)
        i += 1
    return caption_cues


def _join(tokens: list[Token], i: int, count: int) -> str:
    text = tokens[i].text
    for j in range(i + 1, i + count):
        text += (" " if tokens[j].start > tokens[j - 1].end else "") + tokens[j].text
    return text


def _side_cue(tokens: list[Token], i: int, directions: Counter[str]) -> Cue | None:
    token = tokens[i]
    low = token.low

    def cue(stem: Stem, length: int, reading: CueReading, why: str) -> Cue:
        return Cue(stem, token.text[:length], token.start, token.start + length, i, 1, reading, why)

    folded = unicodedata.normalize("NFKC", low)
    if low in _w("uncovered") or (folded != low and ("left" in folded or "right" in folded)):
        return cue("left", len(low), "uncovered", "a side written in a way the rules do not cover")
    if _abbreviation(tokens, i):
        return cue("left", len(low), "uncovered", "an abbreviated side")
    if low.startswith("left"):
        stem: Stem = "left"
    elif low.startswith("right"):
        stem = "right"
    else:
        return None
    size = len(stem)
    rest = low[size:]
    context = Context(tokens, i, directions)
    if not rest:
        reading, why = read_left(context) if stem == "left" else read_right(context)
        return cue(stem, size, reading, why)
    if low in _w("not_lateral"):
        return None
    if low == "rights":
        if context.at(1) in _w("reflexives"):
            return cue(stem, size, "other", "the verb right")
        if context.at(-1) in {"human", "equal", "civil", "to", "legal", "animal"}:
            return cue(stem, size, "other", "what is due")
        counted = context.at(-1) in {"two", "three", "four", "five"}
        if not counted and not directions["left"] + directions["lefts"]:
            return cue(stem, size, "ambiguous", "what is due, or punches with the right hand")
    if rest in _w("suffixes"):
        return cue(stem, size, "lateral", "a side")
    return cue(stem, size, "uncovered", "a compound the rules do not cover")
