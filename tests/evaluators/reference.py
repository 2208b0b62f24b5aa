"""The networks once more, in plain numpy, one item at a time and without padding."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erf

Array = np.ndarray
Params = dict[str, Array]


def plain(tensors) -> Params:
    return {key: np.asarray(value, dtype=np.float64) for key, value in tensors.items()}


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gelu(x: Array) -> Array:
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def quick_gelu(x: Array) -> Array:
    return x * sigmoid(1.702 * x)


def leaky(x: Array, slope: float = 0.2) -> Array:
    return np.where(x > 0, x, slope * x)


def linear(p: Params, key: str, x: Array) -> Array:
    return x @ p[f"{key}.weight"].T + p[f"{key}.bias"]


def layer_norm(p: Params, key: str, x: Array, eps: float = 1e-5) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + eps) * p[f"{key}.weight"] + p[f"{key}.bias"]


def conv(p: Params, key: str, x: Array, stride: int, pad: int, dilation: int = 1) -> Array:
    """(T, C) to (T', C')."""
    weight, bias = p[f"{key}.weight"], p[f"{key}.bias"]
    wide = np.pad(x, ((pad, pad), (0, 0)))
    span = (weight.shape[2] - 1) * dilation
    starts = range(0, len(wide) - span, stride)
    taps = np.arange(weight.shape[2]) * dilation
    return np.stack([np.einsum("kc,ock->o", wide[s + taps], weight) + bias for s in starts])


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(q: Array, k: Array, v: Array, heads: int, *, causal: bool = False) -> Array:
    """(L, D) each; heads share the width."""
    length, width = q.shape
    wide = width // heads
    out = np.empty_like(q)
    for head in range(heads):
        at = slice(head * wide, (head + 1) * wide)
        scores = q[:, at] @ k[:, at].T / math.sqrt(wide)
        if causal:
            scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        out[:, at] = softmax(scores) @ v[:, at]
    return out


def packed(p: Params, key: str, x: Array, heads: int, *, causal: bool = False) -> Array:
    """Attention whose three inputs are one matrix, as torch keeps it."""
    q, k, v = np.split(x @ p[f"{key}.in_proj_weight"].T + p[f"{key}.in_proj_bias"], 3, axis=-1)
    return linear(p, f"{key}.out_proj", attend(q, k, v, heads, causal=causal))


def gru(p: Params, x: Array, start: Array, way: str) -> Array:
    state = start
    hidden = len(start)
    for row in x if way == "" else x[::-1]:
        into = p[f"gru.weight_ih_l0{way}"] @ row + p[f"gru.bias_ih_l0{way}"]
        back = p[f"gru.weight_hh_l0{way}"] @ state + p[f"gru.bias_hh_l0{way}"]
        reset = sigmoid(into[:hidden] + back[:hidden])
        update = sigmoid(into[hidden : 2 * hidden] + back[hidden : 2 * hidden])
        new = np.tanh(into[2 * hidden :] + reset * back[2 * hidden :])
        state = (1 - update) * new + update * state
    return state


def both_ways(p: Params, x: Array) -> Array:
    x = linear(p, "input_emb", x)
    last = [gru(p, x, p["hidden"][k, 0], way) for k, way in enumerate(("", "_reverse"))]
    x = leaky(layer_norm(p, "output_net.1", linear(p, "output_net.0", np.concatenate(last))))
    return linear(p, "output_net.3", x)


def movement(p: Params, x: Array) -> Array:
    x = leaky(conv(p, "main.0", x, 2, 1))
    return linear(p, "out_net", leaky(conv(p, "main.3", x, 2, 1)))


def actor(p: Params, x: Array, heads: int = 4) -> Array:
    """All tokens' outputs, (tokens, D)."""
    count, width = p["tokens"].shape
    x = np.concatenate((p["tokens"], linear(p, "projection", x)))
    place = np.arange(len(x))[:, None]
    rate = 1 / 10000 ** (np.arange(0, width, 2) / width)
    code = np.empty((len(x), width))
    code[:, 0::2], code[:, 1::2] = np.sin(place * rate), np.cos(place * rate)
    x = x + code
    layer = 0
    while f"seqTransEncoder.layers.{layer}.norm1.weight" in p:
        at = f"seqTransEncoder.layers.{layer}."
        x = layer_norm(p, at + "norm1", x + packed(p, at + "self_attn", x, heads))
        fed = linear(p, at + "linear2", gelu(linear(p, at + "linear1", x)))
        x = layer_norm(p, at + "norm2", x + fed)
        layer += 1
    return x[:count]


def clip_blocks(p: Params, x: Array, heads: int) -> Array:
    layer = 0
    while f"transformer.resblocks.{layer}.ln_1.weight" in p:
        at = f"transformer.resblocks.{layer}."
        x = x + packed(p, at + "attn", layer_norm(p, at + "ln_1", x), heads, causal=True)
        inner = quick_gelu(linear(p, at + "mlp.c_fc", layer_norm(p, at + "ln_2", x)))
        x = x + linear(p, at + "mlp.c_proj", inner)
        layer += 1
    return x


