"""Where drafts start: clips with action labels in time and a caption (NextMotionQA 4.1, D)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from benchmarks.items import Frozen
from construction.text.tokens import unreadable
from corpus.clips import Caption, Clip, EventLabel
from corpus.formats.babel import BabelSequence
from corpus.formats.humanml3d import read_captions
from corpus.formats.humanml3d_index import Index, IndexRow
from corpus.problems import Problem

SHORTEST_S, LONGEST_S = 0.81, 119.92
"""Clips kept, seconds, both ends included (NextMotionQA D)."""
LEAST_OVERLAP_S = 0.1
"""Seconds of a label that must lie within the clip for it to count (ours: two frames)."""
JOIN_GAP_S = 0.1
"""Longest gap between two segments of one label that are made one, seconds (ours)."""
LONGER_S = 0.25
"""Seconds by which a clip may be longer than HumanML3D's index says and be the same (ours)."""
TRANSITION = "transition"
"""BABEL's label of a change between two actions; it is no action of its own."""


class SourceLabel(Frozen):
    """One action label of a clip."""

    text: str
    """The label, lower case."""
    start: float
    """Seconds from the start of the clip."""
    end: float
    """Seconds from the start of the clip, after ``start``."""
    categories: tuple[str, ...] = ()
    """BABEL's action categories."""
    timed: bool = True
    """False where it is not known when in the clip the label holds."""

    @property
    def line(self) -> str:
        """The label with its times, as a prompt shows it."""
        when = f"{self.start:.2f}-{self.end:.2f} s" if self.timed else "time not known"
        return f"{when}: {self.text}"


class SourceClip(Frozen):
    """A clip with what people have said of it; nothing here was seen by a model."""

    clip_id: str
    """Clip of the workspace."""
    corpus: str
    """Its corpus."""
    duration: float
    """Seconds."""
    labels: tuple[SourceLabel, ...]
    """Labels by time, consecutive ones of one text made one."""
    captions: tuple[str, ...]
    """Captions of the whole clip, in the order of the source; at least one."""
    origin: str
    """Where the labels come from, e.g. ``babel 4005`` or ``events``."""
    content_hash: str
    """Hash of the motion."""

    @property
    def caption(self) -> str:
        """The caption drafts go by: the source's first (ours)."""
        return self.captions[0]

    @property
    def actions(self) -> tuple[SourceLabel, ...]:
        """Labels without transitions."""
        return tuple(label for label in self.labels if label.text != TRANSITION)


class Sources(Frozen):
    """Clips to draft from, and what was left out."""

    clips: tuple[SourceClip, ...]
    """Clips in the order of their ids."""
    problems: tuple[Problem, ...] = ()
    """Files and rows that were refused."""
    passed: dict[str, int] = Field(default_factory=dict)
    """Clips that are sound and yet no source, by reason."""


def join_segments(labels: Iterable[SourceLabel]) -> tuple[SourceLabel, ...]:
    """Make consecutive segments of one label one (NextMotionQA D).

    Two segments are consecutive when no segment of another label begins between their starts
    and they are at most ``JOIN_GAP_S`` apart.

    Args:
        labels: Labels of one clip.

    Returns:
        Labels by start, end and text.
    """
    joined: list[SourceLabel] = []
    for label in sorted(labels, key=lambda part: (part.start, part.end, part.text)):
        last = joined[-1] if joined else None
        if last and last.text == label.text and label.start - last.end <= JOIN_GAP_S:
            names = tuple(dict.fromkeys((*last.categories, *label.categories)))
            end = max(last.end, label.end)
            timed = last.timed and label.timed
            joined[-1] = last.model_copy(update={"end": end, "categories": names, "timed": timed})
        else:
            joined.append(label)
    return tuple(joined)


def from_babel(
    sequences: Sequence[BabelSequence],
    index: Index,
    texts: Path,
    clips: Mapping[str, Clip],
) -> Sources:
    """Join BABEL's labels with HumanML3D's captions of the same stretch of an AMASS sequence.

    Args:
        sequences: BABEL.
        index: HumanML3D's index, in the time of the AMASS sequences.
        texts: HumanML3D's folder of captions.
        clips: Clips of the workspace by HumanML3D's id, e.g. ``000021``.

    Returns:
        One source for each clip that has labels and a caption of its whole length and that the
        workspace knows. Times count from the start of the clip.
    """
    by_key = {sequence.amass: sequence for sequence in sequences}
    found: list[SourceClip] = []
    problems: list[Problem] = []
    passed: dict[str, int] = defaultdict(int)
    passed["not from AMASS"] += index.elsewhere
    for row in index.rows:
        sequence = by_key.get(row.amass)
        clip = clips.get(row.name)
        if sequence is None or clip is None:
            passed["no labels in BABEL" if sequence is None else "not in the workspace"] += 1
            continue
        if clip.duration > row.end - row.start + LONGER_S:
            passed["longer than its stretch in index.csv"] += 1
            continue
        file = texts / f"{row.name}.txt"
        captions, refused = read_captions(file)
        problems += refused
        whole = tuple(caption.text for caption in captions if caption.span is None)
        if not whole:
            if not refused:
                passed["no caption of the whole clip"] += 1
            continue
        labels = _within(sequence, row, clip.duration)
        _keep(found, passed, clip, labels, whole, f"babel {sequence.sid}")
    return _sources(found, problems, passed)


