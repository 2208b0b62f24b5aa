"""Filing captions under the taxonomy: by its rules where they agree, else by a language model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from benchmarks.items import Frozen
from benchmarks.taxonomy import Category, Rule, Taxonomy, read_taxonomy
from construction.mrbench.candidates import Candidate, refuse
from construction.report import Rejected
from construction.stages import Stages
from construction.text.morphology import verb_lemmas
from construction.text.tokens import tokenize
from corpus.problems import InputError
from llm.outcome import Reply
from llm.requests import Request

STAGE = "classify"
"""Name of the stage that asks a model."""
SPAN = 7
"""Most words from the first to the last word of a rule (ours)."""
NONE = "none"
"""What the model answers where no category fits."""

_BREAKS = frozenset({"then", "before", "after", "finally", "followed", "afterwards", "next"})
_MARKS = frozenset({",", ".", ";", ":", "!", "?"})


class Filed(NamedTuple):
    """A candidate with its category."""

    candidate: Candidate
    """The candidate."""
    category: Category
    """Where it is filed."""
    by: Literal["rule", "model", "first_rule"]
    """``rule``: one category fits; ``model``: a model chose; ``first_rule``: several fit, the first
    one named was taken because there was no model to ask."""
    others: tuple[str, ...] = ()
    """Other fine categories whose rules fit."""
    reply: Reply[CategoryChoice] | None = None
    """The model's answer, where one chose."""


class CategoryChoice(Frozen):
    """What the model answers."""

    category: str = Field(description="Name of the fine category exactly as listed, or none.")
    reason: str = Field(description="One sentence: the principal motion that decides.")


