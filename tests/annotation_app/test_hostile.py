"""An expert who edits addresses, cookies and messages gets nothing and changes nothing."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable

import pytest
from sqlalchemy import inspect, text
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from annotation_app.desk import desk_state
from annotation_app.identity import COOKIE, Signer
from audit.access import add_person, invite
from audit.lifecycle import resume
from audit.studies import add_member, get_study
from audit.training import acknowledge_guidelines
from tests.annotation_app.test_browser import Wire

NAME = "Mallory Greywater"
STUDY = "stride_audit"
"""The one study that the hostile expert takes part in."""
PAGE = "<title>Streamlit</title>"
"""Part of the page that is the same for everybody."""
PAGES = ("progress", "drafts", "people", "manage", "new")


@pytest.fixture(scope="module")
def mallory(seven):
    """The hostile expert has an item of their own, as they would; returns their page's state."""
    with seven.db.write() as session:
        person = add_person(session, NAME, "expert")
        seven.site.people[NAME] = person.id
        seven.site.links["Mallory"] = invite(session, person.id)
        add_member(session, seven.site.studies[STUDY], person.id)
        acknowledge_guidelines(session, seven.site.studies[STUDY], person.id)
        return desk_state(session, seven.site.studies[STUDY], person.id)


@pytest.fixture
def client(seven, mallory):
    with seven.site.client("Mallory") as client:
        yield client


def everything(seven) -> dict[str, list[str]]:
    """Return all rows of all tables, less what a look at one's own page changes.

    That is the end of the lease of one's own item, and the notes that one signed in and opened it.
    """
    found = {}
    with seven.db.read() as session:
        inspector = inspect(session.connection())
        for table in inspector.get_table_names():
            columns = [one["name"] for one in inspector.get_columns(table)]
            kept = ", ".join(f'"{name}"' for name in columns if name != "lease_until")
            looks = "('signed_in', 'assignment_opened')"
            where = f" WHERE action NOT IN {looks}" if table == "event" else ""
            rows = session.execute(text(f'SELECT {kept} FROM "{table}"{where}'))
            found[table] = sorted(map(repr, rows.all()))
    return found


@pytest.fixture
def untouched(seven, mallory):
    """Nothing was written when the test is over."""
    before = everything(seven)
    yield
    assert everything(seven) == before
    assert sum(map(len, before.values())) > 100


def body(seven, mallory, **changes):
    return {
        "task": mallory["task"]["id"],
        "study": seven.site.studies[STUDY],
        "submission": uuid.uuid4().hex,
        "answers": dict.fromkeys(("fluent", "single_change", "distinguishable", "exclusive"), "yes")
        | {"confidence": "4"},
        "activity": {},
        "version": 0,
        **changes,
    }


def test_saves_in_other_names_are_refused(seven, client, mallory, untouched):
    answers = []
    for protocol, assignment in seven.held.items():
        for action in ("draft", "submit", "revise"):
            for task in (assignment, f" {assignment}"):
                sent = body(seven, mallory, task=task, study=seven.site.studies[protocol])
                answers.append(client.post(f"/work/{action}", json=sent))
        for action in ("next", "recall", "training"):
            # A study that they take no part in.
            if protocol != STUDY:
                sent = body(seven, mallory, study=seven.site.studies[protocol])
                answers.append(client.post(f"/work/{action}", json=sent))
    for answer in answers:
        nothing = answer.status_code == 200 and answer.json() == {"state": {"task": None}}
        assert nothing or answer.status_code in (400, 403, 404, 409), answer.text
    assert seven.leaks("".join(answer.text for answer in answers), NAME) == []


