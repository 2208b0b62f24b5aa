"""The time a page was looked at: nothing of a hidden tab, of a pause, and nothing twice."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import annotation_app
from audit.labelling import my_labels
from perf.long_study import READY, STUDY, Expert, build
from tests.annotation_app.pressing import press
from tests.annotation_app.site import start

pytestmark = pytest.mark.browser

POST = Path(annotation_app.__file__).parent / "player" / "post.js"
TURN = """state => {
    Object.defineProperty(document, "visibilityState", { get: () => state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopwatch")
    site = build(folder / "workspace", items=2, experts=1)
    process = start(site, folder / "server.log")
    yield site
    process.terminate()
    process.wait(timeout=20)
    site.workspace.db.close()


def test_stored_seconds_are_those_the_page_was_seen(served, new_page):
    page = new_page()
    page.clock.install()
    began = time.monotonic()
    page.goto(served.link("E1"))
    page.locator(READY).wait_for()
    expert = Expert(page, 1)
    seen = 0

    def look(seconds):
        nonlocal seen
        page.clock.fast_forward(seconds * 1000)
        seen += seconds

    look(200)
    page.evaluate(TURN, "hidden")
    page.clock.fast_forward(3_000_000)
    page.evaluate(TURN, "hidden")
    page.evaluate(TURN, "visible")
    page.evaluate(TURN, "visible")
    look(200)
    expert.answer("seen")
    expert.saved()
    page.reload()
    page.locator(READY).wait_for()
    look(200)
    press(page.locator(".submit"), page.locator(READY, has_text="Item 2 of 2"))
    with served.workspace.db.read() as session:
        (label,) = my_labels(session, served.studies[STUDY], served.people["E1"])
    # Beside the steps, the page's clock runs on as time does.
    assert seen <= label.activity["seconds"] <= seen + time.monotonic() - began


def test_a_pause_is_not_counted_and_a_second_start_not_twice(new_page):
    page = new_page()
    page.clock.install()
    page.goto("about:blank")
    page.clock.pause_at("2100-01-01")
    page.evaluate(f"{POST.read_text(encoding='utf-8')}; window.watch = new Stopwatch()")
    steps = (
        ("watch.start(5)", 10, 15),
        ("watch.pause()", 100, 15),
        ("watch.pause()", 100, 15),
        ("watch.resume()", 10, 25),
        ("watch.resume()", 10, 35),
        ("watch.visibility()", 10, 45),
        ("watch.start(1, false)", 10, 1),
    )
    for step, seconds, total in steps:
        page.evaluate(step)
        page.clock.run_for(seconds * 1000)
        assert page.evaluate("watch.seconds()") == pytest.approx(total), step
