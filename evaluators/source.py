"""What suites ask for scores, and motions by id; ``model_source`` and ``file_source`` answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from corpus.motion import Motion
from corpus.problems import InputError

VARIANTS: dict[str, Callable[[Motion], Motion]] = {
    "mirrored": Motion.mirrored,
    "time_reversed": Motion.time_reversed,
}
"""Transformed motions a model can be asked about, by the word behind ``#`` in their id."""


class Text(NamedTuple):
    """A text and the id it goes by in score files."""

    id: str
    text: str


class ScoreSource(Protocol):
    """What a suite asks for scores; higher = better."""

    @property
    def name(self) -> str:
        """Name in tables."""

    @property
    def native_metric(self) -> str:
        """What the scores are."""

    @property
    def fingerprint(self) -> str:
        """Hash (hex) of what the scores come from: model, or file."""

    def pairs(self, texts: Sequence[Text], motion_ids: Sequence[str]) -> NDArray[np.float64]:
        """Return (N,) scores of N aligned pairs; NaN where the motion was refused.

        Raises:
            InputError: A pair has no score; the first is named and all are counted.
        """

    def refused(self, motion_ids: Iterable[str]) -> dict[str, str]:
        """Return why motions cannot be scored, by id; empty where all can."""

    def visible(self, text: str) -> str | None:
        """Return what the model sees of a text; None where it cannot tell."""

    @property
    def resolution(self) -> float:
        """Part of the largest score below which two scores are one; 0 compares exactly."""


class MotionLibrary:
    """Motions by id, read when a model wants them; variants are ``ID#mirrored`` and the like."""

    def __init__(self, motions: dict[str, tuple[str, Callable[[], Motion]]]) -> None:
        """Keep what is known.

        Args:
            motions: Content hash and reader by id.
        """
        self._motions = motions

    @classmethod
    def of(cls, motions: dict[str, Motion]) -> MotionLibrary:
        """Make a library of motions in memory."""

        def reader(motion: Motion) -> Callable[[], Motion]:
            return lambda: motion

        return cls({name: (m.content_hash(), reader(m)) for name, m in motions.items()})

    def __contains__(self, motion_id: str) -> bool:
        """Whether the motion, or the one that a variant is made of, is known."""
        return motion_id.partition("#")[0] in self._motions

    def content_hash(self, motion_id: str) -> str:
        """Return the hash a motion's vectors are kept under.

        Raises:
            InputError: The motion is not known.
        """
        known, _, variant = motion_id.partition("#")
        return self._entry(known)[0] + (f":{variant}" if variant else "")

    def load(self, motion_id: str) -> Motion:
        """Read a motion.

        Raises:
            InputError: It is not known, or its file cannot be read.
        """
        known, _, variant = motion_id.partition("#")
        motion = self._entry(known)[1]()
        return VARIANTS[variant](motion) if variant else motion

    def _entry(self, motion_id: str) -> tuple[str, Callable[[], Motion]]:
        found = self._motions.get(motion_id)
        if found is None:
            raise InputError(f"no motion {motion_id!r} in the corpus given")
        return found
