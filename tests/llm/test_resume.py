"""The cache: what is kept, under which key, and that a killed run asks nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from llm.ask import LanguageModel
from llm.cache import ResponseCache
from llm.media import frames
from llm.requests import Question
from tests.llm.server import FakeEndpoint, completion
from tests.llm.world import GOOD, Verdict, model, request, settings
from tests.shared_data import ROOT

PNG = b"\x89PNG\r\n\x1a\n"
ASK = """
import sys
from pathlib import Path
from llm.cache import ResponseCache
from tests.llm.world import Verdict, model, request
asking = model(sys.argv[1], ResponseCache(Path(sys.argv[2])), concurrency=3)
questions = [request(i) for i in range(300)]
asking.ask_many(questions, Verdict, lambda event: print(event.id, flush=True))
"""


def good(body, number):
    """Answer every question."""
    return completion(GOOD)


def key(changed_request=None, **changed):
    """Return the key of a question."""
    return Question(changed_request or request(), settings("http://a:1/v1", **changed), Verdict).key


def test_a_second_run_asks_nothing_and_says_so(tmp_path):
    asked = [request(i) for i in range(5)]
    with FakeEndpoint(good) as endpoint:
        first = model(endpoint.url, ResponseCache(tmp_path)).ask_many(asked, Verdict)
        again = model(endpoint.url, ResponseCache(tmp_path)).ask_many(asked, Verdict)
    assert len(endpoint.got) == 5
    assert [reply.from_cache for reply in first + again] == [False] * 5 + [True] * 5
    assert [reply.exchange for reply in again] == [reply.exchange for reply in first]
    # Nothing is left to ask: not even the key is looked for.
    offline = LanguageModel(settings(endpoint.url), ResponseCache(tmp_path), environ={})
    assert all(reply.usable for reply in offline.ask_many(asked, Verdict))


def test_a_repaired_answer_stays_repaired(tmp_path):
    script = [completion("{}"), completion(GOOD)]
    with FakeEndpoint(lambda body, number: script[number]) as endpoint:
        for _ in range(2):
            asking = model(endpoint.url, ResponseCache(tmp_path))
            assert asking.ask_many([request()], Verdict)[0].outcome == "repaired"


@pytest.mark.parametrize(
    "bad", [completion("{}"), completion(None, refusal="no"), completion("{", finish="length")]
)
def test_only_valid_replies_are_kept(tmp_path, bad):
    with FakeEndpoint(lambda body, number: bad) as endpoint:
        model(endpoint.url, ResponseCache(tmp_path)).ask_many([request()], Verdict)
    assert list(tmp_path.rglob("*.json")) == []


def test_the_key_holds_all_that_changes_an_answer():
    clip, other = frames([(0.0, PNG + b"a")]), frames([(0.0, PNG + b"b")])
    keys = [
        key(),
        key(model="other"),
        key(base_url="http://b:1/v1"),
        key(temperature=0.7),
        key(temperature=None),
        key(seed=1),
        key(max_tokens=99),
        key(structured="prompt"),
        key(extra_body={"top_k": 1}),
        key(request(1)),
        key(request(repeat=1)),
        key(request(media=clip)),
        key(request(media=other)),
        key(request(media=frames([(0.5, PNG + b"a")]))),
        key(request(media=frames([(0.0, PNG + b"a")], detail="low"))),
        Question(request(), settings("http://a:1/v1"), Other).key,
    ]
    assert len(set(keys)) == len(keys)


class Other(Verdict):
    """The same fields and one more."""

    more: int


def test_the_key_holds_nothing_else(tmp_path):
    file = tmp_path / "frame.png"
    file.write_bytes(PNG)
    same = [
        key(),
        key(request().model_copy(update={"id": "renamed"})),
        key(concurrency=1, attempts=9, timeout_s=1.0, api_key_env="OTHER"),
        key(usd_per_million_input=1.0, tokens_per_image=7),
    ]
    assert len(set(same)) == 1
    moved = [key(request(media=frames([(0.0, source)]))) for source in (file, PNG)]
    assert len(set(moved)) == 1


def test_the_key_is_stable_across_versions():
    # Whoever changes this value makes every user pay for every answer again.
    assert key() == "8f61eca5d4078685a0846f7b525d003662dcdb505438acda8cd0a73e7c74829c"


def test_damaged_and_foreign_entries_are_asked_again(tmp_path):
    cache = ResponseCache(tmp_path)
    with FakeEndpoint(good) as endpoint:
        asking = model(endpoint.url, cache)
        asking.ask_many([request(0), request(1)], Verdict)
        first, second = sorted(tmp_path.rglob("*.json"))
        whole = second.read_bytes()
        for damaged in (b"", b"\xff\xfe", whole[:50], first.read_bytes()):
            second.write_bytes(damaged)
            asked = len(endpoint.got)
            replies = asking.ask_many([request(0), request(1)], Verdict)
            assert all(reply.usable for reply in replies)
            assert len(endpoint.got) == asked + 1
            assert json.loads(second.read_bytes())["key"] == json.loads(whole)["key"]


def test_an_entry_that_no_longer_fits_is_asked_again(tmp_path):
    cache = ResponseCache(tmp_path)
    with FakeEndpoint(good) as endpoint:
        asking = model(endpoint.url, cache)
        asking.ask_many([request()], Verdict)
        file = next(tmp_path.rglob("*.json"))
        file.write_text(file.read_text().replace("score", "grade"))
        assert asking.ask_many([request()], Verdict)[0].usable
    assert len(endpoint.got) == 2


def test_the_prompt_named_is_the_one_in_use(tmp_path):
    newer = request()
    prompt = newer.prompt.model_copy(update={"rule": "test.verdict/2"})
    newer = newer.model_copy(update={"prompt": prompt})
    with FakeEndpoint(good) as endpoint:
        asking = model(endpoint.url, ResponseCache(tmp_path))
        asking.ask_many([request()], Verdict)
        reply = asking.ask_many([newer], Verdict)[0]
    assert reply.from_cache
    assert reply.provenance().rule == "test.verdict/2"


def test_a_killed_run_goes_on_without_asking_what_was_answered(tmp_path):
    def slowly(body, number):
        answer = completion(GOOD)
        answer.delay = delay[-1]
        return answer

    delay = [0.03]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with FakeEndpoint(slowly) as endpoint:
        command = [sys.executable, "-c", ASK, endpoint.url, str(tmp_path)]
        kept_before = 0
        for stop_after in (5, 11):
            run = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
            answered = [run.stdout.readline() for _ in range(kept_before + stop_after)]
            run.send_signal(signal.SIGKILL)
            run.wait()
            time.sleep(0.1)
            assert len(answered) <= len(ResponseCache(tmp_path)) < 300
            kept_before = len(ResponseCache(tmp_path))
        kept = {json.loads(file.read_text())["key"] for file in tmp_path.rglob("*.json")}
        asked = len(endpoint.got)
        delay.append(0)
        replies = model(endpoint.url, ResponseCache(tmp_path)).ask_many(
            [request(i) for i in range(300)], Verdict
        )
    assert all(reply.usable for reply in replies)
    assert sum(reply.from_cache for reply in replies) == len(kept)
    assert len(endpoint.got) - asked == 300 - len(kept)
    # Two kills with three calls under way each: at most six were asked twice, none three times.
    times = Counter(json.dumps(got.body) for got in endpoint.got)
    assert len(times) == 300
    assert sum(times.values()) <= 306
