"""`motionjury draft audit`: what text alone tells of STRIDE items, and which motions they cover."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmarks.stride import AXES
from corpus.problems import InputError, Problem
from motionjury.commands.draft_stride import SCORER_HELP, open_workspace_scorer
from motionjury.commands.drafting import CorpusOption, MaxCallsOption, MaxUsdOption, SeedOption
from motionjury.options import JsonOption, WorkspaceOption, bar, print_json, print_problems

if TYPE_CHECKING:
    from construction.report import Figure
    from construction.stride_audit import Pair, WordRow
    from corpus.clips import Caption, Clip
    from motionjury.workspace import Workspace

_FEWEST_CLIPS = 8
_TELLING, _FREQUENT = 15, 40
_FIELDS = ("corpus", "clip_id", "caption", "perturbed")


def audit(
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            help="JSONL of axis, corpus, clip_id (or motion_id), caption, perturbed, as a release "
            "has them; else the workspace's STRIDE items.",
        ),
    ] = None,
    scorer: Annotated[
        list[str] | None, typer.Option("--scorer", help=f"{SCORER_HELP}; may be repeated.")
    ] = None,
    clips: Annotated[
        int,
        typer.Option(
            "--clips", min=0, help="Clips of each corpus for motion coverage; 0 for none."
        ),
    ] = 1000,
    corpus: CorpusOption = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Most pairs of each corpus and axis; a seeded sample."),
    ] = None,
    seed: SeedOption = 0,
    max_usd: MaxUsdOption = None,
    max_calls: MaxCallsOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Audit STRIDE items for what text alone tells (STRIDE, Figures 3 and 4).

    Score gaps of every scorer by axis, beside a naive baseline on the same captions; words that
    captions and edits do not share evenly; motion coverage of each corpus (Occ, Eff, Tail). Report,
    tables and figures go to results/stride-audit.

    Example: motionjury draft audit --scorer ngram --clips 200
    """
    from construction.report import DraftReport, write_report
    from construction.stages import Stages
    from construction.stride_audit import (
        item_pairs,
        naive_pairs,
        sample_pairs,
        score_gaps,
        word_rows,
    )
    from construction.stride_figures import gap_figures, word_figure
    from llm.budget import Budget
    from llm.outcome import tool_version
    from motionjury.workspace import open_workspace
    from store.clips import list_captions, list_clips
    from store.items import list_items

    started = time.time()
    ws = open_workspace(workspace)
    with ws.db.read() as session:
        every_clip, every_text = list_clips(session), list_captions(session)
        items = [i for i in list_items(session, "stride") if i.state not in ("rejected", "revise")]
    problems: list[Problem] = []
    if pairs is None:
        drafted = item_pairs(items)
    else:
        drafted, problems = _read_pairs(pairs)
        drafted = _in_workspace(drafted, every_clip, every_text)
    drafted = [pair for pair in drafted if corpus in (None, pair.corpus)]
    if not drafted:
        raise InputError(
            "no STRIDE items to audit; draft some with `motionjury draft stride`",
            file=str(pairs or ws.root),
        )
    if limit is not None:
        drafted = sample_pairs(drafted, limit, seed)
    both = [*drafted, *naive_pairs(drafted, seed)]
    not_run: dict[str, str] = {}
    known = {clip.id for clip in every_clip}
    scorers: dict[str, Any] = {}
    used = sorted({p.clip_id for p in drafted if p.clip_id in known})
    stages = Stages(budget=Budget(usd=max_usd, calls=max_calls))
    with bar("scoring") as tell:
        for spec in dict.fromkeys(scorer or ["ngram"]):
            opened = _open(spec, ws, (every_clip, every_text, used, stages, tell), not_run)
            if opened is not None:
                scorers[spec] = opened
        gaps = score_gaps(both, scorers, tell)
    words = word_rows(drafted)
    counts = Counter(pair.axis for pair in drafted)
    chosen = [c for c in every_clip if corpus in (None, c.corpus)]
    coverage, picture, why = _coverage(ws, chosen, clips, seed)
    if why:
        not_run["motion coverage"] = why
    drawn = [*gap_figures(gaps.rows, gaps.values), word_figure(words, counts), picture]
    tables: dict[str, list[dict[str, Any]]] = {
        "gaps": [row.model_dump(mode="json") for row in gaps.rows],
        "coverage": coverage,
        "telling_words": _most(sorted(words, key=lambda r: (-abs(r.difference), r.word)), _TELLING),
        "words": _most(words, _FREQUENT),
    }
    definitions = {
        spec: {"id": s.id, "unit": s.unit, "definition": s.definition, "fingerprint": s.fingerprint}
        for spec, of in scorers.items()
        if spec not in gaps.not_run
        for s in [of(drafted[0].clip_id)]
    }
    report = DraftReport(
        benchmark="stride",
        audit=True,
        seed=seed,
        settings={"corpus": corpus, "clips": clips, "limit": limit, "scorers": definitions},
        asked=len(drafted),
        drafted=0,
        flagged=0,
        rejected={},
        cells=(),
        not_run={**not_run, **gaps.not_run},
        notes=("An audit: nothing was drafted or stored.",),
        tables={name: rows for name, rows in tables.items() if rows},
        figures=tuple(figure for figure in drawn if figure is not None),
        started=started,
        seconds=time.time() - started,
        tool_version=tool_version(),
    )
    folder = ws.results_dir / "stride-audit"
    try:
        page = write_report(report, [], folder)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
    print_problems(problems)
    if as_json:
        shown = {"gaps": tables["gaps"], "coverage": coverage, "not_run": report.not_run}
        print_json({**shown, "pairs": dict(counts), "scorers": definitions, "report": str(page)})
        return
    _print(tables["gaps"], coverage, report.not_run, page)


