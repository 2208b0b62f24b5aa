"""The encoder of TMR and its kin: tokens before a sequence, read back after a transformer.

Petrovich et al. (2021, 2023). The same layout serves TEMOS trained in TMR's repository, ChronRet,
and, with a linear layer behind it, SnapMoGen's evaluator.
"""

from __future__ import annotations

import math
from typing import TypeVar

import torch
from torch import Tensor, nn

from corpus.problems import InputError
from evaluators.weights import Weights

HEADS = 4
"""Attention heads of every released model of this kind; no tensor's shape tells them."""
POSITIONS = 5000
"""Longest sequence, tokens included."""


class _Positions(nn.Module):
    """Adds the sine and cosine position code; not kept in checkpoints."""

    pe: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        # Never on the device ``meta``: no checkpoint fills it.
        place = torch.arange(POSITIONS, device="cpu").unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2, device="cpu") * (-math.log(10000.0) / width))
        code = torch.zeros(POSITIONS, width, device="cpu")
        code[:, 0::2] = torch.sin(place * rate)
        code[:, 1::2] = torch.cos(place * rate)
        self.register_buffer("pe", code, persistent=False)

    def forward(self, sequence: Tensor) -> Tensor:
        return sequence + self.pe[: sequence.shape[1]]


class SequenceEncoder(nn.Module):
    """A sequence of any length to its tokens' outputs."""

    def __init__(
        self, features: int, tokens: int, width: int, hidden: int, layers: int, heads: int = HEADS
    ) -> None:
        """Lay out the network.

        Args:
            features: Width of a step.
            tokens: Tokens put before the sequence: 2 for mean and log-variance, 1 without.
            width: Width inside: 256.
            hidden: Width of the feed-forward layers: 1024.
            layers: Number of layers: 6.
            heads: Attention heads.
        """
        super().__init__()
        self.projection = nn.Linear(features, width)
        self.tokens = nn.Parameter(torch.zeros(tokens, width))
        self.sequence_pos_encoding = _Positions(width)
        layer = nn.TransformerEncoderLayer(
            width, heads, hidden, dropout=0.1, activation="gelu", batch_first=True
        )
        self.seqTransEncoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, steps: Tensor, mask: Tensor) -> Tensor:
        """Return (N, tokens, width) of (N, T, features) and (N, T) bool, true where a step is.

        Raises:
            InputError: More steps than there are positions.
        """
        count = len(self.tokens)
        tokens = self.tokens.expand(len(steps), -1, -1)
        sequence = torch.cat((tokens, self.projection(steps)), dim=1)
        if sequence.shape[1] > POSITIONS:
            raise InputError(
                f"expected at most {POSITIONS - count} frames or tokens, got {steps.shape[1]}"
            )
        seen = torch.cat((mask.new_ones((len(steps), count)), mask), dim=1)
        out: Tensor = self.seqTransEncoder(
            self.sequence_pos_encoding(sequence), src_key_padding_mask=~seen
        )
        return out[:, :count]


class LinearSequenceEncoder(SequenceEncoder):
    """As ``SequenceEncoder``, each token's output through one more linear layer (SnapMoGen)."""

    def __init__(
        self, features: int, tokens: int, width: int, hidden: int, layers: int, heads: int = HEADS
    ) -> None:
        """Lay out the network; arguments as those of ``SequenceEncoder``."""
        super().__init__(features, tokens, width, hidden, layers, heads)
        self.linear = nn.Linear(width, width)

    def both(self, steps: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the tokens before and behind the linear layer, each (N, tokens, width)."""
        raw = SequenceEncoder.forward(self, steps, mask)
        return raw, self.linear(raw)

    def forward(self, steps: Tensor, mask: Tensor) -> Tensor:
        """Return the tokens behind the linear layer."""
        return self.both(steps, mask)[1]


E = TypeVar("E", bound=SequenceEncoder)


def sequence_encoder(
    weights: Weights, heads: int = HEADS
) -> tuple[SequenceEncoder, tuple[str, ...]]:
    """Build and fill an encoder, its sizes read from the checkpoint.

    Args:
        weights: ``tokens``, ``projection.`` and ``seqTransEncoder.layers.``.
        heads: Attention heads.

    Returns:
        The encoder, and the keys left over.

    Raises:
        InputError: A key is missing, or the width is no multiple of the heads.
    """
    return _filled(SequenceEncoder, weights, heads)


def linear_sequence_encoder(
    weights: Weights, heads: int = HEADS
) -> tuple[LinearSequenceEncoder, tuple[str, ...]]:
    """As ``sequence_encoder``, for a checkpoint that has ``linear.`` too."""
    return _filled(LinearSequenceEncoder, weights, heads)


def _filled(kind: type[E], weights: Weights, heads: int) -> tuple[E, tuple[str, ...]]:
    width, features = weights.shape("projection.weight", 2)
    if width % heads:
        raise InputError(f"heads: expected a divisor of the width {width}, got {heads}")
    return weights.build(
        lambda: kind(
            features,
            weights.shape("tokens", 2)[0],
            width,
            weights.shape("seqTransEncoder.layers.0.linear1.weight", 2)[0],
            weights.layers("seqTransEncoder.layers."),
            heads,
        )
    )
