"""DistilBERT's encoder (Sanh et al. 2019), by the names its released weights have."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluators.weights import Weights

HEAD_WIDTH = 64
"""Width of one attention head in every released size."""


class _Embeddings(nn.Module):
    def __init__(self, words: int, positions: int, width: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(words, width)
        self.position_embeddings = nn.Embedding(positions, width)
        self.LayerNorm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        summed = self.word_embeddings(ids) + self.position_embeddings(places)
        normal: Tensor = self.LayerNorm(summed)
        return normal


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.q_lin = nn.Linear(width, width)
        self.k_lin = nn.Linear(width, width)
        self.v_lin = nn.Linear(width, width)
        self.out_lin = nn.Linear(width, width)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        rows, length, width = states.shape

        def by_head(flat: Tensor) -> Tensor:
            return flat.view(rows, length, self._heads, width // self._heads).transpose(1, 2)

        query, key, value = (
            by_head(layer(states)) for layer in (self.q_lin, self.k_lin, self.v_lin)
        )
        weights = query @ key.transpose(2, 3) / math.sqrt(width // self._heads)
        weights = weights.masked_fill(~mask[:, None, None, :], float("-inf")).softmax(-1)
        mixed = (weights @ value).transpose(1, 2).reshape(rows, length, width)
        out: Tensor = self.out_lin(mixed)
        return out


class _FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.lin1 = nn.Linear(width, hidden)
        self.lin2 = nn.Linear(hidden, width)

    def forward(self, states: Tensor) -> Tensor:
        out: Tensor = self.lin2(functional.gelu(self.lin1(states)))
        return out


class _Block(nn.Module):
    def __init__(self, width: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.attention = _Attention(width, heads)
        self.sa_layer_norm = nn.LayerNorm(width, eps=1e-12)
        self.ffn = _FeedForward(width, hidden)
        self.output_layer_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        states = self.sa_layer_norm(self.attention(states, mask) + states)
        out: Tensor = self.output_layer_norm(self.ffn(states) + states)
        return out


class _Stack(nn.Module):
    def __init__(self, width: int, hidden: int, heads: int, layers: int) -> None:
        super().__init__()
        self.layer = nn.ModuleList(_Block(width, hidden, heads) for _ in range(layers))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        for block in self.layer:
            states = block(states, mask)
        return states


class DistilBert(nn.Module):
    """Token ids to a vector for each token."""

    def __init__(
        self, words: int, positions: int, width: int, hidden: int, layers: int, heads: int
    ) -> None:
        """Lay out the network.

        Args:
            words: Size of the vocabulary: 30,522.
            positions: Longest text in tokens: 512.
            width: Width of a vector: 768.
            hidden: Width of the feed-forward layers: 3,072.
            layers: Number of layers: 6.
            heads: Attention heads: 12.
        """
        super().__init__()
        self.embeddings = _Embeddings(words, positions, width)
        self.transformer = _Stack(width, hidden, heads, layers)
        self.longest = positions
        self.width = width

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return (N, L, width) of (N, L) ids and (N, L) bool, true where a token is."""
        out: Tensor = self.transformer(self.embeddings(ids), mask)
        return out


def distilbert(weights: Weights, heads: int | None = None) -> tuple[DistilBert, tuple[str, ...]]:
    """Build and fill DistilBERT; return it and the keys left over.

    Args:
        weights: ``embeddings.`` and ``transformer.layer.``.
        heads: Attention heads; by default one for every 64 of the width.

    Raises:
        InputError: A key is missing.
    """
    words, width = weights.shape("embeddings.word_embeddings.weight", 2)
    return weights.build(
        lambda: DistilBert(
            words,
            weights.shape("embeddings.position_embeddings.weight", 2)[0],
            width,
            weights.shape("transformer.layer.0.ffn.lin1.weight", 2)[0],
            weights.layers("transformer.layer."),
            heads or max(1, width // HEAD_WIDTH),
        )
    )
