import pytest

from benchmarks.stride import AXES, Triplet
from construction.balance import balance_directions, pair_counts
from construction.sampling import random_content
from construction.stride import draft_stride, edit_caption
from construction.stride_candidates import Candidate
from corpus.clips import Caption, Clip
from corpus.problems import InputError

TEXTS = {
    "a": ["a man walks in a circle.", "A man walks in a circle", "he goes round"],
    "b": ["a person runs in a circle.", "a person turns left then kneels."],
    "c": ["a person turns right.", "a person turns left."],
    "d": ["someone jumps.", "somebody walks forward, then waves with the left hand."],
    "e": ["someone runs to the right."],
}


def clip(name: str, corpus: str = "demo", content: str | None = None) -> Clip:
    return Clip(
        id=f"{corpus}:{name}",
        corpus=corpus,
        path=f"{name}.npy",
        format="arrays",
        content_hash=content or f"hash of {name}",
        frames=40,
        fps=20.0,
        duration=2.0,
        joints=22,
        skeleton="smpl22",
    )


def corpus_of(texts: dict[str, list[str]]) -> tuple[list[Clip], list[Caption]]:
    clips = [clip(name) for name in texts]
    captions = [
        Caption(id=f"{c.id}#{k}", clip_id=c.id, text=text)
        for c in clips
        for k, text in enumerate(texts[c.id.removeprefix("demo:")])
    ]
    return clips, captions


def edits(items, axis):
    return {
        i.payload["caption_id"].removeprefix("demo:"): i.payload["perturbed"]
        for i in items
        if i.stratum["axis"] == axis
    }


def test_a_draft_holds_what_the_rules_make_and_says_why_the_rest_is_not_there():
    result = draft_stride(*corpus_of(TEXTS), seed=1)
    assert edits(result.items, "mirror_reflection") == {
        "b#1": "a person turns right then kneels.",
        "d#1": "somebody walks forward, then waves with the right hand.",
        "e#0": "someone runs to the left.",
    }
    assert edits(result.items, "temporal_order") == {
        "b#1": "a person kneels then turns left.",
        "d#1": "somebody waves with the left hand, then walks forward.",
    }
    passed = {(p.caption_id.removeprefix("demo:"), p.axis): p.reason_code for p in result.passed}
    assert passed["c#0", "mirror_reflection"] == "also_a_caption"
    assert passed["a#0", "mirror_reflection"] == "no_lateral"
    assert passed["b#0", "temporal_order"] == "single_event"
    assert {("a#0", "random_content"), ("a#1", "random_content")} & set(passed)
    captions = sum(map(len, TEXTS.values()))
    assert [c.axis for c in result.cells] == list(AXES)
    for cell in result.cells:
        assert cell.items + cell.not_applicable + cell.rejected == captions
        assert sum(cell.reasons.values()) == captions - cell.items


def test_items_carry_what_is_needed_to_make_them_again():
    result = draft_stride(*corpus_of(TEXTS), seed=7, axes=["mirror_reflection"])
    for item in result.items:
        triplet = Triplet.model_validate(item.payload)
        assert triplet.caption != triplet.perturbed
        assert item.provenance.rule == "stride.mirror/3"
        assert len(item.provenance.rule_hash) == 64
        assert item.provenance.seed == 7
        assert item.provenance.media == {triplet.clip_id: f"hash of {triplet.clip_id[5:]}"}
        assert item.state == "drafted"


def test_a_draft_does_not_depend_on_the_order_of_the_input():
    clips, captions = corpus_of(TEXTS)
    assert draft_stride(clips, captions, 3) == draft_stride(clips[::-1], captions[::-1], 3)


def test_action_items_are_equal_in_both_directions():
    texts = {f"w{i}": ["a man walks in a circle."] for i in range(5)}
    texts |= {f"r{i}": ["a man runs in a circle."] for i in range(2)}
    result = draft_stride(*corpus_of(texts), seed=0, axes=["action_identity"])
    assert sorted(i.payload["edit"]["source"] for i in result.items) == ["runs"] * 2 + ["walks"] * 2
    assert [p.reason_code for p in result.passed] == ["balance"] * 3
    limited = draft_stride(*corpus_of(texts), seed=0, axes=["action_identity"], limit=3)
    assert sorted(i.payload["edit"]["source"] for i in limited.items) == ["runs", "walks"]


def walkers(*directions):
    """Return Action Identity candidates, one for each (source, target)."""
    return [
        Candidate(
            clip=clip(f"w{k}"),
            caption=Caption(id=f"demo:w{k}#0", clip_id=f"demo:w{k}", text=f"a man {source}s."),
            axis="action_identity",
            text=f"a man {target}s.",
            edit={"source_lemma": source, "target_lemma": target},
        )
        for k, (source, target) in enumerate(directions)
    ]


