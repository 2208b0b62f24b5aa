"""Figure 2 of MRBench on corpora small enough to count by hand, and the command."""

from __future__ import annotations

import csv
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.taxonomy import default_taxonomy
from construction.mrbench.statistics import Described, corpus_statistics
from construction.mrbench.statistics_plots import statistics_figures
from motionjury.cli import cli

WALK = "a person walks forward"
ROWS = [
    ("h:000001", WALK), ("h:M000001", WALK), ("h:000002", WALK), ("h:000003", WALK),
    ("h:000003", "a man kicks a ball"), ("h:000004", "a man jumps"), ("h:M000004", "a man jumps"),
    ("h:000005", "a man jumps twice"), ("h:000006", "nothing to see"), ("h:000007", "he claps"),
]  # fmt: skip


def described(rows=ROWS):
    return [Described(motion=motion, text=text) for motion, text in rows]


def test_counts_of_a_small_corpus():
    found = corpus_statistics(described(), default_taxonomy())
    assert (found.motions, found.captions, found.unfiled) == (9, 10, 1)
    # Walk forward 4 (000003 has one caption each way: the first found counts), jump 3, clap 1.
    assert found.categories == (("Walk forward", 4), ("Jump up", 3), ("Clap", 1))
    assert found.cumulative == (4 / 8, 7 / 8, 1.0)
    assert (found.top_share(1), found.top_share(5)) == (0.5, 1.0)
    assert found.repeated == 4 / 10  # only WALK is at least three motions'
    assert found.ambiguous == 6 / 10  # WALK four times, "a man jumps" twice
    assert found.ambiguous_merged == 4 / 10  # the jumps are twins of each other
    assert found.most_shared == (WALK, 4)
    lengths = found.lengths["all"]
    assert (lengths.least, lengths.most, lengths.quantiles["0.5"]) == (2, 5, 4.0)
    assert lengths.mean == pytest.approx(3.6)


def test_a_category_is_one_whatever_its_case(tmp_path):
    file = tmp_path / "mine.jsonl"
    named = ["Gestures / Hand signals / Wave", "wave", "Wave", ["Gestures", "WAVE"], "My own"]
    lines = [
        json.dumps({"motion_id": n, "caption": "it goes on", "category": name})
        for n, name in enumerate(named)
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    found = json.loads(analyse(file, "--json").stdout)["corpora"]["mine"]
    assert found["categories"] == [["Wave", 4], ["My own", 1]]


def test_an_empty_corpus_is_undefined_not_zero():
    found = corpus_statistics([], default_taxonomy())
    shares = (found.repeated, found.ambiguous, found.ambiguous_merged, found.top_share(1))
    assert shares == (None, None, None, None)
    assert [f.svg[:4] for f in statistics_figures({"none": found})] == ["<svg"] * 3


@given(
    st.lists(
        st.tuples(st.sampled_from(["1", "M1", "2", "M2", "3"]), st.sampled_from(["a", "b", "c"])),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=30)
def test_merging_twins_never_makes_queries_more_ambiguous(rows):
    found = corpus_statistics(described(rows), default_taxonomy())
    assert found.ambiguous_merged <= found.ambiguous
    assert found.repeated <= found.ambiguous


def test_names_from_outside_are_escaped_in_pictures():
    found = corpus_statistics(described(), default_taxonomy())
    for figure in statistics_figures({"<script>": found}):
        assert "<script>" not in figure.svg
        assert "&lt;script&gt;" in figure.svg


def analyse(*arguments):
    return CliRunner().invoke(cli, ["corpus", "analyse", *map(str, arguments)])


def test_the_command_takes_files(tmp_path):
    file = tmp_path / "mine.jsonl"
    lines = [json.dumps({"motion_id": motion, "caption": text}) for motion, text in ROWS]
    sets = {"clip_id": 8, "concise": "a kick", "standard": "a man kicks", "fine": "he kicks a ball"}
    sets["category"] = ["Sports", "Combat", "Kick"]
    bad = ["[1]", '{"caption": "x"}', '{"motion_id": "9", "caption": " "}', "\x80"]
    bad += ['{"motion_id": "9", "caption": "\\ud800 walks"}', f'{{"motion_id": {"9" * 5000}}}']
    bad += ['{"motion_id": "9", "caption": "he walks", "granularity": ["fine"]}']
    file.write_text("\n".join([*lines, json.dumps(sets), *bad]), encoding="utf-8")
    out = tmp_path / "out"
    result = analyse(file, "--out", out, "--json")
    assert result.exit_code == 0
    assert result.stderr.count("refused: ") == 7
    found = json.loads(result.stdout)["corpora"]["mine"]
    assert (found["motions"], found["captions"]) == (10, 13)
    assert ["Kick", 1] in found["categories"]
    assert set(found["lengths"]) == {"all", "concise", "standard", "fine"}
    with (out / "statistics.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    repeated = next(r for r in rows if r["statistic"] == "captions_of_3_or_more_motions")
    assert float(repeated["value"]) == pytest.approx(4 / 13)
    for name in ("categories", "lengths", "repetition"):
        assert (out / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    assert json.loads((out / "statistics.json").read_text(encoding="utf-8"))["mine"] == found


def test_the_command_says_what_it_cannot_use(tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("[1]\n")
    for arguments, words in (
        ([tmp_path / "absent.jsonl"], "absent.jsonl"),
        ([empty], "no usable caption"),
        ([empty, "--corpus", "x"], "--corpus"),
    ):
        result = analyse(*arguments)
        assert result.exit_code != 0
        assert words in str(result.exception)
