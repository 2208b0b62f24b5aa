"""Checking a release that came from anywhere: its files, then what they say."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from corpus.problems import InputError, Problem
from exports.consistency import content_problems
from exports.folder import MANIFEST, MAX_MANIFEST_BYTES, read_file, sha256
from exports.layouts import ALL_FILES, files_of
from exports.records import Manifest
from exports.stimuli import STIMULI
from exports.tables import parse_object


def verify_release(folder: Path, *, tool_version: str | None = None) -> list[Problem]:
    """Check a release folder. Nothing outside it is read, links are not followed.

    First every file is held against the manifest; what the files say is checked when all of them
    are as they were written: JSONL against Parquet, counts, ids against content, labels against
    items, and decisions and agreement by computing them again.

    Args:
        folder: The release.
        tool_version: Version of this program. Where another version wrote the release, values of
            agreement are compared and their intervals are not, for another version may resample
            otherwise. None compares intervals in any case.

    Returns:
        One problem for each thing that is wrong, each naming its file; empty when all is well.

    Raises:
        InputError: There is no folder, or no manifest in it: not a release.
    """
    try:
        if not folder.is_dir():
            what = "a file" if folder.exists() else "nothing"
            raise InputError(f"expected a release folder, got {what}", file=str(folder))
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"cannot be looked into: {error.strerror}", file=str(folder)) from error
    if MANIFEST not in names:
        raise InputError(f"no release here: {MANIFEST} is missing", file=str(folder))
    manifest = _read_manifest(folder)
    known = ALL_FILES if isinstance(manifest, Problem) else _files(manifest)
    foreign = [
        Problem(file=name, reason="not part of the release")
        for name in names
        if name not in (*known, MANIFEST)
    ]
    found = (
        [manifest] if isinstance(manifest, Problem) else _problems(folder, manifest, tool_version)
    )
    problems = [*found, *foreign]
    return [Problem(file=printable(p.file), reason=printable(p.reason)) for p in problems]


def _problems(folder: Path, manifest: Manifest, tool_version: str | None) -> list[Problem]:
    data, broken = _read_files(folder, manifest)
    problems = [*_listing_problems(manifest), *broken]
    intervals = tool_version in (None, manifest.tool.version)
    return problems or content_problems(manifest, data, intervals=intervals)


def printable(text: str) -> str:
    r"""Write text from outside so that it can be printed on one line.

    >>> printable("a\nb")
    'a\\nb'
    """
    safe = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in safe)


def _read_manifest(folder: Path) -> Manifest | Problem:
    data = read_file(folder, MANIFEST, MAX_MANIFEST_BYTES)
    if isinstance(data, Problem):
        return data
    try:
        return Manifest.model_validate(parse_object(data.decode("utf-8"), "whole file"))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return Problem(file=MANIFEST, reason=f"{place}: {first['msg']}")
    except ValueError as error:
        return Problem(file=MANIFEST, reason=str(error))


def _files(manifest: Manifest) -> tuple[str, ...]:
    listed = any(entry.file == STIMULI for entry in manifest.files)
    return files_of(manifest.benchmark, stimuli=listed)


def _listing_problems(manifest: Manifest) -> list[Problem]:
    files = _files(manifest)
    listed = [entry.file for entry in manifest.files]
    problems = [
        Problem(file=MANIFEST, reason=f"lists {name!r}, which no release has")
        for name in sorted(set(listed) - set(files))
    ]
    problems += [
        Problem(file=MANIFEST, reason=f"lists {name} {listed.count(name)} times")
        for name in files
        if listed.count(name) > 1
    ]
    problems += [
        Problem(file=MANIFEST, reason=f"does not list {name}")
        for name in files
        if name not in listed
    ]
    return problems


def _read_files(folder: Path, manifest: Manifest) -> tuple[dict[str, bytes], list[Problem]]:
    data: dict[str, bytes] = {}
    problems: list[Problem] = []
    for entry in manifest.files:
        # Only names that a release has are ever opened, whatever the manifest lists.
        if entry.file not in _files(manifest):
            continue
        content = read_file(folder, entry.file)
        if isinstance(content, Problem):
            problems.append(content)
        elif len(content) != entry.size:
            reason = f"size differs: {entry.size} bytes in the manifest, {len(content)} here"
            problems.append(Problem(file=entry.file, reason=reason))
        elif (found := sha256(content)) != entry.sha256:
            reason = f"SHA-256 differs: {entry.sha256[:64]} in the manifest, {found} here"
            problems.append(Problem(file=entry.file, reason=reason))
        else:
            data[entry.file] = content
    return data, problems
