"""The failure modes F1–F4 of the pilot, looked for in source labels and in drafts by rule.

NextMotionQA 4.2 admits an item only if the labels it comes from survive the audit of A.3. The paper
audited by hand; the rules here are ours. They find what can be read off words and times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from benchmarks.items import Frozen
from benchmarks.nextmotionqa import FailureMode, SemanticAxis
from construction.nextmotionqa.sources import SourceClip, SourceLabel
from construction.nextmotionqa.words import Part, containers, content, find_phrase, table
from construction.text.tokens import tokenize

AT_ONCE_SHARE = 0.5
"""Two labels that share this part of the shorter one's time or more are simultaneous (ours)."""

AXIS_OF: dict[FailureMode, tuple[SemanticAxis, ...]] = {
    "F1": ("body_part",),
    "F2": ("direction",),
    "F3": ("action",),
    "F4": ("action",),
}
"""Axes whose items a failure of the source touches (ours). F3 also touches any item that speaks of
before and after."""


class Failure(Frozen):
    """One failure found, and by what."""

    mode: FailureMode
    """Which."""
    reason: str
    """What was found, in words."""

    @property
    def line(self) -> str:
        """Mode and reason."""
        return f"{self.mode}: {self.reason}"


def audit_source(clip: SourceClip) -> tuple[Failure, ...]:
    """Look for F1–F4 in the labels and the caption of a clip.

    - F1: a part and one that contains it are named, for sides that may be the same; or only the
      far end of a limb is named ("raise hand") with an action that moves the whole of it.
    - F2: left, right or a sense of turning is named without whose.
    - F3: two labels overlap by less than half the shorter one, or it is not known when the
      several labels hold.
    - F4: two labels share at least half the shorter one's time, or a text says so ("while").

    Args:
        clip: The clip.

    Returns:
        Failures in order of mode, one for each reason.
    """
    texts = (*(label.text for label in clip.actions), clip.caption)
    found = [Failure(mode="F1", reason=reason) for reason in _colliding(texts)]
    for text in texts:
        for word in content(text).unframed:
            found.append(Failure(mode="F2", reason=f"whose {word} is not said in {text!r}"))
    found += _in_time(clip.actions)
    for text in texts:
        if word := _first_word(text, "together"):
            found.append(Failure(mode="F4", reason=f"{word!r} in {text!r}"))
    unique = {(failure.mode, failure.reason): failure for failure in found}
    return tuple(sorted(unique.values(), key=lambda failure: failure.mode))


def item_failures(
    axis: SemanticAxis,
    texts: Sequence[str],
    source: Iterable[Failure],
    rivals: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> tuple[Failure, ...]:
    """Return the failures that touch one drafted item.

    Args:
        axis: Axis of the item.
        texts: What the item says: question and options, or captions.
        source: Failures of the labels it comes from.
        rivals: Right and wrong options; a part right and one that contains it wrong is F1.

    Returns:
        Failures, each once, in order of mode.
    """
    ordered = any(_first_word(text, "border") for text in texts)
    found = [
        failure
        for failure in source
        if axis in AXIS_OF[failure.mode] or (failure.mode == "F3" and ordered)
    ]
    if axis == "direction":
        for text in texts:
            for word in content(text).unframed:
                found.append(Failure(mode="F2", reason=f"the item does not say whose {word}"))
    for right in rivals[0]:
        for wrong in rivals[1]:
            if reason := _rival(content(right).parts, content(wrong).parts):
                found.append(Failure(mode="F1", reason=f"{reason}, one right and one wrong"))
    unique = {(failure.mode, failure.reason): failure for failure in found}
    return tuple(sorted(unique.values(), key=lambda failure: failure.mode))


def _colliding(texts: Sequence[str]) -> list[str]:
    reasons: list[str] = []
    named = sorted(
        {part for text in texts for part in content(text).parts},
        key=lambda part: (part.name, part.side or ""),
    )
    for one, other in combinations(named, 2):
        if reason := _rival({one}, {other}):
            reasons.append(reason)
    limb = table("words")["limb"]
    verbs, ends = set(str(limb["verbs"]).split()), set(str(limb["ends"]).split())
    for text in texts:
        said = content(text)
        alone = {part.name for part in said.parts} & ends
        moved = [action for action in said.actions if action in verbs]
        if alone and moved and {part.name for part in said.parts} <= ends:
            reasons.append(f"{moved[0]} moves more than the {min(alone)} named in {text!r}")
    return reasons


def _rival(first: Iterable[Part], second: Iterable[Part]) -> str:
    """Say which part contains another where their sides may be the same; empty for none."""
    for one in first:
        for other in second:
            if one.side and other.side and one.side != other.side:
                continue
            if other.name in containers(one.name) or one.name in containers(other.name):
                small, large = (one, other) if other.name in containers(one.name) else (other, one)
                return f"{small.name} and {large.name} are both named"
    return ""


def _in_time(labels: Sequence[SourceLabel]) -> list[Failure]:
    found: list[Failure] = []
    for one, other in combinations(labels, 2):
        if one.text == other.text:
            continue
        pair = f"{one.text!r} and {other.text!r}"
        if not (one.timed and other.timed):
            found.append(Failure(mode="F3", reason=f"it is not known when {pair} hold"))
            continue
        shared = min(one.end, other.end) - max(one.start, other.start)
        if shared <= 0:
            continue
        share = shared / min(one.end - one.start, other.end - other.start)
        if share >= AT_ONCE_SHARE:
            found.append(Failure(mode="F4", reason=f"{pair} hold at once for {shared:.2f} s"))
        else:
            found.append(Failure(mode="F3", reason=f"{pair} overlap by {shared:.2f} s"))
    return found


def _first_word(text: str, kind: str) -> str:
    """Return the first word or phrase of a kind that a text holds; empty for none."""
    tokens = tokenize(text)
    return next((w for w in table("words")["time"][kind] if find_phrase(tokens, w)), "")
