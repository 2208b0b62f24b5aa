"""Scores of texts with motions from a user's file: an NPZ matrix, or a long table."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.score_arrays import member, open_archive, refuse_repeats
from evaluators.score_tables import EXACT, ScoreTable, direction, read_score_table

IntArray = NDArray[np.int64]
BLOCK = 512


@dataclass(frozen=True)
class Labels:
    """Which texts and motions a file is about."""

    text_ids: tuple[str, ...]
    """(N,) unique."""
    motion_ids: tuple[str, ...]
    """(M,) unique."""
    text_motion: IntArray
    """(N,): position of each text's own motion; -1 where it was not asked for."""
    captions: tuple[str, ...] | None = None
    """(N,) the texts, where the file has them."""
    granularity: tuple[str, ...] | None = None
    """(N,) granularity of each text, where the file has it."""


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores of every text with every motion, as a file has them."""

    scores: NDArray[Any]
    """(N, M), finite; mapped from the file where it is stored without compression."""
    sign: float
    """1 where higher is better, −1 where lower is."""
    labels: Labels
    """The N texts and M motions."""
    text_similarity: NDArray[Any] | None = None
    """(N, N) cosines of the texts, where the file has them; not checked here."""


def read_score_matrix(
    path: Path, higher_is_better: bool | None = None, *, owned: bool = True
) -> ScoreMatrix:
    """Read a matrix of scores.

    Args:
        path: ``.npz`` with ``scores`` (texts × motions), ``text_ids``, ``motion_ids``,
            ``text_motion`` (motion id of each text; by default the motion at the same position),
            ``higher_is_better``, and optionally ``captions``, ``granularity``,
            ``text_similarity``; or a CSV, TSV or Parquet table with ``text_id``, ``motion_id``,
            ``score`` and optionally ``text_motion`` (by default the text's id up to ``#``),
            ``caption``, ``granularity``, ``higher_is_better``.
        higher_is_better: What the user said; None where nothing.
        owned: Whether each text must have its own motion; where False, NPZ files need not say.

    Returns:
        The matrix.

    Raises:
        InputError: NaN, a missing pair, an id twice, shapes that do not fit, an own motion that is
            not there, or an unknown direction; the message names the file and the place.
    """
    if path.suffix.lower() != ".npz":
        return _from_table(read_score_table(path), higher_is_better)
    with open_archive(path) as archive:
        return _from_archive(path, archive, higher_is_better, owned)


def _from_archive(
    path: Path, archive: zipfile.ZipFile, said: bool | None, owned: bool
) -> ScoreMatrix:
    file = str(path)
    scores = needed(path, archive, "scores")
    if scores.ndim != 2 or scores.dtype.kind not in "fiu" or 0 in scores.shape:
        raise InputError(
            f"scores: expected a matrix of numbers (texts, motions), got {scores.dtype} of shape "
            f"{scores.shape}",
            file=file,
        )
    flag = member(path, archive, "higher_is_better")
    if flag is not None and (
        flag.size != 1 or flag.dtype.kind not in "biu" or int(flag.reshape(())) not in (0, 1)
    ):
        raise InputError("higher_is_better: expected one true or false", file=file)
    sign = direction(said, None if flag is None else bool(flag.reshape(())), file)
    who = read_labels(path, archive, scores.shape[0], scores.shape[1], owned=owned)
    check_finite(scores, who.text_ids, who.motion_ids, file)
    similarity = member(path, archive, "text_similarity")
    return ScoreMatrix(scores, sign, who, similarity)


def read_labels(
    path: Path,
    archive: zipfile.ZipFile,
    texts: int,
    motions: int,
    *,
    numbered: bool = False,
    ids: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
    owned: bool = True,
) -> Labels:
    """Read ids, own motions, captions and granularities of an NPZ file.

    Args:
        path: The file.
        archive: The file, opened.
        texts: Number of texts.
        motions: Number of motions.
        numbered: Texts and motions without ids are numbered; otherwise they are refused.
        ids: Of texts and motions, where they are known already.
        owned: Whether each text must have its own motion.

    Returns:
        The labels.

    Raises:
        InputError: Another number of them, an id twice, or an own motion that is not there.
    """
    file = str(path)
    if ids is None:
        ids = (
            _read_ids(path, archive, "text_ids", texts, numbered),
            _read_ids(path, archive, "motion_ids", motions, numbered),
        )
    owners = member(path, archive, "text_motion")
    if not owned:
        text_motion: IntArray = np.full(texts, -1, dtype=np.int64)
    elif owners is not None:
        words = _words(owners, "text_motion", texts, file)
        text_motion = own_motions(words, ids[1], file)
    else:
        text_motion = same_position(texts, motions, file)
        if not {"text_ids.npy", "motion_ids.npy"} - set(archive.namelist()):
            refuse_other_order(*ids, file)
    return Labels(
        *ids,
        text_motion,
        _about(path, archive, "captions", texts),
        _about(path, archive, "granularity", texts),
    )


def _about(path: Path, archive: zipfile.ZipFile, name: str, texts: int) -> tuple[str, ...] | None:
    found = member(path, archive, name)
    if found is None:
        return None
    words = _words(found, name, texts, str(path))
    if name == "granularity" and "" in words:
        raise InputError(f"granularity: text {words.index('')} has none (from 0)", file=str(path))
    return words


def _read_ids(
    path: Path, archive: zipfile.ZipFile, name: str, count: int, numbered: bool
) -> tuple[str, ...]:
    found = member(path, archive, name)
    if found is None and numbered:
        return tuple(map(str, range(count)))
    named = needed(path, archive, name) if found is None else found
    ids = _words(named, name, count, str(path))
    refuse_repeats(ids, name, str(path))
    return ids


def same_position(texts: int, motions: int, file: str) -> IntArray:
    """Pair each text with the motion at its position.

    Raises:
        InputError: Their numbers differ.
    """
    if texts != motions:
        raise InputError(
            f"{texts} texts and {motions} motions need text_motion, the motion id of each text",
            file=file,
        )
    return np.arange(texts, dtype=np.int64)


def refuse_other_order(text_ids: Sequence[str], motion_ids: Sequence[str], file: str) -> None:
    """Refuse to pair by position where every text is named after a motion, but not after its own.

    Raises:
        InputError: A text ``ID`` or ``ID#n`` stands beside another motion; the first is named.
    """
    known = set(motion_ids)
    named = [text if text in known else text.rsplit("#", 1)[0] for text in text_ids]
    if not known.issuperset(named):
        return
    for place, (own, beside) in enumerate(zip(named, motion_ids, strict=True)):
        if own != beside:
            raise InputError(
                f"text {text_ids[place]!r} stands beside motion {beside!r} (place {place}, from "
                "0): bring both into one order, or give text_motion, the motion id of each text",
                file=file,
            )


def needed(path: Path, archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return an array that must be there.

    Raises:
        InputError: There is none of that name.
    """
    found = member(path, archive, name)
    if found is None:
        known = ", ".join(sorted(entry.removesuffix(".npy") for entry in archive.namelist()))
        raise InputError(f"no array {name!r}, only {known or 'nothing'}", file=str(path))
    return found


def _words(array: NDArray[Any], name: str, count: int, file: str) -> tuple[str, ...]:
    if array.shape != (count,) or array.dtype.kind not in "USiu":
        raise InputError(
            f"{name}: expected {count} texts, got {array.dtype} of shape {array.shape}", file=file
        )
    if array.dtype.kind == "S":
        try:
            array = np.char.decode(array, "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{name}: expected UTF-8: {error.reason}", file=file) from error
    return tuple(map(str, array.tolist()))


def own_motions(owners: Sequence[str], motion_ids: Sequence[str], file: str) -> IntArray:
    """Find the own motion of each text.

    Args:
        owners: Motion id of each text.
        motion_ids: The motions.
        file: Name used in messages.

    Returns:
        (N,) positions.

    Raises:
        InputError: A motion that is not among them.
    """
    order = {name: place for place, name in enumerate(motion_ids)}
    for place, name in enumerate(owners):
        if name not in order:
            raise InputError(
                f"text_motion: {name!r} of text {place} (from 0) is not among the motions",
                file=file,
            )
    return np.array([order[name] for name in owners], dtype=np.int64)


def check_finite(
    scores: NDArray[Any], text_ids: Sequence[str], motion_ids: Sequence[str], file: str
) -> None:
    """Refuse a matrix with NaN or infinity, a block at a time.

    Raises:
        InputError: There are some; the first pair is named and all are counted.
    """
    if scores.dtype.kind in "iu":
        _refuse_huge(scores, file)
        return
    bad, first = 0, None
    for start in range(0, len(scores), BLOCK):
        block = np.asarray(scores[start : start + BLOCK])
        if np.isfinite(block).all():
            continue
        row, column = np.nonzero(~np.isfinite(block))
        bad += len(row)
        first = first or (start + int(row[0]), int(column[0]))
    if first is not None:
        value = float(scores[first])
        raise InputError(
            f"scores: {bad} not finite, the first is {value} at text {text_ids[first[0]]!r}, "
            f"motion {motion_ids[first[1]]!r}",
            file=file,
        )


def _refuse_huge(scores: NDArray[Any], file: str) -> None:
    """Refuse whole numbers that would tie as floats though they differ."""
    if scores.dtype.itemsize < 8:
        return
    for start in range(0, len(scores), BLOCK):
        block = np.asarray(scores[start : start + BLOCK])
        if block.max() > EXACT or block.min() < -EXACT:
            raise InputError(
                f"scores: whole numbers beyond {EXACT:,} cannot be told apart exactly", file=file
            )


def _from_table(table: ScoreTable, said: bool | None) -> ScoreMatrix:
    sign = table.sign(said)
    text, motion = table.text("text_id"), table.text("motion_id")
    table.refuse_repeats(["text_id", "motion_id"])
    values = table.numbers("score")
    texts = {name: place for place, name in enumerate(dict.fromkeys(text))}
    motions = {name: place for place, name in enumerate(dict.fromkeys(motion))}
    row = np.array([texts[name] for name in text])
    column = np.array([motions[name] for name in motion])
    scores = np.full((len(texts), len(motions)), np.nan)
    scores[row, column] = values
    missing = int(np.isnan(scores).sum())
    text_ids, motion_ids = tuple(texts), tuple(motions)
    if missing:
        at, other = np.argwhere(np.isnan(scores))[0]
        raise InputError(
            f"{missing} of {scores.size} pairs have no score, the first is text {text_ids[at]!r} "
            f"with motion {motion_ids[other]!r}",
            file=table.file,
        )
    first = np.unique(row, return_index=True)[1]

    def about(name: str) -> tuple[str, ...] | None:
        values = table.optional(name)
        if values is None:
            return None
        for place, value in enumerate(values):
            if value != values[first[row[place]]]:
                raise InputError(
                    f"text {text[place]!r} has another {name} than in "
                    f"{table.place(int(first[row[place]]))}",
                    file=table.file,
                    place=table.place(place),
                )
        return tuple(values[at] for at in first)

    owners = about("text_motion") or tuple(name.rsplit("#", 1)[0] for name in text_ids)
    labels = Labels(
        text_ids,
        motion_ids,
        own_motions(owners, motion_ids, table.file),
        about("caption"),
        about("granularity"),
    )
    return ScoreMatrix(scores, sign, labels)
