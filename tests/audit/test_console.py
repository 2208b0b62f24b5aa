"""What coordinators do while a study runs, and what experts are told."""

from typing import Any

import pytest

from audit.access import AccessError, add_person, revoke
from audit.answers import AnswerError
from audit.assignment import next_assignment
from audit.blind import blind_item
from audit.checks import checks_report, retest_rows
from audit.disputes import disagreement, disputes, settle, withdraw_item
from audit.labelling import load_draft, my_labels, revise, save_draft, study_ratings, submit
from audit.leases import leases, reclaim
from audit.lifecycle import close, move_deadline, pause, resume
from audit.members import add_member, retire, roster
from audit.people import list_people, person_by_email
from audit.progress import progress
from audit.protocols.registry import PROTOCOLS
from audit.records import PausedError, StudyError
from audit.replay import log_differences, progress_from_log
from audit.studies import free_items, get_study
from audit.unblinding import unblind, who_said_what
from corpus.problems import InputError
from store.events import list_events, log
from store.items import get_item
from store.session import Database
from tests.audit.kinds import GOOD_ANSWERS, study_of
from tests.audit.world import GOOD, START, World, fill


def claim(world: World, person: str, now: float = START) -> Any:
    with world.db.write() as session:
        return next_assignment(session, world.study, person, now)


def answer(world: World, person: str, held: Any, answers: Any = GOOD, now: float = START) -> Any:
    with world.db.write() as session:
        return submit(session, held.id, person, f"s-{held.id}", answers, {}, now)


def all_of(world: World, person: str, answers: Any = GOOD) -> list[str]:
    seen = []
    while (held := claim(world, person, START + len(seen))) is not None:
        seen.append(held.item_id)
        answer(world, person, held, answers, START + len(seen))
    return seen


def whole(world: World) -> None:
    """Check that the log tells what the tables tell."""
    with world.db.read() as session:
        assert log_differences(session, world.study, START) == []


def test_a_pause_stops_new_items_and_loses_nothing(world: World) -> None:
    person = world.experts[0]
    held = claim(world, person)
    with world.db.write() as session:
        pause(session, world.study, world.coordinator, START)
        assert get_study(session, world.study).paused_at == START
    with pytest.raises(PausedError, match="paused; your answers are kept"):
        claim(world, person)
    with world.db.write() as session:
        assert save_draft(session, held.id, person, {"fluent": "no"}, {}, 0, START) == 1
    assert not answer(world, person, held).surplus
    whole(world)
    with world.db.write() as session:
        with pytest.raises(StudyError, match="paused already"):
            pause(session, world.study)
        resume(session, world.study, world.coordinator)
        with pytest.raises(StudyError, match="is not paused"):
            resume(session, world.study)
    assert claim(world, person) is not None
    whole(world)


def test_a_deadline_ends_new_items_and_can_be_moved(db: Database) -> None:
    world = study_of(db, "pilot_qa", deadline=START + 100)
    person = world.experts[0]
    held = claim(world, person, START + 99)
    with pytest.raises(StudyError, match="deadline .* has passed"):
        claim(world, person, START + 100)
    assert not answer(world, person, held, GOOD_ANSWERS["pilot_qa"], START + 200).surplus
    with db.write() as session:
        with pytest.raises(StudyError, match="in the future"):
            move_deadline(session, world.study, START, now=START + 1)
        move_deadline(session, world.study, None, world.coordinator)
        assert get_study(session, world.study).config.deadline == START + 100
    assert claim(world, person, START + 300) is not None


