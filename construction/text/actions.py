"""Action Identity: replace one verb by a visually distinct one (STRIDE 2.1, A.1).

The pairs are a closed table (``data/actions.toml``). A verb is replaced only where it is surely a
verb, where its arguments suit the other action, and where neither action (in any form, as a noun
too) occurs elsewhere in the caption.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from construction.text.morphology import Tag
from construction.text.outcome import Outcome, item, not_applicable, rejected
from construction.text.tables import table, words
from construction.text.tokens import Token, match_case, replace_spans, tokenize, unreadable
from construction.text.verb_use import verb_tag

RULE = "stride.action/3"
"""Name and version of this rule."""

_TAGS: tuple[Tag, ...] = ("VB", "VBZ", "VBG", "VBD", "VBN")
_SOMEBODY = frozenset({"something", "someone", "somebody"})
_BOUNDARIES = frozenset({".", ",", ";", ":", "!", "?", "then", "before", "after", "and"})


@dataclass(frozen=True, slots=True)
class ActionPair:
    """Two actions that may take each other's place."""

    verbs: tuple[str, str]
    """Their lemmas, in alphabetical order."""
    frame: str
    """What follows the verb: ``intransitive``, ``object``, ``body`` or ``any``."""
    block: frozenset[str]
    """Words whose presence in the clause rules the pair out."""
    block_to: dict[str, frozenset[str]]
    """The same, by the verb put in."""
    need: str
    """Word that must stand in the clause; empty for none."""


@cache
def action_pairs() -> tuple[ActionPair, ...]:
    """Return the closed list of action pairs."""
    return tuple(
        ActionPair(
            verbs=(min(row["verbs"]), max(row["verbs"])),
            frame=row["frame"],
            block=frozenset(row["block"].split()) - frozenset(row.get("allow", "").split()),
            block_to={k: frozenset(v.split()) for k, v in row.get("block_to", {}).items()},
            need=row.get("need", ""),
        )
        for row in _table()["pair"]
    )


def _table() -> dict[str, Any]:
    return table("actions")


@cache
def action_forms(lemma: str) -> dict[Tag, str]:
    """Return the inflections of a verb of the table.

    Args:
        lemma: A verb of the table.

    >>> action_forms("run")["VBD"]
    'ran'
    """
    return dict(zip(_TAGS, _table()["forms"][lemma], strict=True))


@cache
def _kin(lemma: str) -> frozenset[str]:
    """Every form of a verb and every word for a like action."""
    kin = set(action_forms(lemma).values()) | set(str(_table()["related"][lemma]).split())
    return frozenset(kin)


@cache
def _by_form() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in action_pairs():
        for lemma in pair.verbs:
            for form in action_forms(lemma).values():
                found.setdefault(form, set()).add(lemma)
    return {form: frozenset(lemmas) for form, lemmas in found.items()}


def _clause(tokens: list[Token], i: int) -> tuple[list[str], list[str]]:
    """Words before and after token i within its clause."""
    before: list[str] = []
    for token in reversed(tokens[:i]):
        if token.low in _BOUNDARIES:
            break
        before.append(token.low)
    after: list[str] = []
    for token in tokens[i + 1 :]:
        if token.low in _BOUNDARIES - {"and"} or (token.low == "and" and len(after) > 12):
            break
        if token.low == "and" and after:
            break
        after.append(token.low)
    return before, after


def _frame_problem(frame: str, after: list[str], *, gait: bool) -> str | None:
    """Say why the words after the verb do not suit the frame of the pair, or return None."""
    first = after[0] if after else ""
    determined = first in words("verb_use", "determiners")
    if first in words("actions", "particles") and after[1:] and not gait:
        behind = words("verb_use", "determiners") | _SOMEBODY
        if after[1] in behind:
            return "it has an object behind a particle"
    if frame == "intransitive":
        fits = (
            not first
            or first in words("verb_use", "followers")
            or first.endswith(("ly", "ward", "wards"))
        )
        return None if fits else "it has an object or a particle"
    if frame == "body":
        part = next((w for w in after[:5] if w in words("verb_use", "body_parts")), None)
        bare = first in {"both", "one"} or first in words("verb_use", "body_parts")
        return None if part and (determined or bare) else "its object is no part of the body"
    if frame == "object":
        fits = determined or first in _SOMEBODY | {"it", "him", "them"}
        if fits and any(w in words("verb_use", "body_parts") for w in after[:4]):
            return "its object is a part of the body"
        return None if fits else "it has no object"
    return None


