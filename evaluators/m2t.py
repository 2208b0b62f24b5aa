"""Motion-to-text models as scorers: MotionGPT and MG-MotionLLM (STRIDE 3.1, D.2).

A motion becomes code numbers by the model's VQ-VAE, these become tokens in a prompt, and the
caption is scored token by token behind it. Captions stand without the quotation marks that all
these models were given half of the time in training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.likelihood import Pair, causal, seq2seq
from evaluators.motion_input import body_features
from evaluators.networks.vqvae import MotionCodes, motion_codes
from evaluators.text.vectors import load_transformers, local_tokenizer
from evaluators.vectors import device_of
from evaluators.weights import Weights

if TYPE_CHECKING:
    from pathlib import Path

    from corpus.motion import Motion
    from evaluators.models import ModelFiles

NATIVE_METRIC = "mean log-probability a caption token, nats"
MOTIONGPT, MG_MOTIONLLM = "MotionGPT", "MG-MotionLLM"
LONGEST = 256
"""Tokens of MotionGPT's prompt and of a caption that are read (its configuration)."""


class MotionTokenizer:
    """Motions to code numbers: normalised, cut to a multiple of the step, one by one."""

    def __init__(
        self, network: MotionCodes, mean: NDArray[np.float32], std: NDArray[np.float32], device: Any
    ) -> None:
        """Keep VQ-VAE and statistics.

        Raises:
            InputError: Statistics of another width, or a std that is not above 0.
        """
        for name, array in (("mean", mean), ("std", std)):
            if array.shape != (network.features,):
                raise InputError(
                    f"{name}: the VQ-VAE takes {network.features} features, the statistics have "
                    f"shape {array.shape}"
                )
        if (std <= 0).any():
            raise InputError(f"std: expected numbers above 0, got {std.min():g}")
        self._network = network.to(device)
        self._mean, self._std, self._device = mean, std, device
        self.codes = network.codes

    def codes_of(self, features: NDArray[Any], name: str = "motion") -> list[int]:
        """Return the code numbers of (T, 263) features, not normalised.

        Raises:
            InputError: Another width, or too few frames for one code.
        """
        import torch

        step = self._network.step
        if features.ndim != 2 or features.shape[1] != len(self._mean) or len(features) < step:
            raise InputError(
                f"expected at least {step} frames of {len(self._mean)} features, "
                f"got {features.shape}",
                file=name,
            )
        kept = len(features) // step * step
        normal = ((features[:kept] - self._mean) / self._std).astype(np.float32)
        with torch.inference_mode():
            codes = self._network(torch.from_numpy(normal).to(self._device))
        return [int(code) for code in codes.cpu()]


class CaptionLikelihood:
    """A motion-to-text model of any kind as a scorer."""

    native_metric = NATIVE_METRIC

    def __init__(
        self,
        name: str,
        forward: Callable[..., Any],
        prompt: Callable[[Motion], list[int]],
        caption: Callable[[str], list[int]],
        *,
        pad: int,
        decoder_only: bool = False,
        device: Any = None,
        fingerprint: str = "",
    ) -> None:
        """Put a scorer together; this is how a model from a checkout of its own is brought in.

        Args:
            name: Name in tables.
            forward: The model's forward pass, as ``evaluators.likelihood`` calls it.
            prompt: Token ids of the prompt for a motion.
            caption: Token ids of a caption, the end mark included.
            pad: Id of padding.
            decoder_only: Whether it is a single decoder (MotionGPT3, IRG-MotionLLM), not T5.
            device: Where the model is; None for the CPU.
            fingerprint: Hash of weights and options.
        """
        self.name = name
        self.fingerprint = fingerprint
        self._forward, self._prompt, self._caption = forward, prompt, caption
        self._pad, self._device = pad, device
        self._core = causal if decoder_only else seq2seq

    def log_likelihood(
        self, texts: Sequence[str], motions: Sequence[Motion]
    ) -> NDArray[np.float32]:
        """Return (N,) nats for N aligned pairs; a motion that comes often is read once.

        Raises:
            InputError: A motion the model cannot take.
            ValueError: Texts and motions are not equally many.
        """
        prompts: dict[int, list[int]] = {}
        pairs = []
        for text, motion in zip(texts, motions, strict=True):
            if id(motion) not in prompts:
                prompts[id(motion)] = self._prompt(motion)
            pairs.append(Pair(prompts[id(motion)], self._caption(text)))
        return self._core(self._forward, pairs, self._pad, self._device)

    def visible(self, text: str) -> str:
        """Return the token ids that are read of a caption."""
        return " ".join(map(str, self._caption(text)))


