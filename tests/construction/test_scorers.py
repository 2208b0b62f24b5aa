"""Text-only scorers: files, endpoint, and small random models in the official folder layout."""

from __future__ import annotations

import math

import pytest

from construction.text.scorers import EchoScorer, FileScorer, ScorerNotRun, open_scorer
from corpus.problems import InputError
from llm.echo import EndpointEcho
from tests.llm.server import Answer, FakeEndpoint, failure
from tests.llm.world import ENV, settings

TEXTS = ["a man walks left .", "a man runs", "walks", ""]


@pytest.fixture(scope="module")
def torch():
    pytest.importorskip("transformers")
    found = pytest.importorskip("torch")
    found.manual_seed(3)
    return found


@pytest.fixture(scope="module")
def words(torch):
    """Return a word tokenizer as the library saves it."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    names = ["<pad>", "<end>", "<unk>", "a", "man", "walks", "runs", "left", "."]
    vocabulary = {name: place for place, name in enumerate(names)}
    plain = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        eos_token="<end>",
        unk_token="<unk>",
        model_max_length=64,
    )


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory, torch, words):
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("gpt2")
    config = GPT2Config(
        vocab_size=9, n_positions=8, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def test_a_causal_model_scores_tokens_and_end_after_the_start(gpt2, torch):
    from transformers import GPT2LMHeadModel

    scorer = open_scorer(f"hf-causal:{gpt2}")
    found = scorer.score(TEXTS)
    assert scorer.papers
    assert scorer.unit == "nats/token"
    assert found[3] is None
    model = GPT2LMHeadModel.from_pretrained(gpt2).eval()
    ids = torch.tensor([[1, 3, 4, 6, 1]])
    with torch.no_grad():
        logs = torch.log_softmax(model(ids).logits[0], -1)
    wanted = sum(float(logs[k, ids[0, k + 1]]) for k in range(4)) / 4
    assert found[1] == pytest.approx(wanted, abs=1e-5)
    alone = scorer.score([TEXTS[1]])[0]
    assert alone == pytest.approx(found[1], abs=1e-5)


def test_a_text_longer_than_the_model_reads_has_no_score(gpt2):
    scorer = open_scorer(f"hf-causal:{gpt2}")
    assert scorer.score(["walks " * 6, "walks " * 7]) == [
        pytest.approx(scorer.score(["walks " * 6])[0]),
        None,
    ]


def test_equal_folders_have_equal_fingerprints_and_other_weights_another(gpt2, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(gpt2, copy)
    first = open_scorer(f"hf-causal:{gpt2}").fingerprint
    assert open_scorer(f"hf-causal:{copy}").fingerprint == first
    weights = copy / "model.safetensors"
    raw = bytearray(weights.read_bytes())
    raw[-1] ^= 1
    weights.write_bytes(bytes(raw))
    assert open_scorer(f"hf-causal:{copy}").fingerprint != first


@pytest.fixture(scope="module")
def grammar(tmp_path_factory, torch, words):
    from transformers import BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("cola")
    config = BertConfig(
        vocab_size=9,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
        id2label={0: "unacceptable", 1: "acceptable"},
        label2id={"unacceptable": 0, "acceptable": 1},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def test_a_classifier_gives_the_probability_of_its_label(grammar):
    good = open_scorer(f"hf-classifier:{grammar}")
    bad = open_scorer(f"hf-classifier:{grammar}:unacceptable")
    assert good.id.endswith(":acceptable")
    pairs = list(zip(good.score(TEXTS), bad.score(TEXTS), strict=True))
    assert pairs[3] == (None, None)
    for one, other in pairs[:3]:
        assert one + other == pytest.approx(1, abs=1e-6)
    assert open_scorer(f"hf-classifier:{grammar}:0").score(TEXTS[:1]) == bad.score(TEXTS[:1])
    with pytest.raises(InputError, match="expected one of unacceptable, acceptable"):
        open_scorer(f"hf-classifier:{grammar}:fluent")


def test_vera_is_read_with_its_head_in_the_word_table(tmp_path, torch, words):
    from transformers import T5Config, T5EncoderModel

    config = T5Config(vocab_size=32128, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    model = T5EncoderModel(config).eval()
    with torch.no_grad():
        model.shared.weight[32097, 0] = 2.0
    model.save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    scorer = open_scorer(f"hf-classifier:{tmp_path}")
    found = scorer.score(TEXTS)
    with torch.no_grad():
        last = model(torch.tensor([[3, 4, 6]])).last_hidden_state[0, -1]
        table = model.shared.weight
        logit = float(last @ table[32099] + table[32098, 0]) / 2.0
    assert found[1] == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-5)
    assert found[3] is None


def test_what_cannot_work_here_says_why(tmp_path):
    with pytest.raises(ScorerNotRun, match="expected a folder with config.json"):
        open_scorer(f"hf-causal:{tmp_path / 'none'}")
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(ScorerNotRun):
        open_scorer(f"hf-causal:{tmp_path}")
    with pytest.raises(ScorerNotRun, match="no endpoint"):
        open_scorer("completions:base")
    with pytest.raises(InputError, match="--scorer: expected one of ngram"):
        open_scorer("gpt2")


def test_scores_of_a_file(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text(
        'text,score,scorer,unit\n"a man, left",-2.5,mine,nats/token\nwalks,0,mine,nats/token\n'
    )
    scorer = open_scorer(f"csv:{file}")
    assert scorer.score(["walks", "a man, left", "other"]) == [0.0, -2.5, None]
    assert (scorer.id, scorer.unit) == ("csv:mine", "nats/token")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("text\nx\n", "columns text and score"),
        ("text,score\nx,high\n", "line 2: expected a text and a finite score, got 'high'"),
        ("text,score\nx,nan\n", "finite score"),
        ("text,score\nx,1\nx,2\n", "line 3: this text has another score above"),
        ("text,score,scorer\nx,1,a\ny,2,b\n", "expected one scorer"),
    ],
)
def test_a_bad_file_of_scores_is_refused(tmp_path, content, said):
    file = tmp_path / "s.csv"
    file.write_text(content)
    with pytest.raises(InputError, match=said):
        FileScorer(file)


def echoed(body, number=0):
    """Echo words with ln p = -(their number), the first without, and one word more."""
    text = body["prompt"]
    tokens = [word if k == 0 else f" {word}" for k, word in enumerate(text.split(" "))]
    offsets, at = [], 0
    for token in tokens:
        offsets.append(at)
        at += len(token)
    table = {
        "tokens": [*tokens, " and"],
        "token_logprobs": [None, *(-float(k) for k in range(1, len(tokens))), -9.0],
        "text_offset": [*offsets, at],
    }
    choice = {"index": 0, "text": f"{text} and", "logprobs": table, "finish_reason": "length"}
    return Answer({"object": "text_completion", "model": "base", "choices": [choice]})


def scorer_of(server, cache=None, told=None, **changed):
    asked = settings(server.url, model="base", **changed)
    echo = EndpointEcho(asked, cache, tell=None if told is None else told.append, environ=ENV)
    return EchoScorer("base", asked.host, echo)


def test_echoed_log_probabilities_are_averaged_over_the_text_and_kept(tmp_path):
    with FakeEndpoint(echoed) as server:
        scorer = scorer_of(server, tmp_path)
        texts = ["a man walks", "walks", "", "a man walks"]
        assert scorer.score(texts) == [-1.5, None, None, -1.5]
        assert len(server.got) == 2
        assert server.got[0].path == "/v1/completions"
        assert server.got[0].body["echo"] is True
        assert scorer_of(server, tmp_path).score(texts) == [-1.5, None, None, -1.5]
        assert len(server.got) == 2


def test_offsets_are_made_up_for_where_a_server_gives_none():
    def bare(body, number):
        answer = echoed(body)
        del answer.body["choices"][0]["logprobs"]["text_offset"]
        return answer

    with FakeEndpoint(bare) as server:
        assert scorer_of(server).score(["a man walks left"]) == [-2.0]


def test_a_failing_call_is_tried_again():
    def flaky(body, number):
        return failure(500) if number == 0 else echoed(body)

    with FakeEndpoint(flaky) as server:
        assert scorer_of(server).score(["a man"]) == [-1.0]


def only_written(body, number):
    """Answer as servers do that know no echo: the words they wrote, and nothing of the text."""
    table = {"tokens": [" and"], "token_logprobs": [-1.0], "text_offset": [len(body["prompt"])]}
    text = body["prompt"] + " and"
    return Answer({"choices": [{"index": 0, "text": text, "logprobs": table}]})


def no_echo(body, number):
    table = {"tokens": [" and"], "token_logprobs": [-1.0]}
    return Answer({"choices": [{"index": 0, "text": " and", "logprobs": table}]})


def no_table(body, number):
    return Answer({"choices": [{"index": 0, "text": body["prompt"], "logprobs": None}]})


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (only_written, "of what it wrote, not of the text"),
        (no_echo, "does not echo"),
        (no_table, "no log-probabilities"),
        (lambda body, number: failure(503), "is down"),
        (lambda body, number: failure(404), "no such model or address"),
    ],
)
def test_an_endpoint_that_cannot_score_is_not_run_and_says_why(script, said):
    with FakeEndpoint(script) as server:
        with pytest.raises(ScorerNotRun, match=said):
            scorer_of(server, attempts=1).score([f"a man walks {k}" for k in range(20)])
        assert len(server.got) <= 8


def test_what_was_scored_before_the_endpoint_died_is_kept(tmp_path):
    def dying(body, number):
        return echoed(body) if number < 6 else failure(500)

    texts = [f"a man walks {k}" for k in range(20)]
    with FakeEndpoint(dying) as server, pytest.raises(ScorerNotRun, match="6 of 20 done"):
        scorer_of(server, tmp_path, attempts=1).score(texts)
    assert len(list(tmp_path.glob("??/*.json"))) == 6


def test_a_quoted_text_of_two_lines_is_one_text(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text('text,score\n"a man\njumps",-1.5\na\u2028b,-2\n', encoding="utf-8")
    assert FileScorer(file).score(["a man\njumps", "a\u2028b"]) == [-1.5, -2.0]
