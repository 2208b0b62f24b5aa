import pytest

from audit.access import AccessError, media_for_token, revoke
from audit.assignment import next_assignment
from audit.blind import BlindItem, blind_item, blind_training, caption_order
from audit.labelling import submit
from audit.records import StudyError
from audit.training import training_items
from store.items import get_item
from store.session import Database
from tests.audit.world import GOOD, START, World, fill


def seen_by(world: World, person: str) -> dict[str, BlindItem]:
    found = {}
    while True:
        with world.db.write() as session:
            held = next_assignment(session, world.study, person, START)
            if held is None:
                return found
            found[held.item_id] = blind_item(session, held.id, person)
            assert blind_item(session, held.id, person) == found[held.item_id]
            submit(session, held.id, person, f"s-{held.id}", GOOD, {}, START)


def test_a_blind_item_holds_nothing_that_tells(world: World) -> None:
    views = [view for person in world.experts for view in seen_by(world, person).values()]
    sent = "".join(view.model_dump_json() for view in views)
    with world.db.read() as session:
        items = [get_item(session, one) for one in world.items]
    secrets = {
        *world.items,
        *world.experts,
        world.study,
        *(one.payload["clip_id"] for one in items),
        *(one.payload["caption_id"] for one in items),
        "stride.test",
        *(f"{n:032x}" for n in range(1, 4)),
        "perturbed",
        '"caption"',
        "demo",
    }
    assert [secret for secret in secrets if secret in sent] == []


def test_a_blind_item_shows_both_captions_the_target_and_the_clip(world: World) -> None:
    person = world.experts[0]
    for item_id, view in seen_by(world, person).items():
        with world.db.read() as session:
            payload = get_item(session, item_id).payload
            clip = media_for_token(session, view.stimuli[0].token, person)
        assert {one.text for one in view.captions} == {payload["caption"], payload["perturbed"]}
        assert [one.letter for one in view.captions] == ["A", "B"]
        assert view.target == "left and right"
        assert view.conditions == {"axis": "mirror_reflection"}
        assert (view.stimuli[0].fps, view.stimuli[0].frames) == (30.0, 60)
        assert clip.clip_id == payload["clip_id"]
        assert not view.training


def test_captions_swap_between_people(db: Database) -> None:
    # Ids of people are random: the odds of two equal orders are 2 in 2^30.
    world = fill(db, items=30)
    orders = [
        {item: tuple(one.text for one in view.captions) for item, view in seen_by(world, p).items()}
        for p in world.experts
    ]
    assert any(orders[0][item] != orders[1][item] for item in world.items)
    assert any(orders[1][item] != orders[2][item] for item in world.items)


def test_about_half_of_the_pairs_are_swapped() -> None:
    swapped = sum(
        caption_order(3, f"person-{n % 7}", f"item-{n}")[0] == "perturbed" for n in range(2000)
    )
    # Binomial(2000, 1/2): five standard deviations are 112.
    assert abs(swapped - 1000) < 112


def test_tokens_differ_between_people(world: World) -> None:
    first, second = (seen_by(world, person) for person in world.experts[:2])
    tokens = [view.stimuli[0].token for seen in (first, second) for view in seen.values()]
    assert len(set(tokens)) == 6


def test_another_persons_item_cannot_be_seen(world: World) -> None:
    with world.db.write() as session:
        held = next_assignment(session, world.study, world.experts[0], START)
        assert held is not None
        for stranger in (world.experts[1], world.coordinator, "nobody"):
            with pytest.raises(AccessError):
                blind_item(session, held.id, stranger)
        revoke(session, world.experts[0])
        with pytest.raises(AccessError, match="revoked"):
            blind_item(session, held.id, world.experts[0])


def test_training_is_shown_blind_too(db: Database) -> None:
    world = fill(db, training=1)
    person = world.experts[0]
    with db.write() as session:
        drill = training_items(session, world.study, person)[0].item_id
        view = blind_training(session, world.study, person, drill)
        assert blind_training(session, world.study, person, drill) == view
        other = blind_training(session, world.study, world.experts[1], drill)
        with pytest.raises(StudyError, match="no training item"):
            blind_training(session, world.study, person, world.items[0])
        with pytest.raises(AccessError):
            blind_training(session, world.study, world.coordinator, drill)
    assert view.training
    assert view.assignment_id != other.assignment_id
    sent = view.model_dump_json()
    assert drill not in sent
    assert "A number changed" not in sent