def _read_pairs(path: Path) -> tuple[list[Pair], list[Problem]]:
    from construction.stride_audit import DRAFTED, Pair
    from corpus.formats.source import read_text

    found: list[Pair] = []
    problems: list[Problem] = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            row = row.get("payload", row) if isinstance(row, dict) else {}
            axis = next(a for a in AXES if a == row.get("axis"))
            row.setdefault("clip_id", row.get("motion_id"))
            texts = [t for k in _FIELDS if isinstance(t := row.get(k), str)]
            if len(texts) < len(_FIELDS):
                raise ValueError(f"expected {', '.join(_FIELDS)} as text")
            found.append(Pair(DRAFTED, axis, *texts))
        except StopIteration:
            reason = f"expected an axis of {', '.join(AXES)}"
            problems.append(Problem(file=str(path), place=f"line {number}", reason=reason))
        except (ValueError, RecursionError) as error:
            problems.append(Problem(file=str(path), place=f"line {number}", reason=str(error)))
    if not found:
        first = f"; first: {problems[0].place}: {problems[0].reason}" if problems else ""
        raise InputError(f"expected pairs, got none{first}", file=str(path))
    return found, problems


def _in_workspace(
    pairs: list[Pair], clips: Sequence[Clip], captions: Sequence[Caption]
) -> list[Pair]:
    """Name the workspace's motion of each pair, so that the n-gram leaves its captions out.

    A release names clips without the corpus; where the name says nothing, the caption may.
    """
    known = {clip.id for clip in clips}
    of_text: dict[str, str] = {}
    for caption in sorted(captions, key=lambda c: c.clip_id):
        of_text.setdefault(caption.text, caption.clip_id)
    found = []
    for pair in pairs:
        named = (pair.clip_id, f"{pair.corpus}:{pair.clip_id}")
        clip_id = next((name for name in named if name in known), of_text.get(pair.caption))
        found.append(pair._replace(clip_id=clip_id or pair.clip_id))
    return found


