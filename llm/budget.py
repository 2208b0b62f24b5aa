"""What a run will cost, before it starts, and a limit that is not crossed while it runs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, Field

from benchmarks.items import Frozen
from corpus.problems import InputError
from llm.cache import ResponseCache
from llm.outcome import Usage
from llm.requests import Question, Request
from llm.settings import LlmSettings

_MESSAGE_TOKENS = 16


class Budget(Frozen):
    """The most one run may use; null is no limit."""

    usd: float | None = Field(default=None, ge=0)
    """US dollars; only with known prices."""
    tokens: int | None = Field(default=None, ge=0)
    """Prompt and reply tokens together."""
    calls: int | None = Field(default=None, ge=0)
    """HTTP requests, repeated attempts and repair turns included."""

    def less(self, *, calls: int, tokens: int, usd: float) -> Budget:
        """Return what is left after so much was used; never below nothing."""
        return Budget(
            calls=None if self.calls is None else max(self.calls - calls, 0),
            tokens=None if self.tokens is None else max(self.tokens - tokens, 0),
            usd=None if self.usd is None else max(self.usd - usd, 0.0),
        )


class Estimate(Frozen):
    """What a run would ask, before anything is sent."""

    requests: int
    """Questions given."""
    cached: int
    """Questions answered already."""
    doubled: int
    """Questions that another one of the run answers too."""
    calls: int
    """Calls to make when every first attempt brings a valid reply."""
    pictures: int
    """Pictures and videos to send."""
    prompt_tokens: int
    """Prompt tokens by rule of thumb: a quarter of the ASCII characters, each other one whole."""
    most_completion_tokens: int
    """Reply tokens if every reply were as long as allowed."""
    most_usd: float | None
    """Cost of these tokens in US dollars; null where a price is unknown."""

    def line(self) -> str:
        """Return the estimate as one line; an unknown price is said, not shown as nothing."""
        cost = (
            "cost unknown (no price set)"
            if self.most_usd is None
            else (f"at most about {self.most_usd:.2f} USD")
        )
        return (
            f"{self.calls} calls ({self.requests} questions, {self.cached} answered before, "
            f"{self.doubled} alike), about {self.prompt_tokens} prompt tokens, {self.pictures} "
            f"pictures, at most {self.most_completion_tokens} reply tokens, {cost}"
        )


def cost(usage: Usage, settings: LlmSettings) -> float | None:
    """Return what tokens cost in US dollars; None where a price is unknown.

    Prompt tokens from the endpoint's own cache count in full: discounts differ.
    """
    if settings.usd_per_million_input is None or settings.usd_per_million_output is None:
        return None
    spent = usage.prompt * settings.usd_per_million_input
    return (spent + usage.completion * settings.usd_per_million_output) / 1e6


def prompt_tokens(question: Question, settings: LlmSettings, *, bound: bool = False) -> int:
    """Reckon the prompt tokens of a question without its tokenizer.

    Args:
        question: The question.
        settings: Gives the tokens of a picture.
        bound: Reckon one token for each UTF-8 byte, which no byte-level tokenizer exceeds, instead
            of the rule of thumb.

    Returns:
        Tokens.
    """
    texts = [question.request.prompt.system, question.text]
    texts += [part.label for part in question.request.media]
    words = sum(_text_tokens(text, bound=bound) for text in texts if text)
    pictures = settings.tokens_per_image * len(question.request.media)
    return words + pictures + _MESSAGE_TOKENS


def estimate(
    requests: Sequence[Request],
    schema: type[BaseModel],
    settings: LlmSettings,
    cache: ResponseCache | None = None,
) -> Estimate:
    """Say what a run would cost; nothing is sent.

    Args:
        requests: The questions.
        schema: Record of the answers.
        settings: Endpoint, model, limits, prices.
        cache: Answers of earlier runs.

    Returns:
        The estimate. Repeated attempts and repair turns are not foreseen.

    Raises:
        InputError: A question the endpoint cannot take.
    """
    cached = tokens = pictures = 0
    seen: set[str] = set()
    for request in requests:
        question = Question(request, settings, schema)
        if cache is not None and question.key in cache:
            cached += 1
        elif question.key not in seen:
            seen.add(question.key)
            tokens += prompt_tokens(question, settings)
            pictures += len(request.media)
    most = Usage(prompt=tokens, completion=len(seen) * settings.max_tokens)
    return Estimate(
        requests=len(requests),
        cached=cached,
        doubled=len(requests) - cached - len(seen),
        calls=len(seen),
        pictures=pictures,
        prompt_tokens=most.prompt,
        most_completion_tokens=most.completion,
        most_usd=cost(most, settings),
    )


class Account:
    """Keeps a run within its budget: what a call may need is set aside before it is sent."""

    def __init__(self, budget: Budget, settings: LlmSettings) -> None:
        """Open the account of one run.

        Raises:
            InputError: A limit in dollars with an unknown price.
        """
        if budget.usd is not None and not settings.priced:
            raise InputError(
                "a budget in USD needs usd_per_million_input and usd_per_million_output; "
                "set both or limit tokens or calls"
            )
        self._budget = budget
        self._settings = settings
        self._aside = Usage(prompt=0, completion=0)
        self._open = 0
        self._changed = asyncio.Condition()
        self.spent = Usage(prompt=0, completion=0)
        """Tokens used so far; of calls whose tokens the endpoint did not count, those reckoned."""
        self.calls = 0
        """HTTP requests made so far."""
        self.reckoned = 0
        """Calls whose tokens the endpoint did not count."""

    @property
    def usd(self) -> float | None:
        """US dollars spent; None where a price is unknown."""
        return cost(self.spent, self._settings)

    async def take(self, most: Usage) -> str | None:
        """Set aside what a call may need, waiting for open calls where that can make room.

        Args:
            most: Most tokens the call can use.

        Returns:
            None when it may be sent, else which limit forbids it.
        """
        async with self._changed:
            while (forbidden := self._forbidden(most)) and self._open:
                await self._changed.wait()
            if forbidden:
                return forbidden
            self._aside += most
            self._open += 1
            self.calls += 1
            return None

    async def settle(self, most: Usage, used: Usage | None, reckoned: Usage | None = None) -> None:
        """Book what a call used and free the rest of what was set aside.

        Args:
            most: What ``take`` was given.
            used: Tokens as counted; null where they were not.
            reckoned: Booked in their place; null for a call that brought no reply.
        """
        async with self._changed:
            booked = used or reckoned
            if booked is not None:
                self.spent += booked
                self.reckoned += used is None
            self._aside = Usage(
                prompt=self._aside.prompt - most.prompt,
                completion=self._aside.completion - most.completion,
            )
            self._open -= 1
            self._changed.notify_all()

    def _forbidden(self, most: Usage) -> str | None:
        ahead = self.spent + self._aside + most
        limits = self._budget
        if limits.calls is not None and self.calls + 1 > limits.calls:
            return f"the budget of {limits.calls} calls is used up"
        if limits.tokens is not None and ahead.prompt + ahead.completion > limits.tokens:
            return f"the next call could exceed the budget of {limits.tokens} tokens"
        usd = cost(ahead, self._settings)
        if limits.usd is not None and usd is not None and usd > limits.usd:
            return f"the next call could exceed the budget of {limits.usd:g} USD"
        return None


class Metered:
    """What asks an endpoint on its own account: what it used, and what it may still use."""

    def __init__(
        self, settings: LlmSettings, budget: Budget | Callable[[], Budget] | None = None
    ) -> None:
        """Begin with nothing used.

        Args:
            settings: Endpoint and prices.
            budget: The most it may use in all; or a function that says what is left, where others
                draw on the same budget.
        """
        self._settings = settings
        self._budget = budget or Budget()
        self.spent = Usage(prompt=0, completion=0)
        """Tokens used so far; of calls whose tokens were not counted, those reckoned."""
        self.calls = 0
        """HTTP requests made so far."""

    @property
    def usd(self) -> float | None:
        """US dollars spent so far; None where a price is unknown."""
        return cost(self.spent, self._settings)

    def left(self) -> Budget:
        """Return what may still be used."""
        if not isinstance(self._budget, Budget):
            return self._budget()
        tokens = self.spent.prompt + self.spent.completion
        return self._budget.less(calls=self.calls, tokens=tokens, usd=self.usd or 0.0)

    def book(self, account: Account) -> None:
        """Add what a run's account used."""
        self.spent += account.spent
        self.calls += account.calls


def _text_tokens(text: str, *, bound: bool) -> int:
    if bound:
        return len(text.encode("utf-8"))
    plain = sum(1 for sign in text if sign.isascii())
    return math.ceil(plain / 4) + len(text) - plain


def call_bound(question: Question, settings: LlmSettings, extra: Sequence[Any] = ()) -> Usage:
    """Return the most tokens one call can use.

    Args:
        question: The question.
        settings: Gives the longest reply.
        extra: Texts of the repair turn, sent besides.

    Returns:
        Prompt tokens by the byte bound, reply tokens by ``max_tokens``.
    """
    more = sum(_text_tokens(str(text), bound=True) for text in extra)
    prompt = prompt_tokens(question, settings, bound=True) + more
    return Usage(prompt=prompt, completion=settings.max_tokens)
