"""The catalogue: what the person can do, on which side, and how people say it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from corpus.synthetic import gaits, gestures
from corpus.synthetic.body import SIDES
from corpus.synthetic.performer import Performer


class Phrase(NamedTuple):
    """One way to say a move; ``{poss}`` stands for their, his."""

    finite: str
    """Third person singular, e.g. ``kicks with the left leg``."""
    gerund: str
    """E.g. ``kicking with the left leg``."""


class Move(NamedTuple):
    """One thing to do and the ways to say it."""

    perform: Callable[[Performer], None]
    phrases: tuple[Phrase, ...]
    noun: str | None = None
    """What one "does", e.g. ``a kick with the left leg``."""


_GERUNDS = {
    "backs": "backing",
    "bows": "bowing",
    "crouches": "crouching",
    "does": "doing",
    "holds": "holding",
    "jogs": "jogging",
    "jumps": "jumping",
    "kicks": "kicking",
    "lifts": "lifting",
    "makes": "making",
    "marches": "marching",
    "punches": "punching",
    "punches{again}": "punching{again}",
    "raises": "raising",
    "runs": "running",
    "sidesteps": "sidestepping",
    "sits": "sitting",
    "spreads": "spreading",
    "squats": "squatting",
    "stands": "standing",
    "steps": "stepping",
    "stretches": "stretching",
    "takes": "taking",
    "turns": "turning",
    "walks": "walking",
    "waves": "waving",
}  # fmt: skip


def _say(*phrases: str) -> tuple[Phrase, ...]:
    """Add the gerund to phrases that begin with a verb in the third person."""
    result = []
    for phrase in phrases:
        verb, _, rest = phrase.partition(" ")
        result.append(Phrase(phrase, f"{_GERUNDS[verb]} {rest}".strip()))
    return tuple(result)


def _labelled(
    action: str, go: Callable[[Performer], None], direction: str | None = None
) -> Callable[[Performer], None]:
    def perform(p: Performer) -> None:
        start = p.t
        go(p)
        p.label(action, start, None, direction)

    return perform


def walk(steps: int = 4, first: str = "right") -> Move:
    """Walk forward at an ordinary pace."""
    return Move(
        _labelled(
            "walk", lambda p: gaits.straight(p, steps, p.vary(0.64), gaits.WALK, first), "forward"
        ),
        _say(
            "walks forward",
            "walks straight ahead",
            "takes several steps forward",
        ),
    )


def walk_slowly(steps: int = 4) -> Move:
    """Walk forward slowly with short steps."""
    return Move(
        _labelled(
            "walk", lambda p: gaits.straight(p, steps, p.vary(0.45), gaits.SLOW, "left"), "forward"
        ),
        _say(
            "walks forward slowly",
            "walks ahead at a slow pace",
        ),
    )


def walk_fast(steps: int = 6) -> Move:
    """Walk forward with long quick steps."""
    return Move(
        _labelled("walk", lambda p: gaits.straight(p, steps, p.vary(0.76), gaits.BRISK), "forward"),
        _say(
            "walks forward quickly",
            "walks briskly ahead",
        ),
    )


def walk_back(steps: int = 4) -> Move:
    """Walk backward."""
    return Move(
        _labelled(
            "walk", lambda p: gaits.straight(p, steps, -p.vary(0.42), gaits.BACK), "backward"
        ),
        _say(
            "walks backward",
            "steps backwards several times",
            "backs up",
        ),
    )


def run(steps: int = 8) -> Move:
    """Run forward."""
    return Move(
        _labelled("run", lambda p: gaits.run(p, steps, p.vary(0.95), gaits.RUN), "forward"),
        _say(
            "runs forward",
            "runs straight ahead",
        ),
    )


def jog(steps: int = 6) -> Move:
    """Jog forward."""
    return Move(
        _labelled("jog", lambda p: gaits.run(p, steps, p.vary(0.7), gaits.JOG), "forward"),
        _say("jogs forward", "jogs straight ahead"),
    )


def march(steps: int = 6) -> Move:
    """March in place."""
    return Move(
        _labelled("march", lambda p: gaits.march(p, steps)),
        _say(
            "marches in place",
            "marches on the spot with high knees",
        ),
    )


def circle(way: str) -> Move:
    """Walk in a circle toward the left (counterclockwise from above) or the right."""
    turning = "counterclockwise" if way == "left" else "clockwise"
    return Move(
        _labelled(
            "walk", lambda p: gaits.circle(p, way, 0.75, 0.92, p.vary(0.5), gaits.WALK), turning
        ),
        _say(
            f"walks in a {turning} circle",
            f"walks {turning} in a small circle",
        ),
    )


def curve(way: str) -> Move:
    """Walk a quarter of a circle."""
    return Move(
        _labelled("walk", lambda p: gaits.circle(p, way, 1.6, 0.25, 0.55, gaits.WALK), way),
        _say(
            f"walks forward while curving to the {way}",
            f"walks in a curve to {{poss}} {way}",
        ),
    )


def turn(way: str, degrees: float = 90.0) -> Move:
    """Turn in place."""
    return Move(
        _labelled("turn", lambda p: gaits.pivot(p, way, float(np.radians(degrees))), way),
        _say(
            f"turns to the {way}",
            f"turns {way}",
            f"makes a {way} turn",
        ),
        f"a {way} turn",
    )


def turn_around(way: str) -> Move:
    """Turn in place by half a turn."""
    return Move(
        _labelled("turn", lambda p: gaits.pivot(p, way, float(np.pi)), way),
        _say(
            f"turns around to the {way}",
            f"turns around over {{poss}} {way} shoulder",
        ),
    )


def step_aside(way: str, steps: int = 1) -> Move:
    """Step sideways."""
    said = (
        _say(
            f"steps to the {way}",
            f"takes a step to {{poss}} {way}",
        )
        if steps == 1
        else _say(
            f"sidesteps to the {way}",
            f"takes a few side steps to the {way}",
        )
    )
    return Move(_labelled("step", lambda p: gaits.sidestep(p, way, steps, p.vary(0.42)), way), said)


def kick(side: str) -> Move:
    """Kick forward."""
    return Move(
        lambda p: gestures.kick(p, side),
        _say(
            f"kicks with the {side} leg",
            f"kicks {{poss}} {side} foot forward",
            f"does a front kick with {{poss}} {side} leg",
        ),
        f"a {side} kick",
    )


def punch(side: str, times: int = 1) -> Move:
    """Punch forward."""
    again = " twice" if times == 2 else ""
    return Move(
        lambda p: gestures.punch(p, side, times),
        _say(
            f"punches{again} with the {side} hand",
            f"punches forward{again} with {{poss}} {side} fist",
        ),
        f"a {side} punch" if times == 1 else None,
    )


def wave(side: str) -> Move:
    """Wave a hand."""
    return Move(
        lambda p: gestures.wave(p, side),
        _say(
            f"waves with the {side} hand",
            f"waves {{poss}} {side} hand",
        ),
    )


def raise_arm(side: str) -> Move:
    """Raise one arm overhead."""
    return Move(
        lambda p: gestures.raise_arm(p, (side,)),
        _say(
            f"raises the {side} arm",
            f"raises {{poss}} {side} hand above {{poss}} head",
            f"lifts {{poss}} {side} arm up",
        ),
    )


def raise_arm_side(side: str) -> Move:
    """Raise one arm sideways to shoulder height."""
    return Move(
        lambda p: gestures.raise_arm(p, (side,), "side"),
        _say(
            f"raises {{poss}} {side} arm out to the side",
            f"holds the {side} arm out to the side",
        ),
    )


def raise_arms(way: str = "front") -> Move:
    """Raise both arms."""
    said = (
        _say(
            "raises both arms",
            "raises both hands above {poss} head",
        )
        if way == "front"
        else _say(
            "raises both arms out to the sides",
            "spreads {poss} arms wide",
        )
    )
    return Move(lambda p: gestures.raise_arm(p, SIDES, way), said)


def knee(side: str) -> Move:
    """Raise a knee."""
    return Move(
        lambda p: gestures.knee_raise(p, side),
        _say(
            f"raises the {side} knee",
            f"lifts {{poss}} {side} knee to hip height",
        ),
    )


def squat() -> Move:
    """Squat."""
    return Move(gestures.squat, _say("squats", "does a squat"), "a squat")


def crouch() -> Move:
    """Crouch."""
    return Move(gestures.crouch, _say("crouches", "crouches down low"))


def bow() -> Move:
    """Bow."""
    return Move(
        gestures.bow,
        _say("bows", "bows deeply", "takes a bow"),
        "a bow",
    )


def sit() -> Move:
    """Sit down."""
    return Move(gestures.sit, _say("sits down", "takes a seat"))


def stand() -> Move:
    """Stand up from sitting."""
    return Move(gestures.stand, _say("stands up", "stands back up"))


def jump() -> Move:
    """Jump in place."""
    return Move(
        gestures.jump,
        _say("jumps", "jumps up", "jumps in place"),
        "a jump",
    )


def jump_forward() -> Move:
    """Jump forward."""
    return Move(
        lambda p: gestures.jump(p, p.vary(0.7)),
        _say(
            "jumps forward",
            "jumps forward with both feet",
        ),
        "a jump forward",
    )


def stretch() -> Move:
    """Stretch upward."""
    return Move(
        gestures.stretch,
        _say(
            "stretches {poss} arms up",
            "stretches both arms overhead",
        ),
    )
