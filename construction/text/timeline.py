"""The events of a text in the order of time, read from its words for order alone.

Looser than ``construction.text.temporal_parse`` and made apart from it: it only tells what comes
before what, so that it can check the edits of anyone, be it a rule or a language model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from construction.text.events import head_at, listed, pick_tag, subject_end
from construction.text.morphology import lemmas, readings
from construction.text.tables import words
from construction.text.tokens import Token, tokenize

Relation = Literal["later", "earlier"]
Words = Counter[frozenset[str]]
"""Multiset of words, each as the set of lemmas it can be a form of."""

_STOPS = frozenset({".", "!", "?", ";"})
_FRONTED = frozenset({"after", "before", "once", "having"})
_PLAIN = frozenset(
    {"a", "an", "the", "this", "that", "these", "those", "his", "her", "its", "their"}
)
_PLAIN |= {"and", "but", "or", "first", "firstly", "initially", "then"}
_PLAIN |= {"is", "are", "was", "were", "be", "been", "being"}


@dataclass(frozen=True, slots=True)
class Event:
    """What is told of one moment."""

    words: Words
    """Content words: all but articles, possessives, words for order and names of the actor."""
    verbs: frozenset[str]
    """Lemmas of those that can be verbs."""
    text: str
    """As written."""


@dataclass(frozen=True, slots=True)
class _Joint:
    """A word for order: the tokens it takes up and where it puts what follows."""

    end: int
    relation: Relation
    row: bool = False
    """Whether it is a comma or "and" in a row of verbs."""


def timeline(text: str) -> tuple[Event, ...]:
    """Return the events of a text, earliest first.

    Sentences follow one another. Within a sentence, events are parted by words for order, by
    "before" and "after" with a verb behind them, and by commas in a row of verbs; "and" alone parts
    nothing.

    Args:
        text: A caption.

    Returns:
        Its events; parts without a content word are none.

    >>> [e.text for e in timeline("after kicking, the man spins around.")]
    ['kicking', 'the man spins around']
    """
    tokens = tokenize(text)
    found: list[Event] = []
    for start, end in _sentences(tokens):
        for a, b in _ordered(tokens, start, end):
            event = _event(text, tokens[a:b])
            if event is not None:
                found.append(event)
    return tuple(found)


def content(text: str) -> Words:
    """Return the content words of a text as a multiset."""
    tokens = tokenize(text)
    return _words(t for k, t in enumerate(tokens) if not _is_joint(tokens, k))


def actors(text: str) -> frozenset[str]:
    """Return the nouns a text has for its actor; pronouns are none."""
    people = words("verb_use", "subjects") - listed("pronouns") - {"who", "that"}
    return frozenset(t.low for t in tokenize(text) if t.low in people)


def _sentences(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    start = 0
    for k, token in enumerate(tokens):
        if token.low in _STOPS:
            if k > start:
                yield start, k
            start = k + 1
    if start < len(tokens):
        yield start, len(tokens)


def _ordered(tokens: list[Token], start: int, end: int) -> list[tuple[int, int]]:
    """Return the events of one sentence as token spans in the order of time."""
    while start < end and tokens[start].low in listed("openings") | listed("sequence") | {","}:
        start += 1
    order: list[tuple[int, int]] = []
    opening = tokens[start].low if start < end else ""
    comma = next((k for k in range(start, end) if tokens[k].low == ","), None)
    if opening in _FRONTED and comma is not None and _opens_event(tokens, start + 1, comma):
        rest = _ordered(tokens, comma + 1, end)
        front = (start + 1, comma)
        return [rest[0], front, *rest[1:]] if opening == "before" and rest else [front, *rest]
    begin, in_list, relation = start, False, "later"
    k = start + 1
    while k < end:
        joint = _joint(tokens, start, k, end, in_list)
        if joint is None:
            k += 1
            continue
        in_list = in_list or joint.row
        _place(order, (begin, k), relation)
        begin, relation, k = joint.end, joint.relation, joint.end + 1
    _place(order, (begin, end), relation)
    return order


def _place(order: list[tuple[int, int]], span: tuple[int, int], relation: str) -> None:
    if relation == "earlier" and order:
        order.insert(len(order) - 1, span)
    else:
        order.append(span)


def participle_beside(tokens: list[Token], start: int, comma: int) -> bool:
    """Whether an -ing form behind a comma goes with a finite verb: "walks, turning left".

    Args:
        tokens: Tokens of the text.
        start: First token of the sentence.
        comma: Token of the comma.
    """
    if tokens[comma].low != ",":
        return False
    head = head_at(tokens, comma + 1, len(tokens))
    if head is None or {r.tag for r in readings(tokens[head].low)} != {"VBG"}:
        return False
    heads = [tokens[k].low for k in range(start, comma) if readings(tokens[k].low)]
    return bool(heads) and pick_tag(heads[0], ("VBZ", "VBD")) is not None and heads[0] not in _PLAIN


def _joint(tokens: list[Token], start: int, k: int, end: int, in_list: bool) -> _Joint | None:
    """Recognise a word for order at token k of a sentence."""
    j = k
    while j < end and tokens[j].low in {",", "and", "but"}:
        j += 1
    marks = {tokens[m].low for m in range(k, j)}
    word = tokens[j].low if j < end else ""
    follows = tokens[j + 1].low if j + 1 < end else ""
    before = tokens[k - 1].low
    if word in listed("sequence") and before not in listed("false_then_before"):
        return _Joint(_past_order_words(tokens, j, end), "later")
    if word == "followed" and follows == "by":
        return _Joint(j + 2, "later")
    if word == "after" and follows in {"that", "which"}:
        return _Joint(_past_order_words(tokens, j + 2, end), "later")
    if word == "prior" and follows == "to" and _opens_event(tokens, j + 2, end):
        return _Joint(j + 2, "later")
    if word in {"before", "after"} and _opens_event(tokens, j + 1, end):
        return _Joint(j + 1, "later" if word == "before" else "earlier")
    if marks and word in listed("end") and follows in {"by", "with", "up", "off"}:
        return _Joint(j + 2 + (tokens[j + 2].low in {"by", "with"} if j + 2 < end else 0), "later")
    in_row = "," in marks or (marks == {"and"} and in_list)
    if in_row and _opens_event(tokens, j, end) and not participle_beside(tokens, start, k):
        return _Joint(j, "later", row=True)
    return None


def _past_order_words(tokens: list[Token], j: int, end: int) -> int:
    while j < end and tokens[j].low in listed("sequence") | listed("openings") | {",", "and"}:
        j += 1
    return j


def _opens_event(tokens: list[Token], j: int, end: int) -> bool:
    """Whether a verb stands at token j, perhaps behind its subject or "having"."""
    if j < end and tokens[j].low == "having":
        return True
    after = subject_end(tokens, j)
    if after is not None and after < end and head_at(tokens, after, end) is not None:
        return True
    head = head_at(tokens, j, end) if j < end else None
    return head is not None and pick_tag(tokens[head].low, ("VBZ", "VBD", "VBG", "VB")) is not None


def _is_joint(tokens: list[Token], k: int) -> bool:
    """Whether a word only orders events, so that a reversal may drop or add it."""
    low, before = tokens[k].low, tokens[k - 1].low if k else ""
    if low in listed("sequence"):
        return before not in listed("false_then_before")
    if low in {"before", "after", "followed", "prior", "having", "once", "finally"}:
        return True
    orders = {"followed"} | listed("begin") | listed("end")
    return low in listed("begin") | listed("end") or (low in {"by", "with"} and before in orders)


def _nominal(before: Token) -> bool:
    """Whether a word after this one is a noun: "in place", "a jump"."""
    return before.low in {"a", "an", "the", "in", "into", "his", "her", "their", "of"}


def _words(tokens: Iterator[Token]) -> Words:
    people = words("verb_use", "subjects") | listed("pronouns")
    return Counter(
        lemmas(t.low) for t in tokens if t.word and t.low not in _PLAIN and t.low not in people
    )


def _event(text: str, tokens: list[Token]) -> Event | None:
    # The actor's own words ("two people", "the tall man") stay in front whatever comes first.
    told_at_once = head_at(tokens, 0, len(tokens)) is not None
    own = 0 if told_at_once else subject_end(tokens, 0) or 0
    kept = [k for k in range(own, len(tokens)) if not _is_joint(tokens, k)]
    found = _words(tokens[k] for k in kept)
    if not found:
        return None
    verbs = frozenset(
        r.lemma
        for k in kept
        for r in readings(tokens[k].low)
        if not (k and _nominal(tokens[k - 1]))
    )
    return Event(found, verbs, text[tokens[0].start : tokens[-1].end])
