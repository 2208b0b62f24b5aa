"""The likelihood of a caption under a motion-to-text model (STRIDE D.2).

Two cores serve every such model: one for encoder and decoder (T5), one for a single decoder (GPT,
Gemma). Each takes a model by its forward pass alone, so that a model from the user's own checkout
will do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluators.vectors import batches

BATCH = 16
"""Pairs scored together (ours)."""
IGNORED = -100
"""Label of a place that does not count."""


class Pair(NamedTuple):
    """One caption behind one prompt, as token ids."""

    prompt: list[int]
    """Ids of the prompt, the motion in it."""
    caption: list[int]
    """Ids of the caption with the end mark, at least one."""


def seq2seq(
    forward: Callable[..., Any], pairs: Sequence[Pair], pad: int, device: Any = None
) -> NDArray[np.float32]:
    """Return the mean log-probability a caption token of a model of encoder and decoder.

    Args:
        forward: Called with ``input_ids``, ``attention_mask`` and ``labels`` (n, L); gives an
            object with ``logits`` (n, L, V), those at place k for label k, as T5 does.
        pairs: Prompts and captions.
        pad: Id of padding in the prompt.
        device: Where the model is; None for the CPU.

    Returns:
        (N,) nats, at most 0.
    """

    def score(batch: Sequence[Pair]) -> Any:
        ids, mask = _rows([pair.prompt for pair in batch], pad)
        labels, _ = _rows([pair.caption for pair in batch], IGNORED)
        ids, mask, labels = ids.to(device), mask.to(device), labels.to(device)
        logits = forward(input_ids=ids, attention_mask=mask, labels=labels).logits
        return _mean_log_probability(logits, labels)

    return _in_batches(pairs, score)


def causal(
    forward: Callable[..., Any], pairs: Sequence[Pair], pad: int, device: Any = None
) -> NDArray[np.float32]:
    """Return the mean log-probability a caption token of a single decoder.

    Args:
        forward: Called with ``input_ids`` and ``attention_mask`` (n, L); gives an object with
            ``logits`` (n, L, V), those at place k for the token at k + 1.
        pairs: Prompts, at least one token each, and captions.
        pad: Id of padding. It may be the end mark: what counts is known by place, not by id.
        device: Where the model is; None for the CPU.

    Returns:
        (N,) nats, at most 0.

    Raises:
        ValueError: An empty prompt: its first token would be predicted from nothing.
    """
    if any(not pair.prompt for pair in pairs):
        raise ValueError("pairs: expected a prompt of at least one token, got an empty one")

    def score(batch: Sequence[Pair]) -> Any:
        ids, mask = _rows([[*pair.prompt, *pair.caption] for pair in batch], pad)
        labels, _ = _rows(
            [[IGNORED] * len(pair.prompt) + list(pair.caption) for pair in batch], IGNORED
        )
        logits = forward(input_ids=ids.to(device), attention_mask=mask.to(device)).logits
        return _mean_log_probability(logits[:, :-1], labels[:, 1:].to(device))

    return _in_batches(pairs, score)


def _mean_log_probability(logits: Any, labels: Any) -> Any:
    """Return (n,); row by row, for a vocabulary may have 256,000 tokens and a prompt counts not."""
    import torch

    found = []
    for row, wanted in zip(logits, labels, strict=True):
        counted = wanted != IGNORED
        chosen = torch.log_softmax(row[counted].float(), dim=-1)
        found.append(chosen.gather(-1, wanted[counted][:, None]).mean())
    return torch.stack(found)


def _in_batches(
    pairs: Sequence[Pair], score: Callable[[Sequence[Pair]], Any]
) -> NDArray[np.float32]:
    import torch

    if any(not pair.caption for pair in pairs):
        raise ValueError("pairs: expected captions of at least one token, got an empty one")
    found = np.zeros(len(pairs), dtype=np.float32)
    lengths = [len(pair.prompt) + len(pair.caption) for pair in pairs]
    with torch.inference_mode():
        for batch in batches(lengths, BATCH):
            found[batch] = score([pairs[k] for k in batch]).cpu().numpy()
    return found


def _rows(rows: Sequence[Sequence[int]], fill: int) -> tuple[Any, Any]:
    import torch

    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), fill, dtype=torch.long)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row, dtype=torch.long)
        mask[place, : len(row)] = 1
    return ids, mask
