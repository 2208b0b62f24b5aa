"""MRBench from start to end: captions and motions in; caption sets and a training set out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pydantic import Field

from benchmarks.items import Frozen, Item
from benchmarks.taxonomy import Taxonomy
from construction.mrbench.candidates import Candidate, gather
from construction.mrbench.classify import classify
from construction.mrbench.filters import FilterLimits, rule_filter
from construction.mrbench.finishing import Finisher, items_of
from construction.mrbench.frames import FrameSource
from construction.mrbench.held_out import TrainingPair, held_out
from construction.mrbench.pool import NEAR, draw_pool
from construction.mrbench.score import MIN_SCORE, score_captions
from construction.mrbench.summary import summarise
from construction.report import DraftReport, Rejected
from construction.sampling import seeded_order
from construction.stages import Stages
from corpus.clips import Caption, Clip
from corpus.problems import InputError
from llm.embedding import TextEmbedder
from llm.embedding_endpoint import EndpointEmbedder
from llm.outcome import tool_version

STAGES = ("score", "classify", "verify", "rewrite")
"""Stages that ask a language model, in order; each may have a model of its own."""


class MrbenchSettings(Frozen):
    """Options of a draft."""

    seed: int = 0
    """Seed of every choice."""
    min_per_category: int = Field(default=10, ge=0)
    """Sets a fine category should have; those below are listed to be supplemented (MRBench)."""
    max_per_category: int = Field(default=60, ge=1)
    """Most sets of a fine category (MRBench)."""
    near: float = Field(default=NEAR, gt=0, le=1)
    """Cosine from which two captions of a category are taken for the same (ours)."""
    min_score: int = Field(default=MIN_SCORE, ge=1, le=5)
    """Least score of discriminability and of compactness (ours)."""
    limit: int | None = Field(default=None, ge=1)
    """Most motions the run sets out from, chosen by the seed; null for all."""
    limits: FilterLimits = FilterLimits()
    """Limits of the rule filter."""


class MrbenchDraft(NamedTuple):
    """What a draft produced."""

    items: tuple[Item, ...]
    """Caption sets, by category."""
    rejected: tuple[Rejected, ...]
    """Every refused candidate with its reason."""
    training: tuple[TrainingPair, ...]
    """Pairs held out of the benchmark; no motion is on both sides."""
    report: DraftReport
    """Counts, tables, pictures."""


def draft_mrbench(
    clips: Sequence[Clip],
    captions: Sequence[Caption],
    taxonomy: Taxonomy,
    embedder: Callable[[Sequence[str]], TextEmbedder],
    frames: FrameSource,
    stages: Stages | None = None,
    settings: MrbenchSettings | None = None,
    *,
    beyond: Iterable[Clip] = (),
    earlier: Iterable[Item] = (),
    tell: Callable[[str], None] | None = None,
) -> MrbenchDraft:
    """Draft MRBench: filter, file, balance, verify, rewrite, hold out the rest.

    Stages without a model go by rule, or not at all, and the report says so: captions are not
    scored, of several fitting categories the first is taken, no motion is looked at, and captions
    of three lengths are put together from what the corpus says.

    Args:
        clips: Motions.
        captions: Their captions.
        taxonomy: Categories.
        embedder: Returns the embedder for the captions that are left after filtering.
        frames: Draws the frames of a motion; used only where a model looks at them.
        stages: Language models.
        settings: Options; the paper's and ours by default.
        beyond: Clips that are not drafted from; their twins and copies are one motion with them.
        earlier: Items drafted before: no training pair shows their motions, and what was drafted
            with the same seed is taken first, so that a run that ended early goes on with it.
        tell: Told in one line how far the run is.

    Returns:
        Items, refusals, training pairs and the report.

    Raises:
        InputError: Fewer at most than at least, or an endpoint, key, budget or cache that cannot be
            used.
    """
    chosen = settings or MrbenchSettings()
    if chosen.max_per_category < chosen.min_per_category:
        raise InputError(
            f"max_per_category: expected at least min_per_category {chosen.min_per_category}, "
            f"got {chosen.max_per_category}"
        )
    started = time.time()
    models, say = stages or Stages(), tell or (lambda line: None)
    candidates, rejected, groups = gather(clips, captions, beyond)
    before = list(earlier)
    shown = {groups[i.payload["clip_id"]] for i in before if i.payload["clip_id"] in groups}
    asked = _limited(candidates, chosen)
    kept, by_rule = rule_filter(asked, chosen.limits)
    scored, by_score, scores = score_captions(kept, models, chosen.min_score)
    filed, unfiled = classify(scored, taxonomy, models)
    say(f"{len(asked)} captions: {len(kept)} kept by rule, {len(filed)} filed")
    compare = embedder([f.candidate.caption.text for f in filed])
    finisher = Finisher(candidates, scores, frames, models, chosen.seed, say)
    drawn = draw_pool(
        filed,
        compare,
        finisher.process,
        most=chosen.max_per_category,
        near=chosen.near,
        seed=chosen.seed,
        first=_captions_of(before, chosen.seed),
    )
    rejected += [*by_rule, *by_score, *unfiled, *drawn.refused]
    made = [finisher.made[f.candidate.caption.id] for f in drawn.accepted]
    items = items_of(made)
    training = held_out(filed, made, rejected, shown)
    report = summarise(
        items=items,
        made=made,
        filed=filed,
        rejected=rejected,
        training=training,
        taxonomy=taxonomy,
        stages=models,
        looks=finisher.looks,
        settings={
            **chosen.model_dump(mode="json", exclude={"seed"}),
            "taxonomy": f"{taxonomy.title}/{taxonomy.version} {taxonomy.sha256[:12]}",
            "embedding": compare.id,
        },
        seed=chosen.seed,
        least=chosen.min_per_category,
        asked=asked,
        stopped=drawn.stopped,
        notes=_embedding_notes(compare),
        started=started,
        tool_version=tool_version(),
    )
    return MrbenchDraft(tuple(items), tuple(rejected), tuple(training), report)


def _captions_of(items: Iterable[Item], seed: int) -> frozenset[str]:
    """Return the captions that items drafted with a seed were made from."""
    said = (item.provenance for item in items)
    found = (each.parameters.get("caption_id") for each in said if each.seed == seed)
    return frozenset(str(caption) for caption in found if caption is not None)


def _embedding_notes(compare: TextEmbedder) -> tuple[str, ...]:
    """Say what an endpoint's embeddings took; nothing for embedders on this machine."""
    if not isinstance(compare, EndpointEmbedder):
        return ()
    usd = "cost unknown (no price set)" if compare.usd is None else f"{compare.usd:.4f} USD"
    return (f"embedding: {compare.calls} calls, {compare.spent.prompt} tokens, {usd}",)


def _limited(candidates: Sequence[Candidate], settings: MrbenchSettings) -> list[Candidate]:
    """Return the candidates of at most ``limit`` motions, twins and copies together."""
    if settings.limit is None:
        return list(candidates)
    groups = sorted({c.group for c in candidates}, key=lambda g: seeded_order(settings.seed, g))
    chosen = set(groups[: settings.limit])
    return [c for c in candidates if c.group in chosen]
