"""Speed of drafting STRIDE by rule: mirror, action, temporal order and the n-gram filter.

Run ``python -m perf.drafting``. Captions are made by the demo corpus's grammar. Printed: processor
seconds for all of it on so many captions and on twice as many, once as the grammar makes them
(many captions occur again and again) and once with a number in each, so that no two are alike.
Different captions are edited by workers on all processors; their seconds are in the wall time only,
which wants a quiet machine. And for what a user would write instead, in the same run: text
replacement without reading, and a loop that counts n-grams anew for every caption it leaves out.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from benchmarks.stride import STRUCTURAL_AXES
from construction.stride import draft_stride
from construction.stride_filter import LikelihoodFilter
from construction.stride_records import DraftResult
from construction.text.held_out import held_out_ngrams
from construction.text.naive import naive_edit
from construction.text.ngram import words_of
from corpus.clips import Caption, Clip
from corpus.synthetic.script import captions as grammar
from corpus.synthetic.script import scenes


def world(number: int, *, alike: bool) -> tuple[list[Clip], list[Caption]]:
    """Return clips with ``number`` captions of the demo grammar."""
    rng = np.random.default_rng(0)
    stage = scenes()
    clips: list[Clip] = []
    texts: list[Caption] = []
    while len(texts) < number:
        k = len(clips)
        name = f"synthetic:{k:06d}"
        clips.append(
            Clip(
                id=name, corpus="synthetic", path=name, format="arrays", content_hash=name,
                frames=40, fps=20.0, duration=2.0, joints=22, skeleton="smpl22",
            )
        )  # fmt: skip
        for j, text in enumerate(grammar(stage[k % len(stage)].moves, k, rng)):
            said = text if alike else f"{text.rstrip('.')} {len(texts)}."
            texts.append(Caption(id=f"{name}#{j}", clip_id=name, text=said))
    return clips, texts[:number]


def processor(work: Callable[[], object]) -> tuple[float, float]:
    """Return processor and wall seconds of something."""
    before, start = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - before, time.perf_counter() - start


def draft(clips: list[Clip], texts: list[Caption]) -> DraftResult:
    """Draft the structural axes with the n-gram filter, held out in folds."""
    held = held_out_ngrams(clips, texts, [clip.id for clip in clips])
    return draft_stride(clips, texts, 0, STRUCTURAL_AXES, likelihood=LikelihoodFilter(held.scorer))


def replace(texts: list[Caption]) -> list[str | None]:
    """Edit by text replacement alone: no reading, no filter, no reasons."""
    return [naive_edit(text.text, axis) for text in texts for axis in STRUCTURAL_AXES]


def loop_ngram(texts: list[str]) -> float:
    """Fit and score a 4-gram as a plain loop would: counts anew for every caption left out."""
    total = 0.0
    for left in range(len(texts)):
        counts: Counter[tuple[str, ...]] = Counter()
        for k, text in enumerate(texts):
            if k != left:
                padded = ["<s>"] * 3 + words_of(text) + ["</s>"]
                counts.update(zip(*(padded[i:] for i in range(4)), strict=False))
        padded = ["<s>"] * 3 + words_of(texts[left]) + ["</s>"]
        total += sum(counts[g] for g in zip(*(padded[i:] for i in range(4)), strict=False))
    return total


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captions", type=int, default=45_000)
    options = parser.parse_args()
    number = options.captions
    processor(lambda: draft(*world(2_000, alike=True)))  # tables are read once
    for alike in (True, False):
        named = "as the grammar makes them" if alike else "no two alike"
        took = {}
        for count in (number, 2 * number):
            clips, texts = world(count, alike=alike)
            distinct = len({text.text for text in texts})
            cpu, wall = processor(lambda c=clips, t=texts: draft(c, t))
            took[count] = cpu
            print(
                f"{count} captions, {named} ({distinct} distinct): "
                f"{cpu:.1f} s of this process, {wall:.1f} s of wall"
            )
            if count == number:
                plain, _ = processor(lambda t=texts: replace(t))
                print(
                    f"  text replacement alone: {plain:.2f} s, ours is {cpu / plain:.1f} times that"
                )
        print(f"  twice the captions cost {took[2 * number] / took[number]:.2f} times as much")
    sample = random.Random(0).sample([t.text for t in world(number, alike=True)[1]], 200)
    loop, _ = processor(lambda: loop_ngram(sample))
    clips, texts = world(number, alike=True)
    fit, _ = processor(lambda: held_out_ngrams(clips, texts, [c.id for c in clips]))
    scaled = loop * (number / len(sample)) ** 2
    print(
        f"n-grams that leave each motion out: {fit:.2f} s; counting anew for every caption "
        f"{scaled / 3600:.1f} h (scaled from {len(sample)} captions, {loop:.1f} s)"
    )


if __name__ == "__main__":
    main()
