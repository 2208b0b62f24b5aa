"""Versions of items: a release finds all that came before and after, on each kind of database."""

from __future__ import annotations

from audit.lineage import relatives
from benchmarks.items import Item, Provenance, make_item
from benchmarks.stride import Triplet
from store.items import add_items
from store.session import Database
from tests.audit.world import item


def later(before: Item, word: str) -> Item:
    payload = Triplet.model_validate({**before.payload, "perturbed": word})
    return make_item(
        "stride", "triplet", before.stratum, payload, Provenance(rule="joint/1"), parent=before.id
    )


def test_relatives_are_all_versions_before_and_after(db: Database) -> None:
    first, stranger = item(1), item(2)
    second = later(first, "a second wording")
    third, twin = later(second, "a third wording"), later(second, "another third wording")
    with db.write() as session:
        add_items(session, [first, stranger])
        add_items(session, [second])
        add_items(session, [third, twin])
    family = {one.id for one in (first, second, third, twin)}
    with db.read() as session:
        for asked in (first, second, third, twin):
            found = [one.item for one in relatives(session, {asked.id})]
            assert {one.id for one in found} == family - {asked.id}
            assert [one.id for one in found] == sorted(one.id for one in found)
        parents = {one.item.id: one.item.parent for one in relatives(session, {first.id})}
        assert parents == {second.id: first.id, third.id: second.id, twin.id: second.id}
        assert relatives(session, family) == []
        assert relatives(session, {stranger.id}) == []
        assert relatives(session, set()) == []
