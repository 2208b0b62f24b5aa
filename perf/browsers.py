"""Real browsers labelling at once, and the server's memory over many items.

Run ``python -m perf.browsers`` (minutes). Each browser is a Chromium of its own that answers,
submits and waits until the next clip can be seen; the time is taken in the page, from the key to
the first frame. For the memory, HTTP clients do what the page does (the item, its clip, a draft,
a submission) as fast as they are served; the resident set is read after warming up and at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlalchemy import func, select

from perf.long_study import READY, STUDY, Expert, build, launch_browser
from store.tables import LabelRow
from tests.annotation_app.site import Site, start

_DESK = (
    "[...document.querySelectorAll('*')].find(e => e.shadowRoot?.querySelector('.mj')).shadowRoot"
)
UNTIL_NEXT = f"""() => new Promise((resolve, reject) => {{
  const desk = {_DESK}, count = () => desk.querySelector(".count").textContent;
  const before = count(), began = performance.now();
  const look = () => {{
    // The clip may be the same as before, so it is the item that tells.
    const video = desk.querySelector("video.shown");
    if (count() !== before && video?.readyState >= 3) resolve(performance.now() - began);
    else if (performance.now() - began > 60_000) reject(Error("no next clip within a minute"));
    else requestAnimationFrame(look);
  }};
  desk.querySelector(".submit").click();
  requestAnimationFrame(look);
}})"""
ANSWERS = {"fluent": "yes", "single_change": "yes", "distinguishable": "yes", "confidence": "4"}


def sit(
    site: Site, number: int, items: int, think: float, times: list[float], failures: list[str]
) -> None:
    """Label some items in a browser of one's own."""
    from playwright.sync_api import sync_playwright

    try:
        with sync_playwright() as playwright:
            browser = launch_browser(playwright)
            page = browser.new_page(viewport={"width": 1366, "height": 650})
            page.set_default_timeout(60_000)
            expert = Expert(page, number)
            page.goto(site.link(f"E{number}"))
            for _ in range(items):
                page.locator(READY).wait_for()
                time.sleep(expert.chance.uniform(0.5, 1.5) * think)
                expert.answer()
                expert.saved()
                times.append(page.evaluate(UNTIL_NEXT) / 1000)
            browser.close()
    except Exception as error:
        failures.append(f"{type(error).__name__}: {error}")


def resident(pid: int) -> float:
    """Return the resident memory of a process, megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def stored(site: Site) -> dict[str, int]:
    """Count the labels in the database, and those that are one person's second of an item."""
    with site.workspace.db.read() as session:
        labels = session.scalar(select(func.count()).select_from(LabelRow)) or 0
        pairs = select(LabelRow.item_id, LabelRow.person_id).distinct().subquery()
        once = session.scalar(select(func.count()).select_from(pairs)) or 0
    return {"labels_stored": labels, "doubled": labels - once}


def browsers(folder: Path, number: int, items: int, think: float) -> dict[str, Any]:
    """Let browsers label at once; return seconds from submit to the next clip."""
    site = build(folder / "workspace", items=items + 5, experts=number)
    server = start(site, folder / "server.log")
    times: list[float] = []
    failures: list[str] = []
    threads = [
        threading.Thread(target=sit, args=(site, one, items, think, times, failures))
        for one in range(1, number + 1)
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        kept = stored(site)
    finally:
        server.terminate()
        server.wait(30)
        site.workspace.db.close()
    times.sort()
    return {
        "browsers": number,
        "submits": len(times),
        **kept,
        "seconds_p50": round(times[len(times) // 2], 3),
        "seconds_p95": round(times[int(0.95 * (len(times) - 1))], 3),
        "seconds_max": round(times[-1], 3),
        "failures": failures,
    }


def memory(
    folder: Path, items: int, experts: int, warm: int = 50, every: int = 50
) -> dict[str, Any]:
    """Drive the server through many items over HTTP; return its memory on the way, megabytes.

    It is first read after ``warm`` items, and then after each further ``every``.
    """
    from annotation_app.desk import desk_state
    from annotation_app.texts import choose

    each = -(-(items + warm) // experts)
    site = build(folder / "workspace", items=each + 1, experts=experts)
    server = start(site, folder / "server.log")
    study = site.studies[STUDY]
    series: list[tuple[int, float]] = []
    done = 0
    try:
        for number in range(1, experts + 1):
            with site.client(f"E{number}") as client:
                with site.workspace.db.write() as session:
                    state = desk_state(
                        session, study, site.people[f"E{number}"], choose(None, None)
                    )
                for _ in range(each):
                    task = state["task"]
                    client.get(f"/clip/{task['clip']['token']}").raise_for_status()
                    body = {"task": task["id"], "answers": ANSWERS, "activity": {"seconds": 1}}
                    draft = {**body, "version": task["version"]}
                    client.post("/work/draft", json=draft).raise_for_status()
                    sent = {**body, "study": study, "submission": task["id"]}
                    answer = client.post("/work/submit", json=sent).raise_for_status()
                    state = answer.json()["state"]
                    done += 1
                    if done >= warm and (done - warm) % every == 0:
                        series.append((done - warm, round(resident(server.pid), 1)))
        kept = stored(site)
    finally:
        server.terminate()
        server.wait(30)
        site.workspace.db.close()
    return {
        "items": series[-1][0],
        **kept,
        "megabytes_start": series[0][1],
        "megabytes_end": series[-1][1],
        "megabytes_by_items": dict(series),
    }


def main() -> None:
    """Run once and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browsers", type=int, default=8)
    parser.add_argument("--submits", type=int, default=15, help="of each browser; 0 for none")
    parser.add_argument("--think", type=float, default=4.0, help="mean pause at an item, seconds")
    parser.add_argument("--items", type=int, default=500, help="for the memory; 0 for none")
    options = parser.parse_args()
    found: dict[str, Any] = {"load_before": round(os.getloadavg()[0], 1)}
    if options.submits:
        with tempfile.TemporaryDirectory() as folder:
            found["submit_to_next_clip"] = browsers(
                Path(folder), options.browsers, options.submits, options.think
            )
    found["load_between"] = round(os.getloadavg()[0], 1)
    if options.items:
        with tempfile.TemporaryDirectory() as folder:
            found["memory"] = memory(Path(folder), options.items, experts=10)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
