"""CLaM (Chen et al. 2024): HumanML3D's movement units, a causal transformer, CLIP's text tower."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.humanml3d import Lengths, MovementInput
from evaluators.motion_input import body_features
from evaluators.vectors import Vectors, cosine, device_of, in_batches, negated_euclidean
from evaluators.weights import Weights

if TYPE_CHECKING:
    from corpus.motion import Motion
    from evaluators.models import ModelFiles
    from evaluators.text.clip_bpe import BytePairs

NAME = "CLaM"
Metric = Literal["euclidean", "cosine"]
"""Its own script prints Euclidean distances unless told ``--use_topk_cosine``."""
BATCH = 16
"""Clips encoded together (ours)."""


class Clam:
    """A dual encoder of CLaM's kind."""

    name = NAME

    def __init__(
        self,
        weights: Weights,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        pairs: BytePairs,
        *,
        metric: Metric = "euclidean",
        heads: tuple[int, int] | None = None,
        device: str = "auto",
        fingerprint: str = "",
    ) -> None:
        """Build the three encoders.

        Args:
            weights: ``text_encoder.``, ``motion_encoder.`` and ``movement_encoder.`` of
                ``text_mot_match/model/finest.tar``.
            mean: (263,) saved with HumanML3D's evaluator.
            std: (263,), as ``mean``.
            pairs: CLIP's byte pairs.
            metric: Which of its two scores.
            heads: Attention heads of motion and text; by default one for every 64 of the width.
            device: As ``device_of``.
            fingerprint: Hash of all of the above.

        Raises:
            InputError: Another model's checkpoint, a missing key, a vocabulary of another size.
        """
        from evaluators.networks.clip import motion_transformer, text_tower
        from evaluators.networks.guo import movement_encoder

        weights.require(NAME)
        self._device = device_of(device)
        for_motion, for_text = heads or (None, None)
        text, more = text_tower(weights.below("text_encoder."), for_text)
        motion, other = motion_transformer(weights.below("motion_encoder."), for_motion)
        movement, rest = movement_encoder(weights.below("movement_encoder."))
        words = text.token_embedding.num_embeddings
        if len(pairs) != words:
            raise InputError(f"byte pairs: the model has {words} tokens, the file {len(pairs)}")
        units = len(motion.positional_embedding) - 1
        self._text, self._motion = text.to(self._device), motion.to(self._device)
        self._context = len(text.positional_embedding)
        self._input = MovementInput(
            movement.to(self._device), mean, std, Lengths(longest=units * 4), self._device
        )
        self._pairs = pairs
        self._metric = metric
        self.native_metric = "cosine" if metric == "cosine" else "Euclidean distance, negated"
        self.unused = (*more, *other, *rest)
        """Keys of the checkpoint that have no place in the model."""
        self.notes = (f"metric: {metric}",)
        """What decided the numbers beside the weights."""
        self.fingerprint = fingerprint
        self.width = int(text.text_projection.shape[1])
        """Width of a vector."""

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, D) of captions; 75 byte pairs are read."""
        import torch

        ids = self._pairs.array(texts, self._context)

        def encode(batch: list[int]) -> Any:
            return self._text(torch.from_numpy(ids[batch]).to(self._device))

        return in_batches([self._context] * len(texts), 4 * BATCH, encode, self.width)

    def embed_motions(self, motions: Sequence[Motion]) -> Vectors:
        """Return (N, D); joints become features first.

        Raises:
            InputError: A skeleton without these joints, or fewer than 40 frames at 20 fps.
        """
        return self.embed_features([body_features(m) for m in motions], [m.source for m in motions])

    def embed_features(
        self, features: Sequence[NDArray[Any]], names: Sequence[str] | None = None
    ) -> Vectors:
        """Return (N, D) of clips given as (T, 263) features, not normalised.

        Raises:
            InputError: Another width, or fewer than 40 frames.
        """
        self._input.check(features, names or [f"motion {k}" for k in range(len(features))])

        def encode(batch: list[int]) -> Any:
            return self._motion(*self._input.units([features[k] for k in batch]))

        return in_batches([self._input.longest] * len(features), BATCH, encode, self.width)

    def similarity(self, text_embeddings: Vectors, motion_embeddings: Vectors) -> Vectors:
        """Return the cosines or minus the distances, (N_texts, N_motions)."""
        measure = cosine if self._metric == "cosine" else negated_euclidean
        return measure(text_embeddings, motion_embeddings)

    def visible(self, text: str) -> str:
        """Return the byte pairs that are read."""
        return self._pairs.visible(text, self._context)


def open_model(files: ModelFiles) -> Clam:
    """Open the released checkpoint; see ``evaluators.registry`` for the files.

    Raises:
        InputError: A file is missing or not what it should be.
    """
    from evaluators.text.clip_bpe import BytePairs

    metric: Metric = (
        "cosine" if files.choice("metric", "euclidean", "cosine") == "cosine" else "euclidean"
    )
    return Clam(
        read_weights(files["checkpoint"], trust=files.trust),
        read_array(files["mean"]),
        read_array(files["std"]),
        BytePairs.read(files["bpe"]),
        metric=metric,
        device=files.device,
        fingerprint=fingerprint(
            files.hashed("checkpoint", "mean", "std", "bpe"), {"metric": metric}
        ),
    )
