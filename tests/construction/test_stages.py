"""Stages: one budget for all of them, a dry run that sends nothing, what each one used."""

from __future__ import annotations

import pytest

from construction.stages import NOT_SENT, Stages
from llm.ask import LanguageModel
from llm.budget import Budget
from llm.cache import ResponseCache
from llm.outcome import Usage
from tests.llm.server import FakeEndpoint, completion, failure
from tests.llm.world import ENV, GOOD, Verdict, request, settings


def _model(url, folder=None, **changed):
    cache = None if folder is None else ResponseCache(folder)
    return LanguageModel(settings(url, **changed), cache, environ=ENV)


def test_each_stage_tells_what_it_asked_and_used():
    with FakeEndpoint(lambda body, number: completion(GOOD)) as endpoint:
        told = []
        first, second = _model(endpoint.url), _model(endpoint.url, model="other-model")
        stages = Stages(
            {"score": first, "rewrite": second}, tell=lambda stage, event: told.append(stage)
        )
        stages.ask("score", [request(0), request(1)], Verdict)
        stages.ask("rewrite", [request(2)], Verdict)
        stages.ask("rewrite", [request(3)], Verdict)
    uses = stages.uses()
    assert [uses[name].coverage.line() for name in uses] == [
        "2 of 2 answered (ok 2)",
        "2 of 2 answered (ok 2)",
    ]
    assert uses["rewrite"].model == "other-model"
    assert uses["score"].calls == 2
    assert uses["rewrite"].usage.prompt > 0
    assert uses["score"].usd is None
    assert told == ["score", "score", "rewrite", "rewrite"]


def test_one_model_in_two_stages_is_counted_in_each():
    with FakeEndpoint(lambda body, number: completion(GOOD)) as endpoint:
        model = _model(endpoint.url)
        stages = Stages({"score": model, "rewrite": model})
        stages.ask("score", [request(0)], Verdict)
        stages.ask("rewrite", [request(1), request(2)], Verdict)
    assert (stages.uses()["score"].calls, stages.uses()["rewrite"].calls) == (1, 2)


def test_the_budget_covers_all_stages_together():
    with FakeEndpoint(lambda body, number: completion(GOOD)) as endpoint:
        models = {name: _model(endpoint.url) for name in ("score", "rewrite")}
        stages = Stages(models, budget=Budget(calls=3))
        stages.ask("score", [request(0), request(1)], Verdict)
        replies = stages.ask("rewrite", [request(i) for i in range(2, 6)], Verdict)
        assert len(endpoint.got) == 3
    assert [reply.usable for reply in replies].count(True) == 1
    assert "budget of 1 calls is used up" in replies[-1].reason


def test_the_budget_covers_what_else_draws_on_it():
    class Other:
        calls = 2
        spent = Usage(prompt=70, completion=5)
        usd = 0.25

    stages = Stages(budget=Budget(calls=3, tokens=100, usd=1.0))
    stages.share(Other())
    assert stages.left() == Budget(calls=1, tokens=25, usd=0.75)
    stages.share(Other())
    assert stages.left() == Budget(calls=0, tokens=0, usd=0.5)


def test_a_dry_run_sends_nothing_and_uses_what_is_known(tmp_path):
    with FakeEndpoint(lambda body, number: completion(GOOD)) as endpoint:
        _model(endpoint.url, tmp_path).ask_many([request(1)], Verdict)
        stages = Stages({"score": _model(endpoint.url, tmp_path)}, dry_run=True)
        replies = stages.ask("score", [request(0), request(1)], Verdict)
        assert len(endpoint.got) == 1
    assert [reply.usable for reply in replies] == [False, True]
    assert replies[0].reason == NOT_SENT
    assert [estimate.calls for estimate in stages.estimates["score"]] == [1]


def test_what_failed_stays_in_the_count():
    with FakeEndpoint(lambda body, number: failure(500)) as endpoint:
        stages = Stages({"score": _model(endpoint.url, attempts=1, concurrency=2)})
        stages.ask("score", [request(i) for i in range(6)], Verdict)
    assert stages.uses()["score"].coverage.line() == "0 of 6 answered (error 6)"


def test_a_stage_without_a_model_is_known_before_it_is_asked():
    stages = Stages()
    assert not stages.has("score")
    assert stages.model("score") is None
    with pytest.raises(KeyError):
        stages.ask("score", [request(0)], Verdict)
