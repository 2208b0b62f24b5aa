"""Whatever coordinators and experts do in which order, the quota holds and the log is whole."""

from collections import Counter
from collections.abc import Callable

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

from audit.assignment import next_assignment
from audit.disputes import settle, withdraw_item
from audit.labelling import my_labels, study_ratings, submit
from audit.leases import reclaim
from audit.lifecycle import close, pause, resume
from audit.members import add_member, retire
from audit.records import PausedError
from audit.replay import log_differences
from store.session import Database
from store.tables import AssignmentRow, DecisionRow, StudyItemRow
from tests.audit.world import GOOD, START, World, fill

EXPERTS, ITEMS, RATINGS = 4, 4, 2


class Running(RuleBasedStateMachine):
    """Four experts, four items, two ratings each; a coordinator who does all they may."""

    new_database: Callable[[], Database]

    def __init__(self) -> None:
        super().__init__()
        self.world: World = fill(
            self.new_database(), experts=EXPERTS, ratings=RATINGS, items=ITEMS, lease_minutes=10
        )
        self.now = START
        self.paused = False
        self.retired: set[str] = set()
        self.out: set[str] = set()
        self.sent: Counter[str] = Counter()

    @property
    def active(self) -> list[str]:
        return [one for one in self.world.experts if one not in self.retired]

    @precondition(lambda self: self.active)
    @rule(data=st.data(), sends=st.booleans())
    def expert_works(self, data: st.DataObject, sends: bool) -> None:
        person = data.draw(st.sampled_from(self.active))
        try:
            with self.world.db.write() as session:
                held = next_assignment(session, self.world.study, person, self.now)
        except PausedError:
            assert self.paused
            return
        assert not self.paused
        if held is None:
            return
        assert held.item_id not in self.out
        if sends:
            with self.world.db.write() as session:
                label = submit(session, held.id, person, f"s-{held.id}", GOOD, {}, self.now)
            assert not label.surplus
            self.sent[person] += 1

    @rule(data=st.data())
    def late_answer_comes(self, data: st.DataObject) -> None:
        with self.world.db.read() as session:
            rows = session.scalars(select(AssignmentRow).where(AssignmentRow.state == "held"))
            held = sorted((row.id, row.person_id, row.item_id) for row in rows)
        held = [one for one in held if one[1] in self.active]
        if held:
            assignment, person, item_id = data.draw(st.sampled_from(held))
            with self.world.db.write() as session:
                label = submit(session, assignment, person, f"s-{assignment}", GOOD, {}, self.now)
            assert label.surplus or item_id not in self.out
            assert bool(label.note) == label.surplus
            self.sent[person] += 1

    @rule(minutes=st.sampled_from([1, 11]))
    def time_passes(self, minutes: int) -> None:
        self.now += minutes * 60

    @rule()
    def pause_or_resume(self) -> None:
        with self.world.db.write() as session:
            (resume if self.paused else pause)(session, self.world.study, None, self.now)
        self.paused = not self.paused

    @precondition(lambda self: len(self.active) > 1)
    @rule(data=st.data(), replace=st.booleans())
    def expert_retires(self, data: st.DataObject, replace: bool) -> None:
        person = data.draw(st.sampled_from(self.active))
        with self.world.db.write() as session:
            retire(session, self.world.study, person, replace=replace, now=self.now)
        self.retired.add(person)

    @precondition(lambda self: self.retired)
    @rule(data=st.data())
    def expert_comes_back(self, data: st.DataObject) -> None:
        person = data.draw(st.sampled_from(sorted(self.retired)))
        with self.world.db.write() as session:
            add_member(session, self.world.study, person, now=self.now)
        self.retired.discard(person)

    @precondition(lambda self: len(self.out) < 3)
    @rule(data=st.data(), settled=st.booleans())
    def item_is_taken_out(self, data: st.DataObject, settled: bool) -> None:
        left = sorted(set(self.world.items) - self.out)
        item_id = data.draw(st.sampled_from(left))
        with self.world.db.write() as session:
            if settled:
                settle(session, self.world.study, item_id, "rejected", "x", None, self.now)
            else:
                withdraw_item(session, self.world.study, item_id, "x", None, self.now)
        self.out.add(item_id)

    @rule(data=st.data())
    def lease_is_reclaimed(self, data: st.DataObject) -> None:
        with self.world.db.write() as session:
            rows = session.scalars(select(AssignmentRow.id).where(AssignmentRow.state == "held"))
            held = sorted(rows)
            if held:
                reclaim(session, data.draw(st.sampled_from(held)), now=self.now)

    @invariant()
    def quota_holds_and_the_log_is_whole(self) -> None:
        with self.world.db.read() as session:
            rows = session.scalars(select(AssignmentRow)).all()
            counted = Counter(
                row.item_id
                for row in rows
                if row.state == "done" or (row.state == "held" and row.lease_until > self.now)
            )
            assert all(number <= RATINGS for number in counted.values()), counted
            assert log_differences(session, self.world.study, self.now) == []
            for person in self.world.experts:
                assert len(my_labels(session, self.world.study, person)) == self.sent[person]

    def teardown(self) -> None:
        with self.world.db.write() as session:
            before = {row.item_id for row in study_ratings(session, self.world.study)}
            withdrawn = set(
                session.scalars(
                    select(StudyItemRow.item_id).where(StudyItemRow.withdrawn_at.is_not(None))
                )
            )
            assert not before & withdrawn
            report = close(session, self.world.study, None, self.now)
            decided = set(session.scalars(select(DecisionRow.item_id)))
            # Every item is in exactly one place: decided, incomplete or withdrawn.
            assert decided | set(report.incomplete) | withdrawn == set(self.world.items)
            assert len(decided) + len(report.incomplete) + len(withdrawn) == ITEMS
            assert log_differences(session, self.world.study, self.now) == []
        self.world.db.close()


def test_whatever_is_done_the_quota_holds_and_the_log_is_whole(
    new_database: Callable[[], Database],
) -> None:
    Running.new_database = staticmethod(new_database)
    run_state_machine_as_test(
        Running,
        settings=settings(
            max_examples=10,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
