"""When a failed attempt is tried again, and how long after."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Literal

FailureKind = Literal["transient", "rejected", "fatal"]
"""``transient`` is tried again, ``rejected`` ends this call, ``fatal`` ends the whole run."""

_FATAL_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_FATAL_STATUS: dict[int, str] = {
    401: "the key was refused",
    402: "the account has no credit left",
    403: "the key may not use this",
    404: "no such model or address",
}
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
_FIRST_DELAY_S = 0.5
_MOST_DELAY_S = 8.0


class CallError(Exception):
    """One attempt that brought no reply."""

    def __init__(
        self,
        kind: FailureKind,
        reason: str,
        retry_after_s: float | None = None,
        *,
        billed: bool = False,
    ) -> None:
        """Keep what happened.

        Args:
            kind: What follows from it.
            reason: One line without secrets.
            retry_after_s: How long the server asks to wait, seconds.
            billed: Whether the endpoint may have done, and charged, the work all the same.
        """
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.retry_after_s = retry_after_s
        self.billed = billed


def status_error(
    status: int, code: str | None, message: str, headers: Mapping[str, str]
) -> CallError:
    """Judge an HTTP status other than success.

    Args:
        status: HTTP status.
        code: The error's code (or type) in the body, where there is one.
        message: The server's words, without secrets.
        headers: Reply headers, names in any case.

    Returns:
        The failure. An exhausted quota is fatal though it comes as 429.
    """
    words = f"HTTP {status}{f' ({code})' if code else ''}: {message}"
    if code in _FATAL_CODES:
        return CallError("fatal", f"the quota is used up: {words}")
    if status in _FATAL_STATUS:
        return CallError("fatal", f"{_FATAL_STATUS[status]}: {words}")
    if status in _TRANSIENT_STATUS or status >= 500:
        return CallError("transient", words, retry_after(headers))
    return CallError("rejected", words)


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read how long a server asks to wait.

    Args:
        headers: Reply headers, names in any case.
        now: Seconds since 1970 UTC; the clock's by default.

    Returns:
        Seconds, 0 or more; None where the header is absent or cannot be read.

    >>> retry_after({"Retry-After": "2"})
    2.0
    >>> retry_after({"retry-after": "soon"}) is None
    True
    """
    lower = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(lower[name]) * unit
        except (KeyError, ValueError):
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        when = parsedate_to_datetime(lower["retry-after"]).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return max(0.0, when - (time.time() if now is None else now))


def delay(attempt: int, asked_s: float | None, cap_s: float, chance: float) -> float:
    """Return how long to wait before the next attempt.

    Args:
        attempt: Attempts made so far, from 1.
        asked_s: What the server asked for, seconds.
        cap_s: Longest that is obeyed, seconds.
        chance: A number in [0, 1) that spreads the waits of many calls.

    Returns:
        Seconds: the server's wish up to the cap plus at most a quarter second; else 0.5 s doubled
        at each attempt up to 8 s, less at most a quarter.

    >>> delay(1, None, 60, 0.0), delay(9, None, 60, 0.0), delay(1, 90, 60, 0.0)
    (0.5, 8.0, 60.0)
    """
    if asked_s is not None:
        return min(asked_s, cap_s) + 0.25 * chance
    grown = min(_FIRST_DELAY_S * 2.0 ** min(attempt - 1, 10), _MOST_DELAY_S)
    return grown * (1 - 0.25 * chance)
