"""Three captions of one motion: what must hold between them, and how to do without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.mrbench import GRANULARITIES
from construction.text.contrast import contradicts
from construction.text.morphology import inflect
from construction.text.tokens import tokenize, unreadable
from corpus.clips import Caption, EventLabel

RULE = "mrbench.compose/1"
"""Name and version of the rule that puts a caption set together without a model."""

MOST_WORDS = 150
"""Most words of a fine caption (ours; the paper's have 43.6 on average)."""

_LIMB_OF = {"kick": "leg", "hop": "leg", "lunge": "leg", "raise knee": "leg"}


class Trio(NamedTuple):
    """Captions of growing detail."""

    concise: str
    """The principal motion."""
    standard: str
    """The usual amount of detail."""
    fine: str
    """Body parts and their course in time."""


class Fault(NamedTuple):
    """Why three captions do not make a set."""

    code: str
    """``empty``, ``lengths`` or ``contradiction``."""
    reason: str
    """In words."""


def word_count(text: str) -> int:
    """Return the number of words, a hyphened word counting as its parts.

    >>> word_count("A left-handed throw.")
    4
    """
    return sum(token.word for token in tokenize(text))


def check_trio(trio: Trio, source: str = "") -> Fault | None:
    """Check that three captions can stand as one set.

    Args:
        trio: The captions.
        source: The caption they were made from; its sides must not be turned round either.

    Returns:
        What is wrong: one is empty or unreadable, their numbers of words do not rise from concise
        to fine, or a longer one contradicts a shorter one on left and right or drops a side it
        names. None where all holds.
    """
    for name, text in zip(GRANULARITIES, trio, strict=True):
        if (why := unreadable(text)) is not None:
            return Fault("empty", f"{name}: {why}")
    sizes = [word_count(text) for text in trio]
    if not sizes[0] < sizes[1] < sizes[2]:
        listed = ", ".join(
            f"{name} {size}" for name, size in zip(GRANULARITIES, sizes, strict=True)
        )
        return Fault("lengths", f"expected words to rise from concise to fine, got {listed}")
    if sizes[2] > MOST_WORDS:
        return Fault("lengths", f"fine has {sizes[2]} words, at most {MOST_WORDS} are taken")
    pairs = [(trio.concise, trio.standard), (trio.standard, trio.fine), (trio.concise, trio.fine)]
    if source:
        pairs.append((source, trio.fine))
    for shorter, longer in pairs:
        if (said := contradicts(shorter, longer)) is not None:
            return Fault("contradiction", said)
    return None


def compose(
    caption: Caption, own: Sequence[Caption], events: Sequence[EventLabel]
) -> tuple[Trio, str] | Fault:
    """Put a caption set together from what the corpus says of the motion, with no model.

    Tried in order: captions that the corpus itself marks by granularity; the given one with a short
    and a long form written from event labels; the corpus's captions of different lengths round the
    given one.

    Args:
        caption: The caption that stands for the motion; the standard one but for the first way.
        own: All captions of the motion.
        events: What is done when, where the corpus knows it.

    Returns:
        The set and how it was had (``marked``, ``events``, ``own_lengths``); or why there is none.
    """
    fault = Fault("lengths", "no captions of three lengths and no event labels; a model is needed")
    for how, trio in (
        ("marked", _marked(own)),
        ("events", _from_events(caption.text, events)),
        ("own_lengths", _own_lengths(caption, own)),
    ):
        if trio is None:
            continue
        found = check_trio(trio)
        if found is None:
            return trio, how
        fault = found
    return fault


def _marked(own: Sequence[Caption]) -> Trio | None:
    by_mark = {caption.granularity: caption.text for caption in reversed(own)}
    if not all(name in by_mark for name in GRANULARITIES):
        return None
    return Trio(*(by_mark[name] for name in GRANULARITIES))


def _own_lengths(caption: Caption, own: Sequence[Caption]) -> Trio | None:
    size = word_count(caption.text)
    sized = sorted((word_count(other.text), other.id, other.text) for other in own)
    if not sized or not sized[0][0] < size < sized[-1][0]:
        return None
    return Trio(sized[0][2], caption.text, sized[-1][2])


def _from_events(text: str, events: Sequence[EventLabel]) -> Trio | None:
    deeds = [_deed(event, named=True) for event in events]
    plain = [_deed(event, named=False) for event in events]
    if not events or None in deeds or None in plain:
        return None
    if len(set(plain)) < len(plain):
        plain = deeds
    short = f"a person {', then '.join(str(deed) for deed in plain)}."
    if word_count(short) >= word_count(text):
        short = f"{', '.join(_noun(event) for event in events)}."
    spans = "; ".join(
        f"from {event.start:.1f} to {event.end:.1f} seconds the person {deed}"
        for event, deed in zip(events, deeds, strict=True)
    )
    return Trio(short, text, f"{text.rstrip(' .')}. In detail, {spans}.")


def _deed(event: EventLabel, *, named: bool) -> str | None:
    """Return an event as a finite clause; None where its verb is not known."""
    verb, _, thing = event.action.partition(" ")
    finite = inflect(verb, "VBZ")
    if finite is None:
        return None
    several = event.side == "both"
    thing = f"{thing}s" if thing and several else thing
    if not named:
        article = "" if several else "the "
        return f"{finite} {article}{thing}" if thing else finite
    side = "both" if several else f"the {event.side}"
    way = event.direction or ""
    if way in ("left", "right"):
        way = f"to the {way}"
    if thing:
        words = [finite, side if event.side else "the", thing, way]
    elif event.side in ("left", "right"):
        words = [finite, way, "with", side, _LIMB_OF.get(event.action, "arm")]
    else:
        words = [finite, way]
    return " ".join(word for word in words if word)


def _noun(event: EventLabel) -> str:
    verb, _, thing = event.action.partition(" ")
    return f"{inflect(verb, 'VBG') or verb} {thing}".strip()
