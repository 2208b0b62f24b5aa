import pytest

from audit.access import AccessError, add_person, revoke
from audit.assignment import next_assignment
from audit.labelling import submit
from audit.records import StudyError, get_study
from audit.studies import (
    Gold,
    StudyConfig,
    add_member,
    add_training,
    close,
    create_study,
    free_items,
    launch,
    list_studies,
    progress,
    studies_of,
)
from corpus.problems import InputError
from store.clips import add_clips
from store.items import add_items, get_item, set_state
from store.session import Database
from tests.audit.world import GOOD, START, World, clip, fill, item


def label_all(world: World, answers: list[dict[str, str]], items: int) -> None:
    for person, given in zip(world.experts, answers, strict=True):
        for _ in range(items):
            with world.db.write() as session:
                found = next_assignment(session, world.study, person, START)
                assert found is not None
                submit(session, found.id, person, f"s-{found.id}", given, {}, START)


def config(world: World, **changed: object) -> StudyConfig:
    settings = {"name": "new", "protocol": "stride_audit", "item_ids": (item(50).id,), **changed}
    return StudyConfig.model_validate(settings)


def test_launch_moves_items_into_review_and_freezes(db: Database) -> None:
    world = fill(db, opened=False)
    with db.write() as session:
        assert get_item(session, world.items[0]).state == "drafted"
        assert launch(session, "audit", world.coordinator).state == "open"
        assert {get_item(session, one).state for one in world.items} == {"in_review"}
        with pytest.raises(StudyError, match="launched already"):
            launch(session, world.study, world.coordinator)
        with pytest.raises(StudyError, match="launched already"):
            add_training(
                session, world.study, [(item(60), Gold(answers={"fluent": "no"}, explanation="x"))]
            )


def test_a_study_not_launched_gives_no_items_and_is_not_seen(db: Database) -> None:
    world = fill(db, opened=False)
    with db.write() as session:
        with pytest.raises(StudyError, match="not started yet"):
            next_assignment(session, world.study, world.experts[0])
        assert studies_of(session, world.experts[0]) == []
        assert [study.id for study in studies_of(session, world.coordinator)] == [world.study]


def test_launch_needs_a_clip_for_every_item_and_changes_nothing_without(db: Database) -> None:
    world = fill(db)
    with db.write() as session:
        add_clips(session, [clip(50)], [])
        add_items(session, [item(50)])
        study = create_study(session, config(world, item_ids=(world.items[0], item(50).id)))
        with pytest.raises(StudyError, match="1 of 2 items have no rendered clip.*render all"):
            launch(session, study.id)
        assert get_item(session, item(50).id).state == "drafted"
        assert get_study(session, study.id).state == "draft"


def test_closing_decides_by_majority(db: Database) -> None:
    world = fill(db, items=2)
    bad = {**GOOD, "distinguishable": "no"}
    label_all(world, [GOOD, GOOD, bad], 2)
    with db.write() as session:
        report = close(session, world.study, world.coordinator)
        assert report.outcomes == {"accepted": 2}
        assert report.incomplete == {}
        assert {get_item(session, one).state for one in world.items} == {"accepted"}
        assert progress(session, world.study).outcomes == {"accepted": 2}


def test_closing_decides_unanimously_when_told_so(db: Database) -> None:
    world = fill(db, items=2, decision="checks_unanimous")
    label_all(world, [GOOD, GOOD, {**GOOD, "distinguishable": "no"}], 2)
    with db.write() as session:
        assert close(session, world.study, world.coordinator).outcomes == {"rejected": 2}
        assert {get_item(session, one).state for one in world.items} == {"rejected"}


def test_incomplete_items_stay_in_review_with_a_reason(db: Database) -> None:
    world = fill(db, items=2)
    for person in world.experts[:2]:
        with db.write() as session:
            found = next_assignment(session, world.study, person, START)
            assert found is not None
            submit(session, found.id, person, f"s-{found.id}", GOOD, {}, START)
    with db.write() as session:
        report = close(session, world.study, world.coordinator)
        assert report.outcomes == {}
        assert set(report.incomplete) == set(world.items)
        assert all("of 3 ratings" in reason for reason in report.incomplete.values())
        assert {get_item(session, one).state for one in world.items} == {"in_review"}
        # A new study may take them up.
        assert {one.id for one in free_items(session, "stride")} == set(world.items)
        again = create_study(session, config(world, item_ids=tuple(world.items)))
        assert launch(session, again.id).state == "open"


def test_rule_none_decides_nothing(db: Database) -> None:
    world = fill(db, items=1, decision="none")
    label_all(world, [GOOD, GOOD, GOOD], 1)
    with db.write() as session:
        assert close(session, world.study, world.coordinator).outcomes == {}
        assert get_item(session, world.items[0]).state == "in_review"


