"""The encoder of T2M-GPT's VQ-VAE (Zhang et al. 2023), which MotionGPT and MG-MotionLLM read by."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluators.weights import Weights

GROWTH = 3
"""Factor by which the dilation of a residual block grows, the widest block first."""


class _Residual(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(width, width, 3, 1, dilation, dilation)
        self.conv2 = nn.Conv1d(width, width, 1)

    def forward(self, states: Tensor) -> Tensor:
        inner = self.conv1(functional.relu(states))
        out: Tensor = states + self.conv2(functional.relu(inner))
        return out


class _Residuals(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.model = nn.Sequential(
            *(_Residual(width, GROWTH**power) for power in reversed(range(depth)))
        )

    def forward(self, states: Tensor) -> Tensor:
        out: Tensor = self.model(states)
        return out


class _Encoder(nn.Module):
    def __init__(self, features: int, width: int, halvings: int, depth: int, out: int) -> None:
        super().__init__()
        halved = (
            nn.Sequential(nn.Conv1d(width, width, 4, 2, 1), _Residuals(width, depth))
            for _ in range(halvings)
        )
        self.model = nn.Sequential(
            nn.Conv1d(features, width, 3, 1, 1),
            nn.ReLU(),
            *halved,
            nn.Conv1d(width, out, 3, 1, 1),
        )


class _Codebook(nn.Module):
    codebook: Tensor

    def __init__(self, codes: int, width: int) -> None:
        super().__init__()
        self.register_buffer("codebook", torch.zeros(codes, width))


class MotionCodes(nn.Module):
    """Normalised features to the numbers of their nearest codes, one for every four frames."""

    def __init__(
        self, features: int, width: int, halvings: int, depth: int, codes: int, code_width: int
    ) -> None:
        """Lay out the network.

        Args:
            features: Features of a frame: 263.
            width: Width inside: 512.
            halvings: Times the frames are halved: 2.
            depth: Residual blocks behind each halving: 3.
            codes: Size of the codebook: 512.
            code_width: Width of a code: 512.
        """
        super().__init__()
        self.encoder = _Encoder(features, width, halvings, depth, code_width)
        self.quantizer = _Codebook(codes, code_width)
        self.codes = codes
        self.features = features
        self.step = 2**halvings
        """Frames that one code stands for."""

    def forward(self, frames: Tensor) -> Tensor:
        """Return (T // 4,) numbers from 0 of (T, features); no padding, for it would be seen."""
        states = self.encoder.model(frames.T[None])[0].T
        codes = self.quantizer.codebook
        square = states.square().sum(1, keepdim=True) - 2 * states @ codes.T + codes.square().sum(1)
        nearest: Tensor = square.argmin(dim=1)
        return nearest


def motion_codes(weights: Weights) -> tuple[MotionCodes, tuple[str, ...]]:
    """Build and fill encoder and codebook; return them and the keys left over, decoder included.

    Raises:
        InputError: A key is missing.
    """
    width, features, _ = weights.shape("encoder.model.0.weight", 3)
    # The first convolution and its ReLU stand before the halvings, one convolution behind them.
    halvings = weights.layers("encoder.model.") - 3
    codes, code_width = weights.shape("quantizer.codebook", 2)
    return weights.build(
        lambda: MotionCodes(
            features,
            width,
            halvings,
            weights.layers("encoder.model.2.1.model."),
            codes,
            code_width,
        )
    )