def test_leases_tell_who_holds_what_by_code(world: World) -> None:
    first, second = (claim(world, person, START + n) for n, person in enumerate(world.experts[:2]))
    with world.db.write() as session:
        save_draft(session, second.id, world.experts[1], {}, {}, 0, START + 5)
        found = leases(session, world.study, world.coordinator, START + 60)
        assert [(one.assignment_id, one.code, one.expired) for one in found] == [
            (first.id, "A1", False),
            (second.id, "A2", False),
        ]
        assert [one.saved_at for one in found] == [None, START + 5]
        reclaim(session, first.id, actor=world.coordinator, now=START + 61)
        assert [one.expired for one in leases(session, world.study, None, START + 62)] == [
            True,
            False,
        ]
        with pytest.raises(AccessError):
            leases(session, world.study, world.experts[0])
        names = [person.name for person in list_people(session)]
    assert not [name for name in names if name in repr(found)]


def test_a_retired_expert_may_do_nothing_more_and_keeps_their_work(world: World) -> None:
    person = world.experts[0]
    done, held = claim(world, person), None
    answer(world, person, done)
    held = claim(world, person)
    with world.db.write() as session:
        save_draft(session, held.id, person, {"fluent": "no"}, {}, 0, START)
        assert retire(session, world.study, person, actor=world.coordinator, now=START) == 0
    for act in (
        lambda s: next_assignment(s, world.study, person, START),
        lambda s: submit(s, held.id, person, "late", GOOD, {}, START),
        lambda s: save_draft(s, held.id, person, {}, {}, 1, START),
    ):
        with world.db.write() as session, pytest.raises(StudyError, match="has ended"):
            act(session)
    with world.db.read() as session:
        assert load_draft(session, held.id, person).answers == {"fluent": "no"}
        assert {row.rater for row in study_ratings(session, world.study)} == {"A1"}
        found = progress(session, world.study, START)
        assert (found.experts[0].retired, found.experts[0].stage) == (True, "retired")
        assert (found.ratings, found.held) == (1, 0)
        seats = roster(session, world.study, world.coordinator)
        assert [seat.retired_at for seat in seats] == [START, None, None]
        assert not any("A1" in repr(seat) for seat in seats)
    whole(world)


def test_a_replaced_experts_ratings_are_given_by_others(db: Database) -> None:
    world = fill(db, items=2, experts=2, ratings=1)
    gone, other = world.experts
    assert len(all_of(world, gone)) == 2
    assert claim(world, other) is None
    with db.write() as session:
        assert retire(session, world.study, gone, replace=True, actor=world.coordinator) == 2
        assert study_ratings(session, world.study) == []
        assert len(my_labels(session, world.study, gone)) == 2
        with pytest.raises(StudyError, match="takes no part"):
            retire(session, world.study, gone)
    whole(world)
    assert len(all_of(world, other)) == 2
    whole(world)
    with db.write() as session:
        unblind(session, world.study, "test")
        states = {(one.code, one.state) for one in who_said_what(session, world.study)}
        assert states == {("A1", "retired"), ("A2", "done")}
        # Back again: what was given up stays given up.
        assert add_member(session, world.study, gone, world.coordinator) == "A1"
    assert claim(world, gone) is None
    whole(world)


def test_an_item_withdrawn_while_open_is_kept_and_said(db: Database) -> None:
    world = fill(db, items=2, experts=2, ratings=2)
    person = world.experts[0]
    held = claim(world, person)
    with db.write() as session:
        with pytest.raises(StudyError, match="expected a reason"):
            withdraw_item(session, world.study, held.item_id, " ")
        withdraw_item(session, world.study, held.item_id, "cut short", world.coordinator, START)
        assert save_draft(session, held.id, person, {"fluent": "no"}, {}, 0, START) == 1
    label = answer(world, person, held)
    assert label.surplus
    assert label.note == (
        "this item was withdrawn while you had it open; your answer is kept but does not count"
    )
    # The same submission again says the same.
    assert answer(world, person, held).note == label.note
    whole(world)
    assert held.item_id not in all_of(world, person) + all_of(world, world.experts[1])
    with db.write() as session:
        with pytest.raises(StudyError, match="was withdrawn"):
            withdraw_item(session, world.study, held.item_id, "again")
        report = close(session, world.study, now=START)
        assert report.outcomes == {"accepted": 1}
        assert report.incomplete == {}
        assert get_item(session, held.item_id).state == "in_review"
        assert held.item_id in {one.id for one in free_items(session, "stride")}


