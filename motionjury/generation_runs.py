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
    import numpy as np
    from numpy.typing import NDArray

    from evaluators.cache import Vectors
    from evaluators.model_source import ModelScores
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
        systems: ``NAME=FOLDER`` of generated motions; several folders under one name are
            replications of one system. None scores the interventions.
        captions: Which caption a replication uses.
        workspace: The workspace, where there is one.
        opening: What ``motionjury.models.open_models`` takes beside the name.

    Returns:
        The result, and the suites by set of motions.

    Raises:
        InputError: Anything that cannot be used.
    """
    from evaluators.model_source import ModelScores
    from evaluators.protocol import EmbeddingModel
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
    groups = {"": told} | {
        _prefix(name, run): made
        for name, folders in generated.items()
        for run, made in enumerate(folders)
    }
    every = library(groups)
    suites: dict[str, Suite] = {}
    notes, kept = [], tuple(clip.id for clip in told)
    with bar(f"{opened.model.name}: motions") as progress:
        source = ModelScores(opened.model, every, cache_folder(workspace), progress)
        if generated:
            suites["Ground truth"] = _truth(source, told, settings, rule)
            for name, folders in generated.items():
                suites[name], missing = _generated(source, told, name, folders, settings, rule)
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
        not_run=_without_repeats(generated, settings),
    )
    return result, suites


def _systems(named: Sequence[str], fps: float | None) -> dict[str, list[list[ScoredClip]]]:
    """Read the folders of each system; several under one name are its replications."""
    found: dict[str, dict[Path, list[ScoredClip]]] = {}
    for entry in named:
        name, sign, folder = entry.partition("=")
        if not sign or not name or not folder:
            raise InputError(f"--system: expected NAME=FOLDER, got {entry}")
        place = Path(folder).resolve()
        if place in found.setdefault(name, {}):
            raise InputError(f"--system {name}: {folder} is given twice")
        found[name][place] = folder_clips(Path(folder), fps=fps)
    return {name: list(folders.values()) for name, folders in found.items()}


def _prefix(name: str, run: int) -> str:
    return f"{name}/{run}/"


def _without_repeats(
    generated: dict[str, list[list[ScoredClip]]], settings: Settings
) -> dict[str, str]:
    few = [n for n, folders in generated.items() if len(folders) <= settings.multimodality_pairs]
    if not few:
        return {}
    return {
        f"MultiModality of {', '.join(few)}": f"{settings.multimodality_pairs} pairs of one text "
        f"need {settings.multimodality_pairs + 1} generations of it or more: give each as a folder "
        "of its own, --system NAME=FOLDER repeated under one NAME (--multimodality-pairs says how "
        "many pairs)"
    }


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
    folders: Sequence[Sequence[ScoredClip]],
    settings: Settings,
    rule: CaptionRule,
) -> tuple[Suite, int]:
    """Score one generator against the ground truth; also returns how many clips it lacks.

    Of several folders the clips that are usable in all of them enter, a folder a replication.
    """
    import numpy as np

    from metrics.generation_suite import evaluate
    from metrics.interventions import caption_embeddings

    by_tail = [{clip.tail: clip for clip in made} for made in folders]
    shared = [clip for clip in clips if all(clip.tail in made for made in by_tail)]
    if not shared:
        which = f"in all {len(folders)} folders " if len(folders) > 1 else ""
        raise InputError(
            f"--system {name}: no file {which}is named as a clip, e.g. {clips[0].tail!r}; "
            f"found {folders[0][0].tail!r}"
        )
    made = [[of_run[clip.tail] for clip in shared] for of_run in by_tail]
    told = [own.captions or clip.captions for own, clip in zip(made[0], shared, strict=True)]
    for of_run in made[1:]:
        for own, clip, texts in zip(of_run, shared, told, strict=True):
            if (own.captions or clip.captions) != texts:
                raise InputError(
                    f"--system {name}: the folders tell different captions of {clip.tail!r}; "
                    "generations of other texts are another system"
                )
    ids = [[_prefix(name, run) + own.id for own in of_run] for run, of_run in enumerate(made)]
    moving = np.stack([source.embed_motions(of_run) for of_run in ids])
    own_fid = [source.embed_motions_for_fid(of_run) for of_run in ids]
    for_fid = [vectors for vectors in own_fid if vectors is not None]
    usable = np.flatnonzero(
        np.all([np.isfinite(v).all(axis=1) for v in (*moving, *for_fid)], axis=0)
    )
    if len(usable) < settings.pool:
        raise InputError(
            f"--system {name}: {len(usable)} usable motions are fewer than a pool of "
            f"{settings.pool} (--pool says its size)"
        )
    several = len(folders) > 1
    drawn = settings.model_copy(update={"replications": len(folders)}) if several else settings
    real, real_fid = _finite(source, [clip.id for clip in clips])
    suite = evaluate(
        caption_embeddings(source, [told[place] for place in usable], drawn, rule),
        moving[:, usable] if several else moving[0, usable],
        reference=real if real_fid is None else real_fid,
        repeats=moving[:, usable].transpose(1, 0, 2) if several else None,
        fid_motion=_stacked(for_fid, usable),
        spread_reference=None if real_fid is None else real,
        settings=settings,
    )
    return suite, len(clips) - len(usable)


def _stacked(runs: Sequence[Vectors], rows: NDArray[np.int64]) -> Vectors | None:
    """Return (N, D) of the one run, (R, N, D) of several, None of none."""
    import numpy as np

    if not runs:
        return None
    return runs[0][rows] if len(runs) == 1 else np.stack([run[rows] for run in runs])


def _finite(source: ModelScores, ids: Sequence[str]) -> tuple[Vectors, Vectors | None]:
    """Return the vectors of the motions that are not refused, and those of FID if it has own."""
    import numpy as np

    vectors, for_fid = source.embed_motions(ids), source.embed_motions_for_fid(ids)
    kept = np.isfinite(vectors).all(axis=1)
    return vectors[kept], None if for_fid is None else for_fid[kept]
