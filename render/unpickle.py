"""Reads the pickles that body models come in without running what a pickle may say.

A pickle can name any function and have it called. Here only numpy's array reconstruction and
stand-ins for scipy's sparse matrices and chumpy's arrays can be named; anything else is refused by
name before it is imported.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError

MAX_BYTES = 2 * 2**30
"""Largest pickle read, bytes (ours); SMPL-X is about 0.7 GB."""

MAX_DENSE = 50_000_000
"""Largest sparse matrix that is made dense, entries (ours)."""

_NUMPY_CORE = ("numpy.core.multiarray", "numpy._core.multiarray")
_FROM_BUFFER = {("numpy.core.numeric", "_frombuffer"), ("numpy._core.numeric", "_frombuffer")}
_CHUMPY = {("chumpy.ch", "Ch"), ("chumpy", "Ch"), ("chumpy.reordering", "Select")}
_SPARSE = {
    (f"scipy.sparse.{module}", f"{kind}_{shape}")
    for kind in ("csc", "csr", "coo")
    for module in (kind, f"_{kind}")
    for shape in ("matrix", "array")
}


def read_body_pickle(path: Path) -> dict[str, NDArray[Any] | str]:
    """Read a body model's pickle (written by Python 2 or 3) as plain arrays.

    Returns:
        Arrays and texts by key; sparse matrices made dense, chumpy arrays as their values. What
        is neither (say, dictionaries) is left out.

    Raises:
        InputError: Too large, not a pickle of a dictionary, or it names something that is not
            admitted; the message says what.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(f"expected at most {MAX_BYTES} bytes, got {size}", file=str(path))
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    try:
        content = _Restricted(io.BytesIO(data)).load()
    except _RefusedError as error:
        raise InputError(
            f"expected numpy and scipy.sparse only, the pickle names {error}, which was not loaded",
            file=str(path),
        ) from error
    except (
        pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError,
        KeyError, ImportError, OverflowError, RecursionError, MemoryError, AssertionError,
    ) as error:  # fmt: skip
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"expected a body model's pickle, got: {why}", file=str(path)) from error
    if not isinstance(content, dict):
        raise InputError(
            f"expected a pickled dictionary, got {type(content).__name__}", file=str(path)
        )
    found: dict[str, NDArray[Any] | str] = {}
    for key, value in content.items():
        name = key.decode("latin1") if isinstance(key, bytes) else str(key)
        plain = _plain(value, str(path), name)
        if plain is not None:
            found[name] = plain
    return found


class _RefusedError(Exception):
    """A pickle named a global that is not admitted."""


class _Held:
    """Stands for an object of a library that is not wanted: keeps its state, does nothing."""

    def __init__(self, *_: Any) -> None:
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise pickle.UnpicklingError("an object's state is not a dictionary")
        self.state = {str(key): value for key, value in state.items()}


class _Restricted(pickle.Unpickler):
    """Admits what a body model needs; classes are made anew for each file, so none is altered."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, encoding="latin1")
        self._sparse = type("Sparse", (_Held,), {"kind": ""})
        self._chumpy = type("Chumpy", (_Held,), {})
        self._kinds = {
            pair: type("Sparse", (self._sparse,), {"kind": pair[1].split("_")[0]})
            for pair in _SPARSE
        }

    def find_class(self, module: str, name: str) -> Any:
        if module in _NUMPY_CORE and name == "_reconstruct":
            return _array
        if (module, name) in {("numpy", "ndarray"), ("numpy", "dtype")}:
            return getattr(np, name)
        if module in _NUMPY_CORE and name == "scalar":
            return _scalar
        if (module, name) in _FROM_BUFFER:
            return _from_buffer
        if (module, name) in {("__builtin__", "set"), ("builtins", "set")}:
            # chumpy keeps books in sets; none of them is needed.
            return _nothing
        if (module, name) == ("_codecs", "encode"):
            return _encode
        if (module, name) in {("copy_reg", "_reconstructor"), ("copyreg", "_reconstructor")}:
            return _new
        if (module, name) in {("__builtin__", "object"), ("builtins", "object")}:
            return object
        if (module, name) in _SPARSE:
            return self._kinds[module, name]
        if (module, name) in _CHUMPY:
            return self._chumpy
        raise _RefusedError(f"{module}.{name}")


def _array(kind: type, shape: tuple[int, ...], code: Any) -> NDArray[Any]:
    """Return the empty array that numpy's pickles start from."""
    if kind is not np.ndarray or shape != (0,):
        raise pickle.UnpicklingError("an array of another class than numpy's")
    return np.ndarray((0,), dtype="b")