def _most(rows: list[WordRow], most: int) -> list[dict[str, Any]]:
    """Return the first so many rows of each axis."""
    seen: Counter[str] = Counter()
    kept: list[dict[str, Any]] = []
    for row in rows:
        seen[row.axis] += 1
        if seen[row.axis] <= most:
            kept.append(row.model_dump(mode="json"))
    return sorted(kept, key=lambda r: AXES.index(r["axis"]))


def _open(spec: str, ws: Workspace, world: tuple[Any, ...], not_run: dict[str, str]) -> Any:
    from construction.text.scorers import ScorerNotRun

    try:
        opened, _ = open_workspace_scorer(spec, ws, *world)
    except ScorerNotRun as error:
        not_run[f"scorer {spec}"] = str(error)
        return None
    return opened


def _coverage(
    ws: Workspace, clips: list[Clip], most: int, seed: int
) -> tuple[list[dict[str, Any]], Figure | None, str]:
    """Return rows, picture, and why there is none."""
    import numpy as np

    from construction.report import Figure
    from construction.sampling import seeded_order
    from construction.t2mbench.scatter import Group, embed_in_plane, scatter
    from corpus.coverage import CELLS, grid_coverage, kinematic_statistics, standardized
    from corpus.reading import read_motions

    if not most:
        return [], None, "--clips 0"
    chosen: list[Clip] = []
    for name in sorted({clip.corpus for clip in clips}):
        own = [clip for clip in clips if clip.corpus == name]
        chosen += sorted(own, key=lambda c: seeded_order(seed, "coverage", c.id))[:most]
    rows, names, refused = [], [], 0
    with bar("reading motions") as tell:
        for done, (clip, motion) in enumerate(read_motions(chosen, ws.root), 1):
            tell(done, len(chosen))
            try:
                if isinstance(motion, Problem):
                    raise ValueError(motion.reason)
                rows.append(kinematic_statistics(motion))
                names.append(clip.corpus)
            except ValueError:
                refused += 1
    if len(rows) < _FEWEST_CLIPS:
        return [], None, f"{len(rows)} readable clips, {_FEWEST_CLIPS} are needed"
    features = standardized(np.stack(rows))
    plane = embed_in_plane(features[:1], features[1:], seed)
    if plane is None:
        return [], None, "all clips have the same statistics"
    found = grid_coverage(plane, names)
    labels = np.asarray(names)
    groups = [Group(row.corpus, plane[labels == row.corpus]) for row in found]
    sizes = {row.n for row in found}
    uneven = " Corpora of unequal size do not compare: take a smaller --clips." * (len(sizes) > 1)
    picture = Figure(
        name="coverage",
        title="Motion coverage: clips in a shared t-SNE of 14 kinematic statistics",
        svg=scatter(groups),
        note=f"Occ., Eff. and Tail stand in the table, on a grid of {CELLS} × {CELLS} cells; "
        f"{refused} clips could not be read.{uneven}",
    )
    return [row.model_dump(mode="json") for row in found], picture, ""


def _print(
    gaps: list[dict[str, Any]], coverage: list[dict[str, Any]], not_run: dict[str, str], page: Path
) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    columns = (
        "axis",
        "source",
        "n",
        "unscored",
        "median",
        "mean_abs",
        "favours_original",
        "within",
    )
    for scorer in dict.fromkeys(row["scorer"] for row in gaps):
        table = Table(title=f"score gaps, original minus edited: {scorer}")
        for heading in columns:
            table.add_column(heading.replace("_", " "))
        for row in gaps:
            if row["scorer"] == scorer:
                table.add_row(*(_cell(row[name]) for name in columns))
        console.print(table)
    if coverage:
        table = Table(title="motion coverage")
        for heading in ("corpus", "clips", "Occ.", "Eff.", "Tail"):
            table.add_column(heading)
        for row in coverage:
            names = ("corpus", "n", "occupied", "effective", "tail")
            table.add_row(*(_cell(row[name]) for name in names))
        console.print(table)
    for what, why in not_run.items():
        console.print(f"not run: {what}: {why}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"report: {page}", highlight=False, soft_wrap=True)


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
