"""The script of the demo corpus: which clips there are, and how captions are put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corpus.synthetic import acts as a
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
        Scene("squat", (a.squat(),)),
        Scene("crouch", (a.crouch(),)),
        Scene("bow", (a.bow(),)),
        Scene("jump", (a.jump(),)),
        Scene("jump_forward", (a.jump_forward(),)),
        Scene("raise_both_arms", (a.raise_arms(),)),
        Scene("spread_arms", (a.raise_arms("side"),)),
        Scene("stretch", (a.stretch(),)),
        Scene("clap", (a.clap(),)),
        Scene("clap_then_bow", (a.clap(), a.bow())),
        Scene("sit_stand", (a.sit(), a.stand())),
        Scene("walk_then_jump", (m.walk(3), a.jump())),
        Scene("run_then_jump", (m.run(6), a.jump_forward())),
        Scene("squat_then_jump", (a.squat(), a.jump())),
        Scene("jump_then_squat", (a.jump(), a.squat())),
        Scene("bow_then_walk", (a.bow(), m.walk(3))),
        Scene("walk_then_bow", (m.walk(3), a.bow())),
        Scene("crouch_jump_stretch", (a.crouch(0.35), a.jump(), a.stretch())),
        Scene("walk_then_walk_back", (m.walk(3), m.walk_back(3))),
    ]
    result += _pair("kick_SIDE", [a.kick(left)], [a.kick(right)])
    result += _pair("punch_SIDE", [a.punch(left)], [a.punch(right)])
    result += _pair("wave_SIDE", [a.wave(left)], [a.wave(right)])
    result += _pair("raise_SIDE_arm", [a.raise_arm(left)], [a.raise_arm(right)])
    result += _pair("hold_SIDE_arm_out", [a.raise_arm_side(left)], [a.raise_arm_side(right)])
    result += _pair("raise_SIDE_knee", [a.knee(left)], [a.knee(right)])
    result += _pair("hop_SIDE", [a.hop(left)], [a.hop(right)])
    result += _pair("lunge_SIDE", [a.lunge(left)], [a.lunge(right)])
    result += _pair("throw_SIDE", [a.throw(left)], [a.throw(right)])
    result += _pair("punch_SIDE_twice", [a.punch(left, 2)], [a.punch(right, 2)], 30.0)
    result += _pair("turn_SIDE", [m.turn(left)], [m.turn(right)])
    result += _pair("turn_around_SIDE", [m.turn_around(left)], [m.turn_around(right)])
    result += _pair("circle_SIDE", [m.circle(left)], [m.circle(right)])
    result += _pair("curve_SIDE", [m.curve(left)], [m.curve(right)])
    result += _pair("step_SIDE", [m.step_aside(left)], [m.step_aside(right)])
    result += _pair("sidestep_SIDE", [m.step_aside(left, 3)], [m.step_aside(right, 3)])
    result += _pair(
        "walk_then_kick_SIDE", [m.walk(3), a.kick(left)], [m.walk(3), a.kick(right)], 20.0
    )
    result += _pair("turn_SIDE_then_walk", [m.turn(left), m.walk(3)], [m.turn(right), m.walk(3)])
    result += _pair("walk_then_turn_SIDE", [m.walk(3), m.turn(left)], [m.walk(3), m.turn(right)])
    result += _pair("kick_SIDE_then_bow", [a.kick(left), a.bow()], [a.kick(right), a.bow()])
    result += _pair("wave_SIDE_then_sit", [a.wave(left), a.sit()], [a.wave(right), a.sit()])
    result += _pair(
        "punch_SIDE_then_kick", [a.punch(left), a.kick(right)], [a.punch(right), a.kick(left)]
    )
    result += _pair(
        "step_SIDE_then_raise_arm",
        [m.step_aside(left), a.raise_arm(right)],
        [m.step_aside(right), a.raise_arm(left)],
    )
    result += _pair(
        "raise_SIDE_arm_then_squat", [a.raise_arm(left), a.squat()], [a.raise_arm(right), a.squat()]
    )
    result += _pair(
        "raise_SIDE_arm_kick_wave",
        [a.raise_arm(left), a.kick(right), a.wave(left, 2)],
        [a.raise_arm(right), a.kick(left), a.wave(right, 2)],
    )
    result += _pair(
        "lunge_SIDE_then_punch",
        [a.lunge(left), a.punch(right)],
        [a.lunge(right), a.punch(left)],
        -25.0,
    )
    return result
