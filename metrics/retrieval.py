"""Full-set retrieval in both directions: R@K, nDCG@K and MedR (MRBench; Petrovich et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from metrics.results import Cell, cell
from metrics.retrieval_ranks import Ranks, Ties, rank_both
from metrics.retrieval_relevance import Positives, relevant_pairs
from metrics.retrieval_scores import Ints, Scores

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

RECALL_CUTS = (1, 5, 10)
NDCG_CUTS = (1, 5, 10)
"""Cut-offs of MRBench."""
DIRECTIONS = ("text_to_motion", "motion_to_text")
NO_QUERY = "no query has a relevant item"


@dataclass(frozen=True)
class Pool:
    """Texts and motions that are searched, their scores, and which belong together."""

    scores: Scores
    """(N, M) scores."""
    text_ids: tuple[str, ...]
    """(N,) unique."""
    motion_ids: tuple[str, ...]
    """(M,) unique."""
    text_motion: Ints
    """(N,): own motion of each text; −1 where it is not in the pool."""
    captions: tuple[str, ...] | None = None
    """(N,) the texts, where known."""
    granularity: tuple[str, ...] | None = None
    """(N,) ``concise``, ``standard``, ``fine`` or other words, where known."""
    similar: csr_matrix | None = None
    """(N, N) texts that count as one, where known."""

    def take(self, texts: Ints, motions: Ints | None = None) -> Pool:
        """Return the pool of some texts and some motions, in the order given.

        Args:
            texts: Which texts.
            motions: Which motions; all where None.
        """
        motions = np.arange(len(self.motion_ids)) if motions is None else motions
        moved = np.full(len(self.motion_ids) + 1, -1, dtype=np.int64)
        moved[motions] = np.arange(len(motions))
        return Pool(
            scores=self.scores.take(texts, motions),
            text_ids=tuple(self.text_ids[i] for i in texts),
            motion_ids=tuple(self.motion_ids[i] for i in motions),
            text_motion=moved[self.text_motion[texts]],
            captions=None if self.captions is None else tuple(self.captions[i] for i in texts),
            granularity=None
            if self.granularity is None
            else tuple(self.granularity[i] for i in texts),
            similar=None if self.similar is None else self.similar[texts][:, texts],
        )


@dataclass(frozen=True)
class Measured:
    """What one pool gave."""

    ranks: tuple[Ranks, Ranks]
    """Text to motion, and motion to text."""
    metrics: dict[str, dict[str, Cell]]
    """Cells by direction (``DIRECTIONS``), then by metric: ``R@K`` and ``nDCG@K`` in percent,
    ``MedR`` from 1."""
    queries: dict[str, int]
    """Queries by direction."""
    left_out: dict[str, int]
    """Queries without any relevant item, by direction; they enter no number."""
    tie_rate: dict[str, float | None]
    """Share (0..1) of queries whose best relevant item ties with another, by direction."""


def retrieve(
    pool: Pool,
    *,
    positives: Positives = "own",
    ties: Ties = "average",
    recall: Sequence[int] = RECALL_CUTS,
    ndcg: Sequence[int] = NDCG_CUTS,
) -> Measured:
    """Search every text among all motions and every motion among all texts.

    R@K: any relevant item in the top K. nDCG@K: binary gain, discount log2(position + 1), ideal
    ordering cut at K. MedR: median over queries of the best relevant rank. With one relevant item,
    or any number, nDCG@1 equals R@1.

    Args:
        pool: What is searched.
        positives: What is relevant to a query.
        ties: Where items of equal score stand.
        recall: Cut-offs of R@K.
        ndcg: Cut-offs of nDCG@K.

    Returns:
        The metrics; undefined ones say why.

    Raises:
        InputError: What ``positives`` needs is missing.
    """
    pairs = relevant_pairs(
        pool.text_motion,
        len(pool.motion_ids),
        positives=positives,
        captions=pool.captions,
        similar=pool.similar,
    )
    ranks = rank_both(pool.scores, pairs, ties=ties, cuts=ndcg)
    return summarise(ranks, recall)


def summarise(ranks: tuple[Ranks, Ranks], recall: Sequence[int]) -> Measured:
    """Average the queries of both directions.

    Args:
        ranks: Text to motion, and motion to text.
        recall: Cut-offs of R@K.

    Returns:
        The metrics.
    """
    metrics, queries, left_out, tie_rate = {}, {}, {}, {}
    for name, found in zip(DIRECTIONS, ranks, strict=True):
        asked = found.relevant > 0
        count = int(asked.sum())
        queries[name], left_out[name] = count, int(len(asked) - count)
        tie_rate[name] = float(found.tied[asked].mean()) if count else None
        metrics[name] = _metrics(found, asked, recall, count)
    return Measured(ranks, metrics, queries, left_out, tie_rate)


def _metrics(
    found: Ranks, asked: NDArray[np.bool_], recall: Sequence[int], n: int
) -> dict[str, Cell]:
    best = found.best[asked]

    def share(values: NDArray[np.float64]) -> Cell:
        return cell(100 * float(values.sum()) / n if n else None, NO_QUERY, n=n)

    cells = {f"R@{cut}": share((best < cut).astype(np.float64)) for cut in recall}
    cells["MedR"] = cell(float(np.median(best)) + 1 if n else None, NO_QUERY, n=n)
    return cells | {f"nDCG@{cut}": share(gain[asked]) for cut, gain in found.ndcg.items()}


def mean_of_batches(batches: Sequence[Measured]) -> Measured:
    """Average metrics over batches, MedR included, as TMR's protocol (d) does.

    Args:
        batches: At least one.

    Returns:
        Means of the cells; the ranks are those of the first batch.
    """
    first = batches[0]
    metrics: dict[str, dict[str, Cell]] = {}
    for name in DIRECTIONS:
        metrics[name] = {}
        for metric in first.metrics[name]:
            values = [batch.metrics[name][metric].value for batch in batches]
            known = [value for value in values if value is not None]
            metrics[name][metric] = cell(
                float(np.mean(known)) if known else None,
                NO_QUERY,
                n=sum(batch.queries[name] for batch in batches),
            )

    def total(of: str) -> dict[str, int]:
        return {name: sum(getattr(batch, of)[name] for batch in batches) for name in DIRECTIONS}

    def ties(name: str) -> float | None:
        rates = [(b.tie_rate[name], b.queries[name]) for b in batches]
        count = sum(n for _, n in rates)
        return sum((rate or 0.0) * n for rate, n in rates) / count if count else None

    return replace(
        first,
        metrics=metrics,
        queries=total("queries"),
        left_out=total("left_out"),
        tie_rate={name: ties(name) for name in DIRECTIONS},
    )


def as_interface(measured: Measured) -> dict[str, dict[str, object]]:
    """Put metrics into the shape that scripts rely on.

    Args:
        measured: What a pool gave.

    Returns:
        By direction: each metric (null where undefined), ``n`` queries, ``without_relevant``,
        ``tie_rate``, ``reasons`` where something is null, ``intervals`` where there are any.
    """
    shaped: dict[str, dict[str, object]] = {}
    for name in DIRECTIONS:
        cells: Mapping[str, Cell] = measured.metrics[name]
        reasons = {metric: found.reason for metric, found in cells.items() if found.value is None}
        intervals = {m: list(found.ci) for m, found in cells.items() if found.ci is not None}
        shaped[name] = {
            **{metric: found.value for metric, found in cells.items()},
            "n": measured.queries[name],
            "without_relevant": measured.left_out[name],
            "tie_rate": measured.tie_rate[name],
            **({"reasons": reasons} if reasons else {}),
            **({"intervals": intervals} if intervals else {}),
        }
    return shaped
