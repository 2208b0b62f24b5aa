"""Local Hugging Face models as text scorers: GPT-2, Vera, a grammar classifier; nothing is fetched.

The folder is what ``save_pretrained`` writes or the hub stores: ``config.json``, weights,
tokenizer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from construction.text.scorers import NATS, PROBABILITY, ScorerNotRun
from corpus.problems import InputError

if TYPE_CHECKING:
    from construction.text.scorers import TextScorer

BATCH_TOKENS = 4096
"""Tokens scored at once, padding included (ours)."""
_EDGE_BYTES = 1 << 20
_VERA_ROWS = {"weight": 32099, "bias": 32098, "temperature": 32097}
"""Where Vera keeps its head: rows of T5's word table (model card of liujch1998/vera)."""


class CausalScorer:
    """Likelihood under a local causal language model (GPT-2 in STRIDE 2.2)."""

    unit = NATS
    definition = (
        "mean ln p of the text's tokens and the end token, the first token predicted from the "
        "start token (GPT-2's is its end token); teacher-forced, no padding counted"
    )

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        """Load model and tokenizer.

        Args:
            folder: Folder of the model.
            device: Device as torch names it.

        Raises:
            ScorerNotRun: No such folder, nothing that loads, or the library is not installed.
        """
        transformers = _library()
        config = _config(folder)
        self.papers = config.get("model_type") == "gpt2"
        self._device = device
        self._tokenizer = _load(transformers.AutoTokenizer, folder)
        self._model = _load(transformers.AutoModelForCausalLM, folder).to(device).eval()
        self._end = self._tokenizer.eos_token_id
        start = self._tokenizer.bos_token_id
        self._start = self._end if start is None else start
        if self._end is None:
            raise ScorerNotRun(f"{folder}: the tokenizer has no end token")
        longest = getattr(self._model.config, "max_position_embeddings", None)
        self._longest = int(longest) if longest else 1 << 20
        self.id = f"hf-causal:{folder.name}"
        self.fingerprint = _fingerprint(folder)

    def score(self, texts: Sequence[str]) -> list[float | None]:
        """Return nats per token; None for an empty text or one longer than the model reads."""
        import torch

        rows = [
            [self._start, *self._tokenizer(t, add_special_tokens=False)["input_ids"], self._end]
            for t in texts
        ]
        found: list[float | None] = [None] * len(texts)
        fits = [k for k, row in enumerate(rows) if 2 < len(row) <= self._longest]
        for batch in _batches(fits, lambda k: len(rows[k])):
            width = max(len(rows[k]) for k in batch)
            ids = torch.full((len(batch), width), int(self._end), dtype=torch.long)
            mask = torch.zeros((len(batch), width), dtype=torch.long)
            for place, k in enumerate(batch):
                ids[place, : len(rows[k])] = torch.tensor(rows[k])
                mask[place, : len(rows[k])] = 1
            ids, mask = ids.to(self._device), mask.to(self._device)
            with torch.inference_mode():
                logits = self._model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
                shares = torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None]).squeeze(-1)
                counted = mask[:, 1:]
                means = (shares * counted).sum(1) / counted.sum(1)
            for k, value in zip(batch, means.tolist(), strict=True):
                found[k] = float(value)
        return found


class ClassifierScorer:
    """Probability of one label under a local sequence classifier (grammar: CoLA's *acceptable*)."""

    unit = PROBABILITY
    papers = False

    def __init__(self, folder: Path, label: str = "", device: str = "cpu") -> None:
        """Load model and tokenizer.

        Args:
            folder: Folder of the model.
            label: Name or number of the label; by default the second of two, or the only one.
            device: Device as torch names it.

        Raises:
            ScorerNotRun: Nothing that loads, or the library is not installed.
            InputError: The model has no such label, or several and none is named.
        """
        transformers = _library()
        self._tokenizer = _load(transformers.AutoTokenizer, folder)
        loader = transformers.AutoModelForSequenceClassification
        self._model = _load(loader, folder).to(device).eval()
        self._device = device
        self._label, name = _label(self._model.config, label, folder)
        self.id = f"hf-classifier:{folder.name}:{name}"
        only = " (its only label, logistic)" if self._model.config.num_labels == 1 else ""
        self.definition = f"probability of the label {name}{only}, 0 to 1"
        self.fingerprint = _fingerprint(folder)

    def score(self, texts: Sequence[str]) -> list[float | None]:
        """Return probabilities; None for an empty text or one longer than the model reads."""

        def probabilities(ids: Any, mask: Any) -> Any:
            logits = self._model(input_ids=ids, attention_mask=mask).logits.float()
            return (
                logits[:, 0].sigmoid()
                if logits.shape[1] == 1
                else logits.softmax(-1)[:, self._label]
            )

        longest = getattr(self._model.config, "max_position_embeddings", None)
        # RoBERTa keeps two positions for itself.
        return _classify(texts, self._tokenizer, probabilities, self._device, (longest or 514) - 2)


