"""What the built-in evaluator grounds: STRIDE on the demo corpus that it was not trained on.

    OMP_NUM_THREADS=1 python -m perf.builtin [SEED ...]

Trains one evaluator a seed (on performances 1 to 6 of the demo corpus), drafts STRIDE items from
performance 0 with all their captions, and prints Δ by axis beside Random Content, with 95 %
intervals over motions. Weights are kept in a temporary folder.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.stride import Triplet
from construction.stride import draft_stride
from corpus.synthetic import demo_corpus
from evaluators.builtin import load_builtin
from evaluators.model_source import ModelScores
from evaluators.source import MotionLibrary
from evaluators.training.builtin import BuiltinConfig, train_builtin
from metrics.stride_cells import score_stride
from metrics.stride_grid import audit_mirrors, score_grids
from metrics.stride_scoring import StrideTask, score_items


def main(seeds: list[int]) -> None:
    """Train and score once for each seed."""
    made = demo_corpus(0)
    drafted = draft_stride(
        [one.clip for one in made], [c for one in made for c in one.captions], seed=0
    )
    tasks = [
        StrideTask(item_id=item.id, triplet=Triplet.model_validate(item.payload))
        for item in drafted.items
    ]
    library = MotionLibrary.of({one.clip.id: one.motion for one in made})
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            path = Path(folder) / "builtin.npz"
            trained = train_builtin(path, BuiltinConfig(seed=seed), lambda *_: None)
            seconds = time.process_time() - start
            source = ModelScores(load_builtin(path), library)
        scored = score_items(tasks, source)
        result = score_stride(scored.given, invisible=scored.invisible)
        print(f"seed {seed}: trained in {seconds:.0f} s of processor, loss {trained.loss:.3f}")
        for cell in result.cells:
            ci = cell.ci["delta"]
            print(
                f"  {cell.axis:18} n {cell.n:3}  acc {cell.acc:.3f}  bias {cell.bias:.3f}  "
                f"delta {cell.delta:.3f} {'' if ci is None else f'[{ci[0]:.3f}, {ci[1]:.3f}]'}"
                f"  gpr {cell.gpr:.1f}"
            )
        for axis, gap in result.corpora[0].gaps.items():
            low, high = result.corpora[0].ci[f"gap.{axis}"] or (float("nan"), float("nan"))
            print(f"  {axis} minus random_content: {gap:.3f} [{low:.3f}, {high:.3f}]")
        for audit in audit_mirrors(score_grids(tasks, source)):
            print(f"  mirror diagonal {audit.diagonal:.3f}, interaction {audit.interaction:.3f}")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [0])
