"""The generation suite: R-Precision, MM-Dist, FID, Diversity, MultiModality in replications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.items import Frozen
from corpus.problems import InputError
from metrics.generation import (
    Distance,
    Gaussian,
    Pairs,
    diversity,
    draw_pools,
    frechet_distance,
    gaussian,
    multimodality,
    pool_hits,
    prepare,
    replicate_interval,
)
from metrics.results import Cell, cell

TOPS = (1, 2, 3)
REFERENCE_DIVERSITY = "Diversity (reference)"
LARGEST = 1e70
"""Embeddings beyond this are refused: products of their squares have to stay finite."""
NO_REFERENCE = "no reference motions were given"
NO_REPEATS = "no repeated generations were given"


class Variant(Frozen):
    """How an evaluator's own suite compares."""

    title: str
    """Name in results."""
    source: str
    """Where it is defined."""
    pool: int
    """Pairs in a pool of R-Precision."""
    distance: Distance
    """What is compared."""
    matching: str
    """Name of the mean over own pairs."""


VARIANTS: dict[str, Variant] = {
    "humanml3d": Variant(
        title="HumanML3D",
        source="Guo et al. 2022",
        pool=32,
        distance="euclidean",
        matching="MM-Dist",
    ),
    "snapmogen": Variant(
        title="SnapMoGen",
        source="Guo et al. 2025",
        pool=100,
        distance="cosine",
        matching="Matching score",
    ),
}
"""``MM-Dist`` is a distance, lower is better; SnapMoGen's matching score is a cosine, higher is
better."""


class Settings(Frozen):
    """Options of the suite."""

    pool: int = 32
    """Pairs in a pool of R-Precision, at least 2."""
    distance: Distance = "euclidean"
    """What is compared."""
    matching: str = "MM-Dist"
    """Name of the mean over own pairs."""
    replications: int = 20
    """Draws of pools and pairs; given generations of several replications count instead."""
    diversity_pairs: int = 300
    """Pairs of Diversity; more motions than this are needed."""
    multimodality_pairs: int = 10
    """Pairs of MultiModality for each text; more repeats than this are needed."""
    seed: int = 0
    """Replication r draws with numpy's legacy generator seeded seed + r."""


class Suite(Frozen):
    """What the suite gave for one set of motions."""

    cells: dict[str, Cell]
    """``R@1`` … ``R@3`` as proportions, MM-Dist or the matching score, ``FID``, ``Diversity``,
    ``Diversity (reference)``, ``MultiModality``: mean over replications with its interval."""
    file_order: dict[str, float]
    """R@K and the matching mean with pools cut in the order of the file, first replication."""
    n: int
    """Pairs given."""
    kept: int
    """Pairs that enter the pools of a replication; the others are drawn anew each time."""
    notes: tuple[str, ...] = ()
    """What the numbers alone would hide."""


