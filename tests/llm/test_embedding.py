"""Embedders: unit rows, what is sent, what is kept, what ends a run."""

from __future__ import annotations

import hashlib
import socket
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.problems import InputError
from llm.budget import Budget
from llm.embedding import TfidfEmbedder, embedder
from llm.embedding_endpoint import BATCH, EndpointEmbedder
from tests.llm.server import KEY, Answer, FakeEndpoint, failure
from tests.llm.world import ENV, settings

WALK = ["a person walks forward", "a person walks forward slowly", "someone kicks a ball"]


def vector(text: str) -> list[float]:
    """Return numbers that depend on the text alone."""
    return [float(byte) - 100.0 for byte in hashlib.sha256(text.encode()).digest()[:5]]


def vectors(body, number=0, **changed):
    """Answer with one vector for each text, the last one first."""
    texts = body["input"]
    rows = [{"index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
    usage = {"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)}
    return Answer({"object": "list", "data": rows[::-1], "usage": usage, **changed})


def endpoint(server, cache=None, budget=None, told=None, **changed):
    """Return an embedder behind a server."""
    return EndpointEmbedder(
        settings(server.url, **changed),
        cache,
        budget=budget,
        tell=None if told is None else told.append,
        environ=ENV,
    )


@given(st.lists(st.text(alphabet="abc é漢1 .", max_size=12), min_size=1, max_size=8))
def test_tfidf_rows_have_unit_length_or_are_zero(texts):
    rows = TfidfEmbedder().embed(texts)
    assert rows.dtype == np.float32
    assert rows.shape[0] == len(texts)
    norms = np.linalg.norm(rows, axis=1)
    has_word = [any(sign.isalnum() for sign in text) for text in texts]
    np.testing.assert_allclose(norms, np.array(has_word, float), atol=1e-5)


def test_tfidf_puts_like_captions_near_and_order_apart():
    rows = TfidfEmbedder(WALK).embed(WALK)
    cosines = rows @ rows.T
    assert cosines[0, 1] > 0.6 > cosines[0, 2]
    turns = ["walk then sit down", "sit down then walk"]
    apart = TfidfEmbedder(turns).embed(turns)
    assert apart[0] @ apart[1] < 0.95


def test_tfidf_names_what_it_was_fitted_on():
    one, same, other = TfidfEmbedder(WALK), TfidfEmbedder(WALK), TfidfEmbedder(WALK[:2])
    assert one.id == same.id != other.id
    assert TfidfEmbedder(["...", ""]).embed(["x"]).shape == (1, 0)


def test_an_endpoint_is_sent_each_text_once_and_its_order_does_not_matter():
    texts = [*WALK, WALK[0], "  "]
    with FakeEndpoint(vectors) as server:
        rows = endpoint(server).embed(texts)
    assert server.got[0].path == "/v1/embeddings"
    assert server.got[0].body["input"] == WALK
    assert server.got[0].body["model"] == "asked-model"
    expected = np.array([vector(t) for t in WALK])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(rows[:3], expected, atol=1e-6)
    np.testing.assert_array_equal(rows[3], rows[0])
    assert not rows[4].any()


def test_kept_vectors_are_not_asked_for_again(tmp_path):
    many = [f"caption {n}" for n in range(2 * BATCH + 1)]
    with FakeEndpoint(vectors) as server:
        first = endpoint(server, tmp_path).embed(many)
        assert len(server.got) == 3
        again = endpoint(server, tmp_path).embed([*many, "one more"])
        assert [got.body["input"] for got in server.got[3:]] == [["one more"]]
        np.testing.assert_array_equal(again[:-1], first)
        damaged = next(tmp_path.glob("??/*.npy"))
        damaged.write_bytes(b"not numpy")
        np.testing.assert_array_equal(endpoint(server, tmp_path).embed(many), first)
        assert len(server.got) == 5


def test_failures_are_tried_again_and_told():
    told: list[str] = []
    turns = [failure(500), failure(429, retry_after="0"), None]

    def script(body, number):
        return turns[number] or vectors(body)

    with FakeEndpoint(script) as server:
        rows = endpoint(server, told=told, attempts=3).embed(WALK)
    assert rows.shape == (3, 5)
    assert len(told) == 2
    assert all(KEY not in line for line in told)


def test_a_run_that_ends_early_keeps_what_came(tmp_path):
    many = [f"caption {n}" for n in range(3 * BATCH)]

    def script(body, number):
        return vectors(body) if number < 2 else failure(400, message="too long")

    with FakeEndpoint(script) as server:
        with pytest.raises(InputError, match="128 of 192 done"):
            endpoint(server, tmp_path, concurrency=1).embed(many)
        assert len(list(tmp_path.glob("??/*.npy"))) == 2 * BATCH


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"data": []}, "expected 3 vectors"),
        ({"data": [{"index": 0, "embedding": [1.0]}] * 3}, "expected 3 vectors"),
        (
            {"data": [{"index": i, "embedding": [1.0] * (1 + i)} for i in range(3)]},
            "all of one length",
        ),
        ({"data": [{"index": i, "embedding": ["a"]} for i in range(3)]}, "finite numbers"),
        ({"error": {"message": "boom"}}, "boom"),
    ],
)
def test_replies_that_are_no_embeddings_end_the_run(body, words):
    with FakeEndpoint(lambda *_: Answer(body)) as server, pytest.raises(InputError, match=words):
        endpoint(server, attempts=1).embed(WALK)


