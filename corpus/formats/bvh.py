"""BVH (Biovision hierarchy): parse any hierarchy, pose it, map named joints onto SMPL's 22."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.formats.bvh_names import as_smpl22
from corpus.formats.source import ReadOptions, Scan, Source, chosen_rate, read_text
from corpus.frames import into_frame
from corpus.kinematics import forward
from corpus.motion import Motion
from corpus.problems import InputError

MAX_DEPTH = 256
"""Deepest hierarchy read (ours)."""

_CHANNELS = {
    f"{axis}{kind}": (kind, "XYZ".index(axis))
    for axis in "XYZ"
    for kind in ("position", "rotation")
}
_LOWER = {name.lower(): name for name in _CHANNELS}


class Joint(NamedTuple):
    """One joint of a hierarchy; end sites are left out."""

    name: str
    parent: int
    """Position of the parent, -1 for the root."""
    offset: tuple[float, float, float]
    channels: tuple[str, ...]
    """E.g. ``Xposition``, ``Zrotation``, in file order."""


class Recording(NamedTuple):
    """What a BVH file holds, in its own unit and axes."""

    joints: tuple[Joint, ...]
    frame_time: float
    """Seconds."""
    values: NDArray[np.float64]
    """(T, channels), degrees and units."""


def scan(path: Path) -> Scan:
    """Return the one clip of a file."""
    return Scan([Source(path, path.stem, "bvh")], [])


def load(path: Path, options: ReadOptions) -> Motion:
    """Read a BVH file onto the 22 SMPL joints in metres, Y up.

    Raises:
        InputError: Not BVH, frame count or values that do not fit, a needed joint that no name
            in the file stands for, or a body of no known unit.
    """
    recording = parse(read_text(path), str(path))
    if len(recording.values) < 2:
        raise InputError(f"expected at least 2 frames, got {len(recording.values)}", file=str(path))
    positions = pose(recording)
    names = tuple(joint.name for joint in recording.joints)
    parents = tuple(joint.parent for joint in recording.joints)
    try:
        body, said_names = as_smpl22(names, parents, positions)
    except InputError as error:
        raise InputError(error.problem.reason, file=str(path), place=error.problem.place) from error
    framed = into_frame(
        body,
        "smpl22",
        file=path,
        up=options.up,
        unit=options.unit,
        guesses=("m", "cmu", "cm", "mm"),
        else_unit=None,
    )
    stored = stored_rate(recording)
    fps, said_fps = chosen_rate(options.fps, stored, f"frame time {recording.frame_time:g} s")
    return Motion(
        positions=framed.positions,
        fps=fps,
        source=path.name,
        assumptions=(said_fps, *framed.assumptions, *said_names),
    )


def parse(text: str, file: str) -> Recording:
    """Parse the text of a BVH file.

    Raises:
        InputError: The first thing that is not as the format has it, with its line.
    """
    head, found, body = text.partition("MOTION")
    if not found:
        raise InputError("expected a MOTION section, there is none", file=file)
    joints = _hierarchy(head, file)
    first_line = head.count("\n") + 1
    lines = [(n, line) for n, line in enumerate(body.split("\n"), first_line) if line.strip()]
    count = _header(lines, 0, "Frames:", file)
    frame_time = _header(lines, 1, "Frame Time:", file)
    if count != int(count) or count < 0:
        raise InputError(f"expected a whole number of Frames, got {count:g}", file=file)
    if not 1e-3 <= frame_time < 10:
        raise InputError(f"expected a Frame Time of 0.001 to 10 s, got {frame_time:g}", file=file)
    width = sum(len(joint.channels) for joint in joints)
    rows = lines[2:]
    if len(rows) != count:
        raise InputError(
            f"Frames says {count:g}, {len(rows)} lines of values came", file=file, place="MOTION"
        )
    values = np.empty((len(rows), width))
    for row, (number, line) in enumerate(rows):
        parts = line.split()
        if len(parts) != width:
            raise InputError(
                f"expected {width} values (one per channel), got {len(parts)}",
                file=file,
                place=f"line {number}, frame {row}",
            )
        try:
            values[row] = np.array(parts, dtype=np.float64)
        except ValueError as error:
            bad = next(p for p in parts if not _is_number(p))
            raise InputError(
                f"expected numbers, got {bad[:40]!r}", file=file, place=f"line {number}"
            ) from error
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        raise InputError(
            "expected finite numbers, got NaN or infinity", file=file, place=f"frame {row}"
        )
    return Recording(joints, frame_time, values)


def pose(recording: Recording) -> NDArray[np.float64]:
    """Return the (T, J, 3) world positions of a recording, in its own unit and axes.

    A position channel replaces that component of OFFSET; rotation channels multiply in file
    order, so that ``Zrotation Xrotation Yrotation`` is R = Rz Rx Ry (Meredith & Maddock 2001).
    """
    frames, count = len(recording.values), len(recording.joints)
    rotations = np.broadcast_to(np.eye(3), (frames, count, 3, 3)).copy()
    offsets = np.empty((frames, count, 3))
    column = 0
    for index, joint in enumerate(recording.joints):
        offsets[:, index] = joint.offset
        for channel in joint.channels:
            kind, axis = _CHANNELS[channel]
            if kind == "position":
                offsets[:, index, axis] = recording.values[:, column]
            else:
                turn = _about(axis, np.radians(recording.values[:, column]))
                rotations[:, index] = rotations[:, index] @ turn
            column += 1
    parents = tuple(joint.parent for joint in recording.joints)
    return forward(rotations, offsets, offsets[:, 0], parents)


def _about(axis: int, angle: NDArray[np.float64]) -> NDArray[np.float64]:
    cos, sin = np.cos(angle), np.sin(angle)
    second, third = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((len(angle), 3, 3))
    matrix[:, axis, axis] = 1
    matrix[:, second, second] = matrix[:, third, third] = cos
    matrix[:, third, second] = sin
    matrix[:, second, third] = -sin
    return matrix


def _hierarchy(head: str, file: str) -> tuple[Joint, ...]:
    """Parse the HIERARCHY section; joint names may hold spaces."""
    joints: list[dict[str, Any]] = []
    # One entry per open brace: the joint it belongs to, or None for an end site.
    stack: list[int | None] = []
    pending: int | None = None
    started = False

    def wrong(expected: str, line: str, number: int) -> InputError:
        return InputError(
            f"expected {expected}, got {line[:60]!r}", file=file, place=f"line {number}"
        )

    for number, raw in enumerate(head.split("\n"), 1):
        # A brace may stand on the line of its joint.
        for line in raw.replace("{", "\n{\n").replace("}", "\n}\n").split("\n"):
            words = line.split()
            if not words:
                continue
            word = words[0].upper()
            if not started:
                if word != "HIERARCHY":
                    raise wrong("HIERARCHY", line, number)
                started = True
            elif word in ("ROOT", "JOINT"):
                if (word == "ROOT") != (not joints) or (word == "JOINT" and not stack):
                    raise wrong("one ROOT with every JOINT inside it", line, number)
                parent = stack[-1] if stack else -1
                name = " ".join(words[1:])
                if parent is None or not name:
                    raise wrong("a named JOINT, not inside an End Site", line, number)
                if len(stack) >= MAX_DEPTH:
                    raise wrong(f"at most {MAX_DEPTH} joints below each other", line, number)
                joints.append({"name": name, "parent": parent, "offset": None, "channels": ()})
                pending = len(joints) - 1
            elif word == "END":
                pending = None
            elif word == "{":
                stack.append(pending)
            elif word == "}":
                if not stack:
                    raise wrong("no closing brace here", line, number)
                stack.pop()
            elif word == "OFFSET" and stack:
                if len(words) != 4 or not all(_is_number(w) for w in words[1:]):
                    raise wrong("OFFSET and three numbers", line, number)
                if stack[-1] is not None:
                    joints[stack[-1]]["offset"] = tuple(float(w) for w in words[1:])
            elif word == "CHANNELS" and stack and stack[-1] is not None:
                names = [_LOWER.get(w.lower()) for w in words[2:]]
                if len(words) < 2 or words[1] != str(len(names)) or None in names:
                    raise wrong(
                        "CHANNELS, their number, and as many of Xposition … Zrotation",
                        line,
                        number,
                    )
                joints[stack[-1]]["channels"] = tuple(names)
            else:
                raise wrong("JOINT, End Site, OFFSET, CHANNELS or a brace", line, number)
    if stack or not joints:
        raise InputError(
            f"expected a closed hierarchy, {len(stack)} braces are open at MOTION", file=file
        )
    for joint in joints:
        if joint["offset"] is None:
            raise InputError("expected an OFFSET, there is none", file=file, place=joint["name"])
    return tuple(Joint(**joint) for joint in joints)


def _header(lines: list[tuple[int, str]], index: int, label: str, file: str) -> float:
    number, line = lines[index] if index < len(lines) else (0, "")
    words = line.split()
    wanted = label.split()
    value = words[len(wanted)] if len(words) == len(wanted) + 1 else ""
    if [w.lower() for w in words[: len(wanted)]] != [w.lower() for w in wanted] or not _is_number(
        value
    ):
        raise InputError(
            f"expected '{label} NUMBER', got {line.strip()[:60]!r}",
            file=file,
            place=f"line {number}" if number else "MOTION",
        )
    return float(value)


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def stored_rate(recording: Recording) -> float:
    """Return the whole frame rate a rounded frame time stands for, e.g. 30 for 0.0333333."""
    rate = 1.0 / recording.frame_time
    # Frame times are printed with few digits: 0.008333 s is 120.005 fps.
    return float(round(rate)) if abs(rate - round(rate)) < 2e-3 * rate else rate
