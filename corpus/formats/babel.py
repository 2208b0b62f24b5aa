"""BABEL annotations (Punnakkal et al. 2021): action labels of AMASS sequences, with their times.

The official release is one JSON file for each split: an object by sequence id whose values name
the AMASS file (``feat_p``), its duration (``dur``), labels of the whole sequence (``seq_ann``) and
labels of stretches of it (``frame_ann``). The ``extra`` files hold lists of annotations by several
people (``seq_anns``, ``frame_anns``) instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.items import Frozen
from corpus.formats.source import clean_caption, read_text
from corpus.problems import InputError, Problem

SPLITS = ("train", "val", "test", "extra_train", "extra_val")
"""Files of the official release, without ending, in the order they are read."""

PAST_END_S = 0.25
"""Seconds a segment may reach past the stated duration before it is refused (ours)."""

MOST_SIGNS = 500
"""Most signs of a label; a longer one is refused (ours)."""

_A_DAY_S = 86_400


class Segment(Frozen):
    """One label of BABEL and when it holds."""

    label: str
    """Processed label (``proc_label``), lower case; the raw label where there is none."""
    raw: str
    """Label as the annotator wrote it."""
    categories: tuple[str, ...] = ()
    """Action categories (``act_cat``); empty where the file has none, as for the test split."""
    start: float
    """Seconds from the start of the AMASS sequence."""
    end: float
    """Seconds from the start of the AMASS sequence, after ``start``."""
    timed: bool = True
    """False for a label of the whole sequence that stands beside others: when it holds is open."""


class BabelSequence(Frozen):
    """One AMASS sequence with its labels."""

    sid: str
    """BABEL's id of the sequence."""
    split: str
    """Name of the file without ending: ``train``, ``val`` …"""
    file: str
    """The file, for messages."""
    amass: str
    """Key of the AMASS sequence, see ``amass_key``."""
    duration: float
    """Seconds."""
    segments: tuple[Segment, ...]
    """Labels by start, then end, then label."""


def amass_key(path: str) -> str:
    """Reduce the path of an AMASS sequence to what BABEL and HumanML3D agree on.

    BABEL writes the name of the archive before AMASS's own folders, HumanML3D ``./pose_data``;
    both are dropped, and so are the ending, ``_poses``, case, and spaces, which some copies of
    AMASS replace by underscores.

    Args:
        path: ``feat_p`` of BABEL or ``source_path`` of HumanML3D.

    Returns:
        The key, e.g. ``kit/3/kick_high_left02``.

    Raises:
        ValueError: Fewer than two folders above the file.

    >>> amass_key("KIT/KIT/3/kick_high_left02_poses.npz")
    'kit/3/kick_high_left02'
    >>> amass_key("./pose_data/KIT/3/kick_high_left02_poses.npy")
    'kit/3/kick_high_left02'
    """
    parts = [part for part in path.strip().replace("\\", "/").split("/") if part not in ("", ".")]
    if len(parts) < 3:
        raise ValueError(f"expected archive/dataset/…/file, got {path!r:.120}")
    name = "/".join(parts[1:]).casefold().replace(" ", "_")
    for ending in (".npz", ".npy"):
        name = name.removesuffix(ending)
    for ending in ("_poses", "_stageii"):
        name = name.removesuffix(ending)
    return name


def read_babel(path: Path) -> tuple[list[BabelSequence], list[Problem]]:
    """Read a BABEL file, or every split of a BABEL folder.

    A sequence whose id or AMASS file was there before is refused, and so is a segment with times
    that cannot be; the rest goes on. Segments that overlap are kept: BABEL labels what happens at
    the same time so. Where several people annotated a sequence, the first one's labels are taken
    (ours). Where no stretch is labelled, the labels of the whole sequence hold from its start to
    its end.

    Args:
        path: One JSON file, or the folder that holds ``train.json``, ``val.json`` …

    Returns:
        Sequences in the order of the files, and what was refused.

    Raises:
        InputError: No such path, no BABEL file in the folder, or a single file that is no JSON
            object.
    """
    if path.is_dir():
        files = [file for name in SPLITS if (file := path / f"{name}.json").is_file()]
        if not files:
            names = ", ".join(f"{name}.json" for name in SPLITS)
            raise InputError(f"expected one of {names}, found none", file=str(path))
    elif path.is_file():
        files = [path]
    else:
        raise InputError("no such file or folder", file=str(path))
    sequences: list[BabelSequence] = []
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for file in files:
        try:
            entries = _entries(file)
        except InputError as error:
            if len(files) == 1:
                raise
            problems.append(error.problem)
            continue
        for sid, entry in entries:
            try:
                sequence, refused = _sequence(sid, entry, file)
                for key in (f"sid {sid}", sequence.amass):
                    if key in seen:
                        raise InputError(f"{key} was given before, in {seen[key]}")
                    seen[key] = f"{file.name}, sid {sid}"
            except InputError as error:
                problems.append(
                    Problem(file=str(file), place=f"sid {sid}", reason=error.problem.reason)
                )
                continue
            sequences.append(sequence)
            problems += refused
    return sequences, problems


