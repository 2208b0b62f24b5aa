import signal
import subprocess
import sys

import pytest
from sqlalchemy import create_engine, select, text

from audit.access import AccessError, revoke
from audit.answers import AnswerError
from audit.assignment import next_assignment
from audit.labelling import (
    Label,
    StaleDraftError,
    load_draft,
    my_labels,
    revise,
    save_draft,
    study_ratings,
    submit,
)
from audit.protocols.registry import PROTOCOLS
from audit.records import StudyError
from audit.studies import close
from store.events import list_events
from store.session import Database, open_database
from store.tables import DraftRow, LabelRow
from tests.audit.world import GOOD, START, World, fill
from tests.shared_data import ROOT


@pytest.fixture
def held(world: World) -> str:
    with world.db.write() as session:
        found = next_assignment(session, world.study, world.experts[0], START)
    assert found is not None
    return found.id


def send(world: World, held: str, submission: str = "s1", person: int = 0, **changed: str) -> Label:
    with world.db.write() as session:
        return submit(
            session,
            held,
            world.experts[person],
            submission,
            {**GOOD, **changed},
            {"seconds": 3.5},
            START + 5,
        )


def test_a_submission_is_one_row_seen_by_a_second_connection(world: World, held: str) -> None:
    # label-studio 1101: submit opened a tab instead of saving.
    label = send(world, held, comment="  feet\x00 slide\r\n🕺 ‏مرحبا  ")
    with create_engine(world.db.url).connect() as connection:
        rows = connection.execute(text("SELECT id, revision FROM label")).all()
    assert [tuple(row) for row in rows] == [(label.id, 1)]
    with open_database(world.db.url).read() as session:
        assert session.scalars(select(LabelRow)).one().answers == {
            **GOOD,
            "comment": "feet slide\n🕺 ‏مرحبا",
        }


def test_the_same_submission_again_is_the_same_label(world: World, held: str) -> None:
    # label-studio 6295: "error saving" although the row exists.
    first = send(world, held)
    again = send(world, held, fluent="no")
    assert again == first
    with world.db.read() as session:
        assert len(session.scalars(select(LabelRow)).all()) == 1


def test_of_two_verdicts_the_acknowledged_one_stands(world: World, held: str) -> None:
    # streamlit 8291: two buttons read as pressed in one long rerun.
    send(world, held, "accept")
    with pytest.raises(StaleDraftError, match="already submitted"):
        send(world, held, "reject", fluent="no")
    with world.db.read() as session:
        assert session.scalars(select(LabelRow)).one().answers["fluent"] == "yes"


def test_a_delayed_draft_does_not_beat_the_submission(world: World, held: str) -> None:
    # label-studio 1790: an old draft overwrote the annotation.
    person = world.experts[0]
    with world.db.write() as session:
        assert save_draft(session, held, person, {"fluent": "no"}, {}, 0) == 1
    send(world, held)
    with world.db.write() as session, pytest.raises(StaleDraftError, match="already submitted"):
        save_draft(session, held, person, {"fluent": "no"}, {}, 1)
    with world.db.read() as session:
        assert [one.answers for one in my_labels(session, world.study, person)] == [GOOD]


def test_of_two_windows_the_second_is_told(world: World, held: str) -> None:
    person = world.experts[0]
    with world.db.write() as session:
        assert save_draft(session, held, person, {"fluent": "no"}, {}, 0) == 1
        assert save_draft(session, held, person, {"fluent": "yes"}, {}, 1) == 2
    for version in (0, 1, 3):
        with world.db.write() as session, pytest.raises(StaleDraftError, match="another window"):
            save_draft(session, held, person, {"fluent": "no"}, {}, version)
    with world.db.read() as session:
        assert load_draft(session, held, person).answers == {"fluent": "yes"}


def test_a_save_sent_again_is_recognised(world: World, held: str) -> None:
    person = world.experts[0]
    for _ in range(2):
        with world.db.write() as session:
            assert save_draft(session, held, person, {"fluent": "no"}, {"seconds": 1}, 0) == 1


def test_a_draft_survives_a_new_process_and_comes_back_with_its_item(
    world: World, held: str
) -> None:
    # cvat 1025, Appraise 39, streamlit 8905: work was lost on reload, restart or a lost session.
    person = world.experts[0]
    with world.db.read() as session:
        empty = load_draft(session, held, person)
    assert (empty.version, empty.answers) == (0, {})
    with world.db.write() as session:
        save_draft(session, held, person, {"comment": "half a sen"}, {"seconds": 9.0}, 0, START)
    again = open_database(world.db.url)
    with again.write() as session:
        found = next_assignment(session, world.study, person, START + 60)
        assert found is not None
        draft = load_draft(session, found.id, person)
    assert found.id == held
    assert (draft.version, draft.answers) == (1, {"comment": "half a sen"})
    assert draft.activity == {"seconds": 9.0}


