"""Many questions at once: cached ones first, the rest within limits, each answer kept at once."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, Literal, NamedTuple

from pydantic import BaseModel

from corpus.problems import InputError
from llm.attempts import Gate
from llm.budget import Account, Budget, Estimate, estimate
from llm.cache import ResponseCache
from llm.call import Call, Settled
from llm.client import Endpoint
from llm.outcome import OutcomeKind, Reply, T, Usage
from llm.requests import Question, Request
from llm.settings import LlmSettings
from llm.structured import check_reply

EventKind = Literal["cached", "answered", "failed", "retry", "notice", "stopped"]
"""What happened in a run; ``notice`` and ``stopped`` concern the whole of it."""


class Event(NamedTuple):
    """Something worth telling while a run goes on."""

    kind: EventKind
    """What happened; ``done`` counts questions, so a retry leaves it as it was."""
    id: str
    """Id of the request; empty where the whole run is meant."""
    done: int
    """Questions settled so far."""
    total: int
    """Questions of the run."""
    detail: str
    """One line: the outcome's reason, the wait, why the run stops."""


Progress = Callable[[Event], None]


class LanguageModel:
    """One model behind one endpoint, with its cache and its budget."""

    def __init__(
        self,
        settings: LlmSettings,
        cache: ResponseCache | None = None,
        budget: Budget | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Keep the settings; nothing is opened or sent before a question is asked.

        Args:
            settings: Endpoint, model and limits.
            cache: Where answers are kept; None keeps none.
            budget: The most one ``ask_many`` may use; may be set anew between runs.
            environ: Environment that holds the key; the process's own by default.
        """
        self.settings = settings
        self.cache = cache
        self.budget = budget or Budget()
        self.spent = Usage(prompt=0, completion=0)
        """Tokens used by all runs so far, reckoned where the endpoint did not count them."""
        self.calls = 0
        """HTTP requests made by all runs so far."""
        self._environ = environ

    def estimate(self, requests: Sequence[Request], schema: type[BaseModel]) -> Estimate:
        """Say what ``ask_many`` would cost; nothing is sent. See ``llm.budget.estimate``."""
        return estimate(requests, schema, self.settings, self.cache)

    def ask_many(
        self, requests: Sequence[Request], schema: type[T], progress: Progress | None = None
    ) -> list[Reply[T]]:
        """Ask all questions and wait for the answers.

        A valid answer is in the cache before the next event, so a run that is killed goes on where
        it was. Alike questions are asked once. The run stops early, keeping what it has, when the
        endpoint refuses the key, the model or the account, and when as many calls in a row as may
        be under way have failed.

        Args:
            requests: The questions.
            schema: Record every answer must be.
            progress: Told of each event.

        Returns:
            One reply for each request, in order; questions not sent are outcome ``error``.

        Raises:
            InputError: No key, a question the endpoint cannot take, a budget that cannot be kept,
                a cache that cannot be written.
        """
        run = _Run(self, requests, schema, progress)
        if run.waiting:
            account = Account(self.budget, self.settings)
            try:
                run_apart(run.ask(self.settings.api_key(self._environ), account))
            finally:
                self.spent += account.spent
                self.calls += account.calls
        return run.replies()


class _Run(Generic[T]):
    """One ``ask_many``."""

    def __init__(
        self,
        model: LanguageModel,
        requests: Sequence[Request],
        schema: type[T],
        progress: Progress | None,
    ) -> None:
        self._settings = model.settings
        self._cache = model.cache
        self._schema = schema
        self._progress = progress
        self._requests = requests
        self._found: dict[int, Reply[T]] = {}
        self._places: dict[str, list[int]] = defaultdict(list)
        self._failed_in_a_row = 0
        self._useful = 0
        self._useless = 0
        self.waiting: dict[str, Question] = {}
        """Questions the cache does not answer, by key."""
        for place, request in enumerate(requests):
            question = Question(request, self._settings, schema)
            if question.key in self.waiting or not self._from_cache(question.key, place):
                self._places[question.key].append(place)
                self.waiting.setdefault(question.key, question)

    def replies(self) -> list[Reply[T]]:
        """Return the replies in the order of the requests."""
        return [self._found[place] for place in range(len(self._requests))]

    async def ask(self, key: str, account: Account) -> None:
        """Ask what the cache does not answer, so many at a time."""
        gate = Gate(lambda why: self._tell("stopped", "", why))
        todo = iter(self.waiting.values())
        workers = min(self._settings.concurrency, len(self.waiting))
        try:
            async with Endpoint(self._settings, key) as endpoint, asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(todo, endpoint, account, gate))
        except ExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _work(
        self, todo: Iterator[Question], endpoint: Endpoint, account: Account, gate: Gate
    ) -> None:
        for question in todo:
            if gate.closed:
                self._keep(question, Reply("", "error", None, f"not sent: {gate.why}"))
                continue
            retry = partial(self._tell, "retry", question.request.id)
            call = Call(question, self._schema, self._settings, endpoint, account, gate, retry)
            try:
                settled = await call.settle()
            except InputError as error:
                settled = Settled(Reply("", "error", None, str(error)), failed=False)
            self._keep(question, settled.reply)
            self._watch(settled, gate)

    def _from_cache(self, key: str, place: int) -> bool:
        kept = self._cache.get(key) if self._cache is not None else None
        if kept is None:
            return False
        checked = check_reply(self._schema, kept.raw, kept.finish_reason, None)
        if checked.value is None:
            return False
        outcome: OutcomeKind = "repaired" if kept.repaired else "ok"
        request_id, prompt = self._requests[place].id, self._requests[place].prompt
        # Another version of the file may have asked the same words: name the one in use now.
        used = {"prompt_rule": prompt.rule, "template_sha256": prompt.template_sha256}
        kept = kept.model_copy(update=used)
        self._found[place] = Reply(request_id, outcome, checked.value, "", kept, from_cache=True)
        self._tell("cached", request_id, "")
        return True

    def _keep(self, question: Question, reply: Reply[T]) -> None:
        """Keep a reply on disk, and for every request that asked the same."""
        if reply.usable and reply.exchange is not None and self._cache is not None:
            self._cache.put(reply.exchange)
        for place in self._places[question.key]:
            request_id = self._requests[place].id
            self._found[place] = replace(reply, id=request_id)
            self._tell("answered" if reply.usable else "failed", request_id, reply.reason)

    def _watch(self, settled: Settled[T], gate: Gate) -> None:
        """Stop when a whole window of calls failed; say so when a window brought nothing usable."""
        if gate.closed:
            return
        window = min(self._settings.concurrency, len(self.waiting))
        reason = settled.reply.reason
        self._failed_in_a_row = self._failed_in_a_row + 1 if settled.failed else 0
        if self._failed_in_a_row >= window:
            gate.close(f"the endpoint is down: {window} calls in a row failed ({reason})")
            return
        self._useful += settled.reply.usable
        self._useless += not settled.reply.usable
        if not self._useful and self._useless == window:
            words = f"{settled.reply.outcome}: {reason}"
            self._tell("notice", "", f"none of the first {window} answers is usable ({words})")

    def _tell(self, kind: EventKind, request_id: str, detail: str) -> None:
        if self._progress is not None:
            self._progress(Event(kind, request_id, len(self._found), len(self._requests), detail))


def run_apart(work: Coroutine[Any, Any, None]) -> None:
    """Run ``work`` to its end, in a thread of its own where this one already has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    raised: list[BaseException] = []

    def apart() -> None:
        try:
            asyncio.run(work)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=apart, name="llm")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
