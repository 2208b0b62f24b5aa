"""Captions as words with their places, so that an edit leaves every other byte alone."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# One pass, no nested repetition: linear in the length of the caption.
_TOKEN = re.compile(r"(?P<word>(?:[^\W_]|[\u0300-\u036f])+)|(?P<mark>[^\s])")


class Token(NamedTuple):
    """A word, a number or one punctuation mark."""

    text: str
    """As written."""
    low: str
    """Lower case."""
    start: int
    """Offset of the first character in the caption."""
    end: int
    """Offset after the last character."""
    word: bool
    """False for punctuation."""


def tokenize(caption: str) -> list[Token]:
    """Split a caption into words and single punctuation marks.

    Args:
        caption: Any text.

    Returns:
        Tokens in order; ``caption[t.start:t.end] == t.text``. Hyphens and apostrophes are
        marks of their own, so ``left-handed`` is three tokens.

    >>> [t.low for t in tokenize("A left-handed man's turn.")]
    ['a', 'left', '-', 'handed', 'man', "'", 's', 'turn', '.']
    """
    return list(_tokens(caption))


# The rules of several axes read one caption after another.
@lru_cache(maxsize=8)
def _tokens(caption: str) -> tuple[Token, ...]:
    return tuple(
        Token(text := m.group(), text.lower(), m.start(), m.end(), m.lastgroup == "word")
        for m in _TOKEN.finditer(caption)
    )


def replace_spans(caption: str, edits: list[tuple[int, int, str]]) -> str:
    """Replace disjoint spans at once.

    Args:
        caption: The text.
        edits: (start, end, new text), disjoint, in any order.

    Returns:
        The text with every span replaced; all else unchanged.
    """
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(edits):
        parts += [caption[at:start], new]
        at = end
    return "".join([*parts, caption[at:]])


def match_case(source: str, target: str) -> str | None:
    """Write ``target`` in the case of ``source``: lower, Capitalised or UPPER.

    Args:
        source: A word as written.
        target: A lower-case word.

    Returns:
        The word, or None where the case of ``source`` follows none of the three patterns.

    >>> match_case("LEFT", "right"), match_case("Left", "right"), match_case("lEfT", "right")
    ('RIGHT', 'Right', None)
    """
    if source == source.lower():
        return target
    if source == source.upper() and len(source) > 1:
        return target.upper()
    if source == source[:1].upper() + source[1:].lower():
        return target[:1].upper() + target[1:]
    return None


def unreadable(caption: str) -> str | None:
    """Say why a caption cannot be edited safely, whatever the axis.

    Args:
        caption: Any text.

    Returns:
        A reason for control, format or private-use characters (they can hide a word from the
        rules) and for captions without a letter; None for a caption that can be read.
    """
    if caption.isascii() and caption.isprintable() and any(map(str.isalpha, caption)):
        return None
    for at, char in enumerate(caption):
        if char.isascii():
            if char < " " and char not in "\t\n\r" or char == "\x7f":
                return f"control character U+{ord(char):04X} at offset {at}"
        elif unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn"}:
            return f"invisible or unassigned character U+{ord(char):04X} at offset {at}"
    if not any(char.isalpha() for char in caption):
        return "no words"
    return None
