"""What a model that relates motion and text has to offer, for each way such models score.

Inside MotionJury every score is higher = better; a model whose own number is a distance negates
it and names it in ``native_metric``. Text and motion come as they are in a release: raw captions
and ``corpus.motion.Motion`` in the one frame of reference. What a model needs beyond that (tags,
features, frame rate, skeleton) is its own business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from corpus.motion import Motion

Choice = Literal["first", "second", "tie", "invalid"]
"""Which caption a forced choice took; ``invalid`` where the answer names neither."""


class Model(Protocol):
    """What every model says about itself."""

    @property
    def name(self) -> str:
        """Name in tables, e.g. ``TMR``."""

    @property
    def native_metric(self) -> str:
        """The number the model was published with, e.g. ``cosine``, ``negated Euclidean``."""

    @property
    def fingerprint(self) -> str:
        """Hash (hex) of weights and of every option that changes a score; keys the cache."""


@runtime_checkable
class EmbeddingModel(Model, Protocol):
    """A dual encoder: texts and motions become vectors of one space."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, D) in the order given; (0, D) for none."""

    def embed_motions(self, motions: Sequence[Motion]) -> NDArray[np.float32]:
        """Return (N, D) in the order given; (0, D) for none.

        Raises:
            corpus.problems.InputError: A motion the model cannot take (skeleton, length).
        """

    def similarity(
        self, text_embeddings: NDArray[Any], motion_embeddings: NDArray[Any]
    ) -> NDArray[np.float32]:
        """Return (N_texts, N_motions), finite, higher = better."""


@runtime_checkable
class FidEmbedding(Protocol):
    """A dual encoder whose FID is taken on other vectors than its retrieval (optional)."""

    def embed_motions_for_fid(self, motions: Sequence[Motion]) -> NDArray[np.float32]:
        """Return (N, E) in the order given; (0, E) for none.

        Raises:
            corpus.problems.InputError: As ``EmbeddingModel.embed_motions``.
        """


@runtime_checkable
class PairScorer(Model, Protocol):
    """A model that scores a text with a motion, such as a cross-encoder."""

    def score(self, texts: Sequence[str], motions: Sequence[Motion]) -> NDArray[np.float32]:
        """Return (N,) for N aligned pairs, finite, higher = better."""


@runtime_checkable
class LikelihoodModel(Model, Protocol):
    """A motion-to-text model, scored by the likelihood of a caption (STRIDE D.2)."""

    def log_likelihood(
        self, texts: Sequence[str], motions: Sequence[Motion]
    ) -> NDArray[np.float32]:
        """Return (N,) mean log-probability a caption token, in nats, for N aligned pairs.

        The end token counts; prompt and padding do not; each step is conditioned on the
        caption's own preceding tokens.
        """


@runtime_checkable
class ForcedChoiceModel(Model, Protocol):
    """A model that answers which of two captions fits a motion and gives no score (STRIDE D.2)."""

    def choose(
        self, motions: Sequence[Motion], first: Sequence[str], second: Sequence[str]
    ) -> list[Choice]:
        """Return for each of N aligned questions which caption fits; order is the model's care."""


@runtime_checkable
class SeesText(Protocol):
    """A model that can tell which captions are one to it (optional)."""

    def visible(self, text: str) -> str:
        """Return what is left of a text after truncation and unknown words.

        Two captions with the same visible text must get the same score with every motion.
        """


Scorer = EmbeddingModel | PairScorer | LikelihoodModel
"""Models that give a number for a text with a motion."""