def test_answers_that_are_none_are_refused(seven, client, mallory, untouched):
    good = body(seven, mallory)["answers"]
    for answers in (
        {**good, "fluent": "maybe"},
        {**good, "confidence": "6"},
        {**good, "confidence": 44},
        {**good, "fluent": ["yes"]},
        {**good, "fluent": {"$gt": ""}},
        {**good, "comment": "x" * 100_000},
        {**good, "comment": {"a": "b"}},
        {},
    ):
        answer = client.post("/work/submit", json=body(seven, mallory, answers=answers))
        assert answer.status_code == 422, (answers, answer.text)
        assert answer.json()["questions"]
    for answers in ([], "yes", None, 7):
        assert (
            client.post("/work/submit", json=body(seven, mallory, answers=answers)).status_code
            == 400
        )
    for version in (-1, 1, 99, "0", None, True, 0.5, 10**30):
        answer = client.post("/work/draft", json=body(seven, mallory, version=version))
        assert answer.status_code in (400, 409), (version, answer.text)
    huge = body(seven, mallory, answers={**good, "comment": "x" * 390_000})
    assert client.post("/work/draft", json=huge).status_code in (400, 422)
    for content in (b"{" * 100_000, b"\xff\xfe", b"x" * 1_000_000, b'{"task": ' + b"[" * 50_000):
        answer = client.post("/work/submit", content=content)
        assert answer.status_code == 400
        assert len(answer.text) < 300


def test_routes_of_coordinators_are_not_there_for_experts(seven, client, mallory, untouched):
    sent = body(seven, mallory, study=seven.site.studies["likert"])
    for action in ("launch", "close", "pause", "unblind", "settle", "invite", "preview", "desk"):
        assert client.post(f"/work/{action}", json=sent).status_code == 404
    for path in ("/work/submit", "/work/draft"):
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            answer = client.request(method, path)
            # What is no route of ours is the empty page of Streamlit, the same for everybody.
            assert answer.status_code == 405 or PAGE in answer.text, (method, answer.text)
    for protocol, study in seven.site.studies.items():
        for file in ("report.html", "report.json", "ratings.csv", "../jury.db", "labels.csv"):
            answer = client.get(f"/report/{study}/{file}")
            assert answer.status_code in (403, 404) or PAGE in answer.text, (protocol, file)
            assert seven.leaks(answer.text, NAME) == []
    del client.headers["X-MotionJury"]
    assert client.post("/work/draft", json=body(seven, mallory)).status_code == 403


def test_tokens_and_files_of_others_are_refused(seven, client, mallory, untouched):
    own = mallory["task"]["clip"]["token"]
    assert client.get(f"/clip/{own}").status_code == 200
    paths = [f"/clip/{token}" for token in seven.tokens.values()]
    paths += [f"/clip/{token}/motion" for token in (own, *seven.tokens.values())]
    paths += [f"/clip/{key}" for key in seven.media[:3]]
    paths += [f"/clip/{key}.mp4" for key in seven.media[:3]]
    paths += [f"/clip/{own}%00", f"/clip/{own}.glb", f"/clip/{own.swapcase()}", "/clip/%"]
    paths += [f"/clip/..%2f..%2f{name}" for name in ("jury.db", "workspace.toml")]
    paths += ["/clip/%2e%2e/jury.db", "/media/jury.db", "/app/static/jury.db", "/jury.db"]
    for path in paths:
        answer = client.get(path)
        assert answer.status_code in (400, 403, 404) or PAGE in answer.text, path
        assert b"ftyp" not in answer.content[:64]
        assert b"SQLite format" not in answer.content
        assert seven.leaks(answer.text, NAME) == [], path


def test_cookies_that_were_edited_are_nobodys(seven, mallory, untouched):
    people = seven.site.people
    with seven.site.client("Mallory") as signed:
        value = signed.cookies[COOKIE]
    payload, rest = value.split(".", 1)
    cora = people["Cora Stavangerson"]
    other = Signer("another secret, long enough").sign(cora)
    swapped = f"{other.split('.', 1)[0]}.{rest}"
    for cookie in (
        cora,
        json.dumps(cora),
        other,
        swapped,
        payload,
        value[:-1],
        value + "x",
        "",
        ".",
    ):
        with seven.site.client() as client:
            client.cookies.set(COOKIE, cookie)
            token = mallory["task"]["clip"]["token"]
            assert client.get(f"/clip/{token}").status_code == 403, cookie
            answer = client.post("/work/draft", json=body(seven, mallory))
            assert answer.status_code == 401, cookie


