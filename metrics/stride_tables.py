"""STRIDE's tables: grounding by axis, GPR, adapted models, gaps, ties and the mirror audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.stride import AXES, STRUCTURAL_AXES, StrideAxis
from metrics.results import Cell, Column, Dropped, ResultTable, Row, Source, cell
from metrics.stride import StrideKey
from metrics.stride_cells import Cell as StrideCell
from metrics.stride_cells import StrideResult
from metrics.stride_grid import Grids, MirrorAudit

TITLES: dict[StrideAxis, str] = {
    "temporal_order": "Temporal Order",
    "mirror_reflection": "Mirror Reflection",
    "action_identity": "Action Identity",
    "random_content": "Random Content",
}
"""Axes as the paper prints them."""

Kind = Literal["evaluator", "likelihood", "choices"]
"""Models of Tables 2 and 4, of Table 5 (a), of Table 5 (b)."""


@dataclass(frozen=True, slots=True)
class StrideModel:
    """One model's results."""

    name: str
    """Name in tables."""
    kind: Kind
    """Which of the paper's tables it belongs to."""
    result: StrideResult
    """Its numbers."""
    keys: tuple[StrideKey, ...]
    """Items that entered."""
    native_metric: str = ""
    """What its scores are; empty where a file does not say."""
    grids: Grids | None = None
    """Scores of motions and their mirror images; None where there are none."""
    audits: tuple[MirrorAudit, ...] = ()
    """Sums over them by corpus."""
    sources: tuple[Source, ...] = ()
    """What the scores came from."""
    dropped: tuple[Dropped, ...] = ()
    """What was not scored."""
    notes: tuple[str, ...] = field(default=())
    """What to know of it."""
    choices: str = ""
    """CSV of what a judge was shown and said; empty where nobody was asked."""


def stride_tables(models: Sequence[StrideModel]) -> list[ResultTable]:
    """Make all tables.

    Args:
        models: One or more, names unique.

    Returns:
        Those of the paper that the models' kinds call for, then gaps, ties and mirror audit.
    """
    return [
        *_grounding_tables(models),
        _gap_table(models),
        _rates_table(models),
        *([_mirror_table(models)] if any(model.audits for model in models) else []),
    ]


def number_of(found: StrideCell | None, name: str) -> Cell | None:
    """Return a number of a cell with its interval; None where there is no such cell."""
    if found is None:
        return None
    value = getattr(found, name)
    return cell(
        value, found.reasons.get(name, ""), n=found.n, **({} if value is None else _ci(found, name))
    )


def _ci(found: StrideCell, name: str) -> dict[str, Any]:
    return {"ci": found.ci.get(name)}


def by_axis(model: StrideModel, corpus: str) -> dict[StrideAxis, StrideCell]:
    """Return the cells of a model on a corpus."""
    return {c.axis: c for c in model.result.cells if c.corpus == corpus}


def corpora_of(models: Sequence[StrideModel]) -> list[str]:
    """Return the corpora of all models, sorted."""
    return sorted({block.corpus for model in models for block in model.result.corpora})


def _macro(model: StrideModel, corpus: str) -> Cell | None:
    for block in model.result.corpora:
        if block.corpus == corpus:
            value = block.macro_gpr
            extra: dict[str, Any] = {} if value is None else {"ci": block.ci["macro_gpr"]}
            return cell(value, block.reasons.get("macro_gpr", ""), **extra)
    return None


def _row(corpus: str, model: StrideModel, cells: dict[str, Cell]) -> Row:
    return Row(labels={"Corpus": corpus, "Model": model.name}, cells=cells, block=corpus)


def _rows(
    models: Sequence[StrideModel], columns: Sequence[Column], macro: bool = True
) -> tuple[Row, ...]:
    rows = []
    for corpus in corpora_of(models):
        for model in models:
            found = by_axis(model, corpus)
            if not found:
                continue
            cells = {}
            for column in columns:
                axis, _, name = column.name.partition(".")
                known = (
                    _macro(model, corpus)
                    if macro and column.name == "macro_gpr"
                    else number_of(next((c for a, c in found.items() if a == axis), None), name)
                )
                if known is not None:
                    cells[column.name] = known
            rows.append(_row(corpus, model, cells))
    return tuple(rows)


def _macro_column() -> Column:
    return Column(name="macro_gpr", title="Macro GPR", better="higher", decimals=1, unit="%")


def _axis_columns(names: Sequence[tuple[str, str, int, bool]]) -> list[Column]:
    return [
        Column(
            name=f"{axis}.{name}",
            title=title,
            better=None if name == "bias" else "higher",
            decimals=decimals,
            unit="%" if name == "gpr" else "",
            spanner=TITLES[axis],
            marked=marked,
        )
        for axis in AXES
        for name, title, decimals, marked in names
    ]


_THREE = (("acc", "acc", 3, False), ("bias", "bias", 3, False), ("delta", "Δ", 3, True))
_WITH_ACC = (("acc", "acc", 3, True), ("bias", "bias", 3, False), ("delta", "Δ", 3, True))


