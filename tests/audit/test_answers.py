import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.answers import (
    AnswerError,
    check_activity,
    check_answers,
    check_draft,
    is_asked,
    plain_text,
)
from audit.protocol import Condition, Option, Protocol, Question
from audit.protocols.stride_audit import STRIDE_AUDIT
from tests.audit.world import GOOD

MIRROR = {"axis": "mirror_reflection"}


def problems(answers: object, conditions: dict[str, str] = MIRROR) -> dict[str, str]:
    with pytest.raises(AnswerError) as caught:
        check_answers(STRIDE_AUDIT, conditions, answers)
    return caught.value.problems


def test_good_answers_are_kept_in_the_order_of_the_form() -> None:
    shuffled = dict(reversed(GOOD.items()))
    assert list(check_answers(STRIDE_AUDIT, MIRROR, shuffled).items()) == list(GOOD.items())


def test_a_value_that_is_no_option_is_named_with_the_options() -> None:
    assert problems({**GOOD, "fluent": "maybe"}) == {
        "fluent": "'maybe' is not an answer of 'fluent'; answers are ['yes', 'no']"
    }


def test_all_problems_are_told_at_once() -> None:
    found = problems({"fluent": "maybe", "confidence": "6", "verdict": "accept"})
    assert set(found) == {"fluent", "single_change", "distinguishable", "confidence", "verdict"}
    assert found["single_change"] == "'single_change' has no answer yet"
    assert found["verdict"] == "'verdict' is not a question of stride_audit"


@pytest.mark.parametrize(
    "bad",
    [None, "", " yes", "YES", "yes\x00", True, 1, ["yes"], {"yes": 1}, float("nan"), "x" * 10**6],
)
def test_only_the_declared_values_are_answers(bad: object) -> None:
    found = problems({**GOOD, "fluent": bad})
    assert set(found) == {"fluent"}
    assert len(found["fluent"]) < 200


@pytest.mark.parametrize("bad", [None, [], "fluent", 3])
def test_answers_come_by_question(bad: object) -> None:
    assert "expected answers by question" in problems(bad)[""]


def test_confidence_is_forced_and_may_come_as_a_number() -> None:
    assert set(problems({k: v for k, v in GOOD.items() if k != "confidence"})) == {"confidence"}
    assert check_answers(STRIDE_AUDIT, MIRROR, {**GOOD, "confidence": 5})["confidence"] == "5"


def test_what_is_asked_depends_on_the_axis() -> None:
    asked = {
        axis: [q.name for q in STRIDE_AUDIT.questions if is_asked(q, {"axis": axis}, {})]
        for axis in ("temporal_order", "mirror_reflection", "action_identity", "random_content")
    }
    three = ["fluent", "single_change", "distinguishable", "confidence", "comment"]
    assert asked["temporal_order"] == asked["mirror_reflection"] == three
    assert asked["action_identity"] == [*three[:3], "exclusive", *three[3:]]
    assert asked["random_content"] == ["fluent", "distinguishable", "confidence", "comment"]


def test_an_answer_to_a_question_that_is_not_shown_is_dropped() -> None:
    assert "exclusive" not in check_answers(STRIDE_AUDIT, MIRROR, {**GOOD, "exclusive": "no"})
    missing = problems(GOOD, {"axis": "action_identity"})
    assert missing == {"exclusive": "'exclusive' has no answer yet"}


def test_an_answer_hidden_by_another_answer_does_not_survive() -> None:
    verdict = Question(
        name="verdict",
        text="?",
        kind="verdict",
        options=(Option(value="accept", text="A"), Option(value="reject", text="R")),
    )
    codes = Question(
        name="codes",
        text="?",
        kind="multi",
        options=(Option(value="F1", text="1"), Option(value="F2", text="2")),
        shown_when=Condition(question="verdict", values=("reject",)),
    )
    protocol = STRIDE_AUDIT.model_copy(update={"questions": (verdict, codes)})
    assert isinstance(protocol, Protocol)
    answers = {"verdict": "reject", "codes": ["F2", "F1", "F2"]}
    assert check_answers(protocol, {}, answers) == {"verdict": "reject", "codes": ["F1", "F2"]}
    assert check_answers(protocol, {}, {**answers, "verdict": "accept"}) == {"verdict": "accept"}
    with pytest.raises(AnswerError, match="'codes' has no answer yet"):
        check_answers(protocol, {}, {"verdict": "reject", "codes": []})
    with pytest.raises(AnswerError, match="expects a list"):
        check_answers(protocol, {}, {"verdict": "reject", "codes": "F1"})


def test_a_long_comment_is_refused_with_the_limit() -> None:
    assert problems({**GOOD, "comment": "x" * 102_400}) == {
        "comment": "'comment' has 102400 characters; at most 10000 can be submitted"
    }
    kept = check_answers(STRIDE_AUDIT, MIRROR, {**GOOD, "comment": "x" * 10_000})
    assert len(kept["comment"]) == 10_000


@pytest.mark.parametrize(
    "text",
    ["مرحبا ‏بالعالم‎", "👩🏽‍🦽‍➡️ turns", "e\u0301\u00a0漢字\n\tnext", "<script>alert(1)</script>"],
)
def test_text_of_any_script_is_kept_as_it_is(text: str) -> None:
    assert check_answers(STRIDE_AUDIT, MIRROR, {**GOOD, "comment": text})["comment"] == text


def test_an_empty_comment_is_no_answer() -> None:
    assert "comment" not in check_answers(STRIDE_AUDIT, MIRROR, {**GOOD, "comment": " \x00\n"})


@settings(deadline=None)
@given(st.text())
def test_plain_text_has_no_controls_and_is_stable(text: str) -> None:
    clean = plain_text(text)
    assert not any(ord(c) < 32 and c not in "\n\t" or 127 <= ord(c) < 160 for c in clean)
    assert plain_text(clean) == clean
    clean.encode("utf-8")


def test_lone_surrogates_are_taken_out() -> None:
    assert plain_text("a\ud800b") == "ab"


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
            lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        ),
    )
)
def test_activity_is_always_storable(activity: dict[str, object]) -> None:
    kept = check_activity(activity)
    json.dumps(kept, allow_nan=False).encode("utf-8")
    assert all(math.isfinite(v) for v in kept.values() if isinstance(v, float))


def test_activity_keeps_measurements_and_drops_the_rest() -> None:
    sent = {"seconds": 3.5, "plays": 2, "full": True, "speed": "0.5", "nan": math.nan, "deep": {}}
    assert check_activity(sent) == {"seconds": 3.5, "plays": 2, "full": True, "speed": "0.5"}
    assert check_activity("no") == {}


@pytest.mark.parametrize("bad", ["3", True, -1, math.inf, None, {}, 10**13])
def test_seconds_are_a_number_or_absent(bad: object) -> None:
    assert check_activity({"seconds": bad, "plays": 2}) == {"plays": 2}


def test_a_draft_may_be_unfinished_but_not_anything() -> None:
    unfinished = {"fluent": None, "comment": "a\x00b", "confidence": 9}
    assert check_draft(STRIDE_AUDIT, unfinished) == {**unfinished, "comment": "ab"}
    for bad in (
        {"other": 1},
        {"comment": "x" * 300_000},
        {"comment": {1, 2}},
        [],
        {"fluent": math.nan},
    ):
        with pytest.raises(AnswerError):
            check_draft(STRIDE_AUDIT, bad)
