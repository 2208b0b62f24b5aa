"""What the tests of the language-model layer share: a record, a prompt, requests, settings."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from benchmarks.items import Frozen
from llm.ask import Event, LanguageModel
from llm.media import Media
from llm.prompts import RenderedPrompt
from llm.requests import Request
from llm.settings import LlmSettings
from tests.llm.server import KEY

ENV = {"TEST_KEY": KEY}


class Verdict(Frozen):
    """The answer asked for."""

    verdict: bool
    score: int = Field(ge=1, le=5)


GOOD = '{"verdict": true, "score": 4}'


def request(number: int = 0, media: tuple[Media, ...] = (), repeat: int = 0) -> Request:
    """Return a question of its own."""
    prompt = RenderedPrompt(
        rule="test.verdict/1", template_sha256="0" * 64, system="Judge.", text=f"Clip {number}?"
    )
    return Request(id=f"q{number}", prompt=prompt, media=media, repeat=repeat)


def settings(url: str, **changed: Any) -> LlmSettings:
    """Return settings for a server, quick to give up."""
    given = {"model": "asked-model", "base_url": url, "api_key_env": "TEST_KEY", "attempts": 2}
    return LlmSettings(**{**given, "timeout_s": 5.0, "concurrency": 4, **changed})


def model(url: str, cache: Any = None, budget: Any = None, **changed: Any) -> LanguageModel:
    """Return a model behind a server."""
    return LanguageModel(settings(url, **changed), cache, budget, environ=ENV)


class Heard(list[Event]):
    """Collects the events of a run."""

    def __call__(self, event: Event) -> None:
        """Take one."""
        self.append(event)

    def of(self, kind: str) -> list[Event]:
        """Return those of one kind."""
        return [event for event in self if event.kind == kind]
