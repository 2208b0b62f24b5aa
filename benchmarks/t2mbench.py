"""T2MBench: its prompts by dimension and category, the rubric people score with, its targets."""

from __future__ import annotations

import re
from typing import Annotated, Literal, NamedTuple, Self, cast

from pydantic import Field, ValidationError, field_validator, model_validator

from benchmarks.items import SCHEMA_VERSION, Frozen

Length = Literal["long", "short"]
Direction = Literal["left", "right", "up", "down", "forward", "backward"]
Joint = Literal[
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle",
    "right_ankle", "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar",
    "head", "left_shoulder", "right_shoulder", "left_elbow", "right_elbow", "left_wrist",
    "right_wrist",
]  # fmt: skip
"""Joints a body-part target may name: SMPL's 22, in the order of (T, 22, 3) motions."""
Metres = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]
Vector = tuple[Metres, Metres, Metres]
"""Metres to the person's left, up and forward."""

_NUMBER = r"\d{1,6}(?:\.\d{1,9})?"
_WAYS = "left|right|up|down|forward|backward"


class PromptCell(NamedTuple):
    """Planned numbers of prompts of one category (T2MBench 3.1)."""

    dimension: str
    """``dynamics``, ``complexity``, ``interaction`` or ``accuracy``."""
    long: int
    """Prompts of long sequences."""
    short: int
    """Prompts of short sequences."""


CATEGORIES: dict[str, PromptCell] = {
    "dance": PromptCell("dynamics", 50, 50),
    "explosive": PromptCell("dynamics", 25, 50),
    "martial_arts": PromptCell("dynamics", 50, 50),
    "multi_stage": PromptCell("complexity", 50, 50),
    "asymmetric": PromptCell("complexity", 50, 50),
    "balance": PromptCell("complexity", 20, 50),
    "intent": PromptCell("interaction", 50, 50),
    "invisible_object": PromptCell("interaction", 50, 50),
    "numerical": PromptCell("accuracy", 0, 80),
    "whole_body": PromptCell("accuracy", 0, 100),
    "body_part": PromptCell("accuracy", 0, 100),
}
"""Categories with their dimension and counts; 1,025 prompts in all (T2MBench 3.1)."""


class Criterion(NamedTuple):
    """One score of the rubric; higher is better."""

    name: str
    """What it measures."""
    short: str
    """Abbreviation in the paper's tables."""
    top: int
    """Highest score; the lowest is 0."""


RUBRIC: dict[str, Criterion] = {
    "extra_actions": Criterion("Extra Non-Instruction Actions", "ENA", 10),
    "completeness": Criterion("Action Completeness", "AC", 20),
    "order": Criterion("Multi-Stage Order Correctness", "MOC", 10),
    "body_parts": Criterion("Body-Part Understanding", "BPU", 10),
    "plausibility": Criterion("Physical Plausibility", "PP", 10),
}
"""The five scores, 60 points in all (T2MBench 4.2.1)."""

ALIGNED_FROM = 50
"""Total from which a motion counts as aligned; from ``PARTIAL_FROM`` on as partly aligned."""
PARTIAL_FROM = 30
"""Total below which a motion is a mismatch."""


class MotionPrompt(Frozen):
    """A prompt of the benchmark, as its reviewers judge it (T2MBench 3.1)."""

    prompt_id: str = Field(min_length=1)
    """Stable id."""
    text: str = Field(min_length=1)
    """The prompt."""
    category: str
    """Key of ``CATEGORIES``; other values are kept, for prompt sets of one's own."""
    length: Length | None = None
    """Length of the sequence asked for; null where it is not stated."""


TARGET_CATEGORIES = ("numerical", "whole_body", "body_part")
"""Categories whose prompts name numbers that a motion can be measured against (T2MBench 3.3.3)."""

DIRECTIONS: dict[str, Vector] = {
    "left": (1.0, 0.0, 0.0),
    "right": (-1.0, 0.0, 0.0),
    "up": (0.0, 1.0, 0.0),
    "down": (0.0, -1.0, 0.0),
    "forward": (0.0, 0.0, 1.0),
    "backward": (0.0, 0.0, -1.0),
}
"""Unit vectors in the person's own frame at the first frame: (left, up, forward)."""

