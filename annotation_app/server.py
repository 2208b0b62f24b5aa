"""The web server: Streamlit's app with our own routes for links, clips and saves."""

from __future__ import annotations

import os
import re
import socket
import webbrowser
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from streamlit.starlette import App

from annotation_app.context import AppContext, Render, set_context
from annotation_app.desktop import open_window
from annotation_app.downloads import serve_report
from annotation_app.identity import COOKIE, Signer, set_cookie
from annotation_app.media import serve_clip
from annotation_app.plain import plain_page
from annotation_app.slow import FewPages, guard_server
from annotation_app.texts import choose
from annotation_app.view3d import serve_body, serve_motion, serve_script
from annotation_app.work import answer_post, read_body
from audit.access import AccessError, redeem, require
from corpus.problems import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from store.session import Database

SCRIPT = Path(__file__).with_name("main.py")

CONFIG: dict[str, Any] = {
    "server.headless": True,
    "server.fileWatcherType": "none",
    "server.runOnSave": False,
    "server.showEmailPrompt": False,
    "server.enableAgentApi": False,
    "server.maxUploadSize": 1,
    "browser.gatherUsageStats": False,
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.disableDataExport": True,
    "runner.magicEnabled": False,
    "logger.level": "warning",
    # Its welcome asks a service on the internet for this machine's address.
    "logger.hideWelcomeMessage": True,
    "theme.light.primaryColor": "#0b6380",
    "theme.light.backgroundColor": "#ffffff",
    "theme.light.secondaryBackgroundColor": "#f3f6f8",
    "theme.light.textColor": "#16212b",
    "theme.dark.primaryColor": "#62c4e3",
    "theme.dark.backgroundColor": "#12181e",
    "theme.dark.secondaryBackgroundColor": "#1c252d",
    "theme.dark.textColor": "#e8edf1",
}
"""Streamlit's options in force; nothing is read from the user's machine for these."""

_PASTE_LIMIT = 4096
"""Longest form with a pasted link, bytes."""
_CODE = re.compile(r"/enter/([A-Za-z0-9_-]+)|^\s*([A-Za-z0-9_-]+)\s*$")
"""The code in a pasted link, whatever stands around it, or a code alone."""
_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})
_CLOSED = ("/_stcore/metrics",)
"""Routes of Streamlit that would tell strangers how many work here and what they load."""
_HEADERS = (
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"frame-ancestors 'none'; object-src 'none'; base-uri 'self'"),
)


class SafeHeaders:
    """Middleware: no referrer (links are secrets), no framing, no type guessing, no statistics.

    A request with two lengths may be read as two by a proxy in front; it is refused, and the
    connection closed (RFC 9112, 6.1).
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to every HTTP response."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"].rstrip("/").endswith(_CLOSED):
            await PlainTextResponse("Not found.", 404)(scope, receive, with_headers)
            return
        lengths = {name for name, _value in scope["headers"]} & _LENGTHS
        if len(lengths) > 1:
            refused = PlainTextResponse("Bad request.", 400, headers={"Connection": "close"})
            await refused(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)


def build_app(context: AppContext, *, open_url: str | None = None, desktop: bool = False) -> App:
    """Build the ASGI application.

    Args:
        context: Database, media folder, signer.
        open_url: Address to open in a browser once the server is up.
        desktop: Whether to open it in a window of its own.

    Returns:
        Streamlit's app with ``/enter``, ``/leave``, ``/clip``, ``/player``, ``/body``, ``/report``,
        ``/work`` and ``/health``.
    """
    set_context(context)

    @asynccontextmanager
    async def lifespan(_app: App) -> AsyncIterator[dict[str, Any] | None]:
        if open_url:
            await run_in_threadpool(open_window if desktop else webbrowser.open, open_url)
        yield None

    return App(
        SCRIPT,
        lifespan=lifespan,
        routes=[
            Route("/enter/{invite}", partial(_enter, context)),
            Route("/enter", _pasted, methods=["POST"]),
            Route("/leave", _leave),
            Route("/signed-in/{pass_}", partial(_signed_in, context)),
            Route("/clip/{token}", partial(_clip, context)),
            Route("/clip/{token}/motion", partial(_motion, context)),
            Route("/player/{digest}.js", _script),
            Route("/body/{digest}", _body),
            Route("/report/{study}/{file}", partial(_report, context)),
            Route("/work/{action}", partial(answer_post, context), methods=["POST"]),
            Route("/health", partial(_health, context)),
        ],
        middleware=[Middleware(SafeHeaders), Middleware(FewPages)],
    )


def serve(
    database: Database,
    media_dir: Path,
    secret: str,
    *,
    name: str = "MotionJury",
    host: str = "127.0.0.1",
    port: int = 8501,
    open_browser: bool = False,
    desktop: bool = False,
    secrets_file: Path | None = None,
    render: Render | None = None,
) -> None:
    """Serve the app and block until it is stopped.

    Args:
        database: The workspace database.
        media_dir: Folder of the rendered clips.
        secret: Key that signs the session cookies, at least 16 characters.
        name: Name of the workspace.
        host: Address to listen on; ``0.0.0.0`` for the whole network.
        port: Port to listen on, 1 to 65535.
        open_browser: Whether to open the page in a browser.
        desktop: Whether to open it in a window of its own, where a browser for that is found.
        secrets_file: File of ``annotation_app.sign_in.write_secrets``; ``None``: links only.
        render: Renders clips that a study lacks; ``None``: the console cannot.

    Raises:
        ValueError: The secret is too short.
        SystemExit: The address cannot be used; see :func:`check_address`.
    """
    signs_in = secrets_file is not None
    signer = Signer(secret)
    context = AppContext(database, media_dir, signer, name, signs_in=signs_in, render=render)
    url = page_address(host, port) if open_browser or desktop else None
    app = build_app(context, open_url=url, desktop=desktop)
    # Never the user's own file: it may be of another app.
    secrets = [str(secrets_file)] if secrets_file is not None else []
    config = {**CONFIG, "server.address": host, "server.port": port, "secrets.files": secrets}
    guard_server()
    app.run(config=config)


def page_address(host: str, port: int) -> str:
    """Return the address of the page as seen from this machine.

    >>> page_address("0.0.0.0", 8501)
    'http://localhost:8501/'
    """
    if host in ("0.0.0.0", "::", ""):
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def check_address(host: str, port: int) -> None:
    """Check that a server can listen here, before anything is announced.

    Raises:
        InputError: The port is taken, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        if os.name != "nt":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InputError(
                f"cannot listen on {host} port {port}: {error.strerror}; choose another --port"
            ) from error


