"""Checks of drafts, what counts as another meaning, the template."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.nextmotionqa import TASKS, SemanticAxis
from construction.nextmotionqa.acts import kin
from construction.nextmotionqa.difficulty import assess
from construction.nextmotionqa.divergence import divergence
from construction.nextmotionqa.drafts import (
    CaptionDraft,
    Cell,
    ChoiceDraft,
    CorrectionDraft,
    check_draft,
)
from construction.nextmotionqa.template import draft_by_template
from construction.nextmotionqa.words import content
from tests.construction.nextmotion import demo_sources, label, source

AXES = get_args(SemanticAxis)


def cell(axis="action"):
    """Return a cell."""
    return Cell(clip_id="x:1", axis=axis, difficulty="easy")


def choice(**changed):
    """Return a T1 draft."""
    given = {
        "possible": True,
        "reason": "",
        "question": "Which of these does the person do?",
        "options": ("walking", "jumping", "sitting", "clapping"),
        "gold": ("walking",),
    }
    return ChoiceDraft(**{**given, **changed})


def caption(text):
    """Return a T2 draft."""
    return CaptionDraft(possible=True, reason="", caption=text)


def correction(corrected, corrupted, wrong, rewrite):
    """Return a T3 draft."""
    words = {"corrected": corrected, "corrupted": corrupted, "wrong": wrong, "rewrite": rewrite}
    return CorrectionDraft(possible=True, reason="", **words)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({}, ""),
        ({"gold": ("Walking.", "jumping")}, ""),
        ({"options": ("walking", "jumping", "sitting")}, "options"),
        ({"options": ("walking", "Walking.", "sitting", "clapping")}, "options"),
        ({"options": ("walking", "...", "sitting", "clapping")}, "options"),
        ({"gold": ()}, "gold"),
        ({"gold": ("running",)}, "gold"),
        ({"question": "What?"}, "length"),
        ({"question": "does he walk " * 134}, "length"),
        ({"possible": False, "reason": "no direction"}, "not_possible"),
    ],
)
def test_checks_of_t1(changed, code):
    checked = check_draft(cell(), choice(**changed))
    assert checked.code == code
    assert (checked.payload is None) == bool(code)


def test_gold_is_kept_in_the_words_and_order_of_the_options():
    checked = check_draft(cell(), choice(gold=("JUMPING", "walking ")))
    assert checked.payload.gold == ("walking", "jumping")
    all_right = choice(gold=("walking", "jumping", "sitting", "clapping"))
    assert check_draft(cell(), all_right).notes == ("all four options are right",)


@pytest.mark.parametrize(
    ("axis", "draft", "code"),
    [
        ("action", ("He walks to a chair.", "He crawls to a chair.", "crawls", "walks"), ""),
        ("direction", ("He walks forward.", "He walks backward.", "backward", "forward"), ""),
        ("body_part", ("He lifts his left arm.", "He lifts his right arm.", "right", "left"), ""),
        # Table 8's examples of T3, one for each axis.
        (
            "body_part",
            (
                "The person performs a kick in place, using their legs to execute the action.",
                "The person performs a kick in place, using their arms to execute the action.",
                "arms",
                "legs",
            ),
            "",
        ),
        (
            "direction",
            (
                "The person is doing jumping jacks in place, moving their legs apart and together.",
                "The person is doing jumping jacks forward, moving their legs apart and together.",
                "forward",
                "in place",
            ),
            "",
        ),
        (
            "action",
            (
                "The person is walking in place, using their arms and legs to move.",
                "The person is crawling in place, using their arms and legs to move.",
                "crawling",
                "walking",
            ),
            "",
        ),
        (
            "body_part",
            ("Using their legs to act.", "Using their arms to act.", "arms", "legs"),
            "",
        ),
        (
            "direction",
            ("He jumps about in place.", "He jumps about forward.", "forward", "in place"),
            "",
        ),
        ("action", ("He walks about.", "He walks about.", "walks", "walks"), "same"),
        ("action", ("He walks about.", "He crawls about.", "runs", "walks"), "span"),
        ("action", ("He walks about.", "He crawls about.", "crawls", "runs"), "span"),
        ("action", ("He walks about.", "He crawls about.", "crawl", "walk"), "span"),
        ("action", ("He walks about.", "He crawls about.", "", "walks"), "span"),
        ("action", ("He goes forward.", "He goes backward.", "backward", "forward"), "other_axis"),
        ("direction", ("He walks forward.", "He runs backward.", "runs backward", "walks forward"),
         "other_axis"),
        ("body_part", ("He lifts his left arm.", "He bends his left arm.", "bends", "lifts"),
         "other_axis"),
        ("action", ("Walks.", "Runs.", "Runs", "Walks"), "length"),
    ],
)  # fmt: skip
def test_checks_of_t3(axis, draft, code):
    checked = check_draft(cell(axis), correction(*draft))
    assert checked.code == code
    if not code:
        item = checked.payload
        (span,) = item.errors
        put = item.corrupted[: span.start] + span.rewrite + item.corrupted[span.end :]
        assert put == item.corrected
        assert span.axis == axis


def test_the_span_is_the_one_whose_rewrite_gives_the_right_caption():
    draft = correction(
        "He lifts one arm, then his right arm.",
        "He lifts one arm, then his right leg.",
        "leg",
        "arm",
    )
    twice = correction(
        "He bends a leg, then an arm again.", "He bends a leg, then an leg again.", "leg", "arm"
    )
    assert check_draft(cell("body_part"), draft).code == ""
    span = check_draft(cell("body_part"), twice).payload.errors[0]
    assert span.start == 24


def test_words_the_rule_does_not_know_are_noted_not_refused():
    draft = correction("He moonwalks off.", "He pirouettes off.", "pirouettes", "moonwalks")
    assert "could not check" in check_draft(cell(), draft).notes[0]
    assert "could not check" in check_draft(cell("body_part"), caption("He walks off.")).notes[0]


@pytest.mark.parametrize("count", [1, 400])
def test_captions_of_one_word_and_of_400_are_refused(count):
    assert check_draft(cell(), caption("walks " * count)).code == "length"


@given(
    st.text("ab c", min_size=1, max_size=10),
    st.text("abc", min_size=1, max_size=6),
    st.text("abc", min_size=1, max_size=6),
    st.text("ab c", min_size=1, max_size=10),
)
def test_an_accepted_span_always_gives_the_corrected_caption(before, wrong, rewrite, after):
    draft = correction(
        f"x y {before} {rewrite} {after}", f"x y {before} {wrong} {after}", wrong, rewrite
    )
    checked = check_draft(cell(), draft)
    if checked.payload is not None:
        item = checked.payload
        (span,) = item.errors
        assert item.corrupted[span.start : span.end] == wrong
        put = item.corrupted[: span.start] + span.rewrite + item.corrupted[span.end :]
        assert put == item.corrected
    else:
        assert checked.code == "same"
        assert wrong == rewrite


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (caption("A person walks forward."), caption("The person is walking forward"), ""),
        (caption("He walks, then sits."), caption("He sits, then walks."), "action differs"),
        (caption("He walks forward."), caption("He walks backward."), "direction differs"),
        (
            caption("He lifts his left arm."),
            caption("He lifts his right arm."),
            "body part differs",
        ),
        (caption("He walks to a chair."), caption("He walks to a door."), "chair became door"),
        (choice(), choice(options=("Jumping", "walking", "clapping", "sitting.")), ""),
        (choice(), choice(gold=("jumping",)), "gold: walking became jumping"),
        (
            choice(),
            choice(options=("walking", "jumping", "sitting", "falling")),
            "options: clapping became falling",
        ),
        (choice(), choice(question="Which of these does the person do first?"), "first"),
        (
            correction("He walks about.", "He crawls about.", "crawls", "walks"),
            correction("He walks about.", "He runs about.", "runs", "walks"),
            "corrupted caption: action differs",
        ),
    ],
)
def test_what_the_second_pass_changed(first, second, words):
    one, other = (check_draft(cell(), draft).payload for draft in (first, second))
    found = divergence(one, other)
    assert words in found
    assert bool(found) == bool(words)


def test_two_tasks_cannot_be_compared():
    one, other = (check_draft(cell(), d).payload for d in (choice(), caption("He walks off.")))
    with pytest.raises(TypeError, match="two drafts of one task"):
        divergence(one, other)


@pytest.fixture(scope="module")
def clips():
    """The demo corpus as sources."""
    return demo_sources().clips


@pytest.mark.parametrize(("task", "axis"), list(product(TASKS, AXES)))
def test_the_template_drafts_what_passes_every_check(clips, task, axis):
    possible = 0
    for clip in clips:
        draft = draft_by_template(clip, task, axis, seed=3)
        assert draft == draft_by_template(clip, task, axis, seed=3)
        own = Cell(clip_id=clip.clip_id, axis=axis, difficulty=assess(clip).difficulty)
        checked = check_draft(own, draft)
        assert checked.code in ("", "not_possible")
        if checked.code:
            assert draft.reason
            continue
        assert checked.notes == ()
        possible += 1
        if task == "T3":
            # The mistake is on the axis and nowhere else.
            one, other = content(draft.corrected), content(draft.corrupted)
            assert [a for a in AXES if one.on(a) != other.on(a)] == [axis]
    assert possible > 70


def test_wrong_options_are_nothing_that_may_be_seen_too(clips):
    for clip in clips:
        draft = draft_by_template(clip, "T1", "action", seed=1)
        wrong = set(draft.options) - set(draft.gold)
        spoken = {a for text in clip.captions for a in content(text).actions}
        close = {v for verb in spoken for v in kin(verb)}
        assert not {content(option).actions[0] for option in wrong} & close


def test_templates_follow_the_seed(clips):
    drafts = {draft_by_template(clips[0], "T1", "action", seed).options for seed in range(8)}
    assert len(drafts) > 4


@pytest.mark.parametrize(
    ("text", "axis", "task", "reason"),
    [
        ("hopscotch", "action", "T1", "names no action the template knows"),
        ("t-pose", "action", "T1", "only a pose to start from"),
        ("raise", "body_part", "T2", "does not say what is moved"),
        ("walk", "direction", "T2", "neither label nor caption says where"),
        ("walk", "direction", "T1", "neither label nor caption says where"),
    ],
)
def test_what_labels_do_not_license_is_not_drafted(text, axis, task, reason):
    draft = draft_by_template(source(label(text)), task, axis, seed=0)
    assert not draft.possible
    assert reason in draft.reason


def test_categories_stand_in_for_a_label_nobody_knows():
    clip = source(label("meander", categories=("walk", "forward movement")))
    assert draft_by_template(clip, "T2", "action", 0).caption == "A person walks."


@pytest.mark.parametrize(
    ("labels", "axis", "words"),
    [
        ([label("raise left arm")], "body_part", "A person raises their left arm."),
        ([label("kick with the left leg")], "body_part", "A person uses their left leg to kick."),
        ([label("turn left")], "direction", "A person turns to their own left."),
        ([label("squat")], "direction", "A person squats in place."),
        (
            [label("walk forward", 0, 2), label("kick", 2.1, 4)],
            "direction",
            "A person walks forward, then kicks in place.",
        ),
        ([label("t-pose", 0, 1), label("walk", 1, 3)], "action", "A person walks."),
        # Where labels overlap no order is claimed.
        ([label("walk", 0, 4), label("wave", 1, 4)], "action", "A person walks and waves."),
    ],
)
def test_captions_say_what_the_labels_say(labels, axis, words):
    assert draft_by_template(source(*labels), "T2", axis, 0).caption == words
