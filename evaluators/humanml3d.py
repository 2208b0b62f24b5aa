"""The evaluator of HumanML3D (Guo et al. 2022): tagged words and 263 features, distances.

The one behind R-Precision, MM-Dist and FID of the text-to-motion papers. Its vectors depend on the
zeros behind a clip, so every clip is padded to 196 frames, as in its training.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.motion_input import body_features
from evaluators.vectors import Vectors, device_of, in_batches, negated_euclidean, padded
from evaluators.weights import Weights

if TYPE_CHECKING:
    from torch import Tensor

    from corpus.motion import Motion
    from evaluators.models import ModelFiles
    from evaluators.networks.guo import MovementEncoder
    from evaluators.text.glove import WordVectors
    from evaluators.text.tags import Tagged, Tagger

NAME = "HumanML3D evaluator"
UNIT = 4
"""Frames of a movement unit."""
CONTACTS = 4
"""Last features of a frame, which the encoder does not see."""
KIT_FEATURES = 251
"""Features of a frame of KIT-ML, contacts included."""
BATCH = 32
"""Clips encoded together (ours)."""


class Lengths(NamedTuple):
    """Frames a clip may have."""

    shortest: int = 40
    """Fewest; 24 for KIT-ML."""
    longest: int = 196
    """Frames read, and the length every clip is padded to; a longer clip is cut at its end."""


class MovementInput:
    """Normalises features and turns them into movement units; HumanML3D's evaluator and CLaM."""

    def __init__(
        self,
        encoder: MovementEncoder,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        lengths: Lengths,
        device: Any,
    ) -> None:
        """Keep the encoder and the statistics saved with it (``meta/mean.npy``, ``std.npy``).

        Raises:
            InputError: Statistics of another width than the encoder's, or a std of 0.
        """
        width = encoder.width + CONTACTS
        for name, array in (("mean", mean), ("std", std)):
            if array.shape != (width,):
                raise InputError(
                    f"{name}: the encoder takes {width} features, the statistics have shape "
                    f"{array.shape}"
                )
        if (std <= 0).any():
            raise InputError(f"std: expected numbers above 0, got {std.min():g}")
        self._encoder = encoder
        self._mean, self._std = mean, std
        self._lengths = lengths
        self._device = device
        self.longest = lengths.longest
        """Frames every clip is padded to."""

    def units(self, features: Sequence[NDArray[Any]]) -> tuple[Tensor, Tensor]:
        """Return units (N, longest // 4, out) and the number of them that each clip has, (N,)."""
        import torch

        rows = [self._normal(clip)[:, :-CONTACTS] for clip in features]
        frames, _ = padded(rows, self._lengths.longest)
        lengths = torch.tensor([len(row) // UNIT for row in rows])
        return self._encoder(frames.to(self._device)), lengths

    def check(self, features: Sequence[NDArray[Any]], names: Sequence[str]) -> None:
        """Refuse clips of another width or too short ones.

        Raises:
            InputError: Naming the clip.
        """
        for clip, name in zip(features, names, strict=True):
            if clip.ndim != 2 or clip.shape[1] != len(self._mean):
                raise InputError(
                    f"expected features of shape (T, {len(self._mean)}), got {clip.shape}",
                    file=name,
                )
            if len(clip) < self._lengths.shortest:
                raise InputError(
                    f"expected at least {self._lengths.shortest} frames at 20 fps, got {len(clip)}",
                    file=name,
                )

    def _normal(self, clip: NDArray[Any]) -> NDArray[np.float32]:
        kept = min(len(clip) // UNIT * UNIT, self._lengths.longest)
        normal: NDArray[np.float32] = ((clip[:kept] - self._mean) / self._std).astype(np.float32)
        return normal


class HumanML3DEvaluator:
    """A dual encoder of HumanML3D's kind; see the module."""

    name = NAME
    native_metric = "Euclidean distance, negated"

    def __init__(
        self,
        weights: Weights,
        mean: NDArray[np.float32],
        std: NDArray[np.float32],
        words: WordVectors,
        tagger: Tagger,
        *,
        lengths: Lengths | None = None,
        device: str = "auto",
        fingerprint: str = "",
    ) -> None:
        """Build the three encoders.

        Args:
            weights: ``text_encoder.``, ``motion_encoder.`` and ``movement_encoder.`` of
                ``text_mot_match/model/finest.tar``.
            mean: (263,) saved with the evaluator, not HumanML3D's ``Mean.npy``.
            std: (263,), as ``mean``.
            words: The GloVe vocabulary.
            tagger: Turns captions into tagged words.
            lengths: Frames a clip may have.
            device: As ``device_of``.
            fingerprint: Hash of all of the above.

        Raises:
            InputError: Another model's checkpoint, a missing key, statistics of another width.
        """
        from evaluators.networks import guo

        weights.require(NAME)
        self._device = device_of(device)
        text, more = guo.text_encoder(weights.below("text_encoder."))
        motion, other = guo.motion_encoder(weights.below("motion_encoder."))
        movement, rest = guo.movement_encoder(weights.below("movement_encoder."))
        if words.width != text.pos_emb.out_features:
            raise InputError(
                f"word vectors: expected width {text.pos_emb.out_features}, got {words.width}"
            )
        self._text = text.to(self._device)
        self._motion = motion.to(self._device)
        self._input = MovementInput(
            movement.to(self._device), mean, std, lengths or Lengths(), self._device
        )
        self._words = words
        self._tagger = tagger
        self.unused = (*more, *other, *rest)
        """Keys of the checkpoint that have no place in the model."""
        self.notes = (f"tags: {tagger.id}",)
        """What decided the numbers beside the weights."""
        self.fingerprint = fingerprint
        """As in ``evaluators.protocol.Model``."""
        self.width = weights.shape("text_encoder.output_net.3.weight", 2)[0]
        """Width of a vector."""

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return (N, D) of captions, tagged first."""
        return self.embed_tagged([self._tagger(text) for text in texts])

    def embed_tagged(self, captions: Sequence[Sequence[Tagged]]) -> Vectors:
        """Return (N, D) of captions already tagged; only the first 20 words are read."""
        import torch

        if not captions:
            return np.zeros((0, self.width), dtype=np.float32)
        vectors, tags, lengths = self._words.arrays(captions)

        def encode(batch: list[int]) -> Any:
            return self._text(
                torch.from_numpy(vectors[batch]).to(self._device),
                torch.from_numpy(tags[batch]).to(self._device),
                torch.from_numpy(lengths[batch]),
            )

        return in_batches(lengths.tolist(), 4 * BATCH, encode, self.width)

    def embed_motions(self, motions: Sequence[Motion]) -> Vectors:
        """Return (N, D); joints become features first.

        Raises:
            InputError: A skeleton without these joints, or fewer than 40 frames at 20 fps.
        """
        return self.embed_features(
            [body_features(motion) for motion in motions], [m.source for m in motions]
        )

    def embed_features(
        self, features: Sequence[NDArray[Any]], names: Sequence[str] | None = None
    ) -> Vectors:
        """Return (N, D) of clips given as features.

        Args:
            features: Each (T, 263), not normalised; cut to a multiple of 4 frames, at most 196.
            names: Names of the clips, for messages.

        Raises:
            InputError: Another width, or fewer than 40 frames.
        """
        self._input.check(features, names or [f"motion {k}" for k in range(len(features))])

        def encode(batch: list[int]) -> Any:
            return self._motion(*self._input.units([features[k] for k in batch]))

        return in_batches([self._input.longest] * len(features), BATCH, encode, self.width)

    def similarity(self, text_embeddings: Vectors, motion_embeddings: Vectors) -> Vectors:
        """Return minus the distances, (N_texts, N_motions)."""
        return negated_euclidean(text_embeddings, motion_embeddings)

    def visible(self, text: str) -> str:
        """Return the 20 words that are read, unknown ones alike."""
        return " ".join(f"{w}/{tag}" for w, tag in self._words.seen(self._tagger(text)))


def open_model(files: ModelFiles) -> HumanML3DEvaluator:
    """Open the released checkpoint; see ``evaluators.registry`` for the files.

    Raises:
        InputError: A file is missing or not what it should be.
    """
    from evaluators.text.glove import WordVectors
    from evaluators.text.tags import open_tagger

    tagger = open_tagger(files.get("texts"), files.option("spacy"))
    kit = files.choice("corpus", "t2m", "kit") == "kit"
    weights = read_weights(files["checkpoint"], trust=files.trust)
    mean = read_array(files["mean"])
    if kit and mean.shape != (KIT_FEATURES,):
        raise InputError(
            f"--option corpus=kit: expected {KIT_FEATURES} features, the statistics have shape "
            f"{mean.shape}; name KIT-ML's files with --file",
            file=str(files["mean"]),
        )
    print_ = fingerprint(files.hashed("checkpoint", "mean", "std", "glove"), {"tags": tagger.id})
    return HumanML3DEvaluator(
        weights,
        mean,
        read_array(files["std"]),
        WordVectors.read(files["glove"]),
        tagger,
        lengths=Lengths(shortest=24) if kit else Lengths(),
        device=files.device,
        fingerprint=print_,
    )
