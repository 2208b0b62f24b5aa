"""The stages of a draft that ask a language model: which model, what came of it, what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from benchmarks.items import Frozen
from construction.batches import Batches
from construction.prompt_files import PromptFiles
from llm.ask import Event, LanguageModel
from llm.budget import Budget, Estimate, cost
from llm.outcome import Coverage, Reply, T, Usage, coverage
from llm.requests import Question, Request

Tell = Callable[[str, Event], None]
"""Told of each event of a stage: name of the stage, the event."""

NOT_SENT = "not sent: this run only reckons what it would ask"


class StageUse(Frozen):
    """What one stage asked and used."""

    model: str
    """Name of the model asked."""
    host: str
    """Host and port of its endpoint."""
    coverage: Coverage
    """Questions by outcome."""
    from_cache: int
    """Questions answered by an earlier run."""
    calls: int
    """HTTP requests made."""
    usage: Usage
    """Tokens used."""
    usd: float | None
    """US dollars spent; null where a price is unknown."""


class Spender(Protocol):
    """Something beside the stages that draws on the budget of a run."""

    calls: int
    """HTTP requests made so far."""
    spent: Usage
    """Tokens used so far."""

    @property
    def usd(self) -> float | None:
        """US dollars spent so far; None where a price is unknown."""


class Stages:
    """The language models of one run, by stage; a stage without one is not asked."""

    def __init__(
        self,
        models: Mapping[str, LanguageModel] | None = None,
        *,
        budget: Budget | None = None,
        tell: Tell | None = None,
        dry_run: bool = False,
        batches: Batches | None = None,
        prompts: PromptFiles | None = None,
    ) -> None:
        """Keep the models; nothing is sent.

        Args:
            models: Model by name of the stage; none at all runs everything by rule.
            budget: The most the whole run may use, all stages together.
            tell: Told of each event.
            dry_run: Answer from the cache only and reckon what the rest would take.
            batches: Batch files to read answers from, or to write questions to; the run is a dry
                one where questions are written.
            prompts: The prompt files; ours by default.
        """
        self.prompts = prompts or PromptFiles()
        self.batches = batches or Batches()
        self.dry_run = dry_run or self.batches.out is not None
        self.estimates: dict[str, list[Estimate]] = {}
        """What each stage would ask, one estimate for each time it was reached in a dry run."""
        self._models = dict(models or {})
        self._budget = budget or Budget()
        self._tell = tell
        self._replies: dict[str, list[Reply[Any]]] = {}
        self._used: dict[str, tuple[int, Usage]] = {}
        self._others: list[Spender] = []

    def has(self, stage: str) -> bool:
        """Return whether a model is named for a stage."""
        return stage in self._models

    def model(self, stage: str) -> str | None:
        """Return the name of a stage's model; None where there is none."""
        return self._models[stage].settings.model if stage in self._models else None

    def tell(self, stage: str, event: Event) -> None:
        """Tell whoever listens of work that asks no model, e.g. drawing what a stage will see."""
        if self._tell is not None:
            self._tell(stage, event)

    def ask(self, stage: str, requests: Sequence[Request], schema: type[T]) -> list[Reply[T]]:
        """Ask the questions of one stage within what is left of the budget.

        Args:
            stage: Name of the stage; it has a model.
            requests: The questions.
            schema: Record every answer must be.

        Returns:
            One reply for each request, in order. In a dry run those not in the cache are outcome
            ``error``.

        Raises:
            InputError: As ``LanguageModel.ask_many``.
        """
        model = self._models[stage]
        tell = self._tell
        progress = None if tell is None else lambda event: tell(stage, event)
        calls, spent = model.calls, model.spent
        self.batches.take(stage, model, requests, schema)
        if self.dry_run:
            self.batches.give(stage, model, requests, schema)
            self.estimates.setdefault(stage, []).append(model.estimate(requests, schema))
            replies = _from_cache(model, requests, schema)
        else:
            model.budget = self.left()
            replies = model.ask_many(requests, schema, progress)
        used_calls, used = self._used.get(stage, (0, Usage(prompt=0, completion=0)))
        more = Usage(
            prompt=model.spent.prompt - spent.prompt,
            completion=model.spent.completion - spent.completion,
            cached=model.spent.cached - spent.cached,
        )
        self._used[stage] = (used_calls + model.calls - calls, used + more)
        self._replies.setdefault(stage, []).extend(replies)
        return replies

    def recall(
        self, stage: str, requests: Sequence[Request], schema: type[T]
    ) -> list[Reply[T] | None]:
        """Return what earlier runs and the batch files hold on each question; nothing is sent.

        A reply of the files that is no answer, e.g. a refusal, is returned too.

        Args:
            stage: Name of the stage; it has a model.
            requests: The questions.
            schema: Record every answer must be.

        Returns:
            One reply for each request, in order; None where nothing is known of it.

        Raises:
            InputError: As ``Batches.take``.
        """
        model = self._models[stage]
        told = self.batches.replies(model, requests, schema)
        kept = _from_cache(model, requests, schema)
        return [mine if mine.usable else other for mine, other in zip(kept, told, strict=True)]

    def ask_open(
        self,
        stage: str,
        requests: Sequence[Request],
        known: Sequence[Reply[T] | None],
        schema: type[T],
    ) -> list[Reply[T]]:
        """Ask those questions of which nothing is known.

        Args:
            stage: Name of the stage; it has a model.
            requests: The questions.
            known: What ``recall`` returned on them; a reply that is no answer stands.
            schema: Record every answer must be.

        Returns:
            One reply for each request, in order.

        Raises:
            InputError: As ``ask``.
        """
        open_ones = [r for r, reply in zip(requests, known, strict=True) if reply is None]
        self.batches.take(stage, self._models[stage], requests, schema)
        self._replies.setdefault(stage, []).extend(reply for reply in known if reply is not None)
        came = iter(self.ask(stage, open_ones, schema) if open_ones else ())
        self._used.setdefault(stage, (0, Usage(prompt=0, completion=0)))
        return [next(came) if reply is None else reply for reply in known]

    def uses(self) -> dict[str, StageUse]:
        """Return what each stage that was reached asked and used."""
        uses: dict[str, StageUse] = {}
        for stage, replies in self._replies.items():
            settings = self._models[stage].settings
            calls, usage = self._used[stage]
            uses[stage] = StageUse(
                model=settings.model,
                host=settings.host,
                coverage=coverage(replies),
                from_cache=sum(reply.from_cache for reply in replies),
                calls=calls,
                usage=usage,
                usd=cost(usage, settings),
            )
        return uses

    def share(self, other: Spender) -> None:
        """Count what another uses against the budget of the run."""
        self._others.append(other)

    def left(self) -> Budget:
        """Return what the run may still use.

        A stage without a known price spends nothing that could be counted in dollars;
        ``ask_many`` refuses it where there is a limit in dollars.
        """
        calls = sum(count for count, _ in self._used.values())
        tokens = sum(usage.prompt + usage.completion for _, usage in self._used.values())
        spent = (
            cost(usage, self._models[name].settings) for name, (_, usage) in self._used.items()
        )
        usd = sum(value or 0.0 for value in spent)
        for other in self._others:
            calls += other.calls
            tokens += other.spent.prompt + other.spent.completion
            usd += other.usd or 0.0
        return self._budget.less(calls=calls, tokens=tokens, usd=usd)


def _from_cache(
    model: LanguageModel, requests: Sequence[Request], schema: type[T]
) -> list[Reply[T]]:
    """Answer from the cache; the rest are told apart as not sent."""
    kept = model.cache
    known = [
        request
        for request in requests
        if kept is not None and Question(request, model.settings, schema).key in kept
    ]
    found = {reply.id: reply for reply in model.ask_many(known, schema)}
    return [
        found.get(request.id, Reply(request.id, "error", None, NOT_SENT)) for request in requests
    ]
