"""What goes wrong around an expert at work: the server dies, the network is cut, a session ends."""

from __future__ import annotations

import time

import pytest

from audit.assignment import next_assignment
from audit.labelling import load_draft, my_labels
from perf import kill_server
from perf.long_study import READY, STUDY, Expert, build
from tests.annotation_app.site import free_port, start

pytestmark = pytest.mark.browser

CUT_SECONDS = 30
"""How long the network is gone, on the page's clock."""
STEP_SECONDS = 2
"""The page's pause between two tries to save."""


class Served:
    """A site whose server can be killed and started again at the same address."""

    def __init__(self, folder):
        self.log = folder / "server.log"
        self.site = build(folder / "workspace", items=6, experts=4)
        self.port = free_port()
        self.start()

    def start(self):
        self.process = start(self.site, self.log, port=self.port)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stored(self, name):
        """Answers of the item that someone holds, and how many labels they gave."""
        study, person = self.site.studies[STUDY], self.site.people[name]
        with self.site.workspace.db.write() as session:
            held = next_assignment(session, study, person)
            labels = my_labels(session, study, person)
            return load_draft(session, held.id, person).answers, len(labels)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    one = Served(tmp_path_factory.mktemp("faults"))
    yield one
    one.process.terminate()
    one.process.wait(timeout=20)
    one.site.workspace.db.close()


@pytest.fixture
def at_work(served, new_page, request):
    """An expert with a saved answer and comment on their page."""
    page = new_page()
    if request.param == "E2":
        page.clock.install()  # before the page is there, so that all its timers can be driven
    page.goto(served.site.link(request.param))
    page.locator(READY).wait_for()
    expert = Expert(page, 1)
    expert.answer("before")
    expert.saved()
    return expert


def same_item_and_content(served, expert, name, before):
    """The page says that all is saved, it is stored, a reload shows it, and it can be sent."""
    expert.saved()
    shown = expert.shown()
    assert shown == {**before, "comment": "meanwhile"}
    answers, labels = served.stored(name)
    assert (answers, labels) == ({**shown["chosen"], "comment": "meanwhile"}, 0)
    expert.page.reload()
    expert.page.locator(READY).wait_for()
    assert expert.shown() == shown
    expert.page.locator(".submit").click()
    expert.page.locator(READY, has_text="Item 2 of 6").wait_for()
    assert served.stored(name)[1] == 1


@pytest.mark.parametrize("at_work", ["E1"], indirect=True)
def test_a_page_outlives_its_server(served, at_work):
    before = at_work.shown()
    served.kill()
    at_work.page.locator("textarea").last.fill("meanwhile")
    at_work.page.locator(".saved", has_text="Not saved yet").wait_for()
    served.start()
    same_item_and_content(served, at_work, "E1", before)


@pytest.mark.parametrize("at_work", ["E2"], indirect=True)
def test_a_page_outlives_a_network_cut_of_half_a_minute(served, at_work):
    page, before, tries = at_work.page, at_work.shown(), []
    page.on("requestfailed", lambda request: tries.append(request.url))
    page.context.set_offline(True)
    page.locator("textarea").last.fill("meanwhile")
    page.locator(".saved", has_text="Not saved yet").wait_for()
    started = page.evaluate("Date.now()")
    while page.evaluate("Date.now()") < started + CUT_SECONDS * 1000:
        failed = sum(url.endswith("/work/draft") for url in tries)
        # All timers of the page that are due by then run: its own, and those of Streamlit.
        page.clock.run_for(STEP_SECONDS * 1000)
        deadline = time.monotonic() + 60
        while sum(url.endswith("/work/draft") for url in tries) == failed:
            assert time.monotonic() < deadline, "the page gave up"
            page.wait_for_timeout(20)
        page.locator(".saved", has_text="Not saved yet").wait_for()
    assert at_work.shown() == {**before, "comment": "meanwhile"}
    assert served.stored("E2") == ({**before["chosen"], "comment": "before"}, 0)
    page.context.set_offline(False)
    same_item_and_content(served, at_work, "E2", before)


@pytest.mark.parametrize("at_work", ["E3"], indirect=True)
def test_an_ended_session_is_taken_up_again(served, at_work):
    # streamlit 8905, Appraise 39: the session ended and the work on the page with it.
    before = at_work.shown()
    at_work.page.context.clear_cookies()
    at_work.page.locator("textarea").last.fill("meanwhile")
    at_work.page.locator(".saved", has_text="Not saved yet").wait_for()
    at_work.page.locator(".notice", has_text="personal link").wait_for()
    other = at_work.page.context.new_page()
    other.goto(served.site.link("E3"))
    other.locator(READY).wait_for()
    other.close()
    at_work.page.locator(".notice").wait_for(state="hidden")
    same_item_and_content(served, at_work, "E3", before)


def test_a_killed_server_loses_nothing_it_acknowledged(chromium_path, tmp_path):
    # cvat 7996: days of work lost. perf/kill_server.py does this twenty times.
    found = kill_server.run(tmp_path, kills=2, browsers=1)
    assert found["kills"] == 2
    assert found["acknowledged_labels"] >= 2
    assert found["acknowledged_drafts"] >= 2
    assert (found["lost"], found["reloads_that_did_not"], found["failures"]) == ([], [], [])