def open_motiongpt(files: ModelFiles) -> CaptionLikelihood:
    """Open MotionGPT: ``motiongpt_s3_h3d.tar`` and the folder of flan-t5-base's tokenizer.

    Raises:
        InputError: A file is missing or not what it should be, or transformers is not installed.
    """
    weights = read_weights(files["checkpoint"], trust=files.trust)
    weights.require(MOTIONGPT)
    device = device_of(files.device)
    codes, _ = motion_codes(weights.below("vae."))
    tokenizer, model = _t5_from(weights.below("lm.language_model."), files["t5"], codes.codes + 3)
    motions = MotionTokenizer(codes, read_array(files["mean"]), read_array(files["std"]), device)

    def prompt(motion: Motion) -> list[int]:
        numbers = motions.codes_of(body_features(motion), motion.source)
        marked = [codes.codes, *numbers, codes.codes + 1]
        words = "".join(f"<motion_id_{number}>" for number in marked)
        return _ids(tokenizer, f"Generate text: {words}")

    # Of the folder only configuration and tokenizer are read; its weights, if any, are not.
    read = sorted(p for p in files["t5"].iterdir() if p.suffix in (".json", ".model", ".txt"))
    mark = fingerprint(
        {**files.hashed("checkpoint", "mean", "std"), **{f"t5/{p.name}": p for p in read}}, {}
    )
    return _scorer(MOTIONGPT, tokenizer, model.to(device), prompt, device, mark)


def open_mg_motionllm(files: ModelFiles) -> CaptionLikelihood:
    """Open MG-MotionLLM: the folder of its T5 and ``pretrained_vqvae/t2m.pth``.

    Raises:
        InputError: A file is missing or not what it should be, or transformers is not installed.
    """
    weights = read_weights(files["vqvae"], trust=files.trust)
    weights.require("T2M-GPT's VQ-VAE")
    device = device_of(files.device)
    codes, _ = motion_codes(weights.below("vqvae."))
    tokenizer, model = load_transformers(files["model"], "T5ForConditionalGeneration")
    for token in ("<Motion Tokens>", "</Motion Tokens>", "<0>", f"<{codes.codes - 1}>"):
        if len(_ids(tokenizer, token, marks=False)) != 1:
            raise InputError(f"the tokenizer has no {token}", file=str(files["model"]))
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        raise InputError(
            f"the tokenizer has {len(tokenizer)} tokens, the model "
            f"{model.get_input_embeddings().num_embeddings}",
            file=str(files["model"]),
        )
    motions = MotionTokenizer(codes, read_array(files["mean"]), read_array(files["std"]), device)

    def prompt(motion: Motion) -> list[int]:
        numbers = motions.codes_of(body_features(motion), motion.source)
        words = "".join(f"<{number}>" for number in numbers)
        return _ids(tokenizer, f"Generate text: <Motion Tokens>{words}</Motion Tokens>")

    mark = fingerprint(files.hashed("model", "vqvae", "mean", "std"), {})
    return _scorer(MG_MOTIONLLM, tokenizer, model.to(device), prompt, device, mark)


def _scorer(
    name: str,
    tokenizer: Any,
    model: Any,
    prompt: Callable[[Motion], list[int]],
    device: Any,
    mark: str,
) -> CaptionLikelihood:
    return CaptionLikelihood(
        name,
        model,
        prompt,
        lambda text: _ids(tokenizer, text),
        pad=int(tokenizer.pad_token_id or 0),
        device=device,
        fingerprint=mark,
    )


def _ids(tokenizer: Any, text: str, *, marks: bool = True) -> list[int]:
    found = tokenizer(text, truncation=True, max_length=LONGEST, add_special_tokens=marks)
    return [int(k) for k in found["input_ids"]]


def _t5_from(weights: Weights, folder: Path, more_tokens: int) -> tuple[Any, Any]:
    """Build T5 in the sizes of a checkpoint, with the configuration and tokenizer of a folder."""
    try:
        import transformers
    except ImportError as error:
        raise InputError(
            "the library transformers is not installed: pip install motionjury[scorers]"
        ) from error
    try:
        tokenizer = local_tokenizer(folder)
        config = transformers.T5Config.from_pretrained(str(folder), local_files_only=True)
    # The library raises its own exceptions, some plain ones, for files that are not its own.
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be loaded: {words}", file=str(folder)) from error
    tokenizer.add_tokens([f"<motion_id_{number}>" for number in range(more_tokens)])
    config.vocab_size = weights.shape("shared.weight", 2)[0]
    if len(tokenizer) > config.vocab_size:
        raise InputError(
            f"the tokenizer has {len(tokenizer)} tokens with the motion's, the checkpoint "
            f"{config.vocab_size}",
            file=str(folder),
        )
    model = transformers.T5ForConditionalGeneration(config)
    weights.into(model)
    return tokenizer, model
