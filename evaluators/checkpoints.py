"""Checkpoints and statistics in: tensors and numbers only, whatever a file claims to be.

A checkpoint is a pickle and could run anything. It is read as tensors, numbers, lists and
dictionaries only; Python objects are loaded only where the user trusts the file.
"""

from __future__ import annotations

import hashlib
import pickle
import struct
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.weights import Weights

if TYPE_CHECKING:
    from torch import Tensor

_BLOCK = 1 << 20
_SWELLS = 4
"""Times its own size a checkpoint may hold: torch packs nothing (ours)."""
_DEEPEST, _MOST = 16, 100_000
"""Dictionaries in one another and entries in all that a checkpoint may have (ours)."""
_NESTS = ("state_dict", "model_state_dict", "eval_model", "net")
"""Keys under which releases keep the state dictionary; the first that is there is entered."""
_WRAPPERS = ("module.", "_orig_mod.")
"""What training on several GPUs or a compiler puts before every key."""


def read_weights(path: Path, *, trust: bool = False) -> Weights:
    """Read the tensors of a checkpoint file.

    Args:
        path: ``.safetensors``, or anything ``torch.save`` wrote.
        trust: Load Python objects too, running what the file says; only for files whose maker the
            user trusts.

    Returns:
        All tensors, those of the state dictionary alone where it stands under a key of its own;
        nested dictionaries give dotted keys. A ``module.`` that stands before every
        key of a dictionary, as training on several GPUs leaves it, is taken off.

    Raises:
        InputError: No such file, no checkpoint, Python objects in it without ``trust``, no tensor.
    """
    content = read_checkpoint(path, trust=trust)
    for key in _NESTS:
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            content = content[key]
            break
    tensors = dict(_flat(content, str(path), [0]))
    if not tensors:
        raise InputError("expected tensors by name, found none", file=str(path))
    return Weights(tensors, str(path))


def read_checkpoint(path: Path, *, trust: bool = False) -> Any:
    """Read what a checkpoint file holds, tensors on the CPU. See ``read_weights``.

    Raises:
        InputError: As ``read_weights``.
    """
    import torch

    if not path.is_file():
        raise InputError("expected a checkpoint file, it is not there", file=str(path))
    if path.suffix == ".safetensors":
        return _read_safetensors(path)
    _refuse_packed(path)
    try:
        with torch.serialization.safe_globals(_numbers()), warnings.catch_warnings():
            # Torch warns of pickles it then refuses; the refusal below is the one line.
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=not trust)
    except pickle.UnpicklingError as error:
        why = " ".join(str(error).split())
        if not trust and ("Unsupported" in why or "WeightsUnpickler" in why):
            raise InputError(
                "the checkpoint holds Python objects beside its tensors, which could run anything; "
                f"give --trust if you trust its maker ({_tail(why)})",
                file=str(path),
            ) from error
        raise InputError(f"expected a checkpoint of torch, got: {why[:160]}", file=str(path)) from (
            error
        )
    # A damaged or hostile file may raise anything while it is read, a trusted one too.
    except Exception as error:
        why = " ".join(str(error).split())[:160] or type(error).__name__
        raise InputError(f"expected a checkpoint of torch, got: {why}", file=str(path)) from error


def read_array(path: Path, shape: tuple[int, ...] | None = None) -> NDArray[np.float32]:
    """Read a file of numbers: ``.npy``, or a ``.pt`` that holds one tensor.

    Args:
        path: The file.
        shape: The shape it must have; None for any.

    Returns:
        float32.

    Raises:
        InputError: Not there, no numbers, another shape, a value that is not finite.
    """
    if path.suffix in (".pt", ".pth"):
        try:
            tensor = dict(_flat(read_checkpoint(path), str(path), [0]))[""]
        except (InputError, KeyError) as error:
            raise InputError("expected one tensor of torch and nothing else", file=str(path)) from (
                error
            )
        found = tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()
    else:
        try:
            # Mapped first, so that a head that promises more than is there costs no memory.
            found = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, OverflowError, zipfile.BadZipFile) as error:
            why = " ".join(str(error).split())[:120]
            raise InputError(f"expected an array in .npy, got: {why}", file=str(path)) from error
        if not isinstance(found, np.ndarray):
            raise InputError("expected an array in .npy, got several in .npz", file=str(path))
    if found.dtype.kind not in "fiu" or (shape is not None and found.shape != shape):
        raise InputError(
            f"expected numbers of shape {shape or 'any'}, got {found.dtype} {found.shape}",
            file=str(path),
        )
    with np.errstate(over="ignore"):
        array: NDArray[np.float32] = np.array(found, dtype=np.float32)
    if not np.isfinite(array).all():
        raise InputError("expected finite numbers, got NaN or infinity", file=str(path))
    return array


