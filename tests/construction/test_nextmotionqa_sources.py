"""Sources, difficulty and the audit of NextMotionQA drafts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.nextmotionqa.difficulty import assess, find_modifiers
from construction.nextmotionqa.failures import audit_source, item_failures
from construction.nextmotionqa.sources import (
    LONGEST_S,
    SHORTEST_S,
    from_babel,
    from_workspace,
    join_segments,
)
from construction.nextmotionqa.words import content, table
from construction.text.morphology import inflect
from corpus.clips import Caption, Clip, EventLabel
from corpus.formats.babel import read_babel
from corpus.formats.humanml3d_index import read_index, texts_folder
from tests.construction.nextmotion import demo, demo_sources, label, source, write_corpus


def clip(name="1", duration=5.0, events=(), corpus="x"):
    """Return a clip of the workspace."""
    return Clip(
        id=f"{corpus}:{name}", corpus=corpus, path="a.npy", format="humanml3d",
        content_hash="0" * 64, frames=100, fps=20, duration=duration, joints=22,
        skeleton="smpl22", events=events,
    )  # fmt: skip


def test_babel_and_humanml3d_meet_in_the_time_of_the_clip(tmp_path):
    babel, human = write_corpus(tmp_path)
    index, _ = read_index(human)
    clips = {row.name: clip(row.name, duration=row.end - row.start) for row in index.rows}
    sources = from_babel(read_babel(babel)[0], index, texts_folder(human), clips)
    assert len(sources.clips) == 7
    true = {c.captions[0].text: c.clip.events for c in demo()}
    for made in sources.clips:
        events = true[made.caption]
        # HumanML3D's frame numbers round to 0.05 s at most; here they are exact.
        assert [(x.text, x.start, x.end) for x in made.labels] == [
            (e.action, pytest.approx(e.start, abs=2e-3), pytest.approx(e.end, abs=2e-3))
            for e in events
        ]


def test_what_is_no_source_is_counted_by_reason(tmp_path):
    babel, human = write_corpus(tmp_path)
    entries = json.loads((babel / "train.json").read_text())
    del entries["1"]
    entries["2"]["frame_ann"]["labels"][0] |= {"start_t": 5.0, "end_t": 4.0}
    (babel / "train.json").write_text(json.dumps(entries))
    (human / "texts" / "000003.txt").unlink()
    (human / "texts" / "000004.txt").write_text("a person walks.#a/DET#1.0#2.0\n")
    (human / "texts" / "000005.txt").write_text("Человек идёт вперёд.#a/DET#0.0#0.0\n")
    sequences, refused = read_babel(babel)
    index, _ = read_index(human)
    lengths = {row.name: row.end - row.start for row in index.rows[:6]}
    clips = {name: clip(name, duration=seconds) for name, seconds in lengths.items()}
    sources = from_babel(sequences, index, texts_folder(human), clips)
    assert [made.clip_id for made in sources.clips] == ["x:000006"]
    assert sources.passed == {
        "caption not in English letters": 1,
        "no action label in the clip": 1,
        "no caption of the whole clip": 1,
        "no labels in BABEL": 1,
        "not in the workspace": 1,
    }
    assert [p.reason for p in refused] == ["expected start_t before end_t, got 5 and 4 s"]
    assert sources.problems[0].file == str(human / "texts" / "000003.txt")
    # Another clip of the same name: its labels would be those of other seconds.
    clips["000006"] = clip("000006", duration=lengths["000006"] + 1)
    again = from_babel(sequences, index, texts_folder(human), clips)
    assert again.passed == {**sources.passed, "longer than its stretch in index.csv": 1}
    assert again.clips == ()


@pytest.mark.parametrize(
    ("duration", "kept"),
    [(0.80, 0), (SHORTEST_S, 1), (LONGEST_S, 1), (119.93, 0)],
)
def test_clips_of_the_papers_durations_are_kept(duration, kept):
    # NextMotionQA D: 0.81 to 119.92 s.
    event = EventLabel(action="walk", start=0, end=0.5)
    caption = Caption(id="x:1#0", clip_id="x:1", text="a person walks.")
    assert len(from_workspace([clip(duration=duration, events=(event,))], [caption]).clips) == kept


def test_consecutive_segments_of_one_label_are_made_one():
    joined = join_segments(
        [
            label("walk", 2.0, 3.0, categories=("b",)),
            label("walk", 0.0, 2.0, categories=("a",)),
            label("turn", 3.0, 4.0),
            label("walk", 4.0, 5.0),
            label("walk", 5.5, 6.0),
        ]
    )
    assert [(x.text, x.start, x.end) for x in joined] == [
        ("walk", 0.0, 3.0),
        ("turn", 3.0, 4.0),
        ("walk", 4.0, 5.0),
        ("walk", 5.5, 6.0),
    ]
    assert joined[0].categories == ("a", "b")


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 20), st.integers(1, 9)), max_size=8)
)
def test_joining_keeps_the_labels_and_joining_again_changes_nothing(rows):
    labels = [label(text, start / 4, (start + long) / 4) for text, start, long in rows]
    joined = join_segments(labels)
    assert join_segments(joined) == joined
    assert {x.text for x in joined} == {x.text for x in labels}
    for own in labels:
        assert any(x.text == own.text and x.start <= own.start and own.end <= x.end for x in joined)


@pytest.mark.parametrize(
    ("labels", "caption", "tier", "borderline"),
    [
        # Appendix D and choices: Hard first, then Easy, then Medium, then borderline.
        ([label("walk")], "a person walks.", "easy", False),
        ([label("walk")], "a person walks slowly.", "hard", False),
        ([label("walk"), label("transition", 2, 3)], "a person walks.", "easy", False),
        ([label("walk", 0, 2), label("sit", 2.3, 4)], "he walks and sits.", "medium", False),
        ([label("walk", 0, 2), label("sit", 2.49, 4)], "he walks and sits.", "medium", False),
        ([label("walk", 0, 2), label("sit", 2.5, 4)], "he walks and sits.", "medium", True),
        ([label("walk", 0, 3), label("sit", 2, 4)], "he walks and sits.", "medium", True),
        (
            [label("walk", timed=False), label("sit", timed=False)],
            "he walks and sits.",
            "medium",
            True,
        ),
        ([label("walk", 0, 2), label("sit", 2, 4)], "he sits on his hand.", "hard", False),
        ([label("a", 0, 1), label("b", 1, 2), label("c", 2, 3)], "he moves.", "hard", False),
    ],
)
def test_difficulty_in_the_papers_order(labels, caption, tier, borderline):
    found = assess(source(*labels, caption=caption))
    assert (found.difficulty, found.borderline) == (tier, borderline)


def test_modifiers_are_table_7_word_by_word():
    assert table("modifiers")["lexicons"] == {
        "direction": ["forward", "backward", "left", "right", "lateral"],
        "speed": ["slow", "slowly", "fast", "quickly", "briskly"],
        "manner": ["zigzag", "in place", "on the spot", "in circles"],
        "body_part": ["belly", "knee", "elbow", "hand", "foot"],
    }
    for entries in table("modifiers")["lexicons"].values():
        for entry in entries:
            hits = find_modifiers(f"the person moves {entry}.")
            assert entry in [hit for found in hits.values() for hit in found]


@pytest.mark.parametrize(
    "caption",
    [
        "the man left the room.",
        "a person sits right away.",
        "a handsome man.",
        "a person breakfasts.",
    ],
)
def test_words_that_only_look_like_modifiers_are_none(caption):
    assert find_modifiers(caption) == {}


def test_whose_modifiers_count_is_an_option():
    made = source(label("walk"), captions=("he walks.", "he walks fast."))
    assert assess(made).difficulty == "easy"
    assert assess(made, "all").difficulty == "hard"


@pytest.mark.parametrize(
    ("labels", "caption", "modes"),
    [
        ([label("walk")], "a person walks.", []),
        ([label("raise right arm")], "he lifts his right hand and arm.", ["F1"]),
        ([label("raise right arm")], "he lifts his left hand and arm.", ["F1"]),
        ([label("raise hand")], "he moves.", ["F1"]),
        ([label("kick with leg")], "he touches his head.", []),
        ([label("turn left")], "he turns.", ["F2"]),
        ([label("turn")], "he turns to his own left.", []),
        ([label("raise left arm")], "he lifts it.", []),
        ([label("walk", 0, 3), label("sit", 2.5, 5)], "he moves.", ["F3"]),
        ([label("walk", timed=False), label("sit", timed=False)], "he moves.", ["F3"]),
        ([label("walk", 0, 4), label("wave", 1, 3)], "he moves.", ["F4"]),
        ([label("walk")], "he walks while waving.", ["F4"]),
    ],
)
def test_the_source_is_audited_for_the_four_failures(labels, caption, modes):
    # NextMotionQA A.3; the rules are ours.
    assert sorted({f.mode for f in audit_source(source(*labels, caption=caption))}) == modes


def test_a_failure_touches_the_items_of_its_axis():
    found = audit_source(
        source(label("turn left", 0, 3), label("raise hand", 2, 5), caption="he turns.")
    )
    assert sorted({f.mode for f in found}) == ["F1", "F2", "F3"]

    def modes(axis, *texts):
        return sorted({f.mode for f in item_failures(axis, texts, found)})

    assert modes("body_part", "Which parts move?") == ["F1"]
    assert modes("direction", "Which way does he go?") == ["F2"]
    assert modes("action", "What does he do?") == ["F3"]
    assert modes("body_part", "Which parts move before he turns?") == ["F1", "F3"]


def test_a_draft_has_failures_of_its_own():
    assert item_failures("direction", ["He turns to the left."], ())[0].mode == "F2"
    assert item_failures("direction", ["He turns to his own left."], ()) == ()
    assert (
        item_failures("body_part", ["Which?"], (), (["right arm"], ["right hand"]))[0].mode == "F1"
    )
    assert item_failures("body_part", ["Which?"], (), (["right arm"], ["left hand"])) == ()


def test_sides_belong_to_parts_or_to_directions():
    said = content("a person turns left and lifts the left and right arms, not the right knee")
    assert said.directions == ("left",)
    assert [(p.name, p.side) for p in said.parts] == [
        ("arm", "left"),
        ("arm", "right"),
        ("knee", "right"),
    ]
    assert content("he walks in place then in a counter-clockwise circle").directions == (
        "in_place",
        "counterclockwise",
    )


def test_the_tables_know_every_verb_and_every_kin():
    actions = table("actions")["actions"]
    for verb, row in actions.items():
        assert all(inflect(verb, tag) for tag in ("VBZ", "VBG"))
        assert set(row["kin"].split()) <= set(actions)
        assert set(row["parts"]) <= {"legs", "arms", "torso", "head"}


def test_the_demo_corpus_has_clips_of_every_tier():
    tiers = {assess(made).difficulty for made in demo_sources().clips}
    assert tiers == {"easy", "medium", "hard"}
