"""Words of options that must be one of a few."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Word = TypeVar("Word", bound=str)


def one_of(word: str, allowed: Iterable[Word], option: str) -> Word:
    """Return the allowed word that was given.

    Args:
        word: What the user wrote.
        allowed: What may be written.
        option: Name of the option, for the message.

    Raises:
        InputError: Another word.
    """
    from corpus.problems import InputError

    words = list(allowed)
    for known in words:
        if known == word:
            return known
    raise InputError(f"{option}: expected one of {', '.join(words)}, got {word!r}")
