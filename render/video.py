"""Frames to an H.264 file through ffmpeg, whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

PIPE_BYTES = 2**20
"""Size of the pipe to ffmpeg: the most that Linux gives to every user."""
PART = ".part-"
"""First letters of a file that is not finished."""
ENCODER_THREADS = 4
"""Fixed, because x264's output depends on it."""


class EncodingError(RuntimeError):
    """ffmpeg did not finish; the message says why."""


@contextlib.contextmanager
def video_writer(out: Path, size: int, fps: float) -> Iterator[IO[bytes]]:
    """Open a pipe that takes raw I420 frames and becomes an MP4 when the block ends well.

    H.264, yuv420p, BT.709 limited range, constant frame rate, index at the front. The file is
    written under a temporary name beside ``out`` and moved there at the end; after any failure
    nothing is left and an older ``out`` is untouched.

    Args:
        out: The MP4 to write; its folder is made.
        size: Width and height in pixels, even.
        fps: Frames per second.

    Raises:
        EncodingError: ffmpeg could not be started, was killed, or the disk is full.
    """
    import imageio_ffmpeg

    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=PART, suffix=".mp4", dir=out.parent)
    os.close(handle)
    part = Path(name)
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-loglevel", "error", "-y",
        "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{size}x{size}", "-r", f"{fps:g}",
        "-color_range", "tv", "-colorspace", "bt709", "-color_primaries", "bt709",
        "-color_trc", "bt709", "-i", "-", "-an", "-c:v", "libx264", "-preset", "veryfast",
        "-crf", "20", "-threads", str(ENCODER_THREADS), "-pix_fmt", "yuv420p",
        "-g", str(max(1, round(fps))), "-fps_mode", "cfr", "-color_range", "tv",
        "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
        "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact",
        "-movflags", "+faststart", str(part),
    ]  # fmt: skip
    try:
        with tempfile.TemporaryFile() as complaints:
            try:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=complaints
                )
            except OSError as error:
                raise EncodingError(f"ffmpeg could not be started: {error}") from error
            if process.stdin is None:
                raise EncodingError("ffmpeg gave no pipe to write to")
            _widen(process.stdin)
            try:
                yield process.stdin
                process.stdin.close()
                code = process.wait()
            except BrokenPipeError:
                code = process.wait() or -1
            except BaseException:
                process.kill()
                process.wait()
                raise
            finally:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            if code != 0:
                complaints.seek(0)
                lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
                why = f"; it said: {lines[-1]}" if lines else ""
                raise EncodingError(f"{out.name}: ffmpeg ended with code {code}{why}")
        part.chmod(0o644)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)


def _widen(pipe: IO[bytes]) -> None:
    """Let a whole frame fit into the pipe where the system can, so that drawing need not wait."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