def evaluate(
    text: NDArray[Any],
    motion: NDArray[Any],
    *,
    reference: NDArray[Any] | Gaussian | None = None,
    repeats: NDArray[Any] | None = None,
    fid_motion: NDArray[Any] | None = None,
    spread_reference: NDArray[Any] | None = None,
    settings: Settings | None = None,
) -> Suite:
    """Run the suite.

    Args:
        text: (N, D), or (R, N, D) where each replication has its own captions.
        motion: (N, D) aligned with the texts, or (R, N, D) with one set of motions a replication.
        reference: (M, E) real motions for FID and their Diversity, or their Gaussian.
        repeats: (texts, K, D): K motions for each text, for MultiModality.
        fid_motion: (N, E) or (R, N, E) where FID has an embedding of its own; else ``motion``.
        spread_reference: (M, D) real motions for their Diversity where ``reference`` holds the
            vectors of FID; else ``reference``.
        settings: Options.

    Returns:
        The suite. What cannot be computed is null with its reason.

    Raises:
        InputError: NaN, unequal widths or numbers, or fewer pairs than a pool.
    """
    options = settings or Settings()
    text = _checked(text, "text embeddings", (2, 3))
    motion = _checked(motion, "motion embeddings", (2, 3))
    _aligned(text, motion, options)
    _directed(options, text, motion)
    runs = max(len(a) if a.ndim == 3 else 1 for a in (text, motion))
    replications = runs if runs > 1 else options.replications
    notes: list[str] = []
    series: dict[str, list[float]] = {f"R@{top}": [] for top in TOPS}
    series |= {options.matching: [], "Diversity": []}
    first: Pairs | None = None
    pairs: Pairs | None = None
    for run in range(replications):
        if pairs is None or runs > 1:
            pairs = prepare(_of_run(text, run), _of_run(motion, run), options.distance)
        first = first or pairs
        rng = np.random.RandomState(options.seed + run)
        pools = draw_pools(len(pairs.own), options.pool, rng)
        hits = pool_hits(pairs, pools, TOPS).sum(axis=0) / pools.size
        for top, share in zip(TOPS, hits, strict=True):
            series[f"R@{top}"].append(float(share))
        series[options.matching].append(float(pairs.own[pools].mean()))
        if len(pairs.own) > options.diversity_pairs:
            moving = _of_run(motion, run)
            series["Diversity"].append(diversity(moving, options.diversity_pairs, rng))
    cells = {name: _replicated(values) for name, values in series.items() if values}
    if not series["Diversity"]:
        cells["Diversity"] = cell(None, _too_few(motion.shape[-2], options.diversity_pairs))
    cells |= _against_reference(motion if fid_motion is None else fid_motion, reference, options)
    if spread_reference is not None:
        spread = _checked(spread_reference, "reference embeddings for Diversity", (2,))
        cells[REFERENCE_DIVERSITY] = _reference_diversity(spread, options)
    encoders = (motion,) if fid_motion is None else (motion, fid_motion)
    cells["MultiModality"] = _multimodality(repeats, encoders, options)
    if first is not None and isinstance(cells["FID"].value, float):
        notes += _rank_notes(motion if fid_motion is None else fid_motion, reference)
    n = motion.shape[-2]
    return Suite(
        cells=cells,
        file_order=_in_file_order(first, options) if first is not None else {},
        n=n,
        kept=n // options.pool * options.pool,
        notes=tuple(notes),
    )


def _checked(array: NDArray[Any], name: str, dimensions: tuple[int, ...]) -> NDArray[Any]:
    shape = "(N, D) or (replications, N, D)" if 3 in dimensions and 2 in dimensions else "(N, D)"
    shape = "(texts, repeats, D)" if dimensions == (3,) else shape
    if array.ndim not in dimensions or 0 in array.shape or array.dtype.kind not in "fiu":
        raise InputError(
            f"{name}: expected numbers of shape {shape}, got {array.dtype} of {array.shape}"
        )
    for start in range(0, len(array), 4096):
        part = np.asarray(array[start : start + 4096])
        if not np.isfinite(part).all():
            row = tuple(int(i) for i in np.argwhere(~np.isfinite(part))[0][:-1])
            place = ", ".join(map(str, (row[0] + start, *row[1:])))
            raise InputError(f"{name}: row {place} holds NaN or infinity (rows from 0)")
        if (largest := float(np.abs(part).max())) > LARGEST:
            raise InputError(f"{name}: expected numbers up to {LARGEST:g}, got {largest:g}")
    return array


def _aligned(text: NDArray[Any], motion: NDArray[Any], options: Settings) -> None:
    if text.shape[-1] != motion.shape[-1]:
        raise InputError(
            f"unequal widths: text embeddings have {text.shape[-1]} numbers, motion embeddings "
            f"{motion.shape[-1]}; both must come from one evaluator"
        )
    if text.shape[-2] != motion.shape[-2]:
        raise InputError(
            f"{text.shape[-2]} texts and {motion.shape[-2]} motions; row i of one belongs to row i "
            "of the other"
        )
    if text.ndim == motion.ndim == 3 and len(text) != len(motion):
        raise InputError(f"{len(text)} replications of texts and {len(motion)} of motions")
    if motion.shape[-2] < options.pool:
        raise InputError(
            f"{motion.shape[-2]} pairs are fewer than a pool of {options.pool}; R-Precision needs "
            "a whole pool (--pool says its size)"
        )


def _directed(options: Settings, *arrays: NDArray[Any]) -> None:
    """Refuse rows of zeros where cosines are compared."""
    if options.distance != "cosine":
        return
    for array, name in zip(arrays, ("text", "motion"), strict=True):
        zero = np.argwhere(~np.asarray(array).any(axis=-1))
        if len(zero):
            row = ", ".join(map(str, zero[0]))
            raise InputError(f"{name} embeddings: row {row} is all zeros, its cosine is undefined")


