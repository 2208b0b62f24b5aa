"""CLIP's text tower (Radford et al. 2021) and CLaM's motion transformer, of the same blocks."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

from evaluators.weights import Weights

HEAD_WIDTH = 64
"""Width of one attention head in CLIP and in CLaM."""


class _QuickGelu(nn.Module):
    def forward(self, states: Tensor) -> Tensor:
        return states * torch.sigmoid(1.702 * states)


class _Block(nn.Module):
    """Attention and feed-forward, each behind its normalisation."""

    def __init__(self, width: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.ln_1 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            OrderedDict(
                c_fc=nn.Linear(width, hidden), gelu=_QuickGelu(), c_proj=nn.Linear(hidden, width)
            )
        )
        self.ln_2 = nn.LayerNorm(width)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        normal = self.ln_1(states)
        states = states + self.attn(normal, normal, normal, attn_mask=mask, need_weights=False)[0]
        out: Tensor = states + self.mlp(self.ln_2(states))
        return out


class _Causal(nn.Module):
    """Blocks in which no step sees a later one."""

    def __init__(self, width: int, hidden: int, layers: int, heads: int) -> None:
        super().__init__()
        self.resblocks = nn.ModuleList(_Block(width, hidden, heads) for _ in range(layers))

    def forward(self, states: Tensor) -> Tensor:
        length = states.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=states.device).triu(1)
        for block in self.resblocks:
            states = block(states, later)
        return states


class TextTower(nn.Module):
    """Token ids to one vector, read at the end mark, which has the greatest id."""

    def __init__(
        self, words: int, context: int, width: int, hidden: int, layers: int, heads: int, out: int
    ) -> None:
        """Lay out the network.

        Args:
            words: Size of the vocabulary: 49,408.
            context: Tokens of a text, padding included: 77.
            width: Width inside: 512.
            hidden: Width of the feed-forward layers: 2,048.
            layers: Number of layers: 12.
            heads: Attention heads: 8.
            out: Width of the vector: 512.
        """
        super().__init__()
        self.transformer = _Causal(width, hidden, layers, heads)
        self.token_embedding = nn.Embedding(words, width)
        self.positional_embedding = nn.Parameter(torch.zeros(context, width))
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.zeros(width, out))

    def forward(self, ids: Tensor) -> Tensor:
        """Return (N, out) of (N, context) ids."""
        states = self.token_embedding(ids) + self.positional_embedding
        states = self.ln_final(self.transformer(states))
        last = states[torch.arange(len(ids), device=ids.device), ids.argmax(dim=-1)]
        out: Tensor = last @ self.text_projection
        return out


class MotionTransformer(nn.Module):
    """Movement units to one vector, read at a class token that stands behind the last unit."""

    def __init__(
        self, features: int, units: int, width: int, hidden: int, layers: int, heads: int, out: int
    ) -> None:
        """Lay out the network.

        Args:
            features: Width of a unit: 512.
            units: Most units: 49.
            width: Width inside: 768.
            hidden: Width of the feed-forward layers: 3,072.
            layers: Number of layers: 12.
            heads: Attention heads: 12.
            out: Width of the vector: 512.
        """
        super().__init__()
        self.proj_pre = nn.Parameter(torch.zeros(features, width))
        self.class_embedding = nn.Parameter(torch.zeros(width))
        self.positional_embedding = nn.Parameter(torch.zeros(units + 1, width))
        self.ln_pre = nn.LayerNorm(width)
        self.transformer = _Causal(width, hidden, layers, heads)
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.zeros(width, out))

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        """Return (N, out) of (N, units, features) and (N,) numbers of units, 0 to ``units``."""
        rows = torch.arange(len(units), device=units.device)
        ends = lengths.to(units.device)
        states = units @ self.proj_pre
        states = torch.cat((states, torch.zeros_like(states[:, :1])), dim=1)
        states[rows, ends] = self.class_embedding
        states = self.transformer(self.ln_pre(states + self.positional_embedding))
        out: Tensor = self.ln_post(states[rows, ends]) @ self.proj
        return out


def text_tower(weights: Weights, heads: int | None = None) -> tuple[TextTower, tuple[str, ...]]:
    """Build and fill the text tower; return it and the keys left over.

    Args:
        weights: ``token_embedding.``, ``transformer.resblocks.`` …
        heads: Attention heads; by default one for every 64 of the width.

    Raises:
        InputError: A key is missing.
    """
    words, width = weights.shape("token_embedding.weight", 2)
    return weights.build(
        lambda: TextTower(
            words,
            weights.shape("positional_embedding", 2)[0],
            width,
            weights.shape("transformer.resblocks.0.mlp.c_fc.weight", 2)[0],
            weights.layers("transformer.resblocks."),
            heads or max(1, width // HEAD_WIDTH),
            weights.shape("text_projection", 2)[1],
        )
    )


def motion_transformer(
    weights: Weights, heads: int | None = None
) -> tuple[MotionTransformer, tuple[str, ...]]:
    """Build and fill the motion transformer; arguments and errors as ``text_tower``."""
    features, width = weights.shape("proj_pre", 2)
    return weights.build(
        lambda: MotionTransformer(
            features,
            weights.shape("positional_embedding", 2)[0] - 1,
            width,
            weights.shape("transformer.resblocks.0.mlp.c_fc.weight", 2)[0],
            weights.layers("transformer.resblocks."),
            heads or max(1, width // HEAD_WIDTH),
            weights.shape("proj", 2)[1],
        )
    )
