from pathlib import Path

import numpy as np
import pytest

from corpus.problems import InputError
from render import sheet as module
from render.marks import font
from render.sheet import GAP, picture_format, sheet

TILE = np.full((40, 60, 3), 90, dtype=np.uint8)


def test_tiles_lie_in_reading_order():
    tiles = [np.full((40, 60, 3), 10 * n, dtype=np.uint8) for n in range(5)]
    page = sheet(tiles, 3)
    assert page.shape == (2 * (40 + GAP) + GAP, 3 * (60 + GAP) + GAP, 3)
    for n in range(5):
        y, x = GAP + n // 3 * (40 + GAP), GAP + n % 3 * (60 + GAP)
        assert (page[y : y + 40, x : x + 60] == 10 * n).all()


def test_captions_fit_under_their_tiles():
    page = sheet([TILE, TILE], 2, ["12 +0.10 m", "15"])
    assert page.shape[0] > 40 + 2 * GAP + 10
    dark = page[40 + GAP :].min(axis=(0, 2)) < 150
    assert not dark[60 + GAP - 2 : 60 + 2 * GAP].any()
    assert dark[:60].any()
    assert dark[70:].any()


def test_a_long_header_is_broken_into_lines():
    header = "time runs from left to right and then row by row"
    lines = module._wrapped(header, 100, 12)
    assert " ".join(lines) == header
    assert len(lines) > 2
    assert max(font(12).getlength(line) for line in lines) <= 100
    one, several = sheet([TILE] * 8, 8, header=header), sheet([TILE] * 2, 2, header=header)
    assert several.shape[0] > one.shape[0] > sheet([TILE], 1).shape[0]


def test_what_makes_no_sheet_is_refused():
    with pytest.raises(ValueError, match="of one size"):
        sheet([TILE, TILE[:20]], 2)
    with pytest.raises(ValueError, match="columns: expected at least 1"):
        sheet([TILE], 0)
    with pytest.raises(ValueError, match="captions: expected 2 or none, got 1"):
        sheet([TILE, TILE], 2, ["a"])
    tall = np.zeros((13_100, 2, 3), dtype=np.uint8)
    with pytest.raises(InputError, match="at most 65000 pixels a side, got 10 x 65524"):
        sheet([tall] * 5, 1)
    with pytest.raises(InputError, match=r"ending in .png, .jpg, .jpeg, got 'a.tiff'"):
        picture_format(Path("a.tiff"))
