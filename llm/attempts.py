"""One thing sent until it is settled: attempts with waits between, within a run's limits."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from llm.budget import Account
from llm.outcome import Usage
from llm.retry import CallError, delay
from llm.settings import LlmSettings


class Counted(Protocol):
    """What one successful attempt brings."""

    @property
    def usage(self) -> Usage | None:
        """Tokens; null where the server did not count them."""


R = TypeVar("R", bound=Counted)


class UnsentError(Exception):
    """The run stopped, or the budget forbids the call."""


class Gate:
    """What the calls of one run share: whether to go on, and until when the server wants quiet."""

    def __init__(self, on_stop: Callable[[str], None]) -> None:
        """Open the gate; ``on_stop`` is told once why it closes."""
        self._closed = asyncio.Event()
        self._quiet_until = 0.0
        self._on_stop = on_stop
        self.why = ""
        """Why the run stopped; empty while it goes on."""

    @property
    def closed(self) -> bool:
        """Whether nothing more may be sent."""
        return self._closed.is_set()

    def close(self, why: str) -> None:
        """Send nothing more; what is under way may still come in."""
        if not self.closed:
            self.why = why
            self._closed.set()
            self._on_stop(why)

    def quiet(self, seconds: float) -> None:
        """Keep every call of the run from starting for so long."""
        self._quiet_until = max(self._quiet_until, time.monotonic() + seconds)

    async def wait(self, seconds: float = 0.0) -> None:
        """Wait so long and until quiet is over, or until the gate closes."""
        until = time.monotonic() + seconds
        while (left := max(until, self._quiet_until) - time.monotonic()) > 0 and not self.closed:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), left)


async def persist(
    send: Callable[[], Awaitable[R]],
    most: Usage,
    settings: LlmSettings,
    account: Account,
    gate: Gate,
    on_retry: Callable[[str], None],
) -> R:
    """Send, and send again after transient failures, until it worked or may not go on.

    Args:
        send: Makes one attempt; raises ``CallError`` when it brings nothing.
        most: Most tokens one attempt can use, set aside before it.
        settings: Attempts and longest wait.
        account: The run's budget.
        gate: Whether the run goes on; a fatal failure closes it.
        on_retry: Told of every wait in one line.

    Returns:
        What the successful attempt brought.

    Raises:
        UnsentError: The run stopped or the budget is used up before it worked.
        CallError: The last failure, when no further attempt is due.
    """
    attempt = 0
    while True:
        await gate.wait()
        if gate.closed:
            raise UnsentError(gate.why)
        if forbidden := await account.take(most):
            gate.close(forbidden)
            raise UnsentError(forbidden)
        attempt += 1
        try:
            came = await send()
        except CallError as error:
            await account.settle(most, None, most if error.billed else None)
            await _after(error, attempt, settings, gate, on_retry)
        else:
            await account.settle(most, came.usage, most)
            return came


async def _after(
    error: CallError,
    attempt: int,
    settings: LlmSettings,
    gate: Gate,
    on_retry: Callable[[str], None],
) -> None:
    """Wait before the next attempt, or raise when there is none."""
    if error.kind == "fatal":
        gate.close(error.reason)
    if error.kind != "transient" or attempt >= settings.attempts:
        raise error
    cap = settings.retry_after_cap_s
    wait = delay(attempt, error.retry_after_s, cap, random.random())
    asked = ""
    if error.retry_after_s is not None:
        gate.quiet(wait)
        asked = f", as the server asked ({error.retry_after_s:g} s)"
        if error.retry_after_s > cap:
            asked = f" though the server asked for {error.retry_after_s:g} s (cap {cap:g} s)"
    on_retry(
        f"attempt {attempt} of {settings.attempts} failed: {error.reason}; "
        f"next in {wait:.1f} s{asked}"
    )
    await gate.wait(wait)