def _grounding_tables(models: Sequence[StrideModel]) -> list[ResultTable]:
    evaluators = [m for m in models if m.kind == "evaluator"]
    likelihoods = [m for m in models if m.kind == "likelihood"]
    choosers = [m for m in models if m.kind == "choices"]
    tables = []
    if evaluators:
        columns = [*_axis_columns(_THREE), _macro_column()]
        tables.append(
            ResultTable(
                name="stride",
                title="Grounding by axis (Table 2)",
                columns=tuple(columns),
                rows=_rows(evaluators, columns),
                note="acc: share of items whose own caption scores higher; bias: the same with "
                "unrelated motions; Δ = (acc − bias) / (1 − bias). Macro GPR is the mean over the "
                "three structural axes; Random Content stands beside.",
            )
        )
        columns = [*_axis_columns([("gpr", "GPR", 1, True)]), _macro_column()]
        tables.append(
            ResultTable(
                name="stride_gpr",
                title="GPR by axis (Table 4)",
                columns=tuple(columns),
                rows=_rows(evaluators, columns),
                note="Percent of items whose motion raises the advantage of their own caption; "
                "chance is 50.",
            )
        )
    if likelihoods:
        columns = [
            *_axis_columns([*_WITH_ACC, ("gpr", "GPR", 1, True)]),
            _macro_column(),
        ]
        tables.append(
            ResultTable(
                name="stride_likelihood",
                title="Motion-to-text likelihood (Table 5 a)",
                columns=tuple(columns),
                rows=_rows(likelihoods, columns),
                note="Scores are mean log-probabilities a caption token, end token included.",
            )
        )
    if choosers:
        columns = _axis_columns(_WITH_ACC)
        tables.append(
            ResultTable(
                name="stride_choices",
                title="Forced choice (Table 5 b)",
                columns=tuple(columns),
                rows=_rows(choosers, columns),
                note="Δ comes from the rates of choice; GPR needs scores and is undefined.",
            )
        )
    return tables


def _gap_table(models: Sequence[StrideModel]) -> ResultTable:
    columns = [
        Column(name=axis, title=TITLES[axis], decimals=3, spanner="Δ minus Δ of Random Content")
        for axis in STRUCTURAL_AXES
    ]
    rows = []
    for corpus in corpora_of(models):
        for model in models:
            for block in model.result.corpora:
                if block.corpus != corpus:
                    continue
                cells = {}
                for axis, gap in block.gaps.items():
                    extra: dict[str, Any] = {} if gap is None else {"ci": block.ci[f"gap.{axis}"]}
                    cells[axis] = cell(gap, block.reasons.get(f"gap.{axis}", ""), **extra)
                rows.append(_row(corpus, model, cells))
    return ResultTable(
        name="stride_gap",
        title="Gap between structure and content",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Below 0: the structural difference is told apart worse than other content "
        "(STRIDE 2.4). Intervals come from the same resamples as those of Δ.",
    )


def _rates_table(models: Sequence[StrideModel]) -> ResultTable:
    names = (
        ("tie_rate", "ties"),
        ("invisible_rate", "edit invisible"),
        ("invalid_rate", "unusable answers"),
    )
    shown = [
        (name, title)
        for name, title in names
        if any(getattr(c, name) is not None for m in models for c in m.result.cells)
    ]
    columns = [
        Column(name=f"{axis}.{name}", title=title, decimals=3, spanner=TITLES[axis])
        for axis in AXES
        for name, title in shown
    ]
    rows = []
    for corpus in corpora_of(models):
        for model in models:
            found = by_axis(model, corpus)
            cells = {
                f"{axis}.{name}": cell(
                    getattr(c, name), "the model cannot tell or gives no such answer", n=c.n
                )
                for axis, c in found.items()
                for name, _ in shown
            }
            if found:
                rows.append(_row(corpus, model, cells))
    return ResultTable(
        name="stride_ties",
        title="Ties and edits the model cannot see",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Shares of items: both captions score the same with the item's motion; both captions "
        "are one text to the model after truncation and unknown words.",
    )


def _mirror_table(models: Sequence[StrideModel]) -> ResultTable:
    columns = (
        Column(name="diagonal", title="diagonal accuracy", better="higher", decimals=3),
        Column(name="interaction", title="mean interaction", decimals=4),
        Column(name="caption_original", title="m", decimals=3, spanner="caption side, on"),
        Column(name="caption_mirrored", title="m mirrored", decimals=3, spanner="caption side, on"),
        Column(name="motion_original", title="c", decimals=3, spanner="motion side, by"),
        Column(name="motion_mirrored", title="c mirrored", decimals=3, spanner="motion side, by"),
    )
    rows = [
        _row(corpus, model, {c.name: cell(getattr(audit, c.name), n=audit.n) for c in columns})
        for corpus in corpora_of(models)
        for model in models
        for audit in model.audits
        if audit.corpus == corpus
    ]
    return ResultTable(
        name="stride_mirror",
        title="Bidirectional mirror audit (E.2)",
        columns=columns,
        rows=tuple(rows),
        note="Interaction is s(m, c) + s(m′, c′) − s(m, c′) − s(m′, c); diagonal accuracy is the "
        "share above 0. The four scores of each pair lie in mirror_grids.csv.",
    )
