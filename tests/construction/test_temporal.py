import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.text.morphology import lemmas
from construction.text.temporal import reverse_events
from construction.text.tokens import tokenize
from tests.construction.cases import own
from tests.shared_data import shared


def test_shared_cases():
    cases = json.loads(shared("cases/temporal_cases.json").read_text(encoding="utf-8"))
    for case in cases["cases"]:
        found = reverse_events(case["caption"])
        if case["reversible"]:
            assert (case["id"], found.text) == (case["id"], case["reversed"])
            assert found.edit["n_events"] == str(case["n_events"])
        else:
            assert (case["id"], found.outcome != "item") == (case["id"], True)


@pytest.mark.parametrize("case", own("temporal_order"), ids=lambda c: c["caption"][:40])
def test_own_cases(case):
    found = reverse_events(case["caption"])
    assert (found.outcome, found.text) == (case["outcome"], case.get("text"))
    assert found.reason


EVENTS = {
    "walks forward": "walking forward",
    "kneels": "kneeling",
    "claps his hands": "clapping his hands",
    "spins around": "spinning around",
    "kicks with the left leg": "kicking with the left leg",
    "lies on the floor": "lying on the floor",
    "sits and waves": "sitting and waving",
}
FRAMES = [
    "{s} {f0} then {f1}.",
    "{s} {f0}, and then {f1}",
    "{s} {f0} before {g1}.",
    "{s} {f1} after {g0}.",
    "after {g0}, {s} {f1}.",
    "before {g1}, {s} {f0}.",
    "{s} starts by {g0} and ends by {g1}.",
    "{s} {f0}, followed by {g1}.",
    "{s} {f0}. Then he {f1}.",
    "first {s} {f0}, then {f1}.",
]


@given(
    st.permutations(sorted(EVENTS)),
    st.sampled_from(FRAMES),
    st.sampled_from(["a man", "the tall boy", "someone"]),
)
def test_reversal_is_the_same_frame_with_the_events_exchanged(events, frame, subject):
    def written(first, second):
        return frame.format(s=subject, f0=first, f1=second, g0=EVENTS[first], g1=EVENTS[second])

    found = reverse_events(written(events[0], events[1]))
    assert found.text == written(events[1], events[0])
    assert found.edit["events"].count(" | ") == 1


@given(st.permutations(sorted(EVENTS)), st.integers(3, 5))
def test_lists_reverse_whole_and_keep_their_words(events, number):
    chosen = [e for e in events if e != "sits and waves"][:number]
    caption = "a man " + ", ".join(chosen[:-1]) + ", and then " + chosen[-1] + "."
    found = reverse_events(caption)
    back = chosen[::-1]
    assert found.text == "a man " + ", ".join(back[:-1]) + ", and then " + back[-1] + "."
    assert reverse_events(found.text).text == caption


def _words(text):
    return Counter(lemmas(t.low) for t in tokenize(text) if t.word)


@pytest.mark.parametrize(
    "case", [c for c in own("temporal_order") if "text" in c], ids=lambda c: c["caption"][:40]
)
def test_content_words_are_preserved(case):
    assert _words(reverse_events(case["caption"]).text) == _words(case["caption"])


@given(st.text(max_size=200))
def test_any_text_gets_an_outcome_with_a_reason(text):
    found = reverse_events(text)
    assert found.reason
    assert (found.text is not None) == (found.outcome == "item")


@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "the",
                "man",
                "he",
                "walks",
                "sits",
                "then",
                "and",
                ",",
                ".",
                "before",
                "after",
                "first",
                "followed",
                "by",
                "is",
                "waving",
                "left",
                "to",
                "ends",
                "starts",
                "having",
                "finally",
                "next",
                "while",
                "it",
                "leg",
            ]
        ),
        max_size=14,
    )
)
def test_word_salad_never_breaks_and_never_loses_words(parts):
    text = " ".join(parts)
    found = reverse_events(text)
    if found.text is not None:
        assert _words(found.text) == _words(text)