def test_an_expert_with_a_withdrawn_item_is_given_another(db: Database) -> None:
    world = fill(db, items=2, experts=1, ratings=1)
    held = claim(world, world.experts[0])
    with db.write() as session:
        withdraw_item(session, world.study, held.item_id, "x", now=START)
    other = claim(world, world.experts[0])
    assert other is not None
    assert other.item_id != held.item_id


def test_disputes_come_by_disagreement_without_codes(db: Database) -> None:
    world = study_of(db, "likert", items=3)
    first, second, third = sorted(world.items)
    given = {first: "15", second: "33", third: "24"}
    for person in world.experts[:2]:
        place = world.experts.index(person)
        while (held := claim(world, person)) is not None:
            mark = given[held.item_id][place]
            answer(world, person, held, {"realism": mark, "semantic_consistency": "3"})
    with db.read() as session:
        found = disputes(session, world.study, world.coordinator)
        # Two raters at 1 and 5 are as far apart as can be (1), at 2 and 4 half as far, on one of
        # two questions.
        assert [(one.item_id, one.disagreement) for one in found] == [
            (first, 0.5),
            (third, 0.25),
            (second, 0.0),
        ]
        assert found[0].votes["realism"] == {"1": 1, "2": 0, "3": 0, "4": 0, "5": 1}
        assert "A1" not in repr(found)
        with pytest.raises(AccessError):
            disputes(session, world.study, world.experts[0])


def test_disagreement_is_null_below_two_answers_and_ignores_confidence() -> None:
    protocol = PROTOCOLS["pilot_qa"]
    assert disagreement(protocol, [{"answer": "a", "confidence": "1"}]) is None
    pair = [{"answer": "a", "confidence": "1"}, {"answer": "a", "confidence": "5"}]
    assert disagreement(protocol, pair) == 0.0
    # Three raters, two of three pairs differ.
    three = [{"answer": one} for one in "aab"]
    assert disagreement(protocol, three) == pytest.approx(2 / 3)


def test_settling_needs_a_reason_and_is_final(world: World) -> None:
    person = world.experts[0]
    held = claim(world, person)
    done = claim(world, world.experts[1])
    answer(world, world.experts[1], done)
    with world.db.write() as session:
        with pytest.raises(StudyError, match="expected a reason"):
            settle(session, world.study, held.item_id, "accepted", "")
        with pytest.raises(AccessError):
            settle(session, world.study, held.item_id, "accepted", "x", person)
        settle(session, world.study, held.item_id, "rejected", "no such clip", world.coordinator)
        with pytest.raises(StudyError, match="is rejected already"):
            settle(session, world.study, held.item_id, "accepted", "x")
    label = answer(world, person, held)
    assert (label.surplus, "was settled while you had it open" in label.note) == (True, True)
    with world.db.write() as session:
        with pytest.raises(StudyError, match="decided already: rejected"):
            withdraw_item(session, world.study, held.item_id, "x")
        report = close(session, world.study, now=START)
        assert held.item_id not in report.incomplete
    whole(world)


def test_an_answer_to_a_settled_item_stays_as_it_is(world: World) -> None:
    person = world.experts[0]
    held = claim(world, person)
    answer(world, person, held)
    with world.db.write() as session:
        settle(session, world.study, held.item_id, "accepted", "clear")
        with pytest.raises(StudyError, match="settled meanwhile; your first answer stands"):
            revise(session, held.id, person, "other", GOOD | {"fluent": "no"}, {}, START)


