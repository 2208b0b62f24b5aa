"""The moves that prompts are built of where no language model is: clauses by category."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import NamedTuple

from construction.text.tables import table

TABLE = "t2m_moves"
"""Table of the moves."""

SIDES = ("left", "right")


class Move(NamedTuple):
    """One clause, with its side left open."""

    name: str
    """What it is called, e.g. ``front kick``."""
    clause: str
    """Third person singular without a subject; ``{s}`` is one side, ``{o}`` the other."""


@cache
def moves(category: str) -> tuple[Move, ...]:
    """Return the moves of a category of ``CATEGORIES`` or of ``core``.

    ``multi_stage`` takes those of core, dance, martial arts and explosive: what its prompts are
    about is the order. Categories that are not made of moves have none.
    """
    if category == "multi_stage":
        return tuple(
            m for name in ("core", "martial_arts", "explosive", "dance") for m in moves(name)
        )
    lines = str(table(TABLE).get(category, "")).strip().splitlines()
    pairs = (line.partition(": ") for line in lines if ": " in line)
    return tuple(Move(name, clause) for name, _, clause in pairs)


def limb_phrases(limb: str) -> tuple[str, ...]:
    """Return what an ``arm`` or a ``leg`` may do, without subject; ``middles`` are clauses."""
    return tuple(str(table(TABLE)[limb]).strip().splitlines())


def sided(clause: str, draw: random.Random) -> str:
    """Fill in the side of a clause; clauses without one stay as they are."""
    side = draw.choice(SIDES)
    return clause.replace("{s}", side).replace("{o}", SIDES[side == "left"])


def find_moves(seed: str, category: str) -> tuple[Move, ...]:
    """Return the moves of a category that a seed's words speak of.

    Args:
        seed: Words of a seed, e.g. ``a spinning back fist``.
        category: Key of ``CATEGORIES``.

    Returns:
        Moves whose whole name stands in the seed, the longest names first; else those that share
        a word of their name with it; else none.
    """
    low = " ".join(re.findall(r"[a-z]+", seed.lower()))
    known = moves(category)
    whole = [move for move in known if re.search(rf"\b{re.escape(move.name)}\b", low)]
    if whole:
        return tuple(sorted(whole, key=lambda move: (-len(move.name), move.name)))
    said = set(low.split()) - {"a", "the", "to", "of", "and", "arm", "turn", "step"}
    return tuple(move for move in known if said & set(move.name.split()))
