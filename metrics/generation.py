"""HumanML3D's metrics of generated motions, as functions of embeddings (Guo et al. 2022).

Texts and motions are embedded by one evaluator; a row of texts belongs to the motion of that row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Ints = NDArray[np.int64]
Distance = Literal["euclidean", "cosine"]
"""``euclidean``: lower is closer (HumanML3D). ``cosine``: higher is closer (SnapMoGen)."""
DISTANCES: tuple[Distance, ...] = get_args(Distance)

TIE = 1e-12
"""Squared distances closer than this, relative to the squared lengths, count as equal: float64
products are exact to about 1e-15, float32 embeddings differ by 1e-7 or not at all."""


@dataclass(frozen=True)
class Gaussian:
    """Mean and covariance of embeddings, the covariance as a factor."""

    n: int
    """Number of embeddings, at least 2."""
    mean: FloatArray
    """(D,)"""
    factor: FloatArray
    """(min(n, D), D): its product with itself from the left, transposed, is the covariance
    (divisor n − 1)."""

    @property
    def rank_deficient(self) -> bool:
        """Whether there are too few embeddings for a covariance of full rank."""
        return self.n <= len(self.mean)


def gaussian(embeddings: NDArray[Any]) -> Gaussian:
    """Fit a Gaussian.

    Args:
        embeddings: (n, D) finite, n at least 2.

    Returns:
        Mean and covariance, in float64.
    """
    array = np.asarray(embeddings, dtype=np.float64)
    mean = array.mean(axis=0)
    centred = (array - mean) / np.sqrt(len(array) - 1)
    factor: FloatArray = np.asarray(np.linalg.qr(centred, mode="r"))
    return Gaussian(len(array), mean, factor)


def frechet_distance(first: Gaussian, second: Gaussian) -> float:
    """Return the Fréchet distance of two Gaussians: |μ1 − μ2|² + tr(S1 + S2 − 2 (S1 S2)^½).

    The trace of the root is the sum of the singular values of the product of the two factors,
    which is also exact where covariances have no full rank; no small number is added to them.

    Args:
        first: One Gaussian.
        second: The other, of the same width.

    Returns:
        The distance, 0 or more; lower is closer (Heusel et al. 2017).

    >>> one = gaussian(np.array([[0.0], [2.0]]))
    >>> round(frechet_distance(one, gaussian(np.array([[1.0], [3.0]]))), 12)
    1.0
    """
    shift = first.mean - second.mean
    root = np.linalg.svd(first.factor @ second.factor.T, compute_uv=False).sum()
    spread = (first.factor**2).sum() + (second.factor**2).sum()
    return max(float(shift @ shift + spread - 2 * root), 0.0)


def matched(text: FloatArray, motion: FloatArray, distance: Distance) -> FloatArray:
    """Return how far each motion is from its own text.

    Args:
        text: (N, D).
        motion: (N, D).
        distance: Euclidean distance, or cosine.

    Returns:
        (N,) distances, or cosines.
    """
    if distance == "euclidean":
        lengths: FloatArray = np.linalg.norm(text - motion, axis=1)
        return lengths
    unit = text / np.linalg.norm(text, axis=1, keepdims=True)
    other = motion / np.linalg.norm(motion, axis=1, keepdims=True)
    cosines: FloatArray = np.einsum("ij,ij->i", unit, other)
    return cosines


@dataclass(frozen=True)
class Pairs:
    """Aligned embeddings, and what does not change from one draw of pools to the next."""

    text: FloatArray
    """(N, D); of unit length for cosines."""
    motion: FloatArray
    """(N, D); of unit length for cosines."""
    text_square: FloatArray
    """(N,) squared lengths."""
    motion_square: FloatArray
    """(N,) squared lengths."""
    own: FloatArray
    """(N,) as ``matched`` gives them."""


def prepare(text: NDArray[Any], motion: NDArray[Any], distance: Distance) -> Pairs:
    """Compute what all pools share.

    Args:
        text: (N, D) finite; for cosines no row is all zeros.
        motion: (N, D), likewise.
        distance: What is compared.
    """
    left, right = np.asarray(text, dtype=np.float64), np.asarray(motion, dtype=np.float64)
    own = matched(left, right, distance)
    if distance == "cosine":
        left = left / np.linalg.norm(left, axis=1, keepdims=True)
        right = right / np.linalg.norm(right, axis=1, keepdims=True)
    return Pairs(
        left,
        right,
        np.einsum("ij,ij->i", left, left),
        np.einsum("ij,ij->i", right, right),
        own,
    )


def pool_hits(pairs: Pairs, pools: Ints, tops: Sequence[int]) -> FloatArray:
    """Count texts whose own motion is among the nearest of their pool.

    Queries are texts, candidates the motions of the pool (the original code does so, though papers
    say the reverse). Motions as near as the own one share its places: the expectation over their
    orders (ours; the original takes whatever order the sort leaves).

    Args:
        pairs: The pairs.
        pools: (B, S) positions of the pairs of each pool.
        tops: How many nearest count, each.

    Returns:
        (B, len(tops)) texts found, 0..S.
    """
    left, right = pairs.text[pools], pairs.motion[pools]
    product = left @ right.transpose(0, 2, 1)
    square = pairs.motion_square[pools][:, None, :] - 2 * product
    scale = pairs.text_square[pools][:, :, None] + pairs.motion_square[pools][:, None, :]
    gap = square - np.diagonal(square, axis1=1, axis2=2)[:, :, None]
    level = np.abs(gap) <= TIE * scale
    equal = level.sum(axis=2)
    nearer = ((gap < 0) & ~level).sum(axis=2)
    return np.stack(
        [np.clip((top - nearer) / equal, 0, 1).sum(axis=1) for top in tops], axis=1
    ).astype(np.float64)


def draw_pools(pairs: int, size: int, rng: np.random.RandomState | None) -> Ints:
    """Cut pairs into pools; the incomplete last one is dropped.

    Args:
        pairs: Number of pairs, at least ``size``.
        size: Pairs in a pool.
        rng: Shuffles them first; None keeps the order of the file.

    Returns:
        (B, size) positions.
    """
    order = np.arange(pairs) if rng is None else rng.permutation(pairs)
    whole = pairs // size * size
    return order[:whole].reshape(-1, size)


def diversity(embeddings: NDArray[Any], pairs: int, rng: np.random.RandomState) -> float:
    """Return the mean distance of random pairs; neither end is good, near the reference is.

    Two sets of indices are drawn one after the other without replacement, so a pair may hold one
    motion twice.

    Args:
        embeddings: (N, D).
        pairs: Number of pairs, below N.
        rng: Draws them.

    Raises:
        ValueError: N is not above ``pairs``.
    """
    if len(embeddings) <= pairs:
        raise ValueError(f"embeddings: expected more than {pairs}, got {len(embeddings)}")
    first = rng.choice(len(embeddings), pairs, replace=False)
    second = rng.choice(len(embeddings), pairs, replace=False)
    apart = np.asarray(embeddings[first], np.float64) - np.asarray(embeddings[second], np.float64)
    return float(np.linalg.norm(apart, axis=1).mean())


def multimodality(embeddings: NDArray[Any], times: int, rng: np.random.RandomState) -> float:
    """Return the mean distance of motions generated for one text.

    The same indices serve all texts.

    Args:
        embeddings: (texts, repeats, D).
        times: Pairs for each text, below the repeats.
        rng: Draws them.

    Raises:
        ValueError: The repeats are not above ``times``.
    """
    repeats = embeddings.shape[1]
    if repeats <= times:
        raise ValueError(f"embeddings: expected more than {times} repeats, got {repeats}")
    first = rng.choice(repeats, times, replace=False)
    second = rng.choice(repeats, times, replace=False)
    array = np.asarray(embeddings, dtype=np.float64)
    return float(np.linalg.norm(array[:, first] - array[:, second], axis=2).mean())


def replicate_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of replications and its 95 % interval.

    The half width is 1.96 population standard deviations over the root of their number, as
    HumanML3D's code has it (which divides by the number planned, also where fewer ran).

    Args:
        values: One number for each replication, at least one.

    Returns:
        Mean, low end, high end.

    >>> replicate_interval([1.0, 1.0])
    (1.0, 1.0, 1.0)
    """
    array = np.asarray(values, dtype=np.float64)
    half = 1.96 * float(array.std()) / float(np.sqrt(len(array)))
    mean = float(array.mean())
    return mean, mean - half, mean + half
