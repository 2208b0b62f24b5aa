"""`motionjury draft mrbench`: captions and motions in, caption sets and a training set out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpus.problems import InputError
from motionjury.commands.drafting import (
    BatchInOption,
    BatchOutOption,
    CorpusOption,
    DryRunOption,
    LimitOption,
    MaxCallsOption,
    MaxUsdOption,
    ModelOption,
    NoModelOption,
    PromptsOption,
    SeedOption,
    StageModelOption,
)
from motionjury.options import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from construction.mrbench.held_out import TrainingPair
    from construction.stages import Stages
    from llm.embedding import TextEmbedder
    from motionjury.workspace import Workspace

TRAINING_FILE = "train.jsonl"
"""Name of the training set beside the report."""

TaxonomyOption = Annotated[
    Path | None,
    typer.Option(
        "--taxonomy", help="TOML file of categories and rules; ours (7, 33, 118) if absent."
    ),
]
"""``--taxonomy FILE`` of the commands that file motions."""


def mrbench(
    min_per_category: Annotated[
        int, typer.Option(min=0, help="Sets a fine category should have; fewer are listed.")
    ] = 10,
    max_per_category: Annotated[
        int, typer.Option(min=1, help="Most sets of a fine category.")
    ] = 60,
    taxonomy: TaxonomyOption = None,
    embedding: Annotated[
        str,
        typer.Option(help="tfidf, sentence-transformers:FOLDER or endpoint:MODEL."),
    ] = "tfidf",
    near: Annotated[
        float,
        typer.Option(min=0.01, max=1.0, help="Cosine from which two captions are the same."),
    ] = 0.9,
    min_score: Annotated[
        int, typer.Option(min=1, max=5, help="Least discriminability and compactness.")
    ] = 3,
    split: Annotated[str | None, typer.Option("--split", help="Only this split.")] = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    seed: SeedOption = 0,
    model: ModelOption = None,
    stage_model: StageModelOption = None,
    prompts: PromptsOption = None,
    no_model: NoModelOption = False,
    max_usd: MaxUsdOption = None,
    max_calls: MaxCallsOption = None,
    dry_run: DryRunOption = False,
    batch_out: BatchOutOption = None,
    batch_in: BatchInOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draft MRBench caption sets, balanced over a taxonomy, and a disjoint training set.

    Stages: score (discriminability, compactness), classify (where rules do not settle the
    category), verify (does the motion show it?), rewrite (concise, standard, fine). Each may have
    its own model; without one it goes by rule, which the report says. The training set is
    results/draft-mrbench/train.jsonl. A run that was stopped goes on where it was.

    Example: motionjury draft mrbench --max-per-category 5 --stage-model verify=gemini-3-pro
    """
    from benchmarks.taxonomy import default_taxonomy
    from construction.mrbench.classify import load_taxonomy
    from construction.mrbench.draft import STAGES, MrbenchSettings, draft_mrbench
    from construction.mrbench.frames import frame_source
    from corpus.reading import load_motion
    from motionjury.commands.drafting import finish, prompt_files, stages_of
    from motionjury.workspace import open_workspace
    from store.clips import list_captions, list_clips
    from store.items import list_items

    files = prompt_files(prompts, "mrbench")
    ws = open_workspace(workspace)
    categories = load_taxonomy(taxonomy) if taxonomy is not None else default_taxonomy()
    with ws.db.read() as session:
        every = list_clips(session)
        clips = list_clips(session, corpus, split)
        known = {clip.id for clip in clips}
        captions = [c for c in list_captions(session, corpus) if c.clip_id in known]
        before = list_items(session, "mrbench")
    if not captions:
        chosen = " ".join(f"{k} {v}" for k, v in (("corpus", corpus), ("split", split)) if v)
        reason = f"no captions in the workspace {chosen}".rstrip()
        raise InputError(f"{reason}; `corpus import --captions` brings some", file=str(ws.root))
    settings = MrbenchSettings(
        seed=seed,
        min_per_category=min_per_category,
        max_per_category=max_per_category,
        near=near,
        min_score=min_score,
        limit=limit,
    )
    frames = frame_source(
        lambda clip: load_motion(clip, ws.root),
        ws.root / "llm-cache" / "frames",
        reckon=dry_run,
    )
    with stages_of(
        ws,
        STAGES,
        model=model,
        stage_models=stage_model,
        no_model=no_model,
        dry_run=dry_run,
        max_usd=max_usd,
        max_calls=max_calls,
        batch_out=batch_out,
        batch_in=batch_in,
        prompts=files,
    ) as stages:
        drafted = draft_mrbench(
            clips,
            captions,
            categories,
            # A dry run sends nothing, so it compares by TF-IDF whatever was named.
            _embedder(ws, "tfidf" if stages.dry_run else embedding, stages),
            frames,
            stages,
            settings,
            beyond=every,
            earlier=before,
            tell=_say,
        )
    if not stages.dry_run:
        _write_training(ws, drafted.training)
    finish(ws, drafted.items, drafted.report, drafted.rejected, stages, as_json=as_json)


def _embedder(ws: Workspace, spec: str, stages: Stages) -> Callable[[Sequence[str]], TextEmbedder]:
    from llm.embedding import embedder
    from llm.embedding_endpoint import EndpointEmbedder
    from motionjury.commands.drafting import settings_of

    kind, _, name = spec.partition(":")
    settings = settings_of(ws, "embedding", name) if kind == "endpoint" and name else None

    def make(texts: Sequence[str] | None) -> TextEmbedder:
        return embedder(
            spec,
            corpus=texts,
            settings=settings,
            cache=ws.root / "llm-cache" / "embeddings",
            budget=stages.left,
            tell=_say,
        )

    if spec == "tfidf":
        return make
    # Made now, so that one that cannot be used is said before anything is asked.
    made = make(None)
    if isinstance(made, EndpointEmbedder):
        stages.share(made)
    return lambda texts: made


def _write_training(ws: Workspace, pairs: Sequence[TrainingPair]) -> None:
    path = ws.results_dir / "draft-mrbench" / TRAINING_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            file.writelines(pair.model_dump_json() + "\n" for pair in pairs)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error


def _say(line: str) -> None:
    """Tell how far the run is, on stderr, where a person watches."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr)
