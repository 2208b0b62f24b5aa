"""Settings, waits, media, outcomes and costs, each by itself."""

from __future__ import annotations

import numpy as np
import pytest

from corpus.problems import InputError
from llm.budget import Budget, cost, estimate, prompt_tokens
from llm.cache import ResponseCache
from llm.media import encode_frame, frames, media_hashes, picture, video
from llm.outcome import Coverage, Reply, Usage, coverage, same_model_warning
from llm.requests import Question
from llm.retry import CallError, delay, retry_after, status_error
from llm.settings import KEY_ENV, OPENAI_URL, URL_ENV, LlmSettings, llm_settings
from tests.llm.server import FakeEndpoint, completion
from tests.llm.world import GOOD, Verdict, model, request, settings

PNG = b"\x89PNG\r\n\x1a\n"
LOCAL = "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("table", "environ", "expected"),
    [
        ({}, {}, None),
        ({}, {KEY_ENV: "k", URL_ENV: LOCAL}, None),
        ({"model": "m"}, {}, None),
        ({"model": "m"}, {KEY_ENV: "k"}, (OPENAI_URL, KEY_ENV)),
        ({"model": "m"}, {URL_ENV: LOCAL}, (LOCAL, None)),
        ({"model": "m"}, {URL_ENV: LOCAL, KEY_ENV: "k"}, (LOCAL, KEY_ENV)),
        ({"model": "m", "api_key_env": "MY_KEY"}, {}, (OPENAI_URL, "MY_KEY")),
        # A key that belongs to another host does not go to the one the table names.
        ({"model": "m", "base_url": LOCAL}, {KEY_ENV: "k"}, (LOCAL, None)),
        ({"model": "m", "base_url": LOCAL, "api_key_env": "K"}, {KEY_ENV: "k"}, (LOCAL, "K")),
    ],
)
def test_endpoint_and_key_belong_together(table, environ, expected):
    found = llm_settings(table, environ)
    assert (found and (found.base_url, found.api_key_env)) == expected


def test_options_win_over_the_table():
    table = {"model": "m", "base_url": LOCAL, "temperature": "none"}
    found = llm_settings(table, {}, model="n", seed=None, concurrency=3)
    assert "temperature" not in found.parameters()
    assert (found.model, found.concurrency, found.seed) == ("n", 3, None)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"modle": "m"}, "modle"),
        ({"concurrency": 0}, "concurrency"),
        ({"temperature": "hot"}, "temperature"),
        ({"base_url": "localhost:8000"}, "base_url"),
        ({"base_url": "http://me:hush@host/v1"}, "api_key_env"),
        ({"base_url": "http://host/v1?key=hush"}, "api_key_env"),
        ({"usd_per_million_input": -1}, "usd_per_million_input"),
    ],
)
def test_bad_settings_are_one_line(table, words):
    with pytest.raises(InputError, match=words) as caught:
        llm_settings({"model": "m", "base_url": LOCAL, **table}, {})
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("key", ["", " ", "two words", "schlüssel", "a\nb"])
def test_a_value_that_cannot_be_a_key_is_refused_unseen(key):
    with pytest.raises(InputError, match="TEST_KEY") as caught:
        settings(LOCAL).api_key({"TEST_KEY": key})
    assert not key.strip() or key not in str(caught.value)


def test_the_token_limit_has_the_name_the_endpoint_knows():
    assert settings(LOCAL).parameters() == {"temperature": 0.0, "max_tokens": 1024}
    assert "max_completion_tokens" in LlmSettings(model="m").parameters()
    given = settings(LOCAL, temperature=None, max_tokens_field="max_completion_tokens", seed=3)
    assert given.parameters() == {"seed": 3, "max_completion_tokens": 1024}
    assert settings(LOCAL, extra_body={"top_k": 1}).parameters()["top_k"] == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "Thu, 01 Jan 1970 00:01:40 GMT"}, 10.0),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
    ],
)
def test_retry_after_in_all_its_forms(headers, seconds):
    assert retry_after(headers, now=90.0) == seconds


def test_waits_grow_to_a_ceiling_and_spread():
    assert [delay(n, None, 60, 0) for n in range(1, 8)] == [0.5, 1, 2, 4, 8, 8, 8]
    assert delay(1000, None, 60, 0) == 8
    assert delay(3, None, 60, 0.999) == pytest.approx(1.5, abs=1e-3)
    assert delay(1, 30, 60, 0.999) == pytest.approx(30.25, abs=1e-3)
    assert delay(1, 0.0, 60, 0) == 0


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, None, "transient"), (429, "rate_limit_exceeded", "transient"),
        (429, "insufficient_quota", "fatal"), (500, None, "transient"), (529, None, "transient"),
        (401, None, "fatal"), (402, None, "fatal"), (403, None, "fatal"), (404, None, "fatal"),
        (400, None, "rejected"), (413, None, "rejected"), (422, None, "rejected"),
    ],
)  # fmt: skip
def test_what_follows_from_a_status(status, code, kind):
    error = status_error(status, code, "words", {"Retry-After": "3"})
    assert isinstance(error, CallError)
    assert error.kind == kind
    assert error.retry_after_s == (3.0 if kind == "transient" else None)
    assert "words" in error.reason


