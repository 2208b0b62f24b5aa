"""Retrieval results in the shape of MRBench's Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.plots import grouped_bars
from metrics.results import (
    Cell,
    Column,
    Dropped,
    Figure,
    Result,
    ResultTable,
    Row,
    Source,
    hash_ids,
)
from metrics.retrieval import DIRECTIONS, Measured, Pool
from metrics.retrieval_protocols import MIXED

SPANNERS = dict(zip(DIRECTIONS, ("Text-to-motion", "Motion-to-text"), strict=True))
WHOLE = "All texts"
_TITLES = {"concise": "Concise", "standard": "Standard", "fine": "Fine-grained"}


@dataclass(frozen=True)
class Run:
    """One model's results on one pool."""

    method: str
    """Name of the model."""
    trainset: str
    """What it was trained on; empty where nobody said."""
    settings: Mapping[str, Measured]
    """Results by setting: ``WHOLE`` where texts have no granularity, else the settings."""
    pool: Pool
    """The texts and motions that entered."""
    dropped: tuple[Dropped, ...]
    """What did not."""


def main_setting(settings: Mapping[str, Measured]) -> str:
    """Return the setting that stands for the whole pool."""
    return next(name for name in (MIXED, WHOLE, *settings) if name in settings)


def retrieval_result(
    runs: Sequence[Run],
    *,
    configuration: dict[str, Any],
    sources: Sequence[Source],
    tool_version: str,
    seed: int | None = None,
    not_run: Mapping[str, str] | None = None,
) -> Result:
    """Collect the results of one or several models.

    Args:
        runs: One for each model, at least one.
        configuration: Options in force.
        sources: Files, in the order of the runs.
        tool_version: Version of MotionJury.
        seed: Of the resamples, where there are any.
        not_run: What was not run, and why.

    Returns:
        Table 1 (settings × methods), Table 2 (trainsets × methods on the whole pool) where
        trainsets are named, and a figure of R@K.
    """
    first = runs[0]
    columns = _columns(first.settings[main_setting(first.settings)])
    tables = [_by_setting(runs, columns)]
    if any(run.trainset for run in runs):
        tables.append(_by_trainset(runs, columns))
    measured = [found for run in runs for found in run.settings.values()]
    rates = [rate for found in measured for rate in found.tie_rate.values() if rate is not None]
    notes = []
    if max(rates, default=0.0) > 0.01:
        notes.append(
            f"Up to {max(rates):.1%} of the queries of a setting have another item that scores as "
            "the best relevant one does: the rule for ties matters."
        )
    if len({hash_ids(run.pool.text_ids, run.pool.motion_ids) for run in runs}) > 1:
        notes.append("The models were not searched on the same texts and motions.")
    return Result(
        suite="score retrieval",
        title="Retrieval",
        tables=tuple(tables),
        figures=(_figure(runs),),
        configuration=configuration,
        sources=tuple(sources),
        item_set=hash_ids(first.pool.text_ids, first.pool.motion_ids),
        n_kept=len(first.pool.text_ids),
        n_unit=f"texts × {len(first.pool.motion_ids):,} motions",
        dropped=tuple(dict.fromkeys(entry for run in runs for entry in _dropped(run))),
        notes=tuple(notes),
        seed=seed,
        not_run=dict(not_run or {}),
        tool_version=tool_version,
    )


def _dropped(run: Run) -> list[Dropped]:
    found = run.settings[main_setting(run.settings)]
    return [
        *run.dropped,
        *(
            Dropped(
                what=f"{SPANNERS[name].lower()} queries",
                n=found.left_out[name],
                reason="nothing in the pool is relevant to them; they stay as candidates",
            )
            for name in DIRECTIONS
            if found.left_out[name]
        ),
    ]


def _columns(found: Measured) -> tuple[Column, ...]:
    return tuple(
        Column(
            name=f"{name} {metric}",
            title=metric.replace("nDCG", "N"),
            better="lower" if metric == "MedR" else "higher",
            unit="" if metric == "MedR" else "%",
            spanner=SPANNERS[name],
        )
        for name in DIRECTIONS
        for metric in found.metrics[name]
    )


def _cells(found: Measured) -> dict[str, Cell]:
    return {
        f"{name} {metric}": entry
        for name in DIRECTIONS
        for metric, entry in found.metrics[name].items()
    }


def _by_setting(runs: Sequence[Run], columns: tuple[Column, ...]) -> ResultTable:
    names = dict.fromkeys(name for run in runs for name in run.settings)
    return ResultTable(
        name="retrieval",
        title="Retrieval by setting",
        columns=columns,
        rows=tuple(
            Row(
                labels={
                    "Text": _TITLES.get(name, name),
                    "Method": f"{run.trainset}/{run.method}" if run.trainset else run.method,
                },
                cells=_cells(run.settings[name]),
                block=name,
            )
            for name in names
            for run in runs
            if name in run.settings
        ),
        note="R@K and nDCG@K (N@K) in percent, median rank from 1. In Mixed3 all texts form one "
        "pool and every text of a motion is relevant to it."
        if MIXED in names
        else "R@K and nDCG@K (N@K) in percent, median rank from 1.",
    )


def _by_trainset(runs: Sequence[Run], columns: tuple[Column, ...]) -> ResultTable:
    return ResultTable(
        name="cross_dataset",
        title="Across training sets",
        columns=columns,
        rows=tuple(
            Row(
                labels={"Trainset": run.trainset, "Method": run.method},
                cells=_cells(run.settings[main_setting(run.settings)]),
                block=run.trainset,
            )
            for trainset in dict.fromkeys(run.trainset for run in runs)
            for run in runs
            if run.trainset == trainset
        ),
        note="The whole pool, R@K and N@K in percent; best and second best in each training set.",
    )


def _figure(runs: Sequence[Run]) -> Figure:
    """Draw R@K of the whole pool by model, or by setting where there is one model."""
    bars: dict[str, dict[str, Cell]] = {}
    if len(runs) == 1:
        series = {_TITLES.get(n, n): found for n, found in runs[0].settings.items()}
    else:
        series = {
            f"{run.trainset}/{run.method}".strip("/"): run.settings[main_setting(run.settings)]
            for run in runs
        }
    for direction in DIRECTIONS:
        for label, found in series.items():
            for metric, entry in found.metrics[direction].items():
                if metric in ("R@1", "R@5", "R@10"):
                    bars.setdefault(f"{metric} {SPANNERS[direction]}", {})[label] = entry
    return Figure(
        name="recall",
        title="Recall",
        svg=grouped_bars(bars, unit="%", decimals=1, label="R@K in percent"),
        note="Share of queries with a relevant item in the top K.",
    )
