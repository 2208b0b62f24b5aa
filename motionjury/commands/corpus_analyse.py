"""`motionjury corpus analyse`: how balanced and how repetitive the captions of a corpus are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpus.problems import InputError, Problem
from motionjury.commands.draft_mrbench import TaxonomyOption
from motionjury.options import JsonOption, WorkspaceOption, print_json, print_problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from construction.mrbench.statistics import CorpusStatistics, Described

_MOTION_KEYS = ("motion_id", "clip_id", "id")
_TEXT_KEYS = ("caption", "text")
_SETS = ("concise", "standard", "fine")


def analyse_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="JSONL, one {motion_id, caption} a line; the workspace's corpora if none is given."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--corpus", "--name", help="Only this corpus of the workspace.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Only this split of the workspace.")] = None,
    taxonomy: TaxonomyOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for statistics.csv, statistics.json and figures."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count categories, caption lengths and repeated captions (MRBench, Figure 2).

    Each file, or each corpus of the workspace, is a column. Lines may also hold `granularity` and
    `category` (a fine name, or a path that ends in it), or, as released MRBench items do, all of
    concise, standard and fine. Without --out the files go to results/analyse of the workspace;
    given files are only printed.

    Example: motionjury corpus analyse captions.jsonl --out figure2
    """
    from benchmarks.taxonomy import default_taxonomy
    from construction.mrbench.classify import load_taxonomy
    from construction.mrbench.statistics import corpus_statistics

    categories = load_taxonomy(taxonomy) if taxonomy is not None else default_taxonomy()
    if files:
        if name is not None or split is not None:
            raise InputError("--corpus and --split: expected without files")
        described = _from_files(files)
    else:
        described, folder = _from_workspace(workspace, name, split)
        out = out or folder
    found = {key: corpus_statistics(rows, categories) for key, rows in described.items()}
    if out is not None:
        _write(out, found)
    if as_json:
        plain = {key: stats.model_dump(mode="json") for key, stats in found.items()}
        print_json({"taxonomy": categories.title, "corpora": plain})
        return
    _print(found, out)


def _from_files(files: list[Path]) -> dict[str, list[Described]]:
    found: dict[str, list[Described]] = {}
    refused = 0
    for path in files:
        rows, problems = _read(path)
        refused += print_problems(problems)
        if not rows:
            first = f"; first: {problems[0].place}: {problems[0].reason}" if problems else ""
            raise InputError(f"no usable caption in the file{first}", file=str(path))
        key = path.stem if path.stem not in found else str(path)
        found[key] = rows
    return found


def _from_workspace(
    workspace: Path | None, name: str | None, split: str | None
) -> tuple[dict[str, list[Described]], Path]:
    from construction.mrbench.statistics import Described
    from motionjury.workspace import open_workspace
    from store.clips import list_captions, list_clips

    ws = open_workspace(workspace)
    found: dict[str, list[Described]] = {}
    with ws.db.read() as session:
        corpus_of = {clip.id: clip.corpus for clip in list_clips(session, name, split)}
        for caption in list_captions(session, name):
            if caption.clip_id in corpus_of:
                row = Described(
                    motion=caption.clip_id, text=caption.text, granularity=caption.granularity
                )
                found.setdefault(corpus_of[caption.clip_id], []).append(row)
    if not found:
        chosen = " ".join(f"{k} {v}" for k, v in (("corpus", name), ("split", split)) if v)
        raise InputError(f"no captions in the workspace {chosen}".rstrip(), file=str(ws.root))
    return dict(sorted(found.items())), ws.results_dir / "analyse"


def _read(path: Path) -> tuple[list[Described], list[Problem]]:
    rows: list[Described] = []
    problems: list[Problem] = []
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            rows.extend(_line(raw))
        except (ValueError, RecursionError) as error:
            reason = str(error) or "expected a flat JSON object"
            problems.append(Problem(file=str(path), place=f"line {number}", reason=reason))
    return rows, problems


