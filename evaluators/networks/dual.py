"""The built-in dual encoder: two small transformers into one space, after TMR."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn


class TokenEncoder(nn.Module):
    """A transformer over a sequence, read out at a learned first token (Petrovich et al. 2023)."""

    def __init__(self, width: int, layers: int, heads: int, dropout: float) -> None:
        """Build the layers.

        Args:
            width: Width of a token and of the result.
            layers: Number of layers.
            heads: Heads of attention.
            dropout: Share of values dropped in training.
        """
        super().__init__()
        self.token = nn.Parameter(torch.randn(width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout, activation="gelu", batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width, width)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Encode a batch.

        Args:
            tokens: (B, T, width).
            mask: (B, T) bool, true where there is a token.

        Returns:
            (B, width).
        """
        batch, length, width = tokens.shape
        first = self.token.expand(batch, 1, width)
        x = torch.cat((first, tokens), dim=1)
        x = self.dropout(x + positions(length + 1, width))
        blank = torch.cat((torch.zeros(batch, 1, dtype=torch.bool), ~mask), dim=1)
        encoded: torch.Tensor = self.head(self.layers(x, src_key_padding_mask=blank)[:, 0])
        return encoded


class DualEncoder(nn.Module):
    """Text and motion encoders of one width."""

    def __init__(self, config: dict[str, Any], words: int, features: int) -> None:
        """Build both encoders.

        Args:
            config: ``width``, ``layers``, ``heads``, ``dropout``.
            words: Size of the vocabulary, padding and unknown included.
            features: Width of a frame.
        """
        super().__init__()
        width = int(config["width"])
        shape = (width, int(config["layers"]), int(config["heads"]), float(config["dropout"]))
        self.words = nn.Embedding(words, width, padding_idx=0)
        self.frames = nn.Linear(features, width)
        self.text = TokenEncoder(*shape)
        self.motion = TokenEncoder(*shape)

    def encode_text(self, tokens: torch.Tensor) -> torch.Tensor:
        """Encode word numbers (B, T), 0 for padding, into unit vectors (B, width)."""
        return nn.functional.normalize(self.text(self.words(tokens), tokens > 0), dim=1)

    def encode_motion(self, frames: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Encode frames (B, T, F) with a mask (B, T) into unit vectors (B, width)."""
        return nn.functional.normalize(self.motion(self.frames(frames), mask), dim=1)


def positions(length: int, width: int) -> torch.Tensor:
    """Return sinusoidal positions (length, width) (Vaswani et al. 2017)."""
    at = torch.arange(length, dtype=torch.float32)[:, None]
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(at * rate)
    table[:, 1::2] = torch.cos(at * rate)
    return table
