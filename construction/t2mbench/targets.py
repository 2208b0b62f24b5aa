"""Targets read from prompts by rule: displacement, velocity, yaw, one joint from another.

T2MBench 3.3.3 has a language model read them and people verify all of them. The rules read plain
sentences and say why they leave the others alone; a language model may then try. A quantity that
the formulas of C.2 do not measure (repetitions, the bend of one joint, a jump that comes down
again) is none. The word lists and the reading are ours.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast

from pydantic import ValidationError

from benchmarks.t2mbench import (
    DIRECTIONS,
    BodyPartOffset,
    Direction,
    Joint,
    RootRotation,
    RootTranslation,
    RootVelocity,
    Target,
    Vector,
)
from construction.t2mbench.quantities import Quantity, find_quantities, plain_numbers

RULE = "t2mbench.targets/1"
"""Name and version of the rules."""

Outcome = Literal["targets", "unread", "not_applicable"]


class Reading(NamedTuple):
    """What a text asks for."""

    outcome: Outcome
    """``targets``; ``unread``: there is a number that the rules cannot place; ``not_applicable``:
    it asks for nothing that C.2 measures."""
    targets: tuple[Target, ...]
    """The targets; empty unless the outcome is ``targets``."""
    code: str
    """Short stable name of the reason; empty for targets."""
    reason: str
    """The reason in one line; empty for targets."""


_PARTS: dict[str, tuple[str, bool]] = {
    "hand": ("wrist", True), "wrist": ("wrist", True), "palm": ("wrist", True),
    "fist": ("wrist", True), "elbow": ("elbow", True), "shoulder": ("shoulder", True),
    "knee": ("knee", True), "ankle": ("ankle", True), "heel": ("ankle", True),
    "foot": ("foot", True), "toes": ("foot", True), "hip": ("hip", True),
    "head": ("head", False), "neck": ("neck", False), "chest": ("spine3", False),
    "waist": ("pelvis", False), "pelvis": ("pelvis", False), "hips": ("pelvis", False),
}  # fmt: skip
"""Joint of a part, and whether it has a side; a hand is its wrist, SMPL's 22 joints end there."""

_PART = r"(?:(left|right) (hand|wrist|palm|fist|elbow|shoulder|knee|ankle|heel|foot|toes|hip)" + (
    r"|(head|neck|chest|waist|pelvis|hips))\b"
)
_RELATIONS: tuple[tuple[str, Direction], ...] = (
    (r"in front|forward|ahead", "forward"),
    (r"behind|in back|backward", "backward"),
    (r"above|over|higher than|up", "up"),
    (r"below|beneath|under|lower than|down", "down"),
    (r"(?:to the )?left", "left"),
    (r"(?:to the )?right", "right"),
)
_WAYS: tuple[tuple[str, Direction], ...] = (
    (r"forwards?|ahead", "forward"),
    (r"backwards?", "backward"),
    (r"(?:to (?:the|their|his|her|its) )?left(?:wards?)?(?: side)?", "left"),
    (r"(?:to (?:the|their|his|her|its) )?right(?:wards?)?(?: side)?", "right"),
    (r"upwards?|up", "up"),
    (r"downwards?|down", "down"),
)
_ORDER = r"\b(?:then|next|after|afterwards?|before|followed by|finally|first|second)\b|;"
_VAGUE = r"\b(?:at least|at most|more than|less than|between|up to|or)\b"
_PATH = (
    r"\b(?:circles?|radius|arcs?|squares?|zigzag|loops?|diagonal(?:ly)?|spiral|triangle|"
    r"return(?:s|ing)?|back to)\b"
)
_BESIDE = 12
"""Most characters between a distance and its direction."""
_VERTICAL = r"\b(?:jump|hop|leap)(?:s|ing)?\b"
_BENDS = r"\b(?:bend|bends|bending|flex|flexes|knees?|elbows?|torso|head|arms?|legs?|hips?|trunk)\b"


