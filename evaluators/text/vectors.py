"""Captions as a vector for each token: computed beforehand, by DistilBERT, or by T5.

TMR and SnapMoGen read the last hidden states of a frozen language model that is in neither
checkpoint. Every source here gives the same thing: one (L, D) array a caption.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import fingerprint, read_array, read_weights
from evaluators.text.wordpiece import WordPieces
from evaluators.vectors import NEAR, batches, device_of, run_batches

TokenRows = NDArray[np.float32]
_BATCH = 64


class TokenVectors(Protocol):
    """Gives a vector for each token of a caption."""

    @property
    def id(self) -> str:
        """What it is, for results."""

    @property
    def fingerprint(self) -> str:
        """Hash (hex) of what decides its vectors."""

    @property
    def width(self) -> int:
        """Width of a vector."""

    def rows(self, texts: Sequence[str]) -> list[TokenRows]:
        """Return (L, width) for each text, L at least 1."""

    def visible(self, text: str) -> str:
        """Return what is left of a text after truncation and unknown words."""


class GivenVectors:
    """Token vectors computed beforehand, in TMR's three files (``token_embeddings/``)."""

    def __init__(self, file: Path, fallback: TokenVectors | None = None) -> None:
        """Read ``NAME.npy`` (tokens, D), ``NAME_slice.npy`` (texts, 2), ``NAME_index.json``.

        Args:
            file: ``NAME.npy``.
            fallback: Asked for a text that is not in the index; None refuses it.

        Raises:
            InputError: A file is missing, or they do not belong together.
        """
        beside = file.with_suffix("")
        index = Path(f"{beside}_index.json")
        slices = Path(f"{beside}_slice.npy")
        self._vectors = read_array(file)
        try:
            self._spans = np.asarray(np.load(slices, mmap_mode="r", allow_pickle=False), np.int64)
            self._places = json.loads(index.read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(
                f"expected {slices.name} and {index.name} beside it: {error}", file=str(file)
            ) from error
        spans, count = self._spans, len(self._vectors)
        fits = spans.ndim == 2 and spans.shape[1] == 2 and self._vectors.ndim == 2
        places = self._places.values() if isinstance(self._places, dict) else ()
        if not fits or len(places) != len(spans):
            raise InputError(
                f"expected (tokens, D), (texts, 2) and one place a text, got "
                f"{self._vectors.shape}, {spans.shape} and {len(places)} texts",
                file=str(file),
            )
        if not all(isinstance(place, int) and 0 <= place < len(spans) for place in places):
            raise InputError(f"expected places from 0 to {len(spans) - 1}", file=str(index))
        if len(spans) and (
            spans.min() < 0 or spans.max() > count or (spans[:, 0] >= spans[:, 1]).any()
        ):
            raise InputError(f"a span leaves the {count} tokens or is empty", file=str(slices))
        if fallback is not None and fallback.width != self._vectors.shape[1]:
            raise InputError(
                f"expected vectors of width {fallback.width}, got {self._vectors.shape[1]}",
                file=str(file),
            )
        self._fallback = fallback
        self.id = f"vectors given in {file.name}" + (f", else {fallback.id}" if fallback else "")
        own = fingerprint({"vectors": file, "slices": slices, "index": index}, {})
        self.fingerprint = own + (fallback.fingerprint if fallback else "")

    @property
    def width(self) -> int:
        """Width of a vector."""
        return int(self._vectors.shape[1])

    def rows(self, texts: Sequence[str]) -> list[TokenRows]:
        """Return the given vectors.

        Raises:
            InputError: A text without vectors and no model to make them.
        """
        absent = [text for text in texts if text not in self._places]
        if absent and self._fallback is None:
            raise InputError(
                f"{len(absent)} of {len(texts)} captions have no vectors, such as "
                f"{absent[0][:60]!r}; give the language model too"
            )
        made = iter(self._fallback.rows(absent) if self._fallback and absent else ())
        found = []
        for text in texts:
            if text in self._places:
                start, end = self._spans[self._places[text]]
                found.append(self._vectors[start:end])
            else:
                found.append(next(made))
        return found

    def visible(self, text: str) -> str:
        """Return the text itself where its vectors are given, else what the model sees."""
        if text in self._places or self._fallback is None:
            return text
        return self._fallback.visible(text)


class DistilBertVectors:
    """Last hidden states of DistilBERT from a local folder; texts longer than it reads are cut."""

    def __init__(self, folder: Path, device: str = "auto") -> None:
        """Read ``vocab.txt`` and ``model.safetensors`` or ``pytorch_model.bin``.

        Raises:
            InputError: A file is missing or is no DistilBERT.
        """
        from evaluators.networks.distilbert import distilbert

        weights = read_weights(_weights_file(folder))
        if "distilbert.embeddings.word_embeddings.weight" in weights:
            weights = weights.below("distilbert.")
        self._pieces = WordPieces.read(folder)
        self._device = device_of(device)
        network, _ = distilbert(weights)
        self._network = network.to(self._device)
        words = network.embeddings.word_embeddings.num_embeddings
        if len(self._pieces) > words:
            raise InputError(
                f"vocab.txt has {len(self._pieces)} pieces, the model {words}", file=str(folder)
            )
        self.id = folder.name
        self.fingerprint = fingerprint(
            {"weights": _weights_file(folder), "vocab": folder / "vocab.txt"}, {}
        )

    @property
    def width(self) -> int:
        """Width of a vector."""
        return self._network.width

    def rows(self, texts: Sequence[str]) -> list[TokenRows]:
        """Return the hidden states of all tokens, [CLS] and [SEP] included."""
        ids = [self._pieces.ids(text, self._network.longest) for text in texts]
        return hidden_states(ids, self._pieces.pad, self._network, self._device)

    def visible(self, text: str) -> str:
        """Return the word pieces that are read."""
        return self._pieces.visible(text, self._network.longest)


class T5Vectors:
    """Last hidden states of a T5 encoder from a local folder, cut to a number of tokens."""

    def __init__(self, folder: Path, longest: int = 120, device: str = "auto") -> None:
        """Load tokenizer and encoder; nothing is fetched.

        Args:
            folder: What ``save_pretrained`` writes or the hub stores.
            longest: Most tokens, the end mark included: 120 for SnapMoGen.
            device: As ``device_of``.

        Raises:
            InputError: transformers is not installed, or nothing there that loads.
        """
        self._tokenizer, model = load_transformers(folder, "T5EncoderModel")
        self._device = device_of(device)
        self._model = model.to(self._device)
        self._longest = longest
        self.id = f"{folder.name}, {longest} tokens"
        self.fingerprint = fingerprint({"model": folder}, {"longest": longest})

    @property
    def width(self) -> int:
        """Width of a vector."""
        return int(self._model.config.d_model)

    def rows(self, texts: Sequence[str]) -> list[TokenRows]:
        """Return the hidden states of all tokens, the end mark included."""

        def encode(ids: Any, mask: Any) -> Any:
            return self._model(input_ids=ids, attention_mask=mask.long()).last_hidden_state

        ids = [self._ids(text) for text in texts]
        return hidden_states(ids, int(self._tokenizer.pad_token_id or 0), encode, self._device)

    def visible(self, text: str) -> str:
        """Return the tokens that are read."""
        return " ".join(map(str, self._tokenizer.convert_ids_to_tokens(self._ids(text))))

    def _ids(self, text: str) -> list[int]:
        found = self._tokenizer(text, truncation=True, max_length=self._longest)["input_ids"]
        return [int(k) for k in found]


def hidden_states(
    ids: Sequence[Sequence[int]], pad: int, encode: Any, device: Any
) -> list[TokenRows]:
    """Run a language model on token ids of unequal length.

    Args:
        ids: Token ids of each text.
        pad: Id of padding.
        encode: Given ids (n, L) and a mask (n, L), returns (n, L, D).
        device: Where it runs.

    Returns:
        (L, D) for each text, padding taken off.
    """
    import torch

    found: list[TokenRows] = [np.zeros((0, 0), dtype=np.float32)] * len(ids)

    def work(batch: list[int]) -> None:
        width = max(len(ids[k]) for k in batch)
        tokens = torch.full((len(batch), width), pad, dtype=torch.long)
        mask = torch.zeros((len(batch), width), dtype=torch.bool)
        for place, k in enumerate(batch):
            tokens[place, : len(ids[k])] = torch.tensor(ids[k])
            mask[place, : len(ids[k])] = True
        states = encode(tokens.to(device), mask.to(device)).float().cpu().numpy()
        for place, k in enumerate(batch):
            found[k] = states[place, : len(ids[k])]

    run_batches(list(batches([len(row) for row in ids], _BATCH, near=NEAR)), work)
    return found


def load_transformers(folder: Path, model: str) -> tuple[Any, Any]:
    """Load a tokenizer and a model of the library transformers from a local folder.

    Args:
        folder: The folder.
        model: Name of the class, e.g. ``T5EncoderModel``.

    Returns:
        Tokenizer and model, in float32 and without dropout.

    Raises:
        InputError: The library is not installed, nothing there that loads, or weights are missing
            that the library would draw at random.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise InputError(
            "the library transformers is not installed: pip install motionjury[scorers]"
        ) from error
    if not (folder / "config.json").is_file():
        raise InputError("expected a folder with config.json", file=str(folder))
    try:
        tokenizer = local_tokenizer(folder)
        loaded, report = getattr(transformers, model).from_pretrained(
            str(folder), local_files_only=True, dtype=torch.float32, output_loading_info=True
        )
    # The libraries raise their own exceptions, some plain ones, for files that are not theirs.
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be loaded: {words}", file=str(folder)) from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise InputError(
            f"the weights lack {', '.join(missing[:3])}"
            + (f" and {len(missing) - 3} more" if len(missing) > 3 else ""),
            file=str(folder),
        )
    return tokenizer, loaded.eval()


def local_tokenizer(folder: Path) -> Any:
    """Load a tokenizer of the library transformers from a local folder; code in it is never run."""
    import transformers

    return transformers.AutoTokenizer.from_pretrained(
        str(folder), local_files_only=True, trust_remote_code=False
    )


def open_vectors(
    given: Path | None, folder: Path | None, *, t5: bool = False, device: str = "auto"
) -> TokenVectors:
    """Return token vectors from what there is: given ones first, else a local model.

    Args:
        given: ``NAME.npy`` of given vectors.
        folder: Folder of the language model.
        t5: Whether the folder holds T5, else DistilBERT.
        device: As ``device_of``.

    Raises:
        InputError: Neither is there.
    """
    model: TokenVectors | None = None
    if folder is not None:
        model = T5Vectors(folder, device=device) if t5 else DistilBertVectors(folder, device)
    if given is not None:
        return GivenVectors(given, model)
    if model is None:
        name = "T5's folder (--file t5=DIR)" if t5 else "DistilBERT's folder (--file bert=DIR)"
        raise InputError(
            f"the model reads token vectors: give {name} or vectors made beforehand "
            "(--file vectors=NAME.npy)"
        )
    return model


def _weights_file(folder: Path) -> Path:
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file():
            return folder / name
    raise InputError("expected model.safetensors or pytorch_model.bin", file=str(folder))
