"""The network of MoBERT (Voas et al. 2023): words and motion chunks through one transformer.

Written from a description of the checkpoint's keys and shapes. ``ASSUMED`` lists what the keys do
not tell.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from evaluators.weights import Weights

HEADS = 4
"""Attention heads; no tensor's shape tells them."""
FRAME_GROUPS, CHUNK_GROUPS, CHUNK_FRAMES = (8, 8), (14, 8, 8, 8), 14
"""Groups of the normalisations, and frames of a chunk."""
WORDS, MOTIONS, MARK = 0, 1, 2
"""Rows of the segment vectors (assumed)."""

ASSUMED = (
    "each normalisation is followed by SELU, also the last one of the frame, chunk and score "
    "networks' hidden layers",
    "the frames of a chunk are laid one behind the other, in time order, before the chunk network",
    "segment vectors: row 0 words with their mark, row 1 motion with its mark, row 2 [CLS]",
    "absent words and chunks are masked in attention",
)
"""What could not be read from the checkpoint's keys and was taken so."""


def _blocks(widths: tuple[int, ...], groups: tuple[int, ...]) -> list[nn.Module]:
    """Return linear layer, normalisation, SELU and dropout for each width behind the first."""
    layers: list[nn.Module] = []
    for width, out, count in zip(widths, widths[1:], groups, strict=False):
        layers += [nn.Linear(width, out), nn.GroupNorm(count, out), nn.SELU(), nn.Dropout(0.1)]
    return layers


class MobertNetwork(nn.Module):
    """Word ids and motion chunks to the score of their alignment."""

    def __init__(
        self,
        features: int,
        frame: tuple[int, int],
        chunk: tuple[int, int, int, int],
        words: int,
        places: int,
        segments: int,
        hidden: int,
        layers: int,
        score: tuple[int, int],
    ) -> None:
        """Lay out the network.

        Args:
            features: Features of a frame: 263.
            frame: Widths of the frame network: 384, 384.
            chunk: Widths of the chunk network: 5,376, 1,792, 1,024, 256.
            words: Size of the vocabulary.
            places: Longest sequence: 64.
            segments: Segment vectors: 3.
            hidden: Width of the feed-forward layers: 1,024.
            layers: Number of layers: 3.
            score: Widths of the score network: 128, 128.
        """
        super().__init__()
        width = chunk[-1]
        self.frame_encoder = nn.Sequential(*_blocks((features, *frame), FRAME_GROUPS))
        self.chunk_encoder = nn.Sequential(
            *_blocks((CHUNK_FRAMES * frame[-1], *chunk), CHUNK_GROUPS)
        )
        self.word_embs = nn.Embedding(words, width)
        self.pos_embs = nn.Embedding(places, width)
        self.seq_embs = nn.Embedding(segments, width)
        layer = nn.TransformerEncoderLayer(
            width, HEADS, hidden, dropout=0.1, activation="relu", batch_first=True
        )
        self.transformer_encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.ent_pred_head = nn.Sequential(
            *_blocks((width, *score), (8, 8)), nn.Linear(score[-1], 1)
        )

    def chunks(self, chunks: Tensor) -> Tensor:
        """Return (K, width) of (K, 14, features)."""
        count, frames, features = chunks.shape
        each = self.frame_encoder(chunks.reshape(count * frames, features))
        out: Tensor = self.chunk_encoder(each.reshape(count, -1))
        return out

    def forward(
        self, ids: Tensor, segments: Tensor, chunks: Tensor, at: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Score pairs.

        Args:
            ids: (N, L) word ids, any at the places of chunks.
            segments: (N, L) rows of the segment vectors.
            chunks: (K, width) of ``chunks``, all pairs' chunks one after the other.
            at: (N, L) bool, true where a chunk stands; K places in all, row by row.
            mask: (N, L) bool, true where anything stands.

        Returns:
            The logits (N,), higher = better aligned, and the states (N, L, width).
        """
        states = self.word_embs(ids)
        states = states.masked_scatter(at[..., None], chunks)
        places = torch.arange(ids.shape[1], device=ids.device)
        states = states + self.pos_embs(places) + self.seq_embs(segments)
        states = self.transformer_encoder(states, src_key_padding_mask=~mask)
        return self.ent_pred_head(states[:, 0])[:, 0], states


def mobert(weights: Weights) -> tuple[MobertNetwork, tuple[str, ...]]:
    """Build and fill the network; return it and the keys left over, ``token_pred_head`` included.

    Raises:
        InputError: A key is missing.
    """

    def out(key: str) -> int:
        return weights.shape(f"{key}.weight", 2)[0]

    words, _ = weights.shape("word_embs.weight", 2)
    return weights.build(lambda: MobertNetwork(
        weights.shape("frame_encoder.0.weight", 2)[1],
        (out("frame_encoder.0"), out("frame_encoder.4")),
        (out("chunk_encoder.0"), out("chunk_encoder.4"), out("chunk_encoder.8"),
         out("chunk_encoder.12")),
        words,
        out("pos_embs"),
        out("seq_embs"),
        out("transformer_encoder.layers.0.linear1"),
        weights.layers("transformer_encoder.layers."),
        (out("ent_pred_head.0"), out("ent_pred_head.4")),
    ))  # fmt: skip
