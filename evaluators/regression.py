"""MoBERT's regression on top (Voas et al. 2023), from plain numbers instead of a pickled object."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError


class Regression(NamedTuple):
    """A support vector regression with a Gaussian kernel."""

    vectors: NDArray[np.float64]
    """(S, F) support vectors."""
    weights: NDArray[np.float64]
    """(S,) their weights."""
    intercept: float
    """Added at the end."""
    gamma: float
    """Of the kernel exp(-gamma d^2)."""

    def predict(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return (N,) of (N, F)."""
        data = rows.astype(np.float64)
        square = (
            np.square(data).sum(1)[:, None]
            - 2 * data @ self.vectors.T
            + np.square(self.vectors).sum(1)
        )
        kernel = np.exp(-self.gamma * np.maximum(square, 0.0))
        found: NDArray[np.float64] = kernel @ self.weights + self.intercept
        return found


def read_regression(path: Path) -> Regression:
    """Read a regression from ``.npz`` with ``support_vectors, dual_coef, intercept, gamma``.

    The user writes it from the released object in an environment of its own, with the
    scikit-learn it was made with.

    Raises:
        InputError: Not such a file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            vectors, weights, intercept, gamma = (
                np.asarray(file[name], dtype=np.float64)
                for name in ("support_vectors", "dual_coef", "intercept", "gamma")
            )
    except (
        OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, RuntimeError,
        MemoryError, zipfile.BadZipFile, zlib.error,
    ) as error:  # fmt: skip
        raise InputError(
            "expected .npz with support_vectors, dual_coef, intercept and gamma, "
            f"got: {' '.join(str(error).split())[:100]}",
            file=str(path),
        ) from error
    if vectors.ndim != 2 or weights.size != len(vectors) or intercept.size != 1 or gamma.size != 1:
        raise InputError("expected as many weights as support vectors", file=str(path))
    if not all(np.isfinite(array).all() for array in (vectors, weights, intercept, gamma)):
        raise InputError("expected finite numbers, got NaN or infinity", file=str(path))
    return Regression(
        vectors, weights.ravel(), float(intercept.ravel()[0]), float(gamma.ravel()[0])
    )
