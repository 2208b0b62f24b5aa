"""Whether a caption is in English, as far as its small words tell."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from construction.text.tables import table, words

_WORD = re.compile(r"[^\W\d_]+")
_LATIN_END = "\u024f"
_FEWEST_WORDS = 3


@cache
def _english() -> frozenset[str]:
    grammar = ("determiners", "subjects", "adverbs", "be", "have", "followers", "body_parts")
    known = frozenset().union(*(words("verb_use", key) for key in grammar))
    return known | words("languages", "english") | words("lateral", "side_nouns")


@cache
def _others() -> dict[str, frozenset[str]]:
    return {
        name: frozenset(said.split()) - _english()
        for name, said in table("languages")["other"].items()
    }


@lru_cache(maxsize=8)  # asked again for every axis of a caption
def foreign(caption: str) -> str | None:
    """Say in which language a caption seems to be, or return None where it may be English.

    Cautious: a caption is foreign when most of its letters are of another script, or when it has
    two or more small words of another language and more of them than of English.

    Args:
        caption: The caption.

    Returns:
        A reason, or None.

    >>> foreign("una persona levanta la mano izquierda")
    'not English (it seems to be Spanish)'
    >>> foreign("a person raises the left hand") is None
    True
    """
    letters = [char for char in caption if char.isalpha()]
    if sum(char > _LATIN_END for char in letters) * 2 > len(letters):
        return "not English (another script)"
    found = _WORD.findall(caption.lower())
    if len(found) < _FEWEST_WORDS:
        return None
    best, most = "", 1
    for name, known in _others().items():
        count = sum(word in known for word in found)
        if count > most:
            best, most = name, count
    if not best or most <= sum(word in _english() for word in found):
        return None
    return f"not English (it seems to be {best})"
