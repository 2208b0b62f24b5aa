"""The rolling pool: each category gives candidates until it is full or empty (MRBench).

Candidates of a category come in a shuffled order. One that says nearly the same as one that was
taken is passed over; where that one then fails, it comes up again.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from construction.mrbench.candidates import refuse
from construction.mrbench.classify import Filed
from construction.report import Rejected
from construction.sampling import seeded_order
from construction.text.contrast import contrast
from llm.embedding import TextEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 0.9
"""Cosine from which two captions of a category are taken for the same (ours)."""
BATCH = 64
"""Most pairs that go to the model stages at once (ours): frames of these are on disk by then."""

_BLOCK = 256


class Outcome(NamedTuple):
    """What the stages after the pool made of one candidate."""

    accepted: bool
    """Whether it is part of the benchmark."""
    refusal: Rejected | None = None
    """Why not; null where accepted."""
    answered: bool = True
    """Whether every stage that was asked gave a usable answer."""


Process = Callable[[Sequence[Filed]], Sequence[Outcome]]
"""Takes some candidates through verification and rewriting; one outcome for each, in order."""


class Drawn(NamedTuple):
    """What came of the pool."""

    accepted: tuple[Filed, ...]
    """Candidates of the benchmark, by category in the order drawn."""
    refused: tuple[Rejected, ...]
    """Near-duplicates and what the stages refused."""
    stopped: str
    """Why the pool was not drawn to its end; empty where it was."""


class _Category:
    """The candidates of one fine category and what was taken of them."""

    def __init__(self, filed: Iterable[Filed], embedder: TextEmbedder, near: float) -> None:
        self._queue = deque(filed)
        self._embedder = embedder
        self._near = near
        self._ahead: dict[str, NDArray[np.float32]] = {}
        self._taken: list[Filed] = []
        self._rows: NDArray[np.float32] | None = None
        self._like: dict[str, list[tuple[Filed, float]]] = defaultdict(list)
        self._aside: dict[str, list[Filed]] = defaultdict(list)

    def draw(self, used: set[str]) -> Filed | None:
        """Take the next candidate of an unused motion unlike those taken; None when none is left.

        Args:
            used: Groups of motions in use; their other captions are put aside.
        """
        while self._queue:
            filed = self._queue.popleft()
            if filed.candidate.group in used:
                self._aside[filed.candidate.group].append(filed)
                continue
            row = self._vector(filed)
            twin = self._nearest(filed, row)
            if twin is not None:
                name, cosine = twin
                self._like[name].append((filed, cosine))
                continue
            self._taken.append(filed)
            rows = [] if self._rows is None else [self._rows]
            self._rows = np.concatenate([*rows, row[None]])
            return filed
        return None

    def begins_with(self, captions: Collection[str]) -> bool:
        """Return whether the next candidate is one of these captions."""
        return bool(self._queue) and self._queue[0].candidate.caption.id in captions

    def give_back(self, filed: Filed) -> None:
        """Note that a candidate taken has failed: those passed over for it come up again."""
        at = self._taken.index(filed)
        del self._taken[at]
        if self._rows is not None:
            self._rows = np.delete(self._rows, at, axis=0)
        passed = self._like.pop(filed.candidate.caption.id, [])
        self._queue.extendleft(like for like, _ in reversed(passed))

    def release(self, group: str) -> None:
        """Let other captions of a motion that failed come up."""
        self._queue.extend(self._aside.pop(group, []))

    def refusals(self) -> list[Rejected]:
        """Return those passed over for one that stayed."""
        texts = {f.candidate.caption.id: f.candidate.caption.text for f in self._taken}
        return [
            refuse(
                like.candidate,
                "deduplicate",
                "near_duplicate",
                f"cosine {cosine:.3f} to {name}: {texts[name]}",
                like.category.path,
            )
            for name, passed in self._like.items()
            for like, cosine in passed
        ]

    def _nearest(self, filed: Filed, row: NDArray[np.float32]) -> tuple[str, float] | None:
        """Return the taken candidate that says the same, and the cosine."""
        if self._rows is None or not self._taken:
            return None
        cosines = self._rows @ row
        for at in np.flatnonzero(cosines >= self._near):
            other = self._taken[at].candidate.caption
            if contrast(filed.candidate.caption.text, other.text) is None:
                return other.id, float(cosines[at])
        return None

    def _vector(self, filed: Filed) -> NDArray[np.float32]:
        """Return a candidate's vector; those behind it in the queue are embedded along with it."""
        name = filed.candidate.caption.id
        if name not in self._ahead:
            ahead = [filed, *islice(self._queue, _BLOCK - 1)]
            rows = self._embedder.embed([each.candidate.caption.text for each in ahead])
            names = (each.candidate.caption.id for each in ahead)
            self._ahead = dict(zip(names, rows, strict=True))
        return self._ahead[name]


