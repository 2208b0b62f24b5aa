"""Many pictures as one: tiles left to right and row by row, with a line of text under each."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from corpus.problems import InputError
from render.marks import INK, font

Picture = NDArray[np.uint8]

PAPER = (244, 245, 247)
"""sRGB between the tiles."""
GAP = 4
"""Pixels between tiles."""
PICTURES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
"""Pillow's format by file suffix."""
LONGEST = 65_000
"""Longest side of a picture file, pixels (JPEG holds 65,535)."""


def sheet(
    tiles: Sequence[Picture],
    columns: int,
    captions: Sequence[str] = (),
    header: str = "",
) -> Picture:
    """Lay tiles of one size out in rows.

    Args:
        tiles: (h, w, 3) uint8 each, in reading order.
        columns: Tiles in a row, at least 1.
        captions: One line for under each tile; none at all for no captions.
        header: A text over all, in as many lines as it needs.

    Raises:
        ValueError: No tile, tiles of several sizes, or another number of captions.
        InputError: The picture would be longer than ``LONGEST``.
    """
    if not tiles or len({tile.shape for tile in tiles}) != 1:
        raise ValueError("tiles: expected one or more pictures of one size")
    if columns < 1:
        raise ValueError(f"columns: expected at least 1, got {columns}")
    if captions and len(captions) != len(tiles):
        raise ValueError(f"captions: expected {len(tiles)} or none, got {len(captions)}")
    high, wide = tiles[0].shape[:2]
    columns = min(columns, len(tiles))
    rows = -(-len(tiles) // columns)
    letters = font(_fitting(captions, wide)) if captions else font(10)
    line = 2 * round(_fitting(captions, wide) * 0.75) if captions else 0
    width = columns * (wide + GAP) + GAP
    title = max(12, min(16, high // 14))
    lines = _wrapped(header, width - 4 * GAP, title)
    leading = round(title * 1.4)
    top = GAP + (len(lines) * leading + GAP if lines else 0)
    height = top + rows * (high + line + GAP)
    if max(width, height) > LONGEST:
        raise InputError(
            f"expected a picture of at most {LONGEST} pixels a side, got {width} x {height}; "
            "take fewer frames or smaller tiles"
        )
    page = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(page)
    for number, text in enumerate(lines):
        y = GAP + (number + 0.5) * leading
        pen.text((2 * GAP, y), text, INK, font(title), anchor="lm")
    for number, tile in enumerate(tiles):
        row, column = divmod(number, columns)
        x, y = GAP + column * (wide + GAP), top + row * (high + line + GAP)
        page.paste(Image.fromarray(tile), (x, y))
        if captions:
            pen.text((x + 3, y + high + line / 2), captions[number], INK, letters, anchor="lm")
    return np.asarray(page)


def _wrapped(text: str, width: int, size: int) -> list[str]:
    """Break a text into lines of words no wider than ``width`` pixels; a longer word stays."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font(size).getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _fitting(lines: Sequence[str], width: int) -> int:
    """Largest size of letters, 8 to 15 pixels, at which every line fits the width."""
    longest = max(lines, key=len)
    for size in range(15, 8, -1):
        if font(size).getlength(longest) <= width - 6:
            return size
    return 8


def picture_format(out: Path, option: str = "--out") -> str:
    """Return pillow's format for a file name.

    Raises:
        InputError: A suffix that is no picture's.
    """
    found = PICTURES.get(out.suffix.lower())
    if found is None:
        raise InputError(
            f"{option}: expected a file name ending in {', '.join(PICTURES)}, got {out.name!r}"
        )
    return found


def picture_bytes(picture: Picture, kind: str = "PNG") -> bytes:
    """Return a picture encoded as ``PNG`` or ``JPEG`` (quality 92, full colour resolution)."""
    stream = io.BytesIO()
    more = {"quality": 92, "subsampling": 0} if kind == "JPEG" else {"compress_level": 6}
    Image.fromarray(picture).save(stream, format=kind, **more)
    return stream.getvalue()


def write_picture(out: Path, picture: Picture) -> None:
    """Write a picture as PNG or JPEG by the suffix of ``out``.

    Raises:
        InputError: A suffix that is no picture's.
    """
    write_whole(out, picture_bytes(picture, picture_format(out)))


def write_whole(out: Path, data: bytes) -> None:
    """Write a file under a temporary name beside it and move it there; make its folder."""
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".part-", suffix=out.suffix, dir=out.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        part.chmod(0o644)
        part.replace(out)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
