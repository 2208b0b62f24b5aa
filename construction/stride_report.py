"""The report of a STRIDE draft: counts by corpus × axis, direction balance, what was not run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from construction.report import CellRow, DraftReport, Rejected, flags
from construction.stages import Stages, StageUse
from construction.stride_filter import NAME as FILTER
from construction.stride_records import DraftResult
from construction.text.scorers import NOT_THE_PAPERS, TextScorer
from llm.outcome import tool_version


def rejections(result: DraftResult) -> list[Rejected]:
    """Return every caption and candidate that made no item, as the report lists them."""
    return [
        Rejected(
            source=p.caption_id,
            cell={"corpus": p.corpus, "axis": p.axis, "outcome": p.outcome},
            stage=p.stage,
            code=p.reason_code,
            reason=p.reason,
            text=p.text,
        )
        for p in result.passed
    ]


def stride_report(
    result: DraftResult,
    stages: Stages | None = None,
    *,
    settings: Mapping[str, Any],
    seed: int,
    asked: int,
    started: float,
    scorer: TextScorer | None = None,
    held_out: str = "",
) -> DraftReport:
    """Build the report of a draft.

    Args:
        result: The draft.
        stages: Models of the run.
        settings: Options in force.
        seed: Seed of the draft.
        asked: Captions it set out from.
        started: When it began, seconds since 1970 UTC.
        scorer: Scorer of the likelihood filter; one of several that differ in training alone.
        held_out: How its training captions were held out.

    Returns:
        The report.
    """
    rejected = Counter(p.reason_code for p in result.passed if p.outcome == "rejected")
    cells = tuple(
        CellRow(
            cell={"corpus": c.corpus, "axis": c.axis},
            drafted=c.items,
            rejected=c.rejected,
            flagged=c.flagged,
            not_applicable=c.not_applicable,
            reasons=c.reasons,
        )
        for c in result.cells
    )
    uses = stages.uses() if stages is not None else {}
    used = None if FILTER in result.not_run else scorer
    return DraftReport(
        benchmark="stride",
        seed=seed,
        settings={**settings, **_scorer_settings(used)},
        asked=asked,
        drafted=len(result.items),
        flagged=sum(bool(flags(item)) for item in result.items),
        rejected=dict(sorted(rejected.items())),
        cells=cells,
        not_run=dict(result.not_run),
        stages=uses,
        notes=tuple(_notes(uses, used, held_out)),
        tables=_tables(result),
        started=started,
        seconds=time.time() - started,
        tool_version=tool_version(),
    )


def _scorer_settings(scorer: TextScorer | None) -> dict[str, Any]:
    if scorer is None:
        return {}
    return {"scorer_id": scorer.id, "unit": scorer.unit, "scorer_definition": scorer.definition}


def _notes(uses: Mapping[str, StageUse], scorer: TextScorer | None, held_out: str) -> Iterator[str]:
    if scorer is not None and not scorer.papers:
        yield f"Likelihood filter: {scorer.id}, {NOT_THE_PAPERS} (GPT-2)."
    if scorer is not None and held_out:
        yield f"Held out: {held_out}."
    for name, use in uses.items():
        missing = use.coverage.asked - use.coverage.usable
        if missing:
            yield f"Stage {name}: {use.coverage.line()}; the rest of the draft went on."


def _tables(result: DraftResult) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {}
    if result.pairs:
        tables["action_pairs"] = [row.model_dump(mode="json") for row in result.pairs]
    stages = Counter((p.corpus, p.axis, p.stage, p.reason_code, p.outcome) for p in result.passed)
    tables["passed_over"] = [
        {"corpus": c, "axis": a, "stage": s, "code": code, "outcome": o, "count": n}
        for (c, a, s, code, o), n in sorted(stages.items())
    ]
    return tables
