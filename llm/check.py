"""One tiny question that shows whether an endpoint answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.items import Frozen
from corpus.problems import InputError
from llm.ask import LanguageModel
from llm.prompts import RenderedPrompt
from llm.requests import Request
from llm.settings import LlmSettings

_MOST_TOKENS = 256
_TIMEOUT_S = 20.0


class _Ready(Frozen):
    """The answer to the tiny question."""

    ready: bool


class Checkup(NamedTuple):
    """Whether the endpoint answered."""

    ok: bool
    """Whether it gave the JSON that was asked for."""
    detail: str
    """One line: who answered and how fast, or what went wrong."""


def check_endpoint(settings: LlmSettings, environ: Mapping[str, str] | None = None) -> Checkup:
    """Ask one tiny question, once, without cache.

    Args:
        settings: The endpoint.
        environ: Environment that holds the key; the process's own by default.

    Returns:
        What came of it; nothing is raised for an endpoint that is down or a missing key.
    """
    brief = {"attempts": 1, "timeout_s": min(settings.timeout_s, _TIMEOUT_S)}
    brief["max_tokens"] = min(settings.max_tokens, _MOST_TOKENS)
    prompt = RenderedPrompt(
        rule="llm.check/1", template_sha256="", system="", text='Say {"ready": true}.'
    )
    model = LanguageModel(settings.model_copy(update=brief), environ=environ)
    try:
        reply = model.ask_many([Request(id="check", prompt=prompt)], _Ready)[0]
    except InputError as error:
        return Checkup(False, str(error))
    if not reply.usable or reply.exchange is None:
        return Checkup(False, f"{settings.host}, {settings.model}: {reply.outcome}: {reply.reason}")
    answered = reply.exchange.model_answered or "a model it does not name"
    seconds = reply.exchange.seconds
    return Checkup(True, f"{settings.host}: {answered} answered in {seconds:.1f} s")
