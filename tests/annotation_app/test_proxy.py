"""Behind a proxy that speaks HTTPS: cookies, the page's websocket, and who sent what."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import httpx

from tests.annotation_app.site import Site

OUTSIDE = {"Host": "jury.example.org", "X-Forwarded-Proto": "https"}


def enter(site: Site, code: str, sender: str) -> httpx.Response:
    headers = {**OUTSIDE, "X-Forwarded-For": sender}
    return httpx.get(f"{site.url}/enter/{code}", headers=headers)


def test_the_cookie_is_for_https_only(site):
    code = site.links[site.newcomer("Pia Underwood")]
    assert "secure" in enter(site, code, "203.0.113.1").headers["set-cookie"].lower()
    plain = httpx.get(f"{site.url}/enter/{code}")
    assert "secure" not in plain.headers["set-cookie"].lower()


def test_wrong_codes_count_for_their_sender_and_nobody_else(site):
    for _ in range(30):
        assert enter(site, "a-wrong-code", "203.0.113.7").status_code == 403
    assert "Too many wrong codes" in enter(site, "a-wrong-code", "203.0.113.7").text
    assert "not known" in enter(site, "a-wrong-code", "203.0.113.8").text


def upgrade(site: Site, origin: str) -> str:
    """Ask for the page's websocket as a browser does; return the status line."""
    place = urlsplit(site.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        connection.sendall(
            f"GET /_stcore/stream HTTP/1.1\r\nHost: jury.example.org\r\nOrigin: {origin}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        return connection.recv(200).decode("latin-1").splitlines()[0]


def test_the_websocket_opens_under_the_outer_name(site):
    assert " 101 " in upgrade(site, "https://jury.example.org")