async def _enter(context: AppContext, request: Request) -> Response:
    client = request.client.host if request.client else "unknown"

    def sign_in() -> str:
        with context.db.write() as session:
            return redeem(session, str(request.path_params["invite"]), client=client).id

    try:
        person_id = await run_in_threadpool(sign_in)
    except AccessError as error:
        texts = choose(None, request.headers.get("Accept-Language"))
        page = plain_page(texts("lobby.bad_link_title"), texts.message(str(error)), texts.language)
        return HTMLResponse(page, status_code=403, headers={"Cache-Control": "no-store"})
    response = RedirectResponse("/", status_code=303, headers={"Cache-Control": "no-store"})
    set_cookie(response, context, person_id, secure=request.url.scheme == "https")
    return response


async def _pasted(request: Request) -> Response:
    """Go to the personal link that was pasted; whatever else was, is a wrong code."""
    raw = await read_body(request, _PASTE_LIMIT) or b""
    fields = parse_qs(raw.decode("utf-8", "replace"))
    found = _CODE.search(fields.get("link", [""])[0])
    code = (found[1] or found[2]) if found else "-"
    return RedirectResponse(f"/enter/{code}", 303, headers={"Cache-Control": "no-store"})


async def _signed_in(context: AppContext, request: Request) -> Response:
    person_id = context.signer.verify_pass(str(request.path_params["pass_"]))

    def known() -> bool:
        with context.db.read() as session:
            return person_id is not None and require(session, person_id).active

    try:
        if person_id is not None and await run_in_threadpool(known):
            response = RedirectResponse("/", status_code=303, headers={"Cache-Control": "no-store"})
            set_cookie(response, context, person_id, secure=request.url.scheme == "https")
            return response
        line = "this link has expired; sign in again"
    except AccessError as error:
        line = str(error)
    texts = choose(None, request.headers.get("Accept-Language"))
    page = plain_page(texts("lobby.bad_link_title"), texts.message(line), texts.language)
    return HTMLResponse(page, status_code=403, headers={"Cache-Control": "no-store"})


async def _leave(request: Request) -> Response:
    texts = choose(None, request.headers.get("Accept-Language"))
    page = plain_page(texts("lobby.left_title"), texts("lobby.left"), texts.language)
    response = HTMLResponse(page, headers={"Cache-Control": "no-store"})
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")
    return response


async def _clip(context: AppContext, request: Request) -> Response:
    return await run_in_threadpool(serve_clip, context, request)


async def _motion(context: AppContext, request: Request) -> Response:
    return await run_in_threadpool(serve_motion, context, request)


async def _report(context: AppContext, request: Request) -> Response:
    return await run_in_threadpool(serve_report, context, request)


async def _script(request: Request) -> Response:
    return await run_in_threadpool(serve_script, request)


async def _body(request: Request) -> Response:
    return await run_in_threadpool(serve_body, request)


async def _health(context: AppContext, _request: Request) -> Response:
    await run_in_threadpool(context.db.check)
    return JSONResponse({"status": "ok"})
