"""A file of scores as a score source: the user scored texts and motions themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.score_tables import read_score_table
from evaluators.scores import read_score_matrix
from evaluators.source import Text


class FileScores:
    """Scores by text id and motion id, of those pairs that the file has."""

    native_metric = "not stated"
    resolution = 0.0

    def __init__(self, name: str, fingerprint: str, pairs: dict[tuple[str, str], float]) -> None:
        """Keep the scores.

        Args:
            name: Name in tables.
            fingerprint: SHA-256 of the file, hex.
            pairs: Score by text id and motion id, higher = better.
        """
        self.name, self.fingerprint, self._pairs = name, fingerprint, pairs

    def pairs(self, texts: Sequence[Text], motion_ids: Sequence[str]) -> NDArray[np.float64]:
        """Return (N,) scores of N aligned pairs.

        Raises:
            InputError: Pairs have no score; the first is named and all are counted.
        """
        wanted = [(text.id, name) for text, name in zip(texts, motion_ids, strict=True)]
        missing = sorted({pair for pair in wanted if pair not in self._pairs})
        if missing:
            text, motion = missing[0]
            raise InputError(
                f"{len(missing)} of {len(set(wanted))} pairs have no score, the first is text "
                f"{text!r} with motion {motion!r}",
                file=self.name,
            )
        return np.array([self._pairs[pair] for pair in wanted], dtype=np.float64)

    def refused(self, motion_ids: Iterable[str]) -> dict[str, str]:
        """Return nothing: what a file lacks is an error, not a refusal."""
        return {}

    def visible(self, text: str) -> str | None:
        """Return None: a file does not tell what its model saw."""
        return None

    def knows_mirrored(self) -> bool:
        """Whether the file has scores of mirrored motions (``ID#mirrored``)."""
        return any(motion.endswith("#mirrored") for _, motion in self._pairs)


def read_pair_scores(path: Path, name: str, higher_is_better: bool | None) -> FileScores:
    """Read scores of pairs: an NPZ matrix, or a table with one pair a row.

    Args:
        path: ``.npz`` as ``evaluators.scores`` reads it, or CSV, TSV or Parquet with ``text_id``,
            ``motion_id``, ``score``; the table need not have all pairs.
        name: Name in tables.
        higher_is_better: What the user said; None where nothing.

    Raises:
        InputError: NaN, a pair twice, or an unknown direction; the message names file and row.
    """
    import hashlib

    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    if path.suffix.lower() == ".npz":
        matrix = read_score_matrix(path, higher_is_better)
        values = matrix.sign * np.asarray(matrix.scores, dtype=np.float64)
        return FileScores(
            name,
            digest,
            {
                (text, motion): float(values[row, column])
                for row, text in enumerate(matrix.labels.text_ids)
                for column, motion in enumerate(matrix.labels.motion_ids)
            },
        )
    table = read_score_table(path)
    sign = table.sign(higher_is_better)
    texts, motions = table.text("text_id"), table.text("motion_id")
    table.refuse_repeats(["text_id", "motion_id"])
    scores = sign * table.numbers("score")
    return FileScores(
        name, digest, dict(zip(zip(texts, motions, strict=True), scores.tolist(), strict=True))
    )
