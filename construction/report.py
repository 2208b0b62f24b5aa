"""What a draft did: the record every ``motionjury draft`` run writes, and its page."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.items import SCHEMA_VERSION, Benchmark, Frozen, Item
from construction.stages import StageUse
from corpus.cells import rows_to_csv

TEMPLATE = "report.html.j2"
NAMES: dict[Benchmark, str] = {
    "stride": "STRIDE",
    "nextmotionqa": "NextMotionQA",
    "mrbench": "MRBench",
    "t2mbench": "T2MBench",
}
"""Names of the benchmarks as their papers write them."""
FLAGS = "flags"
"""Parameter of an item's provenance with the reasons why a person should look at it first."""


class Rejected(Frozen):
    """A source or candidate that made no item."""

    source: str
    """Id of the clip, caption, prompt or row it came from."""
    cell: dict[str, str]
    """Corpus, axis, task …: as in ``CellRow``."""
    stage: str
    """Step that refused it, e.g. ``rule``, ``rewrite``."""
    code: str
    """Short stable name of the reason."""
    reason: str
    """The reason in words."""
    text: str = ""
    """The candidate's text; empty where there was none."""


class CellRow(Frozen):
    """One row of the quota table."""

    cell: dict[str, str]
    """What the row counts, e.g. ``{"corpus": "synthetic", "axis": "mirror_reflection"}``."""
    planned: int | None = None
    """Items asked for; null where there is no quota."""
    drafted: int
    """Items drafted."""
    rejected: int
    """Candidates refused."""
    flagged: int = 0
    """Drafted items that a person should look at first."""
    not_applicable: int = 0
    """Sources that the cell does not concern."""
    reasons: dict[str, int] = {}
    """Number of refused candidates, by code."""

    @property
    def short(self) -> int | None:
        """Items missing to the quota, 0 or more; None where there is no quota."""
        return None if self.planned is None else max(self.planned - self.drafted, 0)


class Figure(Frozen):
    """A picture of the report."""

    name: str
    """Name of the file, without ending."""
    title: str
    """Heading."""
    svg: str
    """The picture, a complete ``<svg>`` element made by this program."""
    note: str = ""
    """What to read from it, and its limits."""


class DraftReport(Frozen):
    """What a run asked, drafted, refused and left undone."""

    benchmark: Benchmark
    """Benchmark drafted."""
    audit: bool = False
    """Whether items that are there were looked at, and nothing was drafted."""
    seed: int
    """Seed of every choice."""
    settings: dict[str, Any]
    """Options in force, by name."""
    asked: int
    """Sources the run set out from: captions, clips or prompts."""
    drafted: int
    """Items drafted."""
    added: int | None = None
    """Items that were not in the workspace before; null where nothing was stored."""
    flagged: int
    """Drafted items that a person should look at first."""
    rejected: dict[str, int]
    """Number of refused candidates, by code."""
    cells: tuple[CellRow, ...]
    """The quota table."""
    not_run: dict[str, str] = {}
    """What was not run, and why."""
    stages: dict[str, StageUse] = {}
    """What each stage asked a language model, and used."""
    notes: tuple[str, ...] = ()
    """What the reader must know, e.g. that one model drafted and checked."""
    tables: dict[str, list[dict[str, Any]]] = {}
    """Further tables by name: rows with the same columns."""
    figures: tuple[Figure, ...] = ()
    """Pictures."""
    started: float
    """When the run began, seconds since 1970 UTC."""
    seconds: float
    """How long it took."""
    tool_version: str
    """Version of MotionJury."""
    schema_version: int = SCHEMA_VERSION
    """Version of this record."""


def flags(item: Item) -> tuple[str, ...]:
    """Return why a person should look at an item first; empty where nothing is noted."""
    return tuple(str(reason) for reason in item.provenance.parameters.get(FLAGS, ()))