def test_who_said_what_is_told_only_after_unblinding(world: World) -> None:
    held = claim(world, world.experts[0])
    answer(world, world.experts[0], held)
    with world.db.write() as session:
        with pytest.raises(AccessError, match="is blind; unblind it first"):
            who_said_what(session, world.study, world.coordinator)
        for stranger in (world.experts[0], "nobody"):
            with pytest.raises(AccessError):
                unblind(session, world.study, "curious", stranger)
        with pytest.raises(StudyError, match="expected a reason"):
            unblind(session, world.study, "  ", world.coordinator)
        unblind(session, world.study, "paper accepted", world.coordinator, START)
        unblind(session, world.study, "again", world.coordinator)
        told = who_said_what(session, world.study, world.coordinator)
        assert [(one.code, one.name, one.answers) for one in told] == [("A1", "Ella 0", GOOD)]
        events = list_events(session, study_id=world.study, actions=("study_unblinded",))
        assert [(e.person_id, e.details["reason"]) for e in events] == [
            (world.coordinator, "paper accepted")
        ]
        with pytest.raises(AccessError):
            who_said_what(session, world.study, world.experts[0])


def test_attention_items_are_mixed_in_and_never_data(db: Database) -> None:
    world = study_of(db, "pilot_qa", items=6, attention=2)
    right, wrong = GOOD_ANSWERS["pilot_qa"], {"answer": "sit", "confidence": "5"}
    for person, answers in zip(world.experts, (right, wrong, right), strict=True):
        seen = all_of(world, person, answers)
        assert len(seen) == 8
        assert seen[-1] in world.items
        assert set(world.items) < set(seen)
    with db.write() as session:
        report = checks_report(session, world.study)
        assert [(one.code, one.attention, one.passed) for one in report.experts] == [
            ("A1", 2, 2),
            ("A2", 2, 0),
            ("A3", 2, 2),
        ]
        assert [one.passed_share for one in report.experts] == [1.0, 0.0, 1.0]
        assert len(report.experts[1].missed) == 2
        rows = study_ratings(session, world.study)
        assert {row.item_id for row in rows} == set(world.items)
        assert len(rows) == 6 * 3 * 2
        assert progress(session, world.study, START).ratings == 18
        close(session, world.study, now=START)
    whole(world)


def test_repeated_items_come_back_at_a_distance_and_are_kept_apart(db: Database) -> None:
    world = study_of(db, "likert", items=9, experts=2, repeats=2, repeat_gap=3)
    person = world.experts[0]
    seen: list[str] = []
    views = []
    while (held := claim(world, person, START + len(seen))) is not None:
        with db.write() as session:
            views.append(blind_item(session, held.id, person))
        answer(
            world,
            person,
            held,
            {"realism": "2" if held.item_id in seen else "4", "semantic_consistency": "3"},
            START + len(seen),
        )
        seen.append(held.item_id)
    again = [place for place, one in enumerate(seen) if one in seen[:place]]
    assert len(seen) == 11
    assert len({seen[place] for place in again}) == 2
    for place in again:
        first = seen.index(seen[place])
        between = set(seen[first + 1 : place]) - {seen[p] for p in again if p < place}
        assert len(between) >= 3
        # The same in every respect but its handle.
        same = {"assignment_id"}
        assert views[place].model_dump(exclude=same) == views[first].model_dump(exclude=same)
    with db.read() as session:
        assert progress(session, world.study, START).ratings == 9
        assert len(study_ratings(session, world.study)) == 18
        assert {row.label for row in study_ratings(session, world.study)} == {"4", "3"}
        rows = retest_rows(session, world.study)
        assert [(row.axis, row.first, row.second) for row in rows] == [
            ("realism", "4", "2"),
            ("realism", "4", "2"),
            ("semantic_consistency", "3", "3"),
            ("semantic_consistency", "3", "3"),
        ]
        found = checks_report(session, world.study).experts[0].stability
        assert (found["realism"].same, found["realism"].pairs) == (0, 2)
        other = found["semantic_consistency"]
        assert (other.same, other.pairs) == (2, 2)
    whole(world)