FRAME = (
    "the person's own frame at the first frame: x to the person's left, y up, z forward; "
    "yaw about y, positive to the left"
)
"""Frame of reference of every target."""


class RootRotation(Frozen):
    """How far the person is to have turned at the evaluation frame (T2MBench C.2)."""

    kind: Literal["root_rotation"] = "root_rotation"
    yaw_deg: float = Field(ge=-3600, le=3600, allow_inf_nan=False)
    """Degrees, left positive; errors are taken modulo 360, so a full turn equals none."""


class RootVelocity(Frozen):
    """How fast the root is to move along a direction (T2MBench C.2)."""

    kind: Literal["root_velocity"] = "root_velocity"
    direction: Direction
    """Key of ``DIRECTIONS``."""
    speed_m_s: float = Field(ge=0.001, le=20, allow_inf_nan=False)
    """Metres per second along the direction."""
    duration_s: float | None = Field(default=None, ge=0.001, le=600, allow_inf_nan=False)
    """Seconds the prompt names; null where it names none, and the evaluated span counts."""


class RootTranslation(Frozen):
    """Where the root is to be at the evaluation frame, from where it began (T2MBench C.2)."""

    kind: Literal["root_translation"] = "root_translation"
    displacement_m: Vector
    """Metres to the left, up and forward; directions the prompt does not name are 0."""


class BodyPartOffset(Frozen):
    """Where one joint is to be from another in the last frames (T2MBench C.2)."""

    kind: Literal["body_part_translation"] = "body_part_translation"
    base: Joint
    """The joint measured from."""
    target: Joint
    """The joint measured."""
    offset_m: Vector
    """Target minus base, metres to the left, up and forward; directions not named are 0."""

    @model_validator(mode="after")
    def _two_joints(self) -> Self:
        if self.base == self.target:
            raise ValueError(f"expected two joints, got {self.base} twice")
        return self


Target = Annotated[
    RootRotation | RootVelocity | RootTranslation | BodyPartOffset, Field(discriminator="kind")
]
"""What a prompt asks for, as a number with its unit and frame."""


UNITS = {"_m": "metres", "_m_s": "metres per second", "_deg": "degrees", "_s": "seconds"}
"""Unit of a field, by the ending of its name."""


class TargetEntry(Frozen):
    """One target of a file, with the prompt it was read from."""

    id: str = Field(min_length=1)
    """Id of the prompt; ``#2`` and so on behind it where one prompt has several targets."""
    prompt: str
    """The prompt's text."""
    target: Target
    """What it asks for."""
    verified: bool
    """Whether people found it to be what the text says."""


class TargetFile(Frozen):
    """``root_move.json`` or ``body_part.json`` (T2MBench 3.3.3), as ``score accuracy`` takes it."""

    schema_version: int = SCHEMA_VERSION
    """Version of this record."""
    frame: str = FRAME
    """Frame of reference of every vector and yaw."""
    units: dict[str, str] = Field(default_factory=lambda: dict(UNITS))
    """Unit by the ending of a field's name."""
    targets: tuple[TargetEntry, ...]
    """The targets, by id."""


class TargetCheck(Frozen):
    """A target read from a prompt, for a person to verify (T2MBench 3.3.3)."""

    prompt_id: str = Field(min_length=1)
    """Id of the prompt; several targets may share it."""
    text: str = Field(min_length=1)
    """The prompt."""
    category: str
    """Key of ``CATEGORIES``."""
    target: str
    """The target as :func:`target_line` writes it, so that a person can put it right."""

    @field_validator("target")
    @classmethod
    def _readable(cls, line: str) -> str:
        return target_line(parse_target(line))


def target_line(target: Target) -> str:
    """Write a target as one line that :func:`parse_target` reads back.

    >>> target_line(RootRotation(yaw_deg=100))
    'root rotation: 100 deg left'
    >>> target_line(RootTranslation(displacement_m=(0, 0, -2.8)))
    'root translation: 2.8 m backward'
    """
    match target:
        case RootRotation():
            side = "right" if target.yaw_deg < 0 else "left"
            return f"root rotation: {_number(abs(target.yaw_deg))} deg {side}"
        case RootVelocity():
            over = "" if target.duration_s is None else f" for {_number(target.duration_s)} s"
            return f"root velocity: {_number(target.speed_m_s)} m/s {target.direction}{over}"
        case RootTranslation():
            return f"root translation: {_offset(target.displacement_m)}"
        case BodyPartOffset():
            return f"body part: {target.target} from {target.base}: {_offset(target.offset_m)}"


