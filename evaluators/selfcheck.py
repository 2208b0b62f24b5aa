"""Whether a released model, opened from the user's files, reproduces a published figure.

Read are HumanML3D's own features and, for models that read joints, its joints: the official files,
not our processing, so that a difference is the model's.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.items import Frozen
from corpus.formats.humanml3d import read_captions
from corpus.problems import InputError

POOL = 32
"""Motions a text is ranked among (Guo et al. 2022)."""
FPS = 20.0
"""Frames a second of HumanML3D."""


class SelfCheck(Frozen):
    """What the self-check found."""

    results: dict[str, float]
    """Recall in percent: ``R@1``, ``R@2``, ``R@3`` in pools of 32; ``full R@1`` … over all motions,
    where any motion with the identical caption counts."""
    n: int
    """Pairs of text and motion."""
    pooled: int
    """Those that stood in a full pool."""
    dropped: dict[str, int]
    """Clips left out, by reason."""


class HeldOut(NamedTuple):
    """The test split, one caption a clip."""

    ids: list[str]
    """Ids of the clips."""
    captions: list[str]
    """The first caption of each."""
    arrays: list[NDArray[np.float32]]
    """Features or joints of each."""
    dropped: dict[str, int]
    """Clips left out, by reason."""


def missing_data(data: Path | None, folder: str) -> list[str]:
    """Return what of HumanML3D is not there, in words; empty where all is.

    Args:
        data: HumanML3D's folder; None for none given.
        folder: ``new_joint_vecs`` or ``new_joints``.
    """
    wanted = {"test.txt": "the list of the test split", "texts": "its captions", folder: "motions"}
    if data is None:
        return [f"HumanML3D's folder (--data DIR) with {', '.join(wanted)}"]
    return [f"{what}: {data / name}" for name, what in wanted.items() if not (data / name).exists()]


def read_test_set(
    data: Path, folder: str, *, shortest: int = 1, below: int | None = None
) -> HeldOut:
    """Read the test split: of each clip the first caption, and the span it describes.

    Args:
        data: HumanML3D's folder.
        folder: ``new_joint_vecs`` or ``new_joints``.
        shortest: Fewest frames.
        below: Clips of so many frames and more are left out; None keeps them.

    Raises:
        InputError: A file that cannot be read, or no clip is left.
    """
    dropped: Counter[str] = Counter()
    ids, captions, arrays = [], [], []
    split = data / "test.txt"
    try:
        names = split.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"expected ids in UTF-8: {error}", file=str(split)) from error
    for name in names:
        motion, text = data / folder / f"{name}.npy", data / "texts" / f"{name}.txt"
        if not motion.is_file() or not text.is_file():
            dropped["no motion or no captions"] += 1
            continue
        read, _ = read_captions(text)
        if not read:
            dropped["no readable caption"] += 1
            continue
        try:
            array = np.array(np.load(motion, mmap_mode="r", allow_pickle=False), np.float32)
        except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"expected an array: {error}", file=str(motion)) from error
        if read[0].span is not None:
            start, end = (int(seconds * FPS) for seconds in read[0].span)
            array = array[start:end]
        if not np.isfinite(array).all():
            dropped["values that are not finite"] += 1
        elif len(array) < shortest or (below is not None and len(array) >= below):
            dropped[f"not {shortest} to {below} frames" if below else "too short"] += 1
        else:
            ids.append(name)
            captions.append(read[0].text)
            arrays.append(array)
    if not ids:
        raise InputError("expected clips of the test split, none is left", file=str(data))
    return HeldOut(ids, captions, arrays, dict(dropped))


def check_embeddings(
    model: Any, captions: Sequence[str], motions: NDArray[np.float32], seed: int = 0
) -> SelfCheck:
    """Measure recall of a dual encoder.

    Args:
        model: An ``EmbeddingModel``.
        captions: Caption of each motion.
        motions: (N, D) vectors of the motions.
        seed: Seed of the pools.

    Returns:
        Recall in pools of 32, texts asking, the incomplete last pool left out, ties against the
        right motion; and over all motions.
    """
    texts = model.embed_texts(captions)
    order = np.random.default_rng(seed).permutation(len(captions))
    pooled = len(order) // POOL * POOL
    results: dict[str, float] = {}
    if pooled:
        ranks = []
        for pool in order[:pooled].reshape(-1, POOL):
            scores = model.similarity(texts[pool], motions[pool])
            ranks.append((scores >= np.diag(scores)[:, None]).sum(axis=1) - 1)
        results |= {f"R@{k}": 100.0 * float((np.concatenate(ranks) < k).mean()) for k in (1, 2, 3)}
    number = {caption: place for place, caption in enumerate(dict.fromkeys(captions))}
    same = np.array([number[caption] for caption in captions])
    scores = model.similarity(texts, motions)
    right = same[:, None] == same[None, :]
    best = np.where(right, scores, -np.inf).max(axis=1)
    rank = (np.where(right, -np.inf, scores) >= best[:, None]).sum(axis=1)
    results |= {f"full R@{k}": 100.0 * float((rank < k).mean()) for k in (1, 5, 10)}
    return SelfCheck(results=results, n=len(captions), pooled=pooled, dropped={})
