"""The schema that is sent, and the checks of a reply one by one."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from benchmarks.items import Frozen
from llm.structured import check_reply, schema_instruction, strict_schema, strip_reply
from tests.llm.world import GOOD, Verdict


class Side(StrEnum):
    """A closed choice."""

    LEFT = "left"
    RIGHT = "right"


class Part(Frozen):
    """A nested record; this docstring must not be sent."""

    side: Side
    title: str = "none"
    span: tuple[float, float] | None = None


class Answer(Frozen):
    """An answer with all that records use."""

    parts: list[Part] = Field(description="Body parts that move.")
    kind: Literal["a", "b"]
    default: int = 3


def test_the_schema_is_closed_and_everything_required():
    schema = strict_schema(Answer)
    assert schema["required"] == ["parts", "kind", "default"]
    part = schema["$defs"]["Part"]
    assert part["required"] == ["side", "title", "span"]
    assert part["additionalProperties"] is schema["additionalProperties"] is False
    # Fields that bear the name of a keyword stay; keywords and docstrings go, descriptions stay.
    assert set(part["properties"]) == {"side", "title", "span"}
    assert schema["properties"]["default"] == {"type": "integer"}
    assert schema["properties"]["parts"]["description"] == "Body parts that move."
    assert "must not be sent" not in json.dumps(schema)
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {"parts": [{"side": "left", "title": "t", "span": None}], "kind": "a", "default": 1}
    jsonschema.validate(good, schema)
    assert check_reply(Answer, json.dumps(good), "stop", None).outcome == "ok"


def test_free_form_mappings_are_refused():
    class Free(BaseModel):
        scores: dict[str, int]

    with pytest.raises(ValueError, match="Free has a mapping with free keys"):
        strict_schema(Free)


def test_the_prompt_prints_the_schema_that_is_sent():
    words = schema_instruction(strict_schema(Verdict))
    assert json.loads(words[words.index("{") :]) == strict_schema(Verdict)


@pytest.mark.parametrize(
    ("text", "finish", "refusal", "outcome"),
    [
        # The order: a cut reply is cut whatever it holds, then filter, refusal, then content.
        (GOOD, "length", "no", "truncated"),
        (GOOD, "content_filter", None, "refused"),
        (GOOD, "stop", "no", "refused"),
        (GOOD, None, "", "ok"),
        (GOOD, "eos_token", None, "ok"),
        (None, "stop", None, "invalid"),
        ("", "stop", None, "invalid"),
        ("<think>still thinking", "stop", None, "invalid"),
        ("null", "stop", None, "invalid"),
        ("[" * 100_000, "stop", None, "invalid"),
        ('{"verdict": "yes", "score": 4}', "stop", None, "invalid"),
        ('{"verdict": true, "score": "4"}', "stop", None, "invalid"),
        ('{"verdict": true, "score": NaN}', "stop", None, "invalid"),
        ('{"verdict": true, "score": 6}', "stop", None, "invalid"),
        ('{"verdict": true}', "stop", None, "invalid"),
        ('{"verdict": true, "score": 4, "extra": 1}', "stop", None, "invalid"),
        (f"{GOOD}\n{GOOD}", "stop", None, "invalid"),
        ('{"verdict": true, "score": 4}\nI hope this helps.', "stop", None, "ok"),
    ],
)
def test_checks_in_order(text, finish, refusal, outcome):
    checked = check_reply(Verdict, text, finish, refusal)
    assert checked.outcome == outcome
    assert (checked.value is not None) == (outcome == "ok")
    assert bool(checked.reason) == (outcome != "ok")
    assert len(checked.reason) <= 300


def test_the_complaint_names_fields_and_not_the_reply():
    secret = "x" * 5_000
    reason = check_reply(Verdict, json.dumps({"verdict": secret, "score": 0}), None, None).reason
    assert "verdict: " in reason
    assert "score: " in reason
    assert "xxx" not in reason
    assert "\n" not in reason


def test_quoted_tags_and_fences_inside_json_stay():
    text = '{"a": "</think> ```json {} ```"}'
    assert strip_reply(text) == (text, ())


@pytest.mark.parametrize("unit", ["<think>", "```json\n", "{", "</think>", "<think></think", "` "])
def test_hostile_replies_cost_linear_time(unit):
    # Quadratic time would take hours.
    check = check_reply(Verdict, unit * (2_000_000 // len(unit)), "stop", None)
    assert check.value is None
