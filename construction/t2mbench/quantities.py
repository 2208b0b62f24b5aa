"""Quantities in a sentence: a number, its unit, and what it is in metres, degrees or seconds."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

QuantityKind = Literal["distance", "angle", "speed", "turn_rate", "time"]


class Quantity(NamedTuple):
    """A number with its unit."""

    kind: QuantityKind
    """What is measured."""
    value: float
    """Metres, degrees, metres or degrees per second, or seconds."""
    start: int
    """Offset of its first character."""
    end: int
    """Offset behind its last character."""
    text: str
    """As written."""


_PER = r" ?(?:/|per|a) ?"
_METRE = r"(?:m|met(?:er|re)s?)"
_UNITS: tuple[tuple[str, QuantityKind, float], ...] = (
    (rf"{_METRE}{_PER}(?:s|sec|seconds?)", "speed", 1.0),
    (rf"(?:cm|centimet(?:er|re)s?){_PER}(?:s|sec|seconds?)", "speed", 0.01),
    (rf"(?:km|kilomet(?:er|re)s?){_PER}(?:h|hr|hours?)|km/h|kph", "speed", 1 / 3.6),
    (rf"(?:degrees?|deg){_PER}(?:s|sec|seconds?)", "turn_rate", 1.0),
    (r"centimet(?:er|re)s?|cm", "distance", 0.01),
    (r"millimet(?:er|re)s?|mm", "distance", 0.001),
    (r"met(?:er|re)s?|m", "distance", 1.0),
    (r"inch(?:es)?", "distance", 0.0254),
    (r"feet|ft", "distance", 0.3048),
    (r"degrees?|deg|°", "angle", 1.0),
    (r"seconds?|secs?|s", "time", 1.0),
)
"""Units, the composed ones first."""

_NUMBER = r"(?<![\w.])(\d+(?:\.\d+)?)"
_TURNS = (
    (r"(?:a )?(?:quarter|90-degree)[ -]turn", 90.0),
    (r"(?:a )?half[ -]turn", 180.0),
    (r"(?:a )?three[ -]quarters?(?: of a)? turn", 270.0),
    (r"(?:a |one )?full turn", 360.0),
)
_SMALL = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: value for value, word in enumerate(re.findall(r"\w+", _SMALL))} | {
    word: 10 * value for value, word in enumerate(re.findall(r"\w+", _TENS), start=2)
}
_ONE = "(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + ")"
_BELOW_HUNDRED = rf"{_ONE}(?:[ -]{_ONE})?"
_HUNDREDS = rf" hundred(?: and)?(?: {_BELOW_HUNDRED})?"
_POINT = rf" point {_ONE}(?: {_ONE})*"
_SPELT = re.compile(rf"\b(?:{_BELOW_HUNDRED}|a(?= hundred))(?:{_HUNDREDS})?(?:{_POINT})?\b")
_OWN_FEET = re.compile(r"(?:on|with|both|the|off) $")
"""Before "2 feet" these words mean the feet of the body."""


def plain_numbers(low: str) -> str:
    """Write spelt numbers as digits.

    Args:
        low: Lower-case text.

    Returns:
        The text with digits; turns by name ("a quarter turn") as degrees.

    >>> plain_numbers("turns one hundred and thirty-five degrees, two point five m")
    'turns 135 degrees, 2.5 m'
    """
    text = low
    for words, degrees in _TURNS:
        text = re.sub(rf"\b{words}\b", f"turn {degrees:g} degrees", text)
    text = re.sub(r"\bhalf (?:a|of a) (met(?:er|re))\b", r"0.5 \1s", text)
    text = re.sub(r"\b(?:a|one) (met(?:er|re))\b", r"1 \1", text)
    return _SPELT.sub(lambda match: _spelt(match.group()), text)


def find_quantities(low: str) -> list[Quantity]:
    """Return the quantities of a text in order.

    Args:
        low: Lower-case text with numbers in digits.

    Returns:
        The quantities; a number without a known unit is none.

    >>> [(q.kind, q.value) for q in find_quantities("at 2 m/s for 3 seconds, 15cm and 90° left")]
    [('speed', 2.0), ('time', 3.0), ('distance', 0.15), ('angle', 90.0)]
    """
    units = "|".join(f"(?P<u{place}>{words})" for place, (words, _, _) in enumerate(_UNITS))
    found = []
    for match in re.finditer(rf"{_NUMBER}[ -]?(?:{units})(?![a-z])", low):
        place = next(n for n in range(len(_UNITS)) if match.group(f"u{n}") is not None)
        words, kind, scale = _UNITS[place]
        if words.startswith("feet") and _OWN_FEET.search(low[: match.start()]):
            continue
        value = round(float(match.group(1)) * scale, 9)
        found.append(Quantity(kind, value, match.start(), match.end(), match.group()))
    return found


def _spelt(words: str) -> str:
    whole, _, decimals = words.partition(" point ")
    total = 0
    for part in re.split(r"[ -]", whole):
        if part == "hundred":
            total = max(total, 1) * 100
        elif part == "a":
            total = 1
        elif part != "and":
            total += _WORDS[part]
    if not decimals:
        return str(total)
    return f"{total}." + "".join(str(_WORDS[part]) for part in decimals.split())