def test_a_long_draft_is_kept_though_it_cannot_be_submitted(world: World, held: str) -> None:
    long = "x" * 100_000
    person = world.experts[0]
    with world.db.write() as session:
        save_draft(session, held, person, {"comment": long}, {}, 0)
    with pytest.raises(AnswerError, match="'comment' has 100000 characters; at most 10000"):
        send(world, held, comment=long)
    with world.db.read() as session:
        assert load_draft(session, held, person).answers == {"comment": long}
        assert session.scalars(select(LabelRow)).all() == []


def test_a_changed_answer_is_a_new_revision_and_the_only_one_counted(
    world: World, held: str
) -> None:
    # potato: a changed Likert answer kept the old value too.
    person = world.experts[0]
    send(world, held, confidence="2")
    with world.db.write() as session:
        changed = {**GOOD, "confidence": "4"}
        label = revise(session, held, person, "s2", changed, {}, START + 9)
        assert label.revision == 2
        assert revise(session, held, person, "s2", changed, {}, START + 9) == label
    with world.db.read() as session:
        history = session.scalars(select(LabelRow).order_by(LabelRow.revision)).all()
        assert [row.answers["confidence"] for row in history] == ["2", "4"]
        counted = [row for row in study_ratings(session, world.study) if row.axis == "confidence"]
        assert [row.label for row in counted] == ["4"]
        assert [one.revision for one in my_labels(session, world.study, person)] == [2]


def test_only_a_submitted_answer_can_be_changed(world: World, held: str) -> None:
    with world.db.write() as session, pytest.raises(StudyError, match="not submitted yet"):
        revise(session, held, world.experts[0], "s1", GOOD, {})


def test_another_persons_item_does_not_exist(world: World, held: str) -> None:
    other = world.experts[1]
    for stranger in (other, world.coordinator, "nobody"):
        with world.db.write() as session:
            with pytest.raises(AccessError):
                submit(session, held, stranger, "s1", GOOD, {})
            with pytest.raises(AccessError):
                save_draft(session, held, stranger, GOOD, {}, 0)
            with pytest.raises(AccessError):
                load_draft(session, held, stranger)
    with world.db.write() as session, pytest.raises(AccessError, match="no such item"):
        submit(session, "not-an-assignment", other, "s1", GOOD, {})


def test_a_revoked_expert_writes_nothing(world: World, held: str) -> None:
    with world.db.write() as session:
        revoke(session, world.experts[0])
    with pytest.raises(AccessError, match="revoked"):
        send(world, held)


def test_a_closed_study_takes_nothing_and_keeps_the_draft(world: World, held: str) -> None:
    person = world.experts[0]
    with world.db.write() as session:
        save_draft(session, held, person, {"fluent": "no"}, {}, 0, START)
        close(session, world.study, world.coordinator)
    with pytest.raises(StudyError, match="closed"):
        send(world, held)
    with world.db.write() as session:
        with pytest.raises(StudyError, match="closed"):
            save_draft(session, held, person, {}, {}, 1)
        with pytest.raises(StudyError, match="closed"):
            next_assignment(session, world.study, person)
        assert load_draft(session, held, person).answers == {"fluent": "no"}