class VeraScorer:
    """Plausibility under Vera (Liu et al. 2023), whose head stands in T5's word table."""

    unit = PROBABILITY
    papers = False
    definition = "Vera's calibrated plausibility, 0 to 1"

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        """Load model and tokenizer.

        Raises:
            ScorerNotRun: Nothing that loads, the library is not installed, or no head is in it.
        """
        transformers = _library()
        self._tokenizer = _load(transformers.AutoTokenizer, folder)
        self._model = _load(transformers.T5EncoderModel, folder).to(device).eval()
        self._device = device
        table = self._model.shared.weight.detach()
        if table.shape[0] <= max(_VERA_ROWS.values()):
            raise ScorerNotRun(f"{folder}: a T5 encoder without Vera's head in its word table")
        self._weight = table[_VERA_ROWS["weight"]].float()
        self._bias = float(table[_VERA_ROWS["bias"], 0])
        self._temperature = float(table[_VERA_ROWS["temperature"], 0])
        self.id = f"hf-classifier:{folder.name}:vera"
        self.fingerprint = _fingerprint(folder)

    def score(self, texts: Sequence[str]) -> list[float | None]:
        """Return plausibilities; None for an empty text or one of more than 512 tokens."""
        import torch

        def plausibility(ids: Any, mask: Any) -> Any:
            hidden = self._model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
            last = hidden[torch.arange(len(ids)), mask.sum(1) - 1]
            return ((last @ self._weight + self._bias) / self._temperature).sigmoid()

        return _classify(texts, self._tokenizer, plausibility, self._device, 512)


def open_classifier(name: str, device: str = "cpu") -> TextScorer:
    """Return the classifier of ``FOLDER[:LABEL]``; a T5 encoder is read as Vera.

    Raises:
        ScorerNotRun: It cannot work here.
        InputError: No such label.
    """
    folder, label = Path(name).expanduser(), ""
    if not folder.exists() and ":" in name:
        before, _, label = name.rpartition(":")
        folder = Path(before).expanduser()
    kinds = _config(folder).get("architectures") or []
    if any(str(kind).startswith("T5Encoder") for kind in kinds):
        return VeraScorer(folder, device)
    return ClassifierScorer(folder, label, device)


def _classify(
    texts: Sequence[str],
    tokenizer: Any,
    model: Callable[[Any, Any], Any],
    device: str,
    longest: int,
) -> list[float | None]:
    import torch

    rows = [tokenizer(text)["input_ids"] for text in texts]
    found: list[float | None] = [None] * len(texts)
    fits = [k for k, row in enumerate(rows) if texts[k].strip() and 0 < len(row) <= longest]
    pad = tokenizer.pad_token_id or 0
    for batch in _batches(fits, lambda k: len(rows[k])):
        width = max(len(rows[k]) for k in batch)
        ids = torch.full((len(batch), width), int(pad), dtype=torch.long)
        mask = torch.zeros((len(batch), width), dtype=torch.long)
        for place, k in enumerate(batch):
            ids[place, : len(rows[k])] = torch.tensor(rows[k])
            mask[place, : len(rows[k])] = 1
        with torch.inference_mode():
            values = model(ids.to(device), mask.to(device)).tolist()
        for k, value in zip(batch, values, strict=True):
            found[k] = float(value)
    return found


def _batches(places: Sequence[int], length: Callable[[int], int]) -> Iterator[list[int]]:
    """Yield places of like length together, so that little is padding."""
    batch: list[int] = []
    for place in sorted(places, key=length):
        if batch and length(place) * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _library() -> Any:
    try:
        import transformers
    except ImportError:
        raise ScorerNotRun("the library transformers is not installed") from None
    return transformers


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ScorerNotRun(f"{folder}: expected a folder with config.json") from None
    except (OSError, ValueError) as error:
        raise ScorerNotRun(f"{folder}: config.json cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise ScorerNotRun(f"{folder}: config.json is no JSON object")
    return config


def _load(kind: Any, folder: Path) -> Any:
    _config(folder)
    try:
        return kind.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        words = " ".join(str(error).split())[:200]
        raise ScorerNotRun(f"{folder}: cannot be loaded: {words}") from error


def _label(config: Any, label: str, folder: Path) -> tuple[int, str]:
    names = {int(k): str(v) for k, v in dict(config.id2label).items()}
    if not label:
        if len(names) > 2:
            listed = ", ".join(names.values())
            raise InputError(f"name one of the labels {listed}", file=f"hf-classifier:{folder}")
        place = len(names) - 1
        return place, names[place]
    for place, name in names.items():
        if label in (name, str(place)):
            return place, name
    listed = ", ".join(names.values())
    raise InputError(f"expected one of {listed}, got {label!r}", file=f"hf-classifier:{folder}")


def _fingerprint(folder: Path) -> str:
    """Hash names, sizes, small files whole and the two ends of large ones."""
    found = hashlib.sha256()
    for path in sorted(p for p in folder.iterdir() if p.is_file()):
        size = path.stat().st_size
        found.update(f"{path.name}:{size}\n".encode())
        with path.open("rb") as file:
            found.update(file.read(_EDGE_BYTES))
            if size > 2 * _EDGE_BYTES:
                file.seek(-_EDGE_BYTES, 2)
            found.update(file.read())
    return found.hexdigest()
