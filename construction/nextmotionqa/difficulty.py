"""How hard a clip is: its labels and the modifiers of its caption (NextMotionQA 4 eq. 2, D)."""

from __future__ import annotations

from typing import Literal

from benchmarks.items import Frozen
from benchmarks.nextmotionqa import Difficulty
from construction.nextmotionqa.sources import SourceClip, SourceLabel
from construction.nextmotionqa.words import find_phrase, table
from construction.text.laterality import lateral_cues
from construction.text.tokens import tokenize

FAST_TRANSITION_S = 0.5
"""A transition below this many seconds is fast (NextMotionQA D)."""

HARD_LABELS = 3
"""From this many labels on a clip is Hard (NextMotionQA eq. 2)."""

Captions = Literal["first", "all"]
"""Whose modifiers count: those of the caption drafts go by, or of any caption."""


class Tier(Frozen):
    """A clip's difficulty and what it was settled by."""

    difficulty: Difficulty
    """Tier. For a borderline clip the tier of equation 2, until an expert has settled it."""
    borderline: bool
    """Whether equation 2 and appendix D leave the tier open."""
    labels: tuple[str, ...]
    """Distinct action labels, in order of time; transitions are none."""
    modifiers: dict[str, tuple[str, ...]]
    """Entries of Table 7 found, by lexicon."""
    transition_s: float | None
    """Seconds between two labels that follow each other, the shortest; negative where they
    overlap; null with one label or without times."""
    reason: str
    """Why this tier, in words."""


def find_modifiers(caption: str) -> dict[str, tuple[str, ...]]:
    """Return the entries of Table 7 that a caption holds, by lexicon.

    Whole words count, in any of their listed forms. Left and right count where they name a side,
    not in "left the room" or "right away" (ours).

    >>> find_modifiers("a person slowly raises both hands")
    {'speed': ('slowly',), 'body_part': ('hand',)}
    """
    tokens = tokenize(caption)
    sides = {cue.stem for cue in lateral_cues(tokens) if cue.reading in ("lateral", "ambiguous")}
    forms = table("modifiers")["forms"]
    found: dict[str, tuple[str, ...]] = {}
    for lexicon, entries in table("modifiers")["lexicons"].items():
        hits = []
        for entry in entries:
            if entry in ("left", "right"):
                there = entry in sides
            else:
                there = any(find_phrase(tokens, form) for form in (entry, *forms.get(entry, ())))
            if there:
                hits.append(entry)
        if hits:
            found[lexicon] = tuple(hits)
    return found


def assess(clip: SourceClip, captions: Captions = "first") -> Tier:
    """Settle the difficulty of a clip.

    In this order (ours; equation 2 alone would put a clip with two labels and a modifier in two
    tiers): Hard with three labels or more, or a modifier; Easy with one label; Medium with two
    adjacent labels and a fast transition; else borderline.

    Args:
        clip: The clip, with at least one label.
        captions: Whose modifiers count.
    """
    texts = clip.captions if captions == "all" else (clip.caption,)
    modifiers: dict[str, tuple[str, ...]] = {}
    for text in texts:
        for lexicon, hits in find_modifiers(text).items():
            modifiers[lexicon] = tuple(dict.fromkeys((*modifiers.get(lexicon, ()), *hits)))
    labels = tuple(dict.fromkeys(label.text for label in clip.actions))
    gap = shortest_gap(clip.actions)
    difficulty: Difficulty = "medium"
    borderline = False
    if len(labels) >= HARD_LABELS:
        difficulty, reason = "hard", f"{len(labels)} labels"
    elif modifiers:
        named = ", ".join(hit for hits in modifiers.values() for hit in hits)
        difficulty, reason = "hard", f"modifiers: {named}"
    elif len(labels) == 1:
        difficulty, reason = "easy", "one label and no modifier"
    elif gap is not None and abs(gap) < FAST_TRANSITION_S:
        reason = f"two adjacent labels, {gap:.2f} s apart"
    else:
        borderline = True
        reason = "two labels, " + (
            "times not known"
            if gap is None
            else f"overlapping by {-gap:.2f} s"
            if gap < 0
            else f"{gap:.2f} s apart"
        )
    return Tier(
        difficulty=difficulty,
        borderline=borderline,
        labels=labels,
        modifiers=modifiers,
        transition_s=gap,
        reason=reason,
    )


def shortest_gap(labels: tuple[SourceLabel, ...]) -> float | None:
    """Return the seconds between two different labels that follow each other, the shortest.

    A transition between them belongs to the gap. Null where there are no two, or where it is not
    known when they hold.
    """
    if not all(label.timed for label in labels):
        return None
    pairs = zip(labels, labels[1:], strict=False)
    gaps = [round(b.start - a.end, 3) for a, b in pairs if a.text != b.text]
    return min(gaps, key=abs) if gaps else None
