"""Log-probabilities of texts from an endpoint's ``/completions``, kept on disk text by text."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from corpus.problems import InputError
from llm.ask import run_apart
from llm.attempts import Gate, UnsentError, persist
from llm.bodies import TokenScores
from llm.budget import Account, Budget, Metered
from llm.client import Endpoint
from llm.files import read_kept, write_whole
from llm.outcome import Usage
from llm.retry import CallError
from llm.settings import LlmSettings

_KEY_VERSION = 1


class EndpointEcho(Metered):
    """Asks an OpenAI-compatible endpoint to echo texts with the log-probability of each token."""

    def __init__(
        self,
        settings: LlmSettings,
        cache: Path | None = None,
        *,
        budget: Budget | Callable[[], Budget] | None = None,
        tell: Callable[[str], None] | None = None,
        progress: Callable[[int, int], None] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Keep the settings; nothing is sent before texts are given.

        Args:
            settings: Endpoint and limits; ``model`` is a base model that ``/completions`` serves.
            cache: Folder where answers are kept; None keeps none.
            budget: The most it may use, all texts together; or a function that says what is left,
                where others draw on the same budget.
            tell: Told in one line of waits and of the end of a run.
            progress: Told how many texts are done and how many there are.
            environ: Environment that holds the key; the process's own by default.
        """
        super().__init__(settings, budget)
        self._cache = cache
        self._tell = tell or (lambda line: None)
        self._progress = progress or (lambda done, total: None)
        self._environ = environ

    def __call__(self, texts: Sequence[str]) -> list[TokenScores | None]:
        """Return the log-probabilities of each text, in order.

        Each text is sent once and its answer is on disk at once, so a run that ends early goes on
        where it was.

        Args:
            texts: Any texts.

        Returns:
            The scores; None for an empty text and for one whose call failed for good.

        Raises:
            InputError: No key, the endpoint is down, refuses or does not echo, the budget is used
                up, or the cache cannot be written.
        """
        wanted = list(dict.fromkeys(text for text in texts if text.strip()))
        found = {text: kept for text in wanted if (kept := self._kept(text)) is not None}
        if missing := [text for text in wanted if text not in found]:
            run_apart(self._fetch(missing, found, self._settings.api_key(self._environ)))
        return [found.get(text) for text in texts]

    async def _fetch(self, missing: Sequence[str], found: dict[str, TokenScores], key: str) -> None:
        gate = Gate(self._tell)
        account = Account(self.left(), self._settings)
        todo = iter(missing)
        window = min(self._settings.concurrency, len(missing))
        before = len(found)
        failed_in_a_row = 0

        async def work(endpoint: Endpoint) -> None:
            nonlocal failed_in_a_row
            for text in todo:
                most = Usage(prompt=len(text.encode("utf-8", "replace")), completion=1)
                send = partial(endpoint.echo, text)
                try:
                    came = await persist(send, most, self._settings, account, gate, self._tell)
                except UnsentError:
                    return
                except CallError as error:
                    failed_in_a_row += 1
                    if failed_in_a_row >= window:
                        reason = f"{window} calls in a row failed ({error.reason})"
                        gate.close(f"the endpoint is down: {reason}")
                    continue
                failed_in_a_row = 0
                found[text] = came
                self._put(text, came)
                self._progress(len(found) - before, len(missing))

        try:
            async with Endpoint(self._settings, key) as endpoint, asyncio.TaskGroup() as group:
                for _ in range(window):
                    group.create_task(work(endpoint))
        except ExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            self.book(account)
        if gate.closed:
            done = len(found) - before
            reason = f"log-probabilities stopped: {gate.why}; {done} of {len(missing)} done"
            raise InputError(reason, file=f"completions:{self._settings.model}")

    def _path(self, text: str) -> Path | None:
        if self._cache is None:
            return None
        parts = (str(_KEY_VERSION), self._settings.base_url, self._settings.model, text)
        key = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
        return self._cache / key[:2] / f"{key}.json"

    def _kept(self, text: str) -> TokenScores | None:
        path = self._path(text)
        kept = read_kept(path) if path is not None else None
        try:
            return TokenScores.model_validate_json(kept) if kept is not None else None
        except ValidationError:
            return None

    def _put(self, text: str, came: TokenScores) -> None:
        path = self._path(text)
        if path is not None:
            write_whole(path, came.model_dump_json().encode())
