"""Tiny random checkpoints whose keys are written out from the documented layouts.

Nothing here is taken from the product's modules: a key they name otherwise shows as missing.
"""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from corpus.motion import Motion
from corpus.skeletons import REST_OFFSETS, SMPL22

Shapes = dict[str, tuple[int, ...]]
FEATURES = 263


class Trap:
    """Touches a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self):
        return (Path.touch, (self.file,))


def tensors(shapes: Shapes, seed: int = 0) -> dict[str, Tensor]:
    made = torch.Generator().manual_seed(seed)
    found = {}
    for key, shape in shapes.items():
        values = torch.randn(shape, generator=made) * 0.2
        is_norm = ("norm" in key.lower() or "ln_" in key or ".1." in key) and key.endswith("weight")
        found[key] = values + 1.0 if is_norm and len(shape) == 1 else values
    return found


def below(prefix: str, shapes: Shapes) -> Shapes:
    return {prefix + key: shape for key, shape in shapes.items()}


def linear(key: str, out: int, wide: int) -> Shapes:
    return {f"{key}.weight": (out, wide), f"{key}.bias": (out,)}


def norm(key: str, width: int) -> Shapes:
    return {f"{key}.weight": (width,), f"{key}.bias": (width,)}


def movement(width: int = FEATURES - 4, hidden: int = 16, out: int = 12) -> Shapes:
    return {
        "main.0.weight": (hidden, width, 4),
        "main.0.bias": (hidden,),
        "main.3.weight": (out, hidden, 4),
        "main.3.bias": (out,),
        **linear("out_net", out, out),
    }


def both_ways_gru(width: int, hidden: int, out: int) -> Shapes:
    gates: Shapes = {}
    for way in ("", "_reverse"):
        gates |= {
            f"gru.weight_ih_l0{way}": (3 * hidden, hidden),
            f"gru.weight_hh_l0{way}": (3 * hidden, hidden),
            f"gru.bias_ih_l0{way}": (3 * hidden,),
            f"gru.bias_hh_l0{way}": (3 * hidden,),
        }
    return {
        "hidden": (2, 1, hidden),
        **linear("input_emb", hidden, width),
        **gates,
        **linear("output_net.0", hidden, 2 * hidden),
        **norm("output_net.1", hidden),
        **linear("output_net.3", out, hidden),
    }


def humanml3d(out: int = 10) -> dict[str, dict[str, Tensor] | int]:
    """``text_mot_match/model/finest.tar`` with the optimisers' places."""
    text = both_ways_gru(300, 14, out) | linear("pos_emb", 300, 15)
    return {
        "text_encoder": tensors(text, 1),
        "motion_encoder": tensors(both_ways_gru(12, 18, out), 2),
        "movement_encoder": tensors(movement(), 3),
        "opt_text_encoder": {"state": {0: {"exp_avg": torch.zeros(3)}}},  # type: ignore[dict-item]
        "epoch": 7,
        "iter": 99,
    }


def actor(features: int, width: int = 16, hidden: int = 24, layers: int = 2) -> Shapes:
    shapes: Shapes = {"tokens": (2, width), **linear("projection", width, features)}
    for layer in range(layers):
        at = f"seqTransEncoder.layers.{layer}."
        shapes |= {
            at + "self_attn.in_proj_weight": (3 * width, width),
            at + "self_attn.in_proj_bias": (3 * width,),
            **linear(at + "self_attn.out_proj", width, width),
            **linear(at + "linear1", hidden, width),
            **linear(at + "linear2", width, hidden),
            **norm(at + "norm1", width),
            **norm(at + "norm2", width),
        }
    return shapes


def distilbert(
    words: int, width: int = 20, hidden: int = 28, layers: int = 2, positions: int = 140
) -> Shapes:
    shapes: Shapes = {
        "embeddings.word_embeddings.weight": (words, width),
        "embeddings.position_embeddings.weight": (positions, width),
        **norm("embeddings.LayerNorm", width),
    }
    for layer in range(layers):
        at = f"transformer.layer.{layer}."
        for name in ("q_lin", "k_lin", "v_lin", "out_lin"):
            shapes |= linear(at + f"attention.{name}", width, width)
        shapes |= {
            **norm(at + "sa_layer_norm", width),
            **linear(at + "ffn.lin1", hidden, width),
            **linear(at + "ffn.lin2", width, hidden),
            **norm(at + "output_layer_norm", width),
        }
    return shapes


