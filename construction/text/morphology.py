"""Inflection of the verbs that captions of motions use.

A closed list with an irregular table instead of a general inflector: the rules must know which
words are verbs of motion at all, and a wrong form is worse than a caption passed over
(docs/decisions/020-verb-forms.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from construction.text.tables import table

Tag = Literal["VB", "VBZ", "VBG", "VBD", "VBN"]
"""Penn Treebank tags: base, third person singular, -ing form, past, past participle."""

_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a word form as a verb."""

    lemma: str
    """Base form."""
    tag: Tag
    """Inflection."""


def _third(lemma: str) -> str:
    if lemma.endswith(("s", "x", "z", "ch", "sh")) or (
        lemma.endswith("o") and lemma[-2:-1] not in _VOWELS
    ):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2:-1] not in _VOWELS:
        return lemma[:-1] + "ies"
    return lemma + "s"


def _ing(lemma: str) -> str:
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")):
        return lemma[:-1] + "ing"
    return lemma + "ing"


def _past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2:-1] not in _VOWELS:
        return lemma[:-1] + "ied"
    return lemma + "ed"


@cache
def _lexicon() -> dict[str, dict[Tag, str]]:
    data = table("verbs")
    lexicon: dict[str, dict[Tag, str]] = {}
    for lemma in str(data["regular"]).split():
        past = _past(lemma)
        lexicon[lemma] = {
            "VB": lemma,
            "VBZ": _third(lemma),
            "VBG": _ing(lemma),
            "VBD": past,
            "VBN": past,
        }
    for lemma in str(data["double"]).split():
        stem = lemma + lemma[-1]
        lexicon[lemma] = {
            "VB": lemma,
            "VBZ": _third(lemma),
            "VBG": stem + "ing",
            "VBD": stem + "ed",
            "VBN": stem + "ed",
        }
    for lemma, (third, ing, past, participle) in data["irregular"].items():
        lexicon[lemma] = {
            "VB": lemma,
            "VBZ": third,
            "VBG": ing,
            "VBD": past,
            "VBN": participle,
        }
    return lexicon


@cache
def _readings() -> dict[str, tuple[Reading, ...]]:
    found: dict[str, list[Reading]] = {}
    for lemma, forms in _lexicon().items():
        for tag, form in forms.items():
            found.setdefault(form, []).append(Reading(lemma, tag))
    return {form: tuple(readings) for form, readings in found.items()}


def readings(word: str) -> tuple[Reading, ...]:
    """Return every reading of a lower-case word as a known verb; empty when there is none.

    >>> [(r.lemma, r.tag) for r in readings("hopping")]
    [('hop', 'VBG')]
    """
    return _readings().get(word, ())


def inflect(lemma: str, tag: Tag) -> str | None:
    """Inflect a known verb.

    Args:
        lemma: Base form, lower case.
        tag: Wanted inflection.

    Returns:
        The form, or None for a verb that is not in the list.

    >>> inflect("lie", "VBG"), inflect("clap", "VBG"), inflect("carry", "VBZ")
    ('lying', 'clapping', 'carries')
    """
    forms = _lexicon().get(lemma)
    return forms[tag] if forms else None


def lemmas(word: str) -> frozenset[str]:
    """Return the lemmas a word can be a form of; the word itself when it is no known verb."""
    return frozenset(r.lemma for r in readings(word)) or frozenset({word})


def verb_lemmas(word: str) -> frozenset[str]:
    """Return the lemmas of a word read as a known verb; empty for any other word."""
    return frozenset(r.lemma for r in readings(word))
