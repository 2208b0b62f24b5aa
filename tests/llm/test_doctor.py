"""`motionjury doctor` and the endpoint."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from llm.check import check_endpoint
from motionjury.cli import cli
from motionjury.workspace import init_workspace
from tests.llm.server import KEY, FakeEndpoint, completion, failure
from tests.llm.world import ENV, settings


@pytest.fixture
def doctor(tmp_path, monkeypatch):
    """Return a function that runs doctor in a workspace with an ``[llm]`` table."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEST_KEY", KEY)

    def run(table: str, name: str = "language model"):
        root = tmp_path / "ws"
        init_workspace(root)
        with (root / "workspace.toml").open("a") as file:
            file.write(table)
        result = CliRunner().invoke(cli, ["doctor", "-w", str(root), "--json"])
        checks = json.loads(result.stdout)["checks"]
        found = next(check for check in checks if check["name"] == name)
        return found["ok"], found["detail"], result.exit_code

    return run


def test_without_a_model_nothing_is_sent(doctor, monkeypatch):
    with FakeEndpoint(lambda body, number: completion('{"ready": true}')) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        ok, detail, code = doctor("")
    assert (ok, code, endpoint.got) == (True, 0, [])
    assert "nothing sent" in detail


def test_a_good_endpoint_is_asked_once(doctor):
    with FakeEndpoint(lambda body, number: completion('{"ready": true}')) as endpoint:
        table = f'[llm]\nmodel = "m"\nbase_url = "{endpoint.url}"\napi_key_env = "TEST_KEY"\n'
        ok, detail, code = doctor(table)
    assert (ok, code, len(endpoint.got)) == (True, 0, 1)
    assert "answering-model answered" in detail
    assert endpoint.got[0].body["max_tokens"] == 256


def test_the_model_of_a_stage_is_asked_too_and_gets_no_key_of_another_host(doctor):
    with FakeEndpoint(lambda body, number: completion('{"ready": true}')) as endpoint:
        table = (
            '[llm]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "TEST_KEY"\n'
            "attempts = 1\n"
            f'[llm.stages.verify]\nmodel = "other"\nbase_url = "{endpoint.url}"\n'
        )
        ok, detail, code = doctor(table, "language model of verify")
    assert (ok, code) == (True, 1)  # the endpoint of the other stages is down
    assert "answering-model answered" in detail
    assert [KEY in str(got.headers) for got in endpoint.got] == [False]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (failure(401, message=f"bad key {KEY}"), "key was refused"),
        (failure(500), "HTTP 500"),
        (completion("hello"), "invalid"),
        (completion(None, refusal="no"), "refused"),
    ],
)
def test_a_bad_endpoint_fails_in_one_line(doctor, answer, words):
    with FakeEndpoint(lambda body, number: answer) as endpoint:
        table = f'[llm]\nmodel = "m"\nbase_url = "{endpoint.url}"\napi_key_env = "TEST_KEY"\n'
        ok, detail, code = doctor(table)
    assert (ok, code) == (False, 1)
    assert words in detail
    assert KEY not in detail


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('[llm]\nmodel = "m"\nbase_url = "nonsense"\n', "base_url"),
        ('[llm]\nmodel = "m"\nmood = 1\n', "mood"),
        ('[llm]\nmodel = "m"\napi_key_env = "NOT_SET_AT_ALL"\n', "NOT_SET_AT_ALL"),
        ('llm = "m"\n', "expected a table"),
    ],
)
def test_bad_settings_fail_in_one_line(doctor, table, words):
    ok, detail, code = doctor(table)
    assert (ok, code) == (False, 1)
    assert words in detail


def test_an_endpoint_that_is_down_is_no_exception():
    found = check_endpoint(settings("http://127.0.0.1:9/v1"), ENV)
    assert not found.ok
    assert "no connection" in found.detail
