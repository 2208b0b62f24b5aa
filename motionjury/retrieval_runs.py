"""Pools for retrieval from models that score captions and motions themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.problems import InputError
from motionjury.options import bar
from motionjury.scored_clips import ScoredClip, folder_clips, known_clips, library

if TYPE_CHECKING:
    from evaluators.model_source import ModelScores
    from evaluators.source import Text
    from metrics.results import Dropped, Source
    from metrics.retrieval import Pool
    from metrics.retrieval_scores import Scores, Similarity

_TRIED = 64
"""Texts and motions on which a model's similarity is held against the known ones."""


def model_pools(
    models: Sequence[str],
    *,
    motions: Path | None,
    corpus: str | None,
    fps: float | None = None,
    workspace: Path | None,
    opening: dict[str, Any],
) -> list[tuple[str, Pool, Source, tuple[Dropped, ...]]]:
    """Score every caption with every motion.

    Args:
        models: As ``--model`` names them.
        motions: Motions with captions; the workspace's, else the demo corpus, where None.
        corpus: Only this corpus of the workspace, or its name in ``motions``.
        fps: Frames a second of files in ``motions`` that store none.
        workspace: The workspace, where there is one.
        opening: What ``motionjury.models.open_models`` takes beside the names.

    Returns:
        For each model its name, the pool, what it is and what it refused. A dual encoder embeds
        once; any other model scores each pair, which takes texts × motions passes.

    Raises:
        InputError: Anything that cannot be used.
    """
    from evaluators.model_source import ModelScores
    from evaluators.protocol import EmbeddingModel, LikelihoodModel, PairScorer
    from metrics.results import Source
    from motionjury.models import cache_folder, open_models

    opened = [entry.model for entry in open_models(models, **opening)]
    clips, _place = (
        known_clips(corpus, workspace)
        if motions is None
        else (folder_clips(motions, corpus, fps=fps), motions.name)
    )
    told = [clip for clip in clips if clip.captions]
    if not told:
        raise InputError("none of the motions has a caption")
    found = []
    for model in opened:
        if not isinstance(model, EmbeddingModel | PairScorer | LikelihoodModel):
            raise InputError(f"{model.name}: chooses between captions, it has no scores")
        with bar(f"{model.name}: motions") as progress:
            source = ModelScores(model, library({"": told}), cache_folder(workspace), progress)
            pool, dropped = _pool(source, told, isinstance(model, EmbeddingModel))
        about = Source(name=model.name, role="model", sha256=model.fingerprint)
        found.append((model.name, pool, about, dropped))
    return found


def _pool(
    source: ModelScores, clips: Sequence[ScoredClip], dual: bool
) -> tuple[Pool, tuple[Dropped, ...]]:
    import numpy as np

    from evaluators.source import Text
    from metrics.results import Dropped
    from metrics.retrieval import Pool

    refused = source.refused([clip.id for clip in clips])
    kept = [clip for clip in clips if clip.id not in refused]
    if not kept:
        raise InputError(f"{source.name}: refuses every motion: {next(iter(refused.values()))}")
    texts = [
        (place, Text(f"{clip.id}#{k}", caption), clip.granularity[k])
        for place, clip in enumerate(kept)
        for k, caption in enumerate(clip.captions)
    ]
    scores = (_embedded if dual else _paired)(source, [t for _, t, _ in texts], kept)
    known = all(granularity for _, _, granularity in texts)
    pool = Pool(
        scores,
        tuple(text.id for _, text, _ in texts),
        tuple(clip.id for clip in kept),
        np.array([place for place, _, _ in texts], dtype=np.int64),
        tuple(text.text for _, text, _ in texts),
        tuple(str(granularity) for _, _, granularity in texts) if known else None,
    )
    reasons: dict[str, int] = {}
    for reason in refused.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    return pool, tuple(Dropped(what="motions", n=n, reason=why) for why, n in reasons.items())


def _embedded(source: ModelScores, texts: Sequence[Text], clips: Sequence[ScoredClip]) -> Scores:
    """Score as the model does; block by block where that is one of the similarities known."""
    import numpy as np

    from evaluators.vectors import cosine, negated_euclidean
    from metrics.retrieval_scores import MatrixScores, embedding_scores

    left = source.embed_texts([text.text for text in texts])
    right = source.embed_motions([clip.id for clip in clips])
    few, others = left[:_TRIED], right[:_TRIED]
    own = source.similarity(few, others)
    guesses: dict[Similarity, Any] = {
        "cosine": cosine,
        "euclidean": negated_euclidean,
        "dot": lambda one, other: one @ other.T,
    }
    for name, guess in guesses.items():
        if np.allclose(own, guess(few, others), rtol=1e-4, atol=1e-5 * float(np.abs(own).max())):
            return embedding_scores(left, right, similarity=name)
    rows = [source.similarity(left[k : k + 512], right) for k in range(0, len(left), 512)]
    return MatrixScores(np.concatenate(rows))


def _paired(source: ModelScores, texts: Sequence[Text], clips: Sequence[ScoredClip]) -> Scores:
    import numpy as np

    from metrics.retrieval_scores import MatrixScores

    ids = [clip.id for clip in clips]
    flat = source.pairs([text for text in texts for _ in ids], ids * len(texts))
    matrix = flat.reshape(len(texts), len(ids))
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(
            f"{source.name}: no score for text {texts[row].id!r} with motion {ids[column]!r}"
        )
    return MatrixScores(matrix)
