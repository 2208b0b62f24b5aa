"""`motionjury study` while a study runs, and items from tables, on the command line."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
import typer

from audit.assignment import next_assignment
from audit.labelling import submit
from audit.stimuli import study_media
from audit.training import check_training, training_items
from corpus.problems import InputError
from motionjury.commands import house, people, study
from motionjury.times import parse_time
from motionjury.workspace import Workspace, init_workspace
from store.clips import add_clips, add_media
from store.events import log
from tests.audit.kinds import study_of
from tests.audit.test_commands import answer, run
from tests.audit.world import GOOD, clip, fill

LIKERT = {"realism": "4", "semantic_consistency": "4"}


@pytest.fixture
def rendered(tmp_path: Path) -> Workspace:
    """A workspace with nine rendered clips."""
    made = init_workspace(tmp_path / "ws")
    with made.db.write() as session:
        add_clips(session, [clip(n) for n in range(1, 10)], [])
        for n in range(1, 10):
            add_media(
                session, key=f"{n:032x}", clip_id=clip(n).id, file=f"{n}.mp4", settings={},
                frames=60, fps=30.0, seconds=2.0, sha256="0" * 64, size=1,
            )  # fmt: skip
    return made


def table(tmp_path: Path) -> Path:
    file = tmp_path / "judged.csv"
    rows = [f"p{(n + 2) // 3},wave {n},M{n % 3},demo:{n:04d}" for n in range(1, 10)]
    file.write_text("\n".join(["prompt_id,text,model,clip", *rows, "p9,x,M1,demo:9999"]) + "\n")
    return file


def label_all(ws: Workspace, name: str, answers: dict[str, Any]) -> None:
    from audit.studies import get_study
    from store.tables import MemberRow

    with ws.db.write() as session:
        study_id = get_study(session, name).id
        for member in session.query(MemberRow).filter_by(study_id=study_id).all():
            while (held := next_assignment(session, study_id, member.person_id)) is not None:
                submit(session, held.id, member.person_id, f"s-{held.id}", answers, {})


def test_a_judge_study_from_its_table_to_its_checks(rendered: Workspace, tmp_path: Path) -> None:
    told = answer(study.app, rendered, "import", str(table(tmp_path)), "--protocol", "likert")
    assert (told["rows"], told["items"], told["new"]) == (10, 9, 9)
    assert told["refused"][0]["place"] == "row 11"
    again = answer(study.app, rendered, "import", str(table(tmp_path)), "--protocol", "likert")
    assert (again["items"], again["new"]) == (9, 0)
    hidden = tmp_path / "attention.json"
    payload = {"prompt_id": "a", "prompt": "sit", "method": "M0", "clip_id": "demo:0001"}
    hidden.write_text(json.dumps([{"payload": payload, "answers": {"realism": "1"}}]))
    made = answer(
        study.app, rendered, "create", "J", "--protocol", "likert", "--label", "V1",
        "--repeats", "1", "--repeat-gap", "2", "--ratings", "2", "--attention", str(hidden),
        "--where", "method=M0", "--where", "method=M1", "--deadline", "2999-01-01",
    )  # fmt: skip
    assert (made["items"], made["attention"], made["rule"]) == (6, 1, "none")
    for name in ("Ada", "Bo"):
        answer(people.app, rendered, "invite", name, "--study", "J")
    answer(study.app, rendered, "launch", "J")
    assert answer(study.app, rendered, "pause", "J")["paused"]
    assert answer(study.app, rendered, "status", "J")["paused"]
    assert not answer(study.app, rendered, "resume", "J")["paused"]
    label_all(rendered, "J", LIKERT)
    assert answer(study.app, rendered, "disputes", "J")["items"][0]["disagreement"] == 0.0
    assert answer(study.app, rendered, "status", "J")["ratings"] == 12
    early = answer(study.app, rendered, "checks", "J")
    assert (early["attention_items"], early["experts"], early["retest"]) == (1, None, None)
    told = run(study.app, rendered, "checks", "J").stdout
    assert "once the study is closed" in told
    assert "A1" not in told
    answer(study.app, rendered, "close", "J")
    report = answer(study.app, rendered, "checks", "J")
    assert [one["attention"] for one in report["experts"]] == [1, 1]
    assert [one["passed"] for one in report["experts"]] == [0, 0]
    assert report["experts"][0]["stability"]["realism"] == {"same": 1, "pairs": 1}
    # The same answer throughout: no variation, hence no kappa.
    assert [(one["value"], one["reason"]) for one in report["retest"]] == [
        (None, "no_variation"),
        (None, "no_variation"),
    ]
    assert "A1: attention 0/1 right" in run(study.app, rendered, "checks", "J").stdout


def test_what_a_coordinator_does_on_the_command_line(rendered: Workspace) -> None:
    world = fill(rendered.db, items=3, experts=2, ratings=2, first=20)
    with rendered.db.write() as session:
        held = next_assignment(session, world.study, world.experts[0])
        assert held is not None
    found = answer(study.app, rendered, "leases", "audit")["leases"]
    assert [(one["assignment_id"], one["expired"]) for one in found] == [(held.id, False)]
    assert found[0]["code"] is None
    assert "A1" not in run(study.app, rendered, "leases", "audit").stdout
    freed = answer(study.app, rendered, "leases", "audit", "--reclaim", held.id)["leases"]
    assert freed[0]["expired"]
    reason = ("--reason", "cut short")
    gone, settled, kept = world.items
    assert answer(study.app, rendered, "withdraw", "audit", gone, *reason)["withdrawn"]
    settle = ("settle", "audit", settled, "accepted", *reason)
    assert answer(study.app, rendered, *settle)["outcome"] == "accepted"
    with pytest.raises(InputError, match="is accepted already"):
        run(study.app, rendered, *settle)
    with pytest.raises(InputError, match="expected accepted, rejected or revise"):
        run(study.app, rendered, "settle", "audit", kept, "maybe", *reason)
    versions = answer(study.app, rendered, "lineage", settled)["versions"]
    assert versions[0]["decisions"][0]["reason"] == "cut short"
    assert answer(study.app, rendered, "retire", "audit", "Ella 1")["replaced_ratings"] == 0
    assert answer(study.app, rendered, "deadline", "audit", "none")["deadline"] is None
    told = answer(study.app, rendered, "unblind", "audit", *reason)["answers"]
    assert told == []
    assert "retired" in run(study.app, rendered, "status", "audit").stdout
    assert answer(study.app, rendered, "leases", "audit")["leases"][0]["code"] == "A1"


def test_status_tells_no_count_that_leads_from_a_person_to_a_code(rendered: Workspace) -> None:
    world = fill(rendered.db, items=5, experts=2, ratings=2, first=20)
    for n in range(3):
        with rendered.db.write() as session:
            held = next_assignment(session, world.study, world.experts[0])
            assert held is not None
            submit(session, held.id, world.experts[0], f"s-{n}", GOOD, {})
    counts = ("done", "held", "remaining", "surplus")

    def seen(*names: str) -> list[tuple[Any, ...]]:
        experts = answer(study.app, rendered, "status", "audit")["experts"]
        return sorted(tuple(one[name] for name in names) for one in experts)

    assert seen("quarters", *counts) == [(0, *[None] * 4), (2, *[None] * 4)]
    shown = run(study.app, rendered, "status", "audit").stdout
    assert "half or more" in shown
    assert "codes are provisional" in " ".join(shown.split())
    answer(study.app, rendered, "close", "audit", "--yes")
    assert seen(*counts) == [(0, 0, 0, 0), (3, 0, 0, 0)]
    assert "half or more" not in run(study.app, rendered, "status", "audit").stdout


def test_tries_in_training_are_limited_told_and_given_anew(rendered: Workspace) -> None:
    world = fill(rendered.db, items=2, experts=1, ratings=1, training=1, training_tries=1, first=20)
    with rendered.db.write() as session:
        (drill,) = training_items(session, world.study, world.experts[0])
        assert check_training(session, world.study, world.experts[0], drill.item_id, GOOD).stopped
    early = answer(study.app, rendered, "checks", "audit")
    told = (early["training_items"], early["first_try_share"], early["experts"])
    assert told == (1, 0.0, None)
    assert "first try: 0%" in run(study.app, rendered, "checks", "audit").stdout
    assert answer(study.app, rendered, "allow-tries", "audit", "Ella 0")["allowed"]
    with pytest.raises(InputError, match="has not run out of tries"):
        run(study.app, rendered, "allow-tries", "audit", "Ella 0")
    answer(study.app, rendered, "close", "audit", "--yes")
    assert answer(study.app, rendered, "checks", "audit")["experts"][0]["training"] is None
    assert "tries" not in run(study.app, rendered, "checks", "audit").stdout
    answer(study.app, rendered, "unblind", "audit", "--reason", "to publish")
    assert answer(study.app, rendered, "checks", "audit")["experts"][0]["training"]["tries"] == 1
    assert "practice 0/1 right at the first" in run(study.app, rendered, "checks", "audit").stdout


def test_doctor_compares_log_and_tables(
    rendered: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    world = study_of(rendered.db, "prompt_review", rendered=False)

    def checks() -> dict[str, Any]:
        capsys.readouterr()
        # A missing media file of the fixture ends the command with 1; what it says counts.
        with contextlib.suppress(typer.Exit):
            house.doctor_command(check_log=True, workspace=rendered.root, as_json=True)
        found = json.loads(capsys.readouterr().out)["checks"]
        return next(one for one in found if one["name"] == "log of prompt_review")

    assert checks()["ok"]
    with rendered.db.write() as session:
        log(session, "study_closed", study_id=world.study)
    assert checks() == {
        "name": "log of prompt_review",
        "ok": False,
        "detail": 'state: "open" in the tables, "closed" in the log',
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["import", "x.csv", "--protocol", "nope"], "--protocol: expected one of"),
        (["import", "x.csv", "--protocol", "stride_audit"], "are drafted, not imported"),
        (["import", "x.csv", "--protocol", "expert_verification"], "--kind: expected one of"),
        (["import", "x.csv", "--protocol", "likert", "--kind", "prompt"], "--kind: expected one"),
        (["import", "x.csv", "--protocol", "likert", "--map", "a"], "--map: expected FIELD=COLUMN"),
        (["import", "x.csv", "--protocol", "likert"], "x.csv: cannot be read"),
        (["create", "A", "--protocol", "likert", "--decision", "majority"], "decides nothing"),
        (["create", "A", "--where", "axis"], "--where: expected NAME=VALUE"),
        (["pause", "nope"], "unknown study 'nope'"),
        (["leases", "nope"], "unknown study 'nope'"),
        (["lineage", "nope"], "unknown item 'nope'"),
    ],
)
def test_bad_words_are_named(rendered: Workspace, words: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(study.app, rendered, *words)


def test_a_table_without_any_item_says_so(rendered: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("id,text,category\n,,\n", encoding="utf-8")
    with pytest.raises(InputError, match="none of 1 rows is an item"):
        run(study.app, rendered, "import", str(file), "--protocol", "prompt_review")


def test_times_are_read_as_people_write_them() -> None:
    day = parse_time("2027-03-01T00:00", "x")
    assert day % 86400 == 0
    assert parse_time("2027-03-01", "x") == day + 86399
    assert parse_time("2027-03-01T18:00+01:00", "x") == day + 17 * 3600
    with pytest.raises(InputError, match="WHEN: expected e.g."):
        parse_time("tomorrow", "WHEN")


def test_status_names_clips_in_which_the_body_misses_joints(rendered: Workspace) -> None:
    fill(rendered.db, items=2, first=20)
    assert answer(study.app, rendered, "status", "audit")["far"] == {}
    with rendered.db.write() as session:
        first, *_others = study_media(session, "audit")
        fit = {"left_wrist": 48.5, "head": 31.2, "neck": 29.9}
        add_media(session, **first.model_copy(update={"fit_error_mm": fit}).model_dump())
    far = answer(study.app, rendered, "status", "audit")["far"]
    assert far == {first.clip_id: {"left_wrist": 48.5, "head": 31.2}}
    line = f"{first.clip_id}: the body misses 2 joints by over 30 mm, most left_wrist: 48 mm"
    assert line in run(study.app, rendered, "status", "audit").stdout