def distilbert(p: Params, ids: list[int], heads: int) -> Array:
    x = p["embeddings.word_embeddings.weight"][ids]
    x = x + p["embeddings.position_embeddings.weight"][: len(ids)]
    x = layer_norm(p, "embeddings.LayerNorm", x, 1e-12)
    layer = 0
    while f"transformer.layer.{layer}.ffn.lin1.weight" in p:
        at = f"transformer.layer.{layer}."
        q, k, v = (linear(p, at + f"attention.{n}_lin", x) for n in "qkv")
        mixed = linear(p, at + "attention.out_lin", attend(q, k, v, heads))
        x = layer_norm(p, at + "sa_layer_norm", mixed + x, 1e-12)
        fed = linear(p, at + "ffn.lin2", gelu(linear(p, at + "ffn.lin1", x)))
        x = layer_norm(p, at + "output_layer_norm", fed + x, 1e-12)
        layer += 1
    return x


def resized(x: Array, count: int) -> Array:
    """(n, ...) to (count, ...), linear, samples at the middle of their cells."""
    at = np.clip((np.arange(count) + 0.5) * len(x) / count - 0.5, 0, len(x) - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, len(x) - 1)
    share = (at - low).reshape(-1, *[1] * (x.ndim - 1))
    return (1 - share) * x[low] + share * x[high]


def vit(p: Params, picture: Array, heads: int) -> Array:
    """(3, 224, 80) to all tokens."""
    weight = p["patch_embed.proj.weight"]
    patches = []
    for row in range(picture.shape[1] // 16):
        for column in range(picture.shape[2] // 16):
            part = picture[:, row * 16 : row * 16 + 16, column * 16 : column * 16 + 16]
            patches.append((weight * part).sum((1, 2, 3)) + p["patch_embed.proj.bias"])
    tokens = [p["cls_token"][0], *([p["reg_token"][0]] if "reg_token" in p else [])]
    x = np.concatenate((*tokens, np.stack(patches))) + p["pos_embed"][0]
    layer = 0
    while f"blocks.{layer}.norm1.weight" in p:
        at = f"blocks.{layer}."
        qkv = linear(p, at + "attn.qkv", layer_norm(p, at + "norm1", x, 1e-6))
        x = x + linear(p, at + "attn.proj", attend(*np.split(qkv, 3, axis=-1), heads))
        inner = gelu(linear(p, at + "mlp.fc1", layer_norm(p, at + "norm2", x, 1e-6)))
        x = x + linear(p, at + "mlp.fc2", inner)
        layer += 1
    return x


def head(p: Params, prefix: str, x: Array) -> Array:
    first = linear(p, prefix + "projection", x)
    return layer_norm(p, prefix + "layer_norm", linear(p, prefix + "fc", gelu(first)) + first)


def codes(p: Params, x: Array) -> list[int]:
    """Code numbers of (T, F) by the VQ-VAE's encoder and codebook."""

    def relu(y: Array) -> Array:
        return np.maximum(y, 0)

    x = relu(conv(p, "encoder.model.0", x, 1, 1))
    for stage in ("2", "3"):
        at = f"encoder.model.{stage}."
        x = conv(p, at + "0", x, 2, 1)
        for block, dilation in enumerate((9, 3, 1)):
            inner = conv(p, f"{at}1.model.{block}.conv1", relu(x), 1, dilation, dilation)
            x = x + conv(p, f"{at}1.model.{block}.conv2", relu(inner), 1, 0)
    x = conv(p, "encoder.model.4", x, 1, 1)
    far = np.linalg.norm(x[:, None] - p["quantizer.codebook"], axis=-1)
    return [int(k) for k in far.argmin(1)]


def group_norm(p: Params, key: str, x: Array, groups: int) -> Array:
    """(C,) in groups."""
    parts = x.reshape(groups, -1)
    centred = parts - parts.mean(1, keepdims=True)
    flat = (centred / np.sqrt(parts.var(1, keepdims=True) + 1e-5)).ravel()
    return flat * p[f"{key}.weight"] + p[f"{key}.bias"]


def selu(x: Array) -> Array:
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))


def mobert(p: Params, words: list[int], chunks: list[Array], marks: list[int], room: int) -> float:
    """The logit of one pair; absent words and chunks are not there at all."""

    def blocks(name: str, x: Array, groups: tuple[int, ...]) -> Array:
        for place, count in enumerate(groups):
            x = linear(p, f"{name}.{4 * place}", x)
            x = selu(group_norm(p, f"{name}.{4 * place + 1}", x, count))
        return x

    read = [
        blocks(
            "chunk_encoder",
            np.concatenate([blocks("frame_encoder", frame, (8, 8)) for frame in chunk]),
            (14, 8, 8, 8),
        )
        for chunk in chunks
    ]
    cls, sot, mot = (p["word_embs.weight"][k] for k in marks)
    rows = [cls, sot, *p["word_embs.weight"][words], mot, *read]
    places = [0, 1, *range(2, 2 + len(words)), 2 + room, *range(3 + room, 3 + room + len(read))]
    segments = [2, 0, *[0] * len(words), 1, *[1] * len(read)]
    x = np.stack(rows) + p["pos_embs.weight"][places] + p["seq_embs.weight"][segments]
    for layer in range(3):
        at = f"transformer_encoder.layers.{layer}."
        x = layer_norm(p, at + "norm1", x + packed(p, at + "self_attn", x, 4))
        fed = linear(p, at + "linear2", np.maximum(linear(p, at + "linear1", x), 0))
        x = layer_norm(p, at + "norm2", x + fed)
    hidden = blocks("ent_pred_head", x[0], (8, 8))
    return float(linear(p, "ent_pred_head.8", hidden)[0])
