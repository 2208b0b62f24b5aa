"""STRIDE's results as one record: tables, figures, configuration, hashes, what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metrics.results import Dropped, Result, Source, hash_ids
from metrics.stride_figures import stride_figures
from metrics.stride_tables import StrideModel, stride_tables


def stride_record(
    models: Sequence[StrideModel],
    configuration: dict[str, Any],
    *,
    seed: int,
    sources: Sequence[Source] = (),
    tool_version: str,
) -> Result:
    """Put models into one record with tables and figures.

    Args:
        models: One or more, names unique.
        configuration: Options in force beside those of the results.
        seed: Seed of draws and intervals.
        sources: Files that all models share, such as the release.
        tool_version: Version of MotionJury.

    Returns:
        The record; best and second best are marked where a corpus has two models or more.
    """
    ids = sorted({key.item_id for model in models for key in model.keys})
    unequal = {len(model.keys) for model in models} != {len(ids)}
    said: dict[str, list[str]] = {}
    for model in models:
        for note in model.notes:
            said.setdefault(note, []).append(model.name)
    notes = [f"{', '.join(names)}: {note}" for note, names in said.items()]
    if unequal:
        notes.append("The models were not scored on the same items; n says how many each had.")
    return Result(
        suite="score stride",
        title="STRIDE",
        tables=tuple(stride_tables(models)),
        figures=tuple(stride_figures(models)),
        configuration={
            **models[0].result.configuration,
            **configuration,
            "metrics": {m.name: m.native_metric or "not stated" for m in models},
        },
        sources=(*sources, *(source for model in models for source in model.sources)),
        item_set=hash_ids(ids),
        n_kept=len(ids),
        n_unit="items",
        dropped=tuple(
            Dropped(what=f"{model.name}: {d.what}", n=d.n, reason=d.reason)
            for model in models
            for d in model.dropped
        ),
        seed=seed,
        notes=tuple(notes),
        not_run={
            f"{model.name}: mirror audit": "no scores of mirrored motions"
            for model in models
            if not model.audits and any(k.axis == "mirror_reflection" for k in model.keys)
        },
        tool_version=tool_version,
    )


def stride_json(models: Sequence[StrideModel], record: Result) -> dict[str, Any]:
    """Put results into the plain values of ``--json``; several models stand under ``models``."""
    each = {found.name: _plain_model(found) for found in models}
    head = next(iter(each.values())) if len(each) == 1 else {"models": each}
    return {
        **head,
        "configuration": record.configuration,
        "sources": [source.model_dump(mode="json") for source in record.sources],
        "item_set": record.item_set,
        "n_kept": record.n_kept,
        "dropped": [entry.model_dump(mode="json") for entry in record.dropped],
        "notes": list(record.notes),
        "not_run": record.not_run,
        "tool_version": record.tool_version,
    }


def _plain_model(found: StrideModel) -> dict[str, Any]:
    blocks = found.result.corpora
    return {
        "cells": [cell.model_dump(mode="json") for cell in found.result.cells],
        "macro_gpr": {block.corpus: block.macro_gpr for block in blocks},
        "macro_gpr_ci": {block.corpus: block.ci["macro_gpr"] for block in blocks},
        "gap_to_random_content": {
            block.corpus: {
                axis: {"value": gap, "ci": block.ci[f"gap.{axis}"]}
                for axis, gap in block.gaps.items()
            }
            for block in blocks
        },
        "reasons": {block.corpus: block.reasons for block in blocks},
        "mirror": [audit.model_dump(mode="json") for audit in found.audits],
    }
