"""A whole run: difficulty, audit, drafts by cell, quota, report (NextMotionQA 4.1)."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from itertools import product
from typing import Any, NamedTuple, get_args

from pydantic import Field

from benchmarks.items import Frozen, Item
from benchmarks.nextmotionqa import DIFFICULTIES, FAILURE_MODES, TASKS, SemanticAxis, Task
from construction.nextmotionqa.difficulty import Captions, Tier, assess
from construction.nextmotionqa.failures import Failure, audit_source
from construction.nextmotionqa.making import NOT_POSSIBLE, Made, OnFailure, make_items
from construction.nextmotionqa.passes import PASS_1, PASS_2, Frames, Job
from construction.nextmotionqa.sources import SourceClip, Sources
from construction.report import DraftReport, Rejected, count_cells, flags
from construction.sampling import seeded_order
from construction.stages import Stages
from corpus.problems import InputError
from llm.outcome import same_model_warning, tool_version

AXES: tuple[SemanticAxis, ...] = get_args(SemanticAxis)
CELL_KEYS = ("task", "axis", "difficulty")
QUOTA = 44
"""Items for each of the 27 cells by default: T2's 132 for each axis over three tiers (Table 3)."""

_BORDERLINE = "borderline"
_FINAL = frozenset({NOT_POSSIBLE, "not_drawn"})


class Plan(Frozen):
    """What a run is to draft."""

    quota: int = Field(default=QUOTA, ge=1)
    """Items for each cell."""
    rounds: int = Field(default=3, ge=1, le=20)
    """Rounds of drafting, the first included; a cell that is short after the last stays short."""
    surplus: float = Field(default=1.25, ge=1, le=10)
    """Drafts made for each item a cell lacks; what is too many is sampled down (ours)."""
    seed: int = 0
    """Seed of every choice."""
    captions: Captions = "first"
    """Captions whose modifiers count for difficulty (ours)."""
    on_failure: OnFailure = "flag"
    """Whether an item that F1–F4 touches is flagged or refused. The paper admits only what
    survives its audit by hand; the audit here is by rule, so a person has the last word (ours)."""
    borderline: bool = True
    """Whether clips of borderline difficulty fill up a cell that clear ones do not (ours)."""
    limit: int | None = Field(default=None, ge=1)
    """At most so many clips, drawn with the seed."""


class Drafted(NamedTuple):
    """What a run made."""

    items: tuple[Item, ...]
    """Items by cell and clip."""
    rejected: tuple[Rejected, ...]
    """Every candidate that made none, in the order of the attempts."""
    report: DraftReport
    """The record."""


class _Known(NamedTuple):
    clip: SourceClip
    tier: Tier
    failures: tuple[Failure, ...]


class _Cell:
    """One cell of the grid while it fills."""

    def __init__(self, task: Task, axis: SemanticAxis, clips: Sequence[_Known], seed: int) -> None:
        self.task, self.axis = task, axis
        self.made: list[Item] = []
        self.again: list[Job] = []
        self._fresh = sorted(
            clips,
            key=lambda known: (
                known.tier.borderline,
                seeded_order(seed, "cell", task, axis, known.clip.clip_id),
            ),
        )

    def next_jobs(self, count: int, retry: bool) -> list[Job]:
        """Take the next clips; drafts that failed are asked for anew when clips run out."""
        taken, self._fresh = self._fresh[:count], self._fresh[count:]
        jobs = [Job(*known, self.task, self.axis) for known in taken]
        if retry:
            more = count - len(jobs)
            jobs += [job._replace(repeat=job.repeat + 1) for job in self.again[:more]]
            self.again = self.again[more:]
        return jobs


