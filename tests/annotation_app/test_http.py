"""The routes without a browser: who gets a clip, what is refused, what a save answers."""

from __future__ import annotations

import json
import socket
import uuid

import httpx
import pytest

from annotation_app.desk import desk_state
from audit.access import revoke
from corpus.problems import InputError
from motionjury.commands.app import serve_app
from store.clips import get_media


@pytest.fixture(scope="module")
def expert(site):
    """A person of their own, so that these tests leave the others' items alone."""
    site.newcomer("Finn Habberley")
    return site.people["Finn Habberley"]


def state_of(site, person_id: str):
    with site.workspace.db.write() as session:
        return desk_state(session, site.studies["Side study"], person_id)


@pytest.fixture
def state(site, expert):
    return state_of(site, expert)


@pytest.fixture
def client(site, expert):
    with site.client("Finn") as client:
        yield client


@pytest.fixture
def clip(site, state):
    token = state["task"]["clip"]["token"]
    with site.workspace.db.read() as session:
        # The file behind the token, by its bytes; the token itself names nothing.
        files = {key: get_media(session, key).file for key in site.media}
    assert not any(key in token or token in key for key in files)
    contents = [(site.workspace.media_dir / name).read_bytes() for name in files.values()]
    return f"/clip/{token}", contents


def test_whole_clip(client, clip):
    path, contents = clip
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.content in contents
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["cache-control"].startswith("private")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "content-disposition" not in answer.headers


def test_ranges(client, clip):
    path, _contents = clip
    whole = client.get(path)
    size, etag = len(whole.content), whole.headers["etag"]
    for asked, start, end in (
        ("bytes=0-99", 0, 100),
        ("bytes=100-", 100, size),
        ("bytes=-50", size - 50, size),
        (f"bytes=10-{size * 2}", 10, size),
    ):
        part = client.get(path, headers={"Range": asked})
        assert part.status_code == 206
        assert part.content == whole.content[start:end]
        assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{size}"
    assert client.get(path, headers={"Range": f"bytes={size}-"}).status_code == 416
    same = client.get(path, headers={"Range": "bytes=0-9", "If-Range": etag})
    assert (same.status_code, len(same.content)) == (206, 10)
    other = client.get(path, headers={"Range": "bytes=0-9", "If-Range": '"another"'})
    assert (other.status_code, len(other.content)) == (200, size)
    head = client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(size)


def test_only_the_owner_gets_a_clip(site, clip):
    path, _contents = clip
    with site.client() as stranger:
        assert stranger.get(path).status_code == 403
        stranger.cookies.set("motionjury", "forged.cookie.value")
        assert stranger.get(path).status_code == 403
    with site.client(site.newcomer("Lea Wolstenholme")) as colleague:
        answer = colleague.get(path)
        assert (answer.status_code, answer.text) == (403, "This clip is not available to you.")
        assert colleague.get("/clip/no-such-token").status_code == 403
        assert colleague.get("/clip/..%2fjury.db").status_code in (400, 403, 404)


def test_revoked_person_gets_nothing(site):
    site.newcomer("Gus Wetherspoon")
    person_id = site.people["Gus Wetherspoon"]
    state = state_of(site, person_id)
    path = f"/clip/{state['task']['clip']['token']}"
    with site.client("Gus") as client:
        assert client.get(path).status_code == 200
        with site.workspace.db.write() as session:
            revoke(session, person_id)
        assert client.get(path).status_code == 403
        answer = client.post("/work/draft", json=draft_of(state, {"fluent": "yes"}))
        assert answer.status_code == 403
        assert "revoked" in answer.json()["error"]
        again = client.get(f"/enter/{site.links['Gus']}")
        assert (again.status_code, "revoked" in again.text) == (403, True)


def draft_of(state, answers, version=0):
    return {
        "task": state["task"]["id"],
        "answers": answers,
        "activity": {"seconds": 3.5, "plays": 1},
        "version": version,
    }