def from_workspace(clips: Iterable[Clip], captions: Iterable[Caption]) -> Sources:
    """Take clips whose events the workspace knows, e.g. those of the demo corpus.

    Args:
        clips: Clips.
        captions: Their captions.
    """
    texts: dict[str, list[str]] = defaultdict(list)
    for caption in captions:
        if caption.span is None:
            texts[caption.clip_id].append(caption.text)
    found: list[SourceClip] = []
    passed: dict[str, int] = defaultdict(int)
    for clip in clips:
        if not texts[clip.id]:
            passed["no caption of the whole clip"] += 1
            continue
        labels = [
            SourceLabel(text=event_text(event), start=event.start, end=event.end)
            for event in clip.events
            if event.end > event.start
        ]
        _keep(found, passed, clip, labels, tuple(texts[clip.id]), "events")
    return _sources(found, [], passed)


def event_text(event: EventLabel) -> str:
    """Return a label in words for an event of the workspace.

    >>> event_text(EventLabel(action="raise arm", start=0, end=1, side="left"))
    'raise left arm'
    >>> event_text(EventLabel(action="walk", start=0, end=1, direction="forward"))
    'walk forward'
    """
    verb, _, thing = event.action.partition(" ")
    side = event.side if event.side in ("left", "right") else None
    limb = thing or {"kick": "leg", "hop": "leg", "lunge": "leg"}.get(verb, "arm")
    words = [verb]
    if thing:
        words += [side, limb] if side else [f"both {limb}s" if event.side == "both" else limb]
    elif side:
        words.append(f"with the {side} {limb}")
    if event.direction:
        turning = event.direction in ("clockwise", "counterclockwise")
        words.append(f"in a {event.direction} circle" if turning else event.direction)
    return " ".join(words)


def _within(sequence: BabelSequence, row: IndexRow, duration: float) -> list[SourceLabel]:
    """Return the labels that lie in a stretch of the sequence, in its own time."""
    labels = []
    length = min(row.end - row.start, duration)
    for segment in sequence.segments:
        first = max(segment.start - row.start, 0.0)
        last = min(segment.end - row.start, length)
        if last - first >= LEAST_OVERLAP_S:
            labels.append(
                SourceLabel(
                    text=segment.label,
                    start=round(first, 3),
                    end=round(last, 3),
                    categories=segment.categories,
                    timed=segment.timed,
                )
            )
    return labels


def _keep(
    found: list[SourceClip],
    passed: dict[str, int],
    clip: Clip,
    labels: Sequence[SourceLabel],
    captions: tuple[str, ...],
    origin: str,
) -> None:
    source = SourceClip(
        clip_id=clip.id,
        corpus=clip.corpus,
        duration=clip.duration,
        labels=join_segments(labels),
        captions=captions,
        origin=origin,
        content_hash=clip.content_hash,
    )
    if unreadable(source.caption):
        passed["caption with signs that hide words, or without words"] += 1
    elif not _latin(source.caption):
        passed["caption not in English letters"] += 1
    elif not source.actions:
        passed["no action label in the clip"] += 1
    elif not SHORTEST_S <= clip.duration <= LONGEST_S:
        passed[f"not {SHORTEST_S} to {LONGEST_S} s long"] += 1
    else:
        found.append(source)


def _sources(
    found: list[SourceClip], problems: list[Problem], passed: Mapping[str, int]
) -> Sources:
    clips = tuple(sorted(found, key=lambda source: source.clip_id))
    counts = {reason: count for reason, count in sorted(passed.items()) if count}
    return Sources(clips=clips, problems=tuple(problems), passed=counts)


def _latin(text: str) -> bool:
    """Return whether at least half the letters are ASCII."""
    letters = [sign for sign in text if sign.isalpha()]
    return 2 * sum(sign.isascii() for sign in letters) >= len(letters)
