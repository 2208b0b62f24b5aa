"""The only place that knows the OpenAI client: one HTTP attempt, bounded, without secrets."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.items import Frozen
from llm.outcome import Usage
from llm.retry import CallError, status_error
from llm.settings import NO_KEY, LlmSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_MAX_WORDS = 300
_MAX_READ = 20_000
_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=]*")


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


class Endpoint:
    """A connection to one endpoint, used as an asynchronous context.

    The library's own retries are off and every body is read up to ``max_reply_bytes``.
    """

    def __init__(self, settings: LlmSettings, key: str) -> None:
        """Keep the settings; nothing is imported or opened before the context is entered."""
        self._settings = settings
        self._key = key
        self._client: AsyncOpenAI | None = None

    async def __aenter__(self) -> Endpoint:
        """Open the connection pool."""
        from openai import AsyncOpenAI, DefaultAsyncHttpx2Client

        hooks = {"response": [_bounder(self._settings.max_reply_bytes)]}
        self._client = AsyncOpenAI(
            base_url=self._settings.base_url,
            api_key=self._key,
            max_retries=0,
            timeout=self._settings.timeout_s,
            default_headers={"Accept-Encoding": "identity"},
            http_client=DefaultAsyncHttpx2Client(event_hooks=hooks),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection pool."""
        if self._client is not None:
            await self._client.close()

    async def attempt(self, body: dict[str, Any]) -> RawReply:
        """Make one attempt at a chat completion.

        Args:
            body: Request body as ``llm.requests.Question.body`` gives it.

        Returns:
            The reply, whatever it says.

        Raises:
            CallError: No reply came: refused connection, timeout, HTTP error, a body that is cut,
                too large or not what the API promises.
        """
        # As extra_body it goes out as it stands; typed, every part would be walked through the
        # library's request types, a third of the time of a call.
        got = await self._guarded(
            lambda client: client.chat.completions.with_raw_response.create(
                model=body["model"], messages=[], extra_body=body
            )
        )
        return read_completion(self._json(got.content), got.headers.get("x-request-id"), self.clean)

    async def embeddings(self, texts: Sequence[str]) -> Vectors:
        """Make one attempt at the embeddings of some texts.

        Args:
            texts: Texts, none of them empty.

        Returns:
            One vector for each text, in order.

        Raises:
            CallError: As for ``attempt``, and when vectors are missing or not alike.
        """
        given = list(texts)
        got = await self._guarded(
            lambda client: client.embeddings.with_raw_response.create(
                model=self._settings.model, input=given, encoding_format="float"
            )
        )
        return read_vectors(self._json(got.content), len(given), self.clean)

    async def echo(self, text: str) -> TokenScores:
        """Make one attempt at the log-probabilities of a text's own tokens.

        The text goes to ``/completions`` as a prompt that is to be echoed; one token is asked for
        besides, as some servers refuse none, and is dropped.

        Args:
            text: The text, not empty.

        Returns:
            Its tokens with their log-probabilities.

        Raises:
            CallError: As for ``attempt``; fatal when the endpoint does not echo.
        """
        got = await self._guarded(
            lambda client: client.completions.with_raw_response.create(
                model=self._settings.model,
                prompt=text,
                echo=True,
                logprobs=1,
                max_tokens=1,
                temperature=0,
            )
        )
        return read_echo(self._json(got.content), text, self.clean)

    async def _guarded(self, send: Callable[[AsyncOpenAI], Awaitable[Any]]) -> Any:
        """Send within the time limit; every failure becomes a ``CallError``."""
        import openai

        if self._client is None:
            raise ValueError("endpoint: expected an open connection (async with)")
        late = f"no reply in {self._settings.timeout_s:g} s"
        try:
            # The library's timeout is for each read; a server that drips is ended by this one.
            async with asyncio.timeout(self._settings.timeout_s):
                return await send(self._client)
        except TimeoutError:
            raise CallError("transient", late, billed=True) from None
        except openai.APITimeoutError as error:
            raise CallError("transient", late, billed=_was_sent(error)) from None
        except openai.APIStatusError as error:
            raise self._status_error(error) from None
        except _UnboundedError as error:
            raise CallError("rejected", str(error), billed=True) from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, _UnboundedError):
                raise CallError("rejected", str(error.__cause__), billed=True) from None
            words = self.clean(str(error.__cause__ or error))
            sent = _was_sent(error)
            what = "the reply was cut" if sent else "no connection"
            raise CallError("transient", f"{what}: {words}", billed=sent) from None

    def clean(self, text: str) -> str:
        """Return words fit for a message: one line, bounded, without key or picture data."""
        text = self._without_key(text)[:_MAX_READ]
        flat = " ".join(_DATA_URL.sub("[picture]", text).split())
        return flat if len(flat) <= _MAX_WORDS else flat[: _MAX_WORDS - 1] + "…"

    def _without_key(self, text: str) -> str:
        return text if self._key == NO_KEY else text.replace(self._key, "[key]")

    def _status_error(self, error: Any) -> CallError:
        body = error.body if isinstance(error.body, dict) else {}
        code = body.get("code") or body.get("type")
        message = body.get("message") or error.message
        named = self.clean(code) if isinstance(code, str) else None
        words = self.clean(str(message))
        return status_error(error.status_code, named, words, dict(error.response.headers))

    def _json(self, content: bytes) -> Any:
        try:
            return json.loads(self._without_key(content.decode("utf-8")))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            words = self.clean(str(error))
            reason = f"the body is no UTF-8 JSON: {words}"
            raise CallError("transient", reason, billed=True) from None


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


def _was_sent(error: BaseException) -> bool:
    """Say whether the request may have reached the server."""
    import httpx2

    return not isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)


class _UnboundedError(Exception):
    """A body beyond the limit, or of a size that cannot be known."""


def _bounder(limit: int) -> Callable[[Any], Any]:
    """Return a response hook that ends a body after ``limit`` bytes as they come over the wire."""
    from httpx2 import AsyncByteStream

    class Bounded(AsyncByteStream):
        def __init__(self, stream: AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            seen = 0
            async for chunk in self._stream:
                seen += len(chunk)
                if seen > limit:
                    raise _UnboundedError(f"the reply is larger than {limit} bytes")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def bound(response: Any) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            # Unpacked, a small reply could be of any size.
            raise _UnboundedError("the reply is compressed though the request forbids it")
        response.stream = Bounded(response.stream)

    return bound