def test_a_form_changed_meanwhile_keeps_the_draft(
    world: World, held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # cvat 7099: the label schema changed while a job was open, and the work was lost.
    person = world.experts[0]
    newer = PROTOCOLS["stride_audit"].model_copy(update={"version": 2})
    monkeypatch.setitem(PROTOCOLS, "stride_audit", newer)
    with world.db.write() as session:
        save_draft(session, held, person, {"fluent": "no"}, {}, 0)
    with pytest.raises(StudyError, match="form of this study changed"):
        send(world, held)
    with world.db.read() as session:
        assert load_draft(session, held, person).answers == {"fluent": "no"}


def test_a_submission_id_belongs_to_one_item(world: World, held: str) -> None:
    send(world, held, "same")
    with world.db.write() as session:
        other = next_assignment(session, world.study, world.experts[0], START + 6)
        assert other is not None
        with pytest.raises(AnswerError, match="used for another item"):
            submit(session, other.id, world.experts[0], "same", GOOD, {})


@pytest.mark.parametrize("bad", ["", "x" * 201])
def test_a_submission_id_has_a_sane_length(world: World, held: str, bad: str) -> None:
    with pytest.raises(AnswerError, match="submission id"):
        send(world, held, bad)


def test_a_refused_submission_leaves_no_trace(world: World, held: str) -> None:
    with pytest.raises(AnswerError):
        send(world, held, fluent="maybe")
    with world.db.read() as session:
        assert session.scalars(select(LabelRow)).all() == []
        assert list_events(session, actions=("label_submitted",)) == []


def test_order_of_captions_is_stored_but_not_handed_out(world: World, held: str) -> None:
    label = send(world, held)
    assert label.activity == {"seconds": 3.5}
    with world.db.read() as session:
        stored = session.scalars(select(LabelRow)).one().activity
    assert stored["captions"] in ("caption,perturbed", "perturbed,caption")


def test_ratings_are_complete_and_anonymous(db: Database) -> None:
    # label-studio 719: only the latest annotation of a task was exported.
    world = fill(db, items=5, experts=3, axes=("mirror_reflection", "random_content"))
    for person in world.experts:
        for _ in range(5):
            with world.db.write() as session:
                found = next_assignment(session, world.study, person, START)
                assert found is not None
                submit(session, found.id, person, f"s-{found.id}", GOOD, {}, START)
    with world.db.read() as session:
        rows = study_ratings(session, world.study)
    fluent = [row for row in rows if row.axis == "fluent"]
    assert len(fluent) == 15
    assert {row.rater for row in rows} == {"A1", "A2", "A3"}
    assert len({(row.item_id, row.rater, row.axis) for row in rows}) == len(rows)
    single = [row for row in rows if row.axis == "single_change"]
    assert {row.stratum["axis"] for row in single} == {"mirror_reflection"}
    levels = {row.axis: (row.level, row.domain) for row in rows}
    assert levels["confidence"] == ("ordinal", ("1", "2", "3", "4", "5"))
    assert levels["fluent"] == ("nominal", ("yes", "no"))
    assert not any(person in str(rows) for person in world.experts)


def test_every_action_is_logged(world: World, held: str) -> None:
    person = world.experts[0]
    with world.db.write() as session:
        save_draft(session, held, person, {}, {}, 0, START)
    send(world, held, comment="secret words")
    with world.db.write() as session:
        revise(session, held, person, "s2", GOOD, {}, START + 9)
        close(session, world.study, world.coordinator, START + 10)
    with world.db.read() as session:
        events = list_events(session, study_id=world.study)
        drafts = session.scalars(select(DraftRow)).all()
    assert [event.action for event in events] == [
        "study_created", "training_added", "member_added", "member_added", "member_added",
        "study_launched", "assignment_claimed", "draft_saved", "label_submitted",
        "label_revised", "codes_dealt", "study_closed",
    ]  # fmt: skip
    assert len(drafts) == 1
    assert "secret words" not in str(events)


CHILD = """
import sys, time
from audit.assignment import next_assignment
from audit.labelling import save_draft, submit
from store.session import open_database
url, study, person = sys.argv[1:]
db = open_database(url)
good = {"fluent": "yes", "single_change": "yes", "distinguishable": "yes", "confidence": "4"}
with db.write() as session:
    first = next_assignment(session, study, person).id
    submit(session, first, person, "acknowledged", good, {})
with db.write() as session:
    second = next_assignment(session, study, person).id
    save_draft(session, second, person, {"comment": "half"}, {}, 0)
print("saved", second, flush=True)
with db.write() as session:
    submit(session, second, person, "never acknowledged", good, {})
    session.flush()
    print("in the middle", flush=True)
    time.sleep(60)
"""


def test_a_killed_process_loses_nothing_it_acknowledged(world: World) -> None:
    # cvat 7996: days of work lost.
    person = world.experts[0]
    command = [sys.executable, "-c", CHILD, world.db.url, world.study, person]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        second = child.stdout.readline().split()[1]
        assert child.stdout.readline() == "in the middle\n"
        child.send_signal(signal.SIGKILL)
    again = open_database(world.db.url)
    with again.write() as session:
        assert [one.submission_id for one in my_labels(session, world.study, person)] == [
            "acknowledged"
        ]
        held = next_assignment(session, world.study, person)
        assert held is not None
        assert held.id == second
        assert load_draft(session, second, person).answers == {"comment": "half"}
        submit(session, second, person, "never acknowledged", GOOD, {})
