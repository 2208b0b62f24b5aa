"""The n-gram scorer for a corpus: no caption is scored by a model that has seen its motion.

A model trained on the captions it scores finds the original likelier than any edit, whatever
it says. So captions of motions that are drafted are left out of training; where too few others
remain, the motions are cut into folds and each fold is scored by a model of the other folds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from construction.text.ngram import Grams, count_grams, texts_hash
from construction.text.scorers import NgramScorer, ScorerNotRun, TextScorer
from corpus.clips import Caption, Clip

FOLDS = 5
"""Folds of motions where too few captions of other motions are there (ours)."""
MIN_CAPTIONS = 1000
"""Fewest captions a model is trained on; with fewer its likelihoods say little (ours)."""

_MIRRORED = re.compile(r"^(?:M(?=\d)|m_)")


class HeldOut(NamedTuple):
    """The scorer of each motion."""

    scorer: Callable[[str], TextScorer]
    """The scorer that has not seen a clip, by clip id."""
    note: str
    """How captions were held out, in one line."""


def twin_key(clip_id: str) -> str:
    """Return the id of a motion without the mark of its mirror image.

    HumanML3D names the mirrored copy of ``000021`` ``M000021``, with captions that are its Mirror
    Reflection (Guo et al. 2022); SnapMoGen writes ``m_`` before the name.

    >>> twin_key("humanml3d:M012314"), twin_key("M7"), twin_key("synthetic:March")
    ('humanml3d:012314', '7', 'synthetic:March')
    """
    corpus, colon, name = clip_id.rpartition(":")
    return f"{corpus}{colon}{_MIRRORED.sub('', name)}"


def motion_group(clip: Clip) -> str:
    """Return what a clip shares with its mirror image and with other cuts of its recording.

    Besides the mark of mirror images, SnapMoGen's ``#start#end`` after the name is dropped.

    >>> clip = Clip.model_construct(id="humanml3d:M000021")
    >>> motion_group(clip)
    'humanml3d:000021'
    """
    corpus, _, name = clip.id.partition(":")
    return twin_key(f"{corpus}:{name.split('#', 1)[0]}")


def held_out_ngrams(
    clips: Sequence[Clip],
    captions: Sequence[Caption],
    drafted: Sequence[str],
    *,
    least: int = MIN_CAPTIONS,
    folds: int = FOLDS,
) -> HeldOut:
    """Train n-grams so that each drafted motion is scored by one that has not seen it.

    Args:
        clips: All clips of the corpora.
        captions: Their captions.
        drafted: Ids of the clips whose captions are edited.
        least: Fewest training captions.
        folds: Number of folds, at least 2.

    Returns:
        The scorer by clip id. Captions of clips in the split ``test`` are never trained on, unless
        they are drafted and too little else is there.

    Raises:
        ScorerNotRun: Too few captions even so.
    """
    by_id = {clip.id: clip for clip in clips}
    group = motion_groups(clips)
    closed = {group[i] for i in drafted if i in group}
    tested = {group[c.id] for c in clips if c.split == "test"}
    known = [c for c in captions if c.clip_id in by_id]
    left_out = closed | tested
    others = [c.text for c in known if group[c.clip_id] not in left_out]
    if len(others) >= least:
        trained_on = f"{len(others)} captions"
        model = NgramScorer(count_grams(others), trained_on, texts_hash(others))
        return HeldOut(lambda clip_id: model, f"{model.id}, none of a drafted or test motion")
    usable = [c for c in known if group[c.clip_id] in closed or group[c.clip_id] not in tested]
    parts: list[list[str]] = [[] for _ in range(folds)]
    for caption in usable:
        parts[_fold(group[caption.clip_id], folds)].append(caption.text)
    smallest = len(usable) - max(map(len, parts))
    if smallest < least:
        raise ScorerNotRun(
            f"the n-gram needs {least} captions of other motions to train on, "
            f"{max(smallest, len(others))} are there"
        )
    counts = [count_grams(part) for part in parts]
    trained_on = f"the other folds of {len(usable)} captions in {folds} folds"
    scorers = [_without(k, counts, parts, trained_on) for k in range(folds)]
    note = (
        f"n-grams in {folds} folds of motions, each scoring the motions it has not seen: "
        f"only {len(others)} captions of motions that are neither drafted nor in the test split"
    )

    own = {clip_id: scorers[_fold(name, folds)] for clip_id, name in group.items()}

    def scorer(clip_id: str) -> TextScorer:
        # A motion that is not there was not trained on: any fold has not seen it.
        return own.get(clip_id) or scorers[_fold(clip_id, folds)]

    return HeldOut(scorer, note)


def motion_groups(clips: Sequence[Clip]) -> Mapping[str, str]:
    """Return the group of each clip by its id.

    A group holds a motion, its mirror image, other cuts of its recording, copies of any of these
    under other ids, and what those share a group with. The order of the clips decides nothing.
    """
    parent: dict[tuple[int, str], tuple[int, str]] = {}

    def top(node: tuple[int, str]) -> tuple[int, str]:
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = parent[above]
            node = above
        return node

    for clip in clips:
        # The lesser one leads, so that the order of the clips decides nothing.
        one, other = top((0, motion_group(clip))), top((1, clip.content_hash))
        parent[max(one, other)] = min(one, other)
    return {clip.id: top((0, motion_group(clip)))[1] for clip in clips}


def _fold(group: str, folds: int) -> int:
    return int(hashlib.sha256(group.encode("utf-8", "replace")).hexdigest()[:8], 16) % folds


def _without(
    fold: int, counts: Sequence[Grams], parts: Sequence[Sequence[str]], trained_on: str
) -> NgramScorer:
    grams: Grams = Grams()
    for place, part in enumerate(counts):
        if place != fold:
            grams.update(part)
    texts = [text for place, part in enumerate(parts) if place != fold for text in part]
    return NgramScorer(grams, trained_on, texts_hash(texts))
