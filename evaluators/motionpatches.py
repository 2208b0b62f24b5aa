"""MotionPatches (Yu et al. 2024): joints as a picture for a vision transformer, DistilBERT text.

SGAR, built on it, opens through ``evaluators.sgar``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.motion_input import body_joints
from evaluators.vectors import NEAR, Vectors, cosine, device_of, in_batches
from evaluators.weights import Weights

if TYPE_CHECKING:
    from torch import Tensor

    from corpus.motion import Motion
    from evaluators.models import ModelFiles
    from evaluators.text.wordpiece import WordPieces

NAME = "MotionPatches"
FRAMES = 224
"""Frames that are read; a longer clip is cut at its end, a shorter one is followed by zeros."""
SAMPLES = 16
"""Samples along each chain of joints."""
CHAINS: tuple[tuple[int, ...], ...] = (
    (0, 2, 5, 8, 11),
    (0, 1, 4, 7, 10),
    (0, 3, 6, 9, 12, 15),
    (9, 14, 17, 19, 21),
    (9, 13, 16, 18, 20),
)
"""Right leg, left leg, torso, right arm, left arm, by ``SMPL22``."""
BATCH = 32
"""Clips encoded together (ours)."""


class MotionPatches:
    """A dual encoder of MotionPatches' kind."""

    native_metric = "cosine"

    def __init__(
        self,
        weights: Weights,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        pieces: WordPieces,
        *,
        name: str = NAME,
        chains: tuple[tuple[int, ...], ...] = CHAINS,
        motion_head: str = "motion_projection.",
        heads: tuple[int, int] | None = None,
        device: str = "auto",
        fingerprint: str = "",
    ) -> None:
        """Build the two encoders and their heads.

        Args:
            weights: ``motion_encoder.model.``, ``text_encoder.text_model.`` and the two heads.
            mean: (22, 3) of each joint and axis, metres (``Mean_raw.npy``).
            std: (22, 3), as ``mean``.
            pieces: BERT's word pieces.
            name: Key of ``evaluators.checkpoints.SIGNATURES``, and name in tables.
            chains: Joints of each body part, in the order they stand in the picture.
            motion_head: Prefix of the head of the motion's vector.
            heads: Attention heads of motion and text; by default one for every 64 of the width.
            device: As ``device_of``.
            fingerprint: Hash of all of the above.

        Raises:
            InputError: Another model's checkpoint, a missing key, statistics of another shape, a
                vocabulary of another size.
        """
        from evaluators.networks.distilbert import distilbert
        from evaluators.networks.vit import patch_transformer, projection_head

        weights.require(name)
        for what, array in (("mean", mean), ("std", std)):
            if array.shape != (22, 3):
                raise InputError(f"{what}: expected shape (22, 3), got {array.shape}")
        if (std <= 0).any():
            raise InputError(f"std: expected numbers above 0, got {std.min():g}")
        self.name = name
        self.fingerprint = fingerprint
        self._device = device_of(device)
        for_motion, for_text = heads or (None, None)
        motion, rest = patch_transformer(weights.below("motion_encoder.model."), for_motion)
        text, more = distilbert(weights.below("text_encoder.text_model."), for_text)
        motion_out, other = projection_head(weights.below(motion_head))
        text_out, last = projection_head(weights.below("text_projection."))
        words = text.embeddings.word_embeddings.num_embeddings
        if len(pieces) != words:
            raise InputError(f"vocab.txt: the model has {words} pieces, the file {len(pieces)}")
        self._motion, self._text = motion.to(self._device), text.to(self._device)
        self._motion_out = motion_out.to(self._device)
        self._text_out = text_out.to(self._device)
        self._mean, self._std = mean, std
        self._pieces = pieces
        self._chains = chains
        self.unused = (*rest, *more, *other, *last)
        """Keys of the encoders and heads that have no place in the model."""
        self.width = int(text_out.fc.out_features)
        """Width of a vector."""

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, D) of captions; as many word pieces are read as DistilBERT has positions."""
        import torch

        rows = [self._pieces.ids(text, self._text.longest) for text in texts]

        def encode(batch: list[int]) -> Any:
            width = max(len(rows[k]) for k in batch)
            ids = torch.full((len(batch), width), self._pieces.pad, dtype=torch.long)
            mask = torch.zeros((len(batch), width), dtype=torch.bool)
            for place, k in enumerate(batch):
                ids[place, : len(rows[k])] = torch.tensor(rows[k])
                mask[place, : len(rows[k])] = True
            states = self._text(ids.to(self._device), mask.to(self._device))
            return self._text_out(states[:, 0])

        return in_batches([len(row) for row in rows], 4 * BATCH, encode, self.width, near=NEAR)

    def embed_motions(self, motions: Sequence[Motion]) -> Vectors:
        """Return (N, D); 224 frames at 20 fps are read.

        Raises:
            InputError: A skeleton without these joints.
        """
        return self.embed_joints([body_joints(m) for m in motions], [m.source for m in motions])

    def embed_joints(
        self, clips: Sequence[NDArray[Any]], names: Sequence[str] | None = None
    ) -> Vectors:
        """Return (N, D) of clips given as (T, 22, 3) joints, metres, 20 fps.

        Args:
            clips: Joints of each clip; 224 frames are read.
            names: Names of the clips, for messages.

        Raises:
            InputError: Another shape.
        """
        for place, clip in enumerate(clips):
            if clip.ndim != 3 or clip.shape[1:] != (22, 3) or not len(clip):
                raise InputError(
                    f"expected joints of shape (T, 22, 3), got {clip.shape}",
                    file=names[place] if names else f"motion {place}",
                )

        def encode(batch: list[int]) -> Any:
            picture = self._pictures([clips[k] for k in batch])
            return self._motion_out(self._motion(picture.to(self._device)))

        return in_batches([FRAMES] * len(clips), BATCH, encode, self.width)

    def similarity(self, text_embeddings: Vectors, motion_embeddings: Vectors) -> Vectors:
        """Return the cosines, (N_texts, N_motions)."""
        return cosine(text_embeddings, motion_embeddings)

    def visible(self, text: str) -> str:
        """Return the word pieces that are read."""
        return self._pieces.visible(text, self._text.longest)

    def _pictures(self, clips: Sequence[NDArray[Any]]) -> Tensor:
        """Return (N, 3, 224, 80): frames down, the samples of one body part after the other."""
        import torch
        from torch.nn import functional

        picture = torch.zeros((len(clips), 3, FRAMES, SAMPLES * len(self._chains)))
        for place, clip in enumerate(clips):
            normal = ((clip[:FRAMES] - self._mean) / self._std).astype(np.float32)
            joints = torch.from_numpy(normal).permute(2, 0, 1)
            parts = [
                functional.interpolate(
                    joints[:, :, list(chain)], size=SAMPLES, mode="linear", align_corners=False
                )
                for chain in self._chains
            ]
            picture[place, :, : len(normal)] = torch.cat(parts, dim=2)
        return picture


def open_model(files: ModelFiles) -> MotionPatches:
    """Open a released checkpoint; see ``evaluators.registry`` for the files.

    Raises:
        InputError: A file is missing or not what it should be.
    """
    return open_as(files, NAME)


def open_as(
    files: ModelFiles,
    name: str,
    chains: tuple[tuple[int, ...], ...] = CHAINS,
    motion_head: str = "motion_projection.",
) -> MotionPatches:
    """Open a checkpoint of this layout under another name, such as SGAR.

    Raises:
        InputError: As ``open_model``.
    """
    from evaluators.text.wordpiece import WordPieces

    return MotionPatches(
        read_weights(files["checkpoint"], trust=files.trust),
        read_array(files["mean"]),
        read_array(files["std"]),
        WordPieces.read(files["vocab"]),
        name=name,
        chains=chains,
        motion_head=motion_head,
        device=files.device,
        fingerprint=fingerprint(
            files.hashed("checkpoint", "mean", "std", "vocab"), {"name": name, "chains": chains}
        ),
    )
