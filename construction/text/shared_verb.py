"""Events that share one verb: "leans left, then right", "throws a punch followed by a kick"."""

from __future__ import annotations

from construction.text.events import Slot, listed, noun_openings
from construction.text.tables import table, words
from construction.text.tokens import Token


def shared_verb(tokens: list[Token], slots: list[Slot]) -> list[Slot] | None:
    """Narrow slots to what follows a verb that all events share.

    Args:
        tokens: Tokens of the caption.
        slots: Its events; only the first may have a verb.

    Returns:
        The slots without the verb, so that the rest can change places; None where the verb
        does not go with what the others tell.
    """
    first, others = slots[0], slots[1:]
    if not first.lemma or any(s.lemma for s in others) or first.head + 1 >= first.end:
        return None
    openings = {tokens[s.start].low for s in others}
    start = _shared_start(tokens, first, others, openings)
    return None if start is None else [Slot(start, first.end, start, "", None), *others]


def _shared_start(
    tokens: list[Token], first: Slot, others: list[Slot], openings: set[str]
) -> int | None:
    """Return where the part of the first event begins that can change places with the others."""
    tail = first.head + 1
    directions = listed("directions")
    determiners = noun_openings()
    if openings <= {"left", "right"} and all(s.end - s.start == 2 for s in others):
        # "steps with the left foot, then right foot"
        noun, before = tokens[first.end - 1].low, tokens[first.end - 2].low
        alike = {tokens[s.end - 1].low for s in others} == {noun} and before in {"left", "right"}
        return first.end - 2 if alike and first.end - 2 >= tail else None
    told = [(s.start, s.end) for s in others]
    if openings <= directions | {"to"}:
        return _shared_way(tokens, first, told, openings)
    if openings <= determiners and tokens[tail].low in determiners:
        alike = len({tokens[s.end - 1].low for s in [first, *others]}) == 1
        acts = all(
            _names_act(tokens, first.lemma, start, end) for start, end in [(tail, first.end), *told]
        )
        return tail if alike or acts or first.lemma in listed("light") else None
    if len(openings) == 1:
        (preposition,) = openings
        starts = [j for j in range(tail, first.end) if tokens[j].low == preposition]
        if starts and {s.end - s.start for s in others} == {first.end - starts[-1]}:
            return starts[-1]
    return None


def _shared_way(
    tokens: list[Token], first: Slot, told: list[tuple[int, int]], openings: set[str]
) -> int | None:
    """Return where the way of the first event begins: "points up, then down, then to the side"."""
    tail = first.head + 1
    directions = listed("directions")
    last = tokens[first.end - 1].low
    if (openings | {last}) & listed("upward") and first.lemma in listed("lowering"):
        return None
    if last in directions and all(end - start == 1 for start, end in told):
        # "to the left, then right" has two sides to exchange, "to the left, then up" has not
        named = tokens[first.end - 2].low in words("verb_use", "determiners")
        if not named or openings | {last} <= {"left", "right"}:
            return first.end - 1
    if all(_whither(tokens, *span) for span in [(tail, first.end), *told]):
        return tail
    return tail if openings <= directions and tokens[tail].low in directions else None


def _names_act(tokens: list[Token], lemma: str, start: int, end: int) -> bool:
    """Whether "a left jab at him" is an act that the verb tells of, as in "throws a left jab"."""
    acts = str(table("temporal")["support"].get(lemma, "")).split()
    forms = {form for act in acts for form in (act, act + "s", act + "es")}
    told = [t.low for t in tokens[start:end]]
    head = next((k for k, word in enumerate(told) if word in forms), None)
    if head is None or "and" in told or set(told[:head]) & listed("unfinished"):
        return False
    return told[head + 1 : head + 2] == [] or told[head + 1] in (
        listed("unfinished") | listed("directions")
    )


def _whither(tokens: list[Token], start: int, end: int) -> bool:
    """Whether "down" or "to the side" stands there and nothing else."""
    told = [t.low for t in tokens[start:end]]
    if len(told) == 1:
        return told[0] in listed("directions")
    toward = told[:1] == ["to"] and told[1:2] and told[1] in {"the", "his", "her", "their"}
    return bool(toward) and len(told) == 3 and told[2] in listed("sides")
