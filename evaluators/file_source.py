"""A file of scores as a score source: the user scored texts and motions themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.score_tables import LARGEST, read_score_table
from evaluators.scores import BLOCK, read_score_matrix
from evaluators.source import Text

Ints = NDArray[np.int64]
Look = Callable[[Ints, Ints], NDArray[np.float64]]
"""From places of texts and of motions, (P,) each, to scores, NaN where the file has none."""


class FileScores:
    """Scores by text id and motion id, of those pairs that the file has."""

    native_metric = "not stated"
    resolution = 0.0

    def __init__(
        self,
        name: str,
        fingerprint: str,
        texts: Mapping[str, int],
        motions: Mapping[str, int],
        look: Look,
    ) -> None:
        """Keep where the scores are; they stay in the file where it is mapped.

        Args:
            name: Name in tables.
            fingerprint: SHA-256 of the file, hex.
            texts: Place of each text id.
            motions: Place of each motion id.
            look: Looks scores up, higher = better.
        """
        self.name, self.fingerprint = name, fingerprint
        self._texts, self._motions, self._look = texts, motions, look

    def pairs(self, texts: Sequence[Text], motion_ids: Sequence[str]) -> NDArray[np.float64]:
        """Return (N,) scores of N aligned pairs.

        Raises:
            InputError: Pairs have no score; the first is named and all are counted.
        """
        row = np.array([self._texts.get(text.id, -1) for text in texts], dtype=np.int64)
        column = np.array([self._motions.get(name, -1) for name in motion_ids], dtype=np.int64)
        known = (row >= 0) & (column >= 0)
        found = np.full(len(row), np.nan)
        found[known] = self._look(row[known], column[known])
        lost = np.flatnonzero(np.isnan(found))
        if len(lost):
            wanted = [(text.id, name) for text, name in zip(texts, motion_ids, strict=True)]
            missing = sorted({wanted[place] for place in lost})
            text, motion = missing[0]
            raise InputError(
                f"{len(missing)} of {len(set(wanted))} pairs have no score, the first is text "
                f"{text!r} with motion {motion!r}",
                file=self.name,
            )
        return found

    def refused(self, motion_ids: Iterable[str]) -> dict[str, str]:
        """Return nothing: what a file lacks is an error, not a refusal."""
        return {}

    def visible(self, text: str) -> str | None:
        """Return None: a file does not tell what its model saw."""
        return None

    def knows_mirrored(self) -> bool:
        """Whether the file has scores of mirrored motions (``ID#mirrored``)."""
        return any(motion.endswith("#mirrored") for motion in self._motions)


def read_pair_scores(path: Path, name: str, higher_is_better: bool | None) -> FileScores:
    """Read scores of pairs: an NPZ matrix, or a table with one pair a row.

    Args:
        path: ``.npz`` as ``evaluators.scores`` reads it, though ``text_motion`` is not needed; or
            CSV, TSV or Parquet with ``text_id``, ``motion_id``, ``score``, not for all pairs.
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
        matrix = read_score_matrix(path, higher_is_better, owned=False)
        scores, sign = matrix.scores, matrix.sign
        for start in range(0, len(scores), BLOCK):
            if np.abs(np.asarray(scores[start : start + BLOCK], dtype=np.float64)).max() > LARGEST:
                raise InputError("scores: expected numbers up to 1e150", file=str(path))
        return FileScores(
            name,
            digest,
            _places(matrix.labels.text_ids),
            _places(matrix.labels.motion_ids),
            lambda row, column: sign * np.asarray(scores[row, column], dtype=np.float64),
        )
    table = read_score_table(path)
    sign = table.sign(higher_is_better)
    text_of, motion_of = table.text("text_id"), table.text("motion_id")
    table.refuse_repeats(["text_id", "motion_id"])
    values = sign * table.numbers("score")
    texts, motions = _places(dict.fromkeys(text_of)), _places(dict.fromkeys(motion_of))
    rows = zip(text_of, motion_of, strict=True)
    keys = np.array([texts[t] * len(motions) + motions[m] for t, m in rows], dtype=np.int64)
    order = np.argsort(keys)
    keys, values = keys[order], values[order]

    def look(row: Ints, column: Ints) -> NDArray[np.float64]:
        wanted = row * len(motions) + column
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, values[at], np.nan)

    return FileScores(name, digest, texts, motions, look)


def _places(ids: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(ids)}