def _candidate(
    caption: str, tokens: list[Token], i: int, source: str, target: str, pair: ActionPair
) -> Outcome:
    low = [t.low for t in tokens]
    source_kin, target_kin = _kin(source), _kin(target)
    if sum(w in action_forms(source).values() for w in low) > 1:
        return rejected(f"'{source}' occurs more than once", "repeated_action")
    if any(w in source_kin for j, w in enumerate(low) if j != i):
        return rejected(f"another word for '{source}' stands in the caption", "related_action")
    if any(w in target_kin and w not in source_kin for w in low):
        return rejected(f"'{target}' or a like action stands in the caption", "related_action")
    tag = verb_tag(tokens, i, action_forms(source))
    if tag is None:
        return rejected(f"'{tokens[i].text}' is perhaps no verb here", "unclear_use")
    before, after = _clause(tokens, i)
    blocked = pair.block | pair.block_to.get(target, frozenset())
    found = next((w for w in [*after, *before] if w in blocked), None)
    if found is None and source in words("actions", "leaps"):
        found = next((w for w in low if w in words("actions", "flight")), None)
    if found is None and target in {"lower", "raise"} and "down" in low:
        found = "down"
    if found is None and source in words("actions", "gaits"):
        manner = words("actions", "gait_manner")
        found = next((w for j, w in enumerate(low) if j != i and w in manner), None)
        if "foot in front of" in " ".join(low):
            found = "one foot in front of the other"
    if found is None and _several_sentences(tokens):
        # "The person walks to a chair. The steps are slow." tells of the walk once more.
        manner = pair.block_to.get(target, frozenset())
        if source in words("actions", "gaits"):
            manner |= words("actions", "gait_words")
        found = next((w for j, w in enumerate(low) if j != i and w in manner), None)
    if found:
        return rejected(f"'{found}' does not suit '{target}'", "arguments")
    if pair.need and pair.need not in after:
        return rejected(f"'{source}' without '{pair.need}' does not suit '{target}'", "arguments")
    misfit = _frame_problem(pair.frame, after, gait=source in words("actions", "gaits"))
    if misfit:
        return rejected(f"'{tokens[i].text}': {misfit}", "arguments")
    new = match_case(tokens[i].text, action_forms(target)[tag])
    if new is None:
        return rejected(f"'{tokens[i].text}': unusual capitals", "unclear_use")
    text = replace_spans(
        caption, [(tokens[i].start, tokens[i].end, new), *_article(tokens, i, new)]
    )
    return item(
        text,
        f"'{tokens[i].text}' replaced by '{new}'",
        "replaced",
        {
            "source": tokens[i].text,
            "target": new,
            "source_lemma": source,
            "target_lemma": target,
            "tag": tag,
        },
    )


def _several_sentences(tokens: list[Token]) -> bool:
    """Whether a word follows the end of a sentence."""
    return any(a.low in {".", "!", "?"} and b.word for a, b in pairwise(tokens))


def _article(tokens: list[Token], i: int, new: str) -> list[tuple[int, int, str]]:
    before = tokens[i - 1] if i else None
    if before is None or before.low not in {"a", "an"}:
        return []
    wanted = "an" if new[0].lower() in "aeiou" else "a"
    written = match_case(before.text, wanted)
    if before.low == wanted or written is None:
        return []
    return [(before.start, before.end, written)]


def action_candidates(caption: str) -> list[Outcome]:
    """Try every action pair on every verb of a caption.

    Args:
        caption: A caption of one motion.

    Returns:
        One outcome per occurrence and pair, in order of the text and the table; empty when no
        verb of the table occurs.
    """
    tokens = tokenize(caption)
    found: list[Outcome] = []
    for i, token in enumerate(tokens):
        for source in sorted(_by_form().get(token.low, ())):
            for pair in action_pairs():
                if source in pair.verbs:
                    target = pair.verbs[pair.verbs[0] == source]
                    found.append(_candidate(caption, tokens, i, source, target, pair))
    return found


def swaps(caption: str) -> tuple[Outcome, ...]:
    """Replace one action of a caption by a visually distinct one, in every sound way.

    Args:
        caption: A caption of one motion.

    Returns:
        One ``item`` for each replacement; else a single ``not_applicable`` where no verb of the
        table occurs, or ``rejected`` where one does but no replacement is sound.

    >>> swaps("a man walks in place.")[0].text
    'a man runs in place.'
    """
    problem = unreadable(caption)
    if problem:
        return (rejected(problem, "unreadable"),)
    candidates = action_candidates(caption)
    if not candidates:
        return (not_applicable("no action of the pair table", "no_action"),)
    good = tuple(c for c in candidates if c.outcome == "item")
    if good:
        return good
    order = ("repeated_action", "related_action", "unclear_use", "arguments")
    return (min(candidates, key=lambda c: order.index(c.reason_code)),)
