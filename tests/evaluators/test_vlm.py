"""Forced choices through the loopback server that speaks the chat API."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from corpus.motion import Motion
from corpus.problems import InputError
from evaluators.protocol import ForcedChoiceModel
from evaluators.vlm import VlmJudge
from llm.budget import Budget
from llm.cache import ResponseCache
from render.clip import RenderSettings
from tests.evaluators import layouts
from tests.llm.server import FakeEndpoint, completion, user_text
from tests.llm.world import model

SMALL = RenderSettings(size=64, view="skeleton")
RIGHT = [f"a person raises the left arm {k} times." for k in range(12)]
WRONG = [text.replace("left", "right") for text in RIGHT]


def captions(body) -> tuple[str, str]:
    text = user_text(body)
    a, b = (re.search(rf"Caption {x}: (.*)", text) for x in "AB")
    assert a
    assert b
    return a[1], b[1]


def truthful(body, number):
    return completion('{"choice": "A"}' if "left" in captions(body)[0] else '{"choice": "B"}')


def always_a(body, number):
    return completion('{"choice": "A"}')


@pytest.fixture
def motions() -> list[Motion]:
    return [layouts.motion(20 + k % 2, source=f"made:{k}") for k in range(12)]


def test_the_choice_is_of_the_caption_whatever_it_is_called(motions) -> None:
    with FakeEndpoint(truthful) as server:
        judge = VlmJudge(model(server.url), settings=SMALL)
        assert isinstance(judge, ForcedChoiceModel)
        first = [(RIGHT if k % 2 else WRONG)[k] for k in range(12)]
        second = [(WRONG if k % 2 else RIGHT)[k] for k in range(12)]
        found = judge.choose(motions, first, second)
        assert found == ["first" if k % 2 else "second" for k in range(12)]
        letters = {"left" in captions(got.body)[0] for got in server.got}
        assert letters == {True, False}


def test_the_order_follows_seed_item_and_model_and_nothing_else(motions) -> None:
    with FakeEndpoint(always_a) as server:
        items = [f"i{k}" for k in range(12)]
        one = VlmJudge(model(server.url), settings=SMALL)
        found = one.choose(motions, RIGHT, WRONG, items)
        assert set(found) == {"first", "second"}
        back = one.choose(motions[::-1], RIGHT[::-1], WRONG[::-1], items[::-1])
        assert back[::-1] == found
        assert [one.swapped(i) for i in items] == [c == "second" for c in found]
        other = VlmJudge(model(server.url), seed=1, settings=SMALL)
        assert [other.swapped(f"i{k}") for k in range(64)] != [
            one.swapped(f"i{k}") for k in range(64)
        ]
        many = [one.swapped(f"i{k}") for k in range(2000)]
        assert 0.45 < np.mean(many) < 0.55
        assert one.fingerprint != other.fingerprint


def test_one_picture_of_six_frames_is_sent_and_drawn_once_a_motion(motions) -> None:
    with FakeEndpoint(truthful) as server:
        judge = VlmJudge(model(server.url), settings=SMALL)
        judge.choose(
            [motions[0]] * 3, [RIGHT[0], WRONG[0], RIGHT[0]], [WRONG[0], RIGHT[0], "a person sits."]
        )
        sent = set()
        for got in server.got:
            parts = got.body["messages"][-1]["content"]
            urls = [p["image_url"]["url"] for p in parts if p["type"] == "image_url"]
            assert len(urls) == 1
            sent.add(urls[0])
        assert len(sent) == 1
        picture = Image.open(io.BytesIO(base64.b64decode(sent.pop().split(",")[1])))
        assert picture.width > 3 * picture.height


def test_an_answer_that_is_none_is_invalid_and_the_rest_goes_on(motions) -> None:
    def script(body, number):
        if captions(body)[0] == "x" or captions(body)[1] == "x":
            return completion("I cannot tell")
        return truthful(body, number)

    with FakeEndpoint(script) as server:
        judge = VlmJudge(model(server.url), settings=SMALL)
        found = judge.choose(motions[:3], [RIGHT[0], "x", RIGHT[1]], [WRONG[0], "y", WRONG[1]])
        assert found == ["first", "invalid", "first"]
        assert [reply.usable for reply in judge.replies] == [True, False, True]


def test_a_motion_that_cannot_be_drawn_is_invalid(motions) -> None:
    broken = Motion(positions=np.full((2, 22, 3), 2e4), fps=20, source="far off")
    with FakeEndpoint(truthful) as server:
        found = VlmJudge(model(server.url), settings=SMALL).choose(
            [broken, motions[0]], RIGHT[:2], WRONG[:2]
        )
    assert found == ["invalid", "first"]


def test_asked_in_both_orders_a_judge_that_likes_a_ties(motions) -> None:
    with FakeEndpoint(always_a) as server:
        judge = VlmJudge(model(server.url), both_orders=True, settings=SMALL)
        assert judge.choose(motions[:4], RIGHT[:4], WRONG[:4]) == ["tie"] * 4
        assert len(server.got) == 8
    with FakeEndpoint(truthful) as server:
        judge = VlmJudge(model(server.url), both_orders=True, settings=SMALL)
        assert judge.choose(motions[:4], RIGHT[:4], WRONG[:4]) == ["first"] * 4


def test_a_run_that_stops_gives_no_choices_and_goes_on_where_it_was(motions, tmp_path) -> None:
    with FakeEndpoint(truthful) as server:
        asked = model(server.url, ResponseCache(tmp_path))
        asked.budget = Budget(calls=3)
        judge = VlmJudge(asked, settings=SMALL)
        with pytest.raises(InputError, match=r"[1-9] of 5 questions are without an answer: .*call"):
            judge.choose(motions[:5], RIGHT[:5], WRONG[:5])
        assert len(server.got) == 3
        asked.budget = Budget()
        assert judge.choose(motions[:5], RIGHT[:5], WRONG[:5]) == ["first"] * 5
        assert len(server.got) == 5


def test_an_endpoint_that_is_down_makes_no_ties(motions) -> None:
    def down(body, number):
        return 500, {}, b"down"

    with FakeEndpoint(down) as server:
        judge = VlmJudge(model(server.url), settings=SMALL)
        with pytest.raises(InputError, match="4 of 4 questions are without an answer"):
            judge.choose(motions[:4], RIGHT[:4], WRONG[:4])


def test_answers_are_kept_so_a_second_run_asks_nothing(motions, tmp_path) -> None:
    with FakeEndpoint(truthful) as server:
        cache = ResponseCache(tmp_path)
        first = VlmJudge(model(server.url, cache), settings=SMALL).choose(
            motions[:4], RIGHT[:4], WRONG[:4]
        )
        asked = len(server.got)
        again = VlmJudge(model(server.url, cache), settings=SMALL).choose(
            motions[:4], RIGHT[:4], WRONG[:4]
        )
        assert asked == 4 == len(server.got)
        assert first == again == ["first"] * 4