def draft_nextmotionqa(
    sources: Sources,
    plan: Plan,
    stages: Stages,
    frames: Frames,
    earlier: Collection[str] = (),
) -> Drafted:
    """Draft items for every cell of task, axis and difficulty.

    Args:
        sources: Clips with labels and captions.
        plan: What to draft.
        stages: The models; without any, the template drafts and no video is looked at.
        frames: Frames of a clip, for pass 2.
        earlier: Ids of items a run with this seed drafted before. They stay when a cell is sampled
            down, so that a run that ended early goes on with them.

    Returns:
        Items, refusals and the report. The same sources, plan, answers and earlier items give the
        same items.

    Raises:
        InputError: No clip to draft from.
    """
    started, clock = time.time(), time.perf_counter()
    known = _assess(sources, plan)
    if not known:
        why = ", ".join(f"{reason}: {count}" for reason, count in sources.passed.items())
        raise InputError(f"no clip has both an action label and a caption ({why or 'no clips'})")
    cells = {
        (task, axis, tier): _Cell(
            task,
            axis,
            [k for k in known if _drawn(k, plan) and k.tier.difficulty == tier],
            plan.seed,
        )
        for task, axis, tier in product(TASKS, AXES, DIFFICULTIES)
    }
    rejected: list[Rejected] = []
    history: list[dict[str, Any]] = []
    stopped = ""
    for number in range(1, (1 if stages.dry_run else plan.rounds) + 1):
        jobs: list[Job] = []
        for cell in cells.values():
            lacking = plan.quota - len(cell.made)
            if lacking > 0:
                wanted = math.ceil(lacking * plan.surplus)
                jobs += cell.next_jobs(wanted, retry=number > 1 and stages.has(PASS_1))
        if not jobs:
            break
        made = make_items(jobs, stages, frames, plan.seed, plan.on_failure)
        _sort_in(made, cells, rejected)
        done = sum(result.item is not None for result in made)
        unsent = sum(r.rejected is not None and r.rejected.code == "not_sent" for r in made)
        history.append({"round": number, "drafts": len(jobs), "items": done, "not_sent": unsent})
        if unsent and not stages.dry_run:
            stopped = f"{unsent} drafts of round {number}: the run stopped early, see its messages"
            break
    items: list[Item] = []
    for cell in cells.values():
        kept, surplus = _sampled(cell.made, plan, earlier)
        items += kept
        rejected += surplus
    report = _report(sources, plan, stages, known, items, rejected, history)
    not_run = {**report.not_run, **({"rest of the drafts": stopped} if stopped else {})}
    seconds = round(time.perf_counter() - clock, 3)
    report = report.model_copy(update={"started": started, "seconds": seconds, "not_run": not_run})
    return Drafted(tuple(items), tuple(rejected), report)


def _assess(sources: Sources, plan: Plan) -> list[_Known]:
    clips = list(sources.clips)
    if plan.limit is not None:
        clips.sort(key=lambda clip: seeded_order(plan.seed, "limit", clip.clip_id))
        clips = sorted(clips[: plan.limit], key=lambda clip: clip.clip_id)
    return [_Known(clip, assess(clip, plan.captions), audit_source(clip)) for clip in clips]


def _drawn(known: _Known, plan: Plan) -> bool:
    return plan.borderline or not known.tier.borderline


def _sort_in(
    made: Sequence[Made],
    cells: dict[tuple[Task, SemanticAxis, Any], _Cell],
    rejected: list[Rejected],
) -> None:
    for job, item, refusal in made:
        cell = cells[job.task, job.axis, job.tier.difficulty]
        if item is not None:
            cell.made.append(item)
        elif refusal is not None:
            rejected.append(refusal)
            if refusal.code not in _FINAL:
                cell.again.append(job)


def _sampled(
    made: Sequence[Item], plan: Plan, earlier: Collection[str]
) -> tuple[list[Item], list[Rejected]]:
    """Sample a cell down to its quota: earlier items stay, then those of clear difficulty."""

    def place(item: Item) -> tuple[bool, bool, str]:
        borderline = item.stratum["tier"] == _BORDERLINE
        return item.id not in earlier, borderline, seeded_order(plan.seed, "quota", item.id)

    order = sorted({item.id: item for item in made}.values(), key=place)
    kept = sorted(order[: plan.quota], key=lambda item: str(item.payload["clip_id"]))
    surplus = [
        Rejected(
            source=str(item.payload["clip_id"]),
            cell={key: item.stratum[key] for key in CELL_KEYS},
            stage="quota",
            code="surplus",
            reason=f"the cell has its {plan.quota} items; drawn out with the seed",
        )
        for item in order[plan.quota :]
    ]
    return kept, surplus


