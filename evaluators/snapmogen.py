"""SnapMoGen's evaluator (Guo et al. 2025): TMR's encoders on 148 features at 30 fps, T5 text.

Its features come from joint rotations by a processing of its own that we do not follow. They are
read from files, found by the motion's content, so that an edited motion never gets the features of
the one it was made from.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.tmr import BATCH
from evaluators.vectors import NEAR, Vectors, cosine, device_of, in_batches, padded
from evaluators.weights import Weights

if TYPE_CHECKING:
    from corpus.motion import Motion
    from evaluators.models import ModelFiles
    from evaluators.text.vectors import TokenVectors

NAME = "SnapMoGen"
FEATURES = 296
"""Width of its features: root 4, rotations 144, positions 72, velocities 72, contacts 4."""
SHORTEST, LONGEST, STEP = 120, 320, 8
"""Frames at 30 fps: fewest, most that are read, and the number they are cut to a multiple of."""


class FeatureFolder:
    """Features of motions by content: ``HASH.npy``, or ``index.csv`` with ``content_hash,file``."""

    def __init__(self, folder: Path) -> None:
        """Read the index, where there is one.

        Raises:
            InputError: No such folder, or an index without the two columns.
        """
        if not folder.is_dir():
            raise InputError("expected a folder of features", file=str(folder))
        self._folder = folder
        self._index: dict[str, Path] = {}
        index = folder / "index.csv"
        if index.is_file():
            try:
                with index.open(newline="", encoding="utf-8-sig") as file:
                    reader = csv.DictReader(file)
                    rows = list(reader)
            except (OSError, UnicodeDecodeError, csv.Error) as error:
                raise InputError(f"expected CSV in UTF-8: {error}", file=str(index)) from error
            if not {"content_hash", "file"} <= set(reader.fieldnames or ()):
                raise InputError("expected the columns content_hash and file", file=str(index))
            if any(row["file"] is None for row in rows):
                raise InputError("expected a file in every row", file=str(index))
            self._index = {row["content_hash"]: folder / row["file"] for row in rows}

    def of(self, motion: Motion) -> NDArray[np.float32]:
        """Return a motion's features.

        Raises:
            InputError: There are none for this content.
        """
        mark = motion.content_hash()
        file = self._index.get(mark, self._folder / f"{mark}.npy")
        if not file.is_file():
            raise InputError(
                f"expected features of {motion.source or 'a motion'} as {mark}.npy or in "
                "index.csv; mirrored and reversed motions need their own",
                file=str(self._folder),
            )
        return read_array(file)


class SnapMoGen:
    """A dual encoder of SnapMoGen's kind."""

    name = NAME
    native_metric = "cosine"

    def __init__(
        self,
        weights: Weights,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        vectors: TokenVectors,
        features: FeatureFolder | None = None,
        *,
        heads: int = 4,
        device: str = "auto",
        fingerprint: str = "",
    ) -> None:
        """Build the two encoders.

        Args:
            weights: ``latent_enc.`` and ``text_enc.`` of ``net_best_top1.tar``.
            mean: (296,) of ``meta_data/mean.npy``.
            std: (296,), as ``mean``.
            vectors: Token vectors of T5, 120 tokens.
            features: Where the features of motions are; None leaves ``embed_features``.
            heads: Attention heads.
            device: As ``device_of``.
            fingerprint: Hash of all of the above.

        Raises:
            InputError: Another model's checkpoint, a missing key, statistics or token vectors of
                another width.
        """
        from evaluators.networks.actor import linear_sequence_encoder

        weights.require(NAME)
        self._device = device_of(device)
        text, more = linear_sequence_encoder(weights.below("text_enc."), heads)
        motion, other = linear_sequence_encoder(weights.below("latent_enc."), heads)
        self._used = int(motion.projection.in_features)
        for name, array in (("mean", mean), ("std", std)):
            if array.ndim != 1 or len(array) < self._used:
                raise InputError(
                    f"{name}: expected at least {self._used} numbers, got shape {array.shape}"
                )
        if len(mean) != len(std):
            raise InputError(f"mean and std: expected one width, got {len(mean)} and {len(std)}")
        if (std[: self._used] <= 0).any():
            raise InputError(f"std: expected numbers above 0, got {std[: self._used].min():g}")
        if text.projection.in_features != vectors.width:
            raise InputError(
                f"token vectors: expected width {text.projection.in_features}, got {vectors.width}"
            )
        self._text, self._motion = text.to(self._device), motion.to(self._device)
        self._mean, self._std = mean, std
        self._vectors = vectors
        self._features = features
        self.fingerprint = fingerprint
        self.unused = (*more, *other)
        """Keys of the two encoders that have no place in the model."""
        self.notes = (f"token vectors: {vectors.id}",)
        """What decided the numbers beside the weights."""
        self.width = int(motion.projection.out_features)
        """Width of a vector."""

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, D) of captions."""
        rows = self._vectors.rows(texts)

        def encode(batch: list[int]) -> Any:
            tokens, mask = padded([rows[k] for k in batch])
            return self._text(tokens.to(self._device), mask.to(self._device))[:, 0]

        return in_batches([len(row) for row in rows], BATCH, encode, self.width, near=NEAR)

    def embed_motions(self, motions: Sequence[Motion]) -> Vectors:
        """Return (N, D) of motions whose features were given.

        Raises:
            InputError: No features for a motion, or fewer than 120 frames of them.
        """
        return self.embed_features(self._read(motions), [m.source for m in motions])

    def embed_motions_for_fid(self, motions: Sequence[Motion]) -> Vectors:
        """Return (N, D), the vectors its FID is taken on: those before the last linear layer.

        Raises:
            InputError: As ``embed_motions``.
        """
        return self._embed(self._read(motions), [m.source for m in motions], raw=True)

    def embed_features(
        self, features: Sequence[NDArray[Any]], names: Sequence[str] | None = None
    ) -> Vectors:
        """Return (N, D), the vectors of retrieval, of clips given as (T, 296) features.

        Args:
            features: At 30 fps, not normalised; cut to a multiple of 8 frames, at most 320.
            names: Names of the clips, for messages.

        Raises:
            InputError: Another width, or fewer than 120 frames.
        """
        return self._embed(features, names, raw=False)

    def _read(self, motions: Sequence[Motion]) -> list[NDArray[np.float32]]:
        if self._features is None:
            raise InputError("SnapMoGen's features are read from files: give --file features=DIR")
        return [self._features.of(motion) for motion in motions]

    def _embed(
        self, features: Sequence[NDArray[Any]], names: Sequence[str] | None, *, raw: bool
    ) -> Vectors:
        width = len(self._mean)
        for clip, name in zip(
            features, names or [f"motion {k}" for k in range(len(features))], strict=True
        ):
            if clip.ndim != 2 or clip.shape[1] != width:
                raise InputError(
                    f"expected features of shape (T, {width}), got {clip.shape}", file=name
                )
            if len(clip) < SHORTEST:
                raise InputError(
                    f"expected at least {SHORTEST} frames at 30 fps, got {len(clip)}", file=name
                )

        def encode(batch: list[int]) -> Any:
            rows = []
            for k in batch:
                kept = min(len(features[k]) // STEP * STEP, LONGEST)
                clip = features[k][:kept, : self._used]
                rows.append((clip - self._mean[: self._used]) / self._std[: self._used])
            frames, mask = padded(rows)
            before, behind = self._motion.both(frames.to(self._device), mask.to(self._device))
            return (before if raw else behind)[:, 0]

        read = [min(len(clip), LONGEST) for clip in features]
        return in_batches(read, BATCH, encode, self.width, near=NEAR)

    def similarity(self, text_embeddings: Vectors, motion_embeddings: Vectors) -> Vectors:
        """Return the cosines, (N_texts, N_motions)."""
        return cosine(text_embeddings, motion_embeddings)

    def visible(self, text: str) -> str:
        """Return the tokens that are read of a caption."""
        return self._vectors.visible(text)


def open_model(files: ModelFiles) -> SnapMoGen:
    """Open the released checkpoint; see ``evaluators.registry`` for the files.

    Raises:
        InputError: A file is missing or not what it should be.
    """
    from evaluators.text.vectors import open_vectors

    vectors = open_vectors(files.get("vectors"), files.get("t5"), t5=True, device=files.device)
    folder = files.get("features")
    heads = files.number("heads", 4)
    return SnapMoGen(
        read_weights(files["checkpoint"], trust=files.trust),
        read_array(files["mean"]),
        read_array(files["std"]),
        vectors,
        None if folder is None else FeatureFolder(folder),
        heads=heads,
        device=files.device,
        fingerprint=fingerprint(
            files.hashed("checkpoint", "mean", "std"),
            {"tokens": vectors.fingerprint, "heads": heads},
        ),
    )
