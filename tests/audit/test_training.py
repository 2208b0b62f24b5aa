import pytest
from sqlalchemy import select

from audit.access import AccessError, add_person
from audit.answers import AnswerError
from audit.assignment import next_assignment
from audit.checks import checks_report
from audit.known_answers import read_known
from audit.labelling import study_ratings, submit
from audit.lifecycle import close
from audit.members import retire, roster
from audit.protocols.registry import PROTOCOLS
from audit.records import StudyError
from audit.studies import Gold, add_member, add_training, create_study, free_items, progress
from audit.training import (
    acknowledge_guidelines,
    check_training,
    standing,
    training_items,
)
from audit.tries import allow_tries
from audit.unblinding import unblind
from corpus.problems import InputError
from store.session import Database
from store.tables import LabelRow
from tests.audit.test_studies import config
from tests.audit.world import GOOD, START, World, fill, item

RIGHT = {**GOOD, "single_change": "no"}


@pytest.fixture
def drilled(db: Database) -> World:
    return fill(db, items=2, training=2)


def test_labelling_waits_for_training(drilled: World) -> None:
    person = drilled.experts[0]
    with drilled.db.write() as session:
        with pytest.raises(StudyError, match="training items come first"):
            next_assignment(session, drilled.study, person)
        first, second = training_items(session, drilled.study, person)
        told = check_training(session, drilled.study, person, first.item_id, RIGHT)
        assert (told.passed, told.trained, told.left) == (True, False, 1)
        told = check_training(session, drilled.study, person, second.item_id, RIGHT)
        assert (told.passed, told.trained, told.left) == (True, True, 0)
        assert next_assignment(session, drilled.study, person) is not None


def test_feedback_says_what_was_wrong_and_why_and_lets_one_try_again(drilled: World) -> None:
    person = drilled.experts[0]
    with drilled.db.write() as session:
        first, second = (one.item_id for one in training_items(session, drilled.study, person))
        told = check_training(session, drilled.study, person, first, GOOD)
        wrong = [one for one in told.questions if not one.right]
        assert [(one.question, one.given, one.expected) for one in wrong] == [
            ("single_change", "yes", "no")
        ]
        assert told.explanation == "A number changed."
        assert not told.passed
        assert not check_training(session, drilled.study, person, second, RIGHT).trained
        assert not standing(session, drilled.study, person).trained
        assert check_training(session, drilled.study, person, first, RIGHT).trained
        assert standing(session, drilled.study, person).trained
        items = training_items(session, drilled.study, person)
        assert [(one.passed, one.tries) for one in items] == [(True, 2), (True, 1)]


def test_stages_of_an_expert(drilled: World) -> None:
    person = drilled.experts[0]

    def stage() -> str:
        return progress(session, drilled.study).experts[0].stage

    with drilled.db.write() as session:
        assert stage() == "has not started"
        acknowledge_guidelines(session, drilled.study, person)
        while not standing(session, drilled.study, person).trained:
            for one in training_items(session, drilled.study, person):
                assert stage() == "in training"
                check_training(session, drilled.study, person, one.item_id, RIGHT)
        assert stage() == "labelling"
        while (held := next_assignment(session, drilled.study, person)) is not None:
            assert stage() == "labelling"
            submit(session, held.id, person, f"stage-{held.item_id}", GOOD, {})
        assert stage() == "finished"


def test_nobody_is_in_training_where_there_is_none(db: Database) -> None:
    plain = fill(db, items=1)
    person = plain.experts[0]
    with db.write() as session:
        acknowledge_guidelines(session, plain.study, person)
        held = next_assignment(session, plain.study, person)
        assert held is not None
        assert progress(session, plain.study).experts[0].stage == "labelling"
        submit(session, held.id, person, "only", GOOD, {})
        assert progress(session, plain.study).experts[0].stage == "finished"


@pytest.fixture
def limited(db: Database) -> World:
    return fill(db, items=2, training=2, training_tries=2)


