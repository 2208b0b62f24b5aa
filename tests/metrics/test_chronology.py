"""Chronologically accurate retrieval against numbers of ChronRet's own code (commit 9b29a45)."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

from corpus.problems import InputError
from evaluators.vectors import cosine
from metrics.chronology import chronology, order_pairs, read_events, shuffle_events
from tests.shared_data import shared


@pytest.mark.parametrize("seed", [0, 42])
@pytest.mark.parametrize("own", ["caption", "events"])
def test_events_are_shuffled_as_the_original_does(own, seed):
    told = json.loads(shared("cases/oracles/car/event_shuffle.json").read_text(encoding="utf-8"))
    wanted = told["expected"][f"ev2ev={own == 'events'},seed={seed}"]
    captions = {name: f"caption {name}" for name in wanted}
    pairs, dropped = order_pairs(told["input_events"], captions, own=own, seed=seed)
    # The original keeps texts of one event with n_events 1 and leaves them out when it counts.
    several = {name: entry for name, entry in wanted.items() if entry["n_events"] > 1}
    assert {p.motion_id: (p.text, p.shuffled) for p in pairs} == {
        name: (entry["text"], entry["shuffled"]) for name, entry in several.items()
    }
    assert [entry.n for entry in dropped] == [len(wanted) - len(several)]


def test_the_right_order_wins_as_often_as_in_the_original():
    told = json.loads(shared("cases/oracles/car/toy_n8.json").read_text(encoding="utf-8"))
    case = np.load(shared("cases/oracles/car/toy_n8.npz"), allow_pickle=False)
    rows = np.flatnonzero(case["n_events"] > 1)
    own, other = (
        np.diag(cosine(case[name][rows], case["motion"][rows])).astype(float)
        for name in ("text", "shuffled_text")
    )
    found = chronology(own, other)
    assert found.car.n == told["expected"]["items_counted"]
    assert found.car.value == pytest.approx(told["expected"]["CAR"])
    assert found.ties.value == pytest.approx(told["expected"]["ties"] / len(rows))
    nothing = chronology(own[:0], other[:0])
    assert nothing.car.value is None
    assert nothing.car.reason == "no motion has two different events"


def test_events_that_have_one_order_make_no_pair():
    assert shuffle_events(["steps"] * 3, Random(0)) is None
    assert shuffle_events([], Random(0)) is None
    assert shuffle_events(["a", "b"], Random(0)) == ("b", "a")


def test_events_come_from_one_file_or_from_the_folder_of_the_release(tmp_path: Path):
    whole = tmp_path / "events.json"
    whole.write_text('{"b": ["x", "y"], "a_1": ["z"]}', encoding="utf-8")
    assert list(read_events(whole).items()) == [("b", ("x", "y")), ("a_1", ("z",))]
    folder = tmp_path / "event_texts"
    folder.mkdir()
    for name, events in (("b_0", ["x", "y"]), ("b_1", ["other"]), ("a_1_0", ["z"])):
        (folder / f"{name}.json").write_text(json.dumps({"events": events}), encoding="utf-8")
    assert read_events(folder) == {"a_1": ("z",), "b": ("x", "y")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "expected JSON"),
        ("[]", "expected a JSON object, got list"),
        ("{}", "expected events of one motion or more"),
        ('{"a": "walks, sits"}', "a: expected a list of texts, got 'walks, sits'"),
        ('{"a": ["walks", ""]}', "a: expected a list of texts"),
        ('{"a": ["x", "y"], "b": [], "a": ["z"]}', "expected JSON: 'a' stands twice"),
        ('{"a": ["walks", 3]}', "a: expected a list of texts"),
        ('{"a": ' + "9" * 5000 + "}", "expected JSON"),
    ],
)
def test_bad_events_name_file_and_motion(tmp_path: Path, content: str, message: str):
    path = tmp_path / "events.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"events.json: ") as refused:
        read_events(path)
    assert message in str(refused.value)


def test_motions_without_a_caption_are_counted():
    with pytest.raises(InputError, match="1 of 2 motions have no caption, the first is 'b'"):
        order_pairs({"a": ["x", "y"], "b": ["x", "y"]}, {"a": "x then y"})
    with pytest.raises(InputError, match="expected files ID_0.json"):
        read_events(Path(__file__).parent)
