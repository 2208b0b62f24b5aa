"""The generation suite: 20 replications on 2 × 10,000 × 512 against computing all anew each time.

The plain way is what one writes with the original functions: in each replication the mean and
covariance of both sets and the root of their product, and a sorted distance matrix for each pool.
Run: ``python -m perf.generation [--n N] [--width D] [--plain R]``.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from scipy import linalg

from metrics.generation_suite import Settings, evaluate

POOL, TOPS, PAIRS = 32, 3, 300


def plain_fid(first: np.ndarray, second: np.ndarray) -> float:
    """Mean, covariance and the matrix root, as usually written."""
    shift = first.mean(axis=0) - second.mean(axis=0)
    one, two = np.cov(first, rowvar=False), np.cov(second, rowvar=False)
    root = np.real(linalg.sqrtm(one @ two))
    return float(shift @ shift + np.trace(one) + np.trace(two) - 2 * np.trace(root))


def plain(text: np.ndarray, motion: np.ndarray, reference: np.ndarray, seed: int) -> dict:
    """One replication, nothing kept from another."""
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(text))
    hits, trace, used = np.zeros(TOPS), 0.0, 0
    for start in range(0, len(text) - POOL + 1, POOL):
        rows = order[start : start + POOL]
        apart = np.linalg.norm(text[rows][:, None] - motion[rows][None], axis=2)
        place = np.argsort(apart, axis=1)
        found = place == np.arange(POOL)[:, None]
        hits += [found[:, : top + 1].any(axis=1).sum() for top in range(TOPS)]
        trace += np.trace(apart)
        used += POOL
    first, second = (rng.choice(len(motion), PAIRS, replace=False) for _ in range(2))
    return {
        **{f"R@{top + 1}": hits[top] / used for top in range(TOPS)},
        "MM-Dist": trace / used,
        "FID": plain_fid(reference, motion),
        "Diversity": np.linalg.norm(motion[first] - motion[second], axis=1).mean(),
    }


def main() -> None:
    """Print seconds, ratio and the largest difference as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--plain", type=int, default=2, help="replications of the plain way timed")
    parser.add_argument("--replications", type=int, default=20)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    mix = rng.standard_normal((given.width, given.width)) / np.sqrt(given.width)
    motion = rng.standard_normal((given.n, given.width)) @ mix
    reference = 1.1 * rng.standard_normal((given.n, given.width)) @ mix + 0.05
    text = motion + 2.5 * rng.standard_normal(motion.shape)
    # Identical pairs would tie; these differ in float64 as real embeddings do.
    start = time.perf_counter()
    ours = evaluate(
        text, motion, reference=reference, settings=Settings(replications=given.replications)
    )
    quick = time.perf_counter() - start
    start = time.perf_counter()
    runs = [plain(text, motion, reference, seed) for seed in range(given.plain)]
    each = (time.perf_counter() - start) / given.plain
    one = evaluate(text, motion, reference=reference, settings=Settings(replications=given.plain))
    gap = {
        name: abs(float(np.mean([run[name] for run in runs])) / one.cells[name].value - 1)
        for name in runs[0]
    }
    print(
        json.dumps(
            {
                "n": given.n,
                "width": given.width,
                "replications": given.replications,
                "ours_s": round(quick, 2),
                "plain_one_replication_s": round(each, 2),
                "plain_s_scaled": round(each * given.replications, 1),
                "ratio": round(each * given.replications / quick, 1),
                "relative_difference": {name: float(f"{v:.2g}") for name, v in gap.items()},
                "FID": ours.cells["FID"].value,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
