"""Controlled changes of motions, captions kept, scored by the generation suite (STRIDE 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.items import Frozen
from corpus.problems import InputError
from metrics.generation_suite import Settings, Suite, evaluate
from metrics.results import Dropped

Intervention = Literal["original", "mirrored", "time_reversed", "shuffled"]
INTERVENTIONS: tuple[Intervention, ...] = get_args(Intervention)
"""``original``: ground truth as it is. ``mirrored``, ``time_reversed``: the motion changed, its
captions kept. ``shuffled``: each caption with another motion's (a control)."""
CaptionRule = Literal["random", "first"]
"""Which caption of a motion a replication uses: one drawn anew, as HumanML3D's loader does, or the
first."""
CAPTION_RULES: tuple[CaptionRule, ...] = get_args(CaptionRule)
_VARIANT: dict[Intervention, str] = {"mirrored": "#mirrored", "time_reversed": "#time_reversed"}


class Embedder(Protocol):
    """A dual encoder with its motions at hand, e.g. ``evaluators.model_source.ModelScores``."""

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, D)."""

    def embed_motions(self, motion_ids: Sequence[str]) -> NDArray[np.float32]:
        """Return (N, D), NaN for motions it refused; ids may end in ``#mirrored`` and the like."""

    def embed_motions_for_fid(self, motion_ids: Sequence[str]) -> NDArray[np.float32] | None:
        """Return (N, E) that FID is taken on; None where it is the vectors of retrieval."""

    def refused(self, motion_ids: Sequence[str]) -> dict[str, str]:
        """Return why motions were refused, by id."""


class Interventions(Frozen):
    """The suite on each version of the same motions."""

    suites: dict[str, Suite]
    """By intervention."""
    kept: tuple[str, ...]
    """Ids of the motions that entered, in order."""
    dropped: tuple[Dropped, ...]
    """What did not, in any version, and why."""


def score_interventions(
    embedder: Embedder,
    motion_ids: Sequence[str],
    captions: Sequence[Sequence[str]],
    *,
    settings: Settings | None = None,
    which: Sequence[Intervention] = INTERVENTIONS,
    caption_rule: CaptionRule = "random",
) -> Interventions:
    """Score ground-truth motions before and after each intervention.

    The reference of FID are the original motions. A motion that the model refuses in one version
    is dropped in all, so that all rows are about the same motions.

    Args:
        embedder: The model.
        motion_ids: N ids.
        captions: Captions of each, one or more.
        settings: Options of the suite.
        which: The interventions.
        caption_rule: Which caption a replication uses.

    Returns:
        The suites.

    Raises:
        InputError: Fewer usable motions than a pool.
    """
    options = settings or Settings()
    versions = {name: _VARIANT.get(name, "") for name in ("original", *which)}
    vectors = {
        tail: embedder.embed_motions([name + tail for name in motion_ids])
        for tail in dict.fromkeys(versions.values())
    }
    for_fid = {
        tail: embedder.embed_motions_for_fid([name + tail for name in motion_ids])
        for tail in vectors
    }
    every = [*vectors.values(), *(found for found in for_fid.values() if found is not None)]
    usable = np.all([np.isfinite(found).all(axis=1) for found in every], axis=0)
    kept = np.flatnonzero(usable)
    dropped = _refusals(embedder, motion_ids, list(vectors), usable)
    if len(kept) < options.pool:
        raise InputError(
            f"{len(kept)} usable motions are fewer than a pool of {options.pool}"
            + (f"; refused: {dropped[0].reason}" if dropped else "")
        )
    text = caption_embeddings(embedder, [captions[i] for i in kept], options, caption_rule)
    real, real_fid = vectors[""][kept], for_fid[""]
    suites = {}
    for name in which:
        rows = kept[derangement(len(kept), options.seed)] if name == "shuffled" else kept
        own = for_fid[versions[name]]
        suites[name] = evaluate(
            text,
            vectors[versions[name]][rows],
            reference=real if real_fid is None else real_fid[kept],
            fid_motion=None if own is None else own[rows],
            spread_reference=None if real_fid is None else real,
            settings=options,
        )
    return Interventions(
        suites=suites, kept=tuple(motion_ids[i] for i in kept), dropped=tuple(dropped)
    )


def caption_embeddings(
    embedder: Embedder,
    captions: Sequence[Sequence[str]],
    settings: Settings,
    rule: CaptionRule,
) -> NDArray[Any]:
    """Embed the captions that replications use.

    Args:
        embedder: The model.
        captions: Captions of each of N motions, one or more.
        settings: Number of replications, and the seed.
        rule: Which caption is used.

    Returns:
        (N, D), or (replications, N, D) where captions are drawn.
    """
    if rule == "first" or all(len(of_one) == 1 for of_one in captions):
        return np.asarray(embedder.embed_texts([of_one[0] for of_one in captions]))
    count = np.array([len(of_one) for of_one in captions])
    begin = np.cumsum(count) - count
    every = embedder.embed_texts([text for of_one in captions for text in of_one])
    chosen = [
        begin + np.random.default_rng([settings.seed, run]).integers(0, count)
        for run in range(settings.replications)
    ]
    return np.stack([every[rows] for rows in chosen])


def derangement(n: int, seed: int) -> NDArray[np.int64]:
    """Give each of n places another one's motion: neighbours on a random circle.

    Args:
        n: Number of places, at least 2.
        seed: Of the circle.

    Returns:
        (n,) whose motion each place gets; none its own.

    >>> sorted(derangement(4, 0).tolist())
    [0, 1, 2, 3]
    """
    circle = np.random.default_rng([seed, n]).permutation(n)
    found: NDArray[np.int64] = np.empty(n, dtype=np.int64)
    found[circle] = np.roll(circle, 1)
    return found


def _refusals(
    embedder: Embedder, motion_ids: Sequence[str], tails: Sequence[str], usable: NDArray[np.bool_]
) -> list[Dropped]:
    """Count refused motions by reason; a motion refused twice is counted once."""
    reasons: dict[str, int] = {}
    lost = [name for name, is_in in zip(motion_ids, usable, strict=True) if not is_in]
    why = embedder.refused([name + tail for name in lost for tail in tails])
    for name in lost:
        reason = next((why[name + t] for t in tails if name + t in why), "no finite vector")
        reasons[reason] = reasons.get(reason, 0) + 1
    return [Dropped(what="motions", n=n, reason=reason) for reason, n in reasons.items()]
