"""The report: what it says, what it must never hide, what must not break out of it."""

import json
import re

import pytest

from agreement.axis import Axis
from agreement.ratings import RatingRecord, from_records
from agreement.report import build_report, render_html
from agreement.tables import ratings_by_axis
from tests.agreement.samples import noisy, table


def report_of(*tables, **kwargs):
    kwargs.setdefault("resamples", 100)
    return build_report(tables, title="a study", tool_version="0", **kwargs)


def test_page_and_json_hold_the_same_numbers():
    report = report_of(noisy(60, seed=1))
    page = render_html(report)
    twin = json.loads(report.model_dump_json())
    for row in twin["checks"][0]["analysis"]["coefficients"]:
        assert f"{row['value']:.3f}" in page.replace("−", "-")
    assert twin["seed"] == 0
    assert twin["checks"][0]["analysis"]["resampling"]["resamples"] == 100


def test_the_page_needs_nothing_from_outside():
    page = render_html(report_of(noisy(30, seed=2)))
    assert not re.search(r"<script|<link|<img|https?://|url\(|@import", page)


def test_text_from_outside_is_escaped():
    records = [
        RatingRecord("<script>x</script>", rater, label)
        for rater, label in (("<b>A1", "<i>yes"), ("A2", "no"))
    ]
    axis = Axis(name="<u>fluent", level="nominal", domain=("<i>yes", "no"))
    page = render_html(report_of(from_records(axis, records), links={"<script>x</script>": '"><x'}))
    for raw in ("<script>", "<b>A1", "<i>yes", "<u>fluent", '"><x'):
        assert raw not in page


def test_simulated_raters_are_marked_everywhere():
    real = render_html(report_of(noisy(30)))
    assert "SIMULATED" not in real
    report = report_of(noisy(30), noisy(30, seed=1), simulated_raters=["A2"])
    page = render_html(report)
    assert 'role="alert">SIMULATED RATERS: A2.' in page
    assert "(SIMULATED)</title>" in page
    assert page.count('class="tag">SIMULATED') == 1 + 2 + 2  # title, each check, A2 in each
    assert "SIMULATED" in report.methods
    assert report.simulated_raters == ("A2",)


def test_undefined_is_blank_with_its_reason():
    report = report_of(table([["a", "a"]] * 5))
    page = render_html(report)
    assert "undefined: no variation" in page
    assert "NaN" not in page
    assert "All comparable ratings bear one label" in report.checks[0].notes[0]


def test_paradox_is_noted_with_ac1_beside():
    rows = [["yes", "yes"]] * 90 + [["yes", "no"]] * 5 + [["no", "yes"]] * 5
    check = report_of(table(rows, domain=("yes", "no"))).checks[0]
    assert len(check.notes) == 1
    # Kappa: p_a = .9, p_e = .95^2 + .05^2 = .905, (.9 - .905) / .095 = -.05.
    assert "Agreement is high (90%) while κ is low (-0.05)" in check.notes[0]
    assert "AC1 is 0.89" in check.notes[0]
    assert "95% of the ratings are “yes”" in check.notes[0]


def test_no_paradox_without_one():
    assert report_of(noisy(60, fidelity=0.9)).checks[0].notes == ()


def test_disputed_items_come_worst_first_and_unanimous_ones_not_at_all():
    rows = [["a", "a", "a"], ["a", "b", "c"], ["a", "a", "b"], [None, "a", None], ["c", "c", None]]
    check = report_of(table(rows), links={"i1": "/clip/1"}).checks[0]
    assert [(d.item, round(d.agreement, 3)) for d in check.disputed] == [("i1", 0), ("i2", 0.333)]
    assert check.disputed[0].labels == {"A1": "a", "A2": "b", "A3": "c"}
    assert check.disputed[0].link == "/clip/1"
    assert check.n_unanimous == 2


def test_pairs_of_labels_count_every_pair_in_both_orders():
    check = report_of(table([["a", "b", "b"], ["a", "a", None]])).checks[0]
    # Item 1: ab, ab, bb. Item 2: aa.
    assert check.pairs_of_labels == ((2, 2, 0), (2, 2, 0), (0, 0, 0))


def test_leaving_a_rater_out_is_the_table_without_them():
    ratings = noisy(50, seed=3)
    check = report_of(ratings).checks[0]
    without = report_of(ratings.without_rater(1)).checks[0]
    left = {out.rater: out.coefficients for out in check.left_out}
    assert list(left) == ["A1", "A2", "A3"]
    assert [c.value for c in left["A2"]] == [c.value for c in without.headline]


