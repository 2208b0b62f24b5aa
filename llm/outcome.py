"""What came of a question: outcomes, the whole exchange as a record, coverage of a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any, Generic, Literal, TypeVar, get_args

from pydantic import BaseModel, Field

from benchmarks.items import SCHEMA_VERSION, Frozen, Provenance

OutcomeKind = Literal["ok", "repaired", "refused", "truncated", "invalid", "error"]
"""``ok`` and ``repaired`` carry a value; the other four never do and never count as an answer."""

OUTCOMES: tuple[OutcomeKind, ...] = get_args(OutcomeKind)
"""All outcomes, in the order they are printed."""

T = TypeVar("T", bound=BaseModel)


class Usage(Frozen):
    """Tokens of one or more calls."""

    prompt: int = Field(ge=0)
    """Prompt tokens."""
    completion: int = Field(ge=0)
    """Reply tokens, those of hidden reasoning included where the endpoint counts them."""
    cached: int = Field(default=0, ge=0)
    """Prompt tokens the endpoint had in its own cache."""

    def __add__(self, other: Usage) -> Usage:
        """Add two usages."""
        return Usage(
            prompt=self.prompt + other.prompt,
            completion=self.completion + other.completion,
            cached=self.cached + other.cached,
        )


class Exchange(Frozen):
    """One question and what came back; also what the cache keeps. Holds no key and no picture."""

    key: str
    """Cache key, SHA-256 hex."""
    prompt_rule: str
    """Id and version of the prompt file."""
    template_sha256: str
    """SHA-256 of the prompt file."""
    prompt_sha256: str
    """SHA-256 of system and user message as sent."""
    host: str
    """Host and port of the endpoint."""
    model_asked: str
    """Model that was requested."""
    model_answered: str | None
    """Model the endpoint says answered; null where it does not say."""
    parameters: dict[str, Any]
    """Sampling parameters sent."""
    repeat: int
    """Number of the repetition, from 0."""
    media: tuple[str, ...]
    """SHA-256 of pictures and videos, in the order sent."""
    system_fingerprint: str | None = None
    """Build of the server, where it says so."""
    request_id: str | None = None
    """The server's name for the request, where it gives one."""
    finish_reason: str | None = None
    """Why the model stopped, as the server says."""
    usage: Usage | None = None
    """Tokens as the endpoint counted them, repair turn included; null where it did not."""
    attempts: int
    """HTTP requests made, repair turn included."""
    raw: str
    """Text of the last reply, before anything was stripped."""
    stripped: tuple[str, ...] = ()
    """What stood round the JSON and was taken off: ``thinking``, ``fence``, ``prose``."""
    repaired: bool = False
    """Whether the reply is the answer to the one repair turn."""
    seconds: float
    """Wall-clock time from first attempt to last reply, waiting included."""
    answered_at: float
    """When the last reply came, seconds since 1970 UTC."""
    tool_version: str = ""
    """Version of MotionJury that asked."""
    schema_version: int = SCHEMA_VERSION
    """Version of this record."""


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What one question brought. ``value`` is there exactly when the outcome is usable."""

    id: str
    """Id of the request."""
    outcome: OutcomeKind
    """What came of it."""
    value: T | None
    """The checked answer; null unless ``ok`` or ``repaired``."""
    reason: str = ""
    """Why there is no value, in one line; empty when there is."""
    exchange: Exchange | None = None
    """The record; null where the endpoint never gave a reply."""
    from_cache: bool = False
    """Whether the answer was there before the run."""

    @property
    def usable(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    def provenance(self, seed: int | None = None, **parameters: Any) -> Provenance:
        """Return where an item made from this answer comes from.

        Args:
            seed: Seed of the draft's own random choices.
            parameters: Further options in force.

        Returns:
            The provenance, with the request's own record under ``parameters["llm"]``.

        Raises:
            ValueError: There was no reply.
        """
        if self.exchange is None:
            raise ValueError(f"reply {self.id!r}: nothing came back, so nothing came of it")
        came = self.exchange
        kept = {"key", "host", "prompt_sha256", "repeat", "system_fingerprint", "request_id"}
        kept |= {"parameters", "attempts", "usage", "answered_at", "repaired"}
        return Provenance(
            rule=came.prompt_rule,
            rule_hash=came.template_sha256,
            model_asked=came.model_asked,
            model_answered=came.model_answered,
            seed=seed,
            parameters={**parameters, "llm": came.model_dump(mode="json", include=kept)},
            tool_version=came.tool_version,
            media={f"{index:04d}": sha for index, sha in enumerate(came.media)},
        )


class Coverage(Frozen):
    """How many of the questions have an answer; stands beside every mean made from answers."""

    asked: int
    """Questions."""
    counts: dict[OutcomeKind, int]
    """Questions by outcome, all six named."""

    @property
    def usable(self) -> int:
        """Questions with an answer."""
        return self.counts["ok"] + self.counts["repaired"]

    @property
    def share(self) -> float | None:
        """Usable share, 0 to 1; None when nothing was asked."""
        return self.usable / self.asked if self.asked else None

    def line(self) -> str:
        """Return the coverage as one line.

        >>> coverage(["ok", "ok", "refused"]).line()
        '2 of 3 answered (ok 2, refused 1)'
        """
        named = ", ".join(f"{kind} {n}" for kind, n in self.counts.items() if n)
        return f"{self.usable} of {self.asked} answered" + (f" ({named})" if named else "")


def coverage(outcomes: Iterable[OutcomeKind | Reply[Any]]) -> Coverage:
    """Count outcomes.

    Args:
        outcomes: Outcomes or replies, one for each question asked.

    Returns:
        The coverage over all of them, failures in the denominator.
    """
    found = Counter(o.outcome if isinstance(o, Reply) else o for o in outcomes)
    return Coverage(asked=found.total(), counts={kind: found[kind] for kind in OUTCOMES})


def same_model_warning(judge: str, drafters: Sequence[str]) -> str | None:
    """Say so when a judge is one of the models that drafted what it judges.

    Provider prefixes (``vendor/``), case and release dates are left out of the comparison.

    Args:
        judge: Name of the judging model.
        drafters: Names of the models that drafted.

    Returns:
        One line, or None when they differ.

    >>> same_model_warning("openai/gpt-4o", ["GPT-4o-2024-08-06"]) is None
    False
    >>> same_model_warning("gpt-4o", ["qwen3-vl"]) is None
    True
    """
    alike = sorted({name for name in drafters if _family(name) == _family(judge)})
    if not alike:
        return None
    return (
        f"the judge {judge} is the model that drafted the items ({', '.join(alike)}): "
        "models favour what they wrote themselves"
    )


@cache
def tool_version() -> str:
    """Return MotionJury's version; empty where it is not installed."""
    try:
        return metadata.version("motionjury")
    except metadata.PackageNotFoundError:
        return ""


def _family(name: str) -> str:
    return re.sub(r"-(20\d{6}|20\d\d-\d\d-\d\d)$", "", name.lower().rsplit("/", 1)[-1])
