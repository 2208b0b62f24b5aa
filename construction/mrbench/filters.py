"""The rule filter: captions that cannot tell one motion from another (MRBench).

The paper removes identical repeats, overly generic expressions and non-kinematic descriptions; its
rules are not printed. Words and limits here are ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from benchmarks.items import Frozen
from construction.mrbench.candidates import Candidate, refuse
from construction.report import Rejected
from construction.sampling import same_text
from construction.text.morphology import verb_lemmas
from construction.text.tables import words
from construction.text.tokens import tokenize, unreadable

_TABLE = "retrieval"
_MOST_STRANGE = 0.3


class FilterLimits(Frozen):
    """Limits of the rule filter (all ours)."""

    min_words: int = Field(default=3, ge=1)
    """Fewest words of a caption."""
    max_words: int = Field(default=120, ge=1)
    """Most words of a caption."""
    max_shared: int = Field(default=3, ge=2)
    """From so many motions that share a caption verbatim, all its uses are refused; below, the
    first is kept. 3 is where Figure 2 (c) begins to count."""
    max_non_kinematic: float = Field(default=0.4, ge=0, le=1)
    """Largest share of words on scene, looks or feelings among the words that say something."""


class Verdict(NamedTuple):
    """Why a caption is refused."""

    code: str
    """Short stable name."""
    reason: str
    """In words."""


def rule_filter(
    candidates: Sequence[Candidate], limits: FilterLimits | None = None
) -> tuple[list[Candidate], list[Rejected]]:
    """Refuse captions that are unusable as queries.

    A caption of a part of its clip is refused as ``partial_span``, a repeat as ``repeat``; the
    other reasons are ``judge_caption``'s.

    Args:
        candidates: All candidates, in a fixed order.
        limits: Limits; ours by default.

    Returns:
        Those that remain, in order, and one refusal with its reason for each of the others.
    """
    chosen = limits or FilterLimits()
    motions: dict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        motions[same_text(candidate.caption.text)].add(candidate.group)
    kept: list[Candidate] = []
    refused: list[Rejected] = []
    first: dict[str, str] = {}
    for candidate in candidates:
        text = candidate.caption.text
        plain = same_text(text)
        verdict = _partial(candidate) or judge_caption(text, chosen)
        shared = len(motions[plain])
        if verdict is None and shared >= chosen.max_shared:
            verdict = Verdict("repeat", f"{shared} motions have this caption")
        elif verdict is None and plain in first:
            verdict = Verdict("repeat", f"the caption is {first[plain]}'s too")
        if verdict is None:
            first[plain] = candidate.caption.id
            kept.append(candidate)
        else:
            refused.append(refuse(candidate, "rule", *verdict))
    return kept, refused


def _partial(candidate: Candidate) -> Verdict | None:
    """Refuse a caption of a part of the clip: what is shown and judged is the whole."""
    span = candidate.caption.span
    if span is None or span == candidate.clip.span:
        return None
    return Verdict("partial_span", "the caption describes a part of the clip only")


def judge_caption(caption: str, limits: FilterLimits | None = None) -> Verdict | None:
    """Judge one caption by itself.

    Args:
        caption: The caption.
        limits: Limits; ours by default.

    Returns:
        Why it is refused: ``unreadable``, ``too_short``, ``too_long``, ``language``, ``generic``,
        ``no_motion`` or ``non_kinematic``; None where it may stay.

    >>> judge_caption("A person slowly walked forward.").code
    'generic'
    >>> judge_caption("A person waves the left hand twice.") is None
    True
    """
    chosen = limits or FilterLimits()
    if (why := unreadable(caption)) is not None:
        return Verdict("unreadable", why)
    said = [token.low for token in tokenize(caption) if token.word]
    if sum(not word.isascii() for word in said) > _MOST_STRANGE * len(said):
        return Verdict("language", "expected English, most words have signs of other scripts")
    if len(said) < chosen.min_words:
        return Verdict("too_short", f"{len(said)} words, at least {chosen.min_words} are needed")
    if len(said) > chosen.max_words:
        return Verdict("too_long", f"{len(said)} words, at most {chosen.max_words} are taken")
    if (why := _not_english(said)) is not None:
        return Verdict("language", why)
    telling = [word for word in said if word not in words(_TABLE, "empty")]
    if _generic(telling):
        return Verdict("generic", "every motion of its kind could have this caption")
    scene = [word for word in telling if word in words(_TABLE, "non_kinematic")]
    if len(scene) > 1 and len(scene) / len(telling) > chosen.max_non_kinematic:
        named = ", ".join(dict.fromkeys(scene))
        return Verdict("non_kinematic", f"scene, looks or feelings: {named}")
    if not any(verb_lemmas(word) for word in telling):
        return Verdict("no_motion", "no word names a motion")
    return None


def _generic(telling: Sequence[str]) -> bool:
    """Whether a caption tells of nothing, or of one general deed in a general manner."""
    deeds = [word for word in telling if word in words(_TABLE, "generic_deeds")]
    manners = words(_TABLE, "generic_manners")
    lemmas = {min(verb_lemmas(word), default=word) for word in deeds}
    return len(lemmas) < 2 and all(word in manners for word in telling if word not in deeds)


def _not_english(said: Sequence[str]) -> str | None:
    """Say why a caption is taken for another language; None for English."""
    function = words(_TABLE, "empty")
    english = sum(word in function or bool(verb_lemmas(word)) for word in said)
    foreign = [w for w in said if w in words(_TABLE, "foreign") and w not in function]
    if len(foreign) > 1 and len(foreign) >= english:
        return f"expected English, got words such as {', '.join(dict.fromkeys(foreign))}"
    if english == 0:
        return "expected English, no word of it was found"
    return None