@pytest.mark.parametrize("unit", ["then ", "walks, ", "and then walks ", ". ", "before "])
def test_very_long_captions_are_refused(unit):
    # Quadratic time would take hours.
    found = reverse_events("a man walks " + unit * (100_000 // len(unit)))
    assert found.outcome != "item"


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("he starts with a jump, ends with a bow.", "he starts with a bow, ends with a jump."),
        ("starts with a jump and ends with a bow", "starts with a bow and ends with a jump"),
        ("he starts with a jump, claps, and ends with a bow.", None),
        ("he starts with the left foot and ends with the right.", None),
        (
            "first he waves, second he claps, finally he sits.",
            "first he sits, second he claps, finally he waves.",
        ),
        ("first man walks, second man waves.", None),
        ("someone sits down just after they bow.", "someone bows just after they sit down."),
        ("the man waves shortly before sitting.", "the man sits shortly before waving."),
        ("the man turns right after clapping.", None),
        ("a man jumps a few seconds after clapping.", None),
        ("once he has jumped, the man claps.", None),
        (
            "he looks left, he looks right, and then he walks.",
            "he walks, he looks right, and then he looks left.",
        ),
        ("he looks left, she looks right, and then he walks.", None),
        ("a man walks and just before jumping claps.", None),
        ("a person, standing on one leg, hops and then claps.", None),
        ("the person starts in a squat, then jumps.", None),
        ("the person begins standing, then bends at the waist.", None),
        ("the woman starts dancing, then claps.", "the woman claps, then starts dancing."),
        ("a man gets up and then walks away.", None),
        ("he bends to the left, bends to the right, and then stands straight.", None),
        ("a man walks on a beam then jumps off.", None),
        ("the person raises their leg and then puts the leg down.", None),
        ("he swings his arms back and forth and then claps.",
         "he claps and then swings his arms back and forth."),
    ],
)  # fmt: skip
def test_events_told_by_nouns_counted_or_close_in_time(caption, expected):
    assert reverse_events(caption).text == expected


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        # one verb, an act for each event
        (
            "a person throws a punch followed by a kick.",
            "a person throws a kick followed by a punch.",
        ),
        (
            "the boxer throws a left jab followed by a right hook.",
            "the boxer throws a right hook followed by a left jab.",
        ),
        ("she takes a step, then a bow.", "she takes a bow, then a step."),
        (
            "he throws a kick with his right leg followed by a punch with his left hand.",
            "he throws a punch with his left hand followed by a kick with his right leg.",
        ),
        (
            "the man delivers a knee strike followed by an elbow strike.",
            "the man delivers an elbow strike followed by a knee strike.",
        ),
        (
            "he takes two steps to the left and then two steps to the right.",
            "he takes two steps to the right and then two steps to the left.",
        ),
        ("he throws a punch bag followed by a kick.", None),
        (
            "a person does two jumping jacks and then three squats.",
            "a person does three squats and then two jumping jacks.",
        ),
        ("a person throws a ball followed by a kick.", None),
        ("a man takes a step followed by a jump.", None),
        ("he kicks two balls then three boxes.", None),
        # the auxiliary told anew
        (
            "the man is walking and then he is waving.",
            "the man is waving and then he is walking.",
        ),
        (
            "someone is dancing, then they are clapping.",
            "someone is clapping, then they are dancing.",
        ),
        ("a man is jumping and is then waving.", "a man is waving and is then jumping."),
        ("a man is jogging. Then he is kneeling.", "a man is kneeling. Then he is jogging."),
        ("the man is walking and then the woman is waving.", None),
        ("a man is walking and then he is still.", None),
        ("a person is walking and then he waves.", None),
        # at the start, at the end
        (
            "at first the woman claps, then she twirls.",
            "at first the woman twirls, then she claps.",
        ),
        (
            "a person stretches, and at the end he bows.",
            "a person bows, and at the end he stretches.",
        ),
        (
            "in the beginning the man hops, and in the end he claps.",
            "in the beginning the man claps, and in the end he hops.",
        ),
        ("a man waves, and at the end of the hall he bows.", None),
        ("a person waves then jumps at the end.", None),
        ("a man waves initially then jumps.", None),
        # ways of several kinds
        (
            "he points up, then down, then to the side.",
            "he points to the side, then down, then up.",
        ),
        ("he looks to the left, then up.", "he looks up, then to the left."),
        ("he steps to the left, then right.", "he steps to the right, then left."),
        ("a man squats down, then up, then to the side.", None),
        # done to the person
        ("the person gets hit and then stumbles.", None),
        ("the person gets knocked down and then gets up.", None),
        ("a man gets pushed and then waves.", "a man waves and then gets pushed."),
        ("a man is pushed from behind and then regains his balance.", None),
        # at once, up to, depending, of one event
        ("a person sits down on a chair.", None),
        ("a person runs in place until they get tired.", None),
        ("as the person walks forward, they wave with both hands.", None),
        ("turning around, the person walks to the door.", None),
        ("the man was walking when he tripped.", None),
        ("a person walks forward and, after stopping, salutes.", None),
        ("a person kneels down and once he is on the ground he raises his arms.", None),
        ("someone starts off by marching and finishes with a salute.", None),
        # told twice, by the clause
        ("before she spun around, the woman waved.", "before she waved, the woman spun around."),
        ("having waved, she sits down.", "having sat down, she waves."),
        (
            "a person squats, and subsequently, lunges to the left.",
            "a person lunges to the left, and subsequently, squats.",
        ),
    ],
)  # fmt: skip
def test_captions_judged_before_they_were_run(caption, expected):
    assert reverse_events(caption).text == expected