@pytest.mark.browser
def test_addresses_of_the_console_show_the_experts_own_page(seven, mallory, new_page, untouched):
    page = new_page()
    page.set_default_timeout(20_000)
    wire = Wire(page)
    page.goto(seven.site.link("Mallory"))
    page.locator(".mj[aria-busy=false] .count").wait_for()
    shown = page.locator(".captions").inner_text()
    for place, name in enumerate(PAGES):
        protocol = ("likert", STUDY)[place % 2]
        page.goto(f"{seven.site.url}/?study={seven.site.studies[protocol]}&page={name}&preview=1")
        page.locator(".mj[aria-busy=false] .count", has_text="Item 1 of").wait_for()
        assert page.locator(".captions").inner_text() == shown
    assert any(frame for frame in wire.frames)
    assert seven.leaks(wire.text(), NAME) == []


class Socket:
    """A connection to Streamlit's own stream, with whatever cookie and message."""

    def __init__(self, seven, cookie: str) -> None:
        self.address = seven.site.url.replace("http", "ws", 1) + "/_stcore/stream"
        self.headers = {"Cookie": f"{COOKIE}={cookie}", "Origin": seven.site.url}

    def say(
        self,
        *messages: bytes,
        seconds: float = 1.0,
        until: Callable[[list[str]], bool] = lambda got: True,
    ) -> str:
        """Send messages; return all that came until nothing did for some seconds.

        A busy server may take longer: ``until`` says what must have happened first.
        """
        got = []
        with connect(
            self.address, subprotocols=["streamlit"], additional_headers=self.headers, max_size=None
        ) as socket:
            for message in messages:
                socket.send(message)
            silent = 0
            while not (silent and until(got)) and silent < 40:
                try:
                    part = socket.recv(timeout=seconds)
                    got.append(part if isinstance(part, str) else part.decode("utf-8", "replace"))
                except TimeoutError:
                    silent += 1
                except ConnectionClosed:
                    break
        return "\n".join(got)


@pytest.mark.browser
def test_messages_of_a_coordinator_do_nothing_when_an_expert_sends_them(seven, mallory, new_page):
    study = seven.site.studies["prompt_review"]
    page = new_page()
    page.set_default_timeout(20_000)
    sent: list[bytes] = []
    page.on("websocket", lambda ws: ws.on("framesent", lambda frame: sent.append(frame)))
    page.goto(seven.site.link("Cora"))
    page.goto(f"{seven.site.url}/?study={study}&page=manage")
    page.get_by_role("button", name="Pause the study").wait_for()
    del sent[:-1]
    page.get_by_role("button", name="Pause the study").click()
    page.get_by_role("button", name="Go on").wait_for()
    cookies = {one["name"]: one["value"] for one in page.context.cookies()}
    page.close()
    messages = [one for one in sent if isinstance(one, bytes)]

    def paused() -> bool:
        with seven.db.read() as session:
            return get_study(session, study).paused_at is not None

    assert paused()
    with seven.db.write() as session:
        resume(session, study, seven.site.people["Cora Stavangerson"])
    # The coordinator's own replay shows that the messages do what they say.
    Socket(seven, cookies[COOKIE]).say(*messages, until=lambda got: paused())
    assert paused()
    with seven.db.write() as session:
        resume(session, study, seven.site.people["Cora Stavangerson"])
    before = everything(seven)
    with seven.site.client("Mallory") as signed:
        socket = Socket(seven, signed.cookies[COOKIE])
    got = socket.say(*messages, until=bool)
    assert got
    assert seven.leaks(got, NAME) == []
    assert seven.leaks(Socket(seven, "forged").say(*messages), NAME) == []
    for odd in (
        b"\xff" * 40,
        b"",
        b"\x0a\xff\xff\xff\xff\x0f",
        messages[-1][: len(messages[-1]) // 2],
    ):
        got = socket.say(odd, seconds=0.3)
        assert seven.leaks(got, NAME) == []
        assert "site-packages" not in got
    assert not paused()
    assert everything(seven) == before
