import pytest

from benchmarks.items import ITEM_TRANSITIONS, Provenance, make_item
from corpus.clips import Caption
from corpus.problems import InputError
from store.clips import (
    add_clips,
    add_media,
    get_clip,
    get_media,
    list_captions,
    list_clips,
    list_media,
    media_for_clip,
)
from store.items import add_items, get_item, list_items, set_state
from store.session import Database
from tests.audit.world import clip, item


def test_clips_and_captions_come_back_as_they_went_in(db: Database) -> None:
    # doccano 726: wrong encoding, escaped non-ASCII.
    text = "سير ‏بطيء 🕺\u200d🟫 e\u0301\u00a0漢字"
    caption = Caption(id="demo:0001#0", clip_id="demo:0001", text=text)
    with db.write() as session:
        assert add_clips(session, [clip(1), clip(2)], [caption]) == (2, 1)
    with db.write() as session:
        assert add_clips(session, [clip(1)], [caption]) == (0, 0)
    with db.read() as session:
        assert get_clip(session, "demo:0001") == clip(1)
        assert list_clips(session, corpus="demo") == [clip(1), clip(2)]
        assert list_clips(session, corpus="other") == []
        assert list_clips(session, split="train") == []
        assert list_captions(session, corpus="demo") == [caption]
        assert list_captions(session, corpus="other") == []


def test_importing_again_brings_a_clip_up_to_date(db: Database) -> None:
    with db.write() as session:
        add_clips(session, [clip(1)], [])
        moved = clip(1).model_copy(update={"path": "elsewhere.npy"})
        assert add_clips(session, [moved], []) == (0, 0)
        assert get_clip(session, "demo:0001").path == "elsewhere.npy"


def test_a_caption_needs_its_clip(db: Database) -> None:
    caption = Caption(id="demo:0009#0", clip_id="demo:0009", text="walks")
    with pytest.raises(InputError, match="demo:0009"), db.write() as session:
        add_clips(session, [], [caption])


def test_media_are_found_by_clip_and_key(db: Database) -> None:
    with db.write() as session:
        add_clips(session, [clip(1)], [])
        for key in ("b", "a"):
            media = add_media(
                session, key=key, clip_id="demo:0001", file=f"{key}.mp4", settings={"size": 768},
                frames=60, fps=30.0, seconds=2.0, sha256="0" * 64, size=10,
                fit_error_mm={"head": 31.5} if key == "a" else None,
            )  # fmt: skip
    with db.read() as session:
        assert [one.key for one in media_for_clip(session, "demo:0001")] == ["a", "b"]
        assert [one.key for one in list_media(session)] == ["a", "b"]
        assert get_media(session, "a") == media
        assert media_for_clip(session, "demo:0002") == []
        with pytest.raises(InputError, match="unknown media 'c'"):
            get_media(session, "c")
        fields = get_media(session, "a").model_dump(exclude={"fit_error_mm"})
    with db.write() as session:
        assert add_media(session, **fields).fit_error_mm == {"head": 31.5}
        assert get_media(session, "a").fit_error_mm == {"head": 31.5}
        assert get_media(session, "b").fit_error_mm is None


def test_adding_items_twice_adds_them_once(db: Database) -> None:
    with db.write() as session:
        assert add_items(session, [item(1), item(2), item(1)]) == 2
        set_state(session, item(1).id, "in_review")
        assert add_items(session, [item(1), item(3)]) == 1
        assert get_item(session, item(1).id).state == "in_review"


def test_items_are_listed_by_id_and_narrowed(db: Database) -> None:
    made = [item(1), item(2, "action_identity"), item(3)]
    with db.write() as session:
        add_items(session, made)
        set_state(session, made[0].id, "in_review")
        assert [one.id for one in list_items(session)] == sorted(one.id for one in made)
        assert [one.id for one in list_items(session, state="in_review")] == [made[0].id]
        found = list_items(session, "stride", stratum={"axis": "action_identity"})
        assert found == [made[1]]
        assert list_items(session, "mrbench") == []


def test_a_child_may_come_with_its_parent(db: Database) -> None:
    parent = item(1)
    child = make_item(
        "stride", "triplet", parent.stratum, _triplet(parent), Provenance(rule="x"), parent.id
    )
    with db.write() as session:
        assert add_items(session, [child, parent]) == 2


def test_items_move_by_the_arrows_only(db: Database) -> None:
    number = 0
    for before, allowed in ITEM_TRANSITIONS.items():
        for after in ITEM_TRANSITIONS:
            number += 1
            with db.write() as session:
                add_items(session, [item(number)])
                way = {"drafted": [], "in_review": ["in_review"]}.get(before, ["in_review", before])
                for step in way:
                    set_state(session, item(number).id, step)
                if after in allowed:
                    set_state(session, item(number).id, after)
                    assert get_item(session, item(number).id).state == after
                else:
                    with pytest.raises(ValueError, match=f"from '{before}' to '{after}'"):
                        set_state(session, item(number).id, after)
                    assert get_item(session, item(number).id).state == before


def test_unknown_items_and_items_in_other_states_are_refused(db: Database) -> None:
    with db.write() as session:
        with pytest.raises(InputError, match="unknown item 'nope'"):
            set_state(session, "nope", "in_review")
        with pytest.raises(InputError, match="unknown item 'nope'"):
            get_item(session, "nope")
        with pytest.raises(ValueError, match="expected drafted items"):
            add_items(session, [item(1).model_copy(update={"state": "accepted"})])


def _triplet(parent):
    from benchmarks.stride import Triplet

    return Triplet.model_validate({**parent.payload, "perturbed": "another"})
