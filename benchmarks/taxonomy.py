"""A taxonomy of motions in three levels, with rules that recognise a category by its words.

MRBench files its motions under 7 coarse, 33 middle and 118 fine categories (Benchmark
Statistics). The names and rules of ``taxonomy.toml`` are ours; a file of the same layout can take
its place.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from pydantic import Field

from benchmarks.items import Frozen

LEVELS = ("coarse", "middle", "fine")
"""From the wide group to the narrow one."""

_MAX_NAME = 60
_TERM = re.compile(r"!?[^\W_]+(?:_[^\W_]+)*(?:\|[^\W_]+(?:_[^\W_]+)*)*")


class Rule(NamedTuple):
    """Words that make a category."""

    required: tuple[tuple[tuple[str, ...], ...], ...]
    """Terms that must all be there; each a choice of phrases, a phrase being one or more words."""
    absent: tuple[tuple[str, ...], ...]
    """Phrases none of which may be there."""


class Category(Frozen):
    """One fine category."""

    coarse: str
    """Name of the wide group."""
    middle: str
    """Name of the group within."""
    fine: str
    """Name of the category; no two categories share it."""
    rules: tuple[str, ...] = ()
    """Rules as written; a category without one is only assigned by a model."""

    @property
    def path(self) -> tuple[str, str, str]:
        """Coarse, middle, fine."""
        return self.coarse, self.middle, self.fine

    def parsed(self) -> tuple[Rule, ...]:
        """Return the rules taken apart.

        Raises:
            ValueError: A rule that is not of the form described in ``taxonomy.toml``.
        """
        return tuple(_rule(text, self.fine) for text in self.rules)


class Taxonomy(Frozen):
    """All categories, in the order of the file."""

    title: str = Field(min_length=1, max_length=200)
    """Name of the taxonomy, for reports."""
    version: int = Field(ge=1)
    """Raised whenever a name or rule changes."""
    categories: tuple[Category, ...] = Field(min_length=1)
    """Fine categories with their groups."""
    sha256: str
    """SHA-256 (hex) of the file."""

    def counts(self) -> tuple[int, int, int]:
        """Return how many coarse, middle and fine categories there are."""
        coarse = {c.coarse for c in self.categories}
        middle = {(c.coarse, c.middle) for c in self.categories}
        return len(coarse), len(middle), len(self.categories)

    def find(self, fine: str) -> Category | None:
        """Return the category of a fine name, whatever its case; None where there is none."""
        wanted = " ".join(fine.casefold().split())
        return next((c for c in self.categories if c.fine.casefold() == wanted), None)


def read_taxonomy(raw: bytes) -> Taxonomy:
    """Read and check a taxonomy file.

    Args:
        raw: The file's bytes: TOML, UTF-8.

    Returns:
        The taxonomy.

    Raises:
        ValueError: It is no such file: which part, what was expected, what came.
    """
    try:
        data = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"expected TOML: {error}") from error
    if unknown := sorted(set(data) - {"version", "title", "categories"}):
        raise ValueError(f"expected version, title and categories, got {unknown[0]!r} besides")
    version, title = data.get("version"), data.get("title")
    if type(version) is not int or version < 1:
        raise ValueError(f"version: expected a whole number from 1, got {version!r}")
    if not isinstance(title, str) or not 0 < len(title.strip()) <= 200:
        raise ValueError(f"title: expected text of 1 to 200 characters, got {title!r}")
    found = tuple(_categories(data.get("categories")))
    if not found:
        raise ValueError("categories: expected at least one fine category, got none")
    seen: dict[str, Category] = {}
    for category in found:
        if other := seen.get(category.fine.casefold()):
            both = f"{' / '.join(other.path)} and {' / '.join(category.path)}"
            raise ValueError(f"expected each fine name once, {category.fine!r} stands in {both}")
        seen[category.fine.casefold()] = category
        category.parsed()
    return Taxonomy(
        title=title.strip(),
        version=version,
        categories=found,
        sha256=hashlib.sha256(raw).hexdigest(),
    )


@cache
def default_taxonomy() -> Taxonomy:
    """Return our own taxonomy: 7 coarse, 33 middle, 118 fine categories."""
    return read_taxonomy((resources.files("benchmarks") / "taxonomy.toml").read_bytes())


def _categories(tree: Any) -> Iterator[Category]:
    for coarse, middles in _named(tree, "categories"):
        for middle, fines in _named(middles, f"categories / {coarse}"):
            for fine, rules in _named(fines, f"categories / {coarse} / {middle}"):
                where = f"{coarse} / {middle} / {fine}"
                if not isinstance(rules, list) or not all(isinstance(r, str) for r in rules):
                    raise ValueError(f"{where}: expected a list of rules, got {rules!r:.60}")
                yield Category(coarse=coarse, middle=middle, fine=fine, rules=tuple(rules))


def _named(tree: Any, where: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(tree, dict) or not tree:
        raise ValueError(f"{where}: expected a table of names, got {tree!r:.60}")
    for name, below in tree.items():
        if name != name.strip() or not 0 < len(name) <= _MAX_NAME or not name.isprintable():
            raise ValueError(f"{where}: expected a name of 1 to {_MAX_NAME} signs, got {name!r}")
        yield name, below


def _rule(text: str, fine: str) -> Rule:
    terms = text.casefold().split()
    bad = next((term for term in terms if not _TERM.fullmatch(term)), None)
    if bad is not None:
        raise ValueError(f"{fine}: rule {text!r}: expected words, a|b, a_b or !a, got {bad!r}")
    required = tuple(_phrases(term) for term in terms if not term.startswith("!"))
    if not required:
        raise ValueError(f"{fine}: rule {text!r}: expected a word that must be there")
    absent = tuple(p for term in terms if term.startswith("!") for p in _phrases(term[1:]))
    return Rule(required=required, absent=absent)


def _phrases(term: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(choice.split("_")) for choice in term.split("|"))
