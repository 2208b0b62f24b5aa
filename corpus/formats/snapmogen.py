"""SnapMoGen folders (Guo et al. 2025): long recordings as BVH, clips as spans of frames, captions.

The layout of the release: ``renamed_bvhs/RECORDING.bvh``, ``all_caption_clean.json`` (by clip id
``RECORDING#start#end``, frames, two lists of captions: ``manual`` and ``gpt``),
``data_split_info/{train,val,test}_ids.txt``. Recordings named ``m_…`` are mirror images.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from corpus.formats.bvh import parse, pose, stored_rate
from corpus.formats.source import (
    ReadOptions,
    Scan,
    Source,
    SourceCaption,
    chosen_rate,
    clean_caption,
    read_text,
)
from corpus.frames import into_frame
from corpus.motion import Motion
from corpus.problems import InputError, Problem
from corpus.skeletons import SNAPMOGEN24

CAPTIONS = "all_caption_clean.json"
MOTIONS = "renamed_bvhs"
SPLITS = "data_split_info"
KINDS = ("manual", "gpt")
"""Kinds of captions in the order they are numbered: written by people, then by a model."""
JOINTS: tuple[str, ...] = (
    "ROOT", "C_spine0001", "C_spine0002", "C_spine0003", "C_neck0001", "C_neck0002", "C_head",
    "L_clavicle", "L_armUpper0001", "L_armLower0001", "L_hand0001", "R_clavicle",
    "R_armUpper0001", "R_armLower0001", "R_hand0001", "C_pelvis0001", "L_legUpper0001",
    "L_legLower0001", "L_foot0001", "L_foot0002", "R_legUpper0001", "R_legLower0001",
    "R_foot0001", "R_foot0002",
)  # fmt: skip
"""Names of the joints of ``SNAPMOGEN24`` in the files, without the ending ``_bind_JNT``."""

_ENDING = "_bind_JNT"


def is_folder(path: Path) -> bool:
    """Return whether a folder has the layout."""
    return (path / CAPTIONS).is_file() and (path / MOTIONS).is_dir()


def scan(path: Path) -> Scan:
    """List the clips of a SnapMoGen folder with captions and splits.

    Args:
        path: The folder that holds ``all_caption_clean.json`` and ``renamed_bvhs``.

    Returns:
        The clips by id. One without its recording, with a malformed id, or with a caption that is
        no text is a problem; the rest goes on.
    """
    problems: list[Problem] = []
    file = path / CAPTIONS
    try:
        table = json.loads(read_text(file))
    except InputError as error:
        return Scan([], [error.problem])
    except (ValueError, RecursionError) as error:
        return Scan([], [Problem(file=str(file), reason=f"expected JSON, got: {error}")])
    if not isinstance(table, dict):
        reason = f"expected an object by clip id, got {type(table).__name__}"
        return Scan([], [Problem(file=str(file), reason=reason)])
    splits = _splits(path / SPLITS, problems)
    sources: list[Source] = []
    for name in sorted({*table, *splits}):
        try:
            recording, span = _clip(name)
            motion = path / MOTIONS / f"{recording}.bvh"
            if not motion.is_file():
                raise InputError(f"expected {MOTIONS}/{recording}.bvh, there is none")
            captions = _captions(table.get(name), name, str(file), problems)
            found = Source(motion, name, "snapmogen", splits.get(name), captions, frames=span)
            sources.append(found)
        except InputError as error:
            reason = error.problem.reason
            problems.append(Problem(file=str(file), place=f"id {name}", reason=reason))
    return Scan(sources, problems)


def load(path: Path, options: ReadOptions) -> Motion:
    """Read a whole recording: 24 joints, metres, Y up, 30 frames a second unless told.

    Raises:
        InputError: Not BVH, or not SnapMoGen's joints.
    """
    # Some hundred clips are spans of one recording.
    return _recording(path, options, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=2)
def _recording(path: Path, options: ReadOptions, changed: int) -> Motion:
    recording = parse(read_text(path), str(path))
    names = [joint.name.removesuffix(_ENDING) for joint in recording.joints]
    lacking = [name for name in JOINTS if name not in names]
    if lacking:
        raise InputError(f"expected SnapMoGen's joints, {lacking[0]} is missing", file=str(path))
    positions = pose(recording)[:, [names.index(name) for name in JOINTS]]
    framed = into_frame(
        positions,
        SNAPMOGEN24.name,
        file=path,
        up=options.up,
        unit=options.unit,
        guesses=("m", "cm", "mm"),
        else_unit=None,
    )
    stored = stored_rate(recording)
    fps, said = chosen_rate(options.fps, stored, f"frame time {recording.frame_time:g} s")
    return Motion(
        positions=np.asarray(framed.positions),
        fps=fps,
        skeleton=SNAPMOGEN24.name,
        source=path.name,
        assumptions=(said, *framed.assumptions),
    )


def _clip(name: str) -> tuple[str, tuple[int, int]]:
    """Take a clip id apart into recording and span of frames."""
    parts = name.split("#")
    if len(parts) != 3 or not parts[0] or not (parts[1].isdecimal() and parts[2].isdecimal()):
        raise InputError(f"expected an id RECORDING#start#end, got {name[:60]!r}")
    start, end = int(parts[1]), int(parts[2])
    if not start < end:
        raise InputError(f"expected a start before the end, got {start} and {end}")
    if Path(parts[0]).name != parts[0]:
        raise InputError(f"expected the name of a recording, got {parts[0][:60]!r}")
    return parts[0], (start, end)


def _captions(
    entry: Any, name: str, file: str, problems: list[Problem]
) -> tuple[SourceCaption, ...]:
    if entry is None:
        return ()
    if not isinstance(entry, dict):
        raise InputError(f"expected lists of captions, got {type(entry).__name__}")
    found: list[SourceCaption] = []
    number = 0
    for kind in KINDS:
        texts = entry.get(kind, [])
        if not isinstance(texts, list):
            raise InputError(f"{kind}: expected a list, got {type(texts).__name__}")
        for text in texts:
            try:
                if not isinstance(text, str):
                    raise InputError(f"expected text, got {type(text).__name__}")
                found.append(SourceCaption(number, clean_caption(text)))
            except InputError as error:
                place = f"id {name}, {kind}, caption {number}"
                problems.append(Problem(file=file, place=place, reason=error.problem.reason))
            number += 1
    return tuple(found)


def _splits(folder: Path, problems: list[Problem]) -> dict[str, str]:
    found: dict[str, str] = {}
    for split in ("train", "val", "test"):
        file = folder / f"{split}_ids.txt"
        if not file.is_file():
            continue
        try:
            names = read_text(file).split()
        except InputError as error:
            problems.append(error.problem)
            continue
        for name in names:
            if found.setdefault(name, split) != split:
                reason = f"expected each id in one split, it is in {found[name]} too"
                problems.append(Problem(file=str(file), place=f"id {name}", reason=reason))
    return found
