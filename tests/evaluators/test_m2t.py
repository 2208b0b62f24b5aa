"""Likelihoods of captions: the two cores, MotionGPT and MG-MotionLLM on tiny checkpoints."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from corpus.problems import InputError
from evaluators.likelihood import Pair, causal, seq2seq
from evaluators.m2t import CaptionLikelihood, MotionTokenizer
from evaluators.networks.vqvae import motion_codes
from evaluators.protocol import LikelihoodModel
from evaluators.registry import open_model
from evaluators.weights import Weights
from tests.evaluators import layouts, reference

VOCABULARY = 30


def table(seed: int = 0) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    return torch.randn(VOCABULARY, VOCABULARY, generator=made)


def stub_decoder(input_ids, attention_mask):
    """The next token depends on this one alone, and on nothing behind a hole in the mask."""
    return SimpleNamespace(logits=table()[input_ids] * attention_mask[..., None])


def stub_seq2seq(input_ids, attention_mask, labels):
    """Token k depends on the label before it and on the sum of the prompt."""
    before = torch.cat((torch.zeros_like(labels[:, :1]), labels[:, :-1].clamp(min=0)), dim=1)
    total = (input_ids * attention_mask).sum(dim=1) % VOCABULARY
    return SimpleNamespace(logits=table()[before] + table(1)[total][:, None])


def log_softmax(row: np.ndarray) -> np.ndarray:
    return row - row.max() - math.log(np.exp(row - row.max()).sum())


def test_the_decoder_core_is_the_mean_over_caption_tokens() -> None:
    pairs = [Pair([3, 4, 5], [6, 7, 1]), Pair([2], [9, 1]), Pair([8, 8, 8, 8], [1])]
    rows = table().double().numpy()
    expected = []
    for pair in pairs:
        every = [*pair.prompt, *pair.caption]
        steps = range(len(pair.prompt), len(every))
        expected.append(np.mean([log_softmax(rows[every[k - 1]])[every[k]] for k in steps]))
    # The end mark is padding too, as in GPT-2: the first one counts, the others do not.
    np.testing.assert_allclose(causal(stub_decoder, pairs, pad=1), expected, atol=1e-5)


def test_the_encoder_decoder_core_is_the_mean_over_caption_tokens() -> None:
    pairs = [Pair([3, 4, 5], [6, 7, 1]), Pair([2], [9, 1]), Pair([8, 8, 8, 8], [1])]
    rows, more = table().double().numpy(), table(1).double().numpy()
    expected = []
    for pair in pairs:
        total = sum(pair.prompt) % VOCABULARY
        before = [0, *pair.caption[:-1]]
        steps = zip(before, pair.caption, strict=True)
        expected.append(np.mean([log_softmax(rows[a] + more[total])[b] for a, b in steps]))
    np.testing.assert_allclose(seq2seq(stub_seq2seq, pairs, pad=0), expected, atol=1e-5)


def test_a_uniform_model_gives_minus_log_of_the_vocabulary_whatever_the_length() -> None:
    def uniform(input_ids, attention_mask):
        return SimpleNamespace(logits=torch.zeros(*input_ids.shape, VOCABULARY))

    pairs = [Pair([1], [2] * n) for n in (1, 5, 17)]
    np.testing.assert_allclose(causal(uniform, pairs, 0), -math.log(VOCABULARY), atol=1e-6)


def test_an_empty_caption_or_prompt_is_an_error() -> None:
    with pytest.raises(ValueError, match="captions of at least one token"):
        seq2seq(stub_seq2seq, [Pair([1], [])], 0)
    with pytest.raises(ValueError, match="prompt of at least one token"):
        causal(stub_decoder, [Pair([], [1])], 0)


def test_the_decoder_core_equals_gpt2s_own_loss() -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(0)
    config = transformers.GPT2Config(vocab_size=VOCABULARY, n_embd=16, n_layer=2, n_head=2)
    model = transformers.GPT2LMHeadModel(config).eval()
    pairs = [Pair([3, 4, 5], [6, 7, 1]), Pair([2], [9, 1]), Pair([8] * 9, [4, 4, 4, 1])]
    expected = []
    for pair in pairs:
        ids = torch.tensor([[*pair.prompt, *pair.caption]])
        labels = ids.clone()
        labels[:, : len(pair.prompt)] = -100
        with torch.no_grad():
            expected.append(-float(model(input_ids=ids, labels=labels).loss))
    np.testing.assert_allclose(causal(model, pairs, pad=1), expected, atol=1e-5)


def test_codes_equal_a_plain_forward_pass() -> None:
    state = layouts.tensors(layouts.vqvae(), 3)
    network, extra = motion_codes(Weights(state, "vq"))
    assert extra == ("decoder.model.0.weight",)
    mean, std = layouts.statistics()
    tokens = MotionTokenizer(network, mean, std, "cpu")
    for clip in layouts.clips((118, 64, 7)):
        kept = len(clip) // 4 * 4
        normal = (clip[:kept].astype(np.float64) - mean) / std
        expected = reference.codes(reference.plain(state), normal)
        assert tokens.codes_of(clip) == expected
        assert len(expected) == len(clip) // 4
    assert len(set(tokens.codes_of(layouts.clips((196,))[0]))) > 3


def test_too_few_frames_for_a_code_are_refused_by_name() -> None:
    network, _ = motion_codes(Weights(layouts.tensors(layouts.vqvae()), "vq"))
    tokens = MotionTokenizer(network, *layouts.statistics(), "cpu")
    with pytest.raises(InputError, match="clip3: expected at least 4 frames"):
        tokens.codes_of(np.zeros((3, 263), np.float32), "clip3")


def test_a_model_of_the_users_own_is_a_likelihood_model() -> None:
    asked = []

    def prompt(motion) -> list[int]:
        asked.append(motion.source)
        return [5, motion.frames % VOCABULARY]

    model = CaptionLikelihood(
        "mine", stub_decoder, prompt, lambda text: [len(w) for w in text.split()] + [1],
        pad=1, decoder_only=True,
    )  # fmt: skip
    assert isinstance(model, LikelihoodModel)
    motion, other = layouts.motion(50), layouts.motion(61, source="made:2")
    texts = ["a person", "walks fast now", "sits"]
    together = model.log_likelihood(texts, [motion, other, motion])
    assert asked == ["made:1", "made:2"]
    alone = [
        model.log_likelihood([t], [m])[0]
        for t, m in zip(texts, [motion, other, motion], strict=True)
    ]
    np.testing.assert_allclose(together, alone, atol=1e-6)


def write_t5(folder: Path, extra: list[str], vocabulary: int):
    """A folder of a tiny T5 with a word tokenizer, as the hub has them."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    words = ["<pad>", "</s>", "<unk>", "Generate", "text", ":", "a", "person", "walks", "sits"]
    made = Tokenizer(WordLevel({w: k for k, w in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.add_tokens(extra)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=vocabulary, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2,
        feed_forward_proj="gated-gelu", decoder_start_token_id=0,
    )  # fmt: skip
    model = transformers.T5ForConditionalGeneration(config).eval()
    model.save_pretrained(folder)
    return tokenizer, model


def by_hand(tokenizer, model, prompt: str, caption: str) -> float:
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    labels = torch.tensor([tokenizer(caption)["input_ids"]])
    with torch.no_grad():
        return -float(model(input_ids=ids, labels=labels).loss)


def codes_by_hand(state: dict, motion) -> list[int]:
    from corpus.features import joints_to_features

    mean, std = layouts.statistics()
    features = joints_to_features(motion.positions).astype(np.float64)
    kept = len(features) // 4 * 4
    return reference.codes(reference.plain(state), (features[:kept] - mean) / std)


def write_statistics(folder: Path) -> None:
    mean, std = layouts.statistics()
    np.save(folder / "mean.npy", mean)
    np.save(folder / "std.npy", std)


def test_motiongpt_scores_as_its_own_forward_pass(tmp_path: Path) -> None:
    tokens = [f"<motion_id_{k}>" for k in range(23)]
    tokenizer, model = write_t5(tmp_path / "flan-t5-base", [], 40)
    vq = layouts.tensors(layouts.vqvae(), 3)
    state = {f"vae.{k}": v for k, v in vq.items()}
    state |= {f"lm.language_model.{k}": v for k, v in model.state_dict().items()}
    state["metrics.seen"] = torch.zeros(1)
    torch.save({"state_dict": state, "epoch": 1}, tmp_path / "motiongpt_s3_h3d.tar")
    (tmp_path / "meta").mkdir()
    write_statistics(tmp_path / "meta")
    opened = open_model("motiongpt", tmp_path)
    assert isinstance(opened, LikelihoodModel)
    tokenizer.add_tokens(tokens)
    motions = [layouts.motion(60), layouts.motion(97, source="made:2")]
    texts = ["a person walks", "sits"]
    expected = []
    for text, motion in zip(texts, motions, strict=True):
        marked = [20, *codes_by_hand(vq, motion), 21]
        prompt = "Generate text: " + "".join(f"<motion_id_{k}>" for k in marked)
        expected.append(by_hand(tokenizer, model, prompt, text))
    np.testing.assert_allclose(opened.log_likelihood(texts, motions), expected, atol=1e-4)
    with pytest.raises(InputError, match=r"model: expected one of"):
        open_model("motiongpt3", tmp_path)


def test_mg_motionllm_scores_as_its_own_forward_pass(tmp_path: Path) -> None:
    extra = [f"<{k}>" for k in range(20)] + ["<Motion Tokens>", "</Motion Tokens>"]
    tokenizer, model = write_t5(tmp_path / "m2t-ft-from-GSPretrained-small", extra, 40)
    vq = layouts.tensors(layouts.vqvae(), 3)
    torch.save({"net": {f"vqvae.{k}": v for k, v in vq.items()}}, tmp_path / "t2m.pth")
    (tmp_path / "meta").mkdir()
    write_statistics(tmp_path / "meta")
    opened = open_model("mg-motionllm", tmp_path)
    motion = layouts.motion(60)
    words = "".join(f"<{k}>" for k in codes_by_hand(vq, motion))
    prompt = f"Generate text: <Motion Tokens>{words}</Motion Tokens>"
    expected = [by_hand(tokenizer, model, prompt, t) for t in ("a person sits", "walks")]
    found = opened.log_likelihood(["a person sits", "walks"], [motion] * 2)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_tokenizer_without_the_motion_tokens_is_refused(tmp_path: Path) -> None:
    write_t5(tmp_path / "m2t-ft-from-GSPretrained-small", [], 40)
    vq = layouts.tensors(layouts.vqvae(), 3)
    torch.save({"net": {f"vqvae.{k}": v for k, v in vq.items()}}, tmp_path / "t2m.pth")
    (tmp_path / "meta").mkdir()
    write_statistics(tmp_path / "meta")
    with pytest.raises(InputError, match="the tokenizer has no <Motion Tokens>"):
        open_model("mg-motionllm", tmp_path)


def write_mg_motionllm(root: Path):
    extra = [f"<{k}>" for k in range(20)] + ["<Motion Tokens>", "</Motion Tokens>"]
    tokenizer, model = write_t5(root / "m2t-ft-from-GSPretrained-small", extra, 40)
    vq = layouts.tensors(layouts.vqvae(), 3)
    torch.save({"net": {f"vqvae.{k}": v for k, v in vq.items()}}, root / "t2m.pth")
    (root / "meta").mkdir()
    write_statistics(root / "meta")
    return tokenizer, model


def test_weights_that_the_library_would_draw_at_random_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    write_mg_motionllm(tmp_path)
    file = tmp_path / "m2t-ft-from-GSPretrained-small/model.safetensors"
    kept = load_file(file)
    key = "decoder.block.1.layer.1.EncDecAttention.q.weight"
    save_file({k: t for k, t in kept.items() if k != key}, file, {"format": "pt"})
    with pytest.raises(InputError, match=rf"the weights lack {key}$"):
        open_model("mg-motionllm", tmp_path)
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(InputError, match="cannot be loaded"):
        open_model("mg-motionllm", tmp_path)


def test_half_precision_is_scored_in_single(tmp_path: Path) -> None:
    _, model = write_mg_motionllm(tmp_path)
    full = open_model("mg-motionllm", tmp_path)
    model.half().save_pretrained(tmp_path / "m2t-ft-from-GSPretrained-small")
    half = open_model("mg-motionllm", tmp_path)
    assert isinstance(full, CaptionLikelihood)
    assert isinstance(half, CaptionLikelihood)
    assert half._forward.dtype == torch.float32  # type: ignore[attr-defined]
    scores = [m.log_likelihood(["a person sits"], [layouts.motion(60)]) for m in (full, half)]
    np.testing.assert_allclose(*scores, atol=1e-2)
    assert full.fingerprint != half.fingerprint


def test_a_tokenizer_larger_than_the_model_is_refused(tmp_path: Path) -> None:
    write_mg_motionllm(tmp_path)
    folder = tmp_path / "m2t-ft-from-GSPretrained-small"
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([f"more{k}" for k in range(20)])
    tokenizer.save_pretrained(folder)
    with pytest.raises(InputError, match="the tokenizer has 52 tokens, the model 40"):
        open_model("mg-motionllm", tmp_path)


def test_the_fingerprint_follows_what_is_read_of_the_language_models_folder(tmp_path: Path) -> None:
    _, model = write_t5(tmp_path / "flan-t5-base", [], 40)
    state = {f"vae.{k}": v for k, v in layouts.tensors(layouts.vqvae(), 3).items()}
    state |= {f"lm.language_model.{k}": v for k, v in model.state_dict().items()}
    torch.save({"state_dict": state}, tmp_path / "motiongpt_s3_h3d.tar")
    (tmp_path / "meta").mkdir()
    write_statistics(tmp_path / "meta")
    first = open_model("motiongpt", tmp_path).fingerprint
    (tmp_path / "flan-t5-base/model.safetensors").unlink()
    assert open_model("motiongpt", tmp_path).fingerprint == first
    config = tmp_path / "flan-t5-base/config.json"
    config.write_text(config.read_text().replace("gated-gelu", "gated-silu"))
    assert open_model("motiongpt", tmp_path).fingerprint != first


def test_code_in_a_folder_of_the_hub_is_never_run(tmp_path: Path) -> None:
    write_mg_motionllm(tmp_path)
    folder = tmp_path / "m2t-ft-from-GSPretrained-small"
    touched = tmp_path / "touched"
    (folder / "evil.py").write_text(
        f"from pathlib import Path\nPath({str(touched)!r}).touch()\nclass Evil: pass\n"
    )
    settings = {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Evil", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    open_model("mg-motionllm", tmp_path)
    assert not touched.exists()
    (folder / "model.safetensors").unlink()
    torch.save({"shared.weight": layouts.Trap(touched)}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="cannot be loaded"):
        open_model("mg-motionllm", tmp_path)
    assert not touched.exists()
