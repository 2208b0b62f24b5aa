"""Several experts at once never exceed the ratings wanted, whatever they do in which order."""

import threading
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select

from audit.access import add_person, revoke
from audit.assignment import next_assignment, upcoming
from audit.labelling import load_draft, my_labels, save_draft, study_ratings, submit
from audit.leases import reclaim, reclaim_expired
from audit.replay import progress_from_log
from audit.studies import add_member, progress
from store.clips import get_media
from store.items import get_item
from store.session import Database, open_database
from store.tables import AssignmentRow, LabelRow
from tests.audit.world import GOOD, START, World, fill

LEASE = 30 * 60.0


def assignments(world: World) -> list[AssignmentRow]:
    with world.db.read() as session:
        return list(session.scalars(select(AssignmentRow)))


def claim(world: World, person: str, now: float = START) -> str | None:
    with world.db.write() as session:
        found = next_assignment(session, world.study, person, now)
    return None if found is None else found.id


def answer(world: World, person: str, assignment: str, now: float = START) -> bool:
    with world.db.write() as session:
        label = submit(session, assignment, person, f"s-{assignment}", GOOD, {}, now)
    return not label.surplus


def item_of(world: World, assignment: str) -> str:
    return next(row.item_id for row in assignments(world) if row.id == assignment)


class Labelling(RuleBasedStateMachine):
    """Four experts claim, save, submit, come late and get revoked; quota 2, three items."""

    new_database: Callable[[], Database]

    def __init__(self) -> None:
        super().__init__()
        self.world = fill(self.new_database(), experts=4, ratings=2, items=3, lease_minutes=10)
        self.now = START
        self.claimed: dict[str, str] = {}
        self.gone: set[str] = set()

    @rule(expert=st.integers(0, 3))
    def claims(self, expert: int) -> None:
        person = self.world.experts[expert]
        if person not in self.gone:
            found = claim(self.world, person, self.now)
            assert found == claim(self.world, person, self.now)
            if found is not None:
                self.claimed[found] = person

    @precondition(lambda self: self.claimed)
    @rule(data=st.data())
    def submits(self, data: st.DataObject) -> None:
        assignment = data.draw(st.sampled_from(sorted(self.claimed)))
        person = self.claimed[assignment]
        if person not in self.gone:
            with self.world.db.write() as session:
                submit(session, assignment, person, f"s-{assignment}", GOOD, {}, self.now)

    @precondition(lambda self: self.claimed)
    @rule(data=st.data())
    def saves(self, data: st.DataObject) -> None:
        assignment = data.draw(st.sampled_from(sorted(self.claimed)))
        row = next(row for row in assignments(self.world) if row.id == assignment)
        if row.state == "held" and row.person_id not in self.gone:
            with self.world.db.write() as session:
                version = load_draft(session, assignment, row.person_id).version
                save_draft(session, assignment, row.person_id, GOOD, {}, version, self.now)

    @rule(minutes=st.sampled_from([1, 6, 11, 30]))
    def time_passes(self, minutes: int) -> None:
        self.now += minutes * 60

    @rule()
    def expired_leases_are_logged(self) -> None:
        with self.world.db.write() as session:
            reclaim_expired(session, self.world.study, self.now)

    @precondition(lambda self: len(self.gone) < 2)
    @rule(expert=st.integers(0, 3))
    def is_revoked(self, expert: int) -> None:
        with self.world.db.write() as session:
            revoke(session, self.world.experts[expert], now=self.now)
        self.gone.add(self.world.experts[expert])

    @invariant()
    def quota_holds(self) -> None:
        rows = assignments(self.world)
        counted = Counter(
            row.item_id
            for row in rows
            if row.state == "done" or (row.state == "held" and row.lease_until > self.now)
        )
        assert all(number <= 2 for number in counted.values()), counted
        pairs = Counter((row.item_id, row.person_id) for row in rows)
        assert all(number == 1 for number in pairs.values())
        with self.world.db.read() as session:
            labels = Counter(session.scalars(select(LabelRow.assignment_id)))
            assert labels == Counter(row.id for row in rows if row.state != "held")
            live = progress(session, self.world.study, self.now)
            # label-studio 6760: counters recomputed from history must equal the live ones.
            assert progress_from_log(session, self.world.study, self.now) == live


