"""Speed of encoding motions with released evaluators, at their full size with random weights.

Run ``python perf/encoding.py``. Printed: processor time of one core for a clip in batches, the same
clip by clip as a user's loop would do it, and the wall-clock gain of all cores over one. Processor
time holds on a busy machine, the last figure does not. No figure is asserted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from evaluators.humanml3d import HumanML3DEvaluator
from evaluators.text.glove import WordVectors
from evaluators.text.tags import GivenTags
from evaluators.tmr import Tmr
from evaluators.weights import Weights
from tests.evaluators import layouts


class _NoVectors:
    """Stands for a language model where only motions are encoded."""

    id, fingerprint, width = "none", "none", 768

    def rows(self, texts: object) -> list[Any]:
        return []

    def visible(self, text: str) -> str:
        return text


def humanml3d() -> HumanML3DEvaluator:
    """The evaluator at its size: 512 wide units, GRUs of 512 and 1,024."""
    text = layouts.both_ways_gru(300, 512, 512) | layouts.linear("pos_emb", 300, 15)
    shapes = (
        layouts.below("text_encoder.", text)
        | layouts.below("motion_encoder.", layouts.both_ways_gru(512, 1024, 512))
        | layouts.below("movement_encoder.", layouts.movement(hidden=512, out=512))
    )
    words = WordVectors({"unk": 0, "sos": 1, "eos": 2}, np.zeros((3, 300), dtype=np.float32))
    weights = Weights(layouts.tensors(shapes), "random")
    return HumanML3DEvaluator(weights, *layouts.statistics(), words, GivenTags({}))


def tmr() -> Tmr:
    """TMR at its size: 6 layers, 256 wide."""
    shapes = layouts.below("motion_encoder.", layouts.actor(263, 256, 1024, 6)) | layouts.below(
        "text_encoder.", layouts.actor(768, 256, 1024, 6)
    )
    return Tmr(Weights(layouts.tensors(shapes), "random"), *layouts.statistics(), _NoVectors())


def cost(work: Callable[[], object], clock: Callable[[], float], repeats: int = 3) -> float:
    """Return the least cost of a few runs, in seconds of a clock."""
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=128)
    clips = parser.parse_args().clips
    rng = np.random.default_rng(0)
    motions = layouts.clips(tuple(int(n) for n in rng.integers(60, 196, clips)))
    cores = torch.get_num_threads()
    for model in (humanml3d(), tmr()):
        model.embed_features(motions[:4])

        def batched(m: Any = model) -> None:
            m.embed_features(motions)

        def alone(m: Any = model) -> None:
            for clip in motions:
                m.embed_features([clip])

        torch.set_num_threads(1)
        each = cost(batched, time.process_time) / clips
        loop = cost(alone, time.process_time, 1) / clips
        one = cost(batched, time.perf_counter)
        torch.set_num_threads(cores)
        every = cost(batched, time.perf_counter)
        print(
            f"{model.name}: {1000 * each:.1f} ms of one core a clip in batches, "
            f"{loop / each:.1f} x that clip by clip; "
            f"{cores} cores {one / every:.2f} x as quick as one"
        )


if __name__ == "__main__":
    main()