def read_targets(text: str, category: str) -> Reading:
    """Read the targets of a prompt by rule.

    Args:
        text: The prompt; English, numbers as digits or words.
        category: ``numerical``, ``whole_body`` or ``body_part``; only the last one is read as one
            joint from another.

    Returns:
        Targets, or why there are none. Directions are the person's own at the first frame;
        ``clockwise``, seen from above, is a turn to the right (ours).

    >>> read_targets("A person moves 2.8 meters backward.", "whole_body").targets
    (RootTranslation(kind='root_translation', displacement_m=(0.0, 0.0, -2.8)),)
    >>> read_targets("A person jumps 3 times.", "numerical").code
    'counts'
    """
    low = plain_numbers(" ".join(text.lower().split()).rstrip("."))
    found = find_quantities(low)
    measured = [one for one in found if one.kind != "time"]
    if not measured:
        if re.search(r"\d", low):
            return _none("counts", "it counts repetitions, steps or seconds; C.2 measures none")
        return _none("no_number", "it names no number")
    if why := re.search(_VAGUE, low):
        return _unread("range", f"one number was expected, got {why.group()!r}")
    if re.search(r"\b(?:not|never|without|n't)\b", low):
        return _unread("negated", "it says what is not to be done")
    try:
        if category == "body_part":
            return _body_part(low, measured)
        return _root(low, found, measured)
    except ValidationError as error:
        return _unread("out_of_range", error.errors()[0]["msg"])


def _root(low: str, found: list[Quantity], measured: list[Quantity]) -> Reading:
    if len(measured) > 1 and re.search(_ORDER, low):
        return _unread("several_steps", "several measured steps, one after the other")
    if (path := re.search(_PATH, low)) is not None:
        return _unread("path", f"the way is no straight line: {path.group()!r}")
    kinds = {one.kind for one in measured}
    if "turn_rate" in kinds:
        return _none("turn_rate", "a speed of turning; C.2 measures the angle turned")
    if "angle" in kinds:
        if len(measured) > 1:
            return _unread("several", "an angle and another measure")
        return _rotation(low, measured[0])
    if re.search(_PART, low):
        return _unread("one_part", "a part of the body moves, and not from another one")
    targets: list[Target] = []
    distances = [one for one in measured if one.kind == "distance"]
    speeds = [one for one in measured if one.kind == "speed"]
    if distances:
        reading = _translation(low, distances)
        if reading.outcome != "targets":
            return reading
        targets += reading.targets
    if len(speeds) > 1:
        return _unread("several", "two speeds")
    if speeds:
        ways = {way for _, _, way in _ways(low)}
        if len(ways) != 1:
            told = ", ".join(sorted(ways)) or "none"
            return _unread("direction", f"one direction of the speed was expected, got {told}")
        seconds = [one.value for one in found if one.kind == "time"]
        if len(seconds) > 1:
            return _unread("several", "two durations")
        way = ways.pop()
        if way in ("up", "down"):
            return _unread("vertical", "the root's speed up or down is not kept to the end")
        targets.append(
            RootVelocity(
                direction=way, speed_m_s=speeds[0].value, duration_s=seconds[0] if seconds else None
            )
        )
    return Reading("targets", tuple(targets), "", "")


def _rotation(low: str, angle: Quantity) -> Reading:
    if (part := re.search(_BENDS, low)) is not None:
        return _none(
            "joint_angle", f"an angle of a part ({part.group()}); C.2 measures the root's yaw"
        )
    if not re.search(r"\b(?:turn|rotat|spin|pivot|face|twirl|swivel)", low):
        return _unread("no_turn", "an angle, but no turn")
    sides = {side for _, _, side in _ways(low) if side in ("left", "right")}
    sides |= {"left"} if re.search(r"\b(?:counter-?|anti-?)clockwise\b", low) else set()
    sides |= {"right"} if re.search(r"(?<!counter)(?<!anti)(?<!-)\bclockwise\b", low) else set()
    if not sides and angle.value % 360 == 180:
        # Half a turn ends the same way round by either side.
        sides = {"left"}
    if len(sides) != 1:
        told = ", ".join(sorted(sides)) or "none"
        return _unread("direction", f"one side to turn to was expected, got {told}")
    sign = 1 if sides == {"left"} else -1
    return Reading("targets", (RootRotation(yaw_deg=sign * angle.value),), "", "")


