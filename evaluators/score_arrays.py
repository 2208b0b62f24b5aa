"""Arrays from NPY and NPZ files, mapped where the file allows it and never unpickled."""

from __future__ import annotations

import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from corpus.problems import InputError

_LOCAL_HEADER = 30
"""Bytes of a member's fixed header in a ZIP file; name and extra field follow."""
SPOOLED_ABOVE = 64 << 20
"""A compressed array larger than this is unpacked into a temporary file and mapped."""


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an NPZ file.

    Raises:
        InputError: No such file, or no NPZ.
    """
    if not path.is_file():
        raise InputError("no such file", file=str(path))
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except zipfile.BadZipFile as error:
        raise InputError(f"expected NPZ: {error}", file=str(path)) from error


def member(path: Path, archive: zipfile.ZipFile, name: str) -> NDArray[Any] | None:
    """Return an array of an NPZ file; None where it has none of that name.

    Args:
        path: The file.
        archive: The file, opened.
        name: Name of the array.

    Returns:
        The array, read-only and mapped where it is stored without compression or is large.

    Raises:
        InputError: Pickled objects, or a damaged array.
    """
    try:
        entry = archive.getinfo(f"{name}.npy")
    except KeyError:
        return None
    try:
        with archive.open(entry) as stream:
            shape, fortran, dtype = _header(stream, path, name)
            offset = stream.tell()
            if dtype.kind not in "biufUS":
                raise InputError(
                    f"{name}: expected plain numbers or texts (dtype=str), got {dtype}",
                    file=str(path),
                )
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            if offset + size != entry.file_size:
                raise InputError(f"{name}: the array is cut short", file=str(path))
            if size == 0:
                return np.empty(shape, dtype)
            if entry.compress_type == zipfile.ZIP_STORED:
                start = _data_start(path, entry) + offset
                return np.memmap(path, dtype, "r", start, shape, order="F" if fortran else "C")
            return _unpacked(stream, size, dtype, shape, fortran)
    except (
        # RuntimeError: encrypted; NotImplementedError, which is one: unknown compression.
        zipfile.BadZipFile, RuntimeError, ValueError, EOFError, OSError, zlib.error,
    ) as error:  # fmt: skip
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: damaged array: {error}", file=str(path)) from error


def read_embeddings(path: Path, name: str) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Read embeddings, one row each, from NPY or NPZ.

    Args:
        path: ``.npy`` with (N, D), or ``.npz`` with ``embeddings`` (N, D) and optionally ``ids``.
        name: What they are, for messages.

    Returns:
        The array, mapped from the file where possible, and the ids where the file has them.

    Raises:
        InputError: Another kind of file, another shape, an id twice, or pickled objects.
    """
    ending = path.suffix.lower()
    ids: tuple[str, ...] | None = None
    if ending == ".npz":
        with open_archive(path) as archive:
            array = member(path, archive, "embeddings")
            if array is None:
                raise InputError(f"{name}: no array 'embeddings'", file=str(path))
            named = member(path, archive, "ids")
            if named is not None:
                if named.shape != array.shape[:1] or named.dtype.kind not in "Uiu":
                    raise InputError(
                        f"ids: expected {len(array)} texts, got shape {named.shape}",
                        file=str(path),
                    )
                ids = tuple(map(str, named.tolist()))
                refuse_repeats(ids, "ids", str(path))
    elif ending == ".npy":
        if not path.is_file():
            raise InputError("no such file", file=str(path))
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise InputError(
                f"{name}: expected a plain NPY array: {error}", file=str(path)
            ) from error
    else:
        raise InputError(f"{name}: expected .npy or .npz", file=str(path))
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name}: expected numbers, got {array.dtype}", file=str(path))
    return array, ids


def refuse_repeats(ids: Sequence[str], name: str, file: str) -> None:
    """Refuse an id that stands twice.

    Raises:
        InputError: There is one; both positions are named, from 0.
    """
    seen: dict[str, int] = {}
    for place, entry in enumerate(ids):
        if (first := seen.setdefault(entry, place)) != place:
            raise InputError(
                f"{name}: {entry!r} stands twice, at {first} and {place} (from 0)", file=file
            )


def _header(stream: Any, path: Path, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    # numpy's own functions are not annotated.
    reading: Any = npy
    version = reading.read_magic(stream)
    readers = {(1, 0): reading.read_array_header_1_0, (2, 0): reading.read_array_header_2_0}
    if version not in readers:
        raise InputError(f"{name}: unknown version {version} of NPY", file=str(path))
    shape, fortran, dtype = readers[version](stream)
    return shape, fortran, dtype


def _data_start(path: Path, entry: zipfile.ZipInfo) -> int:
    with path.open("rb") as raw:
        raw.seek(entry.header_offset)
        header = raw.read(_LOCAL_HEADER)
    name, extra = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
    return entry.header_offset + _LOCAL_HEADER + name + extra


def _unpacked(
    stream: Any, size: int, dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool
) -> NDArray[Any]:
    order: Any = "F" if fortran else "C"
    if size <= SPOOLED_ABOVE:
        return np.frombuffer(stream.read(size), dtype).reshape(shape, order=order)
    with tempfile.TemporaryFile() as spool:
        while chunk := stream.read(1 << 20):
            spool.write(chunk)
        spool.flush()
        return np.memmap(spool, dtype, "r", 0, shape, order=order)
