"""Equal numbers in both directions of every action pair (STRIDE A.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from benchmarks.items import Frozen, Item
from construction.sampling import seeded_order


class BalanceReport(Frozen):
    """What balancing the directions of action pairs kept."""

    kept: tuple[Item, ...]
    """Items kept, in the order given."""
    dropped: tuple[Item, ...]
    """Items dropped because their direction was in surplus."""
    by_pair: dict[str, dict[str, int]]
    """For each action pair: items found in each direction, e.g. ``{"walk>run": 7, …}``, and
    ``kept`` in each direction."""


def choose_balanced(candidates: Mapping[str, Sequence[Item]], seed: int) -> list[Item]:
    """Choose at most one item per caption so that many survive balancing.

    Pairs are served in turn, the pair with most items in its rarer direction first.

    Args:
        candidates: Action Identity items of one corpus, by caption id.
        seed: Decides which captions serve a pair where there are more than needed.

    Returns:
        Items, one per caption at most, with equal numbers in both directions of every pair.
    """
    left = {key: list(items) for key, items in candidates.items()}
    chosen: list[Item] = []
    while True:
        by_pair: dict[str, dict[str, dict[str, Item]]] = defaultdict(lambda: defaultdict(dict))
        for key, items in left.items():
            for item in items:
                pair, direction = _direction(item)
                by_pair[pair][direction].setdefault(key, item)
        best = max(
            (
                (min(map(len, d.values())), pair)
                for pair, d in sorted(by_pair.items())
                if len(d) == 2
            ),
            default=(0, ""),
        )
        if best[0] == 0:
            return chosen
        for members in by_pair[best[1]].values():
            order = sorted(members, key=lambda k: seeded_order(seed, "balance", k))
            for key in order[: best[0]]:
                chosen.append(members[key])
                left.pop(key, None)
        for key, items in left.items():
            left[key] = [i for i in items if _direction(i)[0] != best[1]]


def _direction(item: Item) -> tuple[str, str]:
    """Return (pair, direction) of an Action Identity item."""
    edit = item.payload["edit"]
    source, target = edit["source_lemma"], edit["target_lemma"]
    return "/".join(sorted((source, target))), f"{source}>{target}"


def balance_directions(items: Sequence[Item], seed: int) -> BalanceReport:
    """Keep equal numbers in both directions of every action pair, per corpus (STRIDE A.1).

    Args:
        items: Action Identity items; ``edit`` of the payload names ``source_lemma`` and
            ``target_lemma``.
        seed: Decides which items of the direction in surplus are dropped.

    Returns:
        Items kept and dropped, and the counts by corpus and pair. A pair that occurs in one
        direction only is dropped whole.
    """
    groups: dict[tuple[str, str], dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        edit = item.payload["edit"]
        source, target = edit["source_lemma"], edit["target_lemma"]
        pair = "/".join(sorted((source, target)))
        groups[item.stratum["corpus"], pair][f"{source}>{target}"].append(item)
    keep: set[str] = set()
    by_pair: dict[str, dict[str, int]] = {}
    for (corpus, pair), directions in sorted(groups.items()):
        first, second = pair.split("/")
        counts = {d: len(directions[d]) for d in (f"{first}>{second}", f"{second}>{first}")}
        fewest = min(counts.values())
        for members in directions.values():
            members.sort(key=lambda i: seeded_order(seed, "balance", i.id))
            keep |= {item.id for item in members[:fewest]}
        by_pair[f"{corpus}: {pair}"] = {**counts, "kept": fewest}
    return BalanceReport(
        kept=tuple(i for i in items if i.id in keep),
        dropped=tuple(i for i in items if i.id not in keep),
        by_pair=by_pair,
    )
