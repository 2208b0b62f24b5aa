"""ChronRet (Fujiwara et al. 2024): TMR with its language model trained along and in the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.motion_input import body_features
from evaluators.tmr import MaskedMotion
from evaluators.vectors import NEAR, Vectors, cosine, device_of, in_batches
from evaluators.weights import Weights

if TYPE_CHECKING:
    from corpus.motion import Motion
    from evaluators.models import ModelFiles
    from evaluators.text.wordpiece import WordPieces

NAME = "ChronRet"
FRAMES = 224
"""Frames of a clip that are read (its configuration)."""
TOKENS = 128
"""Word pieces of a caption that are read, marks included (its configuration)."""
BATCH = 64
"""Clips or captions encoded together (ours)."""


class ChronRet:
    """A dual encoder of ChronRet's kind; vectors are the means of the latents."""

    name = NAME
    native_metric = "cosine"

    def __init__(
        self,
        weights: Weights,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        pieces: WordPieces,
        *,
        heads: int = 4,
        bert_heads: int | None = None,
        device: str = "auto",
        fingerprint: str = "",
    ) -> None:
        """Build DistilBERT and the two encoders.

        Args:
            weights: ``text_model.text_model.``, ``text_encoder.`` and ``motion_encoder.``.
            mean: (263,) of TMR's statistics.
            std: (263,), as ``mean``.
            pieces: BERT's word pieces.
            heads: Attention heads of the two encoders.
            bert_heads: Those of DistilBERT; by default one for every 64 of its width.
            device: As ``device_of``.
            fingerprint: Hash of all of the above.

        Raises:
            InputError: Another model's checkpoint, a missing key, a vocabulary of another size,
                or a language model other than DistilBERT.
        """
        from evaluators.networks.actor import sequence_encoder
        from evaluators.networks.distilbert import distilbert

        weights.require(NAME)
        self.fingerprint = fingerprint
        self._device = device_of(device)
        bert, rest = distilbert(weights.below("text_model.text_model."), bert_heads)
        text, more = sequence_encoder(weights.below("text_encoder."), heads)
        motion, other = sequence_encoder(weights.below("motion_encoder."), heads)
        words = bert.embeddings.word_embeddings.num_embeddings
        if len(pieces) != words:
            raise InputError(f"vocab.txt: the model has {words} pieces, the file {len(pieces)}")
        self._bert, self._text = bert.to(self._device), text.to(self._device)
        self._motion = MaskedMotion(motion.to(self._device), mean, std, self._device, FRAMES)
        self._longest = min(TOKENS, bert.longest)
        self._pieces = pieces
        self.unused = (*more, *other, *rest)
        """Keys of the encoders that have no place in the model."""

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, D) of captions; 128 word pieces are read, marks included."""
        import torch

        rows = [self._pieces.ids(text, self._longest) for text in texts]

        def encode(batch: list[int]) -> Any:
            width = max(len(rows[k]) for k in batch)
            ids = torch.full((len(batch), width), self._pieces.pad, dtype=torch.long)
            mask = torch.zeros((len(batch), width), dtype=torch.bool)
            for place, k in enumerate(batch):
                ids[place, : len(rows[k])] = torch.tensor(rows[k])
                mask[place, : len(rows[k])] = True
            seen = mask.to(self._device)
            return self._text(self._bert(ids.to(self._device), seen), seen)[:, 0]

        return in_batches([len(row) for row in rows], BATCH, encode, self._motion.width, near=NEAR)

    def embed_motions(self, motions: Sequence[Motion]) -> Vectors:
        """Return (N, D); joints become features first. 224 frames are read."""
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
        """Return the word pieces that are read."""
        return self._pieces.visible(text, self._longest)


def open_model(files: ModelFiles) -> ChronRet:
    """Open a released checkpoint; see ``evaluators.registry`` for the files.

    Raises:
        InputError: A file is missing or not what it should be.
    """
    from evaluators.text.wordpiece import WordPieces

    return ChronRet(
        read_weights(files["checkpoint"], trust=files.trust),
        read_array(files["mean"]),
        read_array(files["std"]),
        WordPieces.read(files["vocab"]),
        heads=files.number("heads", 4),
        device=files.device,
        fingerprint=fingerprint(
            files.hashed("checkpoint", "mean", "std", "vocab"),
            {"heads": files.number("heads", 4), "frames": FRAMES, "tokens": TOKENS},
        ),
    )
