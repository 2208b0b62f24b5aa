"""Triangles to samples on the processor: skinning, shading, z-buffer.

Compiled by numba and cached on disk (``NUMBA_CACHE_DIR`` moves the cache). No fast-math and no
threads, so one machine always makes the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

_F = TypeVar("_F", bound=Callable[..., Any])


def compiled(function: _F) -> _F:
    """Compile a function by numba, cached on disk where that can be."""
    try:
        return cast(_F, numba.njit(cache=True, error_model="numpy")(function))
    except RuntimeError:  # no place for the cache can be written to
        return cast(_F, numba.njit(error_model="numpy")(function))


SLACK = np.float32(1e-3)
"""Samples by which a triangle reaches over its edges, so that no gap opens between two."""
EMPTY = 255
"""Value in the part buffer where nothing was drawn."""


@compiled
def skin(rest: Any, joints: Any, weights: Any, transforms: Any, out: Any) -> None:
    """Linear blend skinning.

    Args:
        rest: (V, 3) float32 rest vertices.
        joints: (V, K) int32 transforms that move each vertex.
        weights: (V, K) float32 their shares.
        transforms: (J, 3, 4) float32 from rest to world.
        out: (V, 3) float32, filled with world vertices.
    """
    for v in range(rest.shape[0]):
        x, y, z = rest[v, 0], rest[v, 1], rest[v, 2]
        a = b = c = np.float32(0)
        for k in range(joints.shape[1]):
            w = weights[v, k]
            if w > 0:
                m = transforms[joints[v, k]]
                a += w * (m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3])
                b += w * (m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3])
                c += w * (m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3])
        out[v, 0], out[v, 1], out[v, 2] = a, b, c


@compiled
def furthest(vertices: Any, directions: Any, out: Any) -> None:
    """Find the vertex furthest along each direction.

    Args:
        vertices: (V, 3) points.
        directions: (D, 3) directions.
        out: (D, 3), filled with the points.
    """
    for d in range(directions.shape[0]):
        best, at = -np.inf, 0
        x, y, z = directions[d, 0], directions[d, 1], directions[d, 2]
        for v in range(vertices.shape[0]):
            reach = x * vertices[v, 0] + y * vertices[v, 1] + z * vertices[v, 2]
            if reach > best:
                best, at = reach, v
        for c in range(3):
            out[d, c] = vertices[at, c]


@compiled
def shade(vertices: Any, faces: Any, lights: Any, ambient: Any, normals: Any, out: Any) -> None:
    """Brightness of every vertex under directional lights and a sky.

    Args:
        vertices: (V, 3) world vertices.
        faces: (F, 3) triangles.
        lights: (L, 4) direction to each light (unit) and its strength.
        ambient: Brightness from below and from above, 2 values.
        normals: (V, 3) float32 working space.
        out: (V,) float32, filled.
    """
    normals[:] = 0
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        ax = vertices[j, 0] - vertices[i, 0]
        ay = vertices[j, 1] - vertices[i, 1]
        az = vertices[j, 2] - vertices[i, 2]
        bx = vertices[k, 0] - vertices[i, 0]
        by = vertices[k, 1] - vertices[i, 1]
        bz = vertices[k, 2] - vertices[i, 2]
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        for v in (i, j, k):
            normals[v, 0] += x
            normals[v, 1] += y
            normals[v, 2] += z
    for v in range(vertices.shape[0]):
        x, y, z = normals[v, 0], normals[v, 1], normals[v, 2]
        shorten = np.float32(1) / (np.sqrt(x * x + y * y + z * z) + np.float32(1e-20))
        x, y, z = x * shorten, y * shorten, z * shorten
        up = np.float32(0.5) + np.float32(0.5) * y
        total = ambient[0] + (ambient[1] - ambient[0]) * up
        for n in range(lights.shape[0]):
            facing = x * lights[n, 0] + y * lights[n, 1] + z * lights[n, 2]
            if facing > 0:
                total += lights[n, 3] * facing
        out[v] = total


@compiled
def project(vertices: Any, camera: Any, out: Any) -> None:
    """Project world points.

    Args:
        vertices: (V, 3) points.
        camera: (5, 3) rows: right, up and backward axes (unit), the eye, and focal length with
            the image's centre in pixels.
        out: (V, 3) float32, filled with x and y in pixels (y down) and 1 / depth.
    """
    focal, cx, cy = camera[4, 0], camera[4, 1], camera[4, 2]
    for v in range(vertices.shape[0]):
        x = vertices[v, 0] - camera[3, 0]
        y = vertices[v, 1] - camera[3, 1]
        z = vertices[v, 2] - camera[3, 2]
        depth = -(camera[2, 0] * x + camera[2, 1] * y + camera[2, 2] * z)
        inverse = 1.0 / max(depth, 1e-3)
        out[v, 0] = cx + focal * inverse * (camera[0, 0] * x + camera[0, 1] * y + camera[0, 2] * z)
        out[v, 1] = cy - focal * inverse * (camera[1, 0] * x + camera[1, 1] * y + camera[1, 2] * z)
        out[v, 2] = inverse


@compiled
def bounds(points: Any, pad: int, width: int, height: int) -> tuple[int, int, int, int]:
    """Box of projected points: left, top, right, bottom in pixels, even, within the image."""
    left, top, right, bottom = 1e9, 1e9, -1e9, -1e9
    for v in range(points.shape[0]):
        left, right = min(left, points[v, 0]), max(right, points[v, 0])
        top, bottom = min(top, points[v, 1]), max(bottom, points[v, 1])
    x0 = int(min(max(left - pad, 0), width)) // 2 * 2
    y0 = int(min(max(top - pad, 0), height)) // 2 * 2
    x1 = (int(min(max(right + pad, 0), width - 1)) // 2 + 1) * 2
    y1 = (int(min(max(bottom + pad, 0), height - 1)) // 2 + 1) * 2
    return x0, y0, max(x1, x0), max(y1, y0)


@compiled
def crossing(share: Any, slope: Any, rise: Any) -> Any:
    """Bounds of the columns where a share is positive, and their step from row to row.

    Args:
        share: Barycentric share at the first column of the first row.
        slope: Its change from column to column.
        rise: Its change from row to row.
    """
    if slope == 0:
        slope = np.float32(1e-9)
    turned = np.float32(-1) / slope
    at, step = share * turned, rise * turned
    if slope > 0:
        return at - SLACK, np.float32(1e15), step
    return np.float32(-1e15), at + SLACK, step


@compiled
def fill(
    points: Any, faces: Any, parts: Any, light: Any, box: Any, samples: int,
    depth: Any, brightness: Any, part: Any, spans: Any,
) -> None:  # fmt: skip
    """Draw triangles that face the camera into the sample buffers of a box.

    Args:
        points: (V, 3) from ``project``.
        faces: (F, 3) triangles.
        parts: (F,) uint8 part of each.
        light: (V,) brightness.
        box: Left, top, right, bottom in pixels.
        samples: Samples per pixel along each axis.
        depth: (H, W) float32 of 1 / depth at least as large as the box in samples.
        brightness: Same shape float32.
        part: Same shape uint8.
        spans: (H, 2) int32, filled with the first and last column drawn in each row of the box;
            the last lies before the first where the row is empty.
    """
    width, height = (box[2] - box[0]) * samples, (box[3] - box[1]) * samples
    depth[:height, :width] = 0
    part[:height, :width] = EMPTY
    spans[:height, 0] = width
    spans[:height, 1] = -1
    zero, half, one = np.float32(0), np.float32(0.5), np.float32(1)
    far_left, far_top, scale_up = np.float32(box[0]), np.float32(box[1]), np.float32(samples)
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        x0, y0 = (points[i, 0] - far_left) * scale_up, (points[i, 1] - far_top) * scale_up
        x1, y1 = (points[j, 0] - far_left) * scale_up, (points[j, 1] - far_top) * scale_up
        x2, y2 = (points[k, 0] - far_left) * scale_up, (points[k, 1] - far_top) * scale_up
        # y grows downwards: triangles that face the camera have negative area here.
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area >= 0:
            continue
        left = max(int(np.ceil(min(x0, x1, x2) - half)), 0)
        right = min(int(np.floor(max(x0, x1, x2) - half)), width - 1)
        top = max(int(np.ceil(min(y0, y1, y2) - half)), 0)
        bottom = min(int(np.floor(max(y0, y1, y2) - half)), height - 1)
        if left > right or top > bottom:
            continue
        scale = one / area
        ax, ay = (y1 - y2) * scale, (x2 - x1) * scale
        bx, by = (y2 - y0) * scale, (x0 - x2) * scale
        cx = -ax - bx
        x, y = np.float32(left) + half - x2, np.float32(top) + half - y2
        a, b = x * ax + y * ay, x * bx + y * by
        za, zb = points[i, 2] - points[k, 2], points[j, 2] - points[k, 2]
        la, lb = light[i] - light[k], light[j] - light[k]
        zx, lx = ax * za + bx * zb, ax * la + bx * lb
        which = parts[f]
        # The column where each share is 0 moves by the same step from row to row. The share is
        # positive to the right of it or to the left of it; the other bound stays out of reach.
        c = one - a - b
        low_a, high_a, step_a = crossing(a, ax, ay)
        low_b, high_b, step_b = crossing(b, bx, by)
        low_c, high_c, step_c = crossing(c, cx, -ay - by)
        most = np.float32(right - left)
        for row in range(top, bottom + 1):
            first = int(np.ceil(max(max(low_a, low_b), max(low_c, zero))))
            last = int(np.floor(min(min(high_a, high_b), min(high_c, most))))
            low_a, high_a = low_a + step_a, high_a + step_a
            low_b, high_b = low_b + step_b, high_b + step_b
            low_c, high_c = low_c + step_c, high_c + step_c
            if first <= last:
                ahead = np.float32(first)
                z = points[k, 2] + a * za + b * zb + zx * ahead
                value = light[k] + a * la + b * lb + lx * ahead
                depths, values, kinds = depth[row], brightness[row], part[row]
                for column in range(np.uint64(left + first), np.uint64(left + last + 1)):
                    if z > depths[column]:
                        depths[column] = z
                        values[column] = value
                        kinds[column] = which
                    z += zx
                    value += lx
                spans[row, 0] = min(spans[row, 0], left + first)
                spans[row, 1] = max(spans[row, 1], left + last)
            a += ay
            b += by
