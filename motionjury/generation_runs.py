"""The generation suite with a model that embeds by itself: interventions, and generated motions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.problems import InputError
from motionjury.choices import one_of
from motionjury.options import bar
from motionjury.scored_clips import ScoredClip, folder_clips, known_clips, library

if TYPE_CHECKING:
    from evaluators.cache import Vectors
    from evaluators.source import ModelScores
    from metrics.generation_suite import Settings, Suite
    from metrics.interventions import CaptionRule
    from metrics.results import Result


def score_with_model(
    model: str,
    settings: Settings,
    configuration: dict[str, Any],
    *,
    motions: Path | None,
    corpus: str | None,
    fps: float | None = None,
    systems: Sequence[str],
    captions: str,
    workspace: Path | None,
    opening: dict[str, Any],
) -> tuple[Result, dict[str, Suite]]:
    """Score interventions, or the motions of generators.

    Args:
        model: As ``--model`` names it.
        settings: Options of the suite.
        configuration: Further options, for the result.
        motions: Ground truth with captions; the workspace's where None.
        corpus: Only this corpus of the workspace, or its name in ``motions``.
        fps: Frames a second of files in folders that store none.
        systems: ``NAME=FOLDER`` of generated motions; none scores the interventions.
        captions: Which caption a replication uses.
        workspace: The workspace, where there is one.
        opening: What ``motionjury.models.open_models`` takes beside the name.

    Returns:
        The result, and the suites by set of motions.

    Raises:
        InputError: Anything that cannot be used.
    """
    from evaluators.protocol import EmbeddingModel
    from evaluators.source import ModelScores
    from metrics.generation_report import generation_result
    from metrics.interventions import CAPTION_RULES, score_interventions
    from metrics.results import Dropped, Source
    from motionjury import __version__
    from motionjury.models import cache_folder, open_models

    rule = one_of(captions, CAPTION_RULES, "--captions")
    generated = _systems(systems, fps)
    clips, place = known_clips(corpus, workspace) if motions is None else (
        folder_clips(motions, corpus, fps=fps), motions.name
    )  # fmt: skip
    told = [clip for clip in clips if clip.captions]
    if len(told) < settings.pool:
        raise InputError(
            f"{len(told)} motions with a caption are fewer than a pool of {settings.pool} "
            "(--pool says its size)",
            file=place,
        )
    (opened,) = open_models([model], **opening)
    if not isinstance(opened.model, EmbeddingModel):
        raise InputError(f"{opened.model.name}: has no embeddings, so FID is not defined")
    dropped = []
    if len(told) < len(clips):
        silent = len(clips) - len(told)
        dropped.append(Dropped(what="motions", n=silent, reason="they have no caption"))
    groups = {"": told, **{f"{name}/": of_system for name, of_system in generated.items()}}
    every = library(groups)
    suites: dict[str, Suite] = {}
    notes, kept = [], tuple(clip.id for clip in told)
    with bar(f"{opened.model.name}: motions") as progress:
        source = ModelScores(opened.model, every, cache_folder(workspace), progress)
        if generated:
            suites["Ground truth"] = _truth(source, told, settings, rule)
            for name, of_system in generated.items():
                suites[name], missing = _generated(source, told, name, of_system, settings, rule)
                if missing:
                    notes.append(f"{name}: {missing} of {len(told)} clips have no usable motion")
        else:
            found = score_interventions(
                source,
                [clip.id for clip in told],
                [clip.captions for clip in told],
                settings=settings,
                caption_rule=rule,
            )
            suites, kept = dict(found.suites), found.kept
            dropped += found.dropped
            notes.append(
                "FID of the original motions against themselves is 0: the same embeddings, while "
                "the original code draws other crops of them. Shuffling changes no motion either."
            )
    result = generation_result(
        suites,
        settings,
        title="Generated motions" if generated else "Motion-side interventions",
        configuration={
            **configuration,
            "model": opened.model.name,
            "native metric": opened.model.native_metric,
            "motions": place,
            "captions": rule,
        },
        sources=[Source(name=opened.model.name, role="model", sha256=opened.model.fingerprint)],
        ids=kept,
        tool_version=__version__,
        ranked=bool(generated),
        dropped=dropped,
        notes=notes,
        not_run={"MultiModality": "needs several generations of one text (--repeats)"}
        if generated
        else None,
    )
    return result, suites


def _systems(named: Sequence[str], fps: float | None) -> dict[str, list[ScoredClip]]:
    found: dict[str, list[ScoredClip]] = {}
    for entry in named:
        name, sign, folder = entry.partition("=")
        if not sign or not name or not folder:
            raise InputError(f"--system: expected NAME=FOLDER, got {entry}")
        if name in found:
            raise InputError(f"--system: {name} is given twice")
        found[name] = folder_clips(Path(folder), fps=fps)
    return found


def _truth(
    source: ModelScores, clips: Sequence[ScoredClip], settings: Settings, rule: CaptionRule
) -> Suite:
    from metrics.interventions import score_interventions

    return score_interventions(
        source,
        [clip.id for clip in clips],
        [clip.captions for clip in clips],
        settings=settings,
        which=("original",),
        caption_rule=rule,
    ).suites["original"]


def _generated(
    source: ModelScores,
    clips: Sequence[ScoredClip],
    name: str,
    generated: Sequence[ScoredClip],
    settings: Settings,
    rule: CaptionRule,
) -> tuple[Suite, int]:
    """Score one generator against the ground truth; also returns how many clips it lacks."""
    import numpy as np

    from metrics.generation_suite import evaluate
    from metrics.interventions import caption_embeddings

    by_tail = {clip.tail: clip for clip in generated}
    pairs = [(clip, by_tail[clip.tail]) for clip in clips if clip.tail in by_tail]
    if not pairs:
        raise InputError(
            f"--system {name}: no file is named as a clip, e.g. {clips[0].tail!r}; "
            f"found {generated[0].tail!r}"
        )
    ids = [f"{name}/{made.id}" for _, made in pairs]
    moving, for_fid = source.embed_motions(ids), source.embed_motions_for_fid(ids)
    usable = np.flatnonzero(np.isfinite(moving).all(axis=1))
    if len(usable) < settings.pool:
        raise InputError(
            f"--system {name}: {len(usable)} usable motions are fewer than a pool of "
            f"{settings.pool} (--pool says its size)"
        )
    told = [made.captions or clip.captions for clip, made in pairs]
    texts = [told[place] for place in usable]
    real, real_fid = _finite(source, [clip.id for clip in clips])
    suite = evaluate(
        caption_embeddings(source, texts, settings, rule),
        moving[usable],
        reference=real if real_fid is None else real_fid,
        fid_motion=None if for_fid is None else for_fid[usable],
        spread_reference=None if real_fid is None else real,
        settings=settings,
    )
    return suite, len(clips) - len(usable)


def _finite(source: ModelScores, ids: Sequence[str]) -> tuple[Vectors, Vectors | None]:
    """Return the vectors of the motions that are not refused, and those of FID if it has own."""
    import numpy as np

    vectors, for_fid = source.embed_motions(ids), source.embed_motions_for_fid(ids)
    kept = np.isfinite(vectors).all(axis=1)
    return vectors[kept], None if for_fid is None else for_fid[kept]