def clip_blocks(width: int, layers: int) -> Shapes:
    shapes: Shapes = {}
    for layer in range(layers):
        at = f"transformer.resblocks.{layer}."
        shapes |= {
            at + "attn.in_proj_weight": (3 * width, width),
            at + "attn.in_proj_bias": (3 * width,),
            **linear(at + "attn.out_proj", width, width),
            **norm(at + "ln_1", width),
            **linear(at + "mlp.c_fc", 4 * width, width),
            **linear(at + "mlp.c_proj", width, 4 * width),
            **norm(at + "ln_2", width),
        }
    return shapes


def clam(words: int, out: int = 10) -> dict[str, dict[str, Tensor]]:
    motion: Shapes = {
        "proj_pre": (12, 64),
        "class_embedding": (64,),
        "positional_embedding": (50, 64),
        **norm("ln_pre", 64),
        **clip_blocks(64, 2),
        **norm("ln_post", 64),
        "proj": (64, out),
    }
    text: Shapes = {
        "token_embedding.weight": (words, 64),
        "positional_embedding": (77, 64),
        **clip_blocks(64, 2),
        **norm("ln_final", 64),
        "text_projection": (64, out),
    }
    return {
        "text_encoder": tensors(text, 4),
        "motion_encoder": tensors(motion, 5),
        "movement_encoder": tensors(movement(), 6),
    }


def statistics(width: int = FEATURES, seed: int = 9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=width).astype(np.float32)
    return mean, rng.uniform(0.5, 2.0, width).astype(np.float32)


def clips(lengths: tuple[int, ...], width: int = FEATURES, seed: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, width)).astype(np.float32) for n in lengths]


def write_glove(folder: Path, words: tuple[str, ...]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    every = ["unk", "sos", "eos", *words]
    rng = np.random.default_rng(5)
    np.save(folder / "our_vab_data.npy", rng.normal(size=(len(every), 300)))
    (folder / "our_vab_words.pkl").write_bytes(pickle.dumps(every))
    index = {word: place for place, word in enumerate(every)}
    (folder / "our_vab_idx.pkl").write_bytes(pickle.dumps(index))
    return folder


PIECES = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "person", "walk", "##s", "##ing", "jump",
    "left", "right", "hand", "raise", "the", "##ed", "and", "then", "sit", ".", ",", "'", "-",
    "man", "cafe",
)  # fmt: skip


