"""What a label or caption says: actions, parts of the body with their side, directions."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Literal

from benchmarks.items import Frozen
from construction.text import tables
from construction.text.laterality import lateral_cues
from construction.text.morphology import verb_lemmas
from construction.text.tokens import Token, tokenize

Side = Literal["left", "right"]

TABLES = ("actions", "modifiers", "words")
"""Word tables of this package."""


_DATA = "construction.nextmotionqa.data"


def table(name: str) -> dict[str, Any]:
    """Read a word table; callers must not change it.

    Args:
        name: One of ``TABLES``.
    """
    return tables.table(name, _DATA)


def tables_hash() -> str:
    """Return the SHA-256 (hex) of all word tables."""
    return tables.table_hash(*TABLES, package=_DATA)


class Part(Frozen):
    """A part of the body, with its side where the text says it."""

    name: str
    """Key of ``[parts]``, e.g. ``hand``."""
    side: Side | None = None
    """The person's own side."""

    @property
    def region(self) -> str:
        """One of ``legs``, ``arms``, ``torso``, ``head``."""
        return str(table("words")["parts"][self.name]["coarse"])


class Content(Frozen):
    """What a text says, as far as the word tables know."""

    actions: tuple[str, ...]
    """Base verbs in order of mention, repetitions kept."""
    parts: tuple[Part, ...]
    """Parts of the body in order of mention, repetitions kept."""
    directions: tuple[str, ...]
    """Directions in order: ``forward``, ``backward``, ``sideways``, ``left``, ``right``,
    ``clockwise``, ``counterclockwise``, ``in_place``, ``up``, ``down``."""
    unframed: tuple[str, ...] = ()
    """Left, right and turns among them of which it is not said whose they are."""

    def on(self, axis: str) -> object:
        """Return what is said on one semantic axis, to compare two texts by."""
        if axis == "body_part":
            return sorted((part.name, part.side or "") for part in self.parts)
        return self.directions if axis == "direction" else self.actions


@cache
def _part_words() -> dict[str, str]:
    rows = table("words")["parts"].items()
    return {word: name for name, row in rows for word in str(row["words"]).split()}


@cache
def _direction_words() -> dict[str, str]:
    rows = table("words")["directions"].items()
    return {word: name for name, words in rows for word in str(words).split()}


def containers(name: str) -> tuple[str, ...]:
    """Return the parts that contain a part, the next larger first.

    >>> containers("finger")
    ('hand', 'arm')
    """
    within = table("words")["parts"][name].get("within")
    return (within, *containers(within)) if within else ()


def find_phrase(tokens: list[Token], phrase: str) -> list[int]:
    """Return where a phrase of whole words begins, as token numbers."""
    wanted = phrase.split()
    words = [token.low for token in tokens]
    last = len(words) - len(wanted) + 1
    return [i for i in range(last) if words[i : i + len(wanted)] == wanted]


@lru_cache(maxsize=100_000)
def content(text: str) -> Content:
    """Read a label or caption.

    Args:
        text: Any text; what the tables do not know is passed over.

    Returns:
        Actions, parts and directions. A side before a part ("left arm", "left and right hands")
        belongs to the part, any other to the direction.

    >>> content("a person walks forward, then waves with the left hand").actions
    ('walk', 'wave')
    """
    tokens = tokenize(text)
    found: list[tuple[int, str]] = []
    used: set[int] = set()
    for name, phrases in table("words")["phrases"].items():
        for phrase in phrases:
            for at in find_phrase(tokens, phrase):
                found.append((at, name))
                used |= set(range(at, at + len(phrase.split())))
    sides: dict[int, Side] = {}
    unframed: list[str] = []
    for cue in lateral_cues(tokens):
        if cue.reading != "lateral":
            continue
        used |= set(range(cue.index, cue.index + cue.tokens))
        side: Side | None = "left" if cue.stem == "left" else "right"
        if cue.stem not in ("left", "right"):
            side = None
            stem = {"cw": "clockwise", "ccw": "counterclockwise"}.get(cue.stem, cue.stem)
        else:
            stem = cue.stem
        part_at = _part_after(tokens, cue.index + cue.tokens) if side else None
        if side and part_at is not None:
            sides[part_at] = side
            continue
        found.append((cue.index, stem))
        if not _framed(tokens, cue.index, stem):
            unframed.append(stem)
    parts: list[Part] = []
    actions: list[str] = []
    for i, token in enumerate(tokens):
        if i in used or not token.word:
            continue
        if token.low in _part_words():
            parts += _parts_at(tokens, i, sides)
        elif token.low in _direction_words():
            found.append((i, _direction_words()[token.low]))
        elif lemma := _action_at(tokens, i):
            actions.append(lemma)
    return Content(
        actions=tuple(actions),
        parts=tuple(parts),
        directions=tuple(name for _, name in sorted(found)),
        unframed=tuple(unframed),
    )


def _parts_at(tokens: list[Token], i: int, sides: dict[int, Side]) -> list[Part]:
    name = _part_words()[tokens[i].low]
    before = {token.low for token in tokens[max(i - 3, 0) : i]}
    if {"left", "right"} <= before:
        return [Part(name=name, side="left"), Part(name=name, side="right")]
    return [Part(name=name, side=sides.get(i))]


def _part_after(tokens: list[Token], i: int) -> int | None:
    """Return the part of the body that a side before token i belongs to."""
    joined = {"and", "or", "/", "&", "left", "right", "-", "front", "upper", "lower"}
    while i < len(tokens) and tokens[i].low in joined:
        i += 1
    return i if i < len(tokens) and tokens[i].low in _part_words() else None


def _framed(tokens: list[Token], i: int, stem: str) -> bool:
    """Return whether the text says whose left or right, or from where a turn is seen."""
    frame = table("words")["frame"]
    if any(find_phrase(tokens, phrase) for phrase in frame["phrases"]):
        return True
    owners = set(str(frame["owners"]).split())
    near = [token.low for token in tokens[max(i - 3, 0) : i] if token.word]
    return stem in ("left", "right") and bool(owners & set(near[-2:]))


def _action_at(tokens: list[Token], i: int) -> str | None:
    known = sorted(verb_lemmas(tokens[i].low) & set(table("actions")["actions"]))
    if not known:
        return None
    nouns = table("words")["nouns"]
    before = tokens[i - 1].low if i else ""
    bare = set(str(nouns["not_after_article"]).split())
    if known[0] in bare and before in str(nouns["articles"]).split():
        return None
    return known[0]
