"""Which motions are right for a text: its own, those of the same caption, or of a close one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from metrics.retrieval_scores import Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Positives = Literal["own", "identical-caption", "threshold"]
"""``own``: the motion the text was written for. ``identical-caption``: every motion one of whose
captions is, letter by letter, this text (MotionPatches, SGAR). ``threshold``: every motion one of
whose captions is similar to this text (TMR's protocol b)."""

POSITIVES: tuple[Positives, ...] = get_args(Positives)
MOST_PAIRS = 20_000_000
"""More relevant pairs than this are refused: a caption that fits everything measures nothing."""
ASYMMETRY = 1e-4
"""Largest difference between the two halves of a matrix of text similarities."""


def real_threshold(threshold: float) -> float:
    """Return the cosine above which texts count as one; TMR scales cosines to 0..1 first.

    >>> round(real_threshold(0.95), 6)
    0.9
    """
    return 2 * threshold - 1


def relevant_pairs(
    text_motion: Ints,
    motions: int,
    *,
    positives: Positives = "own",
    captions: Sequence[str] | None = None,
    similar: csr_matrix | None = None,
) -> tuple[Ints, Ints]:
    """List the relevant pairs.

    Args:
        text_motion: (N,) own motion of each text; −1 where it is not among the motions.
        motions: Number of motions.
        positives: Which motions count beside the own one, which always does.
        captions: (N,) the texts; needed for ``identical-caption``.
        similar: (N, N) boolean; needed for ``threshold``.

    Returns:
        Text and motion of each pair, (P,) each, sorted, none twice.

    Raises:
        InputError: What the choice needs is missing, or the pairs are too many.
    """
    from scipy.sparse import csr_matrix

    texts = len(text_motion)
    present = np.flatnonzero(text_motion >= 0)
    if positives == "own":
        return present, text_motion[present]
    own = csr_matrix(
        (np.ones(len(present), dtype=np.int32), (present, text_motion[present])),
        shape=(texts, motions),
    )
    if positives == "identical-caption":
        if captions is None:
            raise InputError("positives identical-caption needs the captions")
        group = np.unique(np.asarray(captions, dtype=object).astype(str), return_inverse=True)[1]
        members = csr_matrix(
            (np.ones(texts, dtype=np.int32), (group, np.arange(texts))),
            shape=(int(group.max(initial=-1)) + 1, texts),
        )
        of_group = (members @ own).tocsr()
        many = int(np.diff(of_group.indptr)[group].sum())
        _refuse_many(many)
        reached = of_group[group]
    else:
        if similar is None:
            raise InputError("positives threshold needs text_similarity or sentence embeddings")
        _refuse_many(similar.nnz)
        reached = (similar.astype(np.int32) @ own + own).tocsr()
        _refuse_many(reached.nnz)
    pairs = reached.tocoo()
    order = np.lexsort((pairs.col, pairs.row))
    return pairs.row[order].astype(np.int64), pairs.col[order].astype(np.int64)


def similar_texts(similarity: NDArray[Any], threshold: float, file: str = "") -> csr_matrix:
    """Find the pairs of texts whose cosine is above TMR's threshold, strictly.

    Args:
        similarity: (N, N) cosines of the texts.
        threshold: On TMR's scale, 0..1; 0.95 means a cosine above 0.90.
        file: Name used in messages.

    Returns:
        (N, N) boolean.

    Raises:
        InputError: Another shape, NaN, or a matrix that is not symmetric.
    """
    texts = len(similarity)
    if similarity.shape != (texts, texts):
        raise InputError(
            f"text_similarity: expected shape (texts, texts), got {similarity.shape}", file=file
        )

    def blocks() -> Iterator[tuple[int, NDArray[Any]]]:
        for start in range(0, texts, 512):
            block = np.asarray(similarity[start : start + 512], dtype=np.float64)
            other = np.asarray(similarity[:, start : start + 512], dtype=np.float64).T
            if not np.isfinite(block).all():
                row, column = np.argwhere(~np.isfinite(block))[0]
                raise InputError(
                    f"text_similarity: NaN or infinity at row {start + row}, column {column}",
                    file=file,
                )
            if np.abs(block - other).max(initial=0.0) > ASYMMETRY:
                row, column = np.argwhere(np.abs(block - other) > ASYMMETRY)[0]
                raise InputError(
                    f"text_similarity: expected a symmetric matrix, row {start + row}, column "
                    f"{column} differs from its mirror",
                    file=file,
                )
            yield start, (block + other) / 2

    return _above(blocks(), texts, real_threshold(threshold))


def similar_sentences(sentences: NDArray[Any], threshold: float) -> csr_matrix:
    """Find the pairs of texts whose sentence embeddings have a cosine above TMR's threshold.

    Args:
        sentences: (N, D) embeddings of a sentence model, in the order of the texts.
        threshold: On TMR's scale, 0..1.

    Returns:
        (N, N) boolean.

    Raises:
        InputError: NaN or a row of zeros.
    """
    array = np.asarray(sentences, dtype=np.float64)
    length = np.linalg.norm(array, axis=1)
    bad = np.flatnonzero(~np.isfinite(length) | (length == 0))
    if len(bad):
        raise InputError(f"sentence embeddings: row {bad[0]} has no direction (rows from 0)")
    unit = array / length[:, None]
    blocks = ((start, unit[start : start + 512] @ unit.T) for start in range(0, len(unit), 512))
    return _above(blocks, len(unit), real_threshold(threshold))


def _above(blocks: Iterator[tuple[int, NDArray[Any]]], texts: int, limit: float) -> csr_matrix:
    from scipy.sparse import csr_matrix

    rows, columns, many = [], [], 0
    for start, block in blocks:
        row, column = np.nonzero(block > limit)
        many += len(row)
        _refuse_many(many)
        rows.append(row + start)
        columns.append(column)
    where = (np.concatenate(rows), np.concatenate(columns))
    return csr_matrix((np.ones(many, dtype=bool), where), shape=(texts, texts))


def _refuse_many(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise InputError(
            f"more than {MOST_PAIRS:,} pairs would count as relevant: captions that fit "
            "everything measure nothing; use positives own"
        )
