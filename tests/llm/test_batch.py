"""Batch files out and in."""

from __future__ import annotations

import json

import pytest

from corpus.problems import InputError
from llm.batch import export_batch, import_batch
from llm.cache import ResponseCache
from llm.requests import Question
from tests.llm.server import FakeEndpoint, completion
from tests.llm.world import GOOD, Verdict, model, request, settings

HOME = settings("http://a:1/v1")


def rows(file):
    """Return the lines of a JSONL file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def result(number, answer=None, status=200):
    """Return the line a batch service writes for a question."""
    body = (answer or completion(GOOD)).body
    key = Question(request(number), HOME, Verdict).key
    response = {"status_code": status, "request_id": f"r{number}", "body": body}
    return {"id": "b", "custom_id": key, "response": response, "error": None}


def test_out_and_in_and_then_nothing_is_left_to_ask(tmp_path):
    cache = ResponseCache(tmp_path / "cache")
    asked = [request(0), request(1), request(1), request(2)]
    out = export_batch(asked, Verdict, HOME, tmp_path / "out", cache)
    assert (out.lines, out.cached, out.doubled, len(out.files)) == (3, 0, 1, 1)
    lines = rows(out.files[0])
    assert lines[0]["url"] == "/v1/chat/completions"
    assert lines[0]["body"] == Question(request(0), HOME, Verdict).body()

    back = tmp_path / "back.jsonl"
    back.write_text("".join(json.dumps(result(n)) + "\n" for n in (2, 0, 1)))
    found = import_batch(asked, Verdict, HOME, [back], cache)
    assert found.problems == []
    assert [(reply.id, reply.outcome) for reply in found.replies] == [
        ("q0", "ok"), ("q1", "ok"), ("q1", "ok"), ("q2", "ok"),
    ]  # fmt: skip
    assert found.replies[3].exchange.request_id == "r2"

    replies = model(HOME.base_url, cache).ask_many(asked, Verdict)
    assert all(reply.from_cache for reply in replies)
    again = export_batch(asked, Verdict, HOME, tmp_path / "again", cache)
    assert (again.files, again.lines, again.cached) == ((), 0, 4)


def test_large_batches_are_parted(tmp_path):
    asked = [request(n) for n in range(7)]
    out = export_batch(asked, Verdict, HOME, tmp_path / "a", most_lines=3)
    assert [len(rows(file)) for file in out.files] == [3, 3, 1]
    size = out.files[2].stat().st_size
    out = export_batch(asked, Verdict, HOME, tmp_path / "b", most_bytes=2 * size + 10)
    assert [len(rows(file)) for file in out.files] == [2, 2, 2, 1]
    with pytest.raises(InputError, match="q0"):
        export_batch(asked, Verdict, HOME, tmp_path / "c", most_bytes=10)
    with pytest.raises(InputError, match="without batch"):
        export_batch(asked, Verdict, HOME, tmp_path / "a")


def test_what_the_service_could_not_answer_is_counted(tmp_path):
    asked = [request(n) for n in range(7)]
    lines = [
        json.dumps(result(0)).encode(),
        json.dumps(result(1, completion(None, refusal="no"))).encode(),
        json.dumps(result(2, completion("{}"))).encode(),
        json.dumps(result(3, completion("{", finish="length"))).encode(),
        json.dumps(result(4, status=500)).encode(),
        json.dumps({**result(5), "response": None, "error": {"message": "expired"}}).encode(),
        json.dumps({**result(0), "custom_id": "stranger"}).encode(),
        b"\xff\xfe",
        b"[1]",
        b"{",
        b"[" * 50_000,
        b"",
    ]
    file = tmp_path / "back.jsonl"
    file.write_bytes(b"\n".join(lines))
    cache = ResponseCache(tmp_path / "cache")
    found = import_batch(asked, Verdict, HOME, [file], cache)
    assert [reply.outcome for reply in found.replies] == [
        "ok", "refused", "invalid", "truncated", "error", "error", "error",
    ]  # fmt: skip
    assert "expired" in found.replies[5].reason
    assert "no answer" in found.replies[6].reason
    assert [problem.place for problem in found.problems] == [f"line {n}" for n in range(7, 12)]
    assert len(cache) == 1
    with pytest.raises(InputError, match="cannot be read"):
        import_batch(asked, Verdict, HOME, [tmp_path / "none.jsonl"], cache)


def test_an_answer_is_not_undone_by_a_later_error_line(tmp_path):
    file = tmp_path / "back.jsonl"
    file.write_text(json.dumps(result(0)) + "\n" + json.dumps(result(0, status=500)))
    found = import_batch([request(0)], Verdict, HOME, [file], ResponseCache(tmp_path / "c"))
    assert found.replies[0].usable


def test_exported_lines_are_what_a_server_answers(tmp_path):
    out = export_batch([request(0)], Verdict, HOME, tmp_path / "out")
    with FakeEndpoint(lambda body, number: completion(GOOD)) as endpoint:
        model(endpoint.url).ask_many([request(0)], Verdict)
    assert endpoint.got[0].body == rows(out.files[0])[0]["body"]
