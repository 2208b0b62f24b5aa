"""Mirror Reflection: exchange left and right in a caption (STRIDE 2.1, A.1).

Every lateral cue is found, read in its context (``construction.text.laterality``) and exchanged
at once. A caption is passed over when one cue cannot be read with certainty, when a cue is one
the rules do not cover, or when the exchanged caption would still be true of the motion.
"""

from __future__ import annotations

from construction.text.laterality import Cue, lateral_cues
from construction.text.outcome import Outcome, item, not_applicable, rejected
from construction.text.symmetry import invariant_pairs, invariant_reason
from construction.text.tokens import Token, match_case, replace_spans, tokenize, unreadable

RULE = "stride.mirror/3"
"""Name and version of this rule."""

_DEFAULT_COUNTER = "counterclockwise"


def _counter_spelling(cues: list[Cue]) -> str:
    """Return how this caption itself writes counterclockwise, else the default spelling."""
    for cue in cues:
        if cue.stem == "counterclockwise":
            return cue.text.lower()
    return _DEFAULT_COUNTER


def _target(cue: Cue, counter: str) -> str | None:
    match cue.stem:
        case "left":
            return match_case(cue.text, "right")
        case "right":
            return match_case(cue.text, "left")
        case "clockwise":
            new = counter
            if len(cue.text.split()) == 2 and counter == _DEFAULT_COUNTER:
                new = "counter clock wise"
            return match_case(cue.text, new)
        case "counterclockwise":
            new = "clock wise" if cue.split_wise else "clockwise"
            # "Counter-Clockwise" is capitalised as a title, which match_case does not know.
            return new.capitalize() if cue.text.istitle() else match_case(cue.text, new)
        case "cw":
            return match_case(cue.text, "ccw")
        case _:
            return match_case(cue.text, "cw")


def _article_edit(tokens: list[Token], cue: Cue, new: str) -> tuple[int, int, str] | None:
    """Return the edit that makes the article before a rotation word agree with it."""
    if cue.index == 0 or not cue.stem.endswith(("clockwise", "cw")):
        return None
    before = tokens[cue.index - 1]
    if before.low not in {"a", "an"}:
        return None
    wanted = "an" if new[:1].lower() in "aeiou" else "a"
    if wanted == before.low:
        return None
    written = wanted.upper() if before.text.isupper() and new.isupper() else wanted
    if before.text[0].isupper() and not written.isupper():
        written = written.capitalize()
    return before.start, before.end, written


def mirror(caption: str) -> Outcome:
    """Exchange left and right in a caption.

    Args:
        caption: A caption of one motion.

    Returns:
        ``item`` with every lateral word exchanged and every other character unchanged (save the
        article before a rotation word); ``not_applicable`` where nothing is lateral;
        ``rejected`` where a cue is ambiguous or not covered, or where the caption stays true
        after the exchange.

    >>> mirror("He left the room and turned LEFT.").text
    'He left the room and turned RIGHT.'
    """
    problem = unreadable(caption)
    if problem:
        return rejected(problem, "unreadable")
    tokens = tokenize(caption)
    cues = lateral_cues(tokens)
    for cue in cues:
        if cue.reading in {"ambiguous", "uncovered"}:
            return rejected(f"'{cue.text}': {cue.why}", cue.reading)
    lateral = [cue for cue in cues if cue.reading == "lateral"]
    if not lateral:
        why = f"'{cues[0].text}' here is {cues[0].why}" if cues else "no left, right or rotation"
        return not_applicable(why, "no_lateral")
    paired = invariant_pairs(tokens, lateral)
    if len(paired) == len(lateral):
        return rejected("both sides are named alike: still true after the exchange", "invariant")
    why_invariant = invariant_reason(tokens, lateral)
    if why_invariant:
        return rejected(why_invariant, "invariant")
    counter = _counter_spelling(lateral)
    edits: list[tuple[int, int, str]] = []
    targets: list[str] = []
    for cue in lateral:
        new = _target(cue, counter)
        if new is None:
            return rejected(f"'{cue.text}': unusual capitals", "uncovered")
        edits.append((cue.start, cue.end, new))
        targets.append(new)
        article = _article_edit(tokens, cue, new)
        if article:
            edits.append(article)
    text = replace_spans(caption, edits)
    return item(
        text,
        "left and right exchanged",
        "mirrored",
        {
            "source": " | ".join(cue.text for cue in lateral),
            "target": " | ".join(targets),
        },
    )
