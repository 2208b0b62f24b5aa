"""`score chronology`: captions against their own events in another order (CAR)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpus.problems import InputError
from motionjury.commands.score_retrieval import DirectionOption, FpsOption, OutOption
from motionjury.commands.score_selfcheck import (
    DeviceOption,
    FileOption,
    ModelOptionOption,
    TrustOption,
)
from motionjury.options import JsonOption, WorkspaceOption, print_json

if TYPE_CHECKING:
    from metrics.chronology import OrderPair, ScoredOrder
    from metrics.results import Result
    from motionjury.models import NamedModel
    from motionjury.scored_clips import ScoredClip

SCORES = ("s_text", "s_shuffled")
"""Columns of scores, in files to be filled in and in files that are given."""


def chronology_command(
    events: Annotated[
        Path,
        typer.Argument(
            metavar="EVENTS",
            help="JSON with the events of each motion, or ChronRet's folder of ID_0.json.",
            show_default=False,
        ),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(help="builtin, builtin=WEIGHTS or NAME=FOLDER; may be repeated."),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(help="Table with motion_id, s_text, s_shuffled; may be repeated."),
    ] = None,
    text: Annotated[
        str,
        typer.Option(help="What stands against the shuffled events: caption, or events in order."),
    ] = "caption",
    pairs: Annotated[
        Path | None, typer.Option(help="Write the texts to score as a table, and leave.")
    ] = None,
    motions: Annotated[
        Path | None,
        typer.Option(
            help="Motions with captions.", show_default="the workspace's, else the demo corpus"
        ),
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="Only this corpus of the workspace.")] = None,
    fps: FpsOption = None,
    higher_is_better: DirectionOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the other order.")] = 0,
    file: FileOption = None,
    option: ModelOptionOption = None,
    trust: TrustOption = False,
    device: DeviceOption = "auto",
    out: OutOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Chronologically accurate retrieval (ChronRet): is the right order of events preferred?

    Example: motionjury score chronology events.json --scores scores.csv --higher-is-better --json
    """
    from metrics.chronology import OWN_TEXTS, chronology_result, order_pairs, read_events
    from metrics.results import file_source, write_result
    from motionjury import __version__
    from motionjury.choices import one_of
    from motionjury.commands.score_print import print_result
    from motionjury.models import open_models

    own = one_of(text, OWN_TEXTS, "--text")
    if not (model or scores or pairs):
        raise InputError("expected --model or --scores; --pairs lists what to score")
    listed = read_events(events)
    clips = _clips(listed, motions, corpus, fps, workspace) if model or pairs else {}
    captions = {name: clip.captions[0] for name, clip in clips.items() if clip.captions}
    # A file of scores needs no caption: its maker has seen them.
    known = captions if model or pairs else dict.fromkeys(listed, "")
    asked, alone = order_pairs(listed, known, own=own, seed=seed)
    if pairs is not None:
        _write_pairs(pairs, asked)
        return
    found = [_from_file(path, asked, higher_is_better) for path in scores or ()]
    opened = open_models(model or (), file, option, trust=trust, device=device, workspace=workspace)
    found += [_from_model(entry, asked, clips, workspace) for entry in opened]
    result = chronology_result(
        found,
        asked,
        alone,
        own=own,
        seed=seed,
        events=file_source(events, "events") if events.is_file() else None,
        tool_version=__version__,
    )
    page = None if out is None else write_result(result, out)
    if as_json:
        print_json(_as_json(result))
    else:
        print_result(result, page)


def _clips(
    names: Mapping[str, object],
    motions: Path | None,
    corpus: str | None,
    fps: float | None,
    workspace: Path | None,
) -> dict[str, ScoredClip]:
    """Find the clip of each name, which is its id, or its id without the corpus."""
    from motionjury.scored_clips import folder_clips, known_clips

    clips = (
        known_clips(corpus, workspace)[0]
        if motions is None
        else folder_clips(motions, corpus, fps=fps)
    )
    found: dict[str, ScoredClip] = {}
    for clip in clips:
        name = clip.id if clip.id in names else clip.tail
        if name in found:
            raise InputError(
                f"motion {name!r}: {found[name].id!r} and {clip.id!r} are called so; name one "
                "corpus with --corpus"
            )
        if name in names:
            found[name] = clip
    lacking = [name for name in names if name not in found]
    if lacking:
        raise InputError(
            f"{len(lacking)} of {len(names)} motions are not there, the first is {lacking[0]!r}; "
            "name their folder with --motions"
        )
    return found


