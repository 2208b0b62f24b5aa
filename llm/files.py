"""Files of the caches: read where they are there, written whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from corpus.problems import InputError


def read_kept(path: Path) -> bytes | None:
    """Return what a cache keeps in a file; None where there is none.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = f"the cache cannot be read: {error.strerror}"
        raise InputError(reason, file=str(path)) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file of a cache: all of it or, when the process dies midway, nothing.

    Raises:
        InputError: The folder cannot be written to.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(data)
        fresh.replace(path)
    except OSError as error:
        reason = f"the cache cannot be written: {error.strerror}"
        raise InputError(reason, file=str(path)) from error