def _from_buffer(
    data: bytes | bytearray, dtype: Any, shape: tuple[int, ...], order: str, axes: Any = None
) -> NDArray[Any]:
    """Return an array from its bytes, as pickle protocol 5 stores it."""
    if not isinstance(dtype, np.dtype) or dtype.hasobject or order not in ("C", "F", "K"):
        raise pickle.UnpicklingError("an array that is no array of numbers")
    values = np.frombuffer(data, dtype=dtype)
    if order == "K":
        return values.reshape(shape).transpose(axes)
    return values.reshape(shape, order="F" if order == "F" else "C")


def _nothing(*_: Any) -> None:
    return None


def _scalar(dtype: Any, data: Any) -> Any:
    if not isinstance(dtype, np.dtype) or dtype.hasobject:
        raise pickle.UnpicklingError("a scalar that is no number")
    raw = data.encode("latin1") if isinstance(data, str) else bytes(data)
    return np.frombuffer(raw, dtype=dtype, count=1)[0]


def _encode(text: str, encoding: str) -> bytes:
    """Return bytes from the text that protocol 2 of Python 3 stores them as."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes in encoding {encoding!r}")
    return text.encode("latin1")


def _new(kind: type, base: type, state: Any) -> Any:
    if not (isinstance(kind, type) and issubclass(kind, _Held)) or base is not object:
        raise pickle.UnpicklingError("an object of a class that is not admitted")
    return kind.__new__(kind)


def _plain(value: Any, file: str, key: str) -> NDArray[Any] | str | None:
    """Return a value as an array or text; null for what a body model does not need."""
    if isinstance(value, _Held):
        return _dense(value, file, key) if hasattr(value, "kind") else _chumpy(value, file, key)
    if isinstance(value, bytes):
        return value.decode("latin1")
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray | np.generic | int | float | list | tuple):
        try:
            array = np.asarray(value)
        except ValueError:
            return None
        return None if array.dtype.hasobject else array
    return None


def _chumpy(value: Any, file: str, key: str) -> NDArray[Any]:
    """Return the values of a chumpy array; of a selection, those that it selects."""
    state = getattr(value, "state", {})
    if "x" in state:
        inner = _plain(state["x"], file, key)
    elif "a" in state and "idxs" in state:
        whole, chosen = (_plain(state[name], file, key) for name in ("a", "idxs"))
        if not isinstance(whole, np.ndarray) or not isinstance(chosen, np.ndarray):
            raise InputError("expected a chumpy selection of an array", file=file, place=key)
        inner = whole.ravel()[chosen.astype(np.int64).ravel()]
        if state.get("preferred_shape") is not None:
            inner = inner.reshape(tuple(int(n) for n in state["preferred_shape"]))
    else:
        inner = None
    if not isinstance(inner, np.ndarray):
        raise InputError(
            f"expected a chumpy array with its values, got one with {', '.join(state) or 'none'}",
            file=file,
            place=key,
        )
    return inner


def _dense(value: Any, file: str, key: str) -> NDArray[Any]:
    """Return a sparse matrix as an array."""
    from scipy import sparse

    state, kind = getattr(value, "state", {}), value.kind
    parts = ("row", "col") if kind == "coo" else ("indices", "indptr")
    try:
        first, second = (np.asarray(state[name]) for name in parts)
        data = np.asarray(state["data"])
        shape = tuple(int(n) for n in state.get("_shape", ()))
        if len(shape) != 2 or not 0 <= shape[0] * shape[1] <= MAX_DENSE:
            raise ValueError(f"shape {shape}")
        if kind == "coo":
            matrix = sparse.coo_array((data, (first, second)), shape=shape)
        else:
            make = sparse.csc_array if kind == "csc" else sparse.csr_array
            matrix = make((data, first, second), shape=shape)
            matrix.check_format(full_check=True)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"expected a sparse matrix, got a broken one: {error}", file=file, place=key
        ) from error
    dense: NDArray[Any] = matrix.toarray()
    return dense
