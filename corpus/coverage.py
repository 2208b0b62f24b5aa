"""Motion coverage: 14 statistics of a clip, and how evenly clips fill a plane (STRIDE A.2).

The paper names "14 body-height-normalized kinematic statistics" and not which; the choice is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from benchmarks.items import Frozen
from corpus.frames import body_chain
from corpus.motion import Motion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STATISTICS: tuple[str, ...] = (
    "root_speed_mean",
    "root_speed_p95",
    "hand_speed_mean",
    "hand_speed_p95",
    "foot_speed_mean",
    "foot_speed_p95",
    "path_length",
    "net_displacement",
    "turning",
    "height_range",
    "vertical_travel",
    "hand_reach",
    "foot_reach",
    "hand_height",
)
"""Speeds in body heights per second, lengths in body heights, turning in radians."""

RATE = 20.0
"""Frames per second that clips are brought to, so that speeds of different sources compare."""
CELLS = 40
"""Cells of the grid along each side (ours)."""
SPARSE = 2
"""Most samples, of all corpora together, of a cell that counts for Tail (STRIDE A.2)."""


class CoverageRow(Frozen):
    """How one corpus fills the grid (STRIDE, Figure 4 d)."""

    corpus: str
    """Corpus."""
    n: int = Field(ge=1)
    """Clips."""
    occupied: int
    """Occ.: cells with a clip of this corpus."""
    effective: float
    """Eff.: exponential of the entropy of this corpus over the cells, 1 to ``occupied``."""
    tail: float
    """Tail: share of this corpus's clips in cells that hold one or two clips of all corpora."""


def kinematic_statistics(motion: Motion) -> NDArray[np.float64]:
    """Return the 14 statistics of a clip, in the order of ``STATISTICS``.

    Body height is the length ankle to head along the bones. Root is joint 0; hands are the wrists,
    feet the toes where the skeleton has them, else the ankles; both sides count alike. Turning is
    the sum of the absolute changes of the heading, across the hips. Reach is the 95 % quantile of
    the distance from the root; hand height that of the higher wrist above the clip's lowest joint.

    Args:
        motion: A clip of at least 0.1 s.

    Returns:
        (14,).

    Raises:
        ValueError: The clip is too short, or the body has no height.
    """
    import numpy as np

    clip = motion.resampled(RATE)
    if clip.frames < 2:
        raise ValueError(f"motion: expected 2 frames at {RATE:g} fps at least, got {clip.frames}")
    places = clip.positions.astype(np.float64)
    height = body_chain(places, clip.skeleton)
    if not height > 0:
        raise ValueError(f"motion: expected a body with a height, got {height:g} m")
    layout = clip.layout

    def path(joint: str) -> NDArray[np.float64]:
        found: NDArray[np.float64] = places[:, layout.index(joint)] / height
        return found

    foot = "foot" if "left_foot" in layout.joints else "ankle"
    root = places[:, 0] / height
    hands = [path("left_wrist"), path("right_wrist")]
    feet = [path(f"left_{foot}"), path(f"right_{foot}")]
    speeds = [_speeds([root]), _speeds(hands), _speeds(feet)]
    steps = np.diff(root, axis=0)
    flat = root[:, [0, 2]]
    across = path("left_hip") - path("right_hip")
    heading = np.unwrap(np.arctan2(across[:, 0], across[:, 2]))
    floor = float(places[..., 1].min()) / height
    highest = np.maximum(hands[0][:, 1], hands[1][:, 1]) - floor
    return np.array(
        [
            *(value for s in speeds for value in (s.mean(), np.quantile(s, 0.95))),
            np.linalg.norm(np.diff(flat, axis=0), axis=1).sum(),
            np.linalg.norm(flat[-1] - flat[0]),
            np.abs(np.diff(heading)).sum(),
            np.ptp(root[:, 1]),
            np.abs(steps[:, 1]).sum(),
            _reach(hands, root),
            _reach(feet, root),
            np.quantile(highest, 0.95),
        ]
    )


def _speeds(paths: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    import numpy as np

    return np.concatenate([np.linalg.norm(np.diff(p, axis=0), axis=1) * RATE for p in paths])


def _reach(paths: Sequence[NDArray[Any]], root: NDArray[Any]) -> float:
    import numpy as np

    distances = np.concatenate([np.linalg.norm(p - root, axis=1) for p in paths])
    return float(np.quantile(distances, 0.95))


def standardized(statistics: NDArray[Any]) -> NDArray[np.float64]:
    """Return (N, 14) statistics with mean 0 and deviation 1 in each column; constant ones are 0."""
    import numpy as np

    centred = np.asarray(statistics, np.float64) - np.mean(statistics, axis=0)
    spread = centred.std(axis=0)
    found: NDArray[np.float64] = np.divide(
        centred, spread, out=np.zeros_like(centred), where=spread > 0
    )
    return found


def grid_coverage(
    points: NDArray[Any], corpora: Sequence[str], cells: int = CELLS
) -> list[CoverageRow]:
    """Measure how each corpus fills one grid over the points of all (STRIDE A.2).

    Args:
        points: (N, 2), the shared projection.
        corpora: Corpus of each point.
        cells: Cells along each side, at least 1; the grid spans the points.

    Returns:
        One row for each corpus, by name. Counts grow with the number of clips, so corpora compare
        at equal numbers only.

    Raises:
        ValueError: Lengths differ, or there is no point.
    """
    import numpy as np

    places = np.asarray(points, np.float64)
    if places.ndim != 2 or places.shape[1] != 2 or not len(places):
        raise ValueError(f"points: expected (N, 2) with N >= 1, got {places.shape}")
    if len(corpora) != len(places):
        raise ValueError(f"corpora: expected {len(places)} names, got {len(corpora)}")
    low, spread = places.min(axis=0), np.ptp(places, axis=0)
    share = np.divide(places - low, spread, out=np.zeros_like(places), where=spread > 0)
    cell = np.minimum((share * cells).astype(int), cells - 1)
    number = cell[:, 0] * cells + cell[:, 1]
    in_all = np.bincount(number, minlength=cells * cells)
    names = np.asarray(corpora)
    rows: list[CoverageRow] = []
    for corpus in sorted(set(corpora)):
        own = number[names == corpus]
        counts = np.bincount(own, minlength=cells * cells)
        shares = counts[counts > 0] / len(own)
        rows.append(
            CoverageRow(
                corpus=corpus,
                n=len(own),
                occupied=int((counts > 0).sum()),
                effective=float(np.exp(-(shares * np.log(shares)).sum())),
                tail=float(np.mean(in_all[own] <= SPARSE)),
            )
        )
    return rows
