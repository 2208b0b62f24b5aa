"""Captions from a table beside motions whose files hold none."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from corpus.caption_rows import CaptionTable, with_captions
from corpus.formats.source import Source, SourceCaption
from motionjury.commands.corpus import app
from motionjury.workspace import init_workspace, open_workspace
from store.clips import list_captions
from tests.corpus.people import moving

HELD = (SourceCaption(0, "a person waves."), SourceCaption(2, "someone waves."))


def source(name: str, captions: tuple[SourceCaption, ...] = ()) -> Source:
    return Source(Path(name), name, "bvh", captions=captions)


@pytest.mark.parametrize("named", ["sub/walk.v2", "sub/walk.v2.bvh", "bvh:sub/walk.v2"])
def test_a_row_names_its_clip_by_path_or_id(named: str) -> None:
    table = CaptionTable("c.csv", [("row 2", {"clip": named, "text": " a man  walks "})])
    (found,), problems = with_captions([source("sub/walk.v2")], table)
    assert found.captions == (SourceCaption(0, "a man walks"),)
    assert problems == []


def test_captions_of_the_table_follow_those_of_the_file() -> None:
    rows = [("row 2", {"clip": "a", "caption": "one"}), ("row 3", {"clip": "a", "caption": "two"})]
    (found,), _ = with_captions([source("a", HELD)], CaptionTable("c.csv", rows))
    assert found.captions == (*HELD, SourceCaption(3, "one"), SourceCaption(4, "two"))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"clip": "b", "caption": "x"}, "name of a clip of this import, got 'b'"),
        ({"clip": ".", "caption": "x"}, "name of a clip of this import, got '.'"),
        ({"caption": "x"}, "expected a value for clip or"),
        ({"clip": "a", "caption": " "}, "expected a value for caption or text"),
        ({"clip": "a", "caption": "x", "start": 2, "end": 1}, "start first"),
        ({"clip": "a", "caption": "x", "start": "soon", "end": "1"}, "start first"),
        ({"clip": "a", "caption": "x", "start": "1", "end": ""}, "start first"),
    ],
)
def test_rows_that_cannot_be_used_are_named(values: dict[str, object], reason: str) -> None:
    (found,), (problem,) = with_captions([source("a")], CaptionTable("c.csv", [("row 7", values)]))
    assert found.captions == ()
    assert (problem.file, problem.place) == ("c.csv", "row 7")
    assert reason in problem.reason


def test_import_takes_captions_once_and_goes_on_past_bad_rows(tmp_path: Path) -> None:
    motions = tmp_path / "motions"
    motions.mkdir()
    for name in ("a", "b"):
        np.save(motions / f"{name}.npy", moving(frames=30).positions)
    table = tmp_path / "captions.csv"
    table.write_text("file,caption,start,end\na.npy,a person walks.,0,0.5\nc.npy,nobody.,,\n")
    root = init_workspace(tmp_path / "ws").root
    words = ["import", motions, "--fps", 30, "--captions", table, "-w", root, "--json"]
    for new in (1, 0):
        result = CliRunner().invoke(app, [str(word) for word in words])
        told = json.loads(result.stdout)
        assert (told["captions"], told["new_captions"], told["refused"]) == (1, new, 1)
        assert "row 3" in result.stderr
    with open_workspace(root).db.read() as session:
        (kept,) = list_captions(session)
    assert (kept.id, kept.text, kept.span) == ("arrays:a#0", "a person walks.", (0.0, 0.5))
