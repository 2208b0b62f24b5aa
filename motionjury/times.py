"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

from corpus.problems import InputError


def parse_time(text: str, option: str) -> float:
    """Return UTC seconds of a date or time in ISO 8601; without an offset it is UTC.

    A date alone means its end.

    Args:
        text: E.g. ``2027-03-01``, ``2027-03-01T18:00`` or ``2027-03-01T18:00+01:00``.
        option: Named in the message.

    Raises:
        InputError: It is no time.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{option}: expected e.g. 2027-03-01T18:00, got {text!r}") from error
    if len(text) <= 10:
        found = found.replace(hour=23, minute=59, second=59)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
