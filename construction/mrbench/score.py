"""Scores of discriminability and compactness by a language model (MRBench, Candidate Filtering)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from benchmarks.items import Frozen
from construction.mrbench.candidates import Candidate, refuse
from construction.report import Rejected
from construction.stages import Stages
from llm.requests import Request

STAGE = "score"
"""Name of the stage."""
MIN_SCORE = 3
"""Least score on both scales that a caption needs (ours; the paper states no threshold)."""


class CaptionScore(Frozen):
    """What the model answers: two scores from 1 to 5 (the scale is ours)."""

    discriminability: int = Field(ge=1, le=5)
    """How few other motions the caption would fit."""
    compactness: int = Field(ge=1, le=5)
    """How much of it is about the movement of the body."""
    reason: str
    """One sentence."""


def score_captions(
    candidates: Sequence[Candidate], stages: Stages, min_score: int = MIN_SCORE
) -> tuple[list[Candidate], list[Rejected], dict[str, CaptionScore]]:
    """Refuse candidates whose caption scores too low on either scale.

    Args:
        candidates: The candidates.
        stages: Models; without one for ``score`` all candidates stay and none has a score.
        min_score: Least score on both scales, 1 to 5.

    Returns:
        Those that remain, in order; the refused (``discriminability``, ``compactness``, or
        ``score_`` and the outcome where no answer came); scores by caption id.
    """
    if not stages.has(STAGE) or not candidates:
        return list(candidates), [], {}
    asked = stages.prompts.load("mrbench.score")
    requests = [
        Request(id=c.caption.id, prompt=asked.render({"caption": c.caption.text}))
        for c in candidates
    ]
    kept: list[Candidate] = []
    refused: list[Rejected] = []
    scores: dict[str, CaptionScore] = {}
    replies = stages.ask(STAGE, requests, CaptionScore)
    for candidate, reply in zip(candidates, replies, strict=True):
        score = reply.value
        if score is None and stages.dry_run:
            # Reckoned with as though it would pass, so that later stages are reckoned too.
            kept.append(candidate)
            continue
        if score is None:
            refused.append(refuse(candidate, STAGE, f"score_{reply.outcome}", reply.reason))
            continue
        scores[candidate.caption.id] = score
        for name, value in (
            ("discriminability", score.discriminability),
            ("compactness", score.compactness),
        ):
            if value < min_score:
                reason = f"{name} {value} of 5, at least {min_score} is needed: {score.reason}"
                refused.append(refuse(candidate, STAGE, name, reason))
                break
        else:
            kept.append(candidate)
    return kept, refused, scores
