"""TMR (Petrovich et al. 2023): a transformer each for motion and for a language model's tokens.

Also TEMOS trained in TMR's repository (``model=temos``), which has the same layout.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.motion_input import body_features
from evaluators.vectors import NEAR, Vectors, cosine, device_of, in_batches, padded
from evaluators.weights import Weights

if TYPE_CHECKING:
    from torch import Tensor

    from corpus.motion import Motion
    from evaluators.models import ModelFiles
    from evaluators.text.vectors import TokenVectors

NAME = "TMR"
BATCH = 64
"""Clips or captions encoded together (ours)."""
TINY = 1e-12
"""Added to the standard deviation, as TMR's normaliser does."""


class MaskedMotion:
    """Features normalised and encoded with a mask, so that padding changes nothing."""

    def __init__(
        self,
        encoder: Any,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        device: Any,
        longest: int | None = None,
    ) -> None:
        """Keep encoder and statistics.

        Args:
            encoder: A ``SequenceEncoder`` on the device.
            mean: (F,).
            std: (F,).
            device: Where it runs.
            longest: Frames read; a longer clip is cut at its end. None reads all.

        Raises:
            InputError: Statistics of another width than the encoder takes, or a negative std.
        """
        self.features = int(encoder.projection.in_features)
        for name, array in (("mean", mean), ("std", std)):
            if array.shape != (self.features,):
                raise InputError(
                    f"{name}: the encoder takes {self.features} features, the statistics have "
                    f"shape {array.shape}"
                )
        if (std < 0).any():
            raise InputError(f"std: expected numbers from 0 up, got {std.min():g}")
        self._encoder, self._device, self._longest = encoder, device, longest
        self._mean, self._std = mean, std
        self.width = int(encoder.projection.out_features)

    def embed(self, features: Sequence[NDArray[Any]], names: Sequence[str]) -> Vectors:
        """Return (N, D), the mean of each clip's latent.

        Raises:
            InputError: Another width, or a clip without frames.
        """
        for clip, name in zip(features, names, strict=True):
            if clip.ndim != 2 or clip.shape[1] != self.features or not len(clip):
                raise InputError(
                    f"expected features of shape (T, {self.features}), got {clip.shape}", file=name
                )

        def encode(batch: list[int]) -> Any:
            rows = [(features[k][: self._longest] - self._mean) / (self._std + TINY) for k in batch]
            frames, mask = padded(rows)
            return self._encoder(frames.to(self._device), mask.to(self._device))[:, 0]

        read = [len(clip[: self._longest]) for clip in features]
        return in_batches(read, BATCH, encode, self.width, near=NEAR)


