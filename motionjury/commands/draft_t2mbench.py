"""`motionjury draft t2mbench`: seeds in, prompts and targets out; the check against a corpus."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpus.problems import InputError
from motionjury.commands.drafting import (
    BatchInOption,
    BatchOutOption,
    DryRunOption,
    MaxCallsOption,
    MaxUsdOption,
    ModelOption,
    NoModelOption,
    PromptsOption,
    SeedOption,
    StageModelOption,
)
from motionjury.options import JsonOption, WorkspaceOption, print_problems

if TYPE_CHECKING:
    from benchmarks.t2mbench import MotionPrompt
    from construction.stages import Stages
    from construction.t2mbench.run import Against
    from llm.embedding import TextEmbedder
    from motionjury.workspace import Workspace

EMBEDDING_STAGE = "embedding"
"""Table of its endpoint under ``[llm.stages]``."""

CategoriesOption = Annotated[
    str | None,
    typer.Option("--categories", help="Categories or dimensions, comma-separated; all by default."),
]
OodCorpusOption = Annotated[
    str | None,
    typer.Option(
        "--ood-corpus", help="Corpus of the workspace, or a .txt, .csv or .jsonl file of captions."
    ),
]
EmbeddingOption = Annotated[
    str,
    typer.Option(
        "--embedding",
        help="tfidf, sentence-transformers:FOLDER, endpoint:MODEL, or npz:FILE (texts, vectors).",
    ),
]
KOption = Annotated[int, typer.Option("--k", min=1, help="Neighbour that a ball reaches to.")]
OodLimitOption = Annotated[
    int, typer.Option("--ood-limit", min=1, help="Most captions of the corpus; a seeded sample.")
]
PromptTableOption = Annotated[
    Path | None,
    typer.Option(
        "--from", help="Table of prompts (prompt, prompt_id, category); else the workspace's."
    ),
]


def t2mbench(
    categories: CategoriesOption = None,
    seeds: Annotated[
        Path | None,
        typer.Option("--seeds", help="Seeds to expand: .txt, .csv, .json or .jsonl; else our own."),
    ] = None,
    prompts: PromptsOption = None,
    per_call: Annotated[
        int, typer.Option("--per-call", min=1, max=50, help="Prompts asked for in one call.")
    ] = 5,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, max=20, help="Rounds of asking for what is missing.")
    ] = 3,
    ood_corpus: OodCorpusOption = None,
    embedding: EmbeddingOption = "tfidf",
    k: KOption = 3,
    ood_limit: OodLimitOption = 20_000,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="At most so many prompts per category and length."),
    ] = None,
    seed: SeedOption = 0,
    model: ModelOption = None,
    stage_model: StageModelOption = None,
    no_model: NoModelOption = False,
    max_usd: MaxUsdOption = None,
    max_calls: MaxCallsOption = None,
    dry_run: DryRunOption = False,
    batch_out: BatchOutOption = None,
    batch_in: BatchInOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draft T2MBench prompts under the Clay Figurine Rule, with targets of the Accuracy ones.

    The quota is the paper's: 1,025 prompts of 11 categories. Stages: expand writes prompts from
    seeds, refine makes them read well, target reads what the rules cannot. Without a model the
    prompts are put together by grammar. root_move.json and body_part.json are written beside the
    report, unverified; a study with protocol target_check verifies them. A run that was stopped
    goes on where it was.

    Example: motionjury draft t2mbench --categories dance,accuracy --limit 10
    """
    from construction.t2mbench.prompts import STAGES
    from construction.t2mbench.run import Plan, categories_of, draft_t2mbench
    from construction.t2mbench.seeds import read_seeds
    from construction.t2mbench.target_drafts import write_target_files
    from motionjury.commands.drafting import finish, prompt_files, stages_of
    from motionjury.workspace import open_workspace

    try:
        chosen = categories_of(categories)
    except ValueError as error:
        raise InputError(f"--categories: {error}") from None
    files = prompt_files(prompts, "t2mbench")
    plan = Plan(
        categories=chosen,
        limit=limit,
        seed=seed,
        per_call=per_call,
        rounds=rounds,
    )
    given, problems = ([], []) if seeds is None else read_seeds(seeds)
    print_problems(problems)
    ws = open_workspace(workspace)
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
        against = _against(ws, ood_corpus, embedding, k, ood_limit, stages)
        drafted = draft_t2mbench(plan, stages, given, against)
    notes = drafted.report.notes
    if problems:
        notes += (f"seeds: {len(problems)} rows were refused, {len(given)} used",)
    # A run without Accuracy prompts leaves the files of an earlier one alone.
    if not stages.dry_run and any(content.targets for content in drafted.files.values()):
        written = write_target_files(drafted.files, ws.results_dir / "draft-t2mbench")
        notes += (f"unverified targets: {', '.join(p.name for p in written)} beside the report",)
    report = drafted.report.model_copy(update={"notes": notes})
    finish(ws, drafted.items, report, drafted.rejected, stages, as_json=as_json)


