"""What text alone tells of STRIDE pairs: score gaps, and telling words (Figures 3 and 4).

An evaluator that never looks at the motion can still prefer the original caption. The gaps of
text-only scorers between caption and edit show how much there is to exploit, beside the gaps of a
naive baseline on the same captions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.items import Frozen, Item
from benchmarks.stride import AXES, STRUCTURAL_AXES, StrideAxis, Triplet
from construction.sampling import seeded_order
from construction.stride_filter import MAX_GAP, score_pairs
from construction.text.naive import naive_edit
from construction.text.ngram import words_of
from construction.text.scorers import NATS, ScorerNotRun, TextScorer

DRAFTED, NAIVE = "drafted", "naive"
"""Sources of pairs: the items themselves, and the naive baseline on their captions."""


class Pair(NamedTuple):
    """A caption and an edit of it."""

    source: str
    """``drafted`` or ``naive``."""
    axis: StrideAxis
    corpus: str
    clip_id: str
    caption: str
    edited: str


class GapRow(Frozen):
    """Score gaps, original minus edited, of one scorer × axis × source."""

    scorer: str
    """Id of the scorer."""
    unit: str
    """Unit of the gaps."""
    axis: StrideAxis
    """Axis."""
    source: str
    """``drafted`` or ``naive``."""
    n: int
    """Pairs with a gap."""
    unscored: int
    """Pairs without one."""
    mean: float | None
    """Mean gap; above 0 text alone favours the original. Null without a pair."""
    median: float | None
    """Median gap."""
    q05: float | None
    """5 % quantile."""
    q25: float | None
    """25 % quantile."""
    q75: float | None
    """75 % quantile."""
    q95: float | None
    """95 % quantile."""
    mean_abs: float | None
    """Mean size of the gap."""
    favours_original: float | None
    """Share of gaps above 0, ties one half; 0.5 is no preference."""
    within: float | None
    """Share of gaps of at most 0.15 in size; null for other units than nats per token."""


class WordRow(Frozen):
    """How often a word stands in captions and in their edits."""

    axis: StrideAxis
    """Axis."""
    word: str
    """Lower case."""
    original: int
    """Captions of this axis that have it, once each."""
    edited: int
    """Edited captions that have it."""
    difference: float
    """(original - edited) / pairs, -1 to 1; far from 0 the word alone tells which is which."""


class Gaps(NamedTuple):
    """What ``score_gaps`` finds."""

    rows: list[GapRow]
    """One row for each scorer × axis × source with pairs."""
    values: dict[tuple[str, StrideAxis, str], list[float]]
    """The gaps themselves, by scorer, axis and source."""
    not_run: dict[str, str]
    """Scorers that could not work, and why."""


def item_pairs(items: Iterable[Item]) -> list[Pair]:
    """Return the pairs of STRIDE items."""
    found = []
    for item in items:
        t = Triplet.model_validate(item.payload)
        found.append(Pair(DRAFTED, t.axis, t.corpus, t.clip_id, t.caption, t.perturbed))
    return found


def sample_pairs(pairs: Sequence[Pair], most: int, seed: int) -> list[Pair]:
    """Return at most so many pairs of each corpus and axis, drawn by seed, in their order."""
    drawn = sorted(
        range(len(pairs)),
        key=lambda i: seeded_order(seed, "audit", pairs[i].clip_id, pairs[i].edited),
    )
    taken: Counter[tuple[str, StrideAxis]] = Counter()
    kept = []
    for i in drawn:
        taken[pairs[i].corpus, pairs[i].axis] += 1
        if taken[pairs[i].corpus, pairs[i].axis] <= most:
            kept.append(i)
    return [pairs[i] for i in sorted(kept)]


def naive_pairs(pairs: Sequence[Pair], seed: int) -> list[Pair]:
    """Return the naive baseline's edits of the same captions; those it cannot edit are left out."""
    found = []
    for pair in pairs:
        text = naive_edit(pair.caption, pair.axis, seed) if pair.axis in STRUCTURAL_AXES else None
        if text is not None:
            found.append(pair._replace(source=NAIVE, edited=text))
    return found


def score_gaps(
    pairs: Sequence[Pair],
    scorers: Mapping[str, Callable[[str], TextScorer]],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Gaps:
    """Score every pair with every scorer.

    Args:
        pairs: Drafted and naive pairs.
        scorers: Scorer of a clip by its id, by the specification that names it.
        progress: Told how many scorers are done.

    Returns:
        Rows, values, and which scorers were not run.
    """
    rows: list[GapRow] = []
    values: dict[tuple[str, StrideAxis, str], list[float]] = {}
    not_run: dict[str, str] = {}
    groups: dict[tuple[StrideAxis, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.axis, pair.source].append(pair)
    for done, (spec, scorer) in enumerate(scorers.items(), 1):
        try:
            for axis in AXES:
                for source in (DRAFTED, NAIVE):
                    members = groups.get((axis, source), [])
                    if members:
                        row, gaps = _row(members, axis, source, scorer)
                        rows.append(row)
                        values[row.scorer, axis, source] = gaps
        except ScorerNotRun as error:
            not_run[spec] = str(error)
        progress(done, len(scorers))
    return Gaps(rows, values, not_run)


def _row(
    pairs: Sequence[Pair], axis: StrideAxis, source: str, scorer: Callable[[str], TextScorer]
) -> tuple[GapRow, list[float]]:
    import numpy as np

    scores = score_pairs([(p.clip_id, p.caption, p.edited) for p in pairs], scorer)
    gaps = [gap for s in scores if (gap := s.gap) is not None]
    used = scorer(pairs[0].clip_id)
    row = {
        "scorer": used.id,
        "unit": used.unit,
        "axis": axis,
        "source": source,
        "n": len(gaps),
        "unscored": len(scores) - len(gaps),
    }
    names = ("mean", "median", "q05", "q25", "q75", "q95", "mean_abs", "favours_original", "within")
    if not gaps:
        return GapRow(**row, **dict.fromkeys(names)), gaps
    found = np.asarray(gaps)
    quantiles = [float(q) for q in np.quantile(found, [0.5, 0.05, 0.25, 0.75, 0.95])]
    size = np.abs(found)
    above = float(np.mean((found > 0) + 0.5 * (found == 0)))
    within = float(np.mean(size <= MAX_GAP)) if used.unit == NATS else None
    stated = (float(found.mean()), *quantiles, float(size.mean()), above, within)
    return GapRow(**row, **dict(zip(names, stated, strict=True))), gaps


def word_rows(pairs: Iterable[Pair]) -> list[WordRow]:
    """Count words in captions and in their edits (Figure 4 a, b).

    Args:
        pairs: Drafted pairs.

    Returns:
        One row for each axis and word, the most frequent first. A caption that was edited several
        times counts each time.
    """
    total: Counter[StrideAxis] = Counter()
    original: dict[StrideAxis, Counter[str]] = defaultdict(Counter)
    edited: dict[StrideAxis, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        total[pair.axis] += 1
        original[pair.axis].update({w for w in words_of(pair.caption) if w.isalpha()})
        edited[pair.axis].update({w for w in words_of(pair.edited) if w.isalpha()})
    return [
        WordRow(
            axis=axis,
            word=word,
            original=original[axis][word],
            edited=edited[axis][word],
            difference=(original[axis][word] - edited[axis][word]) / total[axis],
        )
        for axis in AXES
        if total[axis]
        for word in sorted(
            original[axis] | edited[axis],
            key=lambda w: (-original[axis][w] - edited[axis][w], w),
        )
    ]
