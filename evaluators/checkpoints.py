"""Checkpoints in: tensors only, by prefix; what is missing is named, and whose checkpoint it is.

A checkpoint is a pickle and could run anything. It is read as tensors, numbers, lists and
dictionaries only; Python objects are loaded only where the user trusts the file.
"""

from __future__ import annotations

import hashlib
import pickle
import struct
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

_LISTED = 6
"""Keys listed in a message; the others are counted (ours)."""
_BLOCK = 1 << 20

SIGNATURES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "HumanML3D evaluator": (
        ("motion_encoder.gru.", "movement_encoder.main.0.weight", "text_encoder.pos_emb."), (),
    ),
    "CLaM": (("motion_encoder.class_embedding", "movement_encoder.main.0.weight"), ()),
    "ChronRet": (("text_model.text_model.", "motion_encoder.tokens"), ()),
    "TMR": (("motion_encoder.tokens", "text_encoder.tokens"), ("text_model.text_model.",)),
    "one encoder of TMR": (("tokens", "projection.weight", "seqTransEncoder."), ()),
    "SnapMoGen": (("latent_enc.linear.", "text_enc.linear."), ()),
    "SGAR": (("motion_encoder.model.reg_token",), ()),
    "MotionPatches": (
        ("motion_encoder.model.patch_embed.",), ("motion_encoder.model.reg_token",),
    ),
    "TEMOS (its own repository)": (("motionencoder.mu_token",), ()),
    "MoBERT": (("frame_encoder.0.weight", "ent_pred_head.0.weight"), ()),
    "MotionGPT": (("lm.language_model.", "vae.encoder.model."), ()),
    "T2M-GPT's VQ-VAE": (("vqvae.encoder.model.",), ()),
}  # fmt: skip
"""Keys that must start, and keys that must not start, some key of each model's checkpoint."""


class Weights:
    """Tensors of a checkpoint by their dotted keys, perhaps only those below a prefix."""

    def __init__(self, tensors: Mapping[str, Tensor], file: str, prefix: str = "") -> None:
        """Keep the tensors.

        Args:
            tensors: Tensors by key, the prefix taken off.
            file: The file, for messages.
            prefix: What was taken off, for messages.
        """
        self._tensors = dict(tensors)
        self._file = file
        self._prefix = prefix

    def __contains__(self, key: str) -> bool:
        return key in self._tensors

    def __getitem__(self, key: str) -> Tensor:
        """Return a tensor.

        Raises:
            InputError: It is not there.
        """
        if key not in self._tensors:
            raise InputError(f"the checkpoint has no {self._prefix}{key}", file=self._file)
        return self._tensors[key]

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys, in the file's order."""
        return tuple(self._tensors)

    def below(self, prefix: str) -> Weights:
        """Return the tensors whose key starts with the prefix, with the prefix taken off."""
        found = {k[len(prefix) :]: t for k, t in self._tensors.items() if k.startswith(prefix)}
        return Weights(found, self._file, self._prefix + prefix)

    def shape(self, key: str, dimensions: int) -> tuple[int, ...]:
        """Return a tensor's shape.

        Raises:
            InputError: It is not there or has another number of dimensions.
        """
        shape = tuple(self[key].shape)
        if len(shape) != dimensions:
            raise InputError(
                f"{self._prefix}{key}: expected {dimensions} dimensions, got shape {shape}",
                file=self._file,
            )
        return shape

    def layers(self, prefix: str) -> int:
        """Return how many numbered layers there are: one more than the greatest ``prefix`` number.

        Raises:
            InputError: There is none.
        """
        numbers = {
            int(number)
            for key in self._tensors
            if key.startswith(prefix) and (number := key[len(prefix) :].split(".")[0]).isdigit()
        }
        if not numbers:
            raise InputError(f"the checkpoint has no {self._prefix}{prefix}0", file=self._file)
        return max(numbers) + 1

    def require(self, name: str) -> None:
        """Refuse the checkpoint of another model.

        Args:
            name: Key of ``SIGNATURES`` that is expected.

        Raises:
            InputError: It is another model's, named in the message, or nobody's that is known.
        """
        found = recognise(self._tensors)
        if name in found:
            return
        got = f"one of {found[0]}" if found else f"keys such as {_listed(self._tensors)}"
        raise InputError(f"expected a checkpoint of {name}, got {got}", file=self._file)

    def into(self, module: nn.Module) -> tuple[str, ...]:
        """Load every parameter and buffer of a module.

        Args:
            module: The network, whose names are the checkpoint's keys.

        Returns:
            Keys of the checkpoint that the network has no place for.

        Raises:
            InputError: A key the network needs is missing, or a tensor has another shape. Both
                what is missing and what is there beyond are named, so a renamed key shows.
        """
        import torch

        wanted = module.state_dict()
        missing = [key for key in wanted if key not in self._tensors]
        extra = tuple(key for key in self._tensors if key not in wanted)
        if missing:
            words = f"the checkpoint lacks {_listed(missing, self._prefix)}"
            if extra:
                words += (
                    f"; it has {_listed(extra, self._prefix)}, which the model has no place for"
                )
            raise InputError(words, file=self._file)
        for key, target in wanted.items():
            given = self._tensors[key]
            if given.shape != target.shape:
                raise InputError(
                    f"{self._prefix}{key}: expected shape {tuple(target.shape)}, "
                    f"got {tuple(given.shape)}",
                    file=self._file,
                )
            if target.is_floating_point() and not torch.isfinite(given).all():
                raise InputError(
                    f"{self._prefix}{key}: expected finite numbers, got NaN or infinity",
                    file=self._file,
                )
        module.load_state_dict({key: self._tensors[key] for key in wanted})
        module.eval().requires_grad_(False)
        return extra