def write_bert(folder: Path, width: int = 20, prefix: str = "distilbert.") -> Path:
    """A folder of DistilBERT as the hub has it, with a head that is not wanted."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    shapes = below(prefix, distilbert(len(PIECES), width)) | {"vocab_projector.bias": (4,)}
    torch.save(tensors(shapes, 8), folder / "pytorch_model.bin")
    return folder


MERGES = (
    ("w", "a"), ("wa", "l"), ("wal", "k</w>"), ("l", "e"), ("le", "f"), ("lef", "t</w>"),
    ("t", "h"), ("th", "e</w>"), ("i", "n"), ("in", "g</w>"), ("wal", "k"),
)  # fmt: skip


def write_merges(path: Path) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(["#version", *(" ".join(pair) for pair in MERGES)]) + "\n")
    return path


def head(prefix: str, width: int, out: int) -> Shapes:
    return {
        **linear(prefix + "projection", out, width),
        **linear(prefix + "fc", out, out),
        **norm(prefix + "layer_norm", out),
    }


def vit(width: int = 64, layers: int = 2, registers: int = 0) -> Shapes:
    shapes: Shapes = {
        "cls_token": (1, 1, width),
        "pos_embed": (1, 1 + registers + 70, width),
        "patch_embed.proj.weight": (width, 3, 16, 16),
        "patch_embed.proj.bias": (width,),
        **norm("norm" if registers else "fc_norm", width),
    }
    if registers:
        shapes["reg_token"] = (1, registers, width)
    for layer in range(layers):
        at = f"blocks.{layer}."
        shapes |= {
            **norm(at + "norm1", width),
            **linear(at + "attn.qkv", 3 * width, width),
            **linear(at + "attn.proj", width, width),
            **norm(at + "norm2", width),
            **linear(at + "mlp.fc1", 2 * width, width),
            **linear(at + "mlp.fc2", width, 2 * width),
        }
    return shapes


def motionpatches(registers: int = 0, out: int = 12) -> dict[str, Tensor]:
    shapes = (
        below("motion_encoder.model.", vit(registers=registers))
        | below("text_encoder.text_model.", distilbert(len(PIECES), 64))
        | head("text_projection.", 64, out)
        | {"logit_scale": ()}
    )
    for k in range(1 + registers):
        shapes |= head(f"motion_projection.{k}." if registers else "motion_projection.", 64, out)
    return tensors(shapes, 11)


def vqvae(features: int = FEATURES, width: int = 12, codes: int = 20) -> Shapes:
    shapes: Shapes = {
        "encoder.model.0.weight": (width, features, 3),
        "encoder.model.0.bias": (width,),
        "encoder.model.4.weight": (width, width, 3),
        "encoder.model.4.bias": (width,),
        "quantizer.codebook": (codes, width),
        "decoder.model.0.weight": (width, width, 3),
    }
    for stage in ("2", "3"):
        at = f"encoder.model.{stage}."
        shapes |= {at + "0.weight": (width, width, 4), at + "0.bias": (width,)}
        for block in range(3):
            shapes |= {
                f"{at}1.model.{block}.conv1.weight": (width, width, 3),
                f"{at}1.model.{block}.conv1.bias": (width,),
                f"{at}1.model.{block}.conv2.weight": (width, width, 1),
                f"{at}1.model.{block}.conv2.bias": (width,),
            }
    return shapes


def mobert(words: int, features: int = FEATURES) -> dict[str, Tensor]:
    """As released, its widths smaller; groups of 8 and 14 must divide them."""
    frame, wide = 16, 32
    chunk = (14 * frame, 56, 40, wide)
    shapes: Shapes = {
        **linear("frame_encoder.0", frame, features),
        **norm("frame_encoder.1", frame),
        **linear("frame_encoder.4", frame, frame),
        **norm("frame_encoder.5", frame),
        "word_embs.weight": (words, wide),
        "pos_embs.weight": (64, wide),
        "seq_embs.weight": (3, wide),
        **linear("ent_pred_head.0", 24, wide),
        **norm("ent_pred_head.1", 24),
        **linear("ent_pred_head.4", 24, 24),
        **norm("ent_pred_head.5", 24),
        **linear("ent_pred_head.8", 1, 24),
        **linear("token_pred_head.0", 24, wide),
        **norm("token_pred_head.1", 24),
        **linear("token_pred_head.8", words, 24),
    }
    before = chunk[0]
    for place, width in zip((0, 4, 8, 12), chunk, strict=True):
        shapes |= linear(f"chunk_encoder.{place}", width, before)
        shapes |= norm(f"chunk_encoder.{place + 1}", width)
        before = width
    for layer in range(3):
        at = f"transformer_encoder.layers.{layer}."
        shapes |= {
            at + "self_attn.in_proj_weight": (3 * wide, wide),
            at + "self_attn.in_proj_bias": (3 * wide,),
            **linear(at + "self_attn.out_proj", wide, wide),
            **linear(at + "linear1", 48, wide),
            **linear(at + "linear2", wide, 48),
            **norm(at + "norm1", wide),
            **norm(at + "norm2", wide),
        }
    return tensors(shapes, 12)


def motion(frames: int = 90, fps: float = 20.0, source: str = "made:1") -> Motion:
    """A body that walks forward, turns and raises its left arm."""
    rest = np.zeros((22, 3))
    for joint, parent in enumerate(SMPL22.parents):
        rest[joint] = np.array(REST_OFFSETS[joint]) + (rest[parent] if parent >= 0 else 0)
    rest[:, 1] -= rest[:, 1].min()
    time = np.arange(frames) / fps
    turn = 0.4 * time
    positions = np.empty((frames, 22, 3))
    for t in range(frames):
        pose = rest.copy()
        pose[[18, 20], 1] += 0.2 * time[t]
        c, s = np.cos(turn[t]), np.sin(turn[t])
        positions[t] = pose @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
        positions[t, :, 2] += 0.9 * time[t]
    return Motion(positions=positions.astype(np.float32), fps=fps, source=source)