def _entries(file: Path) -> list[tuple[str, Any]]:
    """Return the members of the file's object, double names included."""
    text = read_text(file)
    try:
        found = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        raise InputError(f"expected JSON, got: {error}", file=str(file)) from error
    except RecursionError as error:
        raise InputError("expected BABEL, got JSON nested too deep", file=str(file)) from error
    except ValueError as error:
        # Python reads no whole number of more than 4300 digits.
        raise InputError("expected BABEL, got a number too long", file=str(file)) from error
    if not isinstance(found, _Pairs):
        got = type(found).__name__
        raise InputError(f"expected a JSON object by sequence id, got {got}", file=str(file))
    return [(_printable(sid), entry) for sid, entry in found.pairs]


def _printable(text: str) -> str:
    """Return a text that can be written as UTF-8: JSON may hold halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode("utf-8")


class _Pairs(dict[str, Any]):
    """A JSON object that remembers names that stand twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _sequence(sid: str, entry: Any, file: Path) -> tuple[BabelSequence, list[Problem]]:
    if not isinstance(entry, Mapping):
        raise InputError(f"expected an object, got {type(entry).__name__}")
    path = entry.get("feat_p")
    if not isinstance(path, str):
        raise InputError(f"feat_p: expected the path of an AMASS file, got {path!r:.40}")
    try:
        key = amass_key(_printable(path))
    except ValueError as error:
        raise InputError(f"feat_p: {error}") from error
    duration = _seconds(entry, "dur")
    if duration == 0:
        raise InputError("dur: expected seconds above 0, got 0")
    problems: list[Problem] = []
    timed = _labels(entry, "frame_ann")
    rows = timed or _labels(entry, "seq_ann")
    segments: list[Segment] = []
    for number, row in enumerate(rows):
        place = f"sid {sid}, {'frame_ann' if timed else 'seq_ann'} label {number}"
        try:
            segments.append(_segment(row, duration, bool(timed), alone=len(rows) == 1))
        except InputError as error:
            problems.append(Problem(file=str(file), place=place, reason=error.problem.reason))
    distinct = sorted(set(segments), key=lambda s: (s.start, s.end, s.label, s.raw))
    sequence = BabelSequence(
        sid=sid,
        split=file.stem,
        file=str(file),
        amass=key,
        duration=duration,
        segments=tuple(distinct),
    )
    return sequence, problems


def _labels(entry: Mapping[str, Any], kind: str) -> list[Any]:
    """Return the labels of ``frame_ann`` or ``seq_ann``, of the first person who gave any."""
    several = entry.get(f"{kind}s")
    found = several if isinstance(several, list) else [entry.get(kind)]
    for annotation in found:
        if annotation is None:
            continue
        labels = annotation.get("labels") if isinstance(annotation, Mapping) else annotation
        if labels is None:
            continue
        if not isinstance(labels, list):
            got = type(labels).__name__
            raise InputError(f"{kind}: expected an object with a list of labels, got {got}")
        if labels:
            return labels
    return []


def _segment(row: Any, duration: float, timed: bool, *, alone: bool) -> Segment:
    if not isinstance(row, Mapping):
        raise InputError(f"expected a label object, got {type(row).__name__}")
    raw = row.get("raw_label")
    label = row.get("proc_label") or raw
    if not isinstance(label, str):
        raise InputError(f"proc_label: expected text, got {label!r:.40}")
    if len(label) > MOST_SIGNS:
        raise InputError(f"proc_label: expected at most {MOST_SIGNS} signs, got {len(label)}")
    label = clean_caption(label)
    categories = row.get("act_cat") or []
    if not isinstance(categories, list) or not all(isinstance(name, str) for name in categories):
        raise InputError(f"act_cat: expected a list of names, got {categories!r:.40}")
    first, last = (_seconds(row, "start_t"), _seconds(row, "end_t")) if timed else (0.0, duration)
    if last <= first:
        raise InputError(f"expected start_t before end_t, got {first:g} and {last:g} s")
    if last > duration + PAST_END_S:
        raise InputError(f"expected end_t within the {duration:g} s of the motion, got {last:g} s")
    return Segment(
        label=label.casefold(),
        raw=clean_caption(raw[:MOST_SIGNS]) if isinstance(raw, str) and raw.strip() else label,
        categories=tuple(_printable(name) for name in categories),
        start=first,
        end=min(last, duration),
        timed=timed or alone,
    )


def _seconds(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _A_DAY_S:
        raise InputError(f"{name}: expected seconds from 0 up, got {value!r:.40}")
    return float(value)