def recognise(keys: Iterable[str]) -> list[str]:
    """Return the models whose checkpoint these dotted keys may be; empty where none is known."""
    listed = list(keys)

    def has(start: str) -> bool:
        return any(key.startswith(start) for key in listed)

    return [
        name
        for name, (there, absent) in SIGNATURES.items()
        if all(has(key) for key in there) and not any(has(key) for key in absent)
    ]


def read_weights(path: Path, *, within: tuple[str, ...] = (), trust: bool = False) -> Weights:
    """Read the tensors of a checkpoint file.

    Args:
        path: ``.safetensors``, or anything ``torch.save`` wrote.
        within: Keys that may hold the state dictionary, such as ``state_dict``; the first that is
            there is entered.
        trust: Load Python objects too, running what the file says; only for files whose maker the
            user trusts.

    Returns:
        All tensors; nested dictionaries give dotted keys.

    Raises:
        InputError: No such file, no checkpoint, Python objects in it without ``trust``, no tensor.
    """
    content = read_checkpoint(path, trust=trust)
    for key in within:
        if isinstance(content, Mapping) and isinstance(content.get(key), Mapping):
            content = content[key]
            break
    tensors = dict(_flat(content))
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
    except (
        OSError, EOFError, RuntimeError, ValueError, TypeError, KeyError, AttributeError,
        ImportError, IndexError, UnicodeDecodeError, AssertionError, MemoryError, OverflowError,
        struct.error,
    ) as error:  # fmt: skip
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
        content = read_checkpoint(path)
        if not hasattr(content, "numpy"):
            raise InputError(f"expected one tensor, got {type(content).__name__}", file=str(path))
        found = np.asarray(content.numpy())
    else:
        try:
            found = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            why = " ".join(str(error).split())[:120]
            raise InputError(f"expected an array in .npy, got: {why}", file=str(path)) from error
    if found.dtype.kind not in "fiu" or (shape is not None and found.shape != shape):
        raise InputError(
            f"expected numbers of shape {shape or 'any'}, got {found.dtype} {found.shape}",
            file=str(path),
        )
    array: NDArray[np.float32] = found.astype(np.float32)
    if not np.isfinite(array).all():
        raise InputError("expected finite numbers, got NaN or infinity", file=str(path))
    return array


def fingerprint(files: Mapping[str, Path], options: Mapping[str, object]) -> str:
    """Return the SHA-256 (hex) of files by content and of options; paths do not enter."""
    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        for part in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
            inner = str(part.relative_to(path)) if path.is_dir() else ""
            digest.update(f"{name}|{inner}|{part.stat().st_size}\n".encode())
            with part.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
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
    except (SafetensorError, OSError, ValueError) as error:
        why = " ".join(str(error).split())[:120]
        raise InputError(f"expected a safetensors file, got: {why}", file=str(path)) from error
    return tensors


def _flat(content: Any, prefix: str = "") -> Iterable[tuple[str, Tensor]]:
    import torch

    if isinstance(content, torch.Tensor):
        yield prefix, content
    elif isinstance(content, Mapping):
        for key, value in content.items():
            yield from _flat(value, f"{prefix}.{key}" if prefix else str(key))


def _listed(keys: Iterable[str], prefix: str = "") -> str:
    names = [prefix + key for key in keys]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _tail(words: str) -> str:
    place = words.find("Unsupported")
    return words[place if place >= 0 else 0 :][:120]
