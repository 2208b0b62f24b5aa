"""The release folder: written whole or not at all, and read without leaving it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import stat
from pathlib import Path

from corpus.problems import InputError, Problem
from exports.records import RELEASE_KIND
from exports.stimuli import STIMULI
from exports.tables import parse_object

MANIFEST = "manifest.json"
FILES = (
    "README.md",
    "agreement.json",
    "decisions.jsonl",
    "excluded.jsonl",
    "items.jsonl",
    "items.parquet",
    "labels.jsonl",
    "labels.parquet",
    "schema.json",
    "studies.json",
)
"""Files of every release, the manifest left out."""
LINEAGE = "lineage.jsonl"
"""File of the versions of items, in releases of benchmarks that have it."""
MAX_FILE_BYTES = 1_000_000_000
"""Largest file that is read; a release holds text, so more than this is no release."""
MAX_MANIFEST_BYTES = 1_000_000


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes, hex."""
    return hashlib.sha256(data).hexdigest()


def check_target(out: Path) -> None:
    """Refuse a target that holds anything but a previous release.

    Raises:
        InputError: ``out`` is a file, or a folder with other files, the first of which is named,
            or cannot be looked into.
    """
    try:
        if not out.exists():
            return
        if not out.is_dir():
            raise InputError("expected a folder to write the release to, got a file", file=str(out))
        found = sorted(os.listdir(out))
    except OSError as error:
        raise InputError(f"cannot be looked into: {error.strerror}", file=str(out)) from error
    if not found:
        return
    foreign = [name for name in found if name not in (*FILES, LINEAGE, STIMULI, MANIFEST)]
    if foreign or not _is_release(out):
        what = f"one that holds {foreign[0]!r}" if foreign else "one with other files"
        raise InputError(
            f"expected a new or empty folder or a previous release, got {what}", file=str(out)
        )


def write_release(out: Path, files: dict[str, bytes]) -> None:
    """Write all files beside the target, then put them in its place in one move.

    Args:
        out: Target folder; a previous release there is replaced.
        files: Content by file name.

    Raises:
        InputError: The target may not be replaced or cannot be written.
    """
    target = Path(os.path.realpath(out))
    check_target(target)
    mark = secrets.token_hex(4)
    fresh = target.with_name(f".{target.name}.new-{mark}")
    old = target.with_name(f".{target.name}.old-{mark}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.mkdir()
        for name, data in files.items():
            (fresh / name).write_bytes(data)
        if target.exists():
            target.rename(old)
        try:
            fresh.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    except OSError as error:
        raise InputError(
            f"cannot write the release: {error.strerror or error}", file=str(out)
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        # Only the earlier release is left here, and only once the new one has taken its place.
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)


def read_file(folder: Path, name: str, limit: int = MAX_FILE_BYTES) -> bytes | Problem:
    """Read one file of a folder without following links or waiting on pipes.

    Args:
        folder: The release.
        name: Plain file name.
        limit: Most bytes that are read.

    Returns:
        Its bytes, or what is wrong with it.
    """
    path = folder / name
    try:
        info = path.lstat()
    except FileNotFoundError:
        return Problem(file=name, reason="missing")
    except OSError as error:
        return Problem(file=name, reason=f"cannot be read: {error.strerror}")
    if stat.S_ISLNK(info.st_mode):
        return Problem(file=name, reason="expected a file, got a symbolic link")
    if not stat.S_ISREG(info.st_mode):
        return Problem(file=name, reason="expected a file, got a folder or device")
    if info.st_size > limit:
        return Problem(file=name, reason=f"{info.st_size} bytes, at most {limit} expected")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        return Problem(file=name, reason=f"cannot be read: {error.strerror}")


def _is_release(folder: Path) -> bool:
    data = read_file(folder, MANIFEST, MAX_MANIFEST_BYTES)
    if isinstance(data, Problem):
        return False
    with contextlib.suppress(ValueError):
        return parse_object(data.decode("utf-8"), MANIFEST).get("kind") == RELEASE_KIND
    return False