def _write_pairs(path: Path, asked: Sequence[OrderPair]) -> None:
    import csv
    import io

    from corpus.cells import no_formula
    from motionjury.writing import write_text

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["motion_id", "text", "shuffled", *SCORES])
    for pair in asked:
        texts = (no_formula(pair.text), no_formula(pair.shuffled))
        writer.writerow([pair.motion_id, *texts, *("" for _ in SCORES)])
    write_text(path, out.getvalue())
    print(f"{path}: {len(asked)} motions")


def _from_file(path: Path, asked: Sequence[OrderPair], said: bool | None) -> ScoredOrder:
    from evaluators.score_tables import read_score_table
    from metrics.chronology import ScoredOrder, chronology
    from metrics.results import Dropped, file_source

    table = read_score_table(path)
    names = table.text("motion_id")
    table.refuse_repeats(["motion_id"])
    places = {name: row for row, name in enumerate(names)}
    lacking = [pair.motion_id for pair in asked if pair.motion_id not in places]
    if lacking:
        raise InputError(
            f"{len(lacking)} of {len(asked)} motions have no scores, the first is {lacking[0]!r}",
            file=str(path),
        )
    rows = [places[pair.motion_id] for pair in asked]
    sign = table.sign(said)
    own, other = (sign * table.numbers(name, rows) for name in SCORES)
    extra = len(names) - len(rows)
    dropped = (Dropped(what="rows", n=extra, reason="not asked for"),) if extra else ()
    return ScoredOrder(path.stem, chronology(own, other), file_source(path, "scores"), dropped)


def _from_model(
    entry: NamedModel,
    asked: Sequence[OrderPair],
    clips: Mapping[str, ScoredClip],
    workspace: Path | None,
) -> ScoredOrder:
    import numpy as np

    from evaluators.model_source import ModelScores
    from evaluators.protocol import ForcedChoiceModel
    from evaluators.source import Text
    from metrics.chronology import ScoredOrder, chronology
    from metrics.results import Dropped, Source
    from motionjury.models import cache_folder
    from motionjury.options import bar
    from motionjury.scored_clips import library

    model = entry.model
    if isinstance(model, ForcedChoiceModel):
        raise InputError(f"{model.name}: chooses between captions, it has no scores")
    ids = [clips[pair.motion_id].id for pair in asked]
    with bar(f"{model.name}: motions") as told:
        source = ModelScores(model, library({"": clips.values()}), cache_folder(workspace), told)
        texts = [Text(f"{name}#text", pair.text) for name, pair in zip(ids, asked, strict=True)]
        texts += [
            Text(f"{name}#shuffled", pair.shuffled) for name, pair in zip(ids, asked, strict=True)
        ]
        own, other = source.pairs(texts, [*ids, *ids]).reshape(2, -1)
    kept = np.isfinite(own) & np.isfinite(other)
    reasons = sorted(set(source.refused(ids).values()))
    if len(kept) and not kept.any():
        raise InputError(f"{model.name}: no motion can be scored: {reasons[0]}")
    lost = int((~kept).sum())
    dropped = (Dropped(what="motions", n=lost, reason="; ".join(reasons)),) if lost else ()
    about = Source(name=model.name, role="model", sha256=model.fingerprint)
    return ScoredOrder(model.name, chronology(own[kept], other[kept]), about, dropped)


def _as_json(result: Result) -> dict[str, Any]:
    models = {
        row.labels["Model"]: {
            **{name: entry.value for name, entry in row.cells.items()},
            "n": row.cells["CAR"].n or 0,
            "reasons": {name: e.reason for name, e in row.cells.items() if e.reason},
        }
        for row in result.tables[0].rows
    }
    about = result.model_dump(
        mode="json",
        include={"configuration", "sources", "item_set", "dropped", "seed", "tool_version"},
    )
    return {"models": models, **about}
