"""Codes of experts: watching a study being joined, left and closed does not tell whose they are."""

from __future__ import annotations

from sqlalchemy import select

from audit.access import add_person
from audit.assignment import next_assignment
from audit.labelling import study_ratings, submit
from audit.lifecycle import close
from audit.members import add_member, retire
from audit.progress import progress
from audit.pulse import pulse
from audit.replay import log_differences
from store.events import list_events
from store.session import Database
from store.tables import MemberRow
from tests.audit.world import GOOD, START, World, fill


def codes(world: World) -> dict[str, str]:
    with world.db.read() as session:
        rows = session.scalars(select(MemberRow).where(MemberRow.study_id == world.study))
        return {row.person_id: row.code for row in rows}


def test_codes_are_dealt_anew_when_a_study_closes(db: Database) -> None:
    moved = 0
    for number in range(4):
        world = fill(db, items=1, experts=8, ratings=2, name=f"s{number}", first=10 * number + 1)
        with db.write() as session:
            late = add_person(session, f"Late {number}", "expert")
            add_member(session, world.study, late.id)
        before = codes(world)
        with db.write() as session:
            close(session, world.study)
        after = codes(world)
        assert sorted(after.values()) == sorted(before.values())
        moved += sum(after[one] != before[one] for one in before)
        with db.read() as session:
            assert log_differences(session, world.study) == []
            (event,) = list_events(session, study_id=world.study, actions=("codes_dealt",))
        assert event.details == {"codes": after}
    # 36 codes: that 8 of 9 stay in place on average has odds far below 1 in 10^12.
    assert moved >= 16


def test_answers_keep_their_authors_under_the_new_codes(db: Database) -> None:
    world = fill(db, items=3, experts=5, ratings=5)
    said = {}
    with db.write() as session:
        for place, person in enumerate(world.experts):
            said[person] = "yes" if place % 2 else "no"
            while (held := next_assignment(session, world.study, person, START)) is not None:
                answers = {**GOOD, "fluent": said[person]}
                submit(session, held.id, person, held.id, answers, {}, START)
        before = pulse(session, world.study)
        retire(session, world.study, world.experts[0])
        close(session, world.study)
        assert pulse(session, world.study) != before
        rows = study_ratings(session, world.study)
        counts = progress(session, world.study)
    people = {code: person for person, code in codes(world).items()}
    told = {(people[row.rater], row.label) for row in rows if row.axis == "fluent"}
    assert told == set(said.items())
    assert {expert.code for expert in counts.experts} == set(people)