def t2mbench_ood(
    table: PromptTableOption = None,
    ood_corpus: OodCorpusOption = None,
    embedding: EmbeddingOption = "tfidf",
    k: KOption = 3,
    ood_limit: OodLimitOption = 20_000,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Most prompts; a seeded sample.")
    ] = None,
    seed: SeedOption = 0,
    max_usd: MaxUsdOption = None,
    max_calls: MaxCallsOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check prompts against a corpus: overlap by the k-NN manifold, and a t-SNE picture.

    Reports the share of prompts in the captions' manifold (the paper's overlap) and the other way
    round, with the encoder's name: the figures belong to it.

    Example: motionjury draft t2mbench-ood --ood-corpus synthetic
    """
    from construction.report import write_report
    from construction.sampling import seeded_order
    from construction.stages import Stages
    from construction.t2mbench.ood import check_ood
    from construction.t2mbench.run import ood_report
    from llm.budget import Budget
    from motionjury.options import print_json
    from motionjury.workspace import open_workspace

    started = time.time()
    ws = open_workspace(workspace)
    budget = Budget(usd=max_usd, calls=max_calls)
    against = _against(ws, ood_corpus, embedding, k, ood_limit, Stages(budget=budget))
    if against is None:
        raise InputError("--ood-corpus: expected a corpus or a file of captions, got none")
    prompts = prompts_from(ws, table)
    if limit is not None and len(prompts) > limit:
        chosen = sorted(prompts, key=lambda one: seeded_order(seed, "prompts", one.prompt_id))
        prompts = chosen[:limit]
    check, figures = check_ood(
        prompts,
        against.captions,
        against.corpus,
        against.embedder,
        seed=seed,
        k=k,
        max_corpus=ood_limit,
    )
    out = ws.results_dir / "ood-t2mbench"
    try:
        page = write_report(ood_report(check, figures, seed, started), [], out)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(out)) from error
    if as_json:
        print_json({**check.model_dump(mode="json"), "report": str(page)})
        return
    back = check.corpus_in_prompts
    told = back.reason if back.share is None else f"{100 * back.share:.4f} % of {back.n_points}"
    print(check.line())
    print(f"captions in the prompts' manifold: {told}")
    print(f"report: {page}")


def prompts_from(ws: Workspace, table: Path | None) -> list[MotionPrompt]:
    """Return the prompts of a table, refused rows on stderr, or those of the workspace.

    Raises:
        InputError: There are none.
    """
    from benchmarks.t2mbench import MotionPrompt
    from construction.t2mbench.prompt_table import read_prompts
    from store.items import list_items

    if table is not None:
        found, problems = read_prompts(table)
        print_problems(problems)
        return found
    with ws.db.read() as session:
        items = [
            item
            for item in list_items(session, "t2mbench")
            if item.kind == "prompt" and item.state not in ("rejected", "revise")
        ]
    if not items:
        raise InputError(
            "no prompts in the workspace; draft some, or name a table with --from",
            file=str(ws.root),
        )
    return [MotionPrompt.model_validate(item.payload) for item in items]


def _against(
    ws: Workspace,
    corpus: str | None,
    embedding: str,
    k: int,
    limit: int,
    stages: Stages,
) -> Against | None:
    from construction.t2mbench.run import Against
    from store.clips import list_captions

    if corpus is None:
        return None
    if Path(corpus).suffix and Path(corpus).is_file():
        from construction.t2mbench.seeds import read_seeds

        seeds, problems = read_seeds(Path(corpus))
        print_problems(problems)
        name, captions = Path(corpus).stem, [seed.text for seed in seeds]
    else:
        with ws.db.read() as session:
            name, captions = corpus, [one.text for one in list_captions(session, corpus)]
        if not captions:
            raise InputError(f"--ood-corpus: no captions of {corpus!r}", file=str(ws.root))
    return Against(name, captions, _embedder(ws, embedding, stages), k, limit)


def _embedder(ws: Workspace, spec: str, stages: Stages) -> TextEmbedder:
    from construction.t2mbench.ood import StoredEmbeddings
    from llm.embedding import embedder
    from llm.embedding_endpoint import EndpointEmbedder
    from llm.settings import stage_settings

    kind, _, name = spec.partition(":")
    if kind == "npz" and name:
        return StoredEmbeddings(Path(name).expanduser())
    settings = None
    if kind == "endpoint" and name:
        settings = stage_settings(ws.settings.get("llm"), EMBEDDING_STAGE, model=name)
    made = embedder(
        spec,
        settings=settings,
        cache=ws.root / "llm-cache" / "embeddings",
        budget=stages.left,
        tell=lambda line: print(line, file=sys.stderr),
    )
    if isinstance(made, EndpointEmbedder):
        stages.share(made)
    return made
