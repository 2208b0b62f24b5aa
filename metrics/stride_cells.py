"""STRIDE's numbers by corpus and axis: accuracy, bias, Δ and GPR (STRIDE 2.3, Tables 2, 4, 5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.items import Frozen
from benchmarks.stride import AXES, STRUCTURAL_AXES, StrideAxis
from metrics.stride import Credits, Ties
from metrics.stride_intervals import Estimates, estimate

NUMBERS = ("acc", "bias", "delta", "gpr")
"""Numbers of a cell."""


class Cell(Frozen):
    """Numbers of one corpus and axis."""

    corpus: str
    """Corpus."""
    axis: StrideAxis
    """Axis."""
    n: int
    """Items."""
    n_motions: int
    """Motions they belong to, what intervals resample."""
    acc: float
    """Share of items with s(m, c) > s(m, c'), 0..1."""
    bias: float | None
    """The same share with unrelated motions, mean over an item's controls first, 0..1."""
    delta: float | None
    """(acc − bias) / (1 − bias), at most 1; null when bias is 1."""
    gpr: float | None
    """Percent of items whose motion raises the advantage of c over c'; chance is 50."""
    tie_rate: float
    """Share of items whose two captions score the same with their motion, 0..1."""
    invisible_rate: float | None = None
    """Share of items whose two captions are one to the model; null where it cannot tell."""
    invalid_rate: float | None = None
    """Share of unusable answers; null for scores."""
    ci: dict[str, tuple[float, float] | None]
    """95 % interval of ``acc``, ``bias``, ``delta``, ``gpr``; bootstrap over motions."""
    reasons: dict[str, str]
    """Why a number or interval is null, by its name (``ci.delta`` for an interval)."""


class Corpus(Frozen):
    """Numbers of one corpus over its axes."""

    corpus: str
    """Corpus."""
    macro_gpr: float | None
    """Mean GPR in percent over the three structural axes; null when one of them is undefined."""
    ci: dict[str, tuple[float, float] | None]
    """95 % intervals of ``macro_gpr`` and of ``gap.AXIS``."""
    gaps: dict[str, float | None]
    """Δ of each structural axis minus Δ of Random Content; below 0 is the paper's finding."""
    reasons: dict[str, str]
    """Why a number is null, by its name."""


class StrideResult(Frozen):
    """All numbers of one model."""

    cells: tuple[Cell, ...]
    """By corpus, then axis in the order of ``benchmarks.stride.AXES``."""
    corpora: tuple[Corpus, ...]
    """By corpus."""
    configuration: dict[str, Any]
    """Choices in force: ties, resamples, seed, formula of Δ."""


def score_stride(
    given: Credits,
    *,
    invisible: NDArray[np.bool_] | None = None,
    ties: Ties = "half",
    resamples: int = 2000,
    seed: int = 0,
) -> StrideResult:
    """Compute all numbers of one model (STRIDE Tables 2, 4 and 5).

    Args:
        given: What each item earns.
        invisible: (N,) items whose captions are one to the model, where it can tell.
        ties: What a tie earned, for the record.
        resamples: Bootstrap resamples of the motions; 0 for no intervals.
        seed: Seed of the resamples.

    Returns:
        Cells and corpora.
    """
    cells: list[Cell] = []
    blocks: list[Corpus] = []
    for corpus in sorted({key.corpus for key in given.keys}):
        estimates = estimate(given, corpus, resamples=resamples, seed=seed)
        rows = {
            axis: np.flatnonzero([k.corpus == corpus and k.axis == axis for k in given.keys])
            for axis in AXES
        }
        found = [
            _cell(given, corpus, axis, rows[axis], estimates, invisible)
            for axis in AXES
            if rows[axis].size
        ]
        cells.extend(found)
        blocks.append(_corpus(corpus, found, estimates))
    return StrideResult(
        cells=tuple(cells),
        corpora=tuple(blocks),
        configuration={
            "delta": "(acc - bias) / (1 - bias)",
            "ties": ties,
            "intervals": "95 % bootstrap over motions, BCa, percentile where that is undefined",
            "resamples": resamples,
            "seed": seed,
        },
    )


def _cell(
    given: Credits,
    corpus: str,
    axis: StrideAxis,
    rows: NDArray[np.intp],
    estimates: Estimates,
    invisible: NDArray[np.bool_] | None,
) -> Cell:
    values = {name: estimates.value(f"{axis}.{name}") for name in NUMBERS}
    motions = len({given.keys[i].motion_id for i in rows})
    reasons: dict[str, str] = {}
    ci: dict[str, tuple[float, float] | None] = {}
    for name, value in values.items():
        ci[name] = estimates.interval(f"{axis}.{name}")
        if value is None:
            reasons[name] = _undefined(given, rows, name)
        elif ci[name] is None:
            reasons[f"ci.{name}"] = _no_interval(estimates, motions)
    return Cell(
        corpus=corpus,
        axis=axis,
        n=int(rows.size),
        n_motions=motions,
        acc=float(given.acc[rows].mean()),
        bias=values["bias"],
        delta=values["delta"],
        gpr=values["gpr"],
        tie_rate=float(given.tied[rows].mean()),
        invisible_rate=None if invisible is None else float(invisible[rows].mean()),
        invalid_rate=None if given.invalid is None else float(given.invalid[rows].mean()),
        ci=ci,
        reasons=reasons,
    )


def _undefined(given: Credits, rows: NDArray[np.intp], name: str) -> str:
    without = int(np.isnan(given.bias[rows]).sum())
    if name == "gpr" and given.gain is None:
        return "choices_have_no_scores"
    if without:
        return f"no_unrelated_motion_for_{without}_of_{rows.size}_items"
    return "bias_is_1"


def _no_interval(estimates: Estimates, motions: int) -> str:
    if not estimates.resamples:
        return "not_asked_for"
    return "one_motion" if motions < 2 else "no_variation"


def _corpus(corpus: str, cells: list[Cell], estimates: Estimates) -> Corpus:
    present = {cell.axis: cell for cell in cells}
    reasons: dict[str, str] = {}
    macro = estimates.value("macro_gpr")
    if macro is None:
        absent = [axis for axis in STRUCTURAL_AXES if axis not in present]
        reasons["macro_gpr"] = (
            f"no_items_of_{absent[0]}"
            if absent
            else next(
                present[axis].reasons["gpr"]
                for axis in STRUCTURAL_AXES
                if present[axis].gpr is None
            )
        )
    names = [f"gap.{axis}" for axis in STRUCTURAL_AXES if axis in present]
    gaps = {name.partition(".")[2]: estimates.value(name) for name in names}
    reasons |= {
        f"gap.{axis}": "needs_delta_of_the_axis_and_of_random_content"
        for axis, gap in gaps.items()
        if gap is None
    }
    return Corpus(
        corpus=corpus,
        macro_gpr=macro,
        ci={name: estimates.interval(name) for name in ("macro_gpr", *names)},
        gaps=gaps,
        reasons=reasons,
    )
