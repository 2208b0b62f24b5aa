"""A vision transformer (Dosovitskiy et al. 2021) by timm's names, and the head of MotionPatches."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluators.weights import Weights

HEAD_WIDTH = 64
"""Width of one attention head in the ViT-B both models start from."""
PATCH = 16
"""Side of a patch: frames, and samples of a body part."""
_EPSILON = 1e-6


class _PatchEmbedding(nn.Module):
    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(channels, width, PATCH, PATCH)

    def forward(self, picture: Tensor) -> Tensor:
        patches: Tensor = self.proj(picture).flatten(2).transpose(1, 2)
        return patches


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, states: Tensor) -> Tensor:
        rows, length, width = states.shape
        split = self.qkv(states).view(rows, length, 3, self._heads, width // self._heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(2, 3) / math.sqrt(width // self._heads)).softmax(-1)
        out: Tensor = self.proj((weights @ value).transpose(1, 2).reshape(rows, length, width))
        return out


class _FeedForward(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)

    def forward(self, states: Tensor) -> Tensor:
        out: Tensor = self.fc2(functional.gelu(self.fc1(states)))
        return out


class _Block(nn.Module):
    def __init__(self, width: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=_EPSILON)
        self.attn = _Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=_EPSILON)
        self.mlp = _FeedForward(width, hidden)

    def forward(self, states: Tensor) -> Tensor:
        states = states + self.attn(self.norm1(states))
        out: Tensor = states + self.mlp(self.norm2(states))
        return out


class PatchTransformer(nn.Module):
    """A picture to one vector: the mean of its patches, or its class token beside registers."""

    def __init__(
        self,
        patches: int,
        channels: int,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        registers: int = 0,
    ) -> None:
        """Lay out the network.

        Args:
            patches: Number of patches: 70.
            channels: Channels of the picture: 3.
            width: Width inside: 768.
            hidden: Width of the feed-forward layers: 3,072.
            layers: Number of layers: 12.
            heads: Attention heads: 12.
            registers: Register tokens behind the class token: 0, in SGAR 5. With them the class
                token is read behind ``norm``; without, the mean of the patches behind ``fc_norm``.
        """
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + registers + patches, width))
        self.patch_embed = _PatchEmbedding(channels, width)
        self.blocks = nn.ModuleList(_Block(width, hidden, heads) for _ in range(layers))
        self.reg_token = nn.Parameter(torch.zeros(1, registers, width)) if registers else None
        if registers:
            self.norm = nn.LayerNorm(width, eps=_EPSILON)
        else:
            self.fc_norm = nn.LayerNorm(width, eps=_EPSILON)

    def states(self, picture: Tensor) -> Tensor:
        """Return (N, tokens, width), the class token first, then registers, then patches."""
        rows = len(picture)
        tokens = [self.cls_token.expand(rows, -1, -1)]
        if self.reg_token is not None:
            tokens.append(self.reg_token.expand(rows, -1, -1))
        states = torch.cat((*tokens, self.patch_embed(picture)), dim=1) + self.pos_embed
        for block in self.blocks:
            states = block(states)
        return states

    def forward(self, picture: Tensor) -> Tensor:
        """Return (N, width) of (N, channels, 224, 80)."""
        states = self.states(picture)
        if self.reg_token is not None:
            out: Tensor = self.norm(states[:, 0])
        else:
            out = self.fc_norm(states[:, 1:].mean(dim=1))
        return out


class ProjectionHead(nn.Module):
    """A vector into the common space: a linear layer, one more beside it, a normalisation."""

    def __init__(self, width: int, out: int) -> None:
        """Lay out the network: width of the encoder's vector, width of the space."""
        super().__init__()
        self.projection = nn.Linear(width, out)
        self.fc = nn.Linear(out, out)
        self.layer_norm = nn.LayerNorm(out)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return (N, out) of (N, width)."""
        first = self.projection(vectors)
        out: Tensor = self.layer_norm(self.fc(functional.gelu(first)) + first)
        return out


def patch_transformer(
    weights: Weights, heads: int | None = None
) -> tuple[PatchTransformer, tuple[str, ...]]:
    """Build and fill the transformer; return it and the keys left over.

    Args:
        weights: ``cls_token``, ``pos_embed``, ``patch_embed.``, ``blocks.`` and, with registers,
            ``reg_token`` and ``norm.``, else ``fc_norm.``.
        heads: Attention heads; by default one for every 64 of the width.

    Raises:
        InputError: A key is missing.
    """
    width, channels, _, _ = weights.shape("patch_embed.proj.weight", 4)
    registers = weights.shape("reg_token", 3)[1] if "reg_token" in weights else 0
    return weights.build(
        lambda: PatchTransformer(
            weights.shape("pos_embed", 3)[1] - 1 - registers,
            channels,
            width,
            weights.shape("blocks.0.mlp.fc1.weight", 2)[0],
            weights.layers("blocks."),
            heads or max(1, width // HEAD_WIDTH),
            registers,
        )
    )


def projection_head(weights: Weights) -> tuple[ProjectionHead, tuple[str, ...]]:
    """Build and fill a head; return it and the keys left over."""
    out, width = weights.shape("projection.weight", 2)
    return weights.build(lambda: ProjectionHead(width, out))
