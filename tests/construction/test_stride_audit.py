"""The text-only audit: gaps by hand, words, the naive baseline, figures, the command."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.stride import STRUCTURAL_AXES
from construction.stride import draft_stride
from construction.stride_audit import Pair, item_pairs, naive_pairs, score_gaps, word_rows
from construction.stride_figures import gap_figures, word_figure
from construction.text.naive import naive_edit
from construction.text.scorers import ScorerNotRun
from corpus.problems import InputError
from motionjury.commands.draft_audit import _in_workspace, audit
from motionjury.commands.draft_stride import stride
from tests.construction.test_draft_command import workspace_of
from tests.construction.test_stride import TEXTS, corpus_of
from tests.construction.test_stride_steps import Fixed


def pair(caption, edited, axis="mirror_reflection", source="drafted"):
    return Pair(source, axis, "demo", "demo:a", caption, edited)


def test_gaps_by_hand():
    scorer = Fixed({"a": -1.0, "b": -1.1, "c": -1.5, "d": -1.0})
    pairs = [pair("a", "b"), pair("a", "c"), pair("b", "a"), pair("a", "d"), pair("a", "?")]
    found = score_gaps([*pairs, pair("c", "a", source="naive")], {"x": lambda clip_id: scorer})
    drafted, naive = found.rows
    assert (drafted.n, drafted.unscored, naive.n) == (4, 1, 1)
    assert drafted.mean == pytest.approx((0.1 + 0.5 - 0.1 + 0) / 4)
    assert drafted.median == pytest.approx(0.05)
    assert drafted.mean_abs == pytest.approx(0.7 / 4)
    assert drafted.favours_original == pytest.approx((2 + 0.5) / 4)
    assert drafted.within == pytest.approx(3 / 4)
    assert naive.median == pytest.approx(-0.5)
    assert found.values["fixed", "mirror_reflection", "drafted"] == pytest.approx(
        [0.1, 0.5, -0.1, 0]
    )


def test_another_unit_has_no_share_within_and_no_pair_no_mean():
    scorer = Fixed({"a": 0.9, "b": 0.8}, unit="probability")
    found = score_gaps([pair("a", "b"), pair("x", "y", "temporal_order")], {"x": lambda i: scorer})
    rows = {row.axis: row for row in found.rows}
    assert rows["mirror_reflection"].within is None
    assert rows["temporal_order"].mean is None
    assert rows["temporal_order"].unscored == 1


def test_a_scorer_that_dies_is_not_run_and_the_others_are():
    def dead(clip_id):
        raise ScorerNotRun("gone")

    found = score_gaps([pair("a", "b")], {"dead": dead, "x": lambda i: Fixed({"a": 1, "b": 2})})
    assert found.not_run == {"dead": "gone"}
    assert [row.scorer for row in found.rows] == ["fixed"]


def test_words_that_tell():
    rows = word_rows([pair("he turns left left", "he turns right"), pair("his left", "his right")])
    found = {row.word: (row.original, row.edited, row.difference) for row in rows}
    assert found["left"] == (2, 0, 1.0)
    assert found["right"] == (0, 2, -1.0)
    assert found["turns"] == (1, 1, 0.0)
    assert [r.original + r.edited for r in rows] == [2, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("caption", "axis", "edited"),
    [
        ("he left and turns left.", "mirror_reflection", "he right and turns right."),
        ("a man walks, then sits.", "temporal_order", "sits, then a man walks."),
        ("a man waits.", "temporal_order", None),
        ("a man waits.", "mirror_reflection", None),
        ("a man waits.", "action_identity", None),
    ],
)
def test_the_naive_baseline_reads_nothing(caption, axis, edited):
    assert naive_edit(caption, axis) == edited


@given(st.text(max_size=60), st.sampled_from(STRUCTURAL_AXES), st.integers(0, 9))
def test_a_naive_edit_differs_or_is_none(caption, axis, seed):
    assert naive_edit(caption, axis, seed) != caption
    assert naive_edit(caption, axis, seed) == naive_edit(caption, axis, seed)


def test_figures_are_well_formed_and_name_what_they_show():
    items = draft_stride(*corpus_of(TEXTS), seed=1).items
    pairs = item_pairs(items)
    both = [*pairs, *naive_pairs(pairs, 0)]
    scores = {text: -float(len(text)) / 40 for p in both for text in (p.caption, p.edited)}
    gaps = score_gaps(both, {"x": lambda i: Fixed(scores)})
    drawn = [*gap_figures(gaps.rows, gaps.values)]
    counts = {row.axis: 3 for row in gaps.rows}
    drawn.append(word_figure(word_rows(pairs), counts))
    for figure in drawn:
        root = ET.fromstring(figure.svg)
        assert root.tag.endswith("svg")
        said = " ".join(root.itertext())
        assert "mirror reflection" in said
    assert word_figure([], {}) is None


def test_a_figure_of_gaps_says_how_many_pairs_have_none():
    scorer = Fixed({"a": -1.0, "b": -1.1})
    gaps = score_gaps([pair("a", "b"), pair("a", "?")], {"x": lambda clip_id: scorer})
    (figure,) = gap_figures(gaps.rows, gaps.values)
    assert "n 1 of 2" in " ".join(ET.fromstring(figure.svg).itertext())


def test_the_command_audits_a_workspace_and_stores_nothing(tmp_path, capsys):
    ws, _ = workspace_of(tmp_path / "ws", TEXTS)
    with pytest.raises(InputError, match="no STRIDE items"):
        audit(workspace=ws.root)
    stride(workspace=ws.root, as_json=True)
    capsys.readouterr()
    scores = tmp_path / "s.csv"
    scores.write_text("text,score\na person turns right.,1\na person turns left.,0.5\n")
    audit(workspace=ws.root, scorer=[f"csv:{scores}", "ngram"], as_json=True)
    found = json.loads(capsys.readouterr().out)
    row = next(r for r in found["gaps"] if r["axis"] == "mirror_reflection")
    assert row["scorer"] == "csv:s.csv"
    assert "1000 captions" in found["not_run"]["scorer ngram"]
    # The clips of this workspace have no files, so there is nothing to cover.
    assert "0 readable clips" in found["not_run"]["motion coverage"]
    assert (ws.results_dir / "stride-audit" / "words.svg").is_file()
    audit(workspace=ws.root, clips=0)
    assert "not run: motion coverage: --clips 0" in capsys.readouterr().out


def test_pairs_of_a_file_are_audited_and_bad_lines_named(tmp_path, capsys):
    ws, _ = workspace_of(tmp_path / "ws", TEXTS)
    file = tmp_path / "items.jsonl"
    good = {"axis": "mirror_reflection", "corpus": "x", "motion_id": "m1", "caption": "left hand"}
    lines = [{**good, "perturbed": "right hand"}, good, {**good, "axis": "up"}]
    file.write_text("\n".join(map(json.dumps, lines)) + "\nnot json\n")
    audit(pairs=file, clips=0, workspace=ws.root, as_json=True)
    out = capsys.readouterr()
    assert json.loads(out.out)["pairs"] == {"mirror_reflection": 1}
    for number in (2, 3, 4):
        assert f"line {number}" in out.err
    file.write_text("{}\n")
    with pytest.raises(InputError, match="expected pairs, got none"):
        audit(pairs=file, workspace=ws.root)


def test_coverage_of_the_demo_clips(tmp_path, capsys):
    from motionjury.demo import fill_corpus
    from motionjury.workspace import init_workspace

    ws = init_workspace(tmp_path / "ws")
    fill_corpus(ws)
    audit(workspace=ws.root, clips=12, as_json=True)
    (row,) = json.loads(capsys.readouterr().out)["coverage"]
    assert (row["corpus"], row["n"]) == ("synthetic", 12)
    assert 1 < row["effective"] <= row["occupied"] + 1e-9 < 13
    assert (ws.results_dir / "stride-audit" / "coverage.svg").is_file()


def test_pairs_of_a_release_are_matched_to_the_workspace_before_they_are_scored():
    clips, captions = corpus_of(TEXTS)
    pairs = [
        pair("someone jumps.", "someone bows.")._replace(corpus="demo", clip_id="a"),
        pair("someone jumps.", "someone bows.")._replace(corpus="r", clip_id="9"),
        pair("no one's caption", "another")._replace(corpus="r", clip_id="9"),
    ]
    found = _in_workspace(pairs, clips, captions)
    assert [p.clip_id for p in found] == ["demo:a", "demo:d", "9"]