def test_strata_one_by_one_and_crossed():
    records = [
        RatingRecord(f"i{i}", rater, "yes" if (i + k * (i % 4 == 0)) % 3 else "no", None, strata)
        for i in range(24)
        for strata in [{"axis": "mt"[i % 2], "difficulty": ("easy", "hard")[i // 12]}]
        for k, rater in enumerate(("A1", "A2"))
    ]
    axis = Axis(name="x", level="nominal", domain=("yes", "no"))
    groups = report_of(from_records(axis, records)).checks[0].groups
    assert [tuple(g.stratum.values()) for g in groups] == [
        ("m",), ("t",), ("easy",), ("hard",),
        ("m", "easy"), ("m", "hard"), ("t", "easy"), ("t", "hard"),
    ]  # fmt: skip
    assert sum(g.n_items for g in groups[:2]) == 24
    assert {g.n_items for g in groups[4:]} == {6}
    assert all("only 6 items are resampled" in g.warnings[0] for g in groups[4:])


def test_axis_and_difficulty_are_crossed_among_other_strata():
    records = [
        RatingRecord(f"i{i}", rater, "yes" if i % 3 else "no", None, strata)
        for i in range(24)
        for strata in [
            {"axis": "mt"[i % 2], "difficulty": ("easy", "hard")[i // 12], "task": f"T{i % 3}"}
        ]
        for rater in ("A1", "A2")
    ]
    axis = Axis(name="x", level="nominal", domain=("yes", "no"))
    groups = report_of(from_records(axis, records)).checks[0].groups
    crossed = [tuple(g.stratum) for g in groups if len(g.stratum) > 1]
    assert crossed == [("axis", "difficulty")] * 4


def test_built_twice_it_is_the_same_to_the_byte():
    one, two = (report_of(noisy(40, seed=4)) for _ in range(2))
    assert one.model_dump_json() == two.model_dump_json()
    assert render_html(one) == render_html(two)


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_continuous_scores(level):
    records = [
        RatingRecord(f"i{i}", f"A{r}", round(i + 0.37 * ((i * 7 + r * 3) % 5), 3))
        for i in range(150)
        for r in range(3)
    ]
    report = report_of(from_records(Axis(name="score", level=level), records))
    [alpha] = report.checks[0].headline
    assert alpha.params == {"level": level}
    assert 0.9 < alpha.value < 1
    assert render_html(report)


def test_rows_of_a_study_become_one_table_per_axis():
    audit = pytest.importorskip("audit.ratings")
    rows = [
        audit.RatingRow(
            axis=axis,
            level="nominal",
            domain=("yes", "no"),
            item_id=item,
            rater=rater,
            label="yes",
            clip_id=clip,
            stratum={"axis": "mirror_reflection"},
            simulated=False,
        )
        for axis in ("fluent", "target_only")
        for item, clip in (("x", "c1"), ("y", "c1"), ("z", "c2"))
        for rater in ("A1", "A2")
    ]
    tables = ratings_by_axis(rows)
    assert [t.axis.name for t in tables] == ["fluent", "target_only"]
    assert tables[0].clusters.tolist() == [0, 0, 1]
    assert report_of(*tables).checks[0].analysis.resampling.unit == "cluster"


def test_labels_of_a_pair_are_crossed_over_the_items_both_rated():
    rows = [["a", "a", "b"], ["a", "b", None], ["b", None, "b"]]
    check = report_of(table(rows, domain=("a", "b"))).checks[0]
    tables = {pair.raters: pair.counts for pair in check.pair_tables}
    assert tables == {
        ("A1", "A2"): ((1, 1), (0, 0)),
        ("A1", "A3"): ((0, 1), (0, 1)),
        ("A2", "A3"): ((0, 1), (0, 0)),
    }


def test_time_per_item_has_quartiles_and_leaves_out_nonsense():
    seconds = {(f"i{k}", "A10"): float(k) for k in range(1, 6)}
    seconds |= {("i1", "A2"): 7.0, ("i2", "A2"): float("nan"), ("i3", "A2"): -1.0}
    report = report_of(noisy(30), seconds=seconds)
    everyone, second, tenth = report.times
    assert (everyone.n, second.rater, second.n, tenth.rater) == (6, "A2", 1, "A10")
    assert (tenth.lower_quartile, tenth.median, tenth.upper_quartile) == (2, 3, 4)
    assert tenth.total == 15
    assert "Time per item" in render_html(report)
    assert "Time per item" not in render_html(report_of(noisy(30)))


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://x.example/a", True),
        ("../../media/a.mp4", True),
        ("/items/7?t=a:b", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
    ],
)
def test_only_links_that_lead_somewhere_are_kept(address, kept):
    report = report_of(table([["a", "b"], ["a", "a"]]), links={"i0": address})
    assert ("<a href=" in render_html(report).split("Most disputed")[1]) is kept


def test_pictures_stand_beside_disputed_items_only():
    report = report_of(table([["a", "b"], ["a", "a"]]), texts={"i0": ("one", "<two>")})
    page = render_html(report, thumbnails={"i0": "data:image/jpeg;base64,AA", "i1": "data:,B"})
    assert page.count("<img") == 1
    assert "&lt;two&gt;" in page