def test_no_sequence_of_actions_exceeds_the_quota(
    new_database: Callable[[], Database],
) -> None:
    Labelling.new_database = staticmethod(new_database)
    run_state_machine_as_test(
        Labelling,
        settings=settings(
            max_examples=10,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_threads_claiming_at_once_keep_the_quota(db: Database) -> None:
    # label-studio 795: two users were given the same task at overlap 1.
    world = fill(db, items=2, experts=12, ratings=2)
    failures: list[BaseException] = []
    barrier = threading.Barrier(12)

    def go(person: str) -> None:
        try:
            barrier.wait()
            claim(world, person)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=go, args=(person,)) for person in world.experts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert Counter(row.item_id for row in assignments(world)) == dict.fromkeys(world.items, 2)


def test_one_expert_in_two_windows_gets_one_item(db: Database) -> None:
    world = fill(db, items=3, experts=1)
    found: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: found.append(claim(world, world.experts[0])))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1


def test_experts_labelling_at_once_lose_and_double_nothing(db: Database) -> None:
    world = fill(db, items=10, experts=6, ratings=3)
    failures: list[BaseException] = []

    def work(person: str) -> None:
        try:
            while (assignment := claim(world, person)) is not None:
                # A retry of the same submission, as after a lost answer.
                assert answer(world, person, assignment)
                assert answer(world, person, assignment)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(person,)) for person in world.experts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with world.db.read() as session:
        labels = session.scalars(select(LabelRow)).all()
        assert progress(session, world.study, START).complete == 10
    assert Counter(label.item_id for label in labels) == dict.fromkeys(world.items, 3)
    assert len({(label.item_id, label.person_id) for label in labels}) == 30


def test_three_experts_in_turn_get_every_item_once(world: World) -> None:
    # label-studio 6233: a second annotator never received what the first had done.
    for person in world.experts:
        seen = []
        while (assignment := claim(world, person)) is not None:
            seen.append(item_of(world, assignment))
            answer(world, person, assignment)
        assert sorted(seen) == sorted(world.items)


def test_a_vanished_experts_item_is_free_after_the_lease(db: Database) -> None:
    # label-studio 4190: "locked by another user" for ever.
    world = fill(db, items=1, experts=2, ratings=1)
    gone, other = world.experts
    assert claim(world, gone) is not None
    assert claim(world, other, START + LEASE - 1) is None
    assert claim(world, other, START + LEASE) is not None


def test_reclaiming_is_seen_by_another_session(db: Database) -> None:
    # potato 155: the reclaim changed a copy, so nothing was released.
    world = fill(db, items=1, experts=2, ratings=1)
    gone, other = world.experts
    held = claim(world, gone)
    with world.db.write() as session:
        reclaim(session, held or "", actor=world.coordinator, now=START + 1)
    again = open_database(world.db.url)
    with again.write() as session:
        assert next_assignment(session, world.study, other, START + 2) is not None


def test_an_expired_lease_is_logged_once(db: Database) -> None:
    world = fill(db, items=1, experts=1)
    held = claim(world, world.experts[0])
    with world.db.write() as session:
        assert reclaim_expired(session, world.study, START + LEASE - 1) == []
        assert reclaim_expired(session, world.study, START + LEASE) == [held]
        assert reclaim_expired(session, world.study, START + LEASE) == []


def test_a_late_answer_counts_while_it_is_wanted(db: Database) -> None:
    world = fill(db, items=1, experts=2, ratings=1)
    held = claim(world, world.experts[0])
    assert answer(world, world.experts[0], held or "", START + 2 * LEASE)


