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
slow.HEADER_SECONDS, slow.BODY_SECONDS, slow.MOST_CONNECTIONS, slow.MOST_PAGES = 1.0, 1.5, 12, 3
"""


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


def open_socket(site) -> socket.socket:
    host, port = site.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def ended(one: socket.socket, drip: bytes = b"") -> float:
    """Return after how many seconds the server ended a connection that is fed drop by drop."""
    start = time.monotonic()
    one.settimeout(0.2)
    while time.monotonic() < start + 10:
        try:
            if drip:
                one.sendall(drip)
            if one.recv(1000) == b"":
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - start


@pytest.mark.parametrize(
    ("first", "drip", "low", "high"),
    [
        (b"", b"", 0.8, 4.0),
        (b"GET /health HTTP/1.1\r\nHost: a\r\n", b"X-A: b\r\n", 0.8, 4.0),
        (b"POST /enter HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n", b"a", 1.2, 5.0),
    ],
    ids=["says nothing", "head in drops", "body in drops"],
)
def test_a_request_has_to_arrive_in_time(tight, first, drip, low, high):
    with contextlib.closing(open_socket(tight)) as one:
        one.sendall(first)
        assert low < ended(one, drip) < high


def test_requests_on_one_connection_each_have_their_time(tight):
    with httpx.Client(base_url=tight.url) as client:
        for _turn in range(4):
            assert client.get("/health").status_code == 200
            time.sleep(0.5)
    with contextlib.closing(open_socket(tight)) as one:
        one.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"200 OK" in one.recv(1000)
        one.sendall(b"GET /health HTTP/1.1\r\n")
        assert 0.8 < ended(one, b"X-A: b\r\n") < 4.0


def test_one_address_holds_so_many_connections(tight):
    held = [open_socket(tight) for _ in range(12)]
    try:
        time.sleep(0.2)
        with contextlib.closing(open_socket(tight)) as one:
            assert ended(one) < 0.8
    finally:
        for one in held:
            one.close()
    time.sleep(0.3)
    assert httpx.get(f"{tight.url}/health").status_code == 200


def test_one_address_holds_so_many_live_pages(tight):
    address = tight.url.replace("http", "ws", 1) + "/_stcore/stream"
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(connect(address, origin=tight.url, subprotocols=["streamlit"]))
        with pytest.raises(WebSocketException):
            connect(address, origin=tight.url, subprotocols=["streamlit"])
    # Another site is refused at once: nobody on the internet is asked who this machine is.
    start = time.monotonic()
    for foreign in ("http://elsewhere.example", "http://127.0.0.1.elsewhere.example", "null"):
        with pytest.raises(WebSocketException):
            connect(address, origin=foreign, subprotocols=["streamlit"])
    assert time.monotonic() - start < 1
    with connect(address, origin=tight.url, subprotocols=["streamlit"]):
        # A live page is not ended by the limits on requests.
        time.sleep(1.8)
        assert httpx.get(f"{tight.url}/health").status_code == 200