def count_cells(
    items: Iterable[Item],
    rejected: Iterable[Rejected],
    keys: Sequence[str],
    planned: Iterable[tuple[dict[str, str], int]] = (),
) -> tuple[CellRow, ...]:
    """Count drafted and refused candidates by cell.

    Args:
        items: Drafted items; ``stratum`` names their cell.
        rejected: Refused candidates; a missing key counts as ``""``.
        keys: Names of the stratum that make a cell, in order.
        planned: Quota by cell; cells without one have none.

    Returns:
        One row for each cell that has an item, a refusal or a quota: those with a quota first, in
        the order given, the others by name.
    """

    def place(cell: dict[str, str]) -> tuple[str, ...]:
        return tuple(cell.get(key, "") for key in keys)

    quota = {place(cell): count for cell, count in planned}
    made: Counter[tuple[str, ...]] = Counter()
    flagged: Counter[tuple[str, ...]] = Counter()
    codes: dict[tuple[str, ...], Counter[str]] = {}
    for item in items:
        where = place(item.stratum)
        made[where] += 1
        flagged[where] += bool(flags(item))
    for refusal in rejected:
        codes.setdefault(place(refusal.cell), Counter())[refusal.code] += 1
    others = sorted({*made, *codes} - set(quota))
    return tuple(
        CellRow(
            cell=dict(zip(keys, where, strict=True)),
            planned=quota.get(where),
            drafted=made[where],
            rejected=codes.get(where, Counter()).total(),
            flagged=flagged[where],
            reasons=dict(sorted(codes.get(where, Counter()).items())),
        )
        for where in [*quota, *others]
    )


def write_report(report: DraftReport, rejected: Iterable[Rejected], folder: Path) -> Path:
    """Write ``report.html``, ``report.json``, ``rejected.jsonl``, tables and figures.

    Args:
        report: The record.
        rejected: Every refused candidate, in the order to be listed.
        folder: Where; made if it is not there. Files of an earlier run are replaced, and tables
            and figures that this run has not are removed. A table without rows makes no file.

    Returns:
        Path of the page.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = {name: rows for name, rows in report.tables.items() if rows}
    written = {f"{name}.csv" for name in tables} | {f"{f.name}.svg" for f in report.figures}
    for name in _written_before(folder) - written:
        (folder / name).unlink(missing_ok=True)
    plain = report.model_dump(mode="json", exclude={"figures": {"__all__": {"svg"}}})
    text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    with (folder / "rejected.jsonl").open("w", encoding="utf-8") as listed:
        listed.writelines(refusal.model_dump_json() + "\n" for refusal in rejected)
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_text(rows_to_csv(rows), encoding="utf-8")
    for figure in report.figures:
        (folder / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
    page = folder / "report.html"
    page.write_text(render_report(report), encoding="utf-8")
    return page


def _written_before(folder: Path) -> set[str]:
    """Return names of the tables and figures that an earlier run wrote."""
    try:
        before = json.loads((folder / "report.json").read_bytes())
        tables, figures = list(before["tables"]), [figure["name"] for figure in before["figures"]]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    names = [f"{name}.csv" for name in tables] + [f"{name}.svg" for name in figures]
    return {name for name in names if re.fullmatch(r"\w+\.(csv|svg)", name)}


def render_report(report: DraftReport) -> str:
    """Draw the report as one HTML page without script. Every text from outside is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    keys = list(dict.fromkeys(key for row in report.cells for key in row.cell))
    started = datetime.fromtimestamp(report.started, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return environment.get_template(TEMPLATE).render(
        report=report,
        name=NAMES.get(report.benchmark, report.benchmark),
        numeric={key: _numeric(rows) for key, rows in report.tables.items()},
        shown=_shown,
        keys=keys,
        started=started,
        svg=Markup,
        planned=any(row.planned is not None for row in report.cells),
        concerned=any(row.not_applicable for row in report.cells),
    )


def _shown(value: object) -> object:
    """Return a value as a table shows it: nothing for None, three decimals at most."""
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return "" if value is None else value


def _numeric(rows: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Return the columns that hold nothing but numbers."""
    return frozenset(
        column
        for column in (rows[0] if rows else ())
        if all(isinstance(row.get(column), int | float | None) for row in rows)
    )
