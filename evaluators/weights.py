"""Tensors of a checkpoint by key: whose they are, and how they get into a network.

What a network needs and the file lacks is named, and so is the model another file belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from corpus.problems import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

    M = TypeVar("M", bound=nn.Module)

_LISTED = 6
"""Keys listed in a message; the others are counted (ours)."""
_LONGEST_KEY = 120
"""Characters of a key in a message (ours)."""

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
            InputError: There is none, or most between them are missing.
        """
        names = {
            key[len(prefix) :].split(".")[0] for key in self._tensors if key.startswith(prefix)
        }
        numbers = {int(name) for name in names if name.isdecimal() and len(name) < 6}
        # Layers without parameters leave gaps, but never more than there are others.
        absent = [k for k in range(max(numbers, default=0) + 1) if k not in numbers]
        if len(absent) > len(numbers):
            raise InputError(
                f"the checkpoint has no {self._prefix}{prefix}{absent[0]}", file=self._file
            )
        return max(numbers, default=-1) + 1

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

    def build(self, make: Callable[[], M]) -> tuple[M, tuple[str, ...]]:
        """Lay out a network and load it; no memory is taken before all shapes agree.

        Args:
            make: Lays out the network in sizes read from these tensors.

        Returns:
            The network, and the keys that it has no place for.

        Raises:
            InputError: As ``into``, or no such network can have these sizes.
        """
        import torch

        try:
            with torch.device("meta"):
                network = make()
        except (ValueError, AssertionError, ArithmeticError, RuntimeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{self._prefix or 'the checkpoint'}: no network has tensors of these sizes: "
                f"{str(error)[:120]}",
                file=self._file,
            ) from error
        return network, self.into(network)

    def into(self, module: nn.Module) -> tuple[str, ...]:
        """Load every parameter and buffer of a module.

        Args:
            module: The network, whose names are the checkpoint's keys; one on the device ``meta``
                takes the tensors over as they are.

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
            if target.is_floating_point() and not given.is_floating_point():
                kind = str(given.dtype).removeprefix("torch.")
                raise InputError(
                    f"{self._prefix}{key}: expected floating point numbers, got {kind}",
                    file=self._file,
                )
            if target.is_floating_point() and not torch.isfinite(given).all():
                raise InputError(
                    f"{self._prefix}{key}: expected finite numbers, got NaN or infinity",
                    file=self._file,
                )
        bare = any(target.is_meta for target in wanted.values())
        module.load_state_dict(
            {
                key: self._tensors[key].to(target.dtype).contiguous()
                for key, target in wanted.items()
            },
            assign=bare,
        )
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


def _listed(keys: Iterable[str], prefix: str = "") -> str:
    # A key may hold anything, such as what would colour a terminal.
    names = ["".join(filter(str.isprintable, prefix + key))[:_LONGEST_KEY] for key in keys]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
