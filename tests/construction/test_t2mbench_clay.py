"""The Clay Figurine Rule: what it refuses and why, and that the guidelines' examples agree."""

from __future__ import annotations

import pytest

from audit.protocols.prompt_review import PROMPT_REVIEW
from construction.t2mbench.clay import WORD_BOUNDS, check_prompt

GOOD = "A person raises the left arm forward to shoulder height, then lowers the left arm."


def codes(text, category="dance", length=None):
    return [fault.code for fault in check_prompt(text, category, length)]


def test_a_plain_prompt_passes():
    assert codes(GOOD, length="short") == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("raise the left arm\u202e up", "unreadable"),
        ("Eine Person hebt den linken Arm nach vorne bis zur Schulter.", "language"),
        ("人がゆっくりと左腕を前に上げる。", "language"),
        ("A person gracefully raises the left arm up.", "vague_word"),
        ("A person raises the left arm up in a melodious way.", "vague_word"),
        ("A person raises the left arm up, sad and tired.", "vague_word"),
        ("A person raises the left arm 3 times up.", "digit"),
        ("A person raises the left arm up ② times.", "digit"),
        ("A person feels weak and lowers the left arm.", "mind"),
        ("A person smiles and lowers the left arm.", "face_or_fingers"),
        ("A person spreads the fingers of the left hand outward.", "face_or_fingers"),
        ("A dancer in a skirt raises the left arm up.", "appearance"),
        ("A person raises the left arm up on the stage.", "scenery"),
        ("A person lifts a box with both hands up.", "object"),
        ("A person raises both arms up like a swan.", "simile"),
        ("A person raises both arms up as if flying.", "simile"),
        ("A person moves forward and then to the left.", "no_body_part"),
        ("A person moves back and forth at shoulder height.", "no_body_part"),
        ("A person shakes the head and the torso.", "no_direction"),
        ("A person raises an arm forward.", "side_missing"),
        ("A person kicks with the foot forward.", "side_missing"),
        ("A person swings the straight leg forward.", "side_missing"),
        ("A person raises both arms up. The person goes forward.", "bare_sentence"),
    ],
)
def test_each_breach_has_its_code(text, code):
    found = check_prompt(text, "dance")
    assert code in [fault.code for fault in found]
    assert all(fault.reason for fault in found)


@pytest.mark.parametrize(
    "text",
    [
        "A person raises the left arm to shoulder height and lowers it to arm's length forward.",
        "A person steps hip width apart and bends both knees outward.",
        "A person continuously circles both arms backward for five full turns.",
        "A person lifts the left knee and the other foot stays below it, motionless.",
        "A person lifts the left knee up and swings the bent leg outward.",
        "A person spins clockwise on the ball of the right foot.",
        "A person pulls both fists down to the waist, hand over hand.",
        "Shift the weight onto the left leg and swing the right foot up until the leg is level.",
    ],
)
def test_measures_and_words_of_time_are_no_breach(text):
    assert codes(text) == []


def test_digits_belong_to_the_accuracy_dimension():
    text = "A person raises the left arm overhead 3 times."
    assert codes(text, "numerical") == []
    assert "digit" in codes(text, "dance")
    assert "no_number" in codes("A person raises the left arm overhead.", "numerical")
    assert codes("A person moves 2.8 meters backward.", "whole_body") == []


@pytest.mark.parametrize(
    ("category", "without", "with_it"),
    [
        ("multi_stage", "A person raises both arms up.",
         "A person raises both arms up, then bends both knees, and finally turns the head left."),
        ("asymmetric", "A person raises both arms up.",
         "The left arm rises forward while the right arm swings backward."),
        ("balance", "A person raises both arms up.",
         "A person stands on the left leg and raises both arms up."),
        ("explosive", "A person slowly raises both arms up.",
         "A person bends both knees and jumps up."),
        ("intent", "A person raises both palms forward.",
         "A person raises both palms forward to stop someone."),
        ("invisible_object", "A person lowers both hands.",
         "A person lifts an invisible box up with both hands."),
        ("body_part", "A person holds the left hand 15 cm forward.",
         "A person holds the left hand 15 cm in front of the head."),
    ],
)  # fmt: skip
def test_each_category_has_a_demand(category, without, with_it):
    assert "category" in codes(without, category)
    assert codes(with_it, category) == []


def test_bounds_in_words_hold_on_both_sides():
    word = "A person raises the left arm up and down"
    fewest, most = WORD_BOUNDS["short"]
    assert codes(" ".join(word.split()[: fewest - 1]), length="short")[0] == "too_short"
    long = f"{word}{' and the right arm up' * 8}"
    assert len(long.split()) > most
    assert codes(long, length="short") == ["too_long"]
    assert codes(long, length="long") == []


def test_an_unknown_category_is_an_error_and_400_words_are_read_quickly():
    with pytest.raises(ValueError, match="category: expected one of"):
        check_prompt(GOOD, "yoga")
    assert codes("the left arm up " * 4000, length="long") == ["too_long"]


def test_the_worked_examples_of_the_review_agree_with_the_rule():
    texts = [example.body.split("*")[1] for example in PROMPT_REVIEW.examples]
    assert [bool(codes(text)) for text in texts] == [False, True, True]
    assert codes(texts[1]) == ["vague_word"]