def draw_pool(
    filed: Sequence[Filed],
    embedder: TextEmbedder,
    process: Process,
    *,
    most: int,
    near: float = NEAR,
    seed: int = 0,
    first: Collection[str] = (),
) -> Drawn:
    """Draw a balanced benchmark from filed candidates.

    Each motion is used once. The categories take turns, so that a run that stops early is balanced
    too. Cost grows with the number of candidates times ``most``; no table of all pairs is made.

    Args:
        filed: Candidates with their categories.
        embedder: Compares captions of a category.
        process: Verifies and rewrites; see ``Process``.
        most: Most candidates of a category.
        near: Cosine from which two captions are taken for the same, unless they differ in side,
            direction, order or count.
        seed: Seed of the order.
        first: Ids of captions that come before all others, e.g. those an earlier run took.

    Returns:
        Who was drawn, who was refused, and why it ended early, if it did: a batch of which no
        candidate got a usable answer ends the draw.
    """
    pools: dict[str, list[Filed]] = defaultdict(list)
    for each in sorted(filed, key=lambda f: _order(f, seed, first)):
        pools[each.category.fine].append(each)
    categories = {name: _Category(pools[name], embedder, near) for name in sorted(pools)}
    used: set[str] = set()
    accepted: dict[str, list[Filed]] = {name: [] for name in categories}
    refused: list[Rejected] = []
    stopped = ""
    while not stopped:
        batch = _next_batch(categories, accepted, used, most, first)
        if not batch:
            break
        outcomes = process(batch)
        for each, outcome in zip(batch, outcomes, strict=True):
            name = each.category.fine
            if outcome.accepted:
                accepted[name].append(each)
                continue
            used.discard(each.candidate.group)
            categories[name].give_back(each)
            for category in categories.values():
                category.release(each.candidate.group)
            if outcome.refusal is not None:
                refused.append(outcome.refusal)
        if not any(outcome.answered for outcome in outcomes):
            stopped = f"none of {len(batch)} candidates got a usable answer"
    for category in categories.values():
        refused += category.refusals()
    return Drawn(tuple(f for each in accepted.values() for f in each), tuple(refused), stopped)


def _next_batch(
    categories: dict[str, _Category],
    accepted: dict[str, list[Filed]],
    used: set[str],
    most: int,
    first: Collection[str],
) -> list[Filed]:
    """Take candidates from the categories in turn, those with the fewest first.

    Before that, those of ``first``, or another category could take their motion.
    """
    batch: list[Filed] = []
    have = {name: len(found) for name, found in accepted.items()}
    open_names = [name for name in categories if have[name] < most]
    while open_names and len(batch) < BATCH:
        open_names.sort(key=lambda name: (not categories[name].begins_with(first), have[name]))
        name = open_names[0]
        drawn = categories[name].draw(used)
        if drawn is None:
            open_names.remove(name)
            continue
        used.add(drawn.candidate.group)
        batch.append(drawn)
        have[name] += 1
        if have[name] >= most:
            open_names.remove(name)
    return batch


def _order(filed: Filed, seed: int, first: Collection[str]) -> tuple[bool, bool, bool, str]:
    # A category that was only guessed comes after those that are sure, and a caption that the
    # corpus marks as short or long after those of the usual length.
    caption = filed.candidate.caption
    marked = caption.granularity not in (None, "standard")
    late = caption.id not in first
    return late, filed.by == "first_rule", marked, seeded_order(seed, caption.id)
