"""Releases of every protocol, from labels given through the audit functions to forgeries found."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from sqlalchemy import select

from audit.assignment import next_assignment
from audit.joint import propose_version
from audit.labelling import submit
from audit.lineage import lineage
from audit.protocols.registry import PROTOCOLS
from audit.studies import close
from benchmarks.items import Benchmark
from corpus.problems import InputError
from exports.folder import LINEAGE
from exports.gather import build_release
from exports.layouts import LAYOUTS
from exports.selection import ReleaseSpec
from exports.tables import columns_of, from_jsonl, to_jsonl, to_parquet
from exports.verify import verify_release
from motionjury.workspace import init_workspace
from store.items import get_item
from store.session import Database
from store.tables import AssignmentRow
from tests.audit.kinds import GOOD_ANSWERS, study_of
from tests.audit.world import START, World
from tests.exports.test_verify import forge, forge_rows, problems_of

OTHERS = [name for name in PROTOCOLS if name != "stride_audit"]
WORDS = "Zebedee asked whose arm it is"
ACCEPT: dict[str, Any] = {"verdict": "accept"}
EDIT: dict[str, Any] = {"verdict": "revise", "edit": "Quux says so", "comment": "Quux nearly"}
REJECT: dict[str, Any] = {"verdict": "reject", "failures": ["F2", "F4"]}
Row = dict[str, Any]


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Database]:
    made = init_workspace(tmp_path / "ws")
    yield made.db
    made.db.close()


def judge(world: World, answers: Callable[[int, str], dict[str, Any]]) -> None:
    """Let each expert answer all they are given: by their place and the kind of the item."""
    for place, person in enumerate(world.experts):
        while True:
            with world.db.write() as session:
                held = next_assignment(session, world.study, person, START)
                if held is None:
                    break
                kind = get_item(session, held.item_id).kind
                given = answers(place, kind)
                submit(session, held.id, person, f"s-{held.id}", given, {"seconds": 3.5}, START)


def finish(world: World, out: Path, protocol: str, **choices: Any) -> Path:
    with world.db.write() as session:
        close(session, world.study, world.coordinator, START)
    return release(world, out, protocol, **choices)


def release(world: World, out: Path, protocol: str, **choices: Any) -> Path:
    spec = ReleaseSpec(
        name="r", version="1", benchmark=bench(protocol), tool_version="0", **choices
    )
    build_release(world.db, out, spec)
    return out


def bench(protocol: str) -> Benchmark:
    return PROTOCOLS[protocol].benchmark


def rows(folder: Path, name: str) -> list[Row]:
    return from_jsonl((folder / name).read_bytes())


def forge_items(folder: Path, benchmark: Benchmark, change: Callable[[list[Row]], Any]) -> None:
    found = rows(folder, "items.jsonl")
    change(found)
    forge(folder, "items.jsonl", to_jsonl(found))
    columns = columns_of(LAYOUTS[benchmark].item)
    forge(folder, "items.parquet", to_parquet(found, columns))


@pytest.fixture(scope="module")
def revised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Path]]:
    """T1 accepted, T2 rejected, T3 revised, edited jointly, judged again and accepted."""
    place = tmp_path_factory.mktemp("revised")
    base = init_workspace(place / "ws").db
    world = study_of(base, "expert_verification", items=1, attention=1, repeats=1, repeat_gap=1)
    said = {"choice": [ACCEPT] * 3, "caption": [ACCEPT, REJECT, EDIT], "correction": [ACCEPT, EDIT]}
    judge(world, lambda place, kind: [*said[kind], ACCEPT][place])
    with base.write() as session:
        old = next(i for i in world.items if get_item(session, i).kind == "correction")
        payload = {**get_item(session, old).payload, "corrupted": "a person sits down, on a chair"}
        propose_version(session, world.study, old, payload, WORDS, world.coordinator, START)
    judge(world, lambda _place, _kind: ACCEPT)
    yield world, finish(world, place / "r", "expert_verification")
    base.close()


@pytest.fixture
def forged(revised: tuple[World, Path], tmp_path: Path) -> Path:
    """A copy of that release to forge."""
    return shutil.copytree(revised[1], tmp_path / "forged")


@pytest.mark.parametrize("protocol", OTHERS)
def test_every_protocol_has_a_release_that_verifies(
    base: Database, tmp_path: Path, protocol: str
) -> None:
    world = study_of(base, protocol, attention=1)
    judge(world, lambda _place, _kind: GOOD_ANSWERS[protocol])
    out = finish(world, tmp_path / "r", protocol)
    assert verify_release(out) == []
    decides = PROTOCOLS[protocol].decision != "none"
    kept = rows(out, "items.jsonl")
    assert {row["item_id"] for row in kept} == set(world.items)
    assert {row["outcome"] for row in kept} == {"accepted" if decides else "rated"}
    decisions = rows(out, "decisions.jsonl")
    assert [row["rule"] for row in decisions] == (
        [PROTOCOLS[protocol].decision] * len(kept) if decides else []
    )
    # Nothing of the attention item, which everybody answered as well.
    labels = rows(out, "labels.jsonl")
    assert Counter(row["item_id"] for row in labels) == dict.fromkeys(world.items, 3)
    schema = json.loads((out / "schema.json").read_bytes())
    for table in ("items", "labels"):
        columns = list(schema[table]["properties"])
        assert columns == list(rows(out, f"{table}.jsonl")[0])
        assert pq.read_table(out / f"{table}.parquet").column_names == columns
    everything = b"".join(path.read_bytes() for path in out.iterdir())
    assert not [who for who in (*world.experts, "Ella", "Cora") if who.encode() in everything]


def test_gold_answers_and_methods_are_in_the_items(base: Database, tmp_path: Path) -> None:
    found: dict[str, Row] = {}
    for protocol in OTHERS:
        workspace = init_workspace(tmp_path / protocol)
        world = study_of(workspace.db, protocol, items=1)
        judge(world, lambda _place, _kind, name=protocol: GOOD_ANSWERS[name])  # type: ignore[misc]
        out = finish(world, tmp_path / f"{protocol}-release", protocol)
        found |= {f"{protocol} {row['kind']}": row for row in rows(out, "items.jsonl")}
        workspace.db.close()
    one = found["expert_verification choice"]
    assert (one["task"], one["options"], one["gold"]) == (
        "T1",
        ["walk", "run", "jump", "sit"],
        ["jump"],
    )
    one = found["expert_verification caption"]
    assert (one["task"], one["reference"], one["question"]) == (
        "T2",
        "a person jumps 1 times",
        None,
    )
    one = found["expert_verification correction"]
    assert one["corrupted"] == "a person sits down 1 times"
    assert one["errors"] == [{"axis": "action", "end": 13, "rewrite": "goldly", "start": 9}]
    assert (one["corrected"], one["task"]) == ("goldly corrected", "T3")
    one = found["pilot_qa pilot_question"]
    assert (one["answer"], one["program"], one["task"]) == ("jump", "programmy(1)", None)
    one = found["likert judged_clip"]
    assert (one["method"], one["prompt"]) == ("methody-1", "a person waves 1 times")
    one = found["t2m_dimensions judged_clip"]
    assert (one["method"], one["category"], one["motion_id"]) == ("methody-1", None, "demo:0001")
    one = found["prompt_review prompt"]
    assert (one["prompt"], one["category"]) == ("raise 1 arms", "sourcey-dance")
    assert one["motion_id"] is None
    one = found["mrbench_validation caption_set"]
    assert one["category"] == ["Locomotion", "Horizontal", "Walk 1"]
    assert [one[name] for name in ("concise", "standard", "fine")] == [
        "walks 1",
        "a person walks 1",
        "a person walks slowly 1",
    ]


def test_lineage_from_revise_to_accepted(revised: tuple[World, Path]) -> None:
    world, out = revised
    assert verify_release(out) == []
    kept = {row["kind"]: row for row in rows(out, "items.jsonl")}
    dropped = {row["kind"]: row for row in rows(out, "excluded.jsonl")}
    assert set(kept) == {"choice", "correction"}
    assert dropped["caption"]["outcome"] == "rejected"
    old, new = dropped["correction"], kept["correction"]
    assert (old["outcome"], old["reason"]) == ("revise", "verdicts: 2 accept, 1 revise")
    assert new["parent"] == old["item_id"]
    with world.db.read() as session:
        known = [one.item.id for one in lineage(session, new["item_id"])]
    versions = rows(out, LINEAGE)
    assert [row["item_id"] for row in versions] == known == [old["item_id"], new["item_id"]]
    assert [row["outcome"] for row in versions] == ["revise", "accepted"]
    assert [row["edit_reason"] for row in versions] == [None, "edited jointly"]
    assert versions[0]["content"]["corrupted"] == "a person sits down 1 times"
    # Labels of both versions; of answers to attention items and to items shown again, none.
    with world.db.read() as session:
        given = Counter(session.scalars(select(AssignmentRow.purpose)))
    assert given == {"work": 4 * 3, "attention": 3 * 3, "repeat": 3}
    labels = Counter(row["item_id"] for row in rows(out, "labels.jsonl"))
    assert set(labels.values()) == {3}
    assert len(labels) == 4
    by_item = {row["item_id"]: row for row in rows(out, "decisions.jsonl")}
    assert by_item[old["item_id"]]["votes"] == {
        "verdict": {"accept": 2, "reject": 0, "revise": 1},
    }
    card = (out / "README.md").read_text()
    assert "| correction | corpus: demo | 1 | 1 |" in card
    assert "`lineage.jsonl`" in card


def test_words_are_in_a_release_only_when_asked(
    revised: tuple[World, Path], tmp_path: Path
) -> None:
    world, out = revised
    everything = b"".join(path.read_bytes() for path in out.iterdir())
    assert not [word for word in (b"Zebedee", b"Quux") if word in everything]
    wordy = release(world, tmp_path / "wordy", "expert_verification", include_comments=True)
    assert verify_release(wordy) == []
    assert [row["edit_reason"] for row in rows(wordy, LINEAGE)] == [None, WORDS]
    assert b"Quux says so" in (wordy / "labels.jsonl").read_bytes()
    again = release(world, tmp_path / "again", "expert_verification")
    assert {p.name: p.read_bytes() for p in again.iterdir()} == {
        p.name: p.read_bytes() for p in out.iterdir()
    }


def test_a_version_that_another_study_judged_is_in_the_lineage(
    base: Database, tmp_path: Path
) -> None:
    world = study_of(base, "expert_verification", items=1)
    judge(world, lambda place, _kind: [ACCEPT, EDIT, ACCEPT][place])
    with base.write() as session:
        close(session, world.study, world.coordinator, START)
        old = next(i for i in world.items if get_item(session, i).kind == "caption")
        payload = {**get_item(session, old).payload, "caption": "a person jumps"}
        new = propose_version(session, world.study, old, payload, WORDS, world.coordinator, START)
    out = release(world, tmp_path / "r", "expert_verification")
    assert verify_release(out) == []
    assert [(r["item_id"], r["judged"], r["outcome"]) for r in rows(out, LINEAGE)] == [
        (old, True, "revise"),
        (new.id, False, "undecided"),
    ]


def test_a_study_that_lacks_ratings_releases_what_was_rated(base: Database, tmp_path: Path) -> None:
    world = study_of(base, "likert", label="V2")
    with base.write() as session:
        held = next_assignment(session, world.study, world.experts[0], START)
        assert held is not None
        submit(session, held.id, world.experts[0], "s", GOOD_ANSWERS["likert"], {}, START)
    out = finish(world, tmp_path / "r", "likert")
    assert verify_release(out) == []
    [kept] = rows(out, "items.jsonl")
    assert (kept["item_id"], kept["outcome"]) == (held.item_id, "rated")
    dropped = rows(out, "excluded.jsonl")
    assert {(r["outcome"], r["reason"]) for r in dropped} == {
        ("undecided", "0 of 3 ratings in likert")
    }
    assert json.loads((out / "studies.json").read_bytes())[0]["label"] == "V2"


def test_a_verifying_study_run_without_a_rule_keeps_nothing(base: Database, tmp_path: Path) -> None:
    world = study_of(base, "expert_verification", items=1, decision="none")
    judge(world, lambda _place, _kind: ACCEPT)
    out = finish(world, tmp_path / "r", "expert_verification")
    assert verify_release(out) == []
    assert rows(out, "items.jsonl") == []
    assert {row["outcome"] for row in rows(out, "excluded.jsonl")} == {"undecided"}


def test_pilot_answers_are_held_against_each_items_own_options(
    base: Database, tmp_path: Path
) -> None:
    world = study_of(base, "pilot_qa")
    wrong = {"answer": "walk", "confidence": "1"}
    judge(world, lambda place, _kind: wrong if place == 2 else GOOD_ANSWERS["pilot_qa"])
    out = finish(world, tmp_path / "r", "pilot_qa")
    assert verify_release(out) == []
    table = json.loads((out / "agreement.json").read_bytes())["studies"]["pilot_qa"]["questions"]
    found = table["answer"]["coefficients"]
    percent = next(one for one in found if one["coefficient"] == "percent_agreement")
    # Two of three agree on each item: one of three pairs.
    assert percent["value"] == pytest.approx(1 / 3, abs=1e-12)
    forge_rows(out, "labels.jsonl", lambda found: found[0].update(answer="fly"))
    assert any("answer is 'fly'" in reason for _file, reason in problems_of(out))


def _of(kind: str, /, **values: Any) -> Callable[[list[Row]], None]:
    return lambda found: next(r for r in found if r["kind"] == kind).update(values)


@pytest.mark.parametrize(
    ("name", "change", "file", "expected"),
    [
        ("items", _of("choice", gold=["walk"]), "items.jsonl", "is the hash of"),
        ("items", _of("choice", gold=["fly"]), "items.jsonl", "gold answers are not options"),
        ("items", _of("choice", reference="x"), "items.jsonl", "reference is no column of kind"),
        ("items", _of("choice", task="T2"), "items.jsonl", "task of kind 'choice' is 'T1'"),
        ("items", _of("choice", kind="triplet"), "items.jsonl", "no items of kind 'triplet'"),
        ("items", _of("choice", outcome="rated"), "items.jsonl", "decisions say accepted"),
        ("items", _of("correction", parent=None), "items.jsonl", "is the hash of"),
        ("excluded", _of("caption", outcome="accepted"), "excluded.jsonl", "says rejected"),
        ("lineage", lambda found: found.pop(), LINEAGE, "is missing"),
        ("lineage", lambda found: found.pop(0), LINEAGE, "its parent"),
        ("lineage", lambda found: found[0].update(outcome="accepted"), LINEAGE, "outcome differ"),
        ("lineage", lambda found: found[0].update(judged=False), LINEAGE, "it is otherwise"),
        ("lineage", lambda found: found[1].update(edit_reason=None), LINEAGE, "expected a reason"),
        ("lineage", lambda found: found[1].update(family="0" * 24), LINEAGE, "not of family"),
        (
            "lineage",
            lambda found: found[0]["content"].update(corrected="x"),
            LINEAGE,
            "is the hash of",
        ),
        (
            "decisions",
            lambda found: next(r for r in found if r["outcome"] == "revise").update(
                outcome="accepted"
            ),
            "decisions.jsonl",
            "its 3 labels give revise",
        ),
        (
            "labels",
            lambda found: next(r for r in found if r["failures"]).update(verdict="accept"),
            "labels.jsonl",
            "verdict is not 'reject'",
        ),
        (
            "labels",
            lambda found: next(r for r in found if r["failures"]).update(
                verdict="accept", failures=None
            ),
            "decisions.jsonl",
            "give revise",
        ),
    ],
)
def test_a_careful_forgery_is_found(
    forged: Path,
    name: str,
    change: Callable[[list[Row]], Any],
    file: str,
    expected: str,
) -> None:
    if name == "items":
        forge_items(forged, "nextmotionqa", change)
    else:
        forge_rows(forged, f"{name}.jsonl", change)
    found = problems_of(forged)
    assert any(f == file and expected in reason for f, reason in found), found


@pytest.mark.parametrize("protocol", ["mrbench_validation", "prompt_review"])
def test_a_turned_vote_of_the_other_rules_is_found(
    base: Database, tmp_path: Path, protocol: str
) -> None:
    question, for_it, against = {
        "mrbench_validation": ("hierarchy", "yes", "no"),
        "prompt_review": ("verdict", "accept", "reject"),
    }[protocol]
    good = GOOD_ANSWERS[protocol]
    world = study_of(base, protocol, items=1)
    judge(world, lambda place, _kind: {**good, question: against} if place == 0 else good)
    out = finish(world, tmp_path / "r", protocol)
    assert verify_release(out) == []
    majority = len(rows(out, "items.jsonl")) == 1
    to = against if majority else for_it

    def change(found: list[Row]) -> None:
        next(row for row in found if row[question] != to)[question] = to

    forge_rows(out, "labels.jsonl", change)
    reasons = [reason for file, reason in problems_of(out) if file == "decisions.jsonl"]
    assert len(reasons) == 1
    assert f"its 3 labels give {'rejected' if majority else 'accepted'}" in reasons[0]


def test_a_lineage_in_a_stride_release_and_a_wrong_benchmark_are_refused(
    base: Database, tmp_path: Path
) -> None:
    world = study_of(base, "stride_audit", items=1)
    judge(world, lambda _place, _kind: GOOD_ANSWERS["stride_audit"])
    out = finish(world, tmp_path / "r", "stride_audit")
    assert verify_release(out) == []
    (out / LINEAGE).write_text("")
    assert problems_of(out) == [(LINEAGE, "not part of the release")]
    spec = ReleaseSpec(name="r", version="1", benchmark="mrbench", tool_version="0")
    with pytest.raises(InputError, match="--benchmark stride"):
        build_release(base, tmp_path / "other", spec, studies=["stride_audit"])
