"""The floor and its grid as a camera sees them, pixel by pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from render.raster import compiled

BELOW = 1e-6
"""Least slope downwards of a ray that meets the floor."""


@compiled
def draw(image: Any, camera: Any, spacing: float, colours: Any) -> None:
    """Draw the floor at height 0.

    Lines are as wide as their share of a pixel's footprint on the floor, and fade where they come
    closer than pixels can tell, and towards the horizon.

    Args:
        image: (H, W, 3) uint8, filled.
        camera: As for ``raster.project``; it does not lean sideways.
        spacing: Metres between lines; every second one is stronger.
        colours: (3, 3) sRGB 0 to 255 of what is far away, of the floor and of a line.
    """
    height, width = image.shape[0], image.shape[1]
    nearest = _far(camera, height, height - 1)
    for row in range(height):
        far = _far(camera, height, row)
        fade = 0.0
        if _slope(camera, height, row) < -BELOW:
            fade = np.exp(-max(far / nearest - 1.0, 0.0) * 0.32)
        above, below = max(row - 1, 0), min(row + 1, height - 1)
        for column in range(width):
            share = 0.0
            for axis in (0, 2):
                at = _hit(camera, height, width, row, column, axis)
                down = _hit(camera, height, width, below, column, axis)
                down -= _hit(camera, height, width, above, column, axis)
                footprint = abs(down) / (below - above) + abs(far * camera[0, axis] / camera[4, 0])
                footprint = max(footprint, 1e-9)
                for times, half, strength in ((1, 0.006, 0.5), (2, 0.011, 1.0)):
                    apart = spacing * times
                    away = abs(at - np.round(at / apart) * apart)
                    cover = min(max((half + footprint / 2 - away) / footprint, 0.0), 1.0)
                    if cover > 0:
                        cover *= np.sqrt(min(1.0, 2 * half / footprint))
                        cover *= min(max(apart / footprint / 3 - 0.5, 0.0), 1.0)
                        share = max(share, cover * strength)
            for c in range(3):
                shown = colours[1, c] + (colours[2, c] - colours[1, c]) * share
                shown = colours[0, c] + (shown - colours[0, c]) * fade
                image[row, column, c] = np.uint8(np.round(shown))


@compiled
def _slope(camera: Any, height: int, row: int) -> Any:
    """Height that a ray through a row gains per metre of depth."""
    return -(row + 0.5 - height / 2) / camera[4, 0] * camera[1, 1] - camera[2, 1]


@compiled
def _far(camera: Any, height: int, row: int) -> Any:
    """Depth at which a row's rays meet the floor, metres."""
    return camera[3, 1] / -min(_slope(camera, height, row), -BELOW)


@compiled
def _hit(camera: Any, height: int, width: int, row: int, column: int, axis: int) -> Any:
    """Where a pixel's ray meets the floor, along X or Z, metres."""
    x = (column + 0.5 - width / 2) / camera[4, 0]
    y = -(row + 0.5 - height / 2) / camera[4, 0]
    ray = x * camera[0, axis] + y * camera[1, axis] - camera[2, axis]
    return camera[3, axis] + _far(camera, height, row) * ray
