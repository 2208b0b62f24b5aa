"""One question until it is settled: attempts with waits between, checks, one repair turn."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple

from llm.budget import Account, call_bound
from llm.client import Endpoint, RawReply
from llm.outcome import Reply, T, Usage
from llm.requests import Question
from llm.retry import CallError, delay
from llm.settings import LlmSettings
from llm.structured import Checked, check_reply, repair_text

_MOST_REPAIR_CHARS = 4_000


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


class Settled(NamedTuple, Generic[T]):
    """What came of a call."""

    reply: Reply[T]
    """The reply; its id is left empty."""
    failed: bool
    """Whether the endpoint itself failed, as opposed to the answer or the question."""


class Call(Generic[T]):
    """One question on its way."""

    def __init__(
        self,
        question: Question,
        schema: type[T],
        settings: LlmSettings,
        endpoint: Endpoint,
        account: Account,
        gate: Gate,
        on_retry: Callable[[str], None],
    ) -> None:
        """Keep what is needed; ``on_retry`` is told of every wait in one line."""
        self._question = question
        self._schema = schema
        self._settings = settings
        self._endpoint = endpoint
        self._account = account
        self._gate = gate
        self._on_retry = on_retry
        self._attempts = 0
        self._used: list[Usage | None] = []

    async def settle(self) -> Settled[T]:
        """Ask, check, repair once at most.

        Returns:
            The reply with its record.

        Raises:
            InputError: Media that cannot be read any more.
        """
        started = time.perf_counter()
        body = self._question.body()
        try:
            raw = await self._turn(body)
        except _UnsentError as error:
            return Settled(Reply("", "error", None, f"not sent: {error}"), failed=False)
        except CallError as error:
            return Settled(Reply("", "error", None, error.reason), failed=True)
        checked = self._check(raw)
        repaired = False
        if checked.outcome == "invalid":
            raw, checked, repaired = await self._repair(body, raw, checked)
        exchange = self._question.record(
            raw,
            self._usage(),
            attempts=self._attempts,
            stripped=checked.stripped,
            repaired=repaired,
            seconds=time.perf_counter() - started,
        )
        outcome = "repaired" if repaired and checked.outcome == "ok" else checked.outcome
        reply = Reply("", outcome, checked.value, checked.reason, exchange)
        return Settled(reply, failed=False)

    def _check(self, raw: RawReply) -> Checked[T]:
        return check_reply(self._schema, raw.text, raw.finish_reason, raw.refusal)

    async def _repair(
        self, body: dict[str, Any], raw: RawReply, checked: Checked[T]
    ) -> tuple[RawReply, Checked[T], bool]:
        """Ask once more, with the invalid reply and its error; keep the first when that fails."""
        said = (raw.text or "")[:_MOST_REPAIR_CHARS]
        asked = repair_text(checked.reason)
        turn = [{"role": "assistant", "content": said}, {"role": "user", "content": asked}]
        try:
            second = await self._turn({**body, "messages": [*body["messages"], *turn]}, turn)
        except (_UnsentError, CallError) as error:
            reason = f"{checked.reason}; the repair turn failed: {error}"
            return raw, Checked("invalid", None, reason, checked.stripped), False
        return second, self._check(second), True

    async def _turn(self, body: dict[str, Any], extra: Sequence[dict[str, str]] = ()) -> RawReply:
        texts = [message["content"] for message in extra]
        most = call_bound(self._question, self._settings, texts)
        attempt = 0
        while True:
            await self._gate.wait()
            if self._gate.closed:
                raise _UnsentError(self._gate.why)
            if forbidden := await self._account.take(most):
                self._gate.close(forbidden)
                raise _UnsentError(forbidden)
            attempt += 1
            self._attempts += 1
            try:
                raw = await self._endpoint.attempt(body)
            except CallError as error:
                await self._account.settle(most, None, most if error.billed else None)
                await self._after(error, attempt)
            else:
                await self._account.settle(most, raw.usage, most)
                self._used.append(raw.usage)
                return raw

    async def _after(self, error: CallError, attempt: int) -> None:
        """Wait before the next attempt, or raise when there is none."""
        if error.kind == "fatal":
            self._gate.close(error.reason)
        if error.kind != "transient" or attempt >= self._settings.attempts:
            raise error
        cap = self._settings.retry_after_cap_s
        wait = delay(attempt, error.retry_after_s, cap, random.random())
        asked = ""
        if error.retry_after_s is not None:
            self._gate.quiet(wait)
            asked = f", as the server asked ({error.retry_after_s:g} s)"
            if error.retry_after_s > cap:
                asked = f" though the server asked for {error.retry_after_s:g} s (cap {cap:g} s)"
        self._on_retry(
            f"attempt {attempt} of {self._settings.attempts} failed: {error.reason}; "
            f"next in {wait:.1f} s{asked}"
        )
        await self._gate.wait(wait)

    def _usage(self) -> Usage | None:
        """Add up the turns; None when the endpoint left one uncounted."""
        counted = [usage for usage in self._used if usage is not None]
        if not counted or len(counted) < len(self._used):
            return None
        return sum(counted[1:], start=counted[0])


class _UnsentError(Exception):
    """The run stopped, or the budget forbids the call."""
