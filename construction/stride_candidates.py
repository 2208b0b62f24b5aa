"""STRIDE candidates: every sound edit of every caption, before filters and balance (STRIDE 2.1)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.items import Frozen, Provenance
from benchmarks.stride import StrideAxis
from construction.sampling import random_content, same_text
from construction.text import actions as action_rule
from construction.text import mirror as mirror_rule
from construction.text import temporal as temporal_rule
from construction.text.held_out import motion_groups
from construction.text.language import foreign
from construction.text.outcome import Outcome, OutcomeKind, not_applicable, rejected
from corpus.clips import Caption, Clip
from corpus.problems import InputError


@dataclass(frozen=True, slots=True)
class Candidate:
    """One edited caption that may become an item."""

    clip: Clip
    """The motion."""
    caption: Caption
    """Its caption."""
    axis: StrideAxis
    """What was changed."""
    text: str
    """The edited caption."""
    edit: Mapping[str, str]
    """The change, as ``Triplet.edit`` holds it."""
    made_by: Provenance | None = None
    """Where the edit comes from when a language model wrote it; None for the axis's own rule."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Results of filters and checks, by name: what provenance keeps."""
    flags: tuple[str, ...] = ()
    """Why a person should look at it first."""

    @property
    def corpus(self) -> str:
        """Corpus of the clip."""
        return self.clip.corpus

    @property
    def key(self) -> tuple[str, str]:
        """Caption id and edited text: what tells candidates of one axis apart."""
        return self.caption.id, self.text

    def noted(self, name: str, note: Any, *flags: str) -> Candidate:
        """Return the candidate with the result of a filter or check, and perhaps flags, added."""
        return Candidate(
            self.clip,
            self.caption,
            self.axis,
            self.text,
            self.edit,
            self.made_by,
            {**self.notes, name: note},
            (*self.flags, *flags),
        )


class Passed(Frozen):
    """A caption, or a candidate made from it, that made no item."""

    corpus: str
    """Corpus of the clip."""
    clip_id: str
    """The clip."""
    caption_id: str
    """The caption."""
    axis: StrideAxis
    """The axis."""
    outcome: OutcomeKind
    """``not_applicable`` or ``rejected``."""
    stage: str
    """Step that passed it over: ``rule``, ``rewrite``, ``likelihood``, ``text_only_check``,
    ``select``."""
    reason_code: str
    """Short stable name of the reason."""
    reason: str
    """The reason in words."""
    text: str = ""
    """The candidate; empty where there was none."""


def edits(caption: str, axis: StrideAxis) -> tuple[Outcome, ...]:
    """Return every sound edit of a caption by rule, or the one reason why there is none.

    Args:
        caption: The caption.
        axis: ``temporal_order``, ``mirror_reflection`` or ``action_identity``.

    Returns:
        At least one outcome: ``item`` each, several for ``action_identity`` only, or a single one
        of another kind.

    Raises:
        InputError: The axis is unknown, or is ``random_content``, which needs other captions.
    """
    rule = _RULES.get(axis)
    if rule is None:
        raise InputError(f"axis: expected one of {', '.join(_RULES)}, got {axis}")
    if not caption.strip():
        return (not_applicable("empty caption", "empty"),)
    language = foreign(caption)
    if language:
        return (not_applicable(language, "not_english"),)
    return rule(caption)


_RULES: dict[StrideAxis, Callable[[str], tuple[Outcome, ...]]] = {
    "temporal_order": lambda caption: (temporal_rule.reverse_events(caption),),
    "mirror_reflection": lambda caption: (mirror_rule.mirror(caption),),
    "action_identity": action_rule.swaps,
}


