"""`score chronology` as a user runs it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from corpus.problems import InputError
from corpus.synthetic.script import scenes
from motionjury.cli import cli
from motionjury.scored_clips import demo_clips

EVENTS = {"a": ["walks", "sits"], "b": ["runs", "jumps", "waves"], "c": ["stands"]}
MINE = """
class Mine:
    name, native_metric, fingerprint = "Mine", "length", "mine/1"

    def score(self, texts, motions):
        return [float(text.startswith("walks")) for text in texts]


def opened():
    return Mine()
"""


def run(*words: object) -> str:
    done = CliRunner().invoke(cli, ["score", "chronology", *map(str, words)])
    if isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("corpus.synthetic.scenes", lambda: scenes()[:4])
    path = tmp_path / "events.json"
    path.write_text(json.dumps(EVENTS), encoding="utf-8")
    return path


def scores(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(["motion_id,s_text,s_shuffled", *rows]), encoding="utf-8")
    return path


def test_ties_are_wrong_and_single_events_do_not_count(events: Path, tmp_path: Path) -> None:
    table = scores(tmp_path / "mine.csv", "a,2,1", "b,1,1", "c,5,0")
    found: dict[str, Any] = json.loads(
        run(events, "--scores", table, "--higher-is-better", "--json", "--out", "out")
    )
    assert found["models"] == {"mine": {"CAR": 0.5, "ties": 0.5, "n": 2, "reasons": {}}}
    assert [(row["what"], row["n"]) for row in found["dropped"]] == [("motions", 1), ("rows", 1)]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"result.json", "report.html", "chronology.csv", "chronology.tex"}
    lower = json.loads(run(events, "--scores", table, "--lower-is-better", "--json"))
    assert lower["models"]["mine"]["CAR"] == 0.0


def test_without_two_events_there_is_no_number(events: Path, tmp_path: Path) -> None:
    events.write_text('{"c": ["stands"]}', encoding="utf-8")
    table = scores(tmp_path / "mine.csv", "c,5,0")
    found = json.loads(run(events, "--scores", table, "--higher-is-better", "--json"))
    assert found["models"]["mine"]["CAR"] is None
    assert "no motion has two different events" in found["models"]["mine"]["reasons"]["CAR"]


def test_a_model_and_the_list_for_ones_own_have_the_same_pairs(
    events: Path, tmp_path: Path
) -> None:
    listed = {clip.tail: ["walks", "sits"] for clip in demo_clips()}
    events.write_text(json.dumps(listed), encoding="utf-8")
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    run(events, "--pairs", "order.csv", "--text", "events")
    with (tmp_path / "order.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["motion_id"], row["text"], row["shuffled"]) for row in rows] == [
        (name, "walks sits ", "sits walks ") for name in listed
    ]
    model = ["--model", "own=mine.py:opened", "--json"]
    assert json.loads(run(events, *model, "--text", "events"))["models"]["Mine"]["CAR"] == 1.0
    # The captions themselves say nothing that this model looks for, as the other order does not.
    assert json.loads(run(events, *model))["models"]["Mine"] == {
        "CAR": 0.0, "ties": 1.0, "n": len(listed), "reasons": {},
    }  # fmt: skip


def test_what_cannot_be_scored_is_named(events: Path, tmp_path: Path) -> None:
    table = scores(tmp_path / "mine.csv", "a,2,1", "b,nan,1")
    higher = "--higher-is-better"
    for words, message in (
        ([], "expected --model or --scores"),
        (["--scores", table], "say --higher-is-better or --lower-is-better"),
        (["--scores", table, higher], "line 3: s_text: expected a finite number"),
        (["--scores", scores(tmp_path / "few.csv", "a,2,1"), higher], "1 of 2 motions have no"),
        (["--scores", scores(tmp_path / "x.csv", "a,2,1", "a,2,1"), higher], "'a' stands twice"),
        (["--scores", table, "--text", "all"], "--text: expected one of caption, events"),
        (["--pairs", "p.csv"], "3 of 3 motions are not there, the first is 'a'"),
    ):
        with pytest.raises(InputError, match=message):
            run(events, *words)
    good = scores(tmp_path / "good.csv", "a,2,1", "b,2,1")
    with pytest.raises(InputError, match="two models or files are called 'good'"):
        run(events, "--scores", good, "--scores", good, higher)
