"""Retrieval protocols by name: MRBench's full set, TMR's four, MotionPatches' two."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from benchmarks.items import Frozen
from corpus.problems import InputError
from metrics.results import Dropped
from metrics.retrieval import Measured, Pool, mean_of_batches, retrieve
from metrics.retrieval_ranks import Ties
from metrics.retrieval_relevance import Positives
from metrics.retrieval_scores import Ints

TMR_CUTS = (1, 2, 3, 5, 10)
GRANULARITIES = ("concise", "standard", "fine")
"""Settings of MRBench with one text a motion; the three together are Mixed3."""
MIXED = "Mixed3"


class Protocol(Frozen):
    """How a pool is searched."""

    title: str
    """Name in tables."""
    source: str
    """Where it was defined."""
    positives: Positives = "own"
    """What is relevant."""
    recall: tuple[int, ...] = (1, 5, 10)
    """Cut-offs of R@K."""
    first_text: bool = False
    """Only the first text of each motion enters."""
    subset: bool = False
    """Only listed motions enter."""
    batch: int | None = None
    """Size of the batches that are searched apart and averaged; the remainder is dropped."""
    order: Literal["file", "shuffled"] = "file"
    """Order from which batches are cut: of the file, or ids sorted as strings and shuffled with
    numpy's legacy generator seeded 0."""


PROTOCOLS: dict[str, Protocol] = {
    "full": Protocol(title="Full set", source="MRBench, experimental setup"),
    "tmr-all": Protocol(
        title="TMR (a) all",
        source="Petrovich et al. 2023",
        recall=TMR_CUTS,
        first_text=True,
    ),
    "tmr-threshold": Protocol(
        title="TMR (b) all with threshold",
        source="Petrovich et al. 2023",
        positives="threshold",
        recall=TMR_CUTS,
        first_text=True,
    ),
    "tmr-nsim": Protocol(
        title="TMR (c) dissimilar subset",
        source="Petrovich et al. 2023",
        recall=TMR_CUTS,
        first_text=True,
        subset=True,
    ),
    "tmr-guo": Protocol(
        title="TMR (d) small batches",
        source="Petrovich et al. 2023, after Guo et al. 2022",
        recall=TMR_CUTS,
        first_text=True,
        batch=32,
        order="shuffled",
    ),
    "motionpatches": Protocol(
        title="Identical captions",
        source="Yu et al. 2024 (MotionPatches)",
        positives="identical-caption",
        recall=TMR_CUTS,
        first_text=True,
    ),
    "motionpatches-batch": Protocol(
        title="Identical captions, batches of 32",
        source="Yu et al. 2024 (MotionPatches)",
        positives="identical-caption",
        recall=TMR_CUTS,
        first_text=True,
        batch=32,
    ),
}
"""``full`` takes every text; the others take the first of each motion, as their code does."""


def run_protocol(
    pool: Pool,
    protocol: Protocol,
    *,
    positives: Positives | None = None,
    ties: Ties = "average",
    subset: Collection[str] | None = None,
) -> tuple[Measured, Pool, tuple[Dropped, ...]]:
    """Search a pool by a protocol.

    Args:
        pool: What is searched.
        protocol: How.
        positives: Instead of the protocol's own.
        ties: Where items of equal score stand.
        subset: Ids of motions that enter; needed where the protocol asks for it.

    Returns:
        The metrics, the texts and motions that entered, and what did not.

    Raises:
        InputError: A list that is missing or names an unknown motion; fewer motions than a batch.
    """
    if protocol.subset and subset is None:
        raise InputError("protocol tmr-nsim needs the list of motions: --subset FILE")
    used, dropped = pool, list[Dropped]()
    if protocol.first_text:
        used = pool.take(*_first_texts(pool))
        _note(dropped, "texts", len(pool.text_ids) - len(used.text_ids), "not the first of theirs")
        _note(dropped, "motions", len(pool.motion_ids) - len(used.motion_ids), "they have no text")
    if subset is not None:
        before = used
        used = _listed(used, subset)
        _note(dropped, "motions", len(before.motion_ids) - len(used.motion_ids), "not listed")
        _note(dropped, "texts", len(before.text_ids) - len(used.text_ids), "motion not listed")
    relevant = positives or protocol.positives
    if protocol.batch is None:
        found = retrieve(used, positives=relevant, ties=ties, recall=protocol.recall)
        return found, used, tuple(dropped)
    batches = batch_rows(used.motion_ids, protocol.batch, protocol.order)
    kept = np.concatenate(batches)
    _note(
        dropped,
        "pairs",
        len(used.motion_ids) - len(kept),
        f"the last batch of {protocol.batch} is incomplete",
    )
    found = mean_of_batches(
        [
            retrieve(used.take(rows, rows), positives=relevant, ties=ties, recall=protocol.recall)
            for rows in batches
        ]
    )
    return found, used.take(kept, kept), tuple(dropped)


def batch_rows(ids: Sequence[str], size: int, order: Literal["file", "shuffled"]) -> list[Ints]:
    """Cut aligned pairs into batches; the remainder is dropped.

    Args:
        ids: Ids of the pairs.
        size: Pairs in a batch.
        order: ``file``, or ``shuffled`` as in TMR's protocol (d).

    Returns:
        Positions in ``ids``, one array a batch.

    Raises:
        InputError: Fewer pairs than a batch.
    """
    if len(ids) < size:
        raise InputError(f"{len(ids)} pairs are fewer than a batch of {size}")
    rows: Ints = np.arange(len(ids))
    if order == "shuffled":
        rows = np.array(sorted(range(len(ids)), key=ids.__getitem__))
        shuffled = np.arange(len(ids))
        np.random.RandomState(0).shuffle(shuffled)
        rows = rows[shuffled]
    return [rows[start : start + size] for start in range(0, len(ids) - size + 1, size)]


def granularity_settings(pool: Pool) -> dict[str, Pool]:
    """Split a pool into MRBench's settings.

    Args:
        pool: Texts with their granularity.

    Returns:
        Concise, standard and fine, each where the pool has it, against all motions; then Mixed3
        where it has all three. Empty where no granularity is known or there is one only.
    """
    if pool.granularity is None:
        return {}
    words = np.array(pool.granularity)
    known = [word for word in dict.fromkeys((*GRANULARITIES, *pool.granularity)) if word in words]
    if len(known) < 2:
        return {}
    parts = {word: pool.take(np.flatnonzero(words == word)) for word in known}
    if set(known) == set(GRANULARITIES):
        parts[MIXED] = pool
    return parts


def _first_texts(pool: Pool) -> tuple[Ints, Ints]:
    """Return the first text of each motion that has one, and these motions, in the texts' order."""
    motion, row = np.unique(pool.text_motion, return_index=True)
    row = np.sort(row[motion >= 0])
    return row, pool.text_motion[row]


def _listed(pool: Pool, subset: Collection[str]) -> Pool:
    known = set(pool.motion_ids)
    unknown = [name for name in subset if name not in known]
    if unknown:
        raise InputError(
            f"listed motion {unknown[0]!r}{f' and {len(unknown) - 1} more' * (len(unknown) > 1)} "
            "is not among the motions"
        )
    wanted = set(subset)
    motions = np.array([i for i, name in enumerate(pool.motion_ids) if name in wanted], dtype=int)
    texts = np.flatnonzero(np.isin(pool.text_motion, motions))
    return pool.take(texts, motions)


def _note(dropped: list[Dropped], what: str, n: int, reason: str) -> None:
    if n:
        dropped.append(Dropped(what=what, n=n, reason=reason))
