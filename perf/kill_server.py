"""Kill the server in the middle of labelling by real browsers, again and again; count what is lost.

Run ``python -m perf.kill_server`` (minutes). Each kill is SIGKILL, at a random moment after the
server has acknowledged something since its last start; then it is started again on the same port.
What a browser was told is kept is looked up in the database: each label once and as it was sent,
each draft at its version or a later one. Half of the time a browser reloads afterwards, once its
page says that all is saved, and must find the same item with the same content; else it goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlalchemy import select

from audit.labelling import load_draft
from perf.long_study import READY, Expert, build, launch_browser
from store.events import list_events
from store.tables import LabelRow
from tests.annotation_app.site import Site, free_port, start


@dataclass
class Seat:
    """One browser at work."""

    name: str
    expert: Expert | None = None
    restarts: int = 0
    """Starts of the server so far."""
    noticed: int = 0
    """Of these, starts that it dealt with."""
    returned: int = 0
    """Reloads after which the item that was saved last stood there with its content."""
    strayed: list[str] = field(default_factory=list)
    """Reloads after which it did not, although it was not submitted."""
    failure: str = ""


def sit(site: Site, seat: Seat, seed: int, stop: threading.Event) -> None:
    """Label until told to stop, through every loss of the server."""
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as playwright:
            browser = launch_browser(playwright)
            page = browser.new_page(viewport={"width": 1366, "height": 650})
            page.set_default_timeout(20_000)
            expert = seat.expert = Expert(page, seed)
            come_in(site.link(seat.name), expert, stop)
            while not stop.is_set():
                try:
                    label(site, seat, expert, stop)
                except Error:
                    come_in(site.url, expert, stop)
            browser.close()
    except Exception as error:
        seat.failure = f"{type(error).__name__}: {error}"


def label(site: Site, seat: Seat, expert: Expert, stop: threading.Event) -> None:
    """Answer the item on the page and submit it, pressing again while there is no answer."""
    page = expert.page
    page.locator(READY).wait_for()
    at = page.locator(READY).inner_text()
    expert.answer(f"seen at {expert.chance.random():.6f}")
    if seat.noticed != seat.restarts:
        seat.noticed = seat.restarts
        if expert.chance.random() < 0.5:
            reload_and_compare(site, seat, expert, stop)
            return
    if expert.chance.random() < 0.5:
        expert.saved()
    page.locator(".submit").click()
    began = time.monotonic()
    while page.locator(READY).inner_text() == at and not stop.is_set():
        if page.locator(".notice:visible").count() or time.monotonic() - began > 20:
            page.reload()
            return
        if page.locator(".message.bad:visible").count() and page.locator(".submit").is_enabled():
            page.locator(".submit").click()
        page.wait_for_timeout(100)


def reload_and_compare(site: Site, seat: Seat, expert: Expert, stop: threading.Event) -> None:
    """Reload once all is saved; the page must come back as it was."""
    expert.saved()
    before = expert.shown()
    come_in(site.url, expert, stop)
    after = expert.shown()
    if after == before:
        seat.returned += 1
    else:
        seat.strayed.append(f"before {before}, after {after}")


def come_in(address: str, expert: Expert, stop: threading.Event) -> None:
    """Open the page, again and again, until it is there."""
    from playwright.sync_api import Error

    for _ in range(60):
        if stop.is_set():
            return
        try:
            expert.page.goto(address)
            expert.page.locator(READY).wait_for()
            return
        except Error:
            time.sleep(0.5)


def lost(site: Site, seats: list[Seat]) -> dict[str, Any]:
    """Look up all that was acknowledged; return counts and what is missing."""
    missing: list[str] = []
    labels = drafts = 0
    with site.workspace.db.read() as session:
        stored: dict[str, list[LabelRow]] = {}
        for row in session.scalars(select(LabelRow)):
            stored.setdefault(row.assignment_id, []).append(row)
        versions = {
            (event.subject, event.details["version"])
            for event in list_events(session, actions=("draft_saved",))
        }
        for seat in seats:
            kept = seat.expert.kept if seat.expert else None
            for sent in list(kept.labels) if kept else []:
                labels += 1
                rows = stored.get(sent["task"], [])
                if len(rows) != 1 or rows[0].submission_id != sent["submission"]:
                    missing.append(f"label {sent['task']}: {len(rows)} stored")
                elif not _same(sent["answers"], rows[0].answers):
                    missing.append(f"label {sent['task']}: stored with other answers")
            for sent in list(kept.drafts) if kept else []:
                drafts += 1
                if (sent["task"], sent["version"]) not in versions:
                    missing.append(f"draft {sent['task']} version {sent['version']}")
                    continue
                draft = load_draft(session, sent["task"], site.people[seat.name])
                if draft.version < sent["version"] or (
                    draft.version == sent["version"] and not _same(sent["answers"], draft.answers)
                ):
                    missing.append(f"draft {sent['task']}: stored with other answers")
    return {"labels": labels, "drafts": drafts, "lost": missing}


def _same(sent: dict[str, Any], stored: dict[str, Any]) -> bool:
    return {k: v for k, v in sent.items() if v} == {k: v for k, v in stored.items() if v}


def run(folder: Path, *, kills: int, browsers: int, seed: int = 5) -> dict[str, Any]:
    """Label, kill and look, ``kills`` times; return what was counted."""
    chance = random.Random(seed)
    site = build(folder / "workspace", items=60 + 15 * kills, experts=browsers)
    port = free_port()
    server = start(site, folder / "server.log", port=port)
    stop = threading.Event()
    seats = [Seat(f"E{number}") for number in range(1, browsers + 1)]
    threads = [
        threading.Thread(target=sit, args=(site, seat, seed + n, stop))
        for n, seat in enumerate(seats)
    ]
    for thread in threads:
        thread.start()
    missing: list[str] = []
    died = []
    try:
        for _ in range(kills):
            _await_more(seats, _acknowledged, _acknowledged(seats))
            time.sleep(chance.uniform(0, 2))
            server.kill()
            died.append(server.wait())
            missing += lost(site, seats)["lost"]
            server = start(site, folder / "server.log", port=port)
            for seat in seats:
                seat.restarts += 1
        _await_more(seats, _labels, max(kills - 1, _labels(seats)))
    finally:
        stop.set()
        for thread in threads:
            thread.join(120)
        server.terminate()
        server.wait(30)
    found = lost(site, seats)
    site.workspace.db.close()
    return {
        "kills": sum(code == -9 for code in died),
        "browsers": browsers,
        "acknowledged_labels": found["labels"],
        "acknowledged_drafts": found["drafts"],
        "lost": sorted({*missing, *found["lost"]}),
        "reloads_that_found_the_item_with_its_content": sum(seat.returned for seat in seats),
        "reloads_that_did_not": [text for seat in seats for text in seat.strayed],
        "failures": [seat.failure for seat in seats if seat.failure],
    }


def _await_more(seats: list[Seat], count: Callable[[list[Seat]], int], than: int) -> None:
    deadline = time.monotonic() + 180
    while count(seats) <= than:
        if time.monotonic() > deadline:
            raise RuntimeError(f"nobody labels: {[seat.failure for seat in seats]}")
        time.sleep(0.05)


def _acknowledged(seats: list[Seat]) -> int:
    drafts = sum(len(seat.expert.kept.drafts) for seat in seats if seat.expert)
    return drafts + _labels(seats)


def _labels(seats: list[Seat]) -> int:
    return sum(len(seat.expert.kept.labels) for seat in seats if seat.expert)


def main() -> None:
    """Run once and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--browsers", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), kills=options.kills, browsers=options.browsers)
    found["load"] = round(os.getloadavg()[0], 1)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
