"""One question until it is settled: attempts with waits between, checks, one repair turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple

from llm.attempts import Gate, UnsentError, persist
from llm.bodies import RawReply
from llm.budget import Account, call_bound
from llm.client import Endpoint
from llm.outcome import Reply, T, Usage
from llm.requests import Question
from llm.retry import CallError
from llm.settings import LlmSettings
from llm.structured import Checked, check_reply, repair_text

_MOST_REPAIR_CHARS = 4_000


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
        except UnsentError as error:
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
        except (UnsentError, CallError) as error:
            reason = f"{checked.reason}; the repair turn failed: {error}"
            return raw, Checked("invalid", None, reason, checked.stripped), False
        return second, self._check(second), True

    async def _turn(self, body: dict[str, Any], extra: Sequence[dict[str, str]] = ()) -> RawReply:
        texts = [message["content"] for message in extra]
        most = call_bound(self._question, self._settings, texts)

        async def send() -> RawReply:
            self._attempts += 1
            return await self._endpoint.attempt(body)

        raw = await persist(send, most, self._settings, self._account, self._gate, self._on_retry)
        self._used.append(raw.usage)
        return raw

    def _usage(self) -> Usage | None:
        """Add up the turns; None when the endpoint left one uncounted."""
        counted = [usage for usage in self._used if usage is not None]
        if not counted or len(counted) < len(self._used):
            return None
        return sum(counted[1:], start=counted[0])
