"""The structural checks of a reversed caption, whoever wrote it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.text.temporal import reverse_events
from construction.text.temporal_check import MAX_TOKENS, askable, check_rewrite
from construction.text.timeline import timeline
from tests.construction.cases import own
from tests.construction.test_temporal import EVENTS, FRAMES
from tests.shared_data import shared

CARELESS = {
    "a person walks forward while waving.": "a person waves while walking forward.",
    "a person jogs and swings their arms.": "a person swings their arms and jogs.",
    "a person steps forward with arms raised.": "with arms raised a person steps forward.",
    "someone leans left, then right, then left once more.": "someone leans left once more, then "
    "right, then left.",
    "the woman strides over to a fence, spins around, and strides back.": "the woman strides back, "
    "spins around, and strides over to a fence.",
    "a person trips and falls to the ground.": "a person falls to the ground and trips.",
    "a person chases after a ball.": "after a ball, a person chases.",
}
"""What a model might write for the captions that have no reversal."""


def test_shared_cases():
    cases = json.loads(shared("cases/temporal_cases.json").read_text(encoding="utf-8"))["cases"]
    for case in cases:
        caption = case["caption"]
        if not case["reversible"]:
            found = check_rewrite(caption, CARELESS.get(caption, case["events"][-1]))
            assert (case["id"], found.outcome != "item") == (case["id"], True)
            continue
        assert len(timeline(caption)) == case["n_events"]
        found = check_rewrite(caption, case["reversed"])
        assert (case["id"], found.text) == (case["id"], case["reversed"])
        assert found.edit["n_events"] == str(case["n_events"])
        assert check_rewrite(case["reversed"], caption).outcome == "item"
        assert check_rewrite(caption, f"{caption[:-1]} .").reason_code == "order"


@pytest.mark.parametrize("case", own("temporal_order"), ids=lambda c: c["caption"][:40])
def test_what_the_rule_makes_passes_the_check_made_apart_from_it(case):
    made = reverse_events(case["caption"])
    if made.text is not None:
        assert check_rewrite(case["caption"], made.text).outcome == "item"


@given(
    st.permutations(sorted(set(EVENTS) - {"sits and waves"})),
    st.sampled_from(FRAMES),
    st.sampled_from(FRAMES),
)
def test_any_frame_may_tell_the_reversal_and_none_the_same_order(events, frame, other):
    def written(chosen, first, second):
        texts = {"f0": first, "f1": second, "g0": EVENTS[first], "g1": EVENTS[second]}
        return chosen.format(s="a man", **texts)

    caption = written(frame, events[0], events[1])
    assert check_rewrite(caption, written(other, events[1], events[0])).outcome == "item"
    same = check_rewrite(caption, written(other, events[0], events[1]) + " ")
    assert same.reason_code in {"order", "unchanged"}


@given(st.permutations(range(4)))
def test_of_all_orders_only_the_reverse_passes(order):
    events = ["walks to the left", "kneels", "claps his hands twice", "waves with the right hand"]
    caption = f"a man {', then '.join(events)}."
    found = check_rewrite(caption, f"a man {', then '.join(events[k] for k in order)}.")
    assert (found.outcome == "item") == (list(order) == [3, 2, 1, 0])


@pytest.mark.parametrize(
    ("caption", "rewritten", "code"),
    [
        ("a man walks, then sits.", "a man sits, then runs.", "content_words"),
        ("a man walks, then sits.", "a man sits.", "content_words"),
        ("a man walks, then sits.", "a man sits, then walks slowly.", "content_words"),
        ("a man walks, then sits.", "a woman sits, then walks.", "actor"),
        ("a man walks, then sits.", "a man sits while walking.", "simultaneous"),
        ("a man walks, then sits.", "a man sits and walks.", "event_count"),
        ("a man walks, then sits.", "A man walks,  then sits.", "unchanged"),
        ("a man walks, then sits.", "after walking, a man sits.", "order"),
        ("a man walks, then sits.", "a man s\u200bits, then walks.", "unreadable"),
        (
            "a man waves the left hand, then raises the right hand.",
            "a man raises the left hand, then waves the right hand.",
            "order",
        ),
        (
            "a man walks two steps, then jumps three times.",
            "a man jumps two times, then walks three steps.",
            "order",
        ),
        ("a man walks while waving, then sits.", "a man sits, then walks.", "simultaneous"),
        ("a man walks, turning left, then sits.", "a man sits, then walks.", "simultaneous"),
        ("a man walks, then walks back.", "a man walks back, then walks.", "presupposition"),
        ("a man picks up a box, then puts it down.", "a man puts it down.", "causal"),
        ("a man waves.", "a man waves.", "single_event"),
        ("walking", "walking", "single_event"),
        ("walk. " * MAX_TOKENS, "walk.", "too_long"),
    ],
)
def test_what_a_rewriting_may_not_do(caption, rewritten, code):
    found = check_rewrite(caption, rewritten)
    assert (found.outcome != "item", found.reason_code) == (True, code)
    assert found.reason


def test_sentences_of_a_long_caption_change_places_whole():
    caption = (
        "A person starts in a low crouch, then stands up slowly. They raise the left arm high "
        "above the head. Finally, they kick forward with the right leg and clap."
    )
    back = (
        "A person kicks forward with the right leg and claps. Then they raise the left "
        "arm high above the head. They stand up slowly, then start in a low crouch."
    )
    assert askable(caption) is None
    assert len(timeline(caption)) == 4
    assert check_rewrite(caption, back).outcome == "item"
    swapped = back.replace("the right leg", "X").replace("the left arm", "the right leg")
    assert check_rewrite(caption, swapped.replace("X", "the left arm")).outcome == "rejected"
    spoken = back.replace("with the right leg", "with the left leg").replace(
        "left arm", "right arm"
    )
    assert check_rewrite(caption, spoken).reason_code == "order"


def test_a_body_part_is_no_return():
    assert askable("a man bends his back, then claps.") is None
    assert askable("a man steps back, then claps.").reason_code == "presupposition"
