"""Start-up: the help page, `make demo` on a fresh clone and again, and submit to next clip.

Run ``python -m perf.front_door`` (a minute), or with ``--fresh`` to time `make demo` on a clone of
the last commit as well (minutes: it installs everything). Prints seconds, medians and ratios.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PORT = 8673


def seconds(command: list[str]) -> float:
    """Return the wall time of one run of a command."""
    began = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def served_after(command: list[str], folder: Path, limit: float) -> float:
    """Start a command that serves the page, return seconds until it answers, and end it."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        while time.perf_counter() - began < limit:
            if process.poll() is not None:
                raise RuntimeError(f"{command[0]} ended with {process.returncode}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/health", timeout=1):
                    return time.perf_counter() - began
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"no page after {limit:.0f} s")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def help_page() -> None:
    """Time `motionjury --help` against the bare interpreter and against importing pandas."""
    python = sys.executable
    runs = {
        "motionjury --help": [python, "-m", "motionjury", "--help"],
        "python -c pass": [python, "-c", "pass"],
        "python -c 'import pandas'": [python, "-c", "import pandas"],
    }
    medians = {
        name: statistics.median(seconds(command) for _ in range(9))
        for name, command in runs.items()
    }
    ours = medians["motionjury --help"]
    for name, value in medians.items():
        print(f"{name:28s} {value:6.3f} s   ratio to ours {value / ours:5.2f}")


def demo(fresh: bool) -> None:
    """Time the demo from the command to the page served."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "clone"
        if fresh:
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
            makefile = folder / "Makefile"
            text = makefile.read_text(encoding="utf-8")
            makefile.write_text(text.replace("motionjury demo", f"motionjury demo --port {PORT}"))
            first = served_after(["make", "demo"], folder, 900)
            print(f"make demo, fresh clone       {first:6.1f} s   (limit 300)")
            again = served_after(["make", "demo"], folder, 120)
            print(f"make demo, second time       {again:6.1f} s   (limit 20)")
            return
        folder.mkdir()
        command = [sys.executable, "-m", "motionjury", "demo", "--port", str(PORT)]
        first = served_after([*command, "--workspace", str(folder / "w")], ROOT, 900)
        again = served_after([*command, "--workspace", str(folder / "w")], ROOT, 120)
        print(f"motionjury demo, first time  {first:6.1f} s   (set up already)")
        print(f"motionjury demo, second time {again:6.1f} s   (limit 20)")
        submits(folder / "w")


def submits(workspace: Path) -> None:
    """Time submit to the next clip playing, in a real browser on the demo's own clips."""
    from playwright.sync_api import sync_playwright

    from motionjury.demo import STUDY
    from motionjury.workspace import Workspace
    from tests.annotation_app import site as site_module
    from tests.annotation_app import test_browser as steps
    from tests.annotation_app.conftest import FLAGS

    path = site_module.find_chromium()
    if path is None:
        print("submit to next clip: not run, no Chromium found")
        return
    site = site_module.Site(url="", workspace=Workspace(workspace))
    with site.workspace.db.write() as session:
        from audit.access import add_person, invite
        from audit.records import get_study
        from audit.studies import add_member

        person = add_person(session, "Stopwatch", "expert")
        add_member(session, get_study(session, STUDY).id, person.id)
        site.links["Stopwatch"] = invite(session, person.id)
    process = site_module.start(site, workspace / "server.log")
    times = []
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            steps.sign_in(page, site, "Stopwatch")
            steps.read_guidelines(page)
            answers = {**steps.YES, "single_change": "no", "confidence": "4"}
            steps.desk(page, "Training 1 of 1")
            steps.choose(page, answers)
            page.keyboard.press("Enter")
            page.get_by_role("button", name="Continue").wait_for()
            page.keyboard.press("Enter")
            for number in range(1, 9):
                steps.desk(page, f"Item {number} of")
                page.wait_for_function(steps.PLAYING)
                page.wait_for_function(steps.SPARE_READY)
                steps.choose(page, answers)
                before = page.evaluate(steps.SOURCE)
                began = time.perf_counter()
                page.keyboard.press("Enter")
                page.wait_for_function(
                    f"before => ({steps.SOURCE})() !== before && ({steps.PLAYING})()",
                    arg=before, polling=10,
                )  # fmt: skip
                times.append(time.perf_counter() - began)
            browser.close()
    finally:
        process.terminate()
        process.wait(timeout=20)
    print(
        f"submit to next clip playing  median {statistics.median(times):.2f} s, "
        f"worst {max(times):.2f} s of {len(times)}   (limit 1)"
    )


def main() -> None:
    """Run all, or with --fresh only the fresh clone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="time make demo on a fresh clone")
    arguments = parser.parse_args()
    if not arguments.fresh:
        help_page()
    demo(arguments.fresh)


if __name__ == "__main__":
    main()