def test_after_the_last_try_an_expert_stops_until_a_coordinator_allows_it(limited: World) -> None:
    person, other = limited.experts[:2]
    with limited.db.write() as session:
        first, second = (one.item_id for one in training_items(session, limited.study, person))
        once = check_training(session, limited.study, person, first, GOOD)
        assert (once.stopped, once.tries_left) == (False, 1)
        assert not standing(session, limited.study, person).stopped
        with pytest.raises(StudyError, match="has not run out of tries"):
            allow_tries(session, limited.study, person)
        assert check_training(session, limited.study, person, first, GOOD).stopped
        for item_id in (first, second):
            with pytest.raises(StudyError, match="no try is left"):
                check_training(session, limited.study, person, item_id, RIGHT)
        assert standing(session, limited.study, person).stopped
        assert not standing(session, limited.study, other).stopped
        seats = {one.person_id: one.stopped for one in roster(session, limited.study)}
        assert [name for name, stopped in seats.items() if stopped] == [person]
        with pytest.raises(AccessError):
            allow_tries(session, limited.study, person, person)
        allow_tries(session, limited.study, person, limited.coordinator)
        assert not standing(session, limited.study, person).stopped
        assert not check_training(session, limited.study, person, first, GOOD).stopped
        assert not check_training(session, limited.study, person, first, RIGHT).stopped
        assert check_training(session, limited.study, person, second, RIGHT).trained
        assert not standing(session, limited.study, person).stopped


def test_nobody_who_left_waits_to_be_allowed_on(limited: World) -> None:
    person = limited.experts[0]
    with limited.db.write() as session:
        (first, _second) = training_items(session, limited.study, person)
        for _ in range(2):
            check_training(session, limited.study, person, first.item_id, GOOD)
        assert any(one.stopped for one in roster(session, limited.study))
        retire(session, limited.study, person)
        assert not any(one.stopped for one in roster(session, limited.study))


def test_without_a_limit_nobody_is_stopped(drilled: World) -> None:
    person = drilled.experts[0]
    with drilled.db.write() as session:
        first = training_items(session, drilled.study, person)[0].item_id
        for _ in range(20):
            assert not check_training(session, drilled.study, person, first, GOOD).stopped


def test_checks_count_tries_by_code_and_first_tries_over_all(drilled: World) -> None:
    one, other = drilled.experts[:2]
    with drilled.db.write() as session:
        assert checks_report(session, drilled.study).first_try_share is None
        first, second = (row.item_id for row in training_items(session, drilled.study, one))
        for person, item_id, answers in (
            (one, first, GOOD), (one, first, GOOD), (one, first, RIGHT), (one, second, RIGHT),
            (other, first, RIGHT),
        ):  # fmt: skip
            check_training(session, drilled.study, person, item_id, answers)
        close(session, drilled.study, drilled.coordinator)
        blind = checks_report(session, drilled.study)
        # Who ran out of tries is known by name, so that tries by code would tell whose code it is.
        assert [row.training for row in blind.experts] == [None, None, None]
        unblind(session, drilled.study, "to publish", drilled.coordinator)
        report = checks_report(session, drilled.study)
    assert blind.first_try_share == report.first_try_share
    assert (report.training_items, report.first_try_share) == (2, pytest.approx(2 / 3))
    told = {(row.training.tried, row.training.first, row.training.tries) for row in report.experts}
    assert told == {(2, 1, 4), (1, 1, 1), (0, 0, 0)}


def test_training_never_enters_the_data(drilled: World) -> None:
    person = drilled.experts[0]
    with drilled.db.write() as session:
        for one in training_items(session, drilled.study, person):
            check_training(session, drilled.study, person, one.item_id, RIGHT)
        assert session.scalars(select(LabelRow)).all() == []
        assert study_ratings(session, drilled.study) == []
        seen = progress(session, drilled.study)
        assert (seen.items, seen.ratings) == (2, 0)


def test_one_experts_training_is_not_anothers(drilled: World) -> None:
    first, second = drilled.experts[:2]
    with drilled.db.write() as session:
        for one in training_items(session, drilled.study, first):
            check_training(session, drilled.study, first, one.item_id, RIGHT)
        assert standing(session, drilled.study, first).trained
        assert not standing(session, drilled.study, second).trained