def edits_of_all(
    captions: Sequence[str],
    axes: Sequence[StrideAxis],
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> dict[tuple[StrideAxis, str], tuple[Outcome, ...]]:
    """Edit many captions on several structural axes, on all processors where that pays.

    Args:
        captions: Different captions.
        axes: Structural axes.
        tell: Told how many are done, of how many.

    Returns:
        The outcomes of ``edits`` by axis and caption; the number of processors changes nothing.
    """
    blocks = [captions[start : start + _BLOCK] for start in range(0, len(captions), _BLOCK)]
    found: dict[tuple[StrideAxis, str], tuple[Outcome, ...]] = {}
    done = 0
    for block, outcomes in zip(blocks, _worked(blocks, axes), strict=True):
        # Workers send plain values, which cross processes faster than records do.
        made = iter(outcomes)
        for caption in block:
            for axis in axes:
                found[axis, caption] = tuple(Outcome(**values) for values in next(made))
        done += len(block)
        tell(done, len(captions))
    return found


_BLOCK = 1024
_WORTH = 8 * _BLOCK
"""Fewest captions that other processes are started for."""

_Plain = list[tuple[dict[str, Any], ...]]


def _worked(blocks: Sequence[Sequence[str]], axes: Sequence[StrideAxis]) -> Iterator[_Plain]:
    processors = min(os.cpu_count() or 1, len(blocks))
    if processors == 1 or sum(map(len, blocks)) < _WORTH:
        return (_edit_block(block, axes) for block in blocks)
    from joblib import Parallel, delayed

    run = Parallel(n_jobs=processors, return_as="generator")
    result: Iterator[_Plain] = run(delayed(_edit_block)(block, axes) for block in blocks)
    return result


def _edit_block(captions: Sequence[str], axes: Sequence[StrideAxis]) -> _Plain:
    return [
        tuple(dict(outcome) for outcome in edits(caption, axis))
        for caption in captions
        for axis in axes
    ]


class CandidateMaker:
    """Makes the candidates of a corpus, and says why a caption has none.

    Captions of the same words are edited once.
    """

    def __init__(self, clips: Sequence[Clip], captions: Sequence[Caption], seed: int) -> None:
        """Look at the corpus.

        Args:
            clips: Clips, ids unique.
            captions: Their captions, in a fixed order.
            seed: Seed of Random Content.
        """
        self._clips = {clip.id: clip for clip in clips}
        self._seed = seed
        self._known: dict[tuple[StrideAxis, str], tuple[Outcome, ...]] = {}
        self._by_corpus: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._group = motion_groups(clips)
        self._group_of: dict[str, str] = {}
        self._texts: dict[str, list[str]] = defaultdict(list)
        self._said: dict[str, set[str]] = defaultdict(set)
        for caption in captions:
            clip = self._clips[caption.clip_id]
            self._texts[clip.content_hash].append(caption.text)
            self._said[clip.content_hash].add(same_text(caption.text))
            self._by_corpus[clip.corpus].append((caption.id, caption.text))
            self._group_of[caption.id] = self._group[clip.id]

    def learn(
        self,
        captions: Iterable[Caption],
        axes: Iterable[StrideAxis],
        tell: Callable[[int, int], None],
    ) -> None:
        """Make the edits of captions that can be edited, for ``by_rule`` to look up."""
        wanted = [axis for axis in axes if axis in _RULES]
        texts = list(dict.fromkeys(c.text for c in captions if self.usable(c) is None))
        if wanted and texts:
            self._known |= edits_of_all(texts, wanted, tell)

    def usable(self, caption: Caption) -> Outcome | None:
        """Say why a caption cannot be edited on any axis; None where it can."""
        if caption.span is not None and caption.span != self._clips[caption.clip_id].span:
            return rejected("the caption describes a part of the clip only", "partial_span")
        return None

    def by_rule(self, caption: Caption, axis: StrideAxis) -> list[Candidate] | Outcome:
        """Return the candidates that the axis's rule makes of a caption, or why there are none."""
        refused = self.usable(caption)
        if refused is not None:
            return refused
        if axis == "random_content":
            found: Sequence[Outcome] = [self._draw(caption)]
        else:
            known = self._known.get((axis, caption.text))
            if known is None:
                known = self._known[axis, caption.text] = edits(caption.text, axis)
            found = known
        if found[0].text is None:
            return found[0]
        made = [c for outcome in found if (c := self.candidate(caption, axis, outcome))]
        if axis != "random_content" and not made:
            return rejected("the edited text is another caption of this motion", "also_a_caption")
        return made

    def candidate(
        self,
        caption: Caption,
        axis: StrideAxis,
        outcome: Outcome,
        made_by: Provenance | None = None,
    ) -> Candidate | None:
        """Return the candidate of an edit; None where the text is also true of the motion."""
        clip = self._clips[caption.clip_id]
        if outcome.text is None or same_text(outcome.text) in self._said[clip.content_hash]:
            return None
        return Candidate(clip, caption, axis, outcome.text, outcome.edit, made_by)

    def _draw(self, caption: Caption) -> Outcome:
        """Draw another motion's caption; a copy or the mirror image of the motion is no other."""
        clip = self._clips[caption.clip_id]
        return random_content(
            caption.text,
            caption.id,
            self._by_corpus[clip.corpus],
            self._seed,
            avoid=self._texts[clip.content_hash],
            allowed=lambda other: self._group_of[other] != self._group[clip.id],
        )


def passed(
    clip: Clip,
    caption: Caption,
    axis: StrideAxis,
    outcome: Outcome,
    stage: str = "rule",
    text: str = "",
) -> Passed:
    """Return the record of a caption or candidate that an outcome passes over."""
    return Passed(
        corpus=clip.corpus,
        clip_id=clip.id,
        caption_id=caption.id,
        axis=axis,
        outcome=outcome.outcome,
        stage=stage,
        reason_code=outcome.reason_code,
        reason=outcome.reason,
        text=text,
    )


def refuse(candidate: Candidate, stage: str, code: str, reason: str) -> Passed:
    """Return the record of a candidate that a later step refuses."""
    outcome = rejected(reason, code)
    return passed(candidate.clip, candidate.caption, candidate.axis, outcome, stage, candidate.text)


def first_of_each(
    captions: Sequence[Caption],
) -> Iterator[tuple[Caption, bool]]:
    """Yield each caption with whether it is the first of its words for its motion."""
    seen: set[tuple[str, str]] = set()
    for caption in captions:
        key = (caption.clip_id, same_text(caption.text))
        yield caption, key not in seen
        seen.add(key)
