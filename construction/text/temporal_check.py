"""Whether a rewritten caption tells the same events in reversed order (STRIDE A.1).

The paper: order edits "must preserve content words and pass structural checks". The checks are
ours; they read the two texts only, whoever wrote the second.
"""

from __future__ import annotations

from construction.text.events import listed
from construction.text.outcome import Outcome, item, not_applicable, rejected
from construction.text.tables import table, words
from construction.text.timeline import Event, Words, actors, content, participle_beside, timeline
from construction.text.tokens import tokenize, unreadable

RULE = "stride.temporal_check/1"
"""Name and version of the checks."""
MAX_TOKENS = 400
"""Longest caption that is rewritten, words and marks (ours)."""

_OWNERS = frozenset({"his", "her", "their", "its", "the", "lower", "upper", "straight"})


def askable(caption: str) -> Outcome | None:
    """Say why a caption cannot have its order reversed, whoever writes; None where it may.

    Args:
        caption: The caption.

    Returns:
        ``not_applicable`` for a single event, ``rejected`` for events at once, events that
        presuppose or follow from another, and events that read the same both ways.
    """
    problem = unreadable(caption)
    if problem:
        return rejected(problem, "unreadable")
    tokens = tokenize(caption)
    if len(tokens) > MAX_TOKENS:
        return rejected(f"longer than {MAX_TOKENS} words and marks", "too_long")
    low = [t.low for t in tokens]
    at_once = _at_once(low)
    if at_once:
        return rejected(f"'{at_once}': events at once", "simultaneous")
    sentence = 0
    for k, token in enumerate(tokens):
        sentence = k + 1 if token.low in {".", "!", "?", ";"} else sentence
        if participle_beside(tokens, sentence, k):
            return rejected(f"'{low[k + 1]}' beside another verb: events at once", "simultaneous")
    events = timeline(caption)
    if len(events) < 2:
        return not_applicable("one event only, as far as its words for order tell", "single_event")
    for k, word in enumerate(low):
        body = word == "back" and k > 0 and low[k - 1] in _OWNERS
        last = word in listed("end") and low[k + 1 : k + 2] in (["by"], ["with"])
        if word in listed("presupposing") and not body and not last:
            return rejected(f"'{word}' presupposes an earlier event", "presupposition")
        if word == "once" and low[k + 1 : k + 2] == ["more"]:
            return rejected("'once more' presupposes an earlier event", "presupposition")
    if events[0].words == events[-1].words:
        return rejected("the events read the same in both orders", "palindrome")
    if any(event.verbs <= {"be"} and not _shares_verb(events) for event in events):
        return rejected("a posture, not an event", "posture")
    for k, first in enumerate(events):
        for second in events[k + 1 :]:
            caused = _caused(first, second)
            if caused:
                return rejected(caused, "causal")
    return None


def check_rewrite(caption: str, rewritten: str) -> Outcome:
    """Check a rewriting with reversed order.

    Args:
        caption: The caption.
        rewritten: What is offered as the same events in reversed order.

    Returns:
        ``item`` with the text, or the first check it fails: readable, no events at once, the same
        actor, the same content words (multiset of lemmas), as many events, each event as it was,
        reversed order. A verb that several events share may change over to the one told first.
    """
    refused = askable(caption)
    if refused is not None:
        return refused
    text = " ".join(rewritten.split())
    problem = unreadable(text)
    if problem:
        return rejected(problem, "unreadable")
    if text.casefold() == caption.casefold():
        return rejected("the caption came back unchanged", "unchanged")
    at_once = _at_once([t.low for t in tokenize(text)])
    if at_once:
        return rejected(f"'{at_once}': the rewriting tells of events at once", "simultaneous")
    if actors(text) != actors(caption):
        return rejected("the actor is named in other words", "actor")
    lost, added = _difference(content(caption), content(text))
    if lost or added:
        return rejected(_changed_words(lost, added), "content_words")
    told, retold = timeline(caption), timeline(text)
    if len(told) != len(retold):
        reason = f"{len(told)} events before, {len(retold)} after"
        return rejected(reason, "event_count")
    if not _is_reversal(told, retold):
        if _is_reversal(told, retold[::-1]) or _same_order(told, retold):
            return rejected("the events stand in the order they had", "order")
        return rejected("the events are not those of the caption, last to first", "order")
    return item(
        text,
        f"{len(told)} events in reversed order",
        "reversed",
        {"events": " | ".join(event.text for event in told), "n_events": str(len(told))},
    )


def _at_once(low: list[str]) -> str | None:
    if "at the same time" in " ".join(low):
        return "at the same time"
    return next((word for word in low if word in listed("simultaneous")), None)


def _shares_verb(events: tuple[Event, ...]) -> bool:
    """Whether later events lean on the verb of the first: "leans left, then right"."""
    return bool(events[0].verbs - {"be"}) and all(not e.verbs for e in events[1:])


def _caused(first: Event, second: Event) -> str | None:
    for verb in sorted(first.verbs):
        follows = set(str(table("temporal")["causal"].get(verb, "")).split()) & second.verbs
        if follows:
            return f"'{min(follows)}' follows from '{verb}'"
    return None


def _difference(before: Words, after: Words) -> tuple[Words, Words]:
    """Return the words that only one of two multisets has; forms of one lemma are the same word."""
    lost, added = before - after, after - before
    for one in list(lost.elements()):
        other = next((w for w in added.elements() if w & one), None)
        if other is not None:
            lost[one] -= 1
            added[other] -= 1
            lost, added = +lost, +added
    return lost, added


def _changed_words(lost: Words, added: Words) -> str:
    def named(found: Words) -> str:
        return ", ".join(sorted("/".join(sorted(word)) for word in found.elements()))

    parts = [f"lost: {named(lost)}"] if lost else []
    parts += [f"added: {named(added)}"] if added else []
    return "; ".join(parts)


def _same(first: Words, second: Words) -> bool:
    lost, added = _difference(first, second)
    return not lost and not added


def _same_order(told: tuple[Event, ...], retold: tuple[Event, ...]) -> bool:
    return all(_same(a.words, b.words) for a, b in zip(told, retold, strict=True))


def _is_reversal(told: tuple[Event, ...], retold: tuple[Event, ...]) -> bool:
    """Whether the events are the same, last to first, but for a lead verb told with the first."""
    back = retold[::-1]
    if not all(_same(a.words, b.words) for a, b in zip(told[1:-1], back[1:-1], strict=True)):
        return False
    lead, more_in_first = _difference(told[0].words, back[0].words)
    more_in_last, new_lead = _difference(told[-1].words, back[-1].words)
    if more_in_first or more_in_last or not _same(lead, new_lead):
        return False
    # "leans left, then right": what stands before the first direction serves all of them.
    shared = words("temporal", "light")
    bare = bool(told[0].verbs) and not any(event.verbs for event in told[1:])
    return (bare or all(word & shared for word in lead)) and told[0].words != lead