def fingerprint(files: Mapping[str, Path], options: Mapping[str, object]) -> str:
    """Return the SHA-256 (hex) of files by content and of options; paths do not enter.

    Raises:
        InputError: A file cannot be read.
    """
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        for part in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
            inner = str(part.relative_to(path)) if path.is_dir() else ""
            try:
                digest.update(f"{name}|{inner}|{part.stat().st_size}\n".encode())
                with part.open("rb") as file:
                    while block := file.read(_BLOCK):
                        digest.update(block)
            except OSError as error:
                raise InputError(f"cannot be read: {error.strerror}", file=str(part)) from error
    for name, value in sorted(options.items()):
        digest.update(f"{name}={value}\n".encode())
    return digest.hexdigest()


def _numbers() -> list[Any]:
    """Return the names by which a checkpoint may hold a single number of numpy, a loss say."""
    from numpy._core.multiarray import scalar

    kinds = [type(np.dtype(name)) for name in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "?")]
    return [(scalar, "numpy.core.multiarray.scalar"), scalar, np.dtype, *kinds]


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError as error:
        raise InputError(
            "the library safetensors is not installed: pip install motionjury[scorers]",
            file=str(path),
        ) from error
    try:
        tensors: dict[str, Tensor] = load_file(path)
    except (SafetensorError, OSError, ValueError, KeyError, MemoryError, OverflowError) as error:
        why = " ".join(str(error).split())[:120]
        raise InputError(f"expected a safetensors file, got: {why}", file=str(path)) from error
    return tensors


def _refuse_packed(path: Path) -> None:
    """Refuse a zip whose entries would swell: torch reads each of them whole into memory."""
    try:
        with zipfile.ZipFile(path) as file:
            inside = sum(entry.file_size for entry in file.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError):
        return  # Another format, or damaged: torch says which.
    if inside > _SWELLS * path.stat().st_size + _BLOCK:
        raise InputError(
            f"expected a checkpoint of torch, got a packed file of {inside} bytes inside",
            file=str(path),
        )


def _flat(
    content: Any, file: str, count: list[int], prefix: str = "", depth: int = 0
) -> Iterable[tuple[str, Tensor]]:
    """Yield tensors by dotted key; ``count`` counts entries, for one may stand in many places."""
    import torch

    count[0] += 1
    if depth > _DEEPEST or count[0] > _MOST:
        raise InputError("expected a state dictionary, got one without end", file=file)
    if isinstance(content, torch.Tensor):
        yield prefix, _whole(content.detach(), prefix, file)
    elif isinstance(content, Mapping):
        keys = [str(key) for key in content]
        wrapper = next((w for w in _WRAPPERS if all(key.startswith(w) for key in keys)), "")
        for key, value in zip(keys, content.values(), strict=True):
            bare = key.removeprefix(wrapper)
            yield from _flat(value, file, count, f"{prefix}.{bare}" if prefix else bare, depth + 1)


def _whole(tensor: Tensor, key: str, file: str) -> Tensor:
    """Refuse a tensor that is not stored number by number; it could claim any size."""
    import torch

    plain = tensor.layout == torch.strided and not tensor.is_quantized and not tensor.is_meta
    size = tensor.numel() * tensor.element_size()
    if not plain or tensor.untyped_storage().nbytes() < size:
        raise InputError(f"{key}: expected a tensor stored in full, got another kind", file=file)
    return tensor


def _tail(words: str) -> str:
    place = words.find("Unsupported")
    return words[place if place >= 0 else 0 :][:120]
