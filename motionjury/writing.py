"""Files that commands write where the user says."""

from __future__ import annotations

from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a file, making its folder.

    Raises:
        InputError: The place cannot be written.
    """
    from corpus.problems import InputError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
