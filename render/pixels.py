"""Rows of pixels: what changed from frame to frame, the shadow's softness, RGB to I420.

``changed`` is an (H, 2) int32 array: in each row of the frame the first column that was drawn and
the one after the last; the second is not above the first where the row is as the background.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from render.raster import compiled


@compiled
def unmark(changed: Any, width: int) -> None:
    """Say that nothing has changed in a frame of this width."""
    changed[:, 0] = width
    changed[:, 1] = 0


@compiled
def mark(changed: Any, box: Any) -> None:
    """Say that a box (left, top, right, bottom, pixels) has changed."""
    for y in range(box[1], box[3]):
        changed[y, 0] = min(changed[y, 0], box[0])
        changed[y, 1] = max(changed[y, 1], box[2])


@compiled
def restore(frame: Any, background: Any, changed: Any) -> None:
    """Put the background back where a frame has changed; both (H, W * 3) uint8."""
    for y in range(frame.shape[0]):
        row, under = frame[y], background[y]
        # Unsigned, so that no index is looked at for being negative.
        first, stop = np.uint64(3 * changed[y, 0]), np.uint64(3 * changed[y, 1])
        for place in range(first, stop):
            row[place] = under[place]


@compiled
def blur(image: Any, spare: Any, height: int, width: int, radius: int) -> None:
    """Box-blur the top left part of an image in place, twice along each axis."""
    share = np.float32(1.0 / (2 * radius + 1))
    for _ in range(2):
        for y in range(height):
            total = np.float32(0)
            for x in range(-radius, width):
                if x + radius < width:
                    total += image[y, x + radius]
                if x - radius - 1 >= 0:
                    total -= image[y, x - radius - 1]
                if x >= 0:
                    spare[y, x] = total * share
        for y in range(height):
            for x in range(width):
                image[y, x] = spare[y, x]
        for x in range(width):
            total = np.float32(0)
            for y in range(-radius, height):
                if y + radius < height:
                    total += image[y + radius, x]
                if y - radius - 1 >= 0:
                    total -= image[y - radius - 1, x]
                if y >= 0:
                    spare[y, x] = total * share
        for y in range(height):
            for x in range(width):
                image[y, x] = spare[y, x]


@compiled
def darken(frame: Any, shadow: Any, box: Any, changed: Any) -> None:
    """Darken a frame by a shadow of half its resolution, which is interpolated.

    Args:
        frame: (H, W, 3) uint8 RGB.
        shadow: Shares of light taken away; its first entry is that of the box's corner.
        box: Left, top, right, bottom in pairs of pixels.
        changed: Widened.
    """
    height, width = box[3] - box[1], box[2] - box[0]
    near, far = np.float32(0.75), np.float32(0.25)
    one, half, least = np.float32(1), np.float32(0.5), np.float32(0.002)
    for row in range(2 * height):
        at = row // 2
        other = min(max(at + (1 if row % 2 else -1), 0), height - 1)
        y = 2 * box[1] + row
        first, last = frame.shape[1], 0
        before = shadow[at, 0] * near + shadow[other, 0] * far
        here = before
        for column in range(width):
            after = here
            if column + 1 < width:
                after = shadow[at, column + 1] * near + shadow[other, column + 1] * far
            for side in range(2):
                share = here * near + (after if side else before) * far
                if share > least:
                    x = 2 * (box[0] + column) + side
                    first, last = min(first, x), x + 1
                    for c in range(3):
                        frame[y, x, c] = np.uint8(frame[y, x, c] * (one - share) + half)
            before, here = here, after
        if last > first:
            changed[y, 0], changed[y, 1] = min(changed[y, 0], first), max(changed[y, 1], last)


@compiled
def to_i420(frame: Any, luma: Any, blue: Any, red: Any, changed: Any, before: Any) -> None:
    """Convert what changed of an RGB frame to limited-range BT.709 Y, Cb and Cr planes.

    Args:
        frame: (H, W, 3) uint8, H and W even.
        luma: (H, W) uint8.
        blue: (H / 2, W / 2) uint8, Cb.
        red: (H / 2, W / 2) uint8, Cr.
        changed: Columns drawn in this frame.
        before: Columns drawn in the last frame that was converted.
    """
    for y in range(0, frame.shape[0], 2):
        start = min(min(changed[y, 0], changed[y + 1, 0]), min(before[y, 0], before[y + 1, 0]))
        stop = max(max(changed[y, 1], changed[y + 1, 1]), max(before[y, 1], before[y + 1, 1]))
        for pair in range(start // 2, (stop + 1) // 2):
            rs = gs = bs = np.int32(0)
            for dy in range(2):
                pixels, light = frame[y + dy], luma[y + dy]
                for dx in range(2):
                    # Unsigned, so that no index is looked at for being negative.
                    x = np.uint64(2 * pair + dx)
                    r, g, b = np.int32(pixels[x, 0]), np.int32(pixels[x, 1]), np.int32(pixels[x, 2])
                    rs, gs, bs = rs + r, gs + g, bs + b
                    light[x] = (11966 * r + 40254 * g + 4064 * b + 1081344) >> 16
            cb = (-6596 * rs - 22188 * gs + 28784 * bs + 33685504) >> 18
            cr = (28784 * rs - 26145 * gs - 2639 * bs + 33685504) >> 18
            blue[y // 2, pair] = min(max(cb, 0), 255)
            red[y // 2, pair] = min(max(cr, 0), 255)
