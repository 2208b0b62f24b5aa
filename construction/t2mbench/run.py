"""One run of T2MBench: prompts, their targets, the OOD check, and the report of it all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchmarks.items import Frozen, Item
from benchmarks.t2mbench import CATEGORIES, MotionPrompt, TargetCheck, TargetFile
from construction.report import DraftReport, Figure, Rejected, count_cells, flags
from construction.stages import Stages
from construction.t2mbench import clay, expansion, grammar, refinement
from construction.t2mbench.book import cells
from construction.t2mbench.ood import OodCheck, check_ood
from construction.t2mbench.prompts import PER_CALL, ROUNDS, STAGES, draft_prompts
from construction.t2mbench.seeds import Seed
from construction.t2mbench.target_drafts import STAGE, TargetDraft, draft_targets, target_files
from construction.t2mbench.targets import RULE
from corpus.problems import InputError
from llm.embedding import TextEmbedder
from llm.outcome import tool_version

CELL = ("dimension", "category", "length")
"""What prompts are counted by."""


class Plan(Frozen):
    """What a run is to draft."""

    categories: tuple[str, ...] | None = None
    """Keys of ``CATEGORIES``; null for all."""
    limit: int | None = None
    """At most so many prompts of each category and length."""
    seed: int = 0
    """Seed of every choice."""
    per_call: int = PER_CALL
    """Prompts asked for in one call."""
    rounds: int = ROUNDS
    """Most rounds of asking for what is missing."""


class Against(NamedTuple):
    """What prompts are compared with in the OOD check."""

    corpus: str
    """Name of the corpus."""
    captions: Sequence[str]
    """Its captions."""
    embedder: TextEmbedder
    """Makes the vectors."""
    k: int
    """Neighbour that a ball reaches to."""
    max_corpus: int
    """Most captions taken."""


class Drafted(NamedTuple):
    """What a run brought."""

    items: list[Item]
    """Prompts and targets."""
    rejected: list[Rejected]
    """Everything refused, with the reason."""
    report: DraftReport
    """The record."""
    files: dict[str, TargetFile]
    """Target files by name; nothing in them is verified yet."""


def draft_t2mbench(
    plan: Plan, stages: Stages, seeds: Sequence[Seed] = (), against: Against | None = None
) -> Drafted:
    """Draft prompts, read the targets of the Accuracy ones, and check against a corpus.

    Args:
        plan: What to draft.
        stages: Language models by stage; a stage without one goes by rule.
        seeds: Seeds of one's own.
        against: The corpus of the OOD check; None leaves it out.

    Returns:
        Items, refusals, report and target files.

    Raises:
        InputError: A prompt file that cannot be used; as ``Stages.ask``.
    """
    started = time.time()
    for stage in STAGES:
        if stages.has(stage):
            stages.prompts.load(f"t2mbench.{stage}")
    quota = cells(plan.categories, plan.limit)
    made = draft_prompts(
        quota,
        plan.seed,
        stages,
        seeds=seeds,
        per_call=plan.per_call,
        rounds=plan.rounds,
    )
    prompts = [MotionPrompt.model_validate(item.payload) for item in made.items]
    read = draft_targets(prompts, plan.seed, stages)
    not_run = _not_run(stages, against is not None)
    check, figures = None, list[Figure]()
    if against is not None and not stages.dry_run:
        try:
            check, figures = _check(prompts, plan.seed, against)
        except InputError as error:
            # What was drafted is kept when the embeddings stop, e.g. at the end of the budget.
            not_run["OOD check"] = error.problem.line()
    planned = [(cell.stratum, cell.planned) for cell in quota]
    items = [*made.items, *read.items]
    report = DraftReport(
        benchmark="t2mbench",
        seed=plan.seed,
        settings={
            **plan.model_dump(mode="json"),
            "seeds": len(seeds) or "our own",
            "rules": [clay.RULE, grammar.RULE, RULE],
            "word_bounds": {name: list(bounds) for name, bounds in clay.WORD_BOUNDS.items()},
        },
        asked=sum(cell.planned for cell in quota),
        drafted=len(items),
        flagged=sum(bool(flags(item)) for item in items),
        rejected=dict(Counter(one.code for one in made.rejected)),
        cells=count_cells(made.items, made.rejected, CELL, planned),
        not_run=not_run,
        stages=stages.uses(),
        notes=(*made.notes, *_told(read, len(prompts)), *((check.line(),) if check else ())),
        tables=_tables(read, check),
        figures=tuple(figures),
        started=started,
        seconds=time.time() - started,
        tool_version=tool_version(),
    )
    return Drafted(items, [*made.rejected, *read.rejected], report, _files(read))


def targets_report(
    read: TargetDraft, prompts: int, seed: int, stages: Stages, started: float
) -> DraftReport:
    """Return the report of a run that reads targets only.

    Args:
        read: What reading brought.
        prompts: Prompts it was given.
        seed: Seed kept in the provenance.
        stages: Language models of the run.
        started: When the run began, seconds since 1970 UTC.
    """
    has_model = stages.has(STAGE)
    return DraftReport(
        benchmark="t2mbench",
        seed=seed,
        settings={"rules": [RULE]},
        asked=prompts,
        drafted=len(read.items),
        flagged=sum(bool(flags(item)) for item in read.items),
        rejected=dict(Counter(one.code for one in read.rejected)),
        cells=count_cells(read.items, read.rejected, ("category",)),
        not_run={} if has_model else {"target by language model": "no model is named"},
        stages=stages.uses(),
        notes=tuple(_told(read, prompts)),
        tables=_tables(read, None),
        started=started,
        seconds=time.time() - started,
        tool_version=tool_version(),
    )


def ood_report(
    check: OodCheck, figures: Sequence[Figure], seed: int, started: float
) -> DraftReport:
    """Return the report of a run, begun at ``started``, that checks prompts against a corpus."""
    return DraftReport(
        benchmark="t2mbench",
        audit=True,
        seed=seed,
        settings={"embedding": check.embedding, "corpus": check.corpus},
        asked=check.prompts_in_corpus.n_points,
        drafted=0,
        flagged=0,
        rejected={},
        cells=(),
        notes=(check.line(),),
        tables=_tables(None, check),
        figures=tuple(figures),
        started=started,
        seconds=time.time() - started,
        tool_version=tool_version(),
    )


def _check(
    prompts: Sequence[MotionPrompt], seed: int, against: Against
) -> tuple[OodCheck, list[Figure]]:
    return check_ood(
        prompts,
        against.captions,
        against.corpus,
        against.embedder,
        seed=seed,
        k=against.k,
        max_corpus=against.max_corpus,
    )


def _files(read: TargetDraft) -> dict[str, TargetFile]:
    return target_files((TargetCheck.model_validate(item.payload), False) for item in read.items)


def _not_run(stages: Stages, checked: bool) -> dict[str, str]:
    found = {}
    for stage, what in (
        (expansion.STAGE, "expansion by language model"),
        (refinement.STAGE, "refinement"),
        (STAGE, "targets by language model"),
    ):
        if not stages.has(stage):
            found[what] = "no model is named"
    if not checked:
        found["OOD check"] = "no corpus is named (--ood-corpus)"
    return found


def _told(read: TargetDraft, prompts: int) -> list[str]:
    if not read.items:
        return []
    return [
        f"{len(read.items)} targets were read from {prompts} prompts; none counts before people "
        "have verified it (motionjury study create --protocol target_check)"
    ]


def _tables(read: TargetDraft | None, check: OodCheck | None) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {}
    if read is not None and read.counts:
        tables["targets"] = read.counts
    if check is not None:
        tables["out_of_distribution"] = [
            {
                "what": what,
                "share": one.share,
                "inside": one.inside if one.share is not None else None,
                "points": one.n_points,
                "manifold": one.n_manifold,
                "k": one.k,
                "reason": one.reason,
            }
            for what, one in (
                ("prompts in the captions' manifold", check.prompts_in_corpus),
                ("captions in the prompts' manifold", check.corpus_in_prompts),
            )
        ]
        tables["overlap_by_category"] = check.by_category
        if check.overlapping:
            tables["overlapping_prompts"] = check.overlapping
    return tables


def categories_of(names: str | None) -> tuple[str, ...] | None:
    """Read a comma-separated list of categories or dimensions; None for all.

    Raises:
        ValueError: A name is neither, or the list is empty.

    >>> categories_of("dance, accuracy")
    ('dance', 'numerical', 'whole_body', 'body_part')
    """
    if names is None:
        return None
    dimensions = {plan.dimension for plan in CATEGORIES.values()}
    chosen: list[str] = []
    for name in (part.strip() for part in names.split(",") if part.strip()):
        if name in dimensions:
            chosen += [key for key, plan in CATEGORIES.items() if plan.dimension == name]
        elif name in CATEGORIES:
            chosen.append(name)
        else:
            known = ", ".join([*CATEGORIES, *sorted(dimensions)])
            raise ValueError(f"expected some of {known}, got {name!r}")
    if not chosen:
        raise ValueError(f"expected some of {', '.join(CATEGORIES)}, got none")
    return tuple(name for name in CATEGORIES if name in chosen)
