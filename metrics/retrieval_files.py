"""Pools for retrieval from files: a matrix of scores, or embeddings of texts and motions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.score_arrays import member, open_archive, read_embeddings
from evaluators.scores import (
    Labels,
    needed,
    read_labels,
    read_score_matrix,
    refuse_other_order,
    same_position,
)
from metrics.retrieval import Pool
from metrics.retrieval_relevance import similar_sentences, similar_texts
from metrics.retrieval_scores import EmbeddingScores, MatrixScores, Similarity, embedding_scores

EMBEDDED = ("text_embeddings", "motion_embeddings")


def read_pool(
    path: Path,
    *,
    higher_is_better: bool | None = None,
    similarity: Similarity = "cosine",
    threshold: float | None = None,
    device: str = "auto",
) -> Pool:
    """Read a pool from one file.

    Args:
        path: What ``evaluators.scores.read_score_matrix`` reads, or ``.npz`` with
            ``text_embeddings`` (N, D) and ``motion_embeddings`` (M, D) in place of ``scores``;
            then ids may be missing and are numbers.
        higher_is_better: What the user said of the scores; None where nothing.
        similarity: How embeddings are compared.
        threshold: TMR's threshold; texts above it count as one. The file then needs
            ``text_similarity`` (N, N) or ``sentence_embeddings`` (N, E). None: not asked for.
        device: As in ``metrics.retrieval_scores.embedding_scores``.

    Returns:
        The pool.

    Raises:
        InputError: Anything that cannot be used; the message names the file.
    """
    if path.suffix.lower() == ".npz":
        with open_archive(path) as archive:
            text, motion = (member(path, archive, name) for name in EMBEDDED)
            sentences = member(path, archive, "sentence_embeddings")
            if "scores.npy" not in archive.namelist() and not (text is None and motion is None):
                text, motion = (needed(path, archive, name) for name in EMBEDDED)
                scores = _embedded(text, motion, similarity, device, str(path))
                labels = read_labels(path, archive, len(text), len(motion), numbered=True)
                return _pool(
                    scores,
                    labels,
                    threshold,
                    member(path, archive, "text_similarity"),
                    sentences,
                    str(path),
                )
    else:
        sentences = None
    matrix = read_score_matrix(path, higher_is_better)
    return _pool(
        MatrixScores(matrix.scores, matrix.sign),
        matrix.labels,
        threshold,
        matrix.text_similarity,
        sentences,
        str(path),
    )


def read_embedding_pool(
    text: Path,
    motion: Path,
    *,
    similarity: Similarity = "cosine",
    threshold: float | None = None,
    device: str = "auto",
) -> Pool:
    """Read a pool from two files of embeddings.

    Args:
        text: ``.npy`` (N, D), row i for the text of motion i; or ``.npz`` with ``embeddings`` and
            what ``read_pool`` takes about texts: ``ids``, ``text_motion``, ``captions``,
            ``granularity``, ``text_similarity``, ``sentence_embeddings``.
        motion: ``.npy`` (M, D), or ``.npz`` with ``embeddings`` and ``ids``.
        similarity: How embeddings are compared.
        threshold: As in ``read_pool``.
        device: As in ``read_pool``.

    Returns:
        The pool.

    Raises:
        InputError: Anything that cannot be used.
    """
    text_array, text_ids = read_embeddings(text, "text embeddings")
    motion_array, motion_ids = read_embeddings(motion, "motion embeddings")
    scores = _embedded(text_array, motion_array, similarity, device, f"{text.name}, {motion.name}")
    texts, motions = scores.shape
    both_named = text_ids is not None and motion_ids is not None
    motion_ids = motion_ids or tuple(map(str, range(motions)))
    text_ids = text_ids or tuple(map(str, range(texts)))
    if text.suffix.lower() != ".npz":
        labels = Labels(text_ids, motion_ids, same_position(texts, motions, str(text)))
        return _pool(scores, labels, threshold, None, None, str(text))
    with open_archive(text) as archive:
        found = read_labels(text, archive, texts, motions, ids=(text_ids, motion_ids))
        if both_named and "text_motion.npy" not in archive.namelist():
            refuse_other_order(text_ids, motion_ids, str(text))
        return _pool(
            scores,
            found,
            threshold,
            member(text, archive, "text_similarity"),
            member(text, archive, "sentence_embeddings"),
            str(text),
        )


def _embedded(
    text: NDArray[Any], motion: NDArray[Any], similarity: Similarity, device: str, file: str
) -> EmbeddingScores:
    try:
        return embedding_scores(text, motion, similarity=similarity, device=device)
    except InputError as error:
        raise InputError(error.problem.reason, file=file) from error


def _pool(
    scores: MatrixScores | EmbeddingScores,
    labels: Labels,
    threshold: float | None,
    similarity: NDArray[Any] | None,
    sentences: NDArray[Any] | None,
    file: str,
) -> Pool:
    similar = None
    if threshold is not None:
        texts = len(labels.text_ids)
        if similarity is not None:
            if similarity.shape != (texts, texts):
                raise InputError(
                    f"text_similarity: expected shape ({texts}, {texts}), got {similarity.shape}",
                    file=file,
                )
            similar = similar_texts(similarity, threshold, file)
        elif sentences is not None:
            if sentences.ndim != 2 or len(sentences) != texts:
                raise InputError(
                    f"sentence_embeddings: expected shape ({texts}, E), got {sentences.shape}",
                    file=file,
                )
            similar = similar_sentences(np.asarray(sentences), threshold)
    return Pool(
        scores,
        labels.text_ids,
        labels.motion_ids,
        labels.text_motion,
        labels.captions,
        labels.granularity,
        similar,
    )
