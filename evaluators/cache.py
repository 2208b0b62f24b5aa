"""Vectors of texts, motions and pairs on disk, so that no model computes one twice."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError

Vectors = NDArray[np.float32]

_KEYS, _VECTORS = ".keys.npy", ".vectors.npy"


class VectorCache:
    """Vectors by key (a hash, hex); kept in a folder, or in memory only.

    Each addition is a pair of files of its own, put in place whole, so that several processes may
    write to one folder and a broken run leaves nothing half written.
    """

    def __init__(self, folder: Path | None) -> None:
        """Look into the folder.

        Args:
            folder: Where the files lie; made when something is added. None keeps nothing on disk.

        Raises:
            InputError: A file there cannot be read.
        """
        self._folder = folder
        self._shards: list[Vectors] = []
        self._where: dict[str, tuple[int, int]] = {}
        for path in sorted(folder.glob(f"[!.]*{_KEYS}")) if folder is not None else ():
            try:
                keys = np.load(path, allow_pickle=False)
                vectors = np.load(
                    path.with_name(path.name.removesuffix(_KEYS) + _VECTORS),
                    mmap_mode="r",
                    allow_pickle=False,
                )
            except (OSError, ValueError, EOFError) as error:
                raise InputError(
                    f"cannot be read as a cache ({error}); delete it to compute it again",
                    file=str(path),
                ) from error
            self._remember([str(key) for key in keys], vectors)

    def __contains__(self, key: str) -> bool:
        """Whether a key has a vector."""
        return key in self._where

    def take(self, keys: Sequence[str]) -> Vectors:
        """Return the vectors of keys that are all there, (N, D); (0, 0) for none.

        Raises:
            KeyError: One is not.
        """
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        rows = [self._where[key] for key in keys]
        return np.stack([np.asarray(self._shards[shard][row]) for shard, row in rows])

    def add(self, keys: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors of keys.

        Args:
            keys: N distinct keys.
            vectors: (N, D).

        Raises:
            ValueError: Numbers differ, or a vector is not finite.
            InputError: The folder cannot be written.
        """
        data = np.ascontiguousarray(vectors, dtype=np.float32)
        if data.ndim != 2 or len(data) != len(keys):
            raise ValueError(f"vectors: expected shape ({len(keys)}, D), got {data.shape}")
        if not np.isfinite(data).all():
            row = int(np.argwhere(~np.isfinite(data))[0][0])
            raise ValueError(f"vectors: expected finite numbers, row {row} has NaN or infinity")
        if not keys:
            return
        if self._folder is not None:
            self._write(self._folder, keys, data)
        self._remember(keys, data)

    def _remember(self, keys: Sequence[str], vectors: Vectors) -> None:
        self._where |= {key: (len(self._shards), row) for row, key in enumerate(keys)}
        self._shards.append(vectors)

    def _write(self, folder: Path, keys: Sequence[str], vectors: Vectors) -> None:
        stem = folder / secrets.token_hex(8)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # The keys come last: what has no keys yet is not looked at.
            for suffix, array in ((_VECTORS, vectors), (_KEYS, np.array(list(keys)))):
                draft = stem.with_name(f".{stem.name}{suffix}")
                np.save(draft, array, allow_pickle=False)
                os.replace(draft, stem.with_name(stem.name + suffix))
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
