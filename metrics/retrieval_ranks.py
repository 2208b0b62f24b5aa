"""Where the relevant items of each query stand: ranks, ties and nDCG in both directions, one pass.

A full sort is never needed. The position of a relevant item is the number of items that score
higher, plus its place among those that score the same; both are counted block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from metrics.retrieval_scores import Floats, Ints, Scores, on_device

Ties = Literal["average", "optimistic", "pessimistic"]
"""Where a relevant item stands among items of the same score: in the middle of them (TMR, the
default), before all that are not relevant, or behind them."""
TIES: tuple[Ties, ...] = get_args(Ties)
FloatArray = NDArray[np.float64]

_SLAB = 240
"""Rows counted at once: below 256, so that a column's count fits one byte."""


@dataclass(frozen=True)
class Ranks:
    """How the queries of one direction fared."""

    best: FloatArray
    """(Q,): rank of the best relevant item, from 0; halves where ties are averaged; NaN for a
    query without any relevant item."""
    ndcg: dict[int, FloatArray]
    """(Q,) in 0..1 by cut-off; NaN for a query without any relevant item."""
    tied: NDArray[np.bool_]
    """(Q,): another item scores the same as the best relevant one."""
    relevant: Ints
    """(Q,): number of relevant items."""


@dataclass
class _Counter:
    """Thresholds of the queries of one direction, and what was counted against them."""

    value: Floats
    """(P, Q): scores of the relevant items that can matter, best first; inf where there are
    fewer."""
    same: Ints
    """(P, Q): relevant items with the same score."""
    place: Ints
    """(P, Q): place among these, from 0."""
    relevant: Ints
    """(Q,)"""
    above: Ints
    """(P, Q): items that score higher."""
    level: Ints
    """(P, Q): items that score the same."""


def rank_both(
    scores: Scores, pairs: tuple[Ints, Ints], *, ties: Ties = "average", cuts: Sequence[int]
) -> tuple[Ranks, Ranks]:
    """Rank the relevant items of all texts and of all motions.

    With ``average`` the rank is the mean position of all items of that score (Petrovich et al.
    2023, TMR), so relevant items that tie among themselves also move back; for nDCG they stand one
    after the other from that rank on, cut to a whole number, so that nDCG@1 is R@1.

    Args:
        scores: The scores.
        pairs: Text and motion of each relevant pair, (P,) each, sorted by text, none twice.
        ties: Where ties stand.
        cuts: Cut-offs of nDCG.

    Returns:
        Text to motion, and motion to text.
    """
    text, motion = pairs
    texts, motions = scores.shape
    value = scores.pairs(text, motion)
    deep = max(cuts, default=1)
    rows = _thresholds(text, value, texts, deep)
    columns = _thresholds(motion, value, motions, deep)
    _count(scores, (text, motion, value), rows, columns)
    return _ranks(rows, ties, cuts), _ranks(columns, ties, cuts)


def _thresholds(query: Ints, value: Floats, queries: int, deep: int) -> _Counter:
    """Sort the scores of each query's relevant items; the first ``deep`` are all that matter."""
    order = np.lexsort((-value, query))
    query, value = query[order], value[order]
    relevant = np.bincount(query, minlength=queries)
    begin = np.cumsum(relevant) - relevant
    rank = np.arange(len(query)) - begin[query]
    new = np.ones(len(query), dtype=bool)
    new[1:] = (query[1:] != query[:-1]) | (value[1:] != value[:-1])
    group = np.cumsum(new) - 1
    start = np.flatnonzero(new)
    size = np.diff(np.append(start, len(query)))
    depth = int(min(relevant.max(initial=0), deep))
    kept = rank < depth
    counter = _Counter(
        value=np.full((depth, queries), np.inf, dtype=value.dtype),
        same=np.zeros((depth, queries), dtype=np.int64),
        place=np.zeros((depth, queries), dtype=np.int64),
        relevant=relevant,
        above=np.zeros((depth, queries), dtype=np.int64),
        level=np.zeros((depth, queries), dtype=np.int64),
    )
    at = rank[kept], query[kept]
    counter.value[at] = value[kept]
    counter.same[at] = size[group][kept] if len(group) else 0
    counter.place[at] = (np.arange(len(query)) - start[group])[kept] if len(group) else 0
    return counter


