"""Figure 2 of MRBench for any corpus: balance of categories, caption lengths, repeated captions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from benchmarks.items import Frozen
from benchmarks.mrbench import Granularity
from benchmarks.taxonomy import Taxonomy
from construction.mrbench.classify import RuleMatcher
from construction.mrbench.lengths import word_count
from construction.text.held_out import twin_key

TOP = (1, 3, 5, 10, 20, 50)
"""Numbers of categories whose cumulative share is tabulated."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of caption length."""
SHARED = 3
"""Motions that must share a caption for it to count as repeated (Figure 2 c)."""


class Described(Frozen):
    """One caption of a motion."""

    motion: str
    """Id of the motion."""
    text: str
    """The caption."""
    granularity: Granularity | None = None
    """Where the corpus has several."""
    category: str | None = None
    """Fine category, where known; null files the motion by rule."""


class Lengths(Frozen):
    """Lengths of captions in words."""

    captions: int
    """Captions counted."""
    mean: float
    """Mean number of words."""
    least: int
    """Fewest words."""
    quantiles: dict[str, float]
    """By quantile, e.g. ``0.5``; linear interpolation."""
    most: int
    """Most words."""


class CorpusStatistics(Frozen):
    """What Figure 2 shows of one corpus."""

    motions: int
    """Motions with a caption."""
    captions: int
    """Captions."""
    categories: tuple[tuple[str, int], ...]
    """Fine categories with their number of motions, the fullest first."""
    unfiled: int
    """Motions that no rule files; left out of the shares."""
    cumulative: tuple[float, ...]
    """Share of filed motions in the fullest 1, 2, 3 … categories, 0 to 1; empty without any."""
    lengths: dict[str, Lengths]
    """By granularity, or under ``all`` where there is none."""
    repeated: float | None
    """Share of captions whose exact text ``SHARED`` or more motions have; None without captions."""
    ambiguous: float | None
    """Share of captions whose exact text another motion has too; None without captions."""
    ambiguous_merged: float | None
    """The same with a motion and its mirrored twin counted as one; None without captions."""
    most_shared: tuple[str, int] | None
    """The text that most motions have, and how many; None where no two share one."""

    def top_share(self, k: int) -> float | None:
        """Return the share of filed motions in the k fullest categories; None without any."""
        return self.cumulative[min(k, len(self.cumulative)) - 1] if self.cumulative else None

    def rows(self) -> list[dict[str, Any]]:
        """Return the statistics as rows of (statistic, scope, value), None where undefined."""
        rows: list[dict[str, Any]] = []

        def add(statistic: str, scope: str, value: float | None) -> None:
            rows.append({"statistic": statistic, "scope": scope, "value": value})

        add("motions", "", self.motions)
        add("captions", "", self.captions)
        add("categories", "", len(self.categories))
        add("motions_without_category", "", self.unfiled)
        for k in TOP:
            add("cumulative_share", f"top {k}", self.top_share(k))
        for name, lengths in self.lengths.items():
            add("words_mean", name, lengths.mean)
            add("words_least", name, lengths.least)
            for quantile, value in lengths.quantiles.items():
                add(f"words_q{quantile}", name, value)
            add("words_most", name, lengths.most)
        add("captions_of_3_or_more_motions", "", self.repeated)
        add("queries_of_another_motion", "as they are", self.ambiguous)
        add("queries_of_another_motion", "mirrored pairs merged", self.ambiguous_merged)
        return rows


def corpus_statistics(described: Iterable[Described], taxonomy: Taxonomy) -> CorpusStatistics:
    """Count what Figure 2 of MRBench shows.

    A motion without a category is filed under the one that the rules find in most of its captions,
    of several in a caption the first; of equals the first found. Texts are compared exactly, blanks
    at the ends aside. Every caption is one query, before and after merging.

    Args:
        described: Captions with their motions.
        taxonomy: Its rules file motions.

    Returns:
        The statistics.
    """
    rows = list(described)
    by_motion: dict[str, list[Described]] = defaultdict(list)
    motions_of: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        by_motion[row.motion].append(row)
        motions_of[row.text.strip()].add(row.motion)
    twins = {motion: twin_key(motion) for motion in by_motion}
    groups_of = {text: {twins[m] for m in motions} for text, motions in motions_of.items()}
    filed = _filed(by_motion, taxonomy)
    counts = sorted(Counter(filed).items(), key=lambda pair: (-pair[1], pair[0]))
    total = sum(count for _, count in counts)
    widest = max(motions_of.items(), key=lambda pair: (len(pair[1]), pair[0]), default=None)
    shared = widest is not None and len(widest[1]) > 1
    return CorpusStatistics(
        motions=len(by_motion),
        captions=len(rows),
        categories=tuple(counts),
        unfiled=len(by_motion) - total,
        cumulative=tuple(seen / total for seen in accumulate(count for _, count in counts)),
        lengths=_lengths(rows),
        repeated=_share(rows, {t: len(m) >= SHARED for t, m in motions_of.items()}),
        ambiguous=_share(rows, {t: len(m) > 1 for t, m in motions_of.items()}),
        ambiguous_merged=_share(rows, {t: len(g) > 1 for t, g in groups_of.items()}),
        most_shared=(widest[0], len(widest[1])) if widest is not None and shared else None,
    )


def _share(rows: Sequence[Described], holds: Mapping[str, bool]) -> float | None:
    return sum(holds[row.text.strip()] for row in rows) / len(rows) if rows else None


def _filed(by_motion: Mapping[str, Sequence[Described]], taxonomy: Taxonomy) -> list[str]:
    matcher = RuleMatcher(taxonomy)
    names = {category.fine.casefold(): category.fine for category in taxonomy.categories}
    found: list[str] = []
    for rows in by_motion.values():
        votes: Counter[str] = Counter()
        for row in rows:
            if row.category is not None:
                votes[names.get(row.category.casefold(), row.category)] += 1
            elif fits := matcher.match(row.text):
                votes[fits[0].fine] += 1
        if votes:
            found.append(votes.most_common(1)[0][0])
    return found


def _lengths(rows: Sequence[Described]) -> dict[str, Lengths]:
    import numpy as np

    sizes: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        sizes[row.granularity or "all"].append(word_count(row.text))
    order = ("concise", "standard", "fine", "all")
    return {
        name: Lengths(
            captions=len(sizes[name]),
            mean=float(np.mean(sizes[name])),
            least=min(sizes[name]),
            quantiles={
                f"{q:g}": float(value)
                for q, value in zip(QUANTILES, np.quantile(sizes[name], QUANTILES), strict=True)
            },
            most=max(sizes[name]),
        )
        for name in order
        if name in sizes
    }