def parse_target(line: str) -> Target:
    """Read a line of :func:`target_line`; case and spaces do not matter.

    Args:
        line: ``root rotation: 100 deg left``; ``root velocity: 2 m/s forward for 3 s``;
            ``root translation: 2.8 m backward, 1 m left``; or
            ``body part: right_wrist from head: 0.15 m forward``.

    Returns:
        The target.

    Raises:
        ValueError: It is no such line; the message says what was expected.
    """
    text = " ".join(line.lower().split())
    try:
        if found := re.fullmatch(rf"root rotation: ({_NUMBER}) deg (left|right)", text):
            sign = 1 if found[2] == "left" else -1
            return RootRotation(yaw_deg=sign * float(found[1]))
        speed = rf"root velocity: ({_NUMBER}) m/s ({_WAYS})(?: for ({_NUMBER}) s)?"
        if found := re.fullmatch(speed, text):
            seconds = None if found[3] is None else float(found[3])
            way = cast("Direction", found[2])
            return RootVelocity(direction=way, speed_m_s=float(found[1]), duration_s=seconds)
        if found := re.fullmatch(r"root translation: (.+)", text):
            return RootTranslation(displacement_m=_vector(found[1]))
        if found := re.fullmatch(r"body part: (\w+) from (\w+): (.+)", text):
            joints = {"target": found[1], "base": found[2]}
            return BodyPartOffset.model_validate({**joints, "offset_m": _vector(found[3])})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"target: {where}: {first['msg']}".replace(": : ", ": ")) from None
    raise ValueError(
        f"target: expected e.g. 'root rotation: 90 deg left', 'root velocity: 2 m/s forward', "
        f"'root translation: 1 m left' or 'body part: head from pelvis: 0.5 m up', got {line!r}"
    )


def describe_target(target: Target) -> str:
    """Say a target in a sentence, for whoever verifies it.

    >>> describe_target(parse_target("body part: right_wrist from head: 0.15 m forward"))
    'At the end the right wrist is 15 cm forward of the head.'
    """
    match target:
        case RootRotation():
            side = "right" if target.yaw_deg < 0 else "left"
            return f"At the end the body faces {_number(abs(target.yaw_deg))}° further {side}."
        case RootVelocity():
            over = "" if target.duration_s is None else f" for {_number(target.duration_s)} seconds"
            speed = f"{_number(target.speed_m_s)} metres per second"
            return f"The whole body moves {target.direction} at {speed}{over}."
        case RootTranslation():
            where = _offset(target.displacement_m)
            return f"At the end the whole body is {where} of where it began."
        case BodyPartOffset():
            named = [one.replace("_", " ") for one in (target.target, target.base)]
            where = _offset(target.offset_m, centimetres=True)
            return f"At the end the {named[0]} is {where} of the {named[1]}."


def _vector(text: str) -> Vector:
    total = [0.0, 0.0, 0.0]
    seen: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(rf"({_NUMBER}) m ({_WAYS})", part.strip())
        if found is None:
            raise ValueError(f"target: expected e.g. '2.8 m backward, 1 m left', got {text!r}")
        unit = DIRECTIONS[found[2]]
        axis = next(place for place, one in enumerate(unit) if one)
        if axis in seen:
            raise ValueError(f"target: expected each axis once, got {text!r}")
        seen.add(axis)
        total[axis] = float(found[1]) * unit[axis]
    return (total[0], total[1], total[2])


def _offset(vector: Vector, *, centimetres: bool = False) -> str:
    scale, unit = (100, "cm") if centimetres else (1, "m")
    pairs = (("left", "right"), ("up", "down"), ("forward", "backward"))
    named = [
        f"{_number(abs(value) * scale)} {unit} {ways[value < 0]}"
        for value, ways in zip(vector, pairs, strict=True)
        if round(value * scale, 6)
    ]
    return ", ".join(named) or f"0 {unit} forward"


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")
