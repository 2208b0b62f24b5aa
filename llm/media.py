"""Pictures and videos that go along with a question, known by their hash, read when sent."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchmarks.items import Frozen
from corpus.problems import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Source = bytes | Path

_MAGIC: tuple[tuple[bytes, int, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"WEBP", 8, "image/webp"),
    (b"ftyp", 4, "video/mp4"),
)
_MAX_BYTES = 50_000_000


class Media(Frozen):
    """One picture or video. Equal content has equal ``sha256``, wherever it lies."""

    sha256: str
    """SHA-256 of the bytes, hex; what records and the cache know of it."""
    mime: str
    """``image/png``, ``image/jpeg``, ``image/webp`` or ``video/mp4``."""
    label: str
    """Words sent before it, e.g. ``Frame 2 of 8, t = 0.50 s``; empty for none."""
    detail: Literal["auto", "low", "high"] = "auto"
    """How closely the model should look, where the endpoint knows the difference."""
    path: Path | None = None
    """File it is read from when sent; null where ``data`` holds it."""
    data: bytes | None = None
    """The bytes themselves; null where ``path`` leads to them."""

    def data_url(self) -> str:
        """Return the content as a ``data:`` URL.

        Raises:
            InputError: The file is gone or no longer what was hashed.
        """
        raw = self.data if self.data is not None else _read(self.path)
        if hashlib.sha256(raw).hexdigest() != self.sha256:
            raise InputError("the file changed since the run began", file=str(self.path))
        return f"data:{self.mime};base64,{base64.b64encode(raw).decode('ascii')}"


def frames(
    pictures: Iterable[tuple[float, Source]],
    detail: Literal["auto", "low", "high"] = "auto",
) -> tuple[Media, ...]:
    """Make the ordered frames of one clip, each with its place and time.

    Args:
        pictures: Time in seconds from the clip's start and the encoded picture (bytes or file).
        detail: How closely the model should look.

    Returns:
        The frames with labels ``Frame k of n, t = s.ss s``.

    Raises:
        ValueError: Times do not rise from zero upward.
        InputError: A file that cannot be read or is no PNG, JPEG or WebP.
    """
    listed = list(pictures)
    times = [seconds for seconds, _ in listed]
    if any(not 0 <= t < float("inf") for t in times) or any(
        later <= earlier for earlier, later in zip(times, times[1:], strict=False)
    ):
        raise ValueError(f"pictures: expected rising times from 0 s, got {times}")
    return tuple(
        _media(source, f"Frame {k} of {len(listed)}, t = {seconds:.2f} s", "image/", detail)
        for k, (seconds, source) in enumerate(listed, start=1)
    )


def picture(
    source: Source, label: str = "", detail: Literal["auto", "low", "high"] = "auto"
) -> Media:
    """Make a single picture, e.g. a strip of keyframes.

    Args:
        source: Encoded picture, or its file.
        label: Words sent before it.
        detail: How closely the model should look.

    Returns:
        The picture.

    Raises:
        InputError: It cannot be read or is no PNG, JPEG or WebP.
    """
    return _media(source, label, "image/", detail)


def video(source: Source, label: str = "") -> Media:
    """Make a whole video; sent only where ``LlmSettings.video_url`` says the server takes it.

    Args:
        source: MP4 bytes, or the file.
        label: Words sent before it.

    Returns:
        The video.

    Raises:
        InputError: It cannot be read or is no MP4.
    """
    return _media(source, label, "video/", "auto")


def encode_frame(pixels: NDArray[np.uint8]) -> bytes:
    """Encode a rendered frame as PNG, the same bytes for the same pixels.

    Args:
        pixels: RGB, (H, W, 3) uint8.

    Returns:
        The PNG file's bytes.

    Raises:
        ValueError: Another shape or type.
    """
    from PIL import Image

    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype.name != "uint8":
        raise ValueError(
            f"pixels: expected (H, W, 3) uint8, got {pixels.shape} {pixels.dtype.name}"
        )
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format="PNG")
    return out.getvalue()


def media_hashes(media: Sequence[Media]) -> dict[str, str]:
    """Return the hashes by position, ``0000`` first, for provenance."""
    return {f"{index:04d}": part.sha256 for index, part in enumerate(media)}


def _media(source: Source, label: str, kind: str, detail: Literal["auto", "low", "high"]) -> Media:
    raw = source if isinstance(source, bytes) else _read(source)
    name = "the given bytes" if isinstance(source, bytes) else str(source)
    mime = next((m for magic, at, m in _MAGIC if raw[at : at + len(magic)] == magic), "")
    if not mime.startswith(kind):
        expected = "a PNG, JPEG or WebP picture" if kind == "image/" else "an MP4 video"
        raise InputError(f"expected {expected}, got {mime or 'something else'}", file=name)
    held = isinstance(source, bytes)
    return Media(
        sha256=hashlib.sha256(raw).hexdigest(),
        mime=mime,
        label=label,
        detail=detail,
        path=None if held else Path(str(source)),
        data=raw if held else None,
    )


def _read(path: Path | None) -> bytes:
    if path is None:
        raise ValueError("media: neither path nor data is given")
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"expected at most {_MAX_BYTES} bytes", file=str(path))
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