def test_an_endpoint_that_is_down_is_said():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    down = EndpointEmbedder(settings(f"http://127.0.0.1:{port}/v1", attempts=1), environ=ENV)
    with pytest.raises(InputError, match="no connection"):
        down.embed(WALK)


def test_the_budget_holds():
    with FakeEndpoint(vectors) as server:
        poor = endpoint(server, budget=Budget(calls=1), concurrency=1)
        with pytest.raises(InputError, match="budget of 1 calls"):
            poor.embed([f"caption {n}" for n in range(BATCH + 1)])
        assert len(server.got) == 1
        with pytest.raises(InputError, match="budget of 0 calls"):
            poor.embed(["one more"])
        assert (poor.calls, poor.spent.prompt) == (1, 3 * BATCH)


def test_a_specification_names_the_embedder(tmp_path, monkeypatch):
    assert embedder(corpus=WALK).id.startswith("tfidf:")
    made = embedder("endpoint:e5", settings=settings("http://localhost:9/v1"))
    assert made.id == "endpoint:localhost:9:e5"
    for spec, words in (
        ("word2vec", "expected one of tfidf"),
        ("endpoint:e5", "needs an endpoint"),
        (f"sentence-transformers:{tmp_path}", "modules.json"),
        (f"sentence-transformers:{tmp_path / 'absent'}", "expected a folder"),
    ):
        with pytest.raises(InputError, match=words):
            embedder(spec)
    (tmp_path / "modules.json").write_text("[]")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match="not installed"):
        embedder(f"sentence-transformers:{tmp_path}")


def test_a_local_encoder_is_loaded_from_its_folder_only(tmp_path, monkeypatch):
    made = []

    class Encoder:
        def __init__(self, folder, **options):
            made.append((folder, options))

        def encode(self, texts, **options):
            del options
            return np.array([[3.0, 4.0] if text else [0.0, 0.0] for text in texts])

    module = type(sys)("sentence_transformers")
    module.SentenceTransformer = Encoder
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    (tmp_path / "modules.json").write_text("[]")
    encoder = embedder(f"sentence-transformers:{tmp_path}")
    np.testing.assert_allclose(encoder.embed(["a", ""]), [[0.6, 0.8], [0.0, 0.0]])
    assert made == [(str(tmp_path), {"device": "cpu", "local_files_only": True})]
    (tmp_path / "weights.safetensors").write_bytes(b"other")
    assert embedder(f"sentence-transformers:{tmp_path}").id != encoder.id
