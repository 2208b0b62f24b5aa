"""Clients that never finish: a request has to arrive in time, and nobody holds all connections.

The web server itself waits for ever for the rest of a request whose first bytes came.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HEADER_SECONDS = 15.0
"""The head of a request is there by then (ours); some bytes now and then do not extend it."""
BODY_SECONDS = 60.0
"""And so much later its body (ours): the largest save over a line of 8 kB/s."""
MOST_CONNECTIONS = 400
"""Connections of one address at a time, live pages aside (ours); a proxy is one address."""
MOST_PAGES = 200
"""Live pages of one address at a time (ours), each of which costs memory."""

_THIS_MACHINE = ("localhost", "127.0.0.1", "0.0.0.0")

_connections: Counter[str] = Counter()


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The web server's protocol with a time limit on each request's head and body."""

    _timer: asyncio.TimerHandle | None = None
    _phase: tuple[str, Any] = ("", None)
    _counted: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Count the connection, close it where the address has too many, await its head."""
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._counted = address
        _connections[address] += 1
        if _connections[address] > MOST_CONNECTIONS:
            transport.close()
        else:
            self._await("head")

    def data_received(self, data: bytes) -> None:
        """Take bytes; a limit runs on until the part it is for has come in full."""
        super().data_received(data)
        if self.transport.get_protocol() is not self:
            # It has become a live page, with pings of its own.
            self._release()
            return
        running = self.cycle is not None and not self.cycle.response_complete
        if not running:
            self._await("head")
        else:
            self._await("body" if self.cycle.more_body else "")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._release()
        super().connection_lost(exc)

    def _await(self, part: str) -> None:
        phase = (part, self.cycle)
        if phase == self._phase:
            return
        self._phase = phase
        self._stop()
        if part:
            seconds = HEADER_SECONDS if part == "head" else BODY_SECONDS
            self._timer = self.loop.call_later(seconds, self._late)

    def _late(self) -> None:
        # Between two requests the server's own limit on idle connections holds.
        self.transport.close()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _release(self) -> None:
        self._stop()
        if self._counted is not None:
            _connections[self._counted] -= 1
            if not _connections[self._counted]:
                del _connections[self._counted]
            self._counted = None


class FewPages:
    """Middleware: one address holds only so many live pages, and no other site opens one.

    Left to itself, Streamlit asks a service on the internet for this machine's address when a page
    of another site knocks, and answers nobody meanwhile.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self.app = app
        self._pages: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a live page of another site, or where its address has too many."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        client = scope.get("client")
        address = client[0] if client else ""
        foreign = not _own_page(dict(scope["headers"]))
        if foreign or self._pages[address] >= MOST_PAGES:
            await send({"type": "websocket.close", "code": 1008 if foreign else 1013})
            return
        self._pages[address] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._pages[address] -= 1
            if not self._pages[address]:
                del self._pages[address]


def _own_page(headers: dict[bytes, bytes]) -> bool:
    origin = headers.get(b"origin")
    if origin is None:
        return True
    found = origin.decode("latin-1").partition("://")[2]
    # Streamlit itself knows these names of this machine.
    host = found.rpartition(":")[0] or found
    return found == headers.get(b"host", b"").decode("latin-1") or host in _THIS_MACHINE


def guard_server() -> None:
    """Make the web server use :class:`TimedProtocol` from now on."""
    from uvicorn.config import HTTP_PROTOCOLS

    HTTP_PROTOCOLS["auto"] = f"{__name__}:{TimedProtocol.__name__}"
