"""Prompts without a language model: moves are put together by category and length.

What comes out is plain and passes the Clay Figurine Rule; it lacks the variety that a language
model brings. Provenance says which of the two a prompt comes from.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from benchmarks.t2mbench import Length
from construction.t2mbench.moves import Move, limb_phrases, moves, sided
from construction.t2mbench.numbers import body_part, numerical, whole_body
from construction.text.tables import table

RULE = "t2mbench.grammar/2"
"""Name and version of the rule."""
TABLES = ("t2m_moves", "t2m_clay")
"""Tables its prompts depend on."""

_NUMBERS: dict[str, Callable[[random.Random], str]] = {
    "numerical": numerical,
    "whole_body": whole_body,
    "body_part": body_part,
}
_LONG_MOVES = 3
"""Moves of its own that a long prompt has, the leading one among them."""


def expand(category: str, length: Length, lead: Move | None, draw: random.Random) -> str:
    """Return one candidate; it is still to be checked.

    Args:
        category: Key of ``CATEGORIES``.
        length: ``long`` or ``short``.
        lead: The move the prompt is about; None in categories that are not made of moves.
        draw: Source of every choice.

    Returns:
        The prompt's text.

    Raises:
        ValueError: A category that is made of moves and no move to lead.
    """
    if category in _NUMBERS:
        return _NUMBERS[category](draw)
    if category == "asymmetric":
        return _asymmetric(length, draw)
    if lead is None:
        raise ValueError(f"lead: expected a move for {category}, got none")
    own = [move for move in moves(category) if move.name != lead.name]
    if length == "short":
        return _short(category, lead, own, draw)
    rest = draw.sample(own, min(_LONG_MOVES - 1, len(own)))
    fillers = draw.sample(_core(lead, *rest), 3)
    clauses = [sided(move.clause, draw) for move in (lead, *rest)]
    clauses[1:1] = [sided(fillers[0].clause, draw)]
    clauses += [sided(move.clause, draw) for move in fillers[1:]]
    opening = f"{_capital(_stance(draw))}, a person {clauses[0]}"
    return (
        f"{opening}. {draw.choice(('Next', 'Then'))}, the person {_joined(clauses[1:3])}. "
        f"{draw.choice(('After that', 'Afterwards'))}, the person {_joined(clauses[3:5])}. "
        f"Finally, the person {clauses[5]}."
    )


def _short(category: str, lead: Move, own: Sequence[Move], draw: random.Random) -> str:
    clause = sided(lead.clause, draw)
    fillers = [sided(move.clause, draw) for move in draw.sample(_core(lead), 2)]
    if category == "multi_stage":
        others = [sided(move.clause, draw) for move in draw.sample(list(own), 2)]
        simple = min(others, key=lambda words: len(words.split()))
        return f"A person {fillers[0]}, then {clause}, and finally {simple}."
    form = draw.randrange(4)
    if form == 0:
        return f"{_capital(_stance(draw))}, a person {clause}."
    if form == 1:
        return f"A person {fillers[0]}, then {clause}."
    if form == 2:
        return f"A person {clause}, then {fillers[0]}."
    return f"A person {fillers[0]}, then {clause}, and finally {fillers[1]}."


def _asymmetric(length: Length, draw: random.Random) -> str:
    if length == "short":
        return f"{_capital(_pair(draw))}."
    first, second, third = (_pair(draw) for _ in range(3))
    middle = sided(draw.choice(limb_phrases("middles")), draw)
    return (
        f"{_capital(first)}, and {middle}. Then {second}. After that, {third}. "
        f"Finally, {_pair(draw)}."
    )


def _pair(draw: random.Random) -> str:
    """Return what the limbs of one side do while another limb does something else."""
    side = draw.choice(("left", "right"))
    other = "right" if side == "left" else "left"
    limbs = draw.choice((("arm", "arm"), ("arm", "leg"), ("leg", "arm")))
    second_side = other if limbs[0] == limbs[1] else draw.choice((side, other))
    acts = draw.sample(limb_phrases(limbs[0]), 1)
    left = [one for one in limb_phrases(limbs[1]) if one not in acts]
    acts += draw.sample(left, 1)
    named = [
        _limb(limb, s, act) for limb, s, act in zip(limbs, (side, second_side), acts, strict=True)
    ]
    words = f"{named[0]} while {named[1]}"
    if second_side == side:
        words += f" and the {other} {draw.choice(('arm hangs', 'shoulder stays'))} level"
        words = words.replace("arm hangs level", f"arm hangs straight down beside the {other} hip")
    return words


def _limb(limb: str, side: str, act: str) -> str:
    other = "right" if side == "left" else "left"
    return f"the {side} {limb} " + act.replace("{s}", side).replace("{o}", other)


def _core(*without: Move) -> list[Move]:
    """Return moves of the core that add to others: none of the same name."""
    names = {move.name for move in without}
    return [move for move in moves("core") if move.name not in names]


def _stance(draw: random.Random) -> str:
    """Return how the person starts; what follows may leave it ("with both hands … swings")."""
    return "starting " + sided(
        draw.choice(str(table(TABLES[0])["stances"]).strip().splitlines()), draw
    )


def _joined(clauses: Sequence[str]) -> str:
    return ", then ".join(clauses)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
