"""Throughput of the label service: many experts at once, with retries, delays and lost answers.

Run ``python perf/labelling.py``. Each expert is a thread that claims, autosaves twice and submits;
some submissions are sent twice at the same moment, some are abandoned in mid-transaction as by a
crash and sent again. Printed: latencies, and that nothing was lost, doubled or over quota.
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
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sqlalchemy import func, select

from audit.assignment import next_assignment
from audit.labelling import save_draft, submit
from audit.replay import progress_from_log
from audit.studies import progress
from store.session import open_database
from store.tables import AssignmentRow, LabelRow
from tests.audit.world import GOOD, World, fill
from tests.postgres import serve


class Crash(Exception):
    """Stands for a process that dies between writing and committing."""


def work(
    world: World,
    person: str,
    submits: int,
    think: float,
    times: dict[str, list[float]],
    acknowledged: list[str],
    failures: list[str],
) -> None:
    """Label as one expert, until ``submits`` are done or nothing is left."""
    chance = random.Random(person)
    try:
        for _ in range(submits):
            start = time.perf_counter()
            with world.db.write() as session:
                held = next_assignment(session, world.study, person)
            times["claim"].append(time.perf_counter() - start)
            if held is None:
                return
            for version in (0, 1):
                time.sleep(chance.uniform(0, think))
                start = time.perf_counter()
                answers = {**GOOD, "comment": f"draft {version}"}
                with world.db.write() as session:
                    save_draft(session, held.id, person, answers, {"seconds": 1.0}, version)
                times["draft"].append(time.perf_counter() - start)
            time.sleep(chance.uniform(0, think))
            if chance.random() < 0.1:
                try:
                    with world.db.write() as session:
                        submit(session, held.id, person, f"s-{held.id}", GOOD, {})
                        raise Crash
                except Crash:
                    pass
            start = time.perf_counter()
            with world.db.write() as session:
                label = submit(session, held.id, person, f"s-{held.id}", GOOD, {"seconds": 2.0})
            times["submit"].append(time.perf_counter() - start)
            acknowledged.append(label.id)
            if chance.random() < 0.2:
                with world.db.write() as session:
                    again = submit(session, held.id, person, f"s-{held.id}", GOOD, {})
                if again.id != label.id:
                    failures.append(f"retry made another label: {again.id}")
    except Exception as error:
        failures.append(f"{type(error).__name__}: {error}")


def run(url: str, experts: int, submits: int, think: float) -> dict[str, object]:
    """Let the experts label at once in the database at a URL; return what was measured."""
    db = open_database(url)
    ratings = 3
    world = fill(db, items=-(-experts * submits // ratings), experts=experts, ratings=ratings)
    times: dict[str, list[float]] = {"claim": [], "draft": [], "submit": []}
    acknowledged: list[str] = []
    failures: list[str] = []
    threads = [
        threading.Thread(
            target=work, args=(world, person, submits, think, times, acknowledged, failures)
        )
        for person in world.experts
    ]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - start
    with db.read() as session:
        stored = set(session.scalars(select(LabelRow.id)))
        per_pair = Counter(
            (item, person)
            for item, person in session.execute(select(LabelRow.item_id, LabelRow.person_id))
        )
        done = session.execute(
            select(AssignmentRow.item_id, func.count())
            .where(AssignmentRow.state == "done")
            .group_by(AssignmentRow.item_id)
        ).all()
        now = time.time()
        same = progress(session, world.study, now) == progress_from_log(session, world.study, now)
    db.close()
    return {
        "experts": experts,
        "submits_each": submits,
        "think_seconds_up_to": think,
        "wall_seconds": round(wall, 2),
        "writes_per_second": round(sum(map(len, times.values())) / wall, 1),
        "acknowledged": len(acknowledged),
        "lost": len(set(acknowledged) - stored),
        "doubled": sum(number > 1 for number in per_pair.values()),
        "over_quota": sum(number > ratings for _item, number in done),
        "failures": failures[:5],
        "log_equals_tables": same,
        "milliseconds": {
            name: {
                "p50": round(1000 * sorted(found)[len(found) // 2], 1),
                "p95": round(1000 * sorted(found)[int(0.95 * (len(found) - 1))], 1),
                "max": round(1000 * max(found), 1),
            }
            for name, found in times.items()
            if found
        },
    }


def measure(kind: str, experts: int, submits: int, think: float) -> dict[str, object]:
    """Run on a new database of one kind, on this machine, each commit on the disk."""
    if kind == "postgresql":
        with serve(durable=True) as server:
            url = server.render_as_string(hide_password=False)
            return run(url, experts, submits, think)
    with tempfile.TemporaryDirectory() as folder:
        return run(f"sqlite:///{folder}/jury.db", experts, submits, think)


def main() -> None:
    """Run once with the numbers asked for and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experts", type=int, default=60)
    parser.add_argument("--submits", type=int, default=50)
    parser.add_argument("--think", type=float, default=2.0, help="longest pause, seconds")
    parser.add_argument("--database", choices=("sqlite", "postgresql"), action="append")
    options = parser.parse_args()
    found = {}
    for kind in options.database or ("sqlite", "postgresql"):
        before = os.getloadavg()
        found[kind] = measure(kind, options.experts, options.submits, options.think)
        found[kind]["load_before_and_after"] = [round(before[0], 1), round(os.getloadavg()[0], 1)]
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
