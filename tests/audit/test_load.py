"""perf/labelling.py in small: many experts at once, with retries, delays and abandoned writes."""

from perf.labelling import run
from store.session import Database


def test_nothing_is_lost_doubled_or_over_quota(db: Database) -> None:
    found = run(db.url, experts=8, submits=6, think=0.02)
    counted = ("lost", "doubled", "over_quota", "failures", "log_equals_tables")
    assert [found[name] for name in counted] == [0, 0, 0, [], True]
    # The last places may be on items that those who are left have judged already.
    assert 40 <= found["acknowledged"] <= 48
    for name in ("claim", "draft", "submit"):
        shown = found["milliseconds"][name]
        assert 0 < shown["p50"] <= shown["p95"] <= shown["max"]
