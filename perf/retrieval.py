"""Retrieval: TMR's procedure written plainly in numpy against ours, in one run.

The plain way multiplies the embeddings, sorts every row of the whole matrix in both directions and
averages tied positions. Both get unit embeddings in memory; ours is timed with its preparation.
Run: ``python -m perf.retrieval [--motions N] [--width D] [--large]``; ``--large`` streams
100,000 × 100,000, ``--parts`` measures only the first so many blocks of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metrics.retrieval import DIRECTIONS, Measured, Pool, retrieve
from metrics.retrieval_ranks import rank_both
from metrics.retrieval_scores import EmbeddingScores, embedding_scores

CUTS = (1, 5, 10)
PER_MOTION = 3
"""Captions of a motion in Mixed3."""


def embeddings(motions: int, width: int, texts: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit embeddings of motions and of ``texts`` noisy captions each, and their own motions."""
    rng = np.random.default_rng(0)
    motion = rng.standard_normal((motions, width), dtype=np.float32)
    owner = np.repeat(np.arange(motions), texts)
    text = 0.1 * motion[owner] + rng.standard_normal((len(owner), width), dtype=np.float32)
    for array in (motion, text):
        array /= np.linalg.norm(array, axis=1, keepdims=True)
    return text, motion, owner


def average_ranks(distances: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """TMR's ranks: a full sort of each row, positions of equal distances averaged."""
    order = np.argsort(distances, axis=1)
    ordered = np.take_along_axis(distances, order, axis=1)
    places = np.argwhere((ordered - own[:, None]) == 0)
    splits = np.insert(np.nonzero(np.diff(places[:, 0]))[0] + 1, 0, 0)
    counts = np.diff(np.append(splits, len(places)))
    return np.add.reduceat(places[:, 1], splits) / counts, order


def plain(text: np.ndarray, motion: np.ndarray, owner: np.ndarray) -> dict[str, dict[str, float]]:
    """All metrics in both directions, the whole matrix at once."""
    distances = -(text @ motion.T)
    rank, order = average_ranks(distances, distances[np.arange(len(text)), owner])
    right = order[:, : max(CUTS)] == owner[:, None]
    found = {"text_to_motion": summary(rank, right, 1)}
    back = distances.T
    per = len(text) // len(motion)
    own = distances[np.arange(len(text)), owner].reshape(len(motion), per).min(axis=1)
    rank, order = average_ranks(back, own)
    right = owner[order[:, : max(CUTS)]] == np.arange(len(motion))[:, None]
    return found | {"motion_to_text": summary(rank, right, per)}


def summary(rank: np.ndarray, right: np.ndarray, relevant: int) -> dict[str, float]:
    """R@K, MedR and nDCG@K of one direction."""
    discount = 1 / np.log2(np.arange(max(CUTS)) + 2)
    found = {f"R@{cut}": 100 * float((rank < cut).mean()) for cut in CUTS}
    found["MedR"] = float(np.median(rank)) + 1
    for cut in CUTS:
        ideal = discount[: min(relevant, cut)].sum()
        gain = (right[:, :cut] * discount[:cut]).sum(axis=1) / ideal
        found[f"nDCG@{cut}"] = 100 * float(gain.mean())
    return found


def ours(text: np.ndarray, motion: np.ndarray, owner: np.ndarray) -> Measured:
    """All metrics in both directions, a block at a time."""
    scores = embedding_scores(text, motion, device="numpy")
    names = tuple(map(str, range(len(text))))
    return retrieve(Pool(scores, names, names[: len(motion)], owner))


@dataclass(frozen=True)
class FirstBlocks(EmbeddingScores):
    """Scores whose stream ends early: so many blocks are measured."""

    parts: int = 0

    @property
    def starts(self) -> range:
        """The first ``parts`` blocks."""
        return super().starts[: self.parts]


def clock(function: Callable[[], object], times: int) -> tuple[float, object]:
    """Return the least wall time of some calls, and what the last one gave."""
    best, found = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        found = function()
        best = min(best, time.perf_counter() - start)
    return best, found


def peak_megabytes() -> float:
    """Peak memory of this process, in 2**20 bytes; its own since it was started."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def memory_of_ours(motions: int, width: int) -> float:
    """Peak memory of a process of its own that only runs ours."""
    arguments = ["--memory", "--motions", str(motions), "--width", str(width)]
    run = subprocess.run(
        [sys.executable, "-m", "perf.retrieval", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout)


def large(width: int, n: int, parts: int | None) -> dict[str, object]:
    """Stream n × n; with ``parts`` only so many blocks, and the whole is extrapolated."""
    text, motion, owner = embeddings(n, width, 1)
    scores = embedding_scores(text, motion, device="numpy")
    del text, motion
    used: EmbeddingScores = scores
    share = 1.0
    if parts is not None:
        used = FirstBlocks(**scores.__dict__, parts=parts)
        share = min(parts * scores.starts.step / n, 1.0)
    pairs = (np.arange(n), owner)
    start = time.perf_counter()
    with np.errstate(divide="ignore"):  # ranks mean nothing where the stream ends early
        rank_both(used, pairs, cuts=CUTS)
    seconds = time.perf_counter() - start
    return {
        "pairs": n * n,
        "share_run": round(share, 4),
        "seconds": round(seconds, 1),
        "seconds_for_all": round(seconds / share, 1),
        "peak_mb": round(peak_megabytes()),
        "matrix_mb": n * n * 4 // 2**20,
    }


def main() -> None:
    """Print seconds, ratio and memory as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--motions", type=int, default=3390)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--parts", type=int)
    parser.add_argument("--memory", action="store_true")
    given = parser.parse_args()
    if given.large:
        print(json.dumps(large(given.width, given.size, given.parts), indent=2))
        return
    text, motion, owner = embeddings(given.motions, given.width, PER_MOTION)
    if given.memory:
        ours(text, motion, owner)
        print(peak_megabytes())
        return
    ours(text[:300], motion[:100], owner[:300])
    quick, measured = clock(lambda: ours(text, motion, owner), 5)
    slow, wanted = clock(lambda: plain(text, motion, owner), 2)
    assert isinstance(measured, Measured)
    gap = max(
        abs(measured.metrics[d][name].value - value)
        for d in DIRECTIONS
        for name, value in wanted[d].items()
    )
    print(
        json.dumps(
            {
                "texts": len(text),
                "motions": len(motion),
                "width": given.width,
                "plain_s": round(slow, 3),
                "ours_s": round(quick, 3),
                "ratio": round(slow / quick, 1),
                "largest_difference_of_a_metric": gap,
                "plain_and_ours_peak_mb": round(peak_megabytes()),
                "ours_peak_mb": round(memory_of_ours(given.motions, given.width)),
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
