"""The likelihood filter: only pairs that a text model finds about as likely stay (STRIDE A.1).

``|ll(c) - ll(c')| <= 0.15`` nats per token, made for GPT-2. Another scorer's nats are others; it is
named in every result and marked as not the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from construction.stride_candidates import Candidate, Passed, refuse
from construction.text.scorers import NATS, NOT_THE_PAPERS, ScorerNotRun, TextScorer

MAX_GAP = 0.15
"""Largest difference of log-likelihoods, nats per token (STRIDE A.1)."""
STAGE = "likelihood"
NAME = "likelihood_filter"
"""Key of the filter's result in an item's provenance."""
UNKNOWN = "likelihood gap unknown"


class Scores(NamedTuple):
    """What a scorer gives a caption and its edit."""

    original: float | None
    """Score of the caption; None where it has none."""
    perturbed: float | None
    """Score of the edited caption."""

    @property
    def gap(self) -> float | None:
        """Original minus perturbed; above 0 the text alone favours the original."""
        if self.original is None or self.perturbed is None:
            return None
        return self.original - self.perturbed


def score_pairs(
    pairs: Sequence[tuple[str, str, str]], scorer: Callable[[str], TextScorer]
) -> list[Scores]:
    """Score captions and their edits, each text once per scorer.

    Args:
        pairs: (clip id, caption, edited caption).
        scorer: The scorer of a clip, by its id.

    Returns:
        The scores, in order.

    Raises:
        ScorerNotRun: The scorer cannot work.
    """
    own = {clip_id: scorer(clip_id) for clip_id, _, _ in pairs}
    texts: dict[int, tuple[TextScorer, dict[str, None]]] = {}
    for clip_id, caption, edited in pairs:
        _, wanted = texts.setdefault(id(own[clip_id]), (own[clip_id], {}))
        wanted[caption] = wanted[edited] = None
    found = {
        place: dict(zip(wanted, used.score(list(wanted)), strict=True))
        for place, (used, wanted) in texts.items()
    }
    return [Scores(found[id(own[i])][c], found[id(own[i])][e]) for i, c, e in pairs]


class LikelihoodFilter:
    """Refuses candidates that text alone tells from the original."""

    def __init__(self, scorer: Callable[[str], TextScorer], max_gap: float = MAX_GAP) -> None:
        """Keep the scorer.

        Args:
            scorer: The scorer of a clip, by its id; its unit is nats per token.
            max_gap: Largest difference allowed, above 0.
        """
        self._scorer = scorer
        self._max_gap = max_gap

    def __call__(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Passed]]:
        """Split candidates into those that stay and those that are refused.

        Args:
            candidates: Candidates of structural axes.

        Returns:
            Those within the gap, with scorer and values in their notes; a candidate whose gap is
            unknown stays and is flagged. And the refusals.

        Raises:
            ScorerNotRun: The scorer cannot work, or its scores are no likelihoods.
        """
        kept: list[Candidate] = []
        refused: list[Passed] = []
        pairs = [(c.clip.id, c.caption.text, c.text) for c in candidates]
        for candidate, scores in zip(candidates, score_pairs(pairs, self._scorer), strict=True):
            used = self._scorer(candidate.clip.id)
            if used.unit != NATS:
                raise ScorerNotRun(f"{used.id} gives {used.unit}, the filter needs {NATS}")
            note = gap_note(used, scores, self._max_gap)
            if scores.gap is None:
                kept.append(candidate.noted(NAME, note, UNKNOWN))
            elif abs(scores.gap) <= self._max_gap:
                kept.append(candidate.noted(NAME, note))
            else:
                side = "original" if scores.gap > 0 else "edited caption"
                reason = (
                    f"text alone favours the {side} by {abs(scores.gap):.3f} nats per token, "
                    f"more than {self._max_gap:g} ({used.id})"
                )
                refused.append(refuse(candidate, STAGE, "likelihood_gap", reason))
        return kept, refused


def gap_note(scorer: TextScorer, scores: Scores, max_gap: float) -> dict[str, Any]:
    """Return what provenance keeps of a filtered pair."""
    note = {
        "scorer": scorer.id,
        "fingerprint": scorer.fingerprint,
        "unit": scorer.unit,
        "original": _rounded(scores.original),
        "perturbed": _rounded(scores.perturbed),
        "gap": _rounded(scores.gap),
        "max_gap": max_gap,
    }
    return note if scorer.papers else {**note, "note": NOT_THE_PAPERS}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
