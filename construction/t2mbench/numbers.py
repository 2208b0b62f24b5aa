"""Prompts of the Accuracy dimension by template: counts, root targets and body-part targets."""

from __future__ import annotations

import random
from typing import NamedTuple

from construction.t2mbench.moves import SIDES


class _Reach(NamedTuple):
    """A distance between two parts that a body can have."""

    part: str
    """What is held, ``{s}`` its side."""
    base: str
    """What it is held from."""
    where: tuple[str, ...]
    """Directions it may be held in."""
    least: int
    """Least distance, centimetres."""
    most: int
    """Greatest distance, centimetres."""


_ACROSS = ("to the left of", "to the right of")
_REACHES = (
    _Reach("{s} hand", "head", ("in front of",), 15, 50),
    _Reach("{s} hand", "head", ("above",), 10, 30),
    _Reach("{s} hand", "chest", ("in front of",), 20, 50),
    _Reach("{s} hand", "pelvis", ("in front of", "behind"), 15, 40),
    _Reach("{s} hand", "{s} shoulder", ("in front of", "above"), 20, 50),
    _Reach("{s} hand", "{s} knee", ("above", "in front of"), 5, 30),
    _Reach("{s} hand", "neck", ("in front of",), 15, 45),
    _Reach("{s} elbow", "{s} shoulder", ("in front of", "above"), 5, 25),
    _Reach("{s} knee", "{o} knee", ("in front of", "above"), 10, 40),
    _Reach("{s} foot", "{o} foot", ("in front of", "behind", "above"), 10, 60),
    _Reach("left foot", "right foot", ("to the left of",), 20, 80),
    _Reach("right hand", "head", ("to the right of",), 20, 55),
    _Reach("left hand", "head", ("to the left of",), 20, 55),
    _Reach("right hand", "left hand", ("to the right of", "above"), 10, 60),
    _Reach("left hand", "right hand", ("in front of", "above"), 10, 50),
)
_KEEPS = ("keeps the", "holds the", "moves the", "brings the")

_COUNTED = (
    "raises the {s} arm overhead and lowers the {s} arm again {n} times",
    "bends both knees into a squat and stands up again {n} times",
    "jumps straight up with both feet {n} times",
    "hops forward on the {s} foot {n} times",
    "kicks the {s} foot forward at knee height {n} times",
    "punches the {s} fist straight forward {n} times",
    "brings both hands together in front of the chest {n} times",
    "circles the {s} arm backward around the {s} shoulder {n} times",
    "lifts the {s} knee to hip height {n} times",
    "turns the head to the {s} and back to the front {n} times",
    "leans the torso to the {s} and straightens up again {n} times",
    "stands on the {s} leg and holds the {o} knee at hip height for {t} seconds",
    "lifts both arms out to the sides and holds both arms at shoulder height for {t} seconds",
    "takes {n} steps forward with both arms overhead and {m} steps backward with both arms down",
    "takes {n} steps to the {s} and lifts the {o} arm overhead {m} times",
    "punches forward with the left fist {n} times, then with the right fist {m} times",
)
_WALKS = ("walks", "moves", "steps", "shuffles")


def numerical(draw: random.Random) -> str:
    """Return a prompt that counts repetitions, steps or seconds."""
    n, m = draw.randint(2, 9), draw.randint(2, 9)
    return "A person " + _filled(draw.choice(_COUNTED), draw, n=n, m=m, t=draw.randint(2, 12)) + "."


def whole_body(draw: random.Random) -> str:
    """Return a prompt that names a displacement, a velocity or an angle of the whole body."""
    kind = draw.choice(("translation", "velocity", "rotation"))
    if kind == "rotation":
        degrees = draw.randrange(20, 275, 5)
        verb = draw.choice(("turns", "rotates the whole body", "turns in place"))
        return f"A person {verb} to the {draw.choice(SIDES)} by {degrees} degrees."
    if kind == "velocity":
        way = draw.choice(("forward", "forward", "backward"))
        tenths = draw.randint(5, 25 if way == "forward" else 12)
        over = draw.choice(("", f" for {draw.randint(2, 6)} seconds"))
        verb = "runs" if tenths > 20 else "walks"
        return f"A person {verb} {way} at {_metres(tenths / 10)} per second{over}."
    way = draw.choice(("forward", "backward", "to the left", "to the right"))
    metres = draw.randint(5, 50 if way == "forward" else 30) / 10
    verb = draw.choice(_WALKS)
    if way in ("forward", "backward") and draw.random() < 0.25:
        aside = draw.randint(5, 20) / 10
        side = draw.choice(SIDES)
        return f"A person {verb} {_metres(metres)} {way} and {_metres(aside)} to the {side}."
    return f"A person {verb} {_metres(metres)} {way}."


def body_part(draw: random.Random) -> str:
    """Return a prompt that names where one part of the body is held from another."""
    reach = draw.choice(_REACHES)
    distance = draw.randint(reach.least, reach.most)
    where = draw.choice(reach.where)
    keeps = draw.choice(_KEEPS)
    words = f"A person {keeps} {reach.part} {distance} cm {where} the {reach.base}."
    return _filled(words, draw)


def _metres(value: float) -> str:
    return f"{value:g} meter" if value == 1 else f"{value:g} meters"


def _filled(words: str, draw: random.Random, **numbers: int) -> str:
    side = draw.choice(SIDES)
    return words.format(s=side, o=SIDES[side == "left"], **numbers)
