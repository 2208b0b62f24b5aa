"""The script of the demo corpus: which clips there are, and how captions are put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corpus.synthetic import moves as m
from corpus.synthetic.moves import Move


class Scene(NamedTuple):
    """One clip to be made."""

    name: str
    """Unique, in lower case with underscores."""
    moves: tuple[Move, ...]
    heading: float = 0.0
    """Heading at the start, degrees; 0 faces +Z, positive to the left."""


_SUBJECTS = (
    ("a person", "their"), ("a person", "their"), ("the person", "their"), ("someone", "their"),
    ("a man", "his"), ("a person", "their"), ("the figure", "its"),
)  # fmt: skip

_TWO = (
    "{s} {f0} then {f1}.",
    "{s} {f0} before {g1}.",
    "after {g0}, {s} {f1}.",
    "{s} {f0} and then {f1}.",
    "{s} first {f0}, then {f1}.",
    "{s} {f1} after {g0}.",
    "{s} starts by {g0} and ends by {g1}.",
)
_THREE = (
    "{s} {f0}, then {f1}, and finally {f2}.",
    "first {s} {f0}, then {f1}, and finally {f2}.",
    "{s} {f0}, {f1}, and then {f2}.",
    "after {g0}, {s} {f1} and then {f2}.",
)


def captions(moves: Sequence[Move], number: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Write captions for moves done one after another.

    Args:
        moves: One to three moves in the order they are done.
        number: Number of the clip; consecutive clips use different wordings.
        rng: Source of the choice of phrase.

    Returns:
        Two captions, three where more can be said; lower case, each ending in a full stop.
    """
    result: list[str] = []
    wanted = 3 if len(moves) > 1 else min(3, len(moves[0].phrases))
    templates = {1: ("{s} {f0}.",), 2: _TWO, 3: _THREE}[len(moves)]
    offsets = [int(rng.integers(len(move.phrases))) for move in moves]
    for k in range(wanted):
        subject, poss = _SUBJECTS[(number * 3 + k) % len(_SUBJECTS)]
        nouns = [move.noun for move in moves]
        if k == 2 and len(moves) == 2 and all(nouns):
            result.append(f"{subject} does {nouns[0]}, followed by {nouns[1]}.")
            continue
        words = {"s": subject}
        for i, move in enumerate(moves):
            phrase = move.phrases[(offsets[i] + k) % len(move.phrases)]
            words[f"f{i}"] = phrase.finite.format(poss=poss)
            words[f"g{i}"] = phrase.gerund.format(poss=poss)
        result.append(templates[(number * 2 + k) % len(templates)].format(**words))
    return tuple(dict.fromkeys(result))


def _pair(
    name: str, left: Sequence[Move], right: Sequence[Move], heading: float = 0.0
) -> list[Scene]:
    """The same scene to the left and to the right."""
    return [
        Scene(name.replace("SIDE", "left"), tuple(left), heading),
        Scene(name.replace("SIDE", "right"), tuple(right), -heading),
    ]


def scenes() -> list[Scene]:
    """Return the scenes of the demo corpus in order."""
    left, right = "left", "right"
    result = [
        Scene("walk_forward", (m.walk(),)),
        Scene("walk_slowly", (m.walk_slowly(),)),
        Scene("walk_fast", (m.walk_fast(),)),
        Scene("walk_backward", (m.walk_back(),)),
        Scene("run_forward", (m.run(),)),
        Scene("jog_forward", (m.jog(),)),
        Scene("march_in_place", (m.march(),)),
        Scene("squat", (m.squat(),)),
        Scene("crouch", (m.crouch(),)),
        Scene("bow", (m.bow(),)),
        Scene("jump", (m.jump(),)),
        Scene("jump_forward", (m.jump_forward(),)),
        Scene("raise_both_arms", (m.raise_arms(),)),
        Scene("spread_arms", (m.raise_arms("side"),)),
        Scene("stretch", (m.stretch(),)),
        Scene("sit_stand", (m.sit(), m.stand())),
        Scene("walk_then_jump", (m.walk(3), m.jump())),
        Scene("run_then_jump", (m.run(6), m.jump_forward())),
        Scene("squat_then_jump", (m.squat(), m.jump())),
        Scene("jump_then_squat", (m.jump(), m.squat())),
        Scene("bow_then_walk", (m.bow(), m.walk(3))),
        Scene("walk_then_bow", (m.walk(3), m.bow())),
        Scene("crouch_jump_stretch", (m.crouch(), m.jump(), m.stretch())),
        Scene("walk_then_walk_back", (m.walk(3), m.walk_back(3))),
    ]
    result += _pair("kick_SIDE", [m.kick(left)], [m.kick(right)])
    result += _pair("punch_SIDE", [m.punch(left)], [m.punch(right)])
    result += _pair("wave_SIDE", [m.wave(left)], [m.wave(right)])
    result += _pair("raise_SIDE_arm", [m.raise_arm(left)], [m.raise_arm(right)])
    result += _pair("hold_SIDE_arm_out", [m.raise_arm_side(left)], [m.raise_arm_side(right)])
    result += _pair("raise_SIDE_knee", [m.knee(left)], [m.knee(right)])
    result += _pair("turn_SIDE", [m.turn(left)], [m.turn(right)])
    result += _pair("turn_around_SIDE", [m.turn_around(left)], [m.turn_around(right)])
    result += _pair("circle_SIDE", [m.circle(left)], [m.circle(right)])
    result += _pair("curve_SIDE", [m.curve(left)], [m.curve(right)])
    result += _pair("step_SIDE", [m.step_aside(left)], [m.step_aside(right)])
    result += _pair("sidestep_SIDE", [m.step_aside(left, 3)], [m.step_aside(right, 3)])
    result += _pair(
        "walk_then_kick_SIDE", [m.walk(3), m.kick(left)], [m.walk(3), m.kick(right)], 20.0
    )
    result += _pair("turn_SIDE_then_walk", [m.turn(left), m.walk(3)], [m.turn(right), m.walk(3)])
    result += _pair("walk_then_turn_SIDE", [m.walk(3), m.turn(left)], [m.walk(3), m.turn(right)])
    result += _pair("kick_SIDE_then_bow", [m.kick(left), m.bow()], [m.kick(right), m.bow()])
    result += _pair("wave_SIDE_then_sit", [m.wave(left), m.sit()], [m.wave(right), m.sit()])
    result += _pair(
        "punch_SIDE_then_kick", [m.punch(left), m.kick(right)], [m.punch(right), m.kick(left)]
    )
    result += _pair(
        "step_SIDE_then_raise_arm",
        [m.step_aside(left), m.raise_arm(right)],
        [m.step_aside(right), m.raise_arm(left)],
    )
    result += _pair(
        "raise_SIDE_arm_then_squat", [m.raise_arm(left), m.squat()], [m.raise_arm(right), m.squat()]
    )
    return result
