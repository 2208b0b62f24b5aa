"""What tells two captions apart that embeddings put side by side: side, direction, order, count.

A sentence encoder measured cos .976 between raising the left and the right hand and .989 between
walking then sitting and sitting then walking; no threshold on the cosine separates those from
true repeats.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from construction.text.laterality import lateral_cues
from construction.text.morphology import verb_lemmas
from construction.text.tables import words
from construction.text.tokens import Token, tokenize

Contrast = Literal["side", "direction", "order", "count"]
"""How two captions differ that name much the same deeds."""

_DIRECTIONS = {
    "forward": "forward", "forwards": "forward", "ahead": "forward", "backward": "backward",
    "backwards": "backward", "up": "up", "upward": "up", "upwards": "up", "upstairs": "up",
    "down": "down", "downward": "down", "downwards": "down", "downstairs": "down",
    "sideways": "sideways", "laterally": "sideways",
}  # fmt: skip
_COUNTS = {
    "once": 1, "twice": 2, "thrice": 3, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_LIMBS = {
    "arm": "arm arms forearm forearms elbow elbows bicep biceps",
    "hand": "hand hands fist fists palm palms finger fingers wrist wrists thumb thumbs",
    "leg": "leg legs knee knees thigh thighs shin shins calf calves",
    "foot": "foot feet heel heels toe toes ankle ankles",
    "shoulder": "shoulder shoulders",
}
_LIMB = {word: limb for limb, listed in _LIMBS.items() for word in listed.split()}
_MOVE = "move"
_OPPOSITE_SIDES = frozenset({"left", "right"})


class Reading(NamedTuple):
    """What of a caption bears on whether another says the same."""

    sides: tuple[str, ...]
    """Sides and senses of rotation in order of the text."""
    directions: tuple[str, ...]
    """Directions in order of the text, one of a kind after another left out."""
    verbs: tuple[str, ...]
    """Verbs in order of first mention, those that say nothing of a deed left out."""
    counts: tuple[int, ...]
    """Numbers of times or steps, in order."""
    claims: frozenset[tuple[str, str]]
    """(limb or ``move``, ``left`` or ``right``) for every side named."""


@lru_cache(maxsize=65_536)
def read(caption: str) -> Reading:
    """Read a caption's sides, directions, verbs and counts.

    Args:
        caption: An English caption.

    Returns:
        What was found; all empty where nothing was.
    """
    tokens = tokenize(caption)
    cues = [cue for cue in lateral_cues(tokens) if cue.reading == "lateral"]
    directions: list[str] = []
    verbs: list[str] = []
    counts: list[int] = []
    empty = words("verb_use", "empty_deeds")
    for token in tokens:
        named = _DIRECTIONS.get(token.low)
        if named is not None and directions[-1:] != [named]:
            directions.append(named)
        if token.low in _COUNTS:
            counts.append(_COUNTS[token.low])
        elif token.low.isascii() and token.low.isdigit() and len(token.low) < 5:
            counts.append(int(token.low))
        lemma = min(verb_lemmas(token.low) - empty, default="")
        if lemma and token.low not in _LIMB and lemma not in verbs:
            verbs.append(lemma)
    return Reading(
        sides=tuple(cue.stem for cue in cues),
        directions=tuple(directions),
        verbs=tuple(verbs),
        counts=tuple(counts),
        claims=frozenset(
            (_limb(tokens, cue.index), cue.stem) for cue in cues if cue.stem in _OPPOSITE_SIDES
        ),
    )


def contrast(one: str, other: str) -> Contrast | None:
    """Say in what two captions contradict each other though their words are much alike.

    Args:
        one: A caption.
        other: Another.

    Returns:
        ``side`` where both name sides and not the same ones in the same order; ``direction``
        likewise, unless one only names some of the other's in the same order; ``count``; ``order``
        where the same verbs come in another order. None where nothing speaks against their saying
        the same: a caption that names no side does not contradict one that does.

    >>> contrast("raises the left hand", "raises the right hand")
    'side'
    >>> contrast("walks, then sits", "sits, then walks")
    'order'
    >>> contrast("waves a hand", "waves the left hand") is None
    True
    """
    a, b = read(one), read(other)
    if a.sides and b.sides and a.sides != b.sides:
        return "side"
    if a.directions and b.directions and not _within(a.directions, b.directions):
        return "direction"
    if a.counts and b.counts and a.counts != b.counts:
        return "count"
    if a.verbs != b.verbs and sorted(a.verbs) == sorted(b.verbs):
        return "order"
    return None


def contradicts(shorter: str, longer: str) -> str | None:
    """Say how a longer caption contradicts the shorter one it is to contain.

    Args:
        shorter: The caption with less detail.
        longer: The caption with more.

    Returns:
        One line, or None: a side given to another limb or movement, or a side that the longer one
        drops.

    >>> contradicts("kicks with the left leg", "the right leg is drawn back and kicks")
    'the shorter caption says left leg, the longer one right leg'
    """
    a, b = read(shorter).claims, read(longer).claims
    for limb in sorted({limb for limb, _ in a}):
        said = {side for named, side in a if named == limb}
        then = {side for named, side in b if named == limb}
        if then and not said <= then:
            place = "" if limb == _MOVE else f" {limb}"
            one, other = (" and ".join(sorted(sides)) for sides in (said, then))
            return f"the shorter caption says {one}{place}, the longer one {other}{place}"
    lost = {side for _, side in a} - {side for _, side in b}
    if lost:
        return f"the longer caption does not say {' or '.join(sorted(lost))}, the shorter one does"
    return None


def _within(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one tuple is the other with members left out."""
    short, long = sorted((one, other), key=len)
    rest = iter(long)
    return all(member in rest for member in short)


def _limb(tokens: list[Token], at: int) -> str:
    """Return the limb that a side belongs to; ``move`` where it is a direction."""
    for token in tokens[at + 1 : at + 3]:
        if token.low in _LIMB:
            limb = _LIMB[token.low]
            # An arm's side is its hand's, a leg's its foot's.
            return {"hand": "arm", "foot": "leg"}.get(limb, limb)
        if not token.word:
            break
    return _MOVE