@pytest.mark.parametrize("odd", ["\ud800", "a\x00b", 7, None])
def test_ids_that_are_no_text_are_refused(client, state, odd):
    for action, field in (("next", "study"), ("draft", "task"), ("submit", "submission")):
        body = {**draft_of(state, {"fluent": "yes"}), "submission": "one", field: odd}
        answer = client.post(
            f"/work/{action}",
            content=json.dumps(body),
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 400, (action, answer.text)
        assert "printable" in answer.json()["error"]


def test_cookie_is_for_the_browser_only(site, expert):
    with site.client() as client:
        answer = client.get(f"/enter/{site.links['Finn']}")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert site.links["Finn"] not in str(answer.headers)
    assert "Finn" not in str(answer.headers)
    assert answer.headers["location"] == "/"


def test_drafts_and_one_label(site, client, state):
    saved = client.post("/work/draft", json=draft_of(state, {"fluent": "yes"}))
    assert (saved.status_code, saved.json()) == (200, {"version": 1})
    again = client.post("/work/draft", json=draft_of(state, {"fluent": "yes"}))
    assert again.json() == {"version": 1}
    late = client.post("/work/draft", json=draft_of(state, {"fluent": "no"}))
    assert late.status_code == 409
    assert "another window" in late.json()["error"]
    body = {**draft_of(state, {"fluent": "yes"}), "study": state["study"]["id"]}
    body["submission"] = uuid.uuid4().hex
    short = client.post("/work/submit", json=body)
    assert short.status_code == 422
    assert "confidence" in short.json()["questions"]
    names = [one["name"] for one in state["task"]["questions"] if one["kind"] == "choice"]
    body["answers"] = {**dict.fromkeys(names, "yes"), "confidence": "4"}
    first = client.post("/work/submit", json=body)
    second = client.post("/work/submit", json=body)
    assert first.status_code == second.status_code == 200
    assert first.json()["state"]["progress"]["done"] == 1
    assert second.json()["state"]["task"]["id"] == first.json()["state"]["task"]["id"]


def test_refusals_are_one_line(site, client, state):
    body = draft_of(state, {})
    for path, sent in (
        ("/work/draft", b"no json"),
        ("/work/draft", b"[1]"),
        ("/work/draft", b"x" * 500_000),
    ):
        answer = client.post(path, content=sent)
        assert answer.status_code == 400
        assert "\n" not in answer.json()["error"]
    assert client.post("/work/draft", json={**body, "version": "1"}).status_code == 400
    assert client.post("/work/draft", json={**body, "task": "unknown"}).status_code == 403
    assert client.post("/work/elsewhere", json=body).status_code == 404
    foreign = httpx.post(f"{site.url}/work/draft", json=body, cookies=dict(client.cookies))
    assert foreign.status_code == 403
    with site.client() as stranger:
        assert stranger.post("/work/draft", json=body).status_code == 401


def test_health_and_leave(site, client):
    assert client.get("/health").json() == {"status": "ok"}
    left = client.get("/leave")
    assert left.status_code == 200
    assert "motionjury" not in client.cookies


def test_bad_invites_are_turned_away_and_good_ones_are_not(site, client, clip):
    # A local proxy says who is asking; the limit holds for that address alone.
    lab, elsewhere = {"X-Forwarded-For": "203.0.113.9"}, {"X-Forwarded-For": "203.0.113.10"}
    with site.client() as stranger:
        answers = [stranger.get(f"/enter/wrong-{n}", headers=lab) for n in range(11)]
        assert {answer.status_code for answer in answers} == {403}
        assert "not known" in answers[0].text
        assert "Too many wrong codes" in answers[-1].text
        assert "not known" in stranger.get("/enter/wrong", headers=elsewhere).text
        assert stranger.get(f"/enter/{site.links['Cora']}", headers=lab).status_code == 303
    assert client.get(clip[0], headers=lab).status_code == 200


@pytest.mark.parametrize(
    ("pasted", "code"),
    [
        ("<https://jury.example.org/enter/Ab-_9> See you!", "Ab-_9"),
        (" https://jury.example.org/enter/Ab-_9/?from=mail ", "Ab-_9"),
        (" Ab-_9\r\n", "Ab-_9"),
        ("https://elsewhere.example/", "-"),
        ("//elsewhere.example", "-"),
        ("..", "-"),
        ("\r\nSet-Cookie: a=b", "-"),
        ("x" * 5000, "-"),
    ],
)
def test_a_pasted_link_leads_to_its_code_and_nowhere_else(site, pasted, code):
    answer = httpx.post(f"{site.url}/enter", data={"link": pasted})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/enter/{code}")


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/", "/_stcore/%6Detrics"])
def test_strangers_are_not_told_what_runs_here(site, path):
    answer = httpx.get(f"{site.url}{path}", follow_redirects=True)
    assert (answer.status_code, answer.text) == (404, "Not found.")


def test_a_request_with_two_lengths_is_one_request(site):
    host, port = site.url.removeprefix("http://").split(":")
    head = b"POST /enter HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n"
    with socket.create_connection((host, int(port)), timeout=10) as one:
        one.sendall(head + b"\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        got = b"".join(iter(lambda: one.recv(4096), b""))
    assert got.startswith(b"HTTP/1.1 400")
    assert got.count(b"HTTP/1.1") == 1


def test_a_taken_port_is_one_line(site):
    port = int(site.url.rsplit(":", 1)[1])
    with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1 port {port}: .*--port"):
        serve_app(site.workspace, "127.0.0.1", port, False)
