"""A question as the endpoint gets it, and the key its answer is kept under."""

from __future__ import annotations

import hashlib
import json
import time
from functools import cached_property
from typing import Any

from pydantic import BaseModel, Field

from benchmarks.items import Frozen
from corpus.problems import InputError
from llm.bodies import RawReply
from llm.media import Media
from llm.outcome import Exchange, Usage, tool_version
from llm.prompts import RenderedPrompt
from llm.settings import LlmSettings
from llm.structured import schema_instruction, strict_schema

KEY_VERSION = 1
"""Part of every cache key; raised only when the same question must be asked anew."""


class Request(Frozen):
    """One question to a model."""

    id: str
    """The caller's id, e.g. of the item; named in messages, no part of the cache key."""
    prompt: RenderedPrompt
    """The words."""
    media: tuple[Media, ...] = ()
    """Pictures or video after the words, in order."""
    repeat: int = Field(default=0, ge=0)
    """Number of the repetition; another number asks the same question again."""


class Question:
    """A request made ready for one endpoint, model and schema."""

    def __init__(self, request: Request, settings: LlmSettings, schema: type[BaseModel]) -> None:
        """Build the parts that the key and the body share.

        Raises:
            InputError: A video for an endpoint whose settings do not allow ``video_url``.
            ValueError: A schema outside the strict subset.
        """
        if not settings.video_url and any(m.mime.startswith("video/") for m in request.media):
            raise InputError(
                "expected frames, got a video; set video_url = true for a server that takes videos",
                file=request.id,
            )
        self.request = request
        self._settings = settings
        self._schema = strict_schema(schema)
        self._name = schema.__name__
        self.text = f"{request.prompt.text}\n\n{schema_instruction(self._schema)}"

    @cached_property
    def key(self) -> str:
        """SHA-256 (hex) of endpoint, model, messages with media by hash, parameters, repetition."""
        identity = {
            "version": KEY_VERSION,
            "endpoint": self._settings.base_url,
            "repeat": self.request.repeat,
            **self._body(hashed=True),
        }
        text = json.dumps(identity, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def body(self) -> dict[str, Any]:
        """Return the request body with the media read in.

        Raises:
            InputError: A file is gone or changed since it was hashed.
        """
        return self._body(hashed=False)

    def record(
        self,
        raw: RawReply,
        usage: Usage | None,
        *,
        attempts: int,
        stripped: tuple[str, ...],
        repaired: bool,
        seconds: float,
    ) -> Exchange:
        """Return the record of this question and the reply that settled it.

        Args:
            raw: The last reply.
            usage: Tokens of all its calls; null where the endpoint did not count.
            attempts: HTTP requests made.
            stripped: What stood round the JSON.
            repaired: Whether the reply answers the repair turn.
            seconds: Wall-clock time it all took.

        Returns:
            The record, stamped with the present time.
        """
        return Exchange(
            key=self.key,
            prompt_rule=self.request.prompt.rule,
            template_sha256=self.request.prompt.template_sha256,
            prompt_sha256=self.request.prompt.sha256,
            host=self._settings.host,
            model_asked=self._settings.model,
            model_answered=raw.model,
            parameters=self._settings.parameters(),
            repeat=self.request.repeat,
            media=tuple(part.sha256 for part in self.request.media),
            system_fingerprint=raw.fingerprint,
            request_id=raw.request_id,
            finish_reason=raw.finish_reason,
            usage=usage,
            attempts=attempts,
            raw=raw.text or "",
            stripped=stripped,
            repaired=repaired,
            seconds=seconds,
            answered_at=time.time(),
            tool_version=tool_version(),
        )

    def _body(self, *, hashed: bool) -> dict[str, Any]:
        prompt = self.request.prompt
        content: str | list[dict[str, Any]] = self.text
        if self.request.media:
            content = [{"type": "text", "text": self.text}]
            for part in self.request.media:
                if part.label:
                    content.append({"type": "text", "text": part.label})
                content.append(_media_part(part, hashed=hashed))
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        body = {
            "model": self._settings.model,
            "messages": [*system, {"role": "user", "content": content}],
            **self._settings.parameters(),
        }
        if self._settings.structured == "json_schema":
            named = {"name": self._name, "schema": self._schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self._settings.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body


def _media_part(part: Media, *, hashed: bool) -> dict[str, Any]:
    url = f"sha256:{part.sha256}" if hashed else part.data_url()
    if part.mime.startswith("video/"):
        return {"type": "video_url", "video_url": {"url": url}}
    return {"type": "image_url", "image_url": {"url": url, "detail": part.detail}}
