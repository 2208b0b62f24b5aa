"""Scores of texts with motions, a block at a time; memory does not grow with their product.

A block is an array of numpy, or of torch on a device; the counting in ``metrics.retrieval_ranks``
takes both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError

Similarity = Literal["cosine", "dot", "euclidean"]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)
Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]

BLOCK_BYTES = 24 << 20
"""Size of a block of scores. Larger ones are no faster: the counting wants them in the cache."""
_FEWEST, _MOST = 64, 1024
_LONGEST = 1e36
"""Squared length of an embedding, at most; products of two stay below the largest float32."""
WORTH_A_GPU = 50_000_000
"""From this many scores on torch is imported to look for a GPU."""


class Scores(Protocol):
    """Where scores come from; higher = better."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of texts and motions."""

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return the score of each named pair, (P,), finite."""

    @property
    def starts(self) -> range:
        """First texts of the blocks."""

    @property
    def workers(self) -> int:
        """How many threads may go through the blocks at once."""

    def blocks(
        self, rows: Ints, columns: Ints, values: Floats, starts: range
    ) -> Iterator[tuple[int, Any]]:
        """Yield blocks of consecutive texts against all motions.

        Args:
            rows: Texts of the pairs that will be compared with the blocks, ascending.
            columns: Motions of these pairs.
            values: What ``pairs`` returned for them.
            starts: First texts of the blocks wanted, some of those of ``starts``.

        Yields:
            Number of the first text, and (B, M) scores. Those of the pairs, and of pairs with
            equal embeddings, hold exactly the given values, so that ties are ties.
        """

    def take(self, rows: Ints, columns: Ints) -> Scores:
        """Return the scores of some texts with some motions."""


def block_rows(motions: int, itemsize: int) -> int:
    """Return how many texts make a block."""
    return int(min(max(BLOCK_BYTES // max(motions * itemsize, 1), _FEWEST), _MOST))


def cores() -> int:
    """Return how many processors this process may use, at most eight."""
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, 8)


@dataclass(frozen=True)
class MatrixScores:
    """Scores that lie in a matrix, in memory or mapped from a file."""

    matrix: NDArray[Any]
    """(texts, motions), as stored."""
    sign: float = 1.0
    """1 where higher is better, −1 where lower is."""
    rows: Ints | None = None
    """Rows of the matrix that count, in order; all where None."""
    columns: Ints | None = None
    """Columns that count, in order; all where None."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of texts and motions."""
        texts, motions = self.matrix.shape
        return (
            texts if self.rows is None else len(self.rows),
            motions if self.columns is None else len(self.columns),
        )

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return the scores of pairs, (P,)."""
        rows = rows if self.rows is None else self.rows[rows]
        columns = columns if self.columns is None else self.columns[columns]
        return self._better(self.matrix[rows, columns])

    @property
    def starts(self) -> range:
        """First texts of the blocks."""
        texts, motions = self.shape
        return range(0, texts, block_rows(motions, max(self.matrix.dtype.itemsize, 4)))

    @property
    def workers(self) -> int:
        """How many threads may go through the blocks at once."""
        return cores()

    def blocks(
        self, rows: Ints, columns: Ints, values: Floats, starts: range
    ) -> Iterator[tuple[int, Any]]:
        """Yield blocks of consecutive texts."""
        step = self.starts.step
        for start in starts:
            if self.rows is None:
                block = self.matrix[start : start + step]
            else:
                block = self.matrix[self.rows[start : start + step]]
            yield start, self._better(block if self.columns is None else block[:, self.columns])

    def take(self, rows: Ints, columns: Ints) -> MatrixScores:
        """Return the scores of some texts with some motions."""
        return MatrixScores(
            self.matrix,
            self.sign,
            rows if self.rows is None else self.rows[rows],
            columns if self.columns is None else self.columns[columns],
        )

    def _better(self, values: NDArray[Any]) -> Floats:
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float32 if values.dtype == np.float16 else np.float64)
        return np.negative(values) if self.sign < 0 else np.asarray(values)


@dataclass(frozen=True)
class EmbeddingScores:
    """Scores computed from embeddings as they are needed, in float32.

    Equal embeddings give equal scores: a product is computed once for all that are the same.
    """

    texts: NDArray[np.float32]
    """(N, D), prepared so that the product of a row with a motion's is the score."""
    motions: NDArray[np.float32]
    """(M, D), prepared likewise."""
    text_first: Ints
    """(N,): first row with the same embedding."""
    motion_first: Ints
    """(M,): first row with the same embedding."""
    device: str
    """``numpy``, or a device of torch, e.g. ``cuda``."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of texts and motions."""
        return len(self.texts), len(self.motions)

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return the scores of pairs, (P,)."""
        keys = self._keys(rows, columns)
        known, back = np.unique(keys, return_inverse=True)
        values = np.empty(len(known), dtype=np.float32)
        for start in range(0, len(known), 8192):
            part = known[start : start + 8192]
            text, motion = np.divmod(part, len(self.motions))
            np.einsum(
                "ij,ij->i",
                self.texts[text],
                self.motions[motion],
                out=values[start : start + 8192],
            )
        return values[back]

    @property
    def starts(self) -> range:
        """First texts of the blocks."""
        return range(0, len(self.texts), block_rows(len(self.motions), 4))

    @property
    def workers(self) -> int:
        """How many threads may go through the blocks at once; a GPU takes one."""
        return cores() if self.device == "numpy" else 1

    def blocks(
        self, rows: Ints, columns: Ints, values: Floats, starts: range
    ) -> Iterator[tuple[int, Any]]:
        """Yield blocks of consecutive texts; a block is overwritten by the next."""
        known, where = np.unique(self._keys(rows, columns), return_index=True)
        known_text, known_motion = np.divmod(known, len(self.motions))
        known_value = values[where]
        step = self.starts.step
        repeated = bool((self.motion_first != np.arange(len(self.motions))).any())
        multiply = _multiplier(self.motions, step, self.device)
        for start in starts:
            block = multiply(self.texts[start : start + step])
            first = self.text_first[start : start + step]
            begin = np.searchsorted(known_text, first)
            count = np.searchsorted(known_text, first, side="right") - begin
            inside = np.repeat(np.arange(len(first)), count)
            at = np.arange(len(inside)) - np.repeat(np.cumsum(count) - count, count)
            at += np.repeat(begin, count)
            block[on_device(inside, block), on_device(known_motion[at], block)] = on_device(
                known_value[at], block
            )
            yield start, block[:, on_device(self.motion_first, block)] if repeated else block

    def take(self, rows: Ints, columns: Ints) -> EmbeddingScores:
        """Return the scores of some texts with some motions."""
        return EmbeddingScores(
            self.texts[rows],
            self.motions[columns],
            _first_of(self.text_first[rows]),
            _first_of(self.motion_first[columns]),
            self.device,
        )

    def _keys(self, rows: Ints, columns: Ints) -> Ints:
        return self.text_first[rows] * len(self.motions) + self.motion_first[columns]


def embedding_scores(
    texts: NDArray[Any],
    motions: NDArray[Any],
    *,
    similarity: Similarity = "cosine",
    device: str = "auto",
    names: tuple[str, str] = ("text embeddings", "motion embeddings"),
) -> EmbeddingScores:
    """Prepare embeddings for scoring.

    Args:
        texts: (N, D), finite.
        motions: (M, D), finite.
        similarity: ``cosine``, ``dot``, or ``euclidean`` (minus half the squared distance, which
            ranks as the distance does).
        device: ``numpy``, a device of torch, or ``auto``: a GPU where torch finds one and the
            scores are many, else numpy.
        names: What to call the two in messages.

    Returns:
        Scores, higher = better.

    Raises:
        InputError: Other shapes, unequal widths, no row, NaN, or with cosine a row of zeros.
    """
    prepared = []
    for array, name in zip((texts, motions), names, strict=True):
        if array.ndim != 2 or not array.shape[0] or not array.shape[1]:
            raise InputError(f"{name}: expected shape (N, D), got {tuple(array.shape)}")
        if array.dtype.kind not in "fiu":
            raise InputError(f"{name}: expected numbers, got {array.dtype}")
        prepared.append(_finite(array, name, unit=similarity == "cosine"))
    text, motion = prepared
    if text.shape[1] != motion.shape[1]:
        raise InputError(
            f"unequal widths: {names[0]} have {text.shape[1]} numbers, {names[1]} "
            f"{motion.shape[1]}; both must come from one model"
        )
    if similarity != "cosine":
        _refuse_overflow(text, motion, names)
    same = _repeats(text), _repeats(motion)
    if similarity == "euclidean":
        text, motion = _halved(text, one_last=True), _halved(motion, one_last=False)
    refuse_absent(device)
    if device == "auto":
        device = _gpu() if len(text) * len(motion) >= WORTH_A_GPU else "numpy"
    return EmbeddingScores(text, motion, *same, device)


def _finite(array: NDArray[Any], name: str, *, unit: bool) -> NDArray[np.float32]:
    """Copy to float32 in pieces, refusing NaN; with ``unit`` each row is brought to length 1."""
    copied = np.empty(array.shape, dtype=np.float32)
    for start in range(0, len(array), 2048):
        part = np.asarray(array[start : start + 2048])
        part = part if part.dtype == np.float32 else part.astype(np.float64)
        square = np.einsum("ij,ij->i", part, part, dtype=np.float64)
        if not np.isfinite(square).all():
            bad = start + int(np.flatnonzero(~np.isfinite(square))[0])
            raise InputError(f"{name}: row {bad} holds NaN, infinity or more than 1e150 (from 0)")
        if unit and not square.all():
            zero = start + int(np.flatnonzero(square == 0)[0])
            raise InputError(f"{name}: row {zero} is all zeros, its cosine is undefined")
        scale = 1 / np.sqrt(square) if unit else np.ones(len(part))
        np.multiply(part, scale[:, None].astype(part.dtype), out=copied[start : start + 2048])
    return copied


def _refuse_overflow(
    texts: NDArray[np.float32], motions: NDArray[np.float32], names: tuple[str, str]
) -> None:
    """Refuse vectors so long that their products, or squares of distances, leave float32."""
    for array, name in zip((texts, motions), names, strict=True):
        square = np.einsum("ij,ij->i", array, array, dtype=np.float64)
        if not (square < _LONGEST).all():
            row = int(np.flatnonzero(~(square < _LONGEST))[0])
            raise InputError(
                f"{name}: row {row} is longer than 1e18 (from 0), scores would overflow"
            )


def _halved(array: NDArray[np.float32], *, one_last: bool) -> NDArray[np.float32]:
    """Append 1 and −|x|²/2, so that a product of rows is minus half the squared distance."""
    half = -0.5 * np.einsum("ij,ij->i", array, array, dtype=np.float64)[:, None]
    one = np.ones_like(half)
    return np.hstack([array, *((half, one) if one_last else (one, half))]).astype(np.float32)


def _repeats(array: NDArray[np.float32]) -> Ints:
    """Return for each row the first that equals it."""
    even = array if array.shape[1] % 2 == 0 else np.pad(array, ((0, 0), (0, 1)))
    words = np.ascontiguousarray(even).view(np.uint64)
    odd = np.random.default_rng(0).integers(1, 2**63, words.shape[1], dtype=np.uint64) * 2 + 1
    key = np.empty(len(words), dtype=np.uint64)
    for start in range(0, len(words), 512):
        key[start : start + 512] = (words[start : start + 512] * odd).sum(axis=1)
    first = _first_of(key)
    moved = np.flatnonzero(first != np.arange(len(array)))
    apart = moved[(array[moved] != array[first[moved]]).any(axis=1)]
    first[apart] = apart
    return first


def _first_of(keys: NDArray[Any]) -> Ints:
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    firsts: Ints = first[back].astype(np.int64)
    return firsts


def refuse_absent(device: str) -> None:
    """Refuse a device that this machine has not.

    Args:
        device: As in ``embedding_scores``.

    Raises:
        InputError: Torch cannot use it; its reason is told.
    """
    if device in ("auto", "numpy"):
        return
    import torch

    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"device {device!r} cannot be used: {reason}") from error


def _gpu() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "numpy"


def _multiplier(motions: NDArray[np.float32], step: int, device: str) -> Any:
    """Return a function from texts (B, D) to their scores (B, M); its result is reused."""
    if device == "numpy":
        buffer = np.empty((step, len(motions)), dtype=np.float32)
        return lambda texts: np.matmul(texts, motions.T, out=buffer[: len(texts)])
    import torch

    held = torch.from_numpy(motions).to(device)
    return lambda texts: torch.from_numpy(np.ascontiguousarray(texts)).to(device) @ held.T


def on_device(array: NDArray[Any], block: Any) -> Any:
    """Bring an array to where a block lies: numpy's memory or a device of torch."""
    if isinstance(block, np.ndarray):
        return array
    import torch

    return torch.from_numpy(np.ascontiguousarray(array)).to(block.device)
