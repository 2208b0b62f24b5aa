"""Points in the plane: t-SNE, and a picture of groups of points as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WIDTH, _HEIGHT, _MARGIN, _LEGEND = 760, 560, 16, 54
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Okabe and Ito's colours, told apart by colour-blind people."""
_MUTED = "#b4bcc4"
_FEWEST = 8
_WIDE = 50
_PERPLEXITY = 30.0


class Group(NamedTuple):
    """Points that are drawn alike."""

    name: str
    """Word in the legend."""
    points: NDArray[Any]
    """(N, 2)."""
    muted: bool = False
    """Drawn small and grey, behind the others."""


def embed_in_plane(
    first: NDArray[Any], second: NDArray[Any], seed: int
) -> NDArray[np.float64] | None:
    """Put two sets of vectors into one plane by t-SNE (van der Maaten and Hinton 2008).

    Vectors wider than 50 are reduced to 50 principal components before, as they advise;
    perplexity 30, or a third of the points where these are few.

    Args:
        first: (N, D).
        second: (M, D).
        seed: Seed of the embedding.

    Returns:
        (N + M, 2), those of ``first`` before; None below 8 points, or where all are the same.
    """
    import numpy as np
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    points = np.concatenate((first, second)).astype(np.float64)
    if len(points) < _FEWEST or not np.ptp(points, axis=0).any():
        return None
    if points.shape[1] > _WIDE:
        width = min(_WIDE, len(points) - 1)
        reduce = PCA(width, svd_solver="randomized", random_state=seed)
        points = reduce.fit_transform(points)
    perplexity = min(_PERPLEXITY, (len(points) - 1) / 3)
    start = "pca" if points.shape[1] >= 2 else "random"
    plane = TSNE(2, perplexity=perplexity, init=start, random_state=seed, n_jobs=1)
    found: NDArray[np.float64] = plane.fit_transform(points)
    return found


def scatter(groups: Sequence[Group]) -> str:
    """Draw groups of points with a legend, to one scale on both axes.

    Args:
        groups: The groups; later ones lie on top. One point at least in all.

    Returns:
        A complete ``<svg>`` element. Axes have no ticks: the plane of t-SNE has no unit.
    """
    import numpy as np

    every = np.concatenate([group.points for group in groups])
    low, high = every.min(axis=0), every.max(axis=0)
    wide, tall = _WIDTH - 2 * _MARGIN, _HEIGHT - 2 * _MARGIN - _LEGEND
    spread = np.maximum(high - low, 1e-9)
    scale = float(min(wide / spread[0], tall / spread[1]))
    middle = (low + high) / 2
    centre = np.array([_WIDTH / 2, _LEGEND + _MARGIN + tall / 2])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" font-family="system-ui, sans-serif">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    legend: list[str] = []
    x, y = float(_MARGIN), 20
    colours = iter(_COLOURS * (1 + len(groups) // len(_COLOURS)))
    for group in groups:
        colour = _MUTED if group.muted else next(colours)
        radius, opacity = (1.6, 0.7) if group.muted else (2.6, 0.85)
        places = (group.points - middle) * scale * (1, -1) + centre
        dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius}"/>' for a, b in places)
        parts.append(f'<g fill="{colour}" fill-opacity="{opacity}">{dots}</g>')
        label = f"{group.name} ({len(group.points)})"
        width = 34 + 7.2 * len(label)
        if x + width > _WIDTH and x > _MARGIN:
            x, y = float(_MARGIN), y + 20
        legend.append(
            f'<circle cx="{x + 5:.0f}" cy="{y}" r="5" fill="{colour}"/>'
            f'<text x="{x + 15:.0f}" y="{y + 4}" font-size="13" fill="#1d2733">'
            f"{escape(label)}</text>"
        )
        x += width
    return "".join([*parts, *legend, "</svg>"])
