"""What every protocol in the registry must keep to."""

import pytest

from audit.adjudication import RULES, rules_for
from audit.protocol import Protocol
from audit.protocols.registry import PROTOCOLS

EACH = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=list(PROTOCOLS))


@EACH
def test_names_are_unique_and_keys_are_names(protocol: Protocol) -> None:
    names = [question.name for question in protocol.questions]
    assert len(set(names)) == len(names)
    assert PROTOCOLS[protocol.name] is protocol


@EACH
def test_checks_are_required_yes_no_questions(protocol: Protocol) -> None:
    for check in protocol.checks:
        question = protocol.question(check)
        assert question.domain == ("yes", "no")
        assert question.required


@EACH
def test_the_rule_is_known(protocol: Protocol) -> None:
    assert protocol.decision in (*RULES, "none")
    assert protocol.decision in rules_for(protocol)


@EACH
def test_questions_have_the_options_their_kind_needs(protocol: Protocol) -> None:
    for question in protocol.questions:
        has_none = question.kind == "text" or question.options_from == "item"
        assert has_none == (question.domain == ())
        assert len(set(question.domain)) == len(question.domain)
        if question.kind == "likert":
            assert question.level in ("ordinal", "interval")
        if question.kind == "text":
            assert not question.agreement


@EACH
def test_conditions_name_questions_and_answers_that_exist(protocol: Protocol) -> None:
    for question in protocol.questions:
        condition = question.shown_when
        if condition is not None and condition.question is not None:
            assert set(condition.values) <= set(protocol.question(condition.question).domain)


@EACH
def test_guidelines_are_one_page_with_a_few_examples(protocol: Protocol) -> None:
    words = len(protocol.guidelines.split())
    # 230 words a minute: well within the ten minutes an expert has.
    assert 200 <= words <= 700
    assert 3 <= len(protocol.examples) <= 5


def test_an_unknown_question_lists_those_there_are() -> None:
    with pytest.raises(ValueError, match="unknown question 'verdict'.*'fluent'"):
        PROTOCOLS["stride_audit"].question("verdict")
