"""The demo corpus: clips of a person moving, made by our own code, with true labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pydantic import ConfigDict

from benchmarks.items import Frozen
from corpus.clips import Caption, Clip
from corpus.formats.arrays import save
from corpus.motion import Motion
from corpus.synthetic.performer import Performer
from corpus.synthetic.script import Scene, captions, scenes

LICENCE = "Apache-2.0"
"""Licence of the demo motions and captions: they are part of MotionJury."""


class SyntheticClip(Frozen):
    """One clip of the demo corpus with all that is known of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    clip: Clip
    """The row the workspace keeps; ``path`` is relative to the corpus folder."""
    motion: Motion
    """Positions and rotations of the 22 joints."""
    captions: tuple[Caption, ...]
    """Two or three captions of the whole clip."""


def demo_corpus(seed: int = 0) -> list[SyntheticClip]:
    """Make the demo corpus; the same seed gives the same numbers.

    Args:
        seed: Seed of the variations of speed, size and wording.

    Returns:
        The clips in a fixed order.
    """
    return [_make(scene, number, seed) for number, scene in enumerate(scenes(), start=1)]


def write_demo_corpus(folder: Path, seed: int = 0) -> list[SyntheticClip]:
    """Write each clip as an ``.npz`` of the reader ``arrays``, the same bytes every time.

    Args:
        folder: Where the files go; made when absent.
        seed: See ``demo_corpus``.

    Returns:
        The clips; ``folder / clip.path`` is the file of each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    corpus = demo_corpus(seed)
    for made in corpus:
        save(made.motion, folder / made.clip.path)
    return corpus


def _make(scene: Scene, number: int, seed: int) -> SyntheticClip:
    rng = np.random.default_rng([seed, number])
    fps = 20.0 if number % 4 == 0 else 30.0
    performer = Performer(rng, float(np.radians(scene.heading)), fps)
    performer.wait(performer.vary(0.35, 0.2))
    for i, move in enumerate(scene.moves):
        if i:
            performer.wait(performer.vary(0.12, 0.5))
        move.perform(performer)
    performer.wait(performer.vary(0.5, 0.2))
    name = f"{number:04d}_{scene.name}"
    clip_id = f"synthetic:{name}"
    motion = performer.motion(clip_id)
    clip = Clip(
        id=clip_id,
        corpus="synthetic",
        path=f"{name}.npz",
        format="arrays",
        content_hash=motion.content_hash(),
        frames=motion.frames,
        fps=motion.fps,
        duration=motion.duration,
        joints=len(motion.layout.joints),
        skeleton=motion.skeleton,
        split="test",
        licence=LICENCE,
        events=tuple(performer.events),
    )
    texts = captions(scene.moves, number, rng)
    return SyntheticClip(
        clip=clip,
        motion=motion,
        captions=tuple(
            Caption(id=f"{clip_id}#{k}", clip_id=clip_id, text=text) for k, text in enumerate(texts)
        ),
    )


__all__ = ["SyntheticClip", "demo_corpus", "write_demo_corpus"]