def _line(raw: bytes) -> Iterator[Described]:
    """Read one line.

    Raises:
        ValueError: It is no JSON object, or has no motion or caption.
    """
    from construction.mrbench.statistics import Described

    record = json.loads(raw.decode("utf-8"))
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, got {type(record).__name__}")
    if any("\ud800" <= sign <= "\udfff" for sign in json.dumps(record, ensure_ascii=False)):
        raise ValueError("expected Unicode text, got half of a surrogate pair")
    motion = next((record[key] for key in _MOTION_KEYS if key in record), None)
    if isinstance(motion, bool) or not isinstance(motion, str | int) or motion == "":
        raise ValueError(f"expected a motion in one of {', '.join(_MOTION_KEYS)}, got {motion!r}")
    category = record.get("category")
    if isinstance(category, list) and category:
        category = category[-1]
    if category is not None and not isinstance(category, str):
        raise ValueError(f"category: expected a name or a path, got {category!r:.40}")
    category = category and category.rpartition(" / ")[2].strip()
    texts: list[tuple[Any, Any]]
    if all(key in record for key in _SETS):
        texts = [(record[key], key) for key in _SETS]
    else:
        text = next((record[key] for key in _TEXT_KEYS if key in record), None)
        texts = [(text, record.get("granularity"))]
    for text, granularity in texts:
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"expected text in {' or '.join(_TEXT_KEYS)}, got {text!r:.40}")
        if granularity is not None and granularity not in _SETS:
            raise ValueError(
                f"granularity: expected one of {', '.join(_SETS)}, got {granularity!r:.40}"
            )
        yield Described(motion=str(motion), text=text, granularity=granularity, category=category)


def _write(out: Path, found: dict[str, CorpusStatistics]) -> None:
    from construction.mrbench.statistics_plots import statistics_figures
    from corpus.cells import rows_to_csv

    rows = [{"corpus": key, **row} for key, stats in found.items() for row in stats.rows()]
    plain = {key: stats.model_dump(mode="json") for key, stats in found.items()}
    text = json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "statistics.csv").write_text(rows_to_csv(rows), encoding="utf-8")
        (out / "statistics.json").write_text(text + "\n", encoding="utf-8")
        for figure in statistics_figures(found):
            (out / f"{figure.name}.svg").write_text(figure.svg, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(out)) from error


def _print(found: dict[str, CorpusStatistics], out: Path | None) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    table = Table(title="Captions (MRBench, Figure 2)")
    table.add_column("")
    for key in found:
        table.add_column(escape(key), justify="right", overflow="fold")

    def share(value: float | None) -> str:
        return "undefined" if value is None else f"{value:.1%}"

    every = list(found.values())
    table.add_row("motions", *(str(s.motions) for s in every))
    table.add_row("captions", *(str(s.captions) for s in every))
    table.add_row("categories found", *(str(len(s.categories)) for s in every))
    table.add_row("motions no rule files", *(str(s.unfiled) for s in every))
    for k in (1, 5, 10):
        table.add_row(f"in the top {k}", *(share(s.top_share(k)) for s in every))
    for kind in dict.fromkeys(kind for s in every for kind in s.lengths):
        medians = (s.lengths[kind].quantiles["0.5"] if kind in s.lengths else None for s in every)
        shown = ("" if median is None else f"{median:g}" for median in medians)
        table.add_row(f"median words{'' if kind == 'all' else f', {kind}'}", *shown)
    table.add_row("captions of 3 or more motions", *(share(s.repeated) for s in every))
    table.add_row("queries that fit another motion", *(share(s.ambiguous) for s in every))
    table.add_row("the same, mirrored pairs merged", *(share(s.ambiguous_merged) for s in every))
    console.print(table)
    for key, stats in found.items():
        if stats.most_shared is not None:
            text, count = stats.most_shared
            line = f"{key}: {count} motions have the caption “{text:.80}”"
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    if out is not None:
        console.print(f"written to {out}", highlight=False, markup=False, soft_wrap=True)
