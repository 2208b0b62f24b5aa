"""What readers take and give: options, the clips a path holds, captions as the source has them."""

from __future__ import annotations

import math
import re
import unicodedata
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from benchmarks.items import Frozen
from corpus.problems import InputError, Problem

Up = Literal["y", "z"]
Unit = Literal["m", "cm", "mm", "inch", "cmu"]

MAX_TEXT_BYTES = 512 * 2**20
"""Largest text or BVH file read, bytes (ours); a BVH of an hour at 120 fps is about 400 MB."""

_BIDI_CONTROLS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class ReadOptions(Frozen):
    """What the user knows of a file and the file does not say."""

    fps: float | None = Field(default=None, gt=0, le=1000)
    """Frames per second, for formats that do not store it."""
    up: Up | None = None
    """Upward axis of the file; null lets the reader take its format's axis or measure it."""
    unit: Unit | None = None
    """Length unit of the file; see ``corpus.frames.METRES_PER_UNIT``."""

    def given(self) -> dict[str, float | str]:
        """Return the options that were set, for ``Clip.options``."""
        return self.model_dump(exclude_none=True)


class SourceCaption(NamedTuple):
    """One caption before its clip has an id."""

    number: int
    """Running number in the source, refused lines counted, so that ids do not shift."""
    text: str
    span: tuple[float, float] | None = None
    """Seconds; null for the whole clip."""


class Source(NamedTuple):
    """One clip a path holds, found without reading the motion."""

    path: Path
    """File of the motion."""
    name: str
    """Id of the clip within its corpus."""
    format: str
    """Key of ``corpus.formats.registry.FORMATS``."""
    split: str | None = None
    captions: tuple[SourceCaption, ...] = ()
    licence: str = ""
    frames: tuple[int, int] | None = None
    """First frame and the one after the last, where the file holds more than the clip."""


class Scan(NamedTuple):
    """All clips a path holds and what was wrong already."""

    sources: list[Source]
    problems: list[Problem]


def chosen_rate(given: float | None, stored: float, where: str) -> tuple[float, str]:
    """Return the frame rate to use and what to say: what the user gave wins over the file.

    >>> chosen_rate(20.0, 30.0, "fps field")
    (20.0, 'fps 20: as given, the file says 30 (fps field)')
    """
    if given is None:
        return stored, f"fps {stored:g}: {where}"
    if abs(given - stored) <= 1e-3 * stored:
        return given, f"fps {given:g}: as given"
    return given, f"fps {given:g}: as given, the file says {stored:g} ({where})"


def read_text(path: Path) -> str:
    """Read a UTF-8 text file.

    Raises:
        InputError: The file cannot be opened, is too large, or is not UTF-8; the byte position
            is named.
    """
    try:
        if path.stat().st_size > MAX_TEXT_BYTES:
            raise InputError(
                f"expected at most {MAX_TEXT_BYTES} bytes, got {path.stat().st_size}",
                file=str(path),
            )
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"expected UTF-8 text, byte 0x{data[error.start]:02x} is not (Latin-1?)",
            file=str(path),
            place=f"line {line}, byte {error.start}",
        ) from error


def clean_caption(text: str) -> str:
    """Return a caption in Unicode NFC on one line, without control characters.

    Other control characters than NUL and bidirectional overrides become spaces; runs of white
    space become one space. Markup stays as it is: it is text, escaped where it is shown.

    Raises:
        InputError: The caption is empty or holds a NUL.

    >>> clean_caption("  a man  <b>waves</b> ")
    'a man <b>waves</b>'
    """
    if "\x00" in text:
        raise InputError("expected a caption, got text with a NUL character")
    spaced = "".join(
        " " if unicodedata.category(c) in {"Cc", "Cs"} or c in _BIDI_CONTROLS else c for c in text
    )
    cleaned = re.sub(r"\s+", " ", unicodedata.normalize("NFC", spaced)).strip()
    if not cleaned:
        raise InputError("expected a caption, got an empty line")
    return cleaned


def parse_span(start: str, end: str) -> tuple[float, float] | None:
    """Return the seconds of a caption, null where HumanML3D means the whole clip.

    ``0.0#0.0`` and ``nan#nan`` both mean the whole clip (Guo et al. 2022, data loader).

    Raises:
        InputError: Not two numbers, negative, or the end is not after the start.
    """
    try:
        first, last = float(start), float(end)
    except ValueError as error:
        raise InputError(f"expected start and end in seconds, got {start!r} and {end!r}") from error
    first, last = (0.0 if math.isnan(x) else x for x in (first, last))
    if first == 0 and last == 0:
        return None
    if not (0 <= first < last < math.inf):
        raise InputError(f"expected 0 <= start < end in seconds, got {first:g} and {last:g}")
    return first, last