def test_frames_rise_in_time():
    for times in ((1.0, 0.5), (0.0, 0.0), (-1.0,), (float("nan"),), (float("inf"),)):
        with pytest.raises(ValueError, match="rising times"):
            frames([(t, PNG) for t in times])
    assert frames([]) == ()


def test_media_are_known_by_content(tmp_path):
    file = tmp_path / "a.png"
    file.write_bytes(PNG + b"1")
    held, lying = picture(PNG + b"1", "strip"), picture(file, "strip")
    assert held.sha256 == lying.sha256
    assert held.data_url() == lying.data_url()
    assert media_hashes([held]) == {"0000": held.sha256}
    file.write_bytes(PNG + b"2")
    with pytest.raises(InputError, match="changed"):
        lying.data_url()


def test_what_is_no_picture_or_video_is_refused(tmp_path):
    text = tmp_path / "a.png"
    text.write_text("no picture")
    for wrong in (text, b"", b"GIF89a", b"\0\0\0\x18ftypmp42"):
        with pytest.raises(InputError, match="PNG, JPEG or WebP"):
            picture(wrong)
    with pytest.raises(InputError, match="MP4"):
        video(PNG)
    with pytest.raises(InputError, match="cannot be read"):
        picture(tmp_path / "none.png")


def test_rendered_frames_are_encoded_the_same_every_time():
    from io import BytesIO

    from PIL import Image

    pixels = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    assert encode_frame(pixels) == encode_frame(pixels)
    assert (np.asarray(Image.open(BytesIO(encode_frame(pixels)))) == pixels).all()
    assert picture(encode_frame(pixels)).mime == "image/png"
    for wrong in (pixels[..., 0], pixels.astype(float)):
        with pytest.raises(ValueError, match="uint8"):
            encode_frame(wrong)


def test_coverage_keeps_failures_in_the_denominator():
    found = coverage(["ok", "repaired", "invalid", "error"])
    assert (found.usable, found.asked, found.share) == (2, 4, 0.5)
    assert set(found.counts) == {"ok", "repaired", "refused", "truncated", "invalid", "error"}
    assert Coverage.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    ("judge", "drafters", "warned"),
    [
        ("gpt-4o", ["gpt-4o"], True),
        ("openai/GPT-4o", ["gpt-4o-2024-08-06"], True),
        ("qwen3-vl", ["qwen3-vl-20250601", "gpt-4o"], True),
        ("gpt-4o-mini", ["gpt-4o"], False),
        ("gpt-4o", [], False),
    ],
)
def test_a_judge_that_drafted_is_named(judge, drafters, warned):
    assert (same_model_warning(judge, drafters) is not None) == warned


def test_a_reply_that_never_came_has_no_provenance():
    with pytest.raises(ValueError, match="q7"):
        Reply("q7", "error", None, "down").provenance()


def test_costs_and_unknown_prices():
    usage = Usage(prompt=2_000_000, completion=500_000)
    priced = settings(LOCAL, usd_per_million_input=3.0, usd_per_million_output=12.0)
    assert cost(usage, priced) == pytest.approx(2 * 3.0 + 0.5 * 12.0)
    assert cost(usage, settings(LOCAL, usd_per_million_input=3.0)) is None
    assert cost(usage, settings(LOCAL)) is None
    free = settings(LOCAL, usd_per_million_input=0.0, usd_per_million_output=0.0)
    assert cost(usage, free) == 0


def test_tokens_are_reckoned_below_their_bound():
    question = Question(request(media=frames([(0.0, PNG)])), settings(LOCAL), Verdict)
    thumb = prompt_tokens(question, settings(LOCAL))
    bound = prompt_tokens(question, settings(LOCAL), bound=True)
    assert 1_000 < thumb < bound
    assert prompt_tokens(question, settings(LOCAL, tokens_per_image=5)) == thumb - 995


def test_an_estimate_counts_what_is_left(tmp_path):
    cache = ResponseCache(tmp_path)
    asked = [request(0), request(1), request(1), request(2, frames([(0.0, PNG), (1.0, PNG)]))]
    with FakeEndpoint(lambda body, number: completion(GOOD)) as endpoint:
        asking = model(
            endpoint.url, cache, usd_per_million_input=1.0, usd_per_million_output=1000.0
        )
        asking.ask_many(asked[:1], Verdict)
        found = asking.estimate(asked, Verdict)
        assert len(endpoint.got) == 1
    counts = (found.requests, found.cached, found.doubled, found.calls, found.pictures)
    assert counts == (4, 1, 1, 2, 2)
    assert found.most_completion_tokens == 2 * 1024
    assert found.prompt_tokens > 2_000
    assert found.most_usd == pytest.approx(2.048 + found.prompt_tokens / 1e6)
    assert "2.05 USD" in found.line()
    assert "cost unknown" in estimate(asked, Verdict, settings(LOCAL)).line()


def test_budgets_are_no_negative_numbers():
    with pytest.raises(ValueError, match="usd"):
        Budget(usd=-1)
