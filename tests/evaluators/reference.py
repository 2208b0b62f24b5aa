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