def test_a_log_with_a_hole_is_found(world: World) -> None:
    held = claim(world, world.experts[0])
    answer(world, world.experts[0], held)
    whole(world)
    with world.db.write() as session:
        log(session, "study_paused", study_id=world.study)
    with world.db.read() as session:
        assert log_differences(session, world.study, START) == [
            "paused: false in the tables, true in the log"
        ]
        assert progress_from_log(session, world.study, START).paused


def test_a_form_that_changed_meanwhile_keeps_the_draft(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # cvat 7099: the schema changed while a job was open; the save was rejected, the work lost.
    person = world.experts[0]
    held = claim(world, person)
    newer = PROTOCOLS["stride_audit"].model_copy(update={"version": 2})
    monkeypatch.setitem(PROTOCOLS, "stride_audit", newer)
    with world.db.write() as session:
        save_draft(session, held.id, person, {"fluent": "no"}, {}, 0, START)
    with pytest.raises(StudyError, match=r"form of this study changed \(version 1 to 2\)"):
        answer(world, person, held)
    with world.db.read() as session:
        assert load_draft(session, held.id, person).answers == {"fluent": "no"}


@pytest.mark.parametrize(
    "text",
    ["שלום עולם", "\u202eabc\u202c", "👩🏽‍🦽 🏳️‍🌈", "e\u0301 \u00a0 漢字", "line\nline\ttab"],
)
def test_comments_of_every_script_come_back_as_they_were(db: Database, text: str) -> None:
    world = study_of(db, "likert", items=1, experts=1)
    answers = GOOD_ANSWERS["likert"] | {"comment": f"{text}\x00"}
    held = claim(world, world.experts[0])
    with db.write() as session:
        save_draft(session, held.id, world.experts[0], answers, {}, 0, START)
        assert load_draft(session, held.id, world.experts[0]).answers["comment"] == text
    assert answer(world, world.experts[0], held, answers).answers["comment"] == text


def test_a_comment_of_100_kb_is_refused_clearly_and_kept_as_a_draft(world: World) -> None:
    person = world.experts[0]
    held = claim(world, person)
    answers = GOOD | {"comment": "x" * 100_000}
    with world.db.write() as session:
        save_draft(session, held.id, person, answers, {}, 0, START)
    with pytest.raises(AnswerError, match="'comment' has 100000 characters; at most 10000"):
        answer(world, person, held, answers)
    with world.db.read() as session:
        assert load_draft(session, held.id, person).answers == answers


def test_unknown_and_closed_studies_are_named(world: World) -> None:
    person = world.experts[0]
    held = claim(world, person)
    acts = (pause, resume, lambda s, n: move_deadline(s, n, None))
    for act in acts:
        with world.db.write() as session, pytest.raises(StudyError, match="unknown study 'nope'"):
            act(session, "nope")
    with world.db.write() as session:
        close(session, world.study, now=START)
    for act in (*acts, lambda s, n: retire(s, n, person)):
        with world.db.write() as session, pytest.raises(StudyError, match="closed"):
            act(session, world.study)
    with pytest.raises(StudyError, match="is closed; it takes no more answers"):
        answer(world, person, held)


def test_people_are_found_by_verified_address(world: World) -> None:
    with world.db.write() as session:
        ada = add_person(session, "Ada", "expert", email=" Ada@Lab.Example ")
        assert person_by_email(session, "ADA@lab.example") == ada
        assert person_by_email(session, "other@lab.example") is None
        with pytest.raises(InputError, match="belongs to someone already"):
            add_person(session, "Other", "expert", email="ada@lab.example")
        for bad in ("ada", "a@b@c", "@x", "x@", "a b@c"):
            with pytest.raises(InputError, match="expected an e-mail address"):
                add_person(session, "Other", "expert", email=bad)
        revoke(session, ada.id)
        assert person_by_email(session, "ada@lab.example") is None
