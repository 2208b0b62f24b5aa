"""The built-in evaluator: a small dual encoder after TMR, trained on the demo corpus by us.

It is there so that every suite runs on a machine without released weights, and to show what the
suites show. It says nothing about motions unlike those of the demo corpus.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.adapters import humanml3d_features
from corpus.motion import Motion
from corpus.problems import InputError
from evaluators.vectors import cosine, in_batches

if TYPE_CHECKING:
    import torch

    from evaluators.networks.dual import DualEncoder

KIND = "motionjury-builtin-evaluator/1"
"""What the weights say they are."""
FRAME_STEP = 2
"""Every second frame of 20 a second is read."""
MAX_FRAMES = 120
"""Frames read at most: 12 seconds."""
MAX_WORDS = 48
"""Words read at most."""
PADDING, UNKNOWN = 0, 1
"""First two numbers of the vocabulary."""
UNKNOWN_WORD = "<unk>"
_PARAMETER = "parameter/"
_BATCH = 64


class BuiltinEvaluator:
    """A trained model; scores are cosines."""

    name = "Built-in"
    native_metric = "cosine"

    def __init__(self, arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> None:
        """Build the network from its weights.

        Args:
            arrays: ``mean``, ``std`` and one array a parameter.
            meta: Vocabulary and configuration, as the weights file holds them.
        """
        import torch

        from evaluators.networks.dual import DualEncoder

        self.meta = meta
        self._mean, self._std = arrays["mean"], arrays["std"]
        self._numbers = {word: k + 2 for k, word in enumerate(meta["vocabulary"])}
        self._width = int(meta["config"]["width"])
        self._network = DualEncoder(meta["config"], len(self._numbers) + 2, len(self._mean))
        self._network.load_state_dict(
            {
                name.removeprefix(_PARAMETER): torch.from_numpy(np.array(array))
                for name, array in arrays.items()
                if name.startswith(_PARAMETER)
            }
        )
        self._network.eval()
        self.fingerprint = fingerprint_of(arrays, meta)

    def visible(self, text: str) -> str:
        """Return the words the model reads, unknown ones as ``<unk>``."""
        return " ".join(
            word if word in self._numbers else UNKNOWN_WORD for word in words_of(text)[:MAX_WORDS]
        )

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, width) unit vectors."""
        numbered = [number_words(text, self._numbers) for text in texts]

        def encode(batch: list[int]) -> torch.Tensor:
            return self._network.encode_text(stack_words([numbered[k] for k in batch]))

        return in_batches([len(words) for words in numbered], _BATCH, encode, self._width)

    def embed_motions(self, motions: Sequence[Motion]) -> NDArray[np.float32]:
        """Return (N, width) unit vectors.

        Raises:
            InputError: A skeleton without HumanML3D's joints, or fewer than two frames at 20 fps.
        """
        from evaluators.vectors import padded

        frames = [normalised(motion, self._mean, self._std) for motion in motions]

        def encode(batch: list[int]) -> torch.Tensor:
            return self._network.encode_motion(*padded([frames[k] for k in batch]))

        return in_batches([len(row) for row in frames], _BATCH, encode, self._width)

    def similarity(
        self, text_embeddings: NDArray[Any], motion_embeddings: NDArray[Any]
    ) -> NDArray[np.float32]:
        """Return (N_texts, N_motions) cosines."""
        return cosine(text_embeddings, motion_embeddings)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, punctuation left out."""
    return re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())


def number_words(text: str, numbers: dict[str, int]) -> list[int]:
    """Return the numbers of a text's words; a text without words is one unknown word."""
    return [numbers.get(word, UNKNOWN) for word in words_of(text)[:MAX_WORDS]] or [UNKNOWN]


def stack_words(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """Return numbered words as a tensor (N, longest), padding behind."""
    import torch

    stacked = torch.full((len(rows), max(len(row) for row in rows)), PADDING, dtype=torch.long)
    for place, row in enumerate(rows):
        stacked[place, : len(row)] = torch.tensor(row)
    return stacked


def read_frames(motion: Motion) -> NDArray[np.float32]:
    """Return the features the model reads of a motion, (T, 263), not normalised."""
    return humanml3d_features(motion)[::FRAME_STEP][:MAX_FRAMES]


def normalised(motion: Motion, mean: NDArray[Any], std: NDArray[Any]) -> NDArray[np.float32]:
    """Return ``read_frames`` with mean 0 and deviation 1 on the training motions."""
    frames: NDArray[np.float32] = ((read_frames(motion) - mean) / std).astype(np.float32)
    return frames


def fingerprint_of(arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> str:
    """Hash (SHA-256, hex) weights, vocabulary and configuration."""
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}{array.dtype}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def parameters(network: DualEncoder) -> dict[str, NDArray[Any]]:
    """Return a network's parameters as the weights file names them."""
    return {
        _PARAMETER + name: value.detach().cpu().numpy().copy()
        for name, value in network.state_dict().items()
    }


def save_weights(path: Path, arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> None:
    """Write a weights file whole; the same weights give the same bytes.

    Raises:
        InputError: The place cannot be written.
    """
    draft = path.with_name(f".{path.name}.new.npz")
    text = np.array(json.dumps({"kind": KIND, **meta}, sort_keys=True))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(draft, allow_pickle=False, meta=text, **arrays)
        os.replace(draft, path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error


def load_weights(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read a weights file; nothing in it is executed.

    Raises:
        InputError: It is not there, damaged, or of another kind.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = dict(json.loads(str(arrays.pop("meta"))))
        kind = meta.pop("kind")
    except FileNotFoundError as error:
        raise InputError(
            "no weights here; make them with `motionjury train builtin`", file=str(path)
        ) from error
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            "expected weights of the built-in evaluator, this file holds none or is damaged",
            file=str(path),
        ) from error
    if kind != KIND:
        raise InputError(f"expected weights of kind {KIND}, got {kind}", file=str(path))
    return arrays, meta


def load_builtin(path: Path | None = None) -> BuiltinEvaluator:
    """Open the built-in evaluator.

    Args:
        path: Weights file; ``default_weights()`` when None.

    Raises:
        InputError: As ``load_weights``, or arrays that are missing or of another shape.
    """
    place = path or default_weights()
    arrays, meta = load_weights(place)
    try:
        return BuiltinEvaluator(arrays, meta)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputError(
            f"these weights do not fit the built-in evaluator ({reason}); make them anew with "
            "`motionjury train builtin`",
            file=str(place),
        ) from error


def default_weights() -> Path:
    """Return where weights go unless a place is named: the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "motionjury" / "models" / "builtin-1.npz"