def test_a_late_answer_to_a_full_item_is_surplus(db: Database) -> None:
    # label-studio 9270: a late submit must never be counted in silence.
    world = fill(db, items=1, experts=2, ratings=1)
    slow, quick = world.experts
    late = claim(world, slow)
    other = claim(world, quick, START + LEASE)
    assert answer(world, quick, other or "", START + LEASE + 1)
    assert not answer(world, slow, late or "", START + LEASE + 2)
    with world.db.read() as session:
        found = progress(session, world.study, START + LEASE + 3)
        assert (found.ratings, found.surplus, found.complete) == (1, 1, 1)
        assert found.checks["fluent"] == {"yes": 1, "no": 0}
        assert {row.rater for row in study_ratings(session, world.study)} == {"A2"}
        assert [label.surplus for label in my_labels(session, world.study, slow)] == [True]


def test_who_comes_back_late_is_not_sent_to_a_full_item(db: Database) -> None:
    world = fill(db, items=2, experts=2, ratings=1)
    slow, quick = world.experts
    first = claim(world, slow)
    for _ in range(2):
        other = claim(world, quick, START + LEASE)
        if other is not None and item_of(world, other) == item_of(world, first or ""):
            answer(world, quick, other, START + LEASE)
            break
        answer(world, quick, other or "", START + LEASE)
    again = claim(world, slow, START + LEASE + 1)
    assert again != first


def test_an_expert_who_never_comes_does_not_hold_up_the_study(db: Database) -> None:
    # Prodigy: tasks reserved for people who never log in were locked for ever.
    world = fill(db, items=4, experts=3, ratings=2)
    for person in world.experts[1:]:
        while (assignment := claim(world, person)) is not None:
            answer(world, person, assignment)
    with world.db.read() as session:
        assert progress(session, world.study, START).complete == 4
    assert claim(world, world.experts[0]) is None


def test_a_late_joiner_gets_work(db: Database) -> None:
    world = fill(db, items=2, experts=2, ratings=3)
    for person in world.experts:
        while (assignment := claim(world, person)) is not None:
            answer(world, person, assignment)
    with world.db.write() as session:
        late = add_person(session, "Late", "expert")
        assert add_member(session, world.study, late.id, world.coordinator) == "A3"
    assert claim(world, late.id) is not None


def test_a_revoked_experts_item_is_free_at_once(db: Database) -> None:
    world = fill(db, items=1, experts=2, ratings=1)
    claim(world, world.experts[0])
    with world.db.write() as session:
        revoke(session, world.experts[0], actor=world.coordinator, now=START + 1)
    assert claim(world, world.experts[1], START + 2) is not None


def test_orders_differ_between_experts_and_stay(db: Database) -> None:
    # doccano 20: the same shuffle for everyone.
    # Ids of people are random: the odds of two equal orders are 3 in 12!.
    world = fill(db, items=12, experts=3, ratings=3)
    orders = []
    for person in world.experts:
        order = []
        while (assignment := claim(world, person)) is not None:
            order.append(item_of(world, assignment))
            answer(world, person, assignment)
        orders.append(order)
    assert len({tuple(order) for order in orders}) == 3


@pytest.mark.parametrize("minutes", [0, 29])
def test_saving_keeps_the_item(db: Database, minutes: int) -> None:
    world = fill(db, items=1, experts=2, ratings=1)
    held = claim(world, world.experts[0])
    with world.db.write() as session:
        save_draft(session, held or "", world.experts[0], {}, {}, 0, START + minutes * 60)
    assert claim(world, world.experts[1], START + minutes * 60 + LEASE - 1) is None
    assert claim(world, world.experts[1], START + minutes * 60 + LEASE) is not None


def test_the_next_clip_is_known_before_it_is_claimed(world: World) -> None:
    person = world.experts[0]
    claim(world, person)
    for _ in range(2):
        with world.db.read() as session:
            key = upcoming(session, world.study, person, START)
            assert key is not None
            clip = get_media(session, key).clip_id
        held = next(r for r in assignments(world) if r.person_id == person and r.state == "held")
        answer(world, person, held.id)
        new = claim(world, person)
        assert new is not None
        with world.db.read() as session:
            assert get_item(session, item_of(world, new)).payload["clip_id"] == clip
    with world.db.read() as session:
        assert upcoming(session, world.study, person, START) is None
