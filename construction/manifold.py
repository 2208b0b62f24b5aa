"""Do two sets of embeddings overlap? The k-NN manifold of Kynkäänniemi et al. (2019).

The manifold of a set is the union of balls round its points, each as wide as the distance to the
point's k-th nearest neighbour in the set. Precision is the share of other points that lie in it;
recall is the same with the sets exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from benchmarks.items import Frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHUNK = 1024


class InManifold(Frozen):
    """How much of one set lies in the manifold of another."""

    share: float | None
    """Share of the points inside, 0 to 1; null where it is undefined."""
    inside: int
    """Points inside."""
    n_points: int
    """Points asked about."""
    n_manifold: int
    """Points that span the manifold."""
    k: int
    """Number of the neighbour that a ball reaches to."""
    reason: str = ""
    """Why there is no share; empty where there is."""


def in_manifold(
    points: NDArray[Any], manifold: NDArray[Any], k: int = 3
) -> tuple[InManifold, NDArray[np.bool_]]:
    """Say which points lie in the k-NN manifold of a set.

    Args:
        points: (N, D) finite vectors, e.g. of prompts.
        manifold: (M, D) finite vectors that span the manifold, e.g. of a corpus.
        k: Number of the neighbour, 1 or more; 3 in Kynkäänniemi et al. and in T2MBench 3.1.

    Returns:
        The share, and for each point whether it is inside (distance at most the radius of some
        ball). Undefined, with the reason and no point inside, where ``manifold`` has fewer than
        k + 1 points or ``points`` none.

    Raises:
        ValueError: k below 1, other shapes, or values that are not finite.
    """
    import numpy as np

    if k < 1:
        raise ValueError(f"k: expected 1 or more, got {k}")
    _check(points, manifold)
    inside = np.zeros(len(points), bool)
    reason = ""
    if len(manifold) < k + 1:
        reason = f"the manifold needs {k + 1} points or more, got {len(manifold)}"
    elif not len(points):
        reason = "there are no points"
    if reason:
        return _result(None, inside, manifold, k, reason), inside
    radii = _radii(manifold, k)
    for start, distances in _distances(points, manifold):
        inside[start : start + len(distances)] = (distances <= radii).any(axis=1)
    return _result(float(inside.mean()), inside, manifold, k, ""), inside


def nearest(points: NDArray[Any], others: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return for each of (N, D) points the place of the nearest of (M, D) others, and its distance.

    Raises:
        ValueError: No others, other shapes, or values that are not finite.
    """
    import numpy as np

    _check(points, others)
    if not len(others):
        raise ValueError("others: expected one or more, got none")
    places = np.zeros(len(points), np.intp)
    gaps = np.zeros(len(points))
    for start, distances in _distances(points, others):
        rows = slice(start, start + len(distances))
        places[rows] = distances.argmin(axis=1)
        gaps[rows] = np.sqrt(distances.min(axis=1))
    return places, gaps


def _radii(points: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Return the squared distance of each point to its k-th nearest other point, (N,)."""
    import numpy as np
    from sklearn.neighbors import NearestNeighbors

    wide = np.asarray(points, np.float64)
    # Asked about no points of its own, it leaves each point out of its neighbours.
    search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(wide)
    found = search.kneighbors(return_distance=False)[:, -1]
    radii = np.zeros(len(wide))
    for start in range(0, len(wide), _CHUNK):
        rows = slice(start, start + _CHUNK)
        gaps = wide[rows] - wide[found[rows]]
        radii[rows] = np.einsum("ij,ij->i", gaps, gaps)
    return radii


def _distances(
    points: NDArray[Any], others: NDArray[Any]
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield squared distances in blocks of rows: first row, (rows, M)."""
    import numpy as np

    wide = np.asarray(others, np.float64)
    squares = np.einsum("ij,ij->i", wide, wide)
    for start in range(0, len(points), _CHUNK):
        block = np.asarray(points[start : start + _CHUNK], np.float64)
        own = np.einsum("ij,ij->i", block, block)
        found = own[:, None] + squares - 2.0 * block @ wide.T
        # Rounding of the product; equal points are to be at distance 0, whichever set they are in.
        found[found < 1e-12 * (own[:, None] + squares)] = 0.0
        yield start, found


def _check(first: NDArray[Any], second: NDArray[Any]) -> None:
    import numpy as np

    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise ValueError(f"expected (N, D) and (M, D), got {first.shape} and {second.shape}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("expected finite values, got NaN or infinity")


def _result(
    share: float | None, inside: NDArray[np.bool_], manifold: NDArray[Any], k: int, reason: str
) -> InManifold:
    return InManifold(
        share=share,
        inside=int(inside.sum()),
        n_points=len(inside),
        n_manifold=len(manifold),
        k=k,
        reason=reason,
    )
