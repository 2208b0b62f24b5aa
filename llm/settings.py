"""Which endpoint and model are asked, and how patiently; read from ``[llm]`` of the workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator

from benchmarks.items import Frozen
from corpus.problems import InputError

OPENAI_URL = "https://api.openai.com/v1"
"""Endpoint meant when none is named."""
KEY_ENV = "OPENAI_API_KEY"
"""Environment variable of the key when none is named."""
URL_ENV = "OPENAI_BASE_URL"
"""Environment variable of the endpoint when the settings name none."""
STAGES = "stages"
"""Table under ``[llm]`` whose tables override settings for one stage of drafting or judging."""
NO_KEY = "EMPTY"
"""Sent to servers that want no key; the client library refuses an empty one."""


class LlmSettings(Frozen):
    """One endpoint, one model and how it is asked. Holds no key, only where the key is found."""

    model: str = Field(min_length=1)
    """Model name as the endpoint knows it."""
    base_url: str = OPENAI_URL
    """Root of an OpenAI-compatible API, e.g. ``http://localhost:8000/v1``; no user, no query."""
    api_key_env: str | None = None
    """Environment variable that holds the key; null sends ``EMPTY``, as local servers want."""
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    """Sampling temperature; null (``"none"`` in TOML) sends none, as some models demand."""
    seed: int | None = None
    """Seed sent along; most servers do not promise the same answer for it."""
    max_tokens: int = Field(default=1024, ge=1)
    """Most tokens of one reply; a reply that needs more is ``truncated``."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    """Name of that limit in the request; null takes what the endpoint's host is known to want."""
    structured: Literal["json_schema", "json_object", "prompt"] = "json_schema"
    """How the schema is enforced besides being printed in the prompt; ``prompt`` is not at all."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request for one server's extensions."""
    video_url: bool = False
    """Whether the server takes whole videos (``video_url``), an extension few have."""
    concurrency: int = Field(default=8, ge=1, le=512)
    """Calls under way at the same time."""
    attempts: int = Field(default=5, ge=1, le=20)
    """Most attempts for one call, the first included."""
    timeout_s: float = Field(default=120.0, gt=0, le=3600)
    """Longest wait for one whole reply, seconds."""
    retry_after_cap_s: float = Field(default=60.0, ge=0)
    """Longest a server's Retry-After is obeyed, seconds."""
    max_reply_bytes: int = Field(default=4_000_000, ge=1_000)
    """Largest HTTP body read; a larger one is an error, not memory."""
    usd_per_million_input: float | None = Field(default=None, ge=0)
    """Price of a million prompt tokens in US dollars; null is unknown, never free."""
    usd_per_million_output: float | None = Field(default=None, ge=0)
    """Price of a million reply tokens in US dollars; null is unknown, never free."""
    tokens_per_image: int = Field(default=1_000, ge=1)
    """Tokens one picture is reckoned at before the run (ours; servers differ)."""

    @field_validator("temperature", mode="before")
    @classmethod
    def _no_temperature(cls, value: Any) -> Any:
        return None if value == "none" else value

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected an address such as http://localhost:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("expected no user, password or query; name the key in api_key_env")
        return url.rstrip("/")

    @property
    def host(self) -> str:
        """Host and port of the endpoint: all that records say of it."""
        return urlsplit(self.base_url).netloc

    @property
    def priced(self) -> bool:
        """Whether both prices are known."""
        return self.usd_per_million_input is not None and self.usd_per_million_output is not None

    def parameters(self) -> dict[str, Any]:
        """Return the sampling parameters of a request body, defaults left out where null."""
        field = self.max_tokens_field
        if field is None:
            field = "max_completion_tokens" if self.base_url == OPENAI_URL else "max_tokens"
        chosen = {"temperature": self.temperature, "seed": self.seed, field: self.max_tokens}
        return {**{k: v for k, v in chosen.items() if v is not None}, **self.extra_body}

    def api_key(self, environ: Mapping[str, str] | None = None) -> str:
        """Read the key from the environment.

        Args:
            environ: Environment to read; the process's own by default.

        Returns:
            The key, or ``EMPTY`` where the settings name no variable.

        Raises:
            InputError: The variable is unset, empty, or holds what cannot be a key. The value is
                never shown.
        """
        if self.api_key_env is None:
            return NO_KEY
        key = (os.environ if environ is None else environ).get(self.api_key_env, "").strip()
        if not key:
            raise InputError(f"expected a key in the environment variable {self.api_key_env}")
        if not key.isascii() or not key.isprintable() or " " in key:
            raise InputError(
                f"expected a key of plain characters in {self.api_key_env}; "
                "what it holds has spaces or other signs"
            )
        return key


def llm_settings(
    table: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    **overrides: Any,
) -> LlmSettings | None:
    """Settle the settings from a workspace's ``[llm]`` table, the environment and options.

    An endpoint that the table names gets a key only when the table also names its variable: a key
    meant for one host does not go to another. An endpoint from ``OPENAI_BASE_URL``, or none at all,
    goes with ``OPENAI_API_KEY``.

    Args:
        table: The ``[llm]`` table; empty or null where there is none.
        environ: Environment to read; the process's own by default.
        overrides: Settings by name that win over the table; null values are ignored.

    Returns:
        The settings of every stage without a table of its own (``stage_settings``), or None where
        nothing names an endpoint or key, or no model is named.

    Raises:
        InputError: An unknown setting, or a value outside its range.
    """
    env = os.environ if environ is None else environ
    chosen = {**(table or {}), **{k: v for k, v in overrides.items() if v is not None}}
    chosen.pop(STAGES, None)
    if unknown := sorted(set(chosen) - set(LlmSettings.model_fields)):
        known = ", ".join(LlmSettings.model_fields)
        raise InputError(f"unknown setting; known are {known}", file="[llm]", place=unknown[0])
    if not chosen.get("model"):
        return None
    if "base_url" not in chosen:
        if env.get(URL_ENV):
            chosen["base_url"] = env[URL_ENV]
        elif not (env.get(KEY_ENV) or chosen.get("api_key_env")):
            return None
        if "api_key_env" not in chosen and (env.get(KEY_ENV) or not env.get(URL_ENV)):
            chosen["api_key_env"] = KEY_ENV
    try:
        return LlmSettings(**chosen)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(first["msg"], file="[llm]", place=place) from None


def stage_settings(
    table: Mapping[str, Any] | None,
    stage: str,
    environ: Mapping[str, str] | None = None,
    **overrides: Any,
) -> LlmSettings | None:
    """Settle the settings of one stage: ``[llm.stages.NAME]`` over ``[llm]``.

    A stage with an endpoint of its own takes no key from ``[llm]``: a key meant for one host does
    not go to another.

    Args:
        table: The ``[llm]`` table; empty or null where there is none.
        stage: Name of the stage.
        environ: Environment to read; the process's own by default.
        overrides: Settings by name that win over both tables; null values are ignored.

    Returns:
        The settings, or None as for ``llm_settings``.

    Raises:
        InputError: An unknown setting, a value outside its range, or a stage that is no table.
    """
    base = {name: value for name, value in (table or {}).items() if name != STAGES}
    stages = (table or {}).get(STAGES, {})
    own = stages.get(stage, {}) if isinstance(stages, Mapping) else None
    if not isinstance(own, Mapping):
        raise InputError(
            f"expected a table of settings, got {type(own).__name__}", file=f"[llm.stages.{stage}]"
        )
    if own.get("base_url") not in (None, base.get("base_url")):
        base.pop("api_key_env", None)
    return llm_settings({**base, **own}, environ, **overrides)
