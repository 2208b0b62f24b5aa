"""The training set: what is good enough and not in the benchmark, with no motion on both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.items import Frozen
from construction.mrbench.classify import Filed
from construction.mrbench.summary import Made
from construction.report import Rejected


class TrainingPair(Frozen):
    """One motion with one caption."""

    clip_id: str
    """The clip."""
    caption_id: str
    """The caption."""
    caption: str
    """Its text."""
    source: str
    """Corpus of the clip."""
    category: tuple[str, str, str]
    """Coarse, middle, fine."""
    motion_group: str
    """Id shared by mirrored twins and copies of the motion; no group is in the benchmark too."""


def held_out(
    filed: Sequence[Filed],
    made: Iterable[Made],
    rejected: Iterable[Rejected],
    earlier: Iterable[str] = (),
) -> list[TrainingPair]:
    """Return the candidates that the benchmark left over (MRBench-Train).

    Args:
        filed: Candidates that passed filter and scores.
        made: Caption sets of the benchmark: their motions, twins and copies stay out.
        rejected: All refusals: a pair whose caption the frames do not show stays out.
        earlier: Groups of motions drafted before; they stay out too.

    Returns:
        Pairs by clip and caption id.
    """
    test = {each.filed.candidate.group for each in made} | set(earlier)
    untrue = {r.source for r in rejected if r.code in ("not_observable", "unclear")}
    pairs = [
        TrainingPair(
            clip_id=f.candidate.clip.id,
            caption_id=f.candidate.caption.id,
            caption=f.candidate.caption.text,
            source=f.candidate.clip.corpus,
            category=f.category.path,
            motion_group=f.candidate.group,
        )
        for f in filed
        if f.candidate.group not in test and f.candidate.caption.id not in untrue
    ]
    return sorted(pairs, key=lambda pair: (pair.clip_id, pair.caption_id))
