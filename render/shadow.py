"""The body's shadow on the floor: its mesh dropped straight down and drawn again."""

from __future__ import annotations

from typing import Any

import numpy as np

from render.raster import compiled, crossing


@compiled
def drop(
    world: Any, camera: Any, faint: float, dark: float, fade: float, points: Any, strength: Any
) -> None:
    """Drop vertices onto the floor and project them.

    Args:
        world: (V, 3) vertices.
        camera: As for ``project``.
        faint: Share of light that a vertex high up takes away.
        dark: Share that one on the floor takes away.
        fade: Height at which the difference has faded to 1/e, metres.
        points: (V, 3) float32, filled as by ``project``.
        strength: (V,) float32, filled with each vertex's share.
    """
    focal, cx, cy = camera[4, 0], camera[4, 1], camera[4, 2]
    y = -camera[3, 1]
    for v in range(world.shape[0]):
        x, z = world[v, 0] - camera[3, 0], world[v, 2] - camera[3, 2]
        depth = -(camera[2, 0] * x + camera[2, 1] * y + camera[2, 2] * z)
        inverse = 1.0 / max(depth, 1e-3)
        points[v, 0] = cx + focal * inverse * (
            camera[0, 0] * x + camera[0, 1] * y + camera[0, 2] * z
        )
        points[v, 1] = cy - focal * inverse * (
            camera[1, 0] * x + camera[1, 1] * y + camera[1, 2] * z
        )
        points[v, 2] = inverse
        height = max(world[v, 1], np.float32(0))
        strength[v] = faint + (dark - faint) * np.exp(-height / np.float32(fade))


@compiled
def fill_shadow(points: Any, faces: Any, strength: Any, box: Any, out: Any) -> None:
    """Draw the body's shadow: the strongest share at each pixel of the box.

    Args:
        points: (V, 3) projections of the vertices dropped onto the floor.
        faces: (F, 3) triangles; both sides count.
        strength: (V,) share of light that a vertex takes away.
        box: Left, top, right, bottom in pixels.
        out: (H, W) float32 at least as large as the box, filled.
    """
    width, height = box[2] - box[0], box[3] - box[1]
    out[:height, :width] = 0
    zero, half, one = np.float32(0), np.float32(0.5), np.float32(1)
    third = np.float32(1 / 3)
    far_left, far_top = np.float32(box[0]), np.float32(box[1])
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        x0, y0 = points[i, 0] - far_left, points[i, 1] - far_top
        x1, y1 = points[j, 0] - far_left, points[j, 1] - far_top
        x2, y2 = points[k, 0] - far_left, points[k, 1] - far_top
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        # One side is enough: a closed body shows the floor as much front as back.
        if area >= 0:
            continue
        value = (strength[i] + strength[j] + strength[k]) * third
        left = max(int(np.ceil(min(x0, x1, x2) - half)), 0)
        right = min(int(np.floor(max(x0, x1, x2) - half)), width - 1)
        top = max(int(np.ceil(min(y0, y1, y2) - half)), 0)
        bottom = min(int(np.floor(max(y0, y1, y2) - half)), height - 1)
        if left > right or top > bottom:
            continue
        scale = one / area
        ax, ay = (y1 - y2) * scale, (x2 - x1) * scale
        bx, by = (y2 - y0) * scale, (x0 - x2) * scale
        x, y = np.float32(left) + half - x2, np.float32(top) + half - y2
        a, b = x * ax + y * ay, x * bx + y * by
        low_a, high_a, step_a = crossing(a, ax, ay)
        low_b, high_b, step_b = crossing(b, bx, by)
        low_c, high_c, step_c = crossing(one - a - b, -ax - bx, -ay - by)
        most = np.float32(right - left)
        for row in range(top, bottom + 1):
            first = int(np.ceil(max(max(low_a, low_b), max(low_c, zero))))
            last = int(np.floor(min(min(high_a, high_b), min(high_c, most))))
            low_a, high_a = low_a + step_a, high_a + step_a
            low_b, high_b = low_b + step_b, high_b + step_b
            low_c, high_c = low_c + step_c, high_c + step_c
            shades = out[row]
            for column in range(np.uint64(left + first), np.uint64(left + last + 1)):
                shades[column] = max(shades[column], value)
