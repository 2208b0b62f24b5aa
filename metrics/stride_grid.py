"""The bidirectional mirror audit: four scores a pair, of motion and mirror image (STRIDE E.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.items import Frozen
from corpus.cells import no_formula
from evaluators.source import ScoreSource
from metrics.stride import ROUNDING, Ties, credit
from metrics.stride_scoring import StrideTask

FloatArray = NDArray[np.float64]

GRID = ("s_mc", "s_mcp", "s_mpc", "s_mpcp")
"""Scores of a pair: motion m or its mirror image m', caption c or its mirrored caption c'."""


class Grids(NamedTuple):
    """Score grids of N pairs."""

    item_ids: tuple[str, ...]
    corpora: tuple[str, ...]
    motion_ids: tuple[str, ...]
    scores: FloatArray
    """(N, 4) in the order of ``GRID``, higher = better."""

    @property
    def interaction(self) -> FloatArray:
        """(N,): s(m, c) + s(m', c') − s(m, c') − s(m', c); above 0 where the diagonal wins."""
        mc, mcp, mpc, mpcp = self.scores.T
        # In this order a score of the caption alone, or of the motion alone, gives exactly 0.
        found: FloatArray = (mc - mpc) - (mcp - mpcp)
        return found


class MirrorAudit(Frozen):
    """Numbers of a corpus's grids; shares in 0..1."""

    corpus: str
    """Corpus."""
    n: int
    """Pairs."""
    diagonal: float
    """Share of pairs with an interaction above 0."""
    interaction: float
    """Mean interaction, in the unit of the scores."""
    caption_original: float
    """Share with s(m, c) > s(m, c'): the caption is told from its mirror, on the motion."""
    caption_mirrored: float
    """Share with s(m', c') > s(m', c): the same on the mirror image."""
    motion_original: float
    """Share with s(m, c) > s(m', c): the motion is told from its mirror, by the caption."""
    motion_mirrored: float
    """Share with s(m', c') > s(m, c'): the same by the mirrored caption."""


def score_grids(tasks: Sequence[StrideTask], source: ScoreSource) -> Grids:
    """Ask for the four scores of every Mirror Reflection item.

    The mirror image goes by ``MOTION_ID#mirrored``. Items whose motion or mirror image is refused
    are left out.

    Args:
        tasks: Items of any axis.
        source: Model or file.
    """
    mirrors = [task for task in tasks if task.key.axis == "mirror_reflection"]
    texts, motions = [], []
    for task in mirrors:
        own = task.key.motion_id
        texts += [*task.texts, *task.texts]
        motions += [own, own, f"{own}#mirrored", f"{own}#mirrored"]
    scores = source.pairs(texts, motions).reshape(-1, 4)
    good = np.flatnonzero(np.isfinite(scores).all(axis=1))
    return Grids(
        item_ids=tuple(mirrors[i].item_id for i in good),
        corpora=tuple(mirrors[i].key.corpus for i in good),
        motion_ids=tuple(mirrors[i].key.motion_id for i in good),
        scores=scores[good],
    )


def audit_mirrors(
    grids: Grids, ties: Ties = "half", *, resolution: float = 0.0
) -> list[MirrorAudit]:
    """Sum the grids up by corpus.

    Args:
        grids: Of all pairs.
        ties: What a tie counts.
        resolution: Part of the largest score below which two scores are one, as the source of
            the scores states it; what two subtractions round off is always let pass.
    """
    largest = float(np.abs(grids.scores).max(initial=0.0))
    tolerance = resolution * largest

    def share(difference: FloatArray, least: float = tolerance) -> float:
        return float(credit(difference, ties, least).mean())

    found = []
    for corpus in sorted(set(grids.corpora)):
        rows = np.array([name == corpus for name in grids.corpora])
        mc, mcp, mpc, mpcp = grids.scores[rows].T
        interaction = grids.interaction[rows]
        found.append(
            MirrorAudit(
                corpus=corpus,
                n=int(rows.sum()),
                diagonal=share(interaction, max(tolerance, ROUNDING * largest)),
                interaction=float(interaction.mean()),
                caption_original=share(mc - mcp),
                caption_mirrored=share(mpcp - mpc),
                motion_original=share(mc - mpc),
                motion_mirrored=share(mpcp - mcp),
            )
        )
    return found


def grids_csv(grids: Grids) -> str:
    """Write the grids, one pair a line, numbers in full."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["item_id", "corpus", "motion_id", *GRID, "interaction"])
    for item, corpus, motion, row, extra in zip(
        grids.item_ids,
        grids.corpora,
        grids.motion_ids,
        grids.scores,
        grids.interaction,
        strict=True,
    ):
        names = map(no_formula, (item, corpus, motion))
        writer.writerow([*names, *(repr(float(v)) for v in row), repr(float(extra))])
    return out.getvalue()
