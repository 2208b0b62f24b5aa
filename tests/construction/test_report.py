"""The report of a draft: counts by cell, files on disk, a page that runs nothing from outside."""

from __future__ import annotations

import json
import time

from benchmarks.items import Provenance, make_item
from benchmarks.stride import Triplet
from construction.report import (
    DraftReport,
    Figure,
    Rejected,
    count_cells,
    render_report,
    write_report,
)

MEAN = "<script>alert(1)</script>"


def _item(clip, axis, flagged=()):
    payload = Triplet(
        axis=axis, corpus="demo", clip_id=clip, caption_id=f"{clip}#0", caption="a", perturbed="b",
        edit={},
    )  # fmt: skip
    provenance = Provenance(rule="test/1", parameters={"flags": list(flagged)} if flagged else {})
    return make_item("stride", "triplet", {"corpus": "demo", "axis": axis}, payload, provenance)


def _refused(source, axis, code="too_long"):
    cell = {"corpus": "demo", "axis": axis}
    return Rejected(source=source, cell=cell, stage="rule", code=code, reason=MEAN)


def _report(cells, **changed):
    given = {
        "benchmark": "stride", "seed": 1, "settings": {"name": MEAN}, "asked": 5, "drafted": 3,
        "flagged": 1, "rejected": {"too_long": 1}, "cells": cells, "started": time.time(),
        "seconds": 0.5, "tool_version": "0",
    }  # fmt: skip
    return DraftReport(**(given | changed))


def test_cells_count_items_flags_and_refusals_against_the_quota():
    items = [
        _item("c1", "mirror_reflection"),
        _item("c2", "mirror_reflection", ["divergent"]),
        _item("c3", "temporal_order"),
    ]
    refused = [_refused("c4", "mirror_reflection"), _refused("c5", "random_content", "same")]
    planned = [({"corpus": "demo", "axis": "action_identity"}, 4)]
    rows = count_cells(items, refused, ["corpus", "axis"], planned)
    counts = {r.cell["axis"]: (r.planned, r.drafted, r.flagged, r.rejected, r.short) for r in rows}
    assert counts == {
        "action_identity": (4, 0, 0, 0, 4),
        "mirror_reflection": (None, 2, 1, 1, None),
        "random_content": (None, 0, 0, 1, None),
        "temporal_order": (None, 1, 0, 0, None),
    }
    assert next(iter(counts)) == "action_identity"
    assert sum(row.drafted for row in rows) == len(items)


def test_a_report_is_written_whole_and_holds_nothing_that_runs(tmp_path):
    rows = count_cells([_item("c1", "mirror_reflection")], [], ["axis"])
    report = _report(
        rows,
        tables={"words": [{"word": MEAN, "share": 0.25, "note": None}, {"word": "=1+1"}]},
        figures=(Figure(name="gaps", title="Gaps", svg="<svg id='gaps'></svg>"),),
        notes=(MEAN,),
        not_run={"filter": MEAN},
    )
    refused = [_refused("c4", "mirror_reflection")]
    page = write_report(report, refused, tmp_path / "draft")
    text = page.read_text()
    assert MEAN not in text
    assert "<svg id='gaps'></svg>" in text
    kept = json.loads((page.parent / "report.json").read_text())
    assert kept["drafted"] == 3
    assert "svg" not in kept["figures"][0]
    assert (page.parent / "gaps.svg").read_text() == "<svg id='gaps'></svg>"
    table = (page.parent / "words.csv").read_text().splitlines()
    assert table == ["word,share,note", f"{MEAN},0.25,", "'=1+1,,"]
    lines = (page.parent / "rejected.jsonl").read_text().splitlines()
    assert [json.loads(line)["source"] for line in lines] == ["c4"]


def test_tables_and_figures_of_an_earlier_run_do_not_stay(tmp_path):
    figure = Figure(name="gaps", title="Gaps", svg="<svg></svg>")
    old = _report((), tables={"words": [{"word": "a", "n": 2}]}, figures=(figure,))
    write_report(old, [], tmp_path)
    (tmp_path / "train.jsonl").write_text("mine")
    assert (tmp_path / "words.csv").read_text() == "word,n\na,2\n"
    new = _report((), tables={"words": [], "sums": [{"n": 1, "share": 0.5, "none": None}]})
    page = write_report(new, [], tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"report.html", "report.json", "rejected.jsonl", "sums.csv", "train.jsonl"}
    assert "Words" not in page.read_text()
    # Names that lead elsewhere are not followed, and what is no report is passed over.
    (tmp_path / "report.json").write_text('{"tables": {"../gone": []}, "figures": []}')
    (tmp_path.parent / "gone.csv").write_text("kept")
    write_report(new, [], tmp_path)
    (tmp_path / "report.json").write_text("[]")
    write_report(new, [], tmp_path)
    assert (tmp_path.parent / "gone.csv").read_text() == "kept"


def test_a_report_with_nothing_in_it_can_be_drawn():
    assert "Draft of STRIDE" in render_report(_report((), drafted=0, flagged=0, rejected={}))
