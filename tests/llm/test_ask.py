"""Whole runs against a real server: answers, retries, limits, the dead endpoint, secrets."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from corpus.problems import InputError
from llm.budget import Budget
from llm.cache import ResponseCache
from llm.media import frames, video
from llm.outcome import coverage
from llm.settings import NO_KEY
from tests.llm.server import KEY, Answer, FakeEndpoint, completion, failure, user_text
from tests.llm.world import GOOD, Heard, Verdict, model, request, settings

PNG = b"\x89PNG\r\n\x1a\n" + b"one"


def ask_one(script, heard=None, cache=None, **changed):
    """Ask one question of a server that follows a script; return reply and server."""
    with FakeEndpoint(script) as endpoint:
        reply = model(endpoint.url, cache, **changed).ask_many([request()], Verdict, heard)[0]
    return reply, endpoint


def in_turn(*answers):
    """Return a script that gives these answers one after the other, the last one for ever."""
    return lambda body, number: answers[min(number, len(answers) - 1)]


def test_an_answer_comes_with_its_record():
    reply, endpoint = ask_one(in_turn(completion(GOOD)))
    assert reply.outcome == "ok"
    assert reply.value == Verdict(verdict=True, score=4)
    came = reply.exchange
    assert (came.model_asked, came.model_answered) == ("asked-model", "answering-model")
    assert (came.usage.prompt, came.usage.completion) == (100, 10)
    assert (came.request_id, came.system_fingerprint, came.attempts) == ("req_1", "fp_1", 1)
    sent = endpoint.got[0]
    assert sent.path == "/v1/chat/completions"
    schema = sent.body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["required"] == ["verdict", "score"]
    assert json.dumps(
        schema["schema"]["properties"]["score"], sort_keys=True, separators=(",", ":")
    ) in user_text(sent.body)
    made = reply.provenance(seed=7)
    assert (made.rule, made.seed, made.model_answered) == ("test.verdict/1", 7, "answering-model")


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (completion(None, refusal="I cannot help"), "refused", "I cannot help"),
        (completion("half", finish="content_filter"), "refused", "content filter"),
        (completion('{"verdict": tr', finish="length"), "truncated", "max_tokens"),
        (completion(GOOD, finish="length"), "truncated", "max_tokens"),
    ],
)
def test_refused_and_cut_replies_are_outcomes_of_their_own_and_asked_once(answer, outcome, words):
    reply, endpoint = ask_one(in_turn(answer))
    assert (reply.outcome, reply.value) == (outcome, None)
    assert words in reply.reason
    assert len(endpoint.got) == 1


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        (f"```json\n{GOOD}\n```", ("fence",)),
        (f"<think>score {{5}}?</think>\n{GOOD}", ("thinking",)),
        (f"so the score is 4\n</think>\n\n```\n{GOOD}\n```", ("thinking", "fence")),
        (f"Here you are: {GOOD} Anything else?", ("prose",)),
    ],
)
def test_what_stands_round_the_json_is_taken_off_and_said(text, stripped):
    reply, endpoint = ask_one(in_turn(completion(text)))
    assert (reply.outcome, reply.exchange.stripped) == ("ok", stripped)
    assert reply.exchange.raw == text
    assert len(endpoint.got) == 1


def test_content_in_parts_and_missing_usage_are_understood():
    parts = [{"type": "text", "text": GOOD[:9]}, {"type": "text", "text": GOOD[9:]}]
    reply, _ = ask_one(in_turn(completion(parts, usage=None)))
    assert reply.outcome == "ok"
    assert reply.exchange.usage is None


def test_a_wrong_schema_gets_one_repair_turn_with_the_last_error_only():
    bad = '{"verdict": "yes", "score": 9}'
    reply, endpoint = ask_one(in_turn(completion(bad), completion(GOOD)))
    assert (reply.outcome, reply.value.score) == ("repaired", 4)
    assert reply.exchange.attempts == 2
    assert reply.exchange.usage.prompt == 200
    turns = endpoint.got[1].body["messages"]
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user"]
    assert turns[2]["content"] == bad
    assert "verdict" in turns[3]["content"]
    assert "score" in turns[3]["content"]


def test_a_model_that_never_keeps_to_the_schema_is_invalid_after_two_calls():
    reply, endpoint = ask_one(in_turn(completion("no idea")))
    assert (reply.outcome, reply.value, len(endpoint.got)) == ("invalid", None, 2)
    assert "JSON" in reply.reason


def test_a_repair_turn_that_fails_leaves_the_first_reply_invalid():
    reply, endpoint = ask_one(in_turn(completion("{}"), failure(400, message="too long")))
    assert reply.outcome == "invalid"
    assert "too long" in reply.reason
    assert reply.exchange.raw == "{}"


def test_a_giant_invalid_reply_is_not_sent_back_whole():
    reply, endpoint = ask_one(in_turn(completion("x" * 500_000), completion(GOOD)))
    assert reply.outcome == "repaired"
    assert len(endpoint.got[1].body["messages"][2]["content"]) == 4_000


@pytest.mark.parametrize(
    "bad",
    [
        failure(500),
        failure(503),
        failure(429),
        failure(408),
        Answer(b"<html>gateway</html>"),
        Answer(b"\xff\xfe\x00not text"),
        Answer(b"[1, 2]"),
        Answer(b'{"choices": []}'),
        Answer(b"[" * 100_000),
        Answer({"error": {"message": "overloaded"}}),
        completion("", finish="error"),
        Answer(completion(GOOD).body, cut_at=40),
        Answer(completion(GOOD).body, delay=0.6),
        Answer(completion(GOOD).body, drip=0.05),
    ],
    ids=[
        "500", "503", "429", "408", "html", "not-utf8", "list", "no-choices", "deep",
        "error-as-200", "error-finish", "cut", "slow", "dripping",
    ],
)  # fmt: skip
def test_what_may_pass_is_tried_again_and_said(bad):
    heard = Heard()
    reply, endpoint = ask_one(in_turn(bad, completion(GOOD)), heard, timeout_s=0.4)
    assert (reply.outcome, reply.exchange.attempts) == ("ok", 2)
    assert len(endpoint.got) == 2
    assert [event.id for event in heard.of("retry")] == ["q0"]
    assert "attempt 1 of 2 failed" in heard.of("retry")[0].detail


def test_attempts_end():
    reply, endpoint = ask_one(in_turn(failure(500, message="broken")), attempts=3)
    assert (reply.outcome, len(endpoint.got)) == ("error", 3)
    assert "HTTP 500 (server_error): broken" in reply.reason


def test_retry_after_is_obeyed_by_every_call_and_said():
    heard = Heard()
    limited = failure(429, "rate_limit_exceeded", Retry_After="0.6")
    with FakeEndpoint(in_turn(limited, completion(GOOD))) as endpoint:
        asking = model(endpoint.url, concurrency=1)
        replies = asking.ask_many([request(0), request(1)], Verdict, heard)
    assert [reply.outcome for reply in replies] == ["ok", "ok"]
    assert endpoint.got[1].at - endpoint.got[0].at >= 0.6
    assert "as the server asked (0.6 s)" in heard.of("retry")[0].detail


def test_retry_after_beyond_the_cap_is_cut_and_said():
    heard = Heard()
    script = in_turn(failure(503, Retry_After="3600"), completion(GOOD))
    reply, endpoint = ask_one(script, heard, retry_after_cap_s=0.2)
    assert reply.outcome == "ok"
    assert 0.2 <= endpoint.got[1].at - endpoint.got[0].at < 2
    assert "asked for 3600 s (cap 0.2 s)" in heard.of("retry")[0].detail


def test_a_rejected_question_is_not_tried_again_and_the_rest_goes_on():
    def script(body, number):
        return failure(400, message="bad") if "Clip 1?" in user_text(body) else completion(GOOD)

    with FakeEndpoint(script) as endpoint:
        replies = model(endpoint.url).ask_many([request(i) for i in range(4)], Verdict)
    assert [reply.outcome for reply in replies] == ["ok", "error", "ok", "ok"]
    assert len(endpoint.got) == 4


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (failure(429, "insufficient_quota", "You exceeded your quota"), "quota is used up"),
        (failure(401, "invalid_api_key"), "key was refused"),
        (failure(402), "no credit"),
        (failure(404, "model_not_found"), "no such model"),
    ],
)
def test_what_cannot_pass_ends_the_run_at_once(answer, words):
    heard = Heard()
    with FakeEndpoint(in_turn(answer)) as endpoint:
        asking = model(endpoint.url, concurrency=2, attempts=5)
        replies = asking.ask_many([request(i) for i in range(20)], Verdict, heard)
    assert len(endpoint.got) <= 2
    assert coverage(replies).counts["error"] == 20
    assert words in heard.of("stopped")[0].detail
    assert words in replies[-1].reason


def test_a_refused_connection_ends_the_run_after_one_window_and_keeps_the_rest(tmp_path):
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        url = endpoint.url
        model(url, ResponseCache(tmp_path)).ask_many([request(3)], Verdict)
    heard = Heard()
    asked = [request(i) for i in range(50)]
    replies = model(url, ResponseCache(tmp_path), concurrency=4).ask_many(asked, Verdict, heard)
    assert "the endpoint is down: 4 calls in a row failed" in heard.of("stopped")[0].detail
    assert replies[3].usable
    assert coverage(replies).line() == "1 of 50 answered (ok 1, error 49)"
    assert len(heard.of("retry")) < 12


def test_an_endpoint_that_dies_midway_ends_the_run_and_keeps_what_came(tmp_path):
    script = in_turn(*[completion(GOOD)] * 10, failure(500))
    with FakeEndpoint(script) as endpoint:
        asking = model(endpoint.url, ResponseCache(tmp_path), concurrency=2, attempts=1)
        replies = asking.ask_many([request(i) for i in range(30)], Verdict)
    assert coverage(replies).usable == 10
    assert len(ResponseCache(tmp_path)) == 10
    assert len(endpoint.got) <= 13


def test_scattered_failures_do_not_end_the_run():
    in_order = threading.Lock()

    def script(body, number):
        # One answer at a time: calls end about in the order they came, so never four bad in a row.
        with in_order:
            time.sleep(0.005)
            return completion(GOOD) if number % 3 else failure(500)

    with FakeEndpoint(script) as endpoint:
        replies = model(endpoint.url, concurrency=4, attempts=1).ask_many(
            [request(i) for i in range(20)], Verdict
        )
    assert coverage(replies).counts["error"] == 7
    assert coverage(replies).usable == 13


def test_a_model_that_refuses_everything_is_said_and_counted(tmp_path):
    heard = Heard()
    with FakeEndpoint(in_turn(completion(None, refusal="no"))) as endpoint:
        asking = model(endpoint.url, ResponseCache(tmp_path))
        replies = asking.ask_many([request(i) for i in range(12)], Verdict, heard)
    assert coverage(replies).line() == "0 of 12 answered (refused 12)"
    assert len(heard.of("notice")) == 1
    assert "none of the first 4" in heard.of("notice")[0].detail
    assert len(ResponseCache(tmp_path)) == 0


def test_a_reply_beyond_the_limit_is_an_error_not_memory():
    reply, endpoint = ask_one(in_turn(completion("x" * 50_000)), max_reply_bytes=10_000)
    assert reply.outcome == "error"
    assert "larger than 10000 bytes" in reply.reason
    assert len(endpoint.got) == 1
    big = Answer(b'{"error": "' + b"x" * 50_000 + b'"}', status=500)
    reply, endpoint = ask_one(in_turn(big), max_reply_bytes=10_000)
    assert "larger than 10000 bytes" in reply.reason
    packed = Answer(b"\x1f\x8b", headers={"content-encoding": "gzip"})
    reply, _ = ask_one(in_turn(packed))
    assert "compressed" in reply.reason


def test_no_more_calls_at_once_than_allowed_and_order_is_kept():
    five = threading.Barrier(5, timeout=30)

    def script(body, number):
        if number < 5:
            five.wait()
        score = int(user_text(body).split()[1].rstrip("?")) % 5 + 1
        answer = completion(json.dumps({"verdict": True, "score": score}))
        answer.delay = 0.02 * (number % 3)
        return answer

    with FakeEndpoint(script) as endpoint:
        replies = model(endpoint.url, concurrency=5).ask_many(
            [request(i) for i in range(40)], Verdict
        )
    assert endpoint.most_at_once == 5
    assert [reply.value.score for reply in replies] == [i % 5 + 1 for i in range(40)]
    assert [reply.id for reply in replies] == [f"q{i}" for i in range(40)]


def test_alike_questions_are_asked_once_and_repetitions_again():
    asked = [request(1), request(1), request(1, repeat=1)]
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        replies = model(endpoint.url).ask_many(asked, Verdict)
    assert len(endpoint.got) == 2
    assert all(reply.usable for reply in replies)


def test_frames_go_in_order_each_after_its_time():
    clip = frames([(0.0, PNG), (0.5, PNG + b"b"), (1.25, PNG + b"c")], detail="high")
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        reply = model(endpoint.url).ask_many([request(0, clip)], Verdict)[0]
    parts = endpoint.got[0].body["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["text", *["text", "image_url"] * 3]
    assert [parts[i]["text"] for i in (1, 3, 5)] == [
        "Frame 1 of 3, t = 0.00 s", "Frame 2 of 3, t = 0.50 s", "Frame 3 of 3, t = 1.25 s",
    ]  # fmt: skip
    assert parts[2]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert parts[2]["image_url"]["detail"] == "high"
    assert reply.exchange.media == tuple(frame.sha256 for frame in clip)
    assert "base64" not in reply.exchange.model_dump_json()


def test_videos_only_where_the_server_takes_them():
    clip = (video(b"\0\0\0\x18ftypmp42"),)
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        with pytest.raises(InputError, match="video_url = true"):
            model(endpoint.url).ask_many([request(0, clip)], Verdict)
        reply = model(endpoint.url, video_url=True).ask_many([request(0, clip)], Verdict)[0]
    assert reply.usable
    assert endpoint.got[0].body["messages"][1]["content"][1]["type"] == "video_url"


def test_a_picture_that_vanished_costs_its_own_question_only(tmp_path):
    file = tmp_path / "frame.png"
    file.write_bytes(PNG)
    clip = frames([(0.0, file)])
    file.unlink()
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        replies = model(endpoint.url, concurrency=1).ask_many(
            [request(0, clip), request(1)], Verdict
        )
    assert [reply.outcome for reply in replies] == ["error", "ok"]
    assert "frame.png" in replies[0].reason


def test_the_key_goes_to_the_server_and_nowhere_else(tmp_path):
    def script(body, number):
        if number == 0:
            return failure(401, message=f"Incorrect API key provided: {KEY}")
        return completion(json.dumps({"verdict": True, "score": 4}) + f" {KEY}")

    heard = Heard()
    cache = ResponseCache(tmp_path)
    with FakeEndpoint(script) as endpoint:
        refused = model(endpoint.url, cache).ask_many([request()], Verdict, heard)[0]
        answered = model(endpoint.url, cache).ask_many([request()], Verdict, heard)[0]
        assert endpoint.got[0].headers["authorization"] == f"Bearer {KEY}"
    assert "[key]" in refused.reason
    assert answered.usable
    kept = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    for words in (kept, repr(heard), repr(refused), repr(answered), repr(settings("http://a/v1"))):
        assert KEY not in words


def test_a_server_without_key_gets_the_word_empty():
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        model(endpoint.url, api_key_env=None).ask_many([request()], Verdict)
        assert endpoint.got[0].headers["authorization"] == f"Bearer {NO_KEY}"
        with pytest.raises(InputError, match="NOT_SET"):
            model(endpoint.url, api_key_env="NOT_SET").ask_many([request()], Verdict)
    assert len(endpoint.got) == 1


def test_it_can_be_called_where_a_loop_is_running():
    async def inside(url):
        return model(url).ask_many([request()], Verdict)

    # In a thread of its own: a browser of other tests keeps a loop in the main one.
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint, ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, inside(endpoint.url)).result()[0].usable


def test_nothing_asked_is_nothing_sent():
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        assert model(endpoint.url).ask_many([], Verdict) == []
    assert endpoint.got == []
    assert coverage([]).share is None


def test_a_server_that_never_answers_is_left():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        reply = model(url, timeout_s=0.3, attempts=1).ask_many([request()], Verdict)[0]
    assert "no reply in 0.3 s" in reply.reason


def test_an_unwritable_cache_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        asking = model(endpoint.url, ResponseCache(tmp_path / "file"))
        with pytest.raises(InputError, match="cache cannot be"):
            asking.ask_many([request()], Verdict)


def test_a_budget_stops_the_run_before_it_is_exceeded():
    with FakeEndpoint(in_turn(completion(GOOD))) as endpoint:
        asking = model(endpoint.url, budget=Budget(calls=7), concurrency=3)
        heard = Heard()
        replies = asking.ask_many([request(i) for i in range(30)], Verdict, heard)
    assert len(endpoint.got) == 7
    assert coverage(replies).usable == 7
    assert heard.of("stopped")[0].detail == "the budget of 7 calls is used up"
    assert "budget" in replies[-1].reason


@pytest.mark.parametrize("usage", [{"prompt_tokens": 100, "completion_tokens": 10}, None])
def test_a_budget_in_dollars_is_never_crossed(usage):
    prices = {"usd_per_million_input": 1000.0, "usd_per_million_output": 1000.0}
    with FakeEndpoint(in_turn(completion(GOOD, usage=usage))) as endpoint:
        asking = model(endpoint.url, budget=Budget(usd=5.0), max_tokens=100, **prices)
        replies = asking.ask_many([request(i) for i in range(60)], Verdict)
    spent = len(endpoint.got) * 0.110
    assert 0 < coverage(replies).usable < 60
    assert spent <= 5.0
    if usage:
        # One call is set aside at about 0.5 USD and costs 0.11: the rest must be used, not lost.
        assert spent > 4.0


def test_a_budget_in_dollars_needs_prices():
    asking = model("http://127.0.0.1:9/v1", budget=Budget(usd=1.0))
    with pytest.raises(InputError, match="usd_per_million_input"):
        asking.ask_many([request()], Verdict)
