"""Small pictures of rendered clips, as data URIs, for pages that must open anywhere."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

FRAMES = 3
"""Frames side by side."""
HEIGHT = 72
"""Pixels of each frame."""
SECONDS = 20
"""A picture that takes longer is left out."""


def strip_uri(video: Path, seconds: float) -> str | None:
    """Put frames of a clip side by side into one small JPEG.

    Args:
        video: The clip.
        seconds: Its duration.

    Returns:
        A ``data:`` URI of a few kilobytes; None where the file is missing or cannot be read.
    """
    import imageio_ffmpeg

    if not video.is_file() or seconds <= 0:
        return None
    pictures = f"fps={FRAMES / seconds:.6f},scale=-2:{HEIGHT},tile={FRAMES}x1"
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", str(video), "-vf", pictures,
        "-frames:v", "1", "-q:v", "6", "-f", "image2pipe", "-c:v", "mjpeg", "-",
    ]  # fmt: skip
    try:
        made = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    if not made.stdout:
        return None
    return "data:image/jpeg;base64," + base64.b64encode(made.stdout).decode("ascii")
