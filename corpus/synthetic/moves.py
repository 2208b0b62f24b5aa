"""The catalogue of travel: ways to get about and to turn, and how people say it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from corpus.synthetic import gaits
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
    "hops": "hopping",
    "lunges": "lunging",
    "claps": "clapping",
    "throws": "throwing",
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


def say(*phrases: str) -> tuple[Phrase, ...]:
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
        say(
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
        say(
            "walks forward slowly",
            "walks ahead at a slow pace",
        ),
    )


def walk_fast(steps: int = 6) -> Move:
    """Walk forward with long quick steps."""
    return Move(
        _labelled("walk", lambda p: gaits.straight(p, steps, p.vary(0.76), gaits.BRISK), "forward"),
        say(
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
        say(
            "walks backward",
            "steps backwards several times",
            "backs up",
        ),
    )


def run(steps: int = 8) -> Move:
    """Run forward."""
    return Move(
        _labelled("run", lambda p: gaits.run(p, steps, p.vary(0.95), gaits.RUN), "forward"),
        say(
            "runs forward",
            "runs straight ahead",
        ),
    )


def jog(steps: int = 6) -> Move:
    """Jog forward."""
    return Move(
        _labelled("jog", lambda p: gaits.run(p, steps, p.vary(0.7), gaits.JOG), "forward"),
        say("jogs forward", "jogs straight ahead"),
    )


def march(steps: int = 6) -> Move:
    """March in place."""
    return Move(
        _labelled("march", lambda p: gaits.march(p, steps)),
        say(
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
        say(
            f"walks in a {turning} circle",
            f"walks {turning} in a small circle",
        ),
    )


def curve(way: str) -> Move:
    """Walk a quarter of a circle."""
    return Move(
        _labelled("walk", lambda p: gaits.circle(p, way, 1.6, 0.25, 0.55, gaits.WALK), way),
        say(
            f"walks forward while curving to the {way}",
            f"walks in a curve to {{poss}} {way}",
        ),
    )


def turn(way: str, degrees: float = 90.0) -> Move:
    """Turn in place."""
    return Move(
        _labelled("turn", lambda p: gaits.pivot(p, way, float(np.radians(degrees))), way),
        say(
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
        say(
            f"turns around to the {way}",
            f"turns around over {{poss}} {way} shoulder",
        ),
    )


def step_aside(way: str, steps: int = 1) -> Move:
    """Step sideways."""
    said = (
        say(
            f"steps to the {way}",
            f"takes a step to {{poss}} {way}",
        )
        if steps == 1
        else say(
            f"sidesteps to the {way}",
            f"takes a few side steps to the {way}",
        )
    )
    return Move(_labelled("step", lambda p: gaits.sidestep(p, way, steps, p.vary(0.42)), way), said)
