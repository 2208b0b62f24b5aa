"""Networks of HumanML3D's evaluator (Guo et al. 2022): two GRUs and a movement encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from evaluators.weights import Weights

UNIT = 4
"""Frames of one movement unit."""


class MovementEncoder(nn.Module):
    """Frames to movement units, a quarter as many."""

    def __init__(self, width: int, hidden: int, out: int) -> None:
        """Lay out the network.

        Args:
            width: Features of a frame, foot contacts left out: 259, KIT-ML 247.
            hidden: Channels between the convolutions: 512.
            out: Width of a unit: 512.
        """
        super().__init__()
        self.width = width
        self.main = nn.Sequential(
            nn.Conv1d(width, hidden, 4, 2, 1),
            nn.Dropout(0.2),
            nn.LeakyReLU(0.2),
            nn.Conv1d(hidden, out, 4, 2, 1),
            nn.Dropout(0.2),
            nn.LeakyReLU(0.2),
        )
        self.out_net = nn.Linear(out, out)

    def forward(self, frames: Tensor) -> Tensor:
        """Return (N, T // 4, out) of (N, T, width)."""
        units: Tensor = self.out_net(self.main(frames.transpose(1, 2)).transpose(1, 2))
        return units


class _LastOfBoth(nn.Module):
    """A bidirectional GRU from a learned start; its two last states become one vector."""

    def __init__(self, width: int, hidden: int, out: int) -> None:
        super().__init__()
        self.input_emb = nn.Linear(width, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
        self.output_net = nn.Sequential(
            nn.Linear(2 * hidden, hidden),
            nn.LayerNorm(hidden),
            nn.LeakyReLU(0.2),
            nn.Linear(hidden, out),
        )
        self.hidden = nn.Parameter(torch.zeros(2, 1, hidden))

    def read(self, sequence: Tensor, lengths: Tensor) -> Tensor:
        start = self.hidden.repeat(1, len(sequence), 1)
        packed = pack_padded_sequence(
            self.input_emb(sequence), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        last = self.gru(packed, start)[1]
        vectors: Tensor = self.output_net(torch.cat((last[0], last[1]), dim=-1))
        return vectors


class TextEncoder(_LastOfBoth):
    """Word vectors and parts of speech to one vector."""

    def __init__(self, words: int, parts: int, hidden: int, out: int) -> None:
        """Lay out the network: width of a word vector, number of tags, hidden and out width."""
        super().__init__(words, hidden, out)
        self.pos_emb = nn.Linear(parts, words)

    def forward(self, words: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """Return (N, out) of (N, L, words), one-hot (N, L, parts) and (N,) lengths."""
        return self.read(words + self.pos_emb(tags), lengths)


class MotionEncoder(_LastOfBoth):
    """Movement units to one vector."""

    def forward(self, units: Tensor, lengths: Tensor) -> Tensor:
        """Return (N, out) of (N, L, width) and (N,) lengths in units."""
        return self.read(units, lengths)


def movement_encoder(weights: Weights) -> tuple[MovementEncoder, tuple[str, ...]]:
    """Build and fill the movement encoder; return it and the keys left over."""
    hidden, width, _ = weights.shape("main.0.weight", 3)
    return weights.build(
        lambda: MovementEncoder(width, hidden, weights.shape("main.3.weight", 3)[0])
    )


def text_encoder(weights: Weights) -> tuple[TextEncoder, tuple[str, ...]]:
    """Build and fill the text encoder; return it and the keys left over."""
    words, parts = weights.shape("pos_emb.weight", 2)
    hidden = weights.shape("input_emb.weight", 2)[0]
    return weights.build(
        lambda: TextEncoder(words, parts, hidden, weights.shape("output_net.3.weight", 2)[0])
    )


def motion_encoder(weights: Weights) -> tuple[MotionEncoder, tuple[str, ...]]:
    """Build and fill the motion encoder; return it and the keys left over."""
    hidden, width = weights.shape("input_emb.weight", 2)
    return weights.build(
        lambda: MotionEncoder(width, hidden, weights.shape("output_net.3.weight", 2)[0])
    )
