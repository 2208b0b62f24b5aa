"""Temporal Order: tell the events of a caption in reversed order (STRIDE 2.1, A.1).

The caption is read into events that stand in slots between fixed words
(``construction.text.temporal_parse``). The events change places, the verbs take the inflection of
their new slot. Captions whose events happen at once, depend on each other or read the same both
ways are passed over.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from construction.text.events import Plan, Slot, Unparsed, event_text, listed
from construction.text.morphology import lemmas, readings
from construction.text.outcome import Outcome, item, not_applicable, rejected
from construction.text.shared_verb import shared_verb
from construction.text.tables import table, words
from construction.text.temporal_parse import Parser
from construction.text.tokens import Token, replace_spans, tokenize, unreadable

RULE = "stride.temporal/3"
"""Name and version of this rule."""

_NOT_APPLICABLE = frozenset({"single_event", "false_connective"})
_MAX_TOKENS = 400


def reverse_events(caption: str) -> Outcome:
    """Reverse the order of the events of a caption.

    Args:
        caption: A caption of one motion.

    Returns:
        ``item`` with the same events in reversed order; ``not_applicable`` where there is one
        event only; ``rejected`` with the reason in all other cases.

    >>> reverse_events("the person crouches before jumping to the side.").text
    'the person jumps to the side before crouching.'
    """
    problem = unreadable(caption)
    if problem:
        return rejected(problem, "unreadable")
    tokens = tokenize(caption)
    if len(tokens) > _MAX_TOKENS:
        return rejected(f"longer than {_MAX_TOKENS} words and marks", "too_long")
    at_once = next((t.low for t in tokens if t.low in listed("simultaneous")), None)
    if at_once or "at the same time" in " ".join(t.low for t in tokens):
        return rejected(f"'{at_once or 'at the same time'}': events at once", "simultaneous")
    if _mixed_pronouns(tokens):
        return rejected("pronouns of different kinds: perhaps different people", "two_actors")
    parser = Parser(tokens)
    try:
        plan = parser.parse()
    except Unparsed as failure:
        return _without_plan(tokens, failure)
    refused = _refused(caption, tokens, plan)
    if refused:
        return refused
    return _reversed(caption, tokens, plan)


def _mixed_pronouns(tokens: list[Token]) -> bool:
    """Whether a pronoun subject stands beside possessives of another kind: "their … he"."""
    low = {t.low for t in tokens}
    kinds = [{"he", "his", "him"}, {"she", "her", "hers"}, {"they", "their", "them"}]
    return bool(low & {"he", "she", "they"}) and sum(bool(low & kind) for kind in kinds) > 1


def _without_plan(tokens: list[Token], failure: Unparsed) -> Outcome:
    """Say why a caption without a readable order makes no item."""
    if failure.code not in _NOT_APPLICABLE and _any_connective(tokens):
        return rejected(failure.reason, failure.code)
    verbs = _verbs_joined_by_and(tokens)
    if verbs:
        first, second = verbs
        if _depends(first, second):
            return rejected(f"'{second}' follows from '{first}'", "causal")
        return rejected("'and' does not say which event comes first", "ambiguous_and")
    if failure.code in _NOT_APPLICABLE:
        return not_applicable(failure.reason, failure.code)
    return not_applicable("no words for an order of events", "no_connective")


def _any_connective(tokens: list[Token]) -> bool:
    words_for_order = listed("sequence") | {"before", "after", "followed", "prior", "once"}
    return any(t.low in words_for_order or t.low in {".", ";"} for t in tokens[:-1])


def _verbs_joined_by_and(tokens: list[Token]) -> tuple[str, str] | None:
    """Return the lemmas of two verbs of one inflection joined by "and"."""
    for i, token in enumerate(tokens[:-1]):
        if token.low != "and":
            continue
        after = next((t for t in tokens[i + 1 : i + 3] if readings(t.low)), None)
        if after is None:
            continue
        tags = {r.tag for r in readings(after.low)}
        for before in reversed(tokens[:i]):
            same = [r for r in readings(before.low) if r.tag in tags and r.tag != "VB"]
            if same:
                later = next(r for r in readings(after.low) if r.tag == same[0].tag)
                return same[0].lemma, later.lemma
    return None


def _depends(first: str, second: str) -> bool:
    return second in str(table("temporal")["causal"].get(first, "")).split()


def _time_order(plan: Plan) -> list[Slot]:
    late_first = plan.connective == "after" or plan.connective.startswith("before (fronted)")
    return list(reversed(plan.slots)) if late_first else list(plan.slots)


def _refused(caption: str, tokens: list[Token], plan: Plan) -> Outcome | None:
    """Apply the checks on the meaning of the events."""
    order = _time_order(plan)
    told = [[t.low for t in tokens[s.start : s.end]] for s in order]
    plain = [[w for w in event if w.isalnum()] for event in told]
    if plain == plain[::-1] or plain[0] == plain[-1]:
        return rejected("the events read the same in both orders", "palindrome")
    for event in told:
        for i, word in enumerate(event):
            if word == "back" and event[i + 1 : i + 3] == ["and", "forth"]:
                continue
            if word in listed("presupposing"):
                return rejected(f"'{word}' presupposes an earlier event", "presupposition")
            if word == "once" and event[i + 1 : i + 2] == ["more"]:
                return rejected("'once more' presupposes an earlier event", "presupposition")
            if _points_back(event, i):
                return rejected(f"'{word}' points at something named before", "pronoun")
        if {"stand", "remain", "be"} & lemmas(event[0]) and listed("postures") & set(event):
            return rejected("a posture, not an event", "posture")
    if any(s.lemma == "be" and not _progressive(tokens, s) for s in order):
        return rejected("a posture, not an event", "posture")
    cut = next((event[-1] for event in told if event[-1] in listed("unfinished")), None)
    if cut:
        return rejected(f"'{cut}' ends an event: its object stands in another", "pronoun")
    if _elliptical(told):
        return rejected("a side whose noun stands in another event", "pronoun")
    heads = [_head_lemmas(tokens, s) for s in order]
    for i, first in enumerate(heads):
        for second in heads[i + 1 :]:
            reaction = next((b for b in second if b in listed("reactions")), None)
            if reaction and _suffered(tokens, order[i]):
                return rejected(f"'{reaction}' follows from what is done to them", "causal")
            for a in first:
                for b in second:
                    if _depends(a, b):
                        return rejected(f"'{b}' follows from '{a}'", "causal")
    return _definite(told)


def _points_back(event: list[str], i: int) -> bool:
    """Whether a word stands for something named in another event."""
    word = event[i]
    if word == "one":
        follows = event[i + 1] if i + 1 < len(event) else ""
        return not follows.isalpha() or follows in {"of", "to", "on", "in", "with", "and", "up"}
    return word in listed("pointing")


def _progressive(tokens: list[Token], slot: Slot) -> bool:
    """Whether a form of be is followed by an -ing form."""
    after = [t.low for t in tokens[slot.head + 1 : min(slot.head + 3, slot.end)]]
    return any(r.tag == "VBG" for word in after for r in readings(word))


def _suffered(tokens: list[Token], slot: Slot) -> bool:
    """Whether an event is done to the person: "gets hit"."""
    after = [t.low for t in tokens[slot.head + 1 : min(slot.head + 3, slot.end)]]
    return slot.lemma == "get" and any(r.tag == "VBN" for w in after for r in readings(w))


def _elliptical(told: list[list[str]]) -> bool:
    """Whether an event ends in "on his right" where another has "on his left foot"."""
    sides = {"left", "right"}
    cut = [e for e in told if e[-1] in sides and e[-3:-2] and e[-3] in {"with", "on", "using"}]
    whole = [
        e
        for e in told
        if any(a in sides and b in words("lateral", "side_nouns") for a, b in pairwise(e))
    ]
    return bool(cut and whole)


def _head_lemmas(tokens: list[Token], slot: Slot) -> list[str]:
    """Lemmas of the verbs of an event: its head and those joined to it."""
    found = [slot.lemma] if slot.lemma else []
    if slot.lemma in {"stand", "get"} and tokens[slot.head + 1].low == "up":
        found.append("rise")
    for j in range(slot.start + 1, slot.end):
        if tokens[j - 1].low in {"and", ","}:
            found += sorted({r.lemma for r in readings(tokens[j].low) if r.tag != "VB"})
    return found


def _definite(told: list[list[str]]) -> Outcome | None:
    """Refuse "picks up a box, then kicks the box": the thing must be introduced first."""
    introduced: set[str] = set()
    for event in told:
        for i, word in enumerate(event[:-1]):
            if word == "the" and event[i + 1] in introduced:
                return rejected(f"'the {event[i + 1]}' was introduced before", "pronoun")
        for i, word in enumerate(event):
            if word in {"a", "an", "some", "his", "her", "their", "its"}:
                introduced |= set(event[i + 1 : i + 4])
    return None


def _reversed(caption: str, tokens: list[Token], plan: Plan) -> Outcome:
    slots = list(plan.slots)
    if any(not s.lemma for s in slots) and not plan.connective.startswith("starts with"):
        narrowed = shared_verb(tokens, slots)
        if narrowed is None:
            return rejected("the events are told in forms that cannot change places", "form")
        slots = narrowed
    edits: list[tuple[int, int, str]] = []
    for slot, event in zip(slots, reversed(slots), strict=True):
        text = event_text(caption, tokens, event, slot.tag)
        if text is None or (slot.tag != event.tag and event.lemma in {"be", "start", "begin"}):
            return rejected("the events are told in forms that cannot change places", "form")
        if slot.start == 0 or event.start == 0:
            text = _recapitalised(text, tokens[0].text, at_start=slot.start == 0)
        edits.append((tokens[slot.start].start, tokens[slot.end - 1].end, text))
    text = replace_spans(caption, edits)
    if text == caption:
        return rejected("the events read the same in both orders", "palindrome")
    if _content(tokens) != _content(tokenize(text)):
        return rejected("a word would be lost or added", "content_words")
    events = [caption[tokens[s.start].start : tokens[s.end - 1].end] for s in _time_order(plan)]
    return item(
        text,
        f"{len(events)} events in reversed order ({plan.connective})",
        "reversed",
        {"connective": plan.connective, "events": " | ".join(events), "n_events": str(len(events))},
    )


def _recapitalised(text: str, opening: str, *, at_start: bool) -> str:
    """Let the capital at the start of the caption stay at the start."""
    if not opening[:1].isupper() or (len(opening) > 1 and opening.isupper()):
        return text
    first = text[:1].upper() if at_start else text[:1].lower()
    return first + text[1:]


def _content(tokens: list[Token]) -> Counter[frozenset[str]]:
    """Multiset of the lemmas of a caption (STRIDE A.1: content words are preserved)."""
    return Counter(lemmas(t.low) for t in tokens if t.word)
