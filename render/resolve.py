"""Samples to pixels: what ``raster.fill`` drew, over what the frame already shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from render.raster import EMPTY, compiled


@compiled
def resolve_all(
    frame: Any, brightness: Any, part: Any, spans: Any, colours: Any, box: Any, samples: int,
    changed: Any,
) -> None:  # fmt: skip
    """Average the samples of each pixel over what the frame already shows.

    Args:
        frame: (H, W, 3) uint8 RGB, changed within the box.
        brightness: Sample brightness from ``fill``.
        part: Sample parts from ``fill``.
        spans: Columns drawn in each row, from ``fill``.
        colours: (P, 3) float32 sRGB 0 to 255 of each part.
        box: Left, top, right, bottom in pixels.
        samples: Samples per pixel along each axis.
        changed: (H, 2) columns changed in each row, see ``pixels``; widened.
    """
    share = 1.0 / (samples * samples)
    half, quarter, one = np.float32(0.5), np.float32(0.25), np.float32(1)
    for y in range(box[1], box[3]):
        top = (y - box[1]) * samples
        first, last = spans[top, 0], spans[top, 1]
        for row in range(top + 1, top + samples):
            first, last = min(first, spans[row, 0]), max(last, spans[row, 1])
        if last < first:
            continue
        start, stop = box[0] + first // samples, box[0] + last // samples + 1
        changed[y, 0], changed[y, 1] = min(changed[y, 0], start), max(changed[y, 1], stop)
        row_of, upper, high = frame[y], part[top], brightness[top]
        lower, low = part[top + samples - 1], brightness[top + samples - 1]
        for x in range(start, stop):
            if samples == 2:
                # Unsigned, so that no index is looked at for being negative.
                left, right = np.uint64((x - box[0]) * 2), np.uint64((x - box[0]) * 2 + 1)
                which = upper[left]
                if upper[right] == which and lower[left] == which and lower[right] == which:
                    if which == EMPTY:
                        continue
                    p, q, r, t = high[left], high[right], low[left], low[right]
                    if max(max(p, q), max(r, t)) <= one:
                        light = (p + q + r + t) * quarter
                        pixel, colour = row_of[np.uint64(x)], colours[which]
                        pixel[0] = np.uint8(colour[0] * light + half)
                        pixel[1] = np.uint8(colour[1] * light + half)
                        pixel[2] = np.uint8(colour[2] * light + half)
                        continue
            covered = 0
            red = green = blue = 0.0
            for row in range(top, top + samples):
                corner = (x - box[0]) * samples
                for column in range(corner, corner + samples):
                    which = part[row, column]
                    if which != EMPTY:
                        covered += 1
                        light = brightness[row, column]
                        gloss = max(light - 1.0, 0.0) * 255.0
                        light = min(light, 1.0)
                        red += min(colours[which, 0] * light + gloss, 255.0)
                        green += min(colours[which, 1] * light + gloss, 255.0)
                        blue += min(colours[which, 2] * light + gloss, 255.0)
            if covered:
                rest = 1.0 - covered * share
                frame[y, x, 0] = np.uint8(frame[y, x, 0] * rest + red * share + 0.5)
                frame[y, x, 1] = np.uint8(frame[y, x, 1] * rest + green * share + 0.5)
                frame[y, x, 2] = np.uint8(frame[y, x, 2] * rest + blue * share + 0.5)


@compiled
def resolve_one(
    frame: Any, brightness: Any, part: Any, spans: Any, colours: Any, box: Any, changed: Any
) -> None:
    """Draw one sample a pixel over what the frame already shows, outlines softened.

    A pixel beside another part or beside the background is half its own and an eighth each of its
    four neighbours.

    Args:
        frame: (H, W, 3) uint8 RGB, changed within the box.
        brightness: Brightness from ``fill`` with one sample a pixel.
        part: Parts from ``fill``.
        spans: Columns drawn in each row, from ``fill``.
        colours: (P, 3) float32 sRGB 0 to 255 of each part.
        box: Left, top, right, bottom in pixels.
        changed: (H, 2) columns changed in each row, see ``pixels``; widened.
    """
    width, height = box[2] - box[0], box[3] - box[1]
    half, eighth = np.float32(0.5), np.float32(0.125)
    for y in range(height):
        up, down = max(y - 1, 0), min(y + 1, height - 1)
        first = min(spans[up, 0], spans[y, 0], spans[down, 0]) - 1
        last = max(spans[up, 1], spans[y, 1], spans[down, 1]) + 1
        if last <= first + 1:
            continue
        start: Any = max(first, 0)
        stop: Any = min(last, width - 1) + 1
        at = box[1] + y
        changed[at, 0] = min(changed[at, 0], box[0] + start)
        changed[at, 1] = max(changed[at, 1], box[0] + stop)
        pixels, here, above, below = frame[at], part[y], part[up], part[down]
        lights, lights_up, lights_down = brightness[y], brightness[up], brightness[down]
        for x in range(np.uint64(start), np.uint64(stop)):
            before: Any = max(np.int64(x) - 1, 0)
            after: Any = min(np.int64(x) + 1, width - 1)
            left, right = np.uint64(before), np.uint64(after)
            which = here[x]
            same = here[left] == which and here[right] == which
            pixel = pixels[np.uint64(box[0]) + x]
            if same and above[x] == which and below[x] == which:
                if which == EMPTY:
                    continue
                red, green, blue = _colour(colours, which, lights[x])
            else:
                background = eighth * np.float32(4 if which == EMPTY else 0)
                red = green = blue = np.float32(0)
                if which != EMPTY:
                    red, green, blue = _colour(colours, which, lights[x])
                    red, green, blue = red * half, green * half, blue * half
                for n in range(4):
                    if n == 0:
                        beside, light = here[left], lights[left]
                    elif n == 1:
                        beside, light = here[right], lights[right]
                    elif n == 2:
                        beside, light = above[x], lights_up[x]
                    else:
                        beside, light = below[x], lights_down[x]
                    if beside == EMPTY:
                        background += eighth
                    else:
                        r, g, b = _colour(colours, beside, light)
                        red += r * eighth
                        green += g * eighth
                        blue += b * eighth
                red += pixel[0] * background
                green += pixel[1] * background
                blue += pixel[2] * background
            pixel[0] = np.uint8(red + half)
            pixel[1] = np.uint8(green + half)
            pixel[2] = np.uint8(blue + half)


@compiled
def _colour(colours: Any, part: Any, light: Any) -> tuple[Any, Any, Any]:
    """Colour of a part under a light, sRGB 0 to 255; light above 1 whitens it."""
    one, top = np.float32(1), np.float32(255)
    gloss = max(light - one, np.float32(0)) * top
    light = min(light, one)
    return (
        min(colours[part, 0] * light + gloss, top),
        min(colours[part, 1] * light + gloss, top),
        min(colours[part, 2] * light + gloss, top),
    )