def test_a_failure_half_way_leaves_the_study_open_and_undecided(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    # inception 6248: stuck after a failed merge.
    world = fill(db, items=2)
    label_all(world, [GOOD, GOOD, GOOD], 2)
    calls = []

    def fail(session: object, item_id: str, state: str) -> None:
        calls.append(item_id)
        if len(calls) == 2:
            raise OSError("disk full")
        set_state(session, item_id, state)  # type: ignore[arg-type]

    def go() -> None:
        with db.write() as session:
            close(session, world.study, world.coordinator)

    with monkeypatch.context() as patch:
        patch.setattr("audit.adjudication.set_state", fail)
        with pytest.raises(OSError, match="disk full"):
            go()
    with db.read() as session:
        assert get_study(session, world.study).state == "open"
        assert progress(session, world.study).outcomes == {}
        assert {get_item(session, one).state for one in world.items} == {"in_review"}
    go()
    with db.read() as session:
        assert progress(session, world.study).outcomes == {"accepted": 2}


def test_a_closed_study_stays_closed(world: World) -> None:
    with world.db.write() as session:
        close(session, world.study, world.coordinator)
        with pytest.raises(StudyError, match="not open but closed"):
            close(session, world.study, world.coordinator)
        with pytest.raises(StudyError, match="launched already"):
            launch(session, world.study, world.coordinator)
        new = add_person(session, "New", "expert")
        with pytest.raises(StudyError, match="closed"):
            add_member(session, world.study, new.id)


def test_only_coordinators_and_the_command_line_run_studies(world: World) -> None:
    expert = world.experts[0]
    with world.db.write() as session:
        add_items(session, [item(50)])
        for act in (
            lambda: create_study(session, config(world), expert),
            lambda: launch(session, world.study, expert),
            lambda: close(session, world.study, expert),
            lambda: add_member(session, world.study, expert, expert),
            lambda: add_training(session, world.study, [], expert),
        ):
            with pytest.raises(AccessError, match="needs the role coordinator"):
                act()
        assert get_study(session, world.study).state == "open"


def test_unknown_studies_are_named(world: World) -> None:
    with world.db.write() as session:
        for act in (get_study, launch, close, progress):
            with pytest.raises(StudyError, match="unknown study 'nope'"):
                act(session, "nope")
        with pytest.raises(StudyError, match="unknown study 'nope'"):
            next_assignment(session, "nope", world.experts[0])


def test_bad_configurations_are_refused(world: World) -> None:
    with world.db.write() as session:
        add_items(session, [item(50)])
        for changed, message in (
            ({"name": "audit"}, "called 'audit' already"),
            ({"name": "a\nb"}, "printable"),
            ({"protocol": "no_such"}, "unknown protocol 'no_such'"),
            ({"decision": "coin"}, "unknown decision rule 'coin'"),
            ({"item_ids": ()}, "at least one item"),
            ({"item_ids": (item(50).id,) * 2}, "named twice"),
            ({"item_ids": ("nope",)}, "unknown item 'nope'"),
        ):
            with pytest.raises(InputError, match=message):
                create_study(session, config(world, **changed))
        assert [study.name for study in list_studies(session)] == ["audit"]


def test_decided_items_and_items_under_review_elsewhere_are_refused(world: World) -> None:
    with world.db.write() as session:
        other = create_study(session, config(world, item_ids=(world.items[0],)))
        with pytest.raises(StudyError, match="in review in another open study"):
            launch(session, other.id)
        set_state(session, world.items[1], "accepted")
        with pytest.raises(StudyError, match="is accepted already"):
            create_study(session, config(world, name="third", item_ids=(world.items[1],)))
        assert free_items(session, "stride") == []


def test_codes_are_given_in_order_and_once(world: World) -> None:
    with world.db.write() as session:
        codes = [add_member(session, world.study, person) for person in world.experts]
        assert codes == ["A1", "A2", "A3"]
        with pytest.raises(AccessError, match="needs the role expert"):
            add_member(session, world.study, world.coordinator)
        revoke(session, world.experts[0])
        new = add_person(session, "New", "expert")
        assert add_member(session, world.study, new.id) == "A4"


def test_who_takes_no_part_gets_nothing(world: World) -> None:
    with world.db.write() as session:
        new = add_person(session, "New", "expert")
        assert studies_of(session, new.id) == []
        with pytest.raises(StudyError, match="take no part"):
            next_assignment(session, world.study, new.id)
        with pytest.raises(AccessError, match="needs the role expert"):
            next_assignment(session, world.study, world.coordinator)


def test_progress_counts_by_code_and_stratum(db: Database) -> None:
    world = fill(db, items=4, ratings=2, axes=("mirror_reflection", "random_content"))
    first = world.experts[0]
    with db.write() as session:
        found = next_assignment(session, world.study, first, START)
        assert found is not None
        submit(session, found.id, first, "s", {**GOOD, "fluent": "no"}, {}, START)
        next_assignment(session, world.study, first, START)
    with db.read() as session:
        seen = progress(session, world.study, START + 1)
    assert (seen.items, seen.complete, seen.ratings, seen.ratings_wanted) == (4, 0, 1, 8)
    assert (seen.held, seen.surplus, seen.simulated_share) == (1, 0, 0.0)
    expert = seen.experts[0]
    assert (expert.code, expert.done, expert.held, expert.remaining) == ("A1", 1, 1, 2)
    assert {(c.stratum, c.value, c.items) for c in seen.strata} == {
        ("axis", "mirror_reflection", 2),
        ("axis", "random_content", 2),
        ("corpus", "demo", 4),
    }
    assert seen.checks["fluent"] == {"yes": 0, "no": 1}
    assert "Ella" not in seen.model_dump_json()
    assert not any(person in seen.model_dump_json() for person in world.experts)


def test_simulated_raters_are_marked(db: Database) -> None:
    world = fill(db, items=1)
    with db.write() as session:
        robot = add_person(session, "Robot", "expert", True)
        add_member(session, world.study, robot.id)
        for person in (robot.id, world.experts[0]):
            found = next_assignment(session, world.study, person, START)
            assert found is not None
            submit(session, found.id, person, f"s-{person}", GOOD, {}, START)
        seen = progress(session, world.study, START)
    assert seen.simulated_share == 0.5
    assert [expert.simulated for expert in seen.experts] == [False, False, False, True]