def test_balancing_keeps_as_many_of_both_directions():
    candidates = walkers(*[("walk", "run")] * 3, ("run", "walk"), ("kick", "punch"))
    found = balance_directions(candidates, seed=5)
    assert sorted(c.edit["source_lemma"] for c in found.kept) == ["run", "walk"]
    assert {code for _, code in found.dropped} == {"balance"}
    assert len(found.kept) + len(found.dropped) == len(candidates)
    kick, walk = pair_counts(candidates, found.kept)
    assert (kick.pair, kick.forward, kick.backward, kick.kept) == ("kick/punch", 1, 0, 0)
    assert (walk.pair, walk.forward, walk.backward, walk.kept) == ("run/walk", 1, 3, 1)


def test_limits_hold_and_are_reported():
    clips, captions = corpus_of(TEXTS)
    result = draft_stride(clips, captions, 0, axes=["random_content"], limit=2)
    assert len(result.items) == 2
    assert "limit" in {p.reason_code for p in result.passed}
    result = draft_stride(clips, captions, 0, axes=["random_content"], per_clip_limit=1)
    assert len({i.payload["clip_id"] for i in result.items}) == len(result.items) == len(clips)
    with pytest.raises(InputError, match="limit"):
        draft_stride(clips, captions, 0, limit=0)


def test_random_content_is_the_caption_of_another_motion():
    clips, captions = corpus_of(TEXTS)
    clips.append(clip("copy", content="hash of a"))
    captions.append(Caption(id="demo:copy#0", clip_id="demo:copy", text="the same walk again"))
    for seed in range(20):
        for item in draft_stride(clips, captions, seed, axes=["random_content"]).items:
            drawn = item.payload["perturbed"]
            source = item.payload["edit"]["source_caption"]
            own = {c.text for c in captions if c.clip_id == item.payload["clip_id"]}
            assert drawn not in own
            assert source.split("#")[0] != item.payload["clip_id"]
            if item.payload["clip_id"] in {"demo:a", "demo:copy"}:
                assert source.split("#")[0] not in {"demo:a", "demo:copy"}


def test_random_content_without_another_caption_is_refused():
    found = random_content("a man walks.", "1", [("1", "a man walks."), ("2", "A man walks")], 0)
    assert found.reason_code == "no_other_caption"
    assert random_content("a man walks.", "1", [], 0).outcome == "rejected"


@pytest.mark.parametrize(
    ("caption", "other", "drawn"),
    [
        ("a person walks, then runs.", "someone is walking", False),
        ("an elderly man walks with a cane.", "a person walked forward.", False),
        ("a person does a squat.", "someone does a squat slowly", False),
        ("a person does a cartwheel.", "someone does a handstand", True),
        ("someone is walking", "a person walks, then runs.", True),
        ("a person jumps.", "a person waves.", True),
    ],
)
def test_random_content_tells_of_something_else(caption, other, drawn):
    found = random_content(caption, "1", [("1", caption), ("2", other)], 0)
    assert (found.outcome == "item") is drawn


def test_a_caption_of_a_part_of_the_clip_makes_no_item():
    part = Caption(id="demo:e#9", clip_id="demo:e", text="he turns left.", span=(0.5, 1.5))
    result = draft_stride([clip("e")], [part], 0)
    assert {p.reason_code for p in result.passed} == {"partial_span"}
    assert not result.items


def test_a_caption_without_its_clip_is_an_error():
    stray = Caption(id="x#0", clip_id="x", text="a man walks.")
    with pytest.raises(InputError, match="x#0"):
        draft_stride([clip("a")], [stray], 0)


def test_unknown_axis_and_empty_caption():
    with pytest.raises(InputError, match="random_content"):
        edit_caption("a man walks", "random_content")
    for axis in AXES[:3]:
        assert edit_caption("  ", axis).reason_code == "empty"


def test_random_content_never_comes_from_the_mirror_image_or_a_copy():
    names = {"000001": "walks left", "M000001": "walks right", "000002": "jumps over a box"}
    clips = [clip(name, "humanml3d") for name in names]
    clips.append(clip("copy", "humanml3d", content="hash of M000001"))
    texts = [*names.values(), "strolls off to the right"]
    captions = [
        Caption(id=f"{c.id}#0", clip_id=c.id, text=f"a man {text}.")
        for c, text in zip(clips, texts, strict=True)
    ]
    for seed in range(6):
        found = draft_stride(clips, captions, seed, ["random_content"])
        drawn = {i.payload["clip_id"]: i.payload["perturbed"] for i in found.items}
        for name in ("000001", "M000001", "copy"):
            assert drawn[f"humanml3d:{name}"] == "a man jumps over a box."


def test_an_edit_that_is_a_caption_of_a_copy_is_no_item():
    clips = [clip("a"), clip("b", content="hash of a")]
    said = ("a man raises his left hand.", "a man raises his right hand.")
    captions = [
        Caption(id=f"{c.id}#0", clip_id=c.id, text=t) for c, t in zip(clips, said, strict=True)
    ]
    found = draft_stride(clips, captions, 0, ["mirror_reflection"])
    assert not found.items
    assert {p.reason_code for p in found.passed} == {"also_a_caption"}
