"""MRBench by rule: filter, taxonomy, contrast between captions, sets of three lengths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.taxonomy import default_taxonomy, read_taxonomy
from construction.mrbench.candidates import gather, motion_groups
from construction.mrbench.classify import RuleMatcher, classify, load_taxonomy
from construction.mrbench.filters import FilterLimits, judge_caption, rule_filter
from construction.mrbench.lengths import Fault, Trio, check_trio, compose, word_count
from construction.stages import Stages
from construction.text.contrast import contradicts, contrast
from corpus.clips import Caption
from corpus.problems import InputError
from tests.construction.mrbench_world import captioned, clip, demo, event

PAPER_SCENE = (
    "As she continues her walk, the garden’s beauty unfolds around her, offering a peaceful escape "
    "from the world"
)
"""MRBench, Text-Guided Candidate Filtering: a description to be removed."""


@pytest.mark.parametrize(
    ("caption", "code"),
    [
        ("A person walks forward", "generic"),  # the paper's example
        ("a person slowly walked forward", "generic"),  # 148 motions of HumanML3D have it
        (PAPER_SCENE, "non_kinematic"),
        ("the man is performing a motion", "generic"),
        ("jumping", "too_short"),
        ("a person waves " + "and waves " * 200, "too_long"),
        ("eine Person geht nach vorne in den Raum", "language"),
        ("una persona camina hacia adelante", "language"),
        ("一个人向前走，然后挥手。", "language"),
        ("... !! ...", "unreadable"),
        ("the colour of the sky", "no_motion"),
        ("a person waves the left hand twice", None),
        ("a person walks forward, turns around and walks back", None),
        ("a tall man in a red shirt throws a ball with the right hand and catches it again", None),
    ],
)
def test_captions_are_refused_for_a_reason(caption, code):
    verdict = judge_caption(caption)
    assert (verdict.code if verdict else None) == code
    if verdict:
        assert verdict.reason


def test_repeats_go_except_the_first_and_twins_are_one_motion():
    texts = {
        "h:000001": ["a man kicks a ball hard"],
        "h:M000001": ["A man kicks a ball hard."],
        "h:000002": ["a man claps his hands twice"],
        "h:000003": ["a man claps his hands twice"],
        "h:000004": ["a man hops on one leg"],
        "h:000005": ["a man hops on one leg"],
        "h:000006": ["a man hops on one leg"],
    }
    candidates, refused, _ = gather(*captioned(texts))
    assert not refused
    kept, refused = rule_filter(candidates)
    # The twin repeats its own motion, so one of the two stays; three motions that share: none.
    assert [c.clip.id for c in kept] == ["h:000001", "h:000002"]
    reasons = {r.source: r.reason for r in refused}
    assert reasons["h:M000001#0"] == "the caption is h:000001#0's too"
    assert reasons["h:000004#0"] == "3 motions have this caption"
    lenient, _ = rule_filter(candidates, FilterLimits(max_shared=4))
    assert [c.clip.id for c in lenient][-1] == "h:000004"


def test_clip_ids_that_come_twice_and_strays_are_refused():
    clips, captions = captioned({"a:1": ["a man kicks a ball"]})
    stray = Caption(id="a:9#0", clip_id="a:9", text="a man kicks a ball")
    candidates, refused, _ = gather([*clips, *clips], [*captions, *captions, stray])
    assert [c.caption.id for c in candidates] == ["a:1#0"]
    assert [r.code for r in refused] == ["duplicate_clip", "duplicate_caption", "unknown_clip"]


def test_a_caption_of_a_part_of_the_clip_is_refused():
    clips, captions = captioned({"a:1": ["a man kicks a ball", "a man claps his hands"]})
    captions[1] = captions[1].model_copy(update={"span": (1.0, 2.0)})
    kept, refused = rule_filter(gather(clips, captions)[0])
    assert [c.caption.id for c in kept] == ["a:1#0"]
    assert [(r.source, r.code) for r in refused] == [("a:1#1", "partial_span")]
    cut = [clips[0].model_copy(update={"span": (1.0, 2.0)})]
    assert len(rule_filter(gather(cut, captions[1:])[0])[0]) == 1


def test_twins_copies_and_parts_of_one_file_are_one_motion():
    clips = [
        clip("h:000001"), clip("h:M000001"), clip("h:000002"), clip("c:7", content="same"),
        clip("c:8", content="same"), clip("b:1", path="take.bvh"), clip("b:2", path="take.bvh"),
    ]  # fmt: skip
    groups = motion_groups(clips)
    assert groups["h:000001"] == groups["h:M000001"] != groups["h:000002"]
    assert groups["c:7"] == groups["c:8"]
    assert groups["b:1"] == groups["b:2"] == "b:1"


def test_our_taxonomy_has_the_papers_numbers_and_its_rules_find_their_category():
    taxonomy = default_taxonomy()
    assert taxonomy.counts() == (7, 33, 118)  # MRBench, Benchmark Statistics
    matcher = RuleMatcher(taxonomy)
    for category in taxonomy.categories:
        for rule in category.rules:
            terms = [term.split("|")[0] for term in rule.split() if not term.startswith("!")]
            words = " ".join(terms).replace("_", " ")
            assert category in matcher.match(words), (category.fine, rule)


@pytest.mark.parametrize(
    ("caption", "fine"),
    [
        ("a person jumps forward with both feet.", ["Jump forward"]),
        ("a person jumps.", ["Jump up"]),
        ("someone walks clockwise in a small circle.", ["Walk along a curve"]),
        ("the man kicks the soccer ball", ["Kick a ball"]),
        ("a person does a front kick with their right leg.", ["Kick"]),
        ("a man raises both arms.", ["Raise both arms"]),
        ("a person lifts their left arm up.", ["Raise one arm"]),
        ("a person turns around to the left.", ["Turn around"]),
        ("a person sits down before standing up.", ["Sit down", "Stand up"]),
        ("the colour of the sky", []),
    ],
)
def test_rules_file_a_caption_by_what_is_done(caption, fine):
    found = RuleMatcher(default_taxonomy()).match(caption)
    assert [category.fine for category in found] == fine


def test_without_a_model_the_first_of_several_is_taken_and_the_rest_refused():
    texts = {"a:1": ["a man kicks"], "a:2": ["a man sits down, then waves"], "a:3": ["he ponders"]}
    candidates, _, _ = gather(*captioned(texts))
    filed, refused = classify(candidates, default_taxonomy(), Stages())
    assert [(f.category.fine, f.by, f.others) for f in filed] == [
        ("Kick", "rule", ()),
        ("Sit down", "first_rule", ("Wave",)),
    ]
    assert [(r.source, r.code) for r in refused] == [("a:3#0", "no_category")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 1", "title"),
        ('version = 0\ntitle = "t"', "version"),
        ('version = 1\ntitle = "t"\nmore = 2', "'more'"),
        ('version = 1\ntitle = "t"\n[categories.A.B]\nC = "walk"', "expected a list of rules"),
        ('version = 1\ntitle = "t"\n[categories.A.B]\nC = ["!walk"]', "must be there"),
        ('version = 1\ntitle = "t"\n[categories.A.B]\nC = ["wa*lk"]', "'wa\\*lk'"),
        ('version = 1\ntitle = "t"\n[categories.A]\nB = []', "expected a table"),
        ('version = 1\ntitle = "t"\n[categories.A.B]\nC = []\n[categories.A.D]\nc = []', "once"),
        ("= 1", "TOML"),
    ],
)
def test_a_taxonomy_that_is_none_says_where(tmp_path, text, words):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        load_taxonomy(path)
    assert "mine.toml" in str(caught.value)
    with pytest.raises(InputError, match="cannot be read"):
        load_taxonomy(tmp_path / "absent.toml")


def test_a_users_taxonomy_takes_the_place_of_ours():
    mine = read_taxonomy(b'version = 1\ntitle = "two"\n[categories.A.B]\nHand = ["hand|fist"]\n'
                         b'Foot = ["foot !hand"]')  # fmt: skip
    matcher = RuleMatcher(mine)
    assert [c.fine for c in matcher.match("he lifts a foot with his hands")] == ["Hand"]
    assert [c.path for c in matcher.match("both feet and one foot")] == [("A", "B", "Foot")]


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("a person raises the left hand", "a person raises the right hand", "side"),
        ("turns left then right", "turns right then left", "side"),
        ("walks in a clockwise circle", "walks in a counterclockwise circle", "side"),
        ("walks forward", "walks backward", "direction"),
        ("walks forward then backward", "walks backward then forward", "direction"),
        ("a person walks then sits", "a person sits then walks", "order"),
        ("claps twice", "claps three times", "count"),
        ("waves the left hand", "waves a hand", None),
        ("jumps forward", "jumps forward and up", None),
        ("a person claps", "someone claps", None),
    ],
)
def test_contrast_tells_apart_what_embeddings_do_not(one, other, kind):
    assert contrast(one, other) == kind
    assert contrast(other, one) == kind


@given(st.text(alphabet="leftrighandw ,.", max_size=40))
def test_a_caption_does_not_contrast_with_itself(text):
    assert contrast(text, text) is None
    assert contradicts(text, text) is None


def test_trios_must_grow_and_keep_their_sides():
    fine = "A person lifts the left knee and kicks forward with the left leg."
    assert check_trio(Trio("A person kicks.", "A person kicks with the left leg.", fine)) is None
    cases = {
        "empty": Trio("", "A person kicks twice.", fine),
        "lengths": Trio("A person kicks twice.", "A person kicks.", fine),
        "contradiction": Trio("A person kicks.", "A person kicks with the right leg.", fine),
    }
    for code, trio in cases.items():
        assert check_trio(trio).code == code
    lost = Trio("Kicks left.", "A person kicks to the left.", "A person kicks and puts it down.")
    assert "does not say left" in check_trio(lost).reason
    equal = Trio("He kicks.", "He kicks.", "He kicks hard twice.")
    assert check_trio(equal).code == "lengths"
    endless = Trio("He kicks.", "A man kicks hard.", "A man kicks hard and " * 40)
    assert "at most 150" in check_trio(endless).reason
    turned = Trio("A kick.", "A person kicks.", "A person kicks with the right leg.")
    assert check_trio(turned, "a person kicks with the left leg").code == "contradiction"


def test_sets_without_a_model_come_from_marks_events_or_own_lengths():
    text = "A man kicks with the left leg."
    standard = Caption(id="c#0", clip_id="c", text=text)
    trio, how = compose(standard, [standard], [event("kick", "left")])
    assert how == "events"
    assert trio.concise == "a person kicks."
    assert trio.fine == (
        "A man kicks with the left leg. In detail, from 0.5 to 1.5 seconds the person kicks with "
        "the left leg."
    )
    own = [
        standard,
        Caption(id="c#1", clip_id="c", text="A man kicks left."),
        Caption(id="c#2", clip_id="c", text="A man lifts and kicks with the left leg, arms bent."),
    ]
    trio, how = compose(standard, own, [])
    assert (how, trio.concise, trio.fine) == ("own_lengths", own[1].text, own[2].text)
    marks = ("fine", "concise", "standard")
    order = (own[2], own[1], own[0])
    marked = [c.model_copy(update={"granularity": g}) for c, g in zip(order, marks, strict=True)]
    trio, how = compose(marked[0], marked, [])
    assert (how, trio.fine) == ("marked", own[2].text)
    alone = compose(standard, [standard], [])
    assert isinstance(alone, Fault)
    assert alone.code == "lengths"


def test_every_demo_caption_makes_a_set():
    clips, captions = demo()
    by_id = {c.id: c for c in clips}
    for caption in captions:
        own = [c for c in captions if c.clip_id == caption.clip_id]
        found = compose(caption, own, by_id[caption.clip_id].events)
        assert not isinstance(found, Fault), found
        sizes = [word_count(text) for text in found[0]]
        assert sizes == sorted(set(sizes))
