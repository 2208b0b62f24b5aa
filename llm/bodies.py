"""What an endpoint's replies hold: a completion, vectors, or the probabilities of tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

from benchmarks.items import Frozen
from llm.outcome import Usage
from llm.retry import CallError


class RawReply(Frozen):
    """What one successful HTTP attempt brought."""

    text: str | None
    """Text of the reply; null where there is none."""
    finish_reason: str | None
    """Why the model stopped, as the server says."""
    refusal: str | None
    """The refusal, where the server gives one in its own field."""
    model: str | None
    """Model the endpoint says answered."""
    fingerprint: str | None
    """Build of the server."""
    request_id: str | None
    """The server's name for the request."""
    usage: Usage | None
    """Tokens; null where the server did not count them."""


class Vectors(NamedTuple):
    """What one successful attempt at embeddings brought."""

    rows: tuple[tuple[float, ...], ...]
    """One vector for each text, as the server sent it."""
    usage: Usage | None
    """Tokens; null where the server did not count them."""


class TokenScores(Frozen):
    """Log-probabilities that a model gives the tokens of a text."""

    tokens: tuple[str, ...]
    """The tokens as the server writes them."""
    logprobs: tuple[float | None, ...]
    """Natural logarithm of the probability of each; null where there is none, as of the first."""
    usage: Usage | None = None
    """Tokens used; null where the server did not count them."""

    @property
    def mean(self) -> float | None:
        """Nats per token over the tokens with a probability; None where none has one."""
        known = [value for value in self.logprobs if value is not None]
        return sum(known) / len(known) if known else None


def read_completion(
    body: Any, request_id: str | None = None, clean: Callable[[str], str] = str
) -> RawReply:
    """Read a chat completion's JSON, whoever made it.

    Args:
        body: The decoded body.
        request_id: The server's name for the request, from its headers.
        clean: Makes a server's words fit for a message.

    Returns:
        The reply.

    Raises:
        CallError: It is no chat completion, or an error sent as a success.
    """
    if not isinstance(body, dict):
        raise CallError("transient", "the body is no JSON object", billed=True)
    if isinstance(body.get("error"), dict):
        words = clean(str(body["error"].get("message")))
        raise CallError("transient", f"an error came as a success: {words}")
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        raise CallError("transient", "the body has no choices[0].message", billed=True)
    if first.get("finish_reason") == "error":
        raise CallError("transient", "the server says the model failed midway", billed=True)
    return RawReply(
        text=_text(message.get("content")),
        finish_reason=_string(first.get("finish_reason")),
        refusal=_string(message.get("refusal")),
        model=_string(body.get("model")),
        fingerprint=_string(body.get("system_fingerprint")),
        request_id=request_id,
        usage=_usage(body.get("usage")),
    )


def read_vectors(body: Any, wanted: int, clean: Callable[[str], str] = str) -> Vectors:
    """Read the JSON of an embeddings reply.

    Args:
        body: The decoded body.
        wanted: Texts that were sent.
        clean: Makes a server's words fit for a message.

    Returns:
        The vectors in the order of the texts.

    Raises:
        CallError: It is no embeddings reply, a vector is missing, or vectors are not finite numbers
            of one length.
    """
    if not isinstance(body, dict):
        raise CallError("transient", "the body is no JSON object", billed=True)
    if isinstance(body.get("error"), dict):
        words = clean(str(body["error"].get("message")))
        raise CallError("transient", f"an error came as a success: {words}")
    data = body.get("data")
    rows = [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
    by_place = {row.get("index", place): row.get("embedding") for place, row in enumerate(rows)}
    vectors = [by_place.get(place) for place in range(wanted)]
    if len(rows) != wanted or not all(_is_vector(v, vectors[0]) for v in vectors):
        reason = f"expected {wanted} vectors of finite numbers, all of one length"
        raise CallError("rejected", reason, billed=True)
    usage = body.get("usage")
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    counted = isinstance(tokens, int) and tokens >= 0
    return Vectors(
        rows=tuple(tuple(v) for v in vectors if v is not None),
        usage=Usage(prompt=tokens, completion=0) if counted and tokens is not None else None,
    )


def read_echo(body: Any, text: str, clean: Callable[[str], str] = str) -> TokenScores:
    """Read the JSON of an echoed completion.

    Args:
        body: The decoded body.
        text: The text that was sent.
        clean: Makes a server's words fit for a message.

    Returns:
        The tokens of the text; those that the model wrote after it are left out.

    Raises:
        CallError: It is no completion, the text does not come back, or not with the
            log-probabilities of its own tokens.
    """
    if not isinstance(body, dict):
        raise CallError("transient", "the body is no JSON object", billed=True)
    if isinstance(body.get("error"), dict):
        words = clean(str(body["error"].get("message")))
        raise CallError("transient", f"an error came as a success: {words}")
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    table = first.get("logprobs") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(table, dict):
        raise CallError("fatal", "the endpoint gives no log-probabilities", billed=True)
    tokens, values = table.get("tokens") or [], table.get("token_logprobs") or []
    alike = isinstance(tokens, list) and isinstance(values, list) and len(values) == len(tokens)
    if not alike or not str(first.get("text")).startswith(text):
        raise CallError("fatal", "the endpoint does not echo the text", billed=True)
    offsets = table.get("text_offset")
    if not isinstance(offsets, list) or len(offsets) != len(tokens):
        offsets = list(accumulate((len(str(token)) for token in tokens), initial=0))
        if offsets.pop() < len(text):
            offsets = []
    kept = [
        (str(token), float(value) if type(value) in (int, float) else None)
        for token, value, at in zip(tokens, values, offsets, strict=False)
        if isinstance(at, int) and at < len(text)
    ]
    if not kept:
        reason = "the endpoint gives log-probabilities of what it wrote, not of the text"
        raise CallError("fatal", reason, billed=True)
    return TokenScores(
        tokens=tuple(_string(token) or "" for token, _ in kept),
        logprobs=tuple(v if v is not None and math.isfinite(v) else None for _, v in kept),
        usage=_usage(body.get("usage")),
    )


def _is_vector(value: Any, first: Any) -> bool:
    return (
        isinstance(value, list)
        and isinstance(first, list)
        and len(value) == len(first) > 0
        and all(type(x) in (int, float) and math.isfinite(x) for x in value)
    )


def _text(content: Any) -> str | None:
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str)) or None
    return _string(content)


def _string(value: Any) -> str | None:
    # A lone surrogate (an escape such as \ud800) cannot be written to any file.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    details = value.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    counts = [value.get("prompt_tokens"), value.get("completion_tokens"), cached or 0]
    if not all(isinstance(n, int) and n >= 0 for n in counts):
        return None
    return Usage(prompt=counts[0], completion=counts[1], cached=counts[2])