def _count(
    scores: Scores, pairs: tuple[Ints, Ints, Floats], rows: _Counter, columns: _Counter
) -> None:
    """Go through all blocks, each thread through its own share of them.

    A product runs on one thread then: threads of the linear algebra that wait for each other lose
    more than half where other programs want the processor too.
    """
    starts = scores.starts
    workers = max(min(scores.workers, len(starts)), 1)

    def share(number: int) -> _Counter:
        mine = replace(
            columns, above=np.zeros_like(columns.above), level=np.zeros_like(columns.level)
        )
        for start, block in scores.blocks(*pairs, starts[number::workers]):
            _count_rows(rows, start, block)
            _count_columns(mine, block)
        return mine

    if workers == 1:
        shares = [share(0)]
    else:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(workers) as threads:
            shares = list(threads.map(share, range(workers)))
    for mine in shares:
        columns.above += mine.above
        columns.level += mine.level


def _count_rows(counter: _Counter, start: int, block: Any) -> None:
    for low in range(0, len(block), _SLAB):
        part = block[low : low + _SLAB]
        here = slice(start + low, start + low + len(part))
        for depth, value in enumerate(counter.value):
            limit = on_device(value[here], part)[:, None]
            counter.above[depth, here] = _host((part > limit).sum(1))
            counter.level[depth, here] = _host((part == limit).sum(1))


def _count_columns(counter: _Counter, block: Any) -> None:
    for low in range(0, len(block), _SLAB):
        part = block[low : low + _SLAB]
        for depth, value in enumerate(counter.value):
            limit = on_device(value, part)
            counter.above[depth] += _column_sums(part > limit)
            counter.level[depth] += _column_sums(part == limit)


def _column_sums(mask: Any) -> NDArray[Any]:
    if isinstance(mask, np.ndarray):
        sums: NDArray[np.uint8] = np.add.reduce(mask.view(np.uint8), axis=0, dtype=np.uint8)
        return sums
    return _host(mask.sum(0))


def _host(array: Any) -> NDArray[Any]:
    found: NDArray[Any] = array if isinstance(array, np.ndarray) else array.cpu().numpy()
    return found


def _ranks(counter: _Counter, ties: Ties, cuts: Sequence[int]) -> Ranks:
    queries = len(counter.relevant)
    none = counter.relevant == 0
    if not len(counter.value):
        blank = np.full(queries, np.nan)
        return Ranks(
            blank, {cut: blank for cut in cuts}, np.zeros(queries, dtype=bool), counter.relevant
        )
    if ties == "average":
        first = counter.above + (counter.level - 1) / 2
    elif ties == "optimistic":
        first = counter.above.astype(np.float64)
    else:
        first = (counter.above + counter.level - counter.same).astype(np.float64)
    position = np.floor(first).astype(np.int64) + counter.place
    known = np.isfinite(counter.value)
    position = np.where(known, position, np.iinfo(np.int64).max - 2)
    ndcg = {}
    for cut in cuts:
        gain = np.where(position < cut, 1 / np.log2(position + 2.0), 0.0).sum(axis=0)
        ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(cut) + 2.0))])
        best = ideal[np.minimum(counter.relevant, cut)]
        ndcg[cut] = np.divide(gain, best, out=np.full(queries, np.nan), where=~none)
    return Ranks(
        best=np.where(none, np.nan, first[0]),
        ndcg=ndcg,
        tied=~none & (counter.level[0] > 1),
        relevant=counter.relevant,
    )