def _translation(low: str, distances: list[Quantity]) -> Reading:
    ways = _ways(low)
    total: dict[int, float] = {}
    used = set()
    for one in distances:
        gaps = [
            (max(start - one.end, one.start - end), (start, end, way)) for start, end, way in ways
        ]
        near = [(gap, way) for gap, way in gaps if gap <= _BESIDE]
        if not near and len(ways) == len(distances) == 1:
            near = gaps
        if not near:
            return _unread("direction", "a distance without a direction beside it")
        chosen = min(near)[1]
        used.add(chosen)
        way = chosen[2]
        if way in ("up", "down") and re.search(_VERTICAL, low):
            return _none("jump", "a jump is down again at the end; C.2 looks at the end only")
        axis, length = _along(way, one.value)
        if axis in total:
            return _unread("several", "two distances along one axis")
        total[axis] = length
    if len(used) != len(ways):
        return _unread("direction", "a direction without a distance")
    target = RootTranslation(displacement_m=_vector(total))
    return Reading("targets", (target,), "", "")


def _body_part(low: str, measured: list[Quantity]) -> Reading:
    if re.search(_ORDER, low):
        return _unread("several_steps", "several steps, one after the other")
    if {one.kind for one in measured} != {"distance"}:
        return _unread("unit", "a distance was expected")
    parts = [(m.start(), m.end(), _joint(m)) for m in re.finditer(_PART, low)]
    before = [joint for start, _, joint in parts if start < measured[0].start]
    after = [joint for start, _, joint in parts if start >= measured[-1].end]
    if len(before) != 1 or len(after) != 1 or len(parts) != 2:
        told = ", ".join(joint for _, _, joint in parts) or "none"
        return _unread("parts", f"one part, a distance and another part were expected, got {told}")
    total: dict[int, float] = {}
    for one in measured:
        rest = low[one.end :]
        way = next((w for words, w in _RELATIONS if re.match(rf" *(?:{words})\b", rest)), None)
        if way is None:
            return _unread("relation", f"'in front of', 'above' … was expected after {one.text!r}")
        axis, length = _along(way, one.value)
        if axis in total:
            return _unread("several", "two distances along one axis")
        total[axis] = length
    offset = BodyPartOffset(base=after[0], target=before[0], offset_m=_vector(total))
    return Reading("targets", (offset,), "", "")


def _joint(match: re.Match[str]) -> Joint:
    side, sided, middle = match.groups()
    joint, _ = _PARTS[sided or middle]
    return cast("Joint", f"{side}_{joint}" if side else joint)


def _ways(low: str) -> list[tuple[int, int, Direction]]:
    """Return start, end and direction of every word of direction, in order."""
    found = [
        (match.start(), match.end(), way)
        for words, way in _WAYS
        for match in re.finditer(rf"\b(?:{words})\b", low)
    ]
    return sorted(found)


def _along(way: Direction, length: float) -> tuple[int, float]:
    """Return the axis of a direction and the signed length along it."""
    axis = next(place for place, value in enumerate(DIRECTIONS[way]) if value)
    return axis, length * DIRECTIONS[way][axis]


def _vector(total: dict[int, float]) -> Vector:
    return cast("Vector", tuple(round(total.get(axis, 0.0), 6) for axis in range(3)))


def _none(code: str, reason: str) -> Reading:
    return Reading("not_applicable", (), code, reason)


def _unread(code: str, reason: str) -> Reading:
    return Reading("unread", (), code, reason)