class Tmr:
    """A dual encoder of TMR's kind; vectors are the means of the latents."""

    native_metric = "cosine"

    def __init__(
        self,
        weights: Weights,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        vectors: TokenVectors,
        *,
        name: str = NAME,
        heads: int = 4,
        device: str = "auto",
        fingerprint: str = "",
    ) -> None:
        """Build the two encoders.

        Args:
            weights: ``motion_encoder.`` and ``text_encoder.``; the decoder is not needed.
            mean: (263,) of ``stats/humanml3d/guoh3dfeats/mean.pt``.
            std: (263,), as ``mean``.
            vectors: Token vectors of DistilBERT.
            name: Name in tables.
            heads: Attention heads.
            device: As ``device_of``.
            fingerprint: Hash of all of the above.

        Raises:
            InputError: Another model's checkpoint, a missing key, statistics or token vectors of
                another width.
        """
        from evaluators.networks.actor import sequence_encoder

        weights.require(NAME)
        self.name = name
        self.fingerprint = fingerprint
        self._device = device_of(device)
        text, more = sequence_encoder(weights.below("text_encoder."), heads)
        motion, other = sequence_encoder(weights.below("motion_encoder."), heads)
        if text.projection.in_features != vectors.width:
            raise InputError(
                f"token vectors: expected width {text.projection.in_features}, got {vectors.width}"
            )
        self._text = text.to(self._device)
        self._motion = MaskedMotion(motion.to(self._device), mean, std, self._device)
        self._vectors = vectors
        self.unused = (*more, *other)
        """Keys of the two encoders that have no place in the model."""
        self.notes = (f"token vectors: {vectors.id}",)
        """What decided the numbers beside the weights."""

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, D) of captions."""
        rows = self._vectors.rows(texts)

        def encode(batch: list[int]) -> Any:
            tokens, mask = padded([rows[k] for k in batch])
            return self._text(tokens.to(self._device), mask.to(self._device))[:, 0]

        return in_batches([len(row) for row in rows], BATCH, encode, self._motion.width, near=NEAR)

    def embed_motions(self, motions: Sequence[Motion]) -> Vectors:
        """Return (N, D); joints become features first. Any length is read."""
        return self.embed_features([body_features(m) for m in motions], [m.source for m in motions])

    def embed_features(
        self, features: Sequence[NDArray[Any]], names: Sequence[str] | None = None
    ) -> Vectors:
        """Return (N, D) of clips given as (T, 263) features, not normalised."""
        return self._motion.embed(features, names or [f"motion {k}" for k in range(len(features))])

    def similarity(self, text_embeddings: Vectors, motion_embeddings: Vectors) -> Vectors:
        """Return the cosines, (N_texts, N_motions)."""
        return cosine(text_embeddings, motion_embeddings)

    def visible(self, text: str) -> str:
        """Return what the language model reads of a caption."""
        return self._vectors.visible(text)


def open_model(files: ModelFiles) -> Tmr:
    """Open a run's folder; see ``evaluators.registry`` for the files.

    Raises:
        InputError: A file is missing or not what it should be.
    """
    return open_as(files, NAME)


def open_as(files: ModelFiles, name: str) -> Tmr:
    """Open a checkpoint of TMR's layout under another name, such as TEMOS.

    Raises:
        InputError: As ``open_model``.
    """
    from evaluators.text.vectors import open_vectors

    vectors = open_vectors(files.get("vectors"), files.get("bert"), device=files.device)
    heads = files.number("heads", _configured_heads(files.get("config")))
    mark = fingerprint(
        files.hashed("checkpoint", "motion_encoder", "text_encoder", "mean", "std"),
        {"tokens": vectors.fingerprint, "heads": heads, "name": name},
    )
    return Tmr(
        _weights(files),
        read_array(files["mean"]),
        read_array(files["std"]),
        vectors,
        name=name,
        heads=heads,
        device=files.device,
        fingerprint=mark,
    )


def _configured_heads(config: Path | None) -> int:
    """Return the attention heads a run's ``config.json`` names; 4 where it names none."""
    if config is None:
        return 4
    try:
        found = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"expected JSON: {error}", file=str(config)) from error
    for key in ("model", "motion_encoder", "num_heads"):
        found = found.get(key) if isinstance(found, dict) else None
    if found is None:
        return 4
    if not isinstance(found, int) or found < 1:
        raise InputError(
            f"expected a whole number above 0, got {found!r}",
            file=str(config),
            place="model.motion_encoder.num_heads",
        )
    return found


def _weights(files: ModelFiles) -> Weights:
    """Read the file that each encoder has, or the one checkpoint; what the user named wins."""
    parts = ("motion_encoder", "text_encoder")
    whole = files.named("checkpoint") and not any(files.named(part) for part in parts)
    if whole or (files.get("checkpoint") and not all(files.get(part) for part in parts)):
        return read_weights(files["checkpoint"], trust=files.trust)
    tensors: dict[str, Tensor] = {}
    for part in parts:
        weights = read_weights(files[part], trust=files.trust)
        weights.require("one encoder of TMR")
        tensors |= {f"{part}.{key}": weights[key] for key in weights.keys}
    return Weights(tensors, str(files["motion_encoder"]))