def _of_run(array: NDArray[Any], run: int) -> NDArray[Any]:
    return array if array.ndim == 2 else array[run]


def _replicated(values: list[float]) -> Cell:
    mean, low, high = replicate_interval(values)
    return Cell(value=mean, ci=(low, high) if len(values) > 1 else None, n=len(values))


def _too_few(n: int, pairs: int) -> str:
    return f"{n} motions are too few for {pairs} pairs without replacement (--diversity-pairs)"


def _against_reference(
    motion: NDArray[Any], reference: NDArray[Any] | Gaussian | None, options: Settings
) -> dict[str, Cell]:
    if reference is None:
        return {"FID": cell(None, NO_REFERENCE), REFERENCE_DIVERSITY: cell(None, NO_REFERENCE)}
    motion = _checked(motion, "motion embeddings for FID", (2, 3))
    spread = cell(None, "the reference was given as mean and covariance only")
    if not isinstance(reference, Gaussian):
        reference = _checked(reference, "reference embeddings", (2,))
        spread = _reference_diversity(reference, options)
        if len(reference) < 2:
            return {
                "FID": cell(None, "a covariance needs two reference motions"),
                REFERENCE_DIVERSITY: spread,
            }
        reference = gaussian(reference)
    if len(reference.mean) != motion.shape[-1]:
        raise InputError(
            f"unequal widths: reference embeddings have {len(reference.mean)} numbers, motion "
            f"embeddings {motion.shape[-1]}; both must come from one evaluator"
        )
    runs = [motion] if motion.ndim == 2 else list(motion)
    # Nothing is drawn for FID: one set of motions gives one number, computed once.
    distances = [frechet_distance(reference, gaussian(run)) for run in runs]
    return {"FID": _replicated(distances), REFERENCE_DIVERSITY: spread}


def _reference_diversity(reference: NDArray[Any], options: Settings) -> Cell:
    if len(reference) <= options.diversity_pairs:
        return cell(None, _too_few(len(reference), options.diversity_pairs))
    return _replicated(
        [
            diversity(reference, options.diversity_pairs, np.random.RandomState(options.seed + run))
            for run in range(options.replications)
        ]
    )


def _multimodality(
    repeats: NDArray[Any] | None, encoders: Sequence[NDArray[Any]], options: Settings
) -> Cell:
    if repeats is None:
        return cell(None, NO_REPEATS)
    repeats = _checked(repeats, "repeated generations", (3,))
    widths = [motion.shape[-1] for motion in encoders]
    if repeats.shape[2] not in widths:
        raise InputError(
            f"unequal widths: repeated generations have {repeats.shape[2]} numbers, motion "
            f"embeddings {' or '.join(map(str, widths))}; both must come from one evaluator"
        )
    if repeats.shape[1] <= options.multimodality_pairs:
        return cell(
            None,
            f"{repeats.shape[1]} repeats a text are too few for {options.multimodality_pairs} "
            "pairs without replacement (--multimodality-pairs)",
        )
    return _replicated(
        [
            multimodality(
                repeats, options.multimodality_pairs, np.random.RandomState(options.seed + run)
            )
            for run in range(options.replications)
        ]
    )


def _rank_notes(motion: NDArray[Any], reference: NDArray[Any] | Gaussian | None) -> list[str]:
    width, motions = motion.shape[-1], motion.shape[-2]
    if isinstance(reference, Gaussian):
        known = reference.n
    else:
        known = width + 1 if reference is None else len(reference)
    few = [f"{n} {what}" for n, what in ((motions, "motions"), (known, "references")) if n <= width]
    if not few:
        return []
    return [
        f"FID of {' and '.join(few)} with {width} numbers each: the covariance has no full rank, "
        "and the distance is dominated by that."
    ]


def _in_file_order(pairs: Pairs, options: Settings) -> dict[str, float]:
    pools = draw_pools(len(pairs.own), options.pool, None)
    hits = pool_hits(pairs, pools, TOPS).sum(axis=0) / pools.size
    found = {f"R@{top}": float(share) for top, share in zip(TOPS, hits, strict=True)}
    return found | {options.matching: float(pairs.own[pools].mean())}
