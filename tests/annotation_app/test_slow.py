"""Clients that send a little now and then, or hold many connections, do not hold the server."""

from __future__ import annotations

import contextlib
import socket
import time

import httpx
import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.annotation_app import site as site_module

LIMITS = """
import annotation_app.slow as slow
import streamlit.net_util
slow.HEADER_SECONDS, slow.BODY_SECONDS, slow.MOST_CONNECTIONS, slow.MOST_PAGES = 2.0, 3.0, 12, 3
streamlit.net_util.get_external_ip = lambda: print("ASKED THE INTERNET", flush=True)
"""
NEVER = 40
"""Seconds after which a connection counts as held for ever; the limits are 2 and 3."""


@pytest.fixture(scope="module")
def tight(tmp_path_factory):
    """A server with small limits."""
    folder = tmp_path_factory.mktemp("tight")
    built = site_module.build(folder / "workspace")
    process = site_module.start(built, folder / "server.log", before=LIMITS)
    yield built
    process.terminate()
    process.wait(timeout=20)
    built.workspace.db.close()
    text = (folder / "server.log").read_text()
    assert "Traceback" not in text, text
    # Whoever knocks: nobody on the internet is asked who this machine is.
    assert "ASKED THE INTERNET" not in text, text


def open_socket(site) -> socket.socket:
    host, port = site.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def ended(one: socket.socket, drip: bytes = b"") -> bool:
    """Return whether the server ends a connection that is fed drop by drop."""
    limit = time.monotonic() + NEVER
    one.settimeout(0.2)
    while time.monotonic() < limit:
        try:
            if drip:
                one.sendall(drip)
            if one.recv(1000) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def is_open(one: socket.socket) -> bool:
    one.settimeout(0)
    try:
        return one.recv(1000) != b""
    except BlockingIOError:
        return True


@pytest.mark.parametrize(
    ("first", "drip", "limit"),
    [
        (b"", b"", 2),
        (b"GET /health HTTP/1.1\r\nHost: a\r\n", b"X-A: b\r\n", 2),
        (b"POST /enter HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n", b"a", 3),
    ],
    ids=["says nothing", "head in drops", "body in drops"],
)
def test_a_request_has_to_arrive_in_time(tight, first, drip, limit):
    start = time.monotonic()
    with contextlib.closing(open_socket(tight)) as one:
        one.sendall(first)
        assert ended(one, drip)
    assert time.monotonic() - start >= limit


def test_requests_on_one_connection_each_have_their_time(tight):
    with httpx.Client(base_url=tight.url, timeout=NEVER) as client:
        for _turn in range(4):
            assert client.get("/health").status_code == 200
            time.sleep(0.8)
    with contextlib.closing(open_socket(tight)) as one:
        one.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"200 OK" in one.recv(1000)
        start = time.monotonic()
        one.sendall(b"GET /health HTTP/1.1\r\n")
        assert ended(one, b"X-A: b\r\n")
    assert time.monotonic() - start >= 2


def test_one_address_holds_so_many_connections(tight):
    for _try in range(5):
        with contextlib.ExitStack() as stack:
            # The server takes them in the order they came, so the last ones are too many.
            held = [stack.enter_context(contextlib.closing(open_socket(tight))) for _ in range(12)]
            extra = [stack.enter_context(contextlib.closing(open_socket(tight))) for _ in range(3)]
            assert all(ended(one) for one in extra)
            kept = [is_open(one) for one in held]
        answers(tight)
        # On a machine that stood still, the limit on heads has ended some of the others as well.
        if all(kept):
            break
    assert all(kept)


def answers(site) -> None:
    """Wait until the server has noticed what was closed, and answers again."""
    for _ in range(100):
        with contextlib.suppress(httpx.TransportError):
            assert httpx.get(f"{site.url}/health", timeout=NEVER).status_code == 200
            return
        time.sleep(0.1)
    pytest.fail("the server does not answer any more")


def free_page(address: str, origin: str):
    """Open a live page as soon as the server has noticed that others were closed."""
    for _ in range(100):
        with contextlib.suppress(WebSocketException):
            return connect(address, origin=origin, subprotocols=["streamlit"])
        time.sleep(0.1)
    return pytest.fail("the server holds closed pages")


def test_one_address_holds_so_many_live_pages(tight):
    address = tight.url.replace("http", "ws", 1) + "/_stcore/stream"
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connect(address, origin=tight.url, subprotocols=["streamlit"]))
        with pytest.raises(WebSocketException):
            connect(address, origin=tight.url, subprotocols=["streamlit"])
    for foreign in ("http://elsewhere.example", "http://127.0.0.1.elsewhere.example", "null"):
        with pytest.raises(WebSocketException):
            connect(address, origin=foreign, subprotocols=["streamlit"])
    with free_page(address, tight.url):
        # A live page is not ended by the limits on requests.
        time.sleep(3.5)
        assert httpx.get(f"{tight.url}/health", timeout=NEVER).status_code == 200
