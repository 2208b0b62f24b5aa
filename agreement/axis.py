"""What is rated: an axis with its level of measurement and its declared, ordered domain."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal, get_args

from pydantic import field_validator, model_validator

from benchmarks.items import Frozen

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Levels of measurement, weakest first (Stevens 1946)."""

MISSING_WORDS = frozenset({"", "NA", "N/A", "NaN", "nan", "None", "null", "NULL"})
"""Texts read as a missing rating, unless the domain declares them as labels."""

_PLAIN_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_WHOLE_AS_FLOAT = re.compile(r"(\d{1,15})\.0+", re.ASCII)


def canonical(label: Any) -> str:
    """Write a label one way, so that 1, 1.0, ``"1"`` and ``"1.0"`` are one label.

    Args:
        label: Text, number, boolean, None or NaN.

    Returns:
        The label as text; the empty string for None and NaN. Numbers with leading zeros stay as
        they are: they are names.

    >>> canonical(1.0), canonical(" 1 "), canonical("01"), canonical(True), canonical(2.50)
    ('1', '1', '01', 'True', '2.5')
    """
    if label is None:
        return ""
    text = str(label).strip()
    if isinstance(label, bool) or not _PLAIN_NUMBER.fullmatch(text):
        return "" if text in {"nan", "NaN", "<NA>", "NaT"} and not isinstance(label, str) else text
    number = float(text)
    if not math.isfinite(number) or (_WHOLE.fullmatch(text) and abs(number) >= 2**53):
        return text
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return repr(number)


def identity(name: Any) -> str:
    """Write an id one way: 1, 1.0, ``"1"`` and ``"1.0"`` are one, all other text stays as it is.

    Ids are no numbers: ``52e1`` and twenty digits in a row must not be rounded into one another.

    Args:
        name: Text, number, None or NaN.

    Returns:
        The id as text; the empty string for None and NaN.

    >>> identity(1.0), identity(" 52e1 "), identity("1234567890123456789"), identity(None)
    ('1', '52e1', '1234567890123456789', '')
    """
    if not isinstance(name, str):
        return canonical(name)
    text = name.strip()
    whole = _WHOLE_AS_FLOAT.fullmatch(text)
    return canonical(text) if whole else text


def as_number(label: str) -> float | None:
    """Read a canonical label as a finite number; None where it is none.

    >>> as_number("2.5"), as_number("low"), as_number("1_0")
    (2.5, None, None)
    """
    number = float(label) if _NUMBER.fullmatch(label) else math.inf
    return number if math.isfinite(number) else None


class Axis(Frozen):
    """One thing that is rated. Agreement never guesses its level or the order of its labels."""

    name: str
    """Name of the check, dimension or question."""
    level: Level
    """Level of measurement."""
    domain: tuple[str, ...] = ()
    """Every label that may be given, in order, written as ``canonical`` writes it. May be left
    empty for interval and ratio axes only, whose distances do not depend on unused labels."""

    @field_validator("domain", mode="before")
    @classmethod
    def _canonical_domain(cls, value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError(f"domain must be a sequence of labels, not {value!r}")
        return tuple(canonical(label) for label in value)

    @model_validator(mode="after")
    def _check(self) -> Axis:
        if not self.domain and self.level in ("nominal", "ordinal"):
            raise ValueError(f"axis {self.name!r} is {self.level}: its domain must be declared")
        if len(set(self.domain)) != len(self.domain):
            raise ValueError(f"domain of axis {self.name!r} names a label twice: {self.domain}")
        if self.level in ("interval", "ratio"):
            numbers = [as_number(label) for label in self.domain]
            if any(number is None for number in numbers):
                raise ValueError(
                    f"axis {self.name!r} is {self.level}: its domain must be numbers, "
                    f"not {list(self.domain)}"
                )
            ordered = [number for number in numbers if number is not None]
            if any(low >= high for low, high in pairwise(ordered)):
                raise ValueError(f"domain of axis {self.name!r} must ascend: {list(self.domain)}")
            if self.level == "ratio" and any(number < 0 for number in ordered):
                raise ValueError(f"axis {self.name!r} is ratio: its domain must not be negative")
        return self

    @property
    def values(self) -> tuple[float, ...] | None:
        """The domain as numbers, or None where a label is not a number."""
        numbers = [as_number(label) for label in self.domain]
        found = tuple(number for number in numbers if number is not None)
        return found if len(found) == len(self.domain) else None
