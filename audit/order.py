"""Each person's order through a study: their own, the same every day, and fair to what is compared.

An item's place is the hash of study seed, person and item. Items that are compared with one
another, such as several methods' clips of one prompt, keep the places that the hashes give them,
but who stands where is set by rater: every rater gets another arrangement as long as there are
any, and within each round of as many raters as items, every item stands in every place once.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from math import factorial
from typing import TypeVar

_T = TypeVar("_T")

Entry = tuple[str, str | None]
"""An item's id, and what it shares with the items it is compared with."""


def hash_order(seed: int, person_id: str, item_id: str) -> bytes:
    """Return the sort key of an item in a person's order."""
    return hashlib.sha256(f"{seed}\x1f{person_id}\x1f{item_id}".encode()).digest()


def arrangement(items: Sequence[_T], number: int) -> list[_T]:
    """Return one of the arrangements of some items, all different for 0 to n! - 1.

    Each run of n numbers that begins at a multiple of n is a Latin square: every item stands once
    in every place.

    Args:
        items: The n items.
        number: Which arrangement; from n! on they come again.

    >>> [arrangement("abc", number) for number in (0, 1, 2)]
    [['a', 'b', 'c'], ['b', 'c', 'a'], ['c', 'a', 'b']]
    """
    if not items:
        return []
    turns, square = number % len(items), number // len(items)
    rest = list(items[1:])
    index = square % factorial(len(rest))
    arranged = [items[0]]
    while rest:
        step, index = divmod(index, factorial(len(rest) - 1))
        arranged.append(rest.pop(step))
    return arranged[turns:] + arranged[:turns]


@functools.lru_cache(maxsize=128)
def person_order(
    seed: int, person_id: str, rater: int, entries: tuple[Entry, ...]
) -> tuple[str, ...]:
    """Return the items of a study in a person's order.

    Args:
        seed: Seed of the study.
        person_id: The person.
        rater: Their number in the study, from 0 (code A1).
        entries: Items of the study, with what each is compared on.

    Returns:
        Ids of all items.
    """
    order = sorted(entries, key=lambda entry: hash_order(seed, person_id, entry[0]))
    groups: dict[str, list[str]] = {}
    for item_id, group in entries:
        if group is not None:
            groups.setdefault(group, []).append(item_id)
    arranged = {
        group: iter(arrangement(_shuffled(seed, group, ids), rater))
        for group, ids in groups.items()
    }
    return tuple(item_id if group is None else next(arranged[group]) for item_id, group in order)


def _shuffled(seed: int, group: str, item_ids: list[str]) -> list[str]:
    # The same for all raters, so that their arrangements differ, and another for each prompt.
    return sorted(item_ids, key=lambda item_id: hash_order(seed, f"group {group}", item_id))
