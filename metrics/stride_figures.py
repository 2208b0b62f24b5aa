"""STRIDE's Figure 5 (bias) and Figure 6 (Δ as bars and as a radar), one set a corpus."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.stride import AXES
from metrics.plots import grouped_bars, radar
from metrics.results import Cell, Figure
from metrics.stride_tables import TITLES, StrideModel, by_axis, corpora_of, number_of

_CORNERS = 3
"""A radar of fewer axes is a line."""


def stride_figures(models: Sequence[StrideModel]) -> list[Figure]:
    """Draw the figures.

    Args:
        models: One or more, names unique.

    Returns:
        For each corpus ``bias_CORPUS``, ``delta_CORPUS`` and, from three axes on,
        ``delta_radar_CORPUS``.
    """
    figures = []
    for corpus in corpora_of(models):
        safe = "".join(c if c.isalnum() or c in "-_" else "-" for c in corpus)
        bias, gains = _by_axis(models, corpus, "bias"), _by_axis(models, corpus, "delta")
        lines: dict[str, dict[str, Cell]] = {}
        for axis, cells in gains.items():
            for name, found in cells.items():
                lines.setdefault(name, {})[axis] = found
        figures += [
            Figure(
                name=f"bias_{safe}",
                title=f"Preference under unrelated motions, {corpus} (Figure 5)",
                svg=grouped_bars(bias, high=1.0, reference=0.5, label=f"Bias by axis, {corpus}"),
                note="The dashed line is a model without preference.",
            ),
            Figure(
                name=f"delta_{safe}",
                title=f"Normalised grounding gain Δ, {corpus} (Figure 6)",
                svg=grouped_bars(gains, high=1.0, label=f"Grounding gain by axis, {corpus}"),
                note="Random Content is the reference.",
            ),
        ]
        if len(gains) >= _CORNERS:
            figures.append(
                Figure(
                    name=f"delta_radar_{safe}",
                    title=f"Δ by axis, {corpus} (Figure 6)",
                    svg=radar(lines, label=f"Grounding gain by axis, {corpus}"),
                    note="Values below 0 are drawn at the centre; the bars show them.",
                )
            )
    return figures


def _by_axis(models: Sequence[StrideModel], corpus: str, name: str) -> dict[str, dict[str, Cell]]:
    """Return cells by axis, then by model."""
    values: dict[str, dict[str, Cell]] = {}
    for axis in AXES:
        for model in models:
            found = number_of(by_axis(model, corpus).get(axis), name)
            if found is not None:
                values.setdefault(TITLES[axis], {})[model.name] = found
    return values
