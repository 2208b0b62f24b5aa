from __future__ import annotations

import csv
import io
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from corpus.problems import InputError
from metrics.plots import grouped_bars, radar
from metrics.result_files import render_html, to_csv, to_latex
from metrics.results import (
    Cell,
    Column,
    Dropped,
    Figure,
    Result,
    ResultTable,
    Row,
    Source,
    cell,
    hash_ids,
    write_result,
)

COLUMNS = (
    Column(name="R@1", better="higher", unit="%", plus_minus=True, spanner="Text-to-motion"),
    Column(name="MedR", better="lower", decimals=1, spanner="Text-to-motion"),
    Column(name="Diversity", decimals=3),
)


def table() -> ResultTable:
    given = [
        ("h", "A", 1.004, 3.0),
        ("h", "B", 1.0, 2.0),
        ("h", "C", 0.5, 2.0),
        ("k", "A", 9.0, 1.0),
    ]
    rows = [
        Row(
            labels={"Set": block, "Method": name},
            cells={
                "R@1": Cell(value=value, ci=(value - 0.5, value + 0.5)),
                "MedR": Cell(value=rank),
                "Diversity": cell(None, "too few"),
            },
            block=block,
        )
        for block, name, value, rank in given
    ]
    return ResultTable(name="table", title="A & B", columns=COLUMNS, rows=tuple(rows))


def result(**changed: Any) -> Result:
    given = {
        "suite": "score test",
        "title": "Scores <of> a & b",
        "tables": (table(),),
        "configuration": {"ties": "half (ours)", "cuts": [1, 5]},
        "sources": (Source(name="x.npz", role="scores", sha256="0" * 64),),
        "item_set": hash_ids(["a"]),
        "n_kept": 1200,
        "n_unit": "texts",
        "dropped": (Dropped(what="motions", n=3, reason="they have no <text>"),),
        "tool_version": "1.2.3",
        "not_run": {"FID": "no reference"},
    }
    return Result(**(given | changed))


def test_best_and_second_are_found_before_rounding_and_within_blocks() -> None:
    found = table()
    assert found.places(COLUMNS[0]) == {0: 1, 1: 2}
    assert found.places(COLUMNS[1]) == {1: 1, 2: 1, 0: 2}
    assert found.places(COLUMNS[2]) == {}


def test_latex_marks_them_and_has_one_cell_a_column() -> None:
    text = to_latex(table(), result())
    body = [line for line in text.splitlines() if line.startswith(("h &", "k &"))]
    assert body[0].startswith(r"h & A & $\mathbf{1.00}^{\pm 0.50}$ & $\underline{3.0}$ & -- \\")
    assert body[1].startswith(r"h & B & $\underline{1.00}^{\pm 0.50}$ & $\mathbf{2.0}$")
    assert {line.count("&") for line in body} == {4}
    assert text.count(r"\midrule") == 2
    assert r"\multicolumn{2}{c}{Text-to-motion}" in text


def test_csv_keeps_every_digit_and_reason() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(table()))))
    assert len(rows) == 12
    assert rows[0]["value"] == "1.004"
    assert (rows[2]["metric"], rows[2]["value"], rows[2]["reason"]) == ("Diversity", "", "too few")


def test_the_page_escapes_and_names_what_was_dropped() -> None:
    page = render_html(result())
    assert "Scores &lt;of&gt; a &amp; b" in page
    assert "they have no &lt;text&gt;" in page
    assert "<script" not in page
    for told in ("half (ours)", "x.npz", "1,200", "no reference", "too few"):
        assert told in page


def test_the_page_tells_numbers_from_yes_and_no() -> None:
    made = result()
    made = made.model_copy(update={"configuration": {"seed": 0, "repeats": 1, "strict": False}})
    page = render_html(made)
    for name, told in (("seed", "0"), ("repeats", "1"), ("strict", "no")):
        assert f'<th scope="row">{name}</th><td>{told}</td>' in page


def test_all_files_are_written(tmp_path: Path) -> None:
    drawn = Figure(name="bars", title="Bars", svg=grouped_bars({"g": {"s": Cell(value=1.0)}}))
    page = write_result(result(figures=(drawn,)), tmp_path / "out")
    names = {path.name for path in page.parent.iterdir()}
    assert names == {"result.json", "report.html", "table.csv", "table.tex", "bars.svg"}
    stored = json.loads((page.parent / "result.json").read_text())
    assert stored["tables"][0]["rows"][0]["cells"]["Diversity"]["value"] is None
    assert stored["dropped"][0]["n"] == 3


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        write_result(result(), tmp_path / "file" / "out")


def test_an_undefined_number_needs_a_reason() -> None:
    with pytest.raises(ValidationError, match="expected one where value is null"):
        Cell(value=None)
    with pytest.raises(ValidationError, match="finite"):
        Cell(value=float("inf"))
    assert cell(float("nan"), "no query").reason == "no query"


def test_the_item_set_depends_on_ids_and_their_order() -> None:
    hashes = [hash_ids(*lists) for lists in ([["ab"]], [["ba"]], [["a", "b"]], [["a"], ["b"]])]
    assert len(set(hashes)) == 4
    assert hash_ids(["a", "b"]) == hash_ids(["a", "b"])


def test_figures_escape_names_and_mark_what_is_undefined() -> None:
    values = {"<g>": {"a&b": Cell(value=-0.4, ci=(-0.6, -0.2)), "c": cell(None, "why <not>")}}
    for svg in (grouped_bars(values, reference=0.5), radar(values)):
        assert svg.startswith("<svg")
        assert "<g>" not in svg
        assert "a&amp;b" in svg
    assert "why &lt;not&gt;" in grouped_bars(values)


def test_places_do_not_hang_on_rounding_errors() -> None:
    values = (0.3, 0.1 + 0.2, 0.2)
    rows = tuple(Row(labels={"Method": str(v)}, cells={"R@1": Cell(value=v)}) for v in values)
    made = ResultTable(name="t", title="t", columns=COLUMNS[:1], rows=rows)
    assert made.places(COLUMNS[0]) == {0: 1, 1: 1, 2: 2}


def test_names_are_no_formulas_to_a_spreadsheet_and_no_commands_to_latex() -> None:
    row = Row(labels={"Method": "=1+1<|>_%&"}, cells={"R@1": Cell(value=1.0)})
    made = ResultTable(name="t", title="t", columns=COLUMNS[:1], rows=(row,))
    assert list(csv.reader(io.StringIO(to_csv(made))))[1][0] == "'=1+1<|>_%&"
    escaped = r"=1+1\textless{}\textbar{}\textgreater{}\_\%\&"
    assert escaped in to_latex(made, result())


def test_numbers_over_bars_have_room() -> None:
    bars = {"R@1": {name: Cell(value=0.12345) for name in "abcd"}}
    drawn = grouped_bars(bars, decimals=3)
    found = re.findall(r'<text x="([\d.]+)"[^>]*font-size="9.5"', drawn)
    places = sorted(float(x) for x in found)
    assert len(places) == 4
    assert min(b - a for a, b in itertools.pairwise(places)) >= 5.7 * len("0.123")


def test_an_earlier_result_leaves_nothing_and_other_files_stay(tmp_path: Path) -> None:
    write_result(result(figures=(Figure(name="old", title="x", svg="<svg/>"),)), tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "mine.csv").write_text("1")
    assert (tmp_path / "old.svg").exists()
    write_result(result(figures=()), tmp_path)
    assert not (tmp_path / "old.svg").exists()
    assert (tmp_path / "table.csv").exists()
    assert (tmp_path / "notes.txt").exists()
    assert (tmp_path / "mine.csv").exists()