class RuleMatcher:
    """The rules of a taxonomy, ready to be matched against many captions."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        """Index every rule by the words that can begin it."""
        self._by_word: dict[str, list[int]] = {}
        self._rules: list[tuple[int, Rule, tuple[frozenset[str], ...]]] = []
        self._categories = taxonomy.categories
        for number, category in enumerate(taxonomy.categories):
            for rule in category.parsed():
                heads = tuple(frozenset(phrase[0] for phrase in term) for term in rule.required)
                for word in heads[0]:
                    self._by_word.setdefault(word, []).append(len(self._rules))
                self._rules.append((number, rule, heads))

    def match(self, caption: str) -> tuple[Category, ...]:
        """Return the fine categories whose rules fit, by their first mention.

        A caption is read part by part between "then", "before", commas and the like. Within a part
        a category whose words are all words of another one's too gives way to it: "jumps forward"
        is no "jumps".

        Args:
            caption: The caption.

        Returns:
            The categories, each once.
        """
        found: list[int] = []
        for part in _parts(caption):
            places: dict[int, set[int]] = {}
            for number, rule in self._likely(part):
                if (fits := _fit(rule, part)) is not None:
                    places.setdefault(number, set()).update(fits)
            best = [
                (min(own), number)
                for number, own in places.items()
                if not any(own < other for other in places.values())
            ]
            found += [number for _, number in sorted(best)]
        return tuple(self._categories[number] for number in dict.fromkeys(found))

    def _likely(self, part: Sequence[frozenset[str]]) -> list[tuple[int, Rule]]:
        """Return the rules all of whose words begin somewhere in a part."""
        forms = frozenset().union(*part)
        begun = {at for form in forms for at in self._by_word.get(form, ())}
        return [
            (number, rule)
            for number, rule, heads in map(self._rules.__getitem__, begun)
            if not any(head.isdisjoint(forms) for head in heads)
        ]


def load_taxonomy(path: Path) -> Taxonomy:
    """Read a user's taxonomy.

    Args:
        path: A file laid out as ``benchmarks/taxonomy.toml``.

    Returns:
        The taxonomy.

    Raises:
        InputError: It cannot be read, or is no such file.
    """
    try:
        return read_taxonomy(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except ValueError as error:
        raise InputError(str(error), file=str(path)) from error


def classify(
    candidates: Sequence[Candidate], taxonomy: Taxonomy, stages: Stages
) -> tuple[list[Filed], list[Rejected]]:
    """File candidates: by rule where exactly one category fits, else by the model of the stage.

    Args:
        candidates: The candidates.
        taxonomy: The taxonomy.
        stages: Models; without one for ``classify`` the first category named is taken where several
            fit, and captions that none fits are refused.

    Returns:
        Filed candidates in the order given, and the refused.
    """
    matcher = RuleMatcher(taxonomy)
    fits = [matcher.match(candidate.caption.text) for candidate in candidates]
    unsure = [place for place, found in enumerate(fits) if len(found) != 1]
    answers: dict[int, Reply[CategoryChoice]] = {}
    if stages.has(STAGE) and unsure:
        replies = _ask([candidates[place] for place in unsure], taxonomy, stages)
        answers = dict(zip(unsure, replies, strict=True))
    filed: list[Filed] = []
    refused: list[Rejected] = []
    for place, (candidate, found) in enumerate(zip(candidates, fits, strict=True)):
        reply = answers.get(place)
        if stages.dry_run and reply is not None and reply.value is None:
            # Reckoned with as though a model filed it, so that later stages are reckoned too.
            found, reply = found or (taxonomy.categories[place % len(taxonomy.categories)],), None
        outcome = _settle(candidate, found, reply, taxonomy)
        if isinstance(outcome, Filed):
            filed.append(outcome)
        else:
            refused.append(outcome)
    return filed, refused


def _settle(
    candidate: Candidate,
    found: tuple[Category, ...],
    reply: Reply[CategoryChoice] | None,
    taxonomy: Taxonomy,
) -> Filed | Rejected:
    others = tuple(category.fine for category in found[1:])
    if reply is None:
        if not found:
            reason = "no rule fits and no model was asked"
            return refuse(candidate, STAGE, "no_category", reason)
        return Filed(candidate, found[0], "first_rule" if others else "rule", others)
    if reply.value is None:
        return refuse(candidate, STAGE, f"classify_{reply.outcome}", reply.reason)
    named = reply.value.category.strip().rsplit("/", 1)[-1].strip()
    if named.casefold() == NONE:
        return refuse(candidate, STAGE, "no_category", reply.value.reason)
    category = taxonomy.find(named)
    if category is None:
        reason = f"the model named a category that is not in the taxonomy: {named:.60}"
        return refuse(candidate, STAGE, "unknown_category", reason)
    others = tuple(c.fine for c in found if c.fine != category.fine)
    return Filed(candidate, category, "model", others, reply)


def _ask(
    candidates: Sequence[Candidate], taxonomy: Taxonomy, stages: Stages
) -> list[Reply[CategoryChoice]]:
    asked = stages.prompts.load("mrbench.classify")
    listed = [" / ".join(category.path) for category in taxonomy.categories]
    requests = [
        Request(
            id=candidate.caption.id,
            prompt=asked.render({"caption": candidate.caption.text, "categories": listed}),
        )
        for candidate in candidates
    ]
    return stages.ask(STAGE, requests, CategoryChoice)


def _parts(caption: str) -> list[list[frozenset[str]]]:
    parts: list[list[frozenset[str]]] = [[]]
    for token in tokenize(caption):
        if token.low in _BREAKS or token.low in _MARKS:
            parts.append([])
        elif token.word:
            parts[-1].append(_forms(token.low))
    return [part for part in parts if part]


@cache
def _forms(word: str) -> frozenset[str]:
    """Return a word, the verbs it can be a form of, and its singular."""
    singular = {word[:-1]} if word.endswith("s") and len(word) > 3 and word[-2] != "s" else set()
    return frozenset({word, *verb_lemmas(word), *singular})


def _fit(rule: Rule, part: Sequence[frozenset[str]]) -> set[int] | None:
    """Return the places of a rule's words in a part of a caption; None where it does not fit."""
    if any(_phrase_places(phrase, part) for phrase in rule.absent):
        return None
    choices = [
        [place for phrase in term for place in _phrase_places(phrase, part)]
        for term in rule.required
    ]
    if not all(choices):
        return None
    for start in choices[0]:
        taken = set(start)
        for others in choices[1:]:
            free = [place for place in others if taken.isdisjoint(place)]
            if not free:
                break
            _, nearest = min((abs(place[0] - start[0]), place) for place in free)
            taken |= set(nearest)
        else:
            if max(taken) - min(taken) < SPAN:
                return taken
    return None


def _phrase_places(
    phrase: tuple[str, ...], part: Sequence[frozenset[str]]
) -> list[tuple[int, ...]]:
    size = len(phrase)
    return [
        tuple(range(at, at + size))
        for at in range(len(part) - size + 1)
        if all(word in part[at + k] for k, word in enumerate(phrase))
    ]
