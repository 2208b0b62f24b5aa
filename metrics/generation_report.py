"""Results of the generation suite in the shape of STRIDE's Table 3 and of HumanML3D's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from metrics.generation_suite import REFERENCE_DIVERSITY, Settings, Suite
from metrics.plots import grouped_bars
from metrics.results import Column, Dropped, Figure, Result, ResultTable, Row, Source, hash_ids

TITLES = {
    "original": "Original",
    "mirrored": "Mirrored",
    "time_reversed": "Time-reversed",
    "shuffled": "Shuffled pairing",
}
_SHARES = ("R@1", "R@2", "R@3")


def generation_result(
    suites: Mapping[str, Suite],
    settings: Settings,
    *,
    title: str,
    configuration: dict[str, Any],
    sources: Sequence[Source],
    ids: Sequence[str],
    tool_version: str,
    ranked: bool,
    dropped: Sequence[Dropped] = (),
    notes: Sequence[str] = (),
    not_run: Mapping[str, str] | None = None,
) -> Result:
    """Collect the suites of several sets of motions.

    Args:
        suites: By name of the set.
        settings: Options of the suite.
        title: Heading.
        configuration: Further options in force.
        sources: Files and models.
        ids: Ids of the pairs, or what stands for them.
        tool_version: Version of MotionJury.
        ranked: Whether the sets compete, so that the best is marked.
        dropped: What did not enter.
        notes: Further notes.
        not_run: What was not run, and why.

    Returns:
        One table, and a figure of R-Precision.
    """
    first = next(iter(suites.values()))
    columns = _columns(settings, suites, ranked)
    rows = tuple(
        Row(labels={"Motions": TITLES.get(name, name)}, cells=suite.cells)
        for name, suite in suites.items()
    )
    left = first.n - first.kept
    pools = [
        Dropped(
            what="pairs a replication",
            n=left,
            reason=f"the last pool of {settings.pool} is incomplete; they are drawn anew each time",
        )
    ]
    bars = {
        share: {TITLES.get(n, n): s.cells[share] for n, s in suites.items()} for share in _SHARES
    }
    return Result(
        suite="score generation",
        title=title,
        tables=(
            ResultTable(
                name="generation",
                title=title,
                columns=columns,
                rows=rows,
                note="R-Precision as a proportion. Mean over replications with its 95 % interval "
                "(1.96 standard errors), where something is drawn.",
            ),
        ),
        figures=(
            Figure(
                name="r_precision",
                title="R-Precision",
                svg=grouped_bars(
                    bars, low=0.0, high=1.0, decimals=3, label="R-Precision by set of motions"
                ),
                note=f"Share of texts whose own motion is among the nearest K of {settings.pool}.",
            ),
        ),
        configuration={
            "pool": settings.pool,
            "distance": settings.distance,
            "queries": "texts",
            "replications": max(s.cells["R@1"].n or 1 for s in suites.values()),
            "diversity pairs": settings.diversity_pairs,
            "multimodality pairs": settings.multimodality_pairs,
            "ties": "share their places (ours)",
            "draws": "numpy RandomState(seed + replication)",
            **configuration,
        },
        sources=tuple(sources),
        item_set=hash_ids(ids),
        n_kept=first.n,
        n_unit="text-motion pairs",
        dropped=(*dropped, *(pools if left else ())),
        seed=settings.seed,
        notes=tuple(dict.fromkeys((*notes, *(n for s in suites.values() for n in s.notes)))),
        not_run=dict(not_run or {}),
        tool_version=tool_version,
    )


def _columns(settings: Settings, suites: Mapping[str, Suite], ranked: bool) -> tuple[Column, ...]:
    matching_up = settings.distance == "cosine"
    wanted = [
        Column(name=n, better="higher", decimals=3, plus_minus=True, marked=ranked) for n in _SHARES
    ]
    wanted += [
        Column(
            name=settings.matching,
            better="higher" if matching_up else "lower",
            decimals=3,
            plus_minus=True,
            marked=ranked,
        ),
        Column(name="FID", better="lower", decimals=3, plus_minus=True, marked=ranked),
        Column(name="Diversity", decimals=3, plus_minus=True),
        Column(name=REFERENCE_DIVERSITY, title="of the reference", decimals=3, plus_minus=True),
        Column(name="MultiModality", decimals=3, plus_minus=True),
    ]
    asked = {
        name
        for suite in suites.values()
        for name, cell in suite.cells.items()
        if cell.value is not None
    }
    optional = (REFERENCE_DIVERSITY, "MultiModality")
    return tuple(c for c in wanted if c.name in asked or c.name not in optional)


def as_interface(suite: Suite) -> dict[str, Any]:
    """Put a suite into the shape that scripts rely on.

    Args:
        suite: The suite.

    Returns:
        Each metric (null where undefined), ``intervals``, ``reasons``, ``file_order`` (pools cut
        in the order of the file), ``n`` and ``kept``.
    """
    return {
        **{name: cell.value for name, cell in suite.cells.items()},
        "intervals": {n: list(c.ci) for n, c in suite.cells.items() if c.ci is not None},
        "reasons": {n: c.reason for n, c in suite.cells.items() if c.value is None},
        "file_order": suite.file_order,
        "n": suite.n,
        "kept": suite.kept,
    }
