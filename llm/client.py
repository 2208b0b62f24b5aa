"""The only place that knows the OpenAI client: one HTTP attempt, bounded, without secrets."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from llm.bodies import (
    RawReply,
    TokenScores,
    Vectors,
    read_completion,
    read_echo,
    read_vectors,
)
from llm.retry import CallError, status_error
from llm.settings import NO_KEY, LlmSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_MAX_WORDS = 300
_MAX_READ = 20_000
_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=]*")


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
