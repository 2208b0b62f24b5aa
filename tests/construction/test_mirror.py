import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.text.laterality import lateral_cues
from construction.text.mirror import mirror
from construction.text.tokens import tokenize
from tests.construction.cases import own
from tests.shared_data import shared

_OUTCOME = {"swap": "item", "no_swap": "not_applicable", "reject": "rejected"}


def test_shared_cases():
    cases = json.loads(shared("cases/mirror_cases.json").read_text(encoding="utf-8"))
    got = {
        c["id"]: (mirror(c["caption"]).outcome, mirror(c["caption"]).text) for c in cases["cases"]
    }
    assert got == {c["id"]: (_OUTCOME[c["outcome"]], c["expected"]) for c in cases["cases"]}


@pytest.mark.parametrize("case", own("mirror_reflection"), ids=lambda c: c["caption"][:40])
def test_own_cases(case):
    found = mirror(case["caption"])
    assert (found.outcome, found.text) == (case["outcome"], case.get("text"))
    assert found.reason


SUBJECTS = ["a person", "The man", "someone", "two dancers"]
VERBS = ["turns", "steps", "leans", "jumps", "walked"]
PLACES = [
    "left", "right", "to the left", "to his right", "with the LEFT hand", "leftwards",
    "with the left foot on the right knee", "clockwise", "counterclockwise", "right away",
    "up", "at a right angle", "to the leftmost cone", "on the right-hand side", "left-handed",
    "in a clockwise circle", "left and right", "right after that", "over the L mark", "all right",
]  # fmt: skip
JOINTS = [", ", " and then ", "; ", ". He ", " and "]
CAPTIONS = st.builds(
    lambda subject, parts, end: subject + " " + "".join(parts)[:-1] + end,
    st.sampled_from(SUBJECTS),
    st.lists(
        st.builds(
            lambda v, p, j: v + " " + p + j,
            st.sampled_from(VERBS),
            st.sampled_from(PLACES),
            st.sampled_from(JOINTS),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["", ".", " \u2014 \U0001f483", "\n"]),
)


@given(CAPTIONS)
def test_mirroring_twice_gives_the_caption(caption):
    once = mirror(caption)
    if once.text is not None:
        assert once.text != caption
        assert mirror(once.text).text == caption


def test_an_exchange_may_give_a_caption_that_is_refused_on_its_own():
    # "left before" is plain, "right before" may be an emphasis: the rule is not symmetric here.
    once = mirror("a man turns left before he jumps")
    assert once.text == "a man turns right before he jumps"
    assert mirror(once.text).reason_code == "ambiguous"


def _read_as_a_side(caption):
    return [cue for cue in lateral_cues(tokenize(caption)) if cue.reading == "lateral"]


@given(CAPTIONS)
def test_every_side_is_exchanged_and_nothing_else(caption):
    found = mirror(caption)
    if found.text is None:
        return
    before, after = _read_as_a_side(caption), _read_as_a_side(found.text)
    exchange = {"left": "right", "clockwise": "counterclockwise"}
    exchange |= {b: a for a, b in exchange.items()}
    assert [c.stem for c in after] == [exchange[c.stem] for c in before]
    assert _rest(caption, before) == _rest(found.text, after)


def _rest(caption, cues):
    kept, at = [], 0
    for cue in cues:
        kept.append(caption[at : cue.start])
        at = cue.end
    return [*kept, caption[at:]]


@given(st.text(max_size=200))
def test_any_text_gets_an_outcome_with_a_reason(text):
    found = mirror(text)
    assert found.reason
    assert (found.text is not None) == (found.outcome == "item")


def test_the_spelling_of_a_sense_of_rotation_in_the_caption_is_kept():
    found = mirror("one clockwise spin, then an anti-clockwise spin")
    assert found.text == "one anti-clockwise spin, then a clockwise spin"


@pytest.mark.parametrize("caption", ["", "   ", "...", "\x00", "12 34"])
def test_captions_without_words_are_refused(caption):
    assert mirror(caption).reason_code == "unreadable"


@pytest.mark.parametrize(
    "unit", ["left and right ", "left ", "a right after ", "-", "l/r ", "counter clock ", ", "]
)
def test_long_captions_come_back(unit):
    # A quadratic rule would need minutes for each of these 30 kB.
    long = ("a person turns left. " + unit * (30_000 // len(unit)))[:30_000]
    text = mirror(long).text
    assert text is None or text.startswith("a person turns right.")


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("he was right to jump", None),
        ("he has one leg left.", None),
        ("he looks left, then walks right ahead.", "he looks right, then walks right ahead."),
        ("he turned to his right to jump", "he turned to his left to jump"),
        ("left to her own devices, the girl spins.", None),
        ("a child is left to his own devices and jumps around.", None),
        ("left to himself, the boy kicks a ball.", None),
        ("he has not left yet.", None),
        ("he bows to the person not left but right.", "he bows to the person not right but left."),
        ("he hasn't left yet and waves his left hand",
         "he hasn't left yet and waves his right hand"),
        ("he steps left to his own corner.", "he steps right to his own corner."),
        ("the man turns left to himself.", "the man turns right to himself."),
        ("she kneels and picks up the ball left on the floor.", None),
        ("a person drinks what is left of the water.", None),
        ("the right arm is left hanging.", "the left arm is left hanging."),
        ("he leaves his left glove where he left it.",
         "he leaves his right glove where he left it."),
        ("a person leaves, going left, with no time left.",
         "a person leaves, going right, with no time left."),
        ("a person steps to the right and right back.",
         "a person steps to the left and right back."),
        ("a person moves right along and bows.", None),
        ("the man holds the bat the right way and swings with his left arm.", None),
    ],
)  # fmt: skip
def test_correct_remaining_and_emphasis_are_no_sides(caption, expected):
    assert mirror(caption).text == expected
