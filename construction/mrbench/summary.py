"""The report of an MRBench draft: counts by category, what to supplement, alignment, pictures."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.items import Item, Provenance
from benchmarks.mrbench import GRANULARITIES
from benchmarks.taxonomy import Taxonomy
from construction.mrbench.candidates import Candidate
from construction.mrbench.classify import Filed
from construction.mrbench.lengths import Trio
from construction.mrbench.statistics import Described, corpus_statistics
from construction.mrbench.statistics_plots import statistics_figures
from construction.mrbench.verify import Alignment, alignment_scores
from construction.report import DraftReport, Rejected, count_cells, flags
from construction.sampling import same_text
from construction.stages import Stages
from llm.outcome import Reply, same_model_warning

if TYPE_CHECKING:
    from construction.mrbench.held_out import TrainingPair

_WITHOUT = {
    "score": "no model is named for it: captions passed the rule filter only",
    "classify": "no model is named for it: captions are filed by rule only",
    "verify": "no model is named for it: nothing compared captions with motions",
    "rewrite": "no model is named for it: captions of three lengths come from the corpus or from "
    "its event labels",
}


class Made(NamedTuple):
    """A caption set before it is an item."""

    filed: Filed
    """The candidate."""
    trio: Trio
    """Its captions."""
    provenance: Provenance
    """How they were had."""
    flags: tuple[str, ...]
    """Why a person should look at it first."""


def summarise(
    *,
    items: Sequence[Item],
    made: Sequence[Made],
    filed: Sequence[Filed],
    rejected: Sequence[Rejected],
    training: Sequence[TrainingPair],
    taxonomy: Taxonomy,
    stages: Stages,
    looks: Sequence[Reply[Alignment]],
    settings: dict[str, Any],
    seed: int,
    least: int,
    asked: Sequence[Candidate],
    stopped: str,
    notes: Sequence[str],
    started: float,
    tool_version: str,
) -> DraftReport:
    """Write the report of a draft.

    Args:
        items: Caption sets.
        made: The same before they were items.
        filed: Candidates with a category.
        rejected: All refusals.
        training: Pairs held out.
        taxonomy: Categories.
        stages: Models of the run.
        looks: Replies of the alignment stage, of pairs that did not pass or got no answer too.
        settings: Options in force.
        seed: Seed.
        least: Sets a category should have.
        asked: Captions the run set out from.
        stopped: Why the pool ended early; empty where it did not.
        notes: Further notes.
        started: When the run began, seconds since 1970 UTC.
        tool_version: Version of MotionJury.

    Returns:
        The report. ``tables`` holds ``captions`` (what became of each), ``categories``,
        ``supplement``, ``statistics`` (Figure 2 of the drafted sets) and, where pairs were
        verified, ``alignment``.
    """
    described = [
        Described(
            motion=each.filed.candidate.clip.id,
            text=text,
            granularity=name,
            category=each.filed.category.fine,
        )
        for each in made
        for name, text in zip(GRANULARITIES, each.trio, strict=True)
    ]
    found = corpus_statistics(described, taxonomy)
    categories = _categories(taxonomy, filed, made, least)
    tables = {
        "captions": _fates(asked, made, rejected, training),
        "categories": categories,
        "supplement": [row for row in categories if row["missing"]],
        "statistics": found.rows(),
    }
    if looks:
        tables["alignment"] = [alignment_scores(looks)._asdict()]
    not_run = {stage: why for stage, why in _WITHOUT.items() if not stages.has(stage)}
    if unsent := sum(refusal.reason.startswith("not sent") for refusal in rejected):
        not_run["rest of the run"] = (
            f"{unsent} questions were not sent; the same command goes on from here"
        )
    return DraftReport(
        benchmark="mrbench",
        seed=seed,
        settings=settings,
        asked=len(asked),
        drafted=len(items),
        flagged=sum(bool(flags(item)) for item in items),
        rejected=dict(sorted(Counter(r.code for r in rejected).items())),
        cells=count_cells(items, rejected, ("coarse", "fine")),
        not_run=not_run,
        stages=stages.uses(),
        notes=(*_notes(stages, made, categories, training, stopped, least), *notes),
        tables=tables,
        figures=tuple(statistics_figures({"drafted": found})) if items else (),
        started=started,
        seconds=time.time() - started,
        tool_version=tool_version,
    )


def _fates(
    asked: Sequence[Candidate],
    made: Sequence[Made],
    rejected: Sequence[Rejected],
    training: Sequence[TrainingPair],
) -> list[dict[str, Any]]:
    """Return how many captions the run set out from ended how; the rows sum to all of them."""
    used = {each.filed.candidate.caption.id for each in made}
    groups = {each.filed.candidate.group for each in made}
    stage = {refusal.source: refusal.stage for refusal in rejected if refusal.stage != "gather"}
    held = {pair.caption_id for pair in training}
    counts: Counter[str] = Counter()
    training_counts: Counter[str] = Counter()
    for candidate in asked:
        name = candidate.caption.id
        if name in used:
            fate = "drafted"
        elif name in stage:
            fate = f"refused: {stage[name]}"
        elif candidate.group in groups:
            fate = "another caption of a drafted motion"
        else:
            fate = "not drawn: the category is full, or the run ended early"
        counts[fate] += 1
        training_counts[fate] += name in held
    return [
        {"what": fate, "captions": count, "of_these_in_training": training_counts[fate]}
        for fate, count in sorted(counts.items())
    ]


def _categories(
    taxonomy: Taxonomy, filed: Sequence[Filed], made: Sequence[Made], least: int
) -> list[dict[str, Any]]:
    motions: dict[str, set[str]] = {}
    for each in filed:
        motions.setdefault(each.category.fine, set()).add(each.candidate.group)
    drafted = Counter(each.filed.category.fine for each in made)
    return [
        {
            "coarse": category.coarse,
            "middle": category.middle,
            "fine": category.fine,
            "candidate_motions": len(motions.get(category.fine, ())),
            "drafted": drafted[category.fine],
            "missing": max(least - drafted[category.fine], 0),
        }
        for category in taxonomy.categories
    ]


def _notes(
    stages: Stages,
    made: Sequence[Made],
    categories: Sequence[dict[str, Any]],
    training: Sequence[TrainingPair],
    stopped: str,
    least: int,
) -> list[str]:
    notes = [f"{len(training)} pairs are held out for training; no motion is on both sides"]
    if missing := sum(row["missing"] for row in categories):
        short = sum(bool(row["missing"]) for row in categories)
        wanted = "no set" if least == 1 else f"fewer than {least} sets"
        notes.append(
            f"{short} of {len(categories)} categories have {wanted}; missing sets: {missing} "
            "(table supplement)"
        )
    concise = Counter(same_text(each.trio.concise) for each in made)
    if shared := sum(count for count in concise.values() if count > 1):
        notes.append(f"{shared} sets share their concise caption with another: ambiguous queries")
    if stopped:
        notes.append(f"the draw ended early: {stopped}")
    judge, writers = stages.model("verify"), [stages.model("rewrite")]
    if judge is not None:
        warning = same_model_warning(judge, [name for name in writers if name is not None])
        if warning is not None:
            notes.append(f"verify and rewrite: {warning}; name another with --stage-model")
    return notes