def _report(
    sources: Sources,
    plan: Plan,
    stages: Stages,
    known: Sequence[_Known],
    items: Sequence[Item],
    rejected: Sequence[Rejected],
    history: list[dict[str, Any]],
) -> DraftReport:
    planned: list[tuple[dict[str, str], int]] = [
        ({"task": task, "axis": axis, "difficulty": tier}, plan.quota)
        for task, axis, tier in product(TASKS, AXES, DIFFICULTIES)
    ]
    rows = []
    for row in count_cells(items, rejected, CELL_KEYS, planned):
        apart = row.reasons.get(NOT_POSSIBLE, 0)
        reasons = {code: n for code, n in row.reasons.items() if code != NOT_POSSIBLE}
        rest = {"rejected": row.rejected - apart, "not_applicable": apart, "reasons": reasons}
        rows.append(row.model_copy(update=rest))
    short = sum(row.short or 0 for row in rows)
    notes = (
        [f"{short} items are missing to the quota of {plan.quota} in each cell"] if short else []
    )
    first, second = stages.model(PASS_1), stages.model(PASS_2)
    if first and second and same_model_warning(second, [first]):
        notes.append(
            f"{second} drafted and checked, as in the paper: models favour their own words"
        )
    refused = len(sources.problems)
    if refused:
        notes.append(f"{refused} files or rows of the sources were refused; see the table refused")
    not_run = {}
    if first is None:
        not_run["pass 1 by a language model"] = (
            "no model is named; the template drafted from labels"
        )
    if second is None:
        not_run["pass 2 on video"] = "no model is named; no draft was compared with its video"
    return DraftReport(
        benchmark="nextmotionqa",
        seed=plan.seed,
        settings=plan.model_dump(mode="json"),
        asked=len(known),
        drafted=len(items),
        flagged=sum(bool(flags(item)) for item in items),
        rejected=dict(sorted(Counter(refusal.code for refusal in rejected).items())),
        cells=tuple(rows),
        not_run=not_run,
        stages=stages.uses(),
        notes=tuple(notes),
        tables=_tables(sources, known, items, history),
        started=0.0,
        seconds=0.0,
        tool_version=tool_version(),
    )


def _tables(
    sources: Sources,
    known: Sequence[_Known],
    items: Sequence[Item],
    history: list[dict[str, Any]],
) -> dict[str, list[dict[str, Any]]]:
    spans: dict[str, list[float]] = defaultdict(list)
    for one in known:
        spans[_tier(one)].append(one.clip.duration)
    found = [
        {"clip": one.clip.clip_id, "mode": failure.mode, "reason": failure.reason}
        for one in known
        for failure in one.failures
    ]
    touched = Counter(mode for item in items for mode in {f[:2] for f in flags(item)})
    tables: dict[str, list[dict[str, Any]]] = {
        "statistics": _statistics(known, items),
        "difficulty": [
            {"tier": tier, "clips": len(own), "mean_seconds": round(sum(own) / len(own), 2)}
            for tier in (*DIFFICULTIES, _BORDERLINE)
            if (own := spans.get(tier))
        ],
        "source_audit": [
            {
                "mode": mode,
                "name": FAILURE_MODES[mode][0],
                "clips": len({row["clip"] for row in found if row["mode"] == mode}),
                "items_flagged": touched[mode],
            }
            for mode in FAILURE_MODES
        ],
        "source_audit_reasons": found,
        "borderline": [
            {"clip": one.clip.clip_id, "labels": " / ".join(one.tier.labels), "reason": reason}
            for one in known
            if one.tier.borderline and (reason := one.tier.reason)
        ],
        "rounds": history,
        "passed_over": [{"reason": r, "clips": n} for r, n in sources.passed.items()],
        "refused": [problem.model_dump() for problem in sources.problems],
    }
    return {name: rows for name, rows in tables.items() if rows}


def _statistics(known: Sequence[_Known], items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return what Table 3 of the paper prints for each task: counts, clips, mean seconds."""
    seconds = {one.clip.clip_id: one.clip.duration for one in known}
    rows = []
    for task in TASKS:
        own = [item for item in items if item.stratum["task"] == task]
        row: dict[str, Any] = {"task": task, "examples": len(own)}
        row["videos"] = len({item.payload["clip_id"] for item in own})
        row |= {axis: sum(item.stratum["axis"] == axis for item in own) for axis in AXES}
        for tier in DIFFICULTIES:
            spans = [
                seconds[str(item.payload["clip_id"])]
                for item in own
                if item.stratum["difficulty"] == tier
            ]
            row[f"{tier}_mean_s"] = round(sum(spans) / len(spans), 2) if spans else None
        rows.append(row)
    return rows


def _tier(known: _Known) -> str:
    return _BORDERLINE if known.tier.borderline else known.tier.difficulty
