"""Numpy files from outside: never a pickle, never more memory than the file is worth."""

from __future__ import annotations

import io
import lzma
import math
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError

MAX_MEMBER_BYTES = 2**30
"""Largest array read, bytes (ours): an hour of SMPL-H poses at 120 fps is 0.54 GB in float64."""


_HEADER_ERRORS = (
    ValueError,
    TypeError,
    EOFError,
    OSError,
    OverflowError,
    RecursionError,
    SyntaxError,
    tokenize.TokenError,
)
"""What numpy raises for headers that are none; it tokenizes those Python 2 may have written."""


def _read_npy_stream(stream: BinaryIO, size: int, file: str, place: str) -> NDArray[Any]:
    with warnings.catch_warnings():
        # Numpy warns of headers that Python 2 wrote; they are read as well as any other.
        warnings.simplefilter("ignore", UserWarning)
        return _checked_array(stream, size, file, place)


def _checked_array(stream: BinaryIO, size: int, file: str, place: str) -> NDArray[Any]:
    npy: Any = np.lib.format
    try:
        version = npy.read_magic(stream)
        if version == (1, 0):
            shape, _, dtype = npy.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, _, dtype = npy.read_array_header_2_0(stream)
        else:
            raise InputError(f"expected .npy version 1 or 2, got {version}", file=file, place=place)
    except InputError:
        raise
    except _HEADER_ERRORS as error:
        stream.seek(0)
        pickled = stream.read(1) == b"\x80"
        came = "a pickle, which is never loaded" if pickled else "no valid .npy header"
        raise InputError(f"expected a .npy array, got {came}", file=file, place=place) from error
    if dtype.hasobject:
        raise InputError(
            "expected numbers, got pickled Python objects, which are never loaded",
            file=file,
            place=place,
        )
    if min(shape, default=0) < 0:
        raise InputError(f"expected a shape, got {shape}", file=file, place=place)
    promised = math.prod(shape) * dtype.itemsize
    held = size - stream.tell()
    if promised > MAX_MEMBER_BYTES:
        raise InputError(
            f"expected at most {MAX_MEMBER_BYTES} bytes, the header {shape} asks for {promised}",
            file=file,
            place=place,
        )
    if promised > held:
        raise InputError(
            f"truncated: the header {shape} promises {promised} bytes, {held} came",
            file=file,
            place=place,
        )
    stream.seek(0)
    try:
        return np.asarray(npy.read_array(stream, allow_pickle=False))
    except _HEADER_ERRORS as error:
        raise InputError(f"expected a .npy array, got: {error}", file=file, place=place) from error


def read_npy(path: Path) -> NDArray[Any]:
    """Read one .npy file.

    Raises:
        InputError: Unreadable, truncated, pickled, or larger than ``MAX_MEMBER_BYTES``.
    """
    try:
        with path.open("rb") as stream:
            return _read_npy_stream(stream, path.stat().st_size, str(path), "")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def npz_names(path: Path) -> list[str]:
    """Return the names of the arrays in an .npz file, without reading them.

    Raises:
        InputError: Unreadable, or not a zip archive.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return [i.filename.removesuffix(".npy") for i in archive.infolist()]
    except zipfile.BadZipFile as error:
        raise InputError(
            f"expected an .npz archive, got a broken zip ({error})", file=str(path)
        ) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def read_npz(path: Path, wanted: Collection[str]) -> dict[str, NDArray[Any]]:
    """Read the wanted arrays of an .npz file; absent names are left out.

    The size a member unpacks to is bounded while it is read, so a zip bomb costs no memory.

    Raises:
        InputError: Unreadable, not a zip, or a wanted member is pickled, truncated, damaged or
            larger than ``MAX_MEMBER_BYTES``.
    """
    names = npz_names(path)
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name not in wanted:
                continue
            if names.count(name) > 1:
                raise InputError("expected each name once, came twice", file=str(path), place=name)
            data = _unpack(archive, info, path, name)
            arrays[name] = _read_npy_stream(io.BytesIO(data), len(data), str(path), name)
    return arrays


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, name: str) -> bytes:
    limit = MAX_MEMBER_BYTES + 4096
    if info.file_size > limit:
        raise InputError(
            f"expected at most {MAX_MEMBER_BYTES} bytes unpacked, the archive says "
            f"{info.file_size}",
            file=str(path),
            place=name,
        )
    try:
        with archive.open(info) as member:
            data = member.read(limit + 1)
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise InputError(
            f"expected a readable archive member, got: {error}", file=str(path), place=name
        ) from error
    if len(data) > limit:
        raise InputError(
            f"expected at most {MAX_MEMBER_BYTES} bytes unpacked, more came",
            file=str(path),
            place=name,
        )
    return data