def test_training_answers_are_checked_like_any_other(drilled: World) -> None:
    person = drilled.experts[0]
    with drilled.db.write() as session:
        first = training_items(session, drilled.study, person)[0]
        with pytest.raises(AnswerError, match="'confidence' has no answer yet"):
            check_training(
                session, drilled.study, person, first.item_id, {**RIGHT, "confidence": None}
            )
        assert training_items(session, drilled.study, person)[0].tries == 0


def test_a_work_item_is_no_training_item(drilled: World) -> None:
    with drilled.db.write() as session:
        with pytest.raises(StudyError, match="no training item"):
            check_training(session, drilled.study, drilled.experts[0], drilled.items[0], GOOD)
        with pytest.raises(AccessError, match="needs the role expert"):
            training_items(session, drilled.study, drilled.coordinator)


def test_training_items_never_become_work(db: Database) -> None:
    world = fill(db, items=2, training=1, opened=False)
    with db.write() as session:
        drill = training_items(session, world.study, world.experts[0])[0].item_id
        assert free_items(session, "stride") == []
        with pytest.raises(StudyError, match="its answers are known"):
            create_study(session, config(world, item_ids=(drill,)))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"fluent": "maybe"}, "'maybe' is not an answer"),
        ({"exclusive": "no"}, "'exclusive' is not asked of it"),
        ({"verdict": "no"}, "not a question"),
    ],
)
def test_expected_answers_must_be_answers(
    db: Database, answers: dict[str, str], message: str
) -> None:
    world = fill(db, opened=False)
    with db.write() as session, pytest.raises(StudyError, match=message):
        add_training(session, world.study, [(item(60), Gold(answers=answers, explanation="x"))])


def test_a_judged_item_cannot_train(db: Database) -> None:
    world = fill(db)
    other = fill(db, name="second", first=20, opened=False)
    gold = Gold(answers={"fluent": "yes"}, explanation="x")
    with db.write() as session:
        with pytest.raises(StudyError, match="is judged in a study"):
            add_training(session, other.study, [(item(1), gold)])
        with pytest.raises(StudyError, match="already"):
            add_training(session, other.study, [(item(20), gold)])
    assert world.items


def test_simulated_raters_need_no_training(drilled: World) -> None:
    with drilled.db.write() as session:
        robot = add_person(session, "Robot", "expert", True)
        add_member(session, drilled.study, robot.id)
        assert standing(session, drilled.study, robot.id).trained
        assert next_assignment(session, drilled.study, robot.id) is not None


def test_guidelines_are_acknowledged_once(drilled: World) -> None:
    person = drilled.experts[0]
    with drilled.db.write() as session:
        assert not standing(session, drilled.study, person).guidelines_read
        acknowledge_guidelines(session, drilled.study, person, START)
        acknowledge_guidelines(session, drilled.study, person, START + 5)
        assert standing(session, drilled.study, person).guidelines_read
        assert progress(session, drilled.study).experts[0].guidelines_read
        with pytest.raises(AccessError):
            acknowledge_guidelines(session, drilled.study, drilled.coordinator)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[" * 100_000, "expected JSON"),
        (b'[{"item_id": ' + b"9" * 5000 + b"}]", "expected JSON"),
        (b'[{"item_id": "\\ud800", "answers": {"fluent": "yes"}}]', "expected JSON"),
        (b'[{"item_id": "a\\u0000", "answers": {"fluent": "yes"}}]', "NUL"),
        (b"[NaN]", "list of objects"),
        (b"[]", "there is no item"),
        (b"\xef\xbb\xbf[{}]", "entry 1: answers"),
        (b"\xff\xfe[\x00]\x00", "expected JSON"),
    ],
    ids=["deep", "digits", "half a character", "NUL", "no object", "empty", "BOM", "UTF-16"],
)
def test_files_of_known_answers_that_cannot_be_used_are_refused(db, data, reason) -> None:
    with db.read() as session, pytest.raises(InputError, match=reason) as caught:
        read_known(session, data, PROTOCOLS["stride_audit"], "known.json")
    assert len(str(caught.value)) < 300
