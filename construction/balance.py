"""Which candidates become items: limits, and equal numbers of both directions (STRIDE A.1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from benchmarks.items import Frozen, Item
from benchmarks.stride import StrideAxis
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


def select_items(
    candidates: Mapping[str, Sequence[Item]],
    axis: StrideAxis,
    seed: int,
    limit: int | None,
    per_clip: int | None,
) -> tuple[list[Item], list[tuple[Item, str]]]:
    """Choose one item per caption within the limits.

    Args:
        candidates: Items of one axis, by caption id; several only for Action Identity.
        axis: The axis.
        seed: Decides what is kept.
        limit: At most this many items per corpus; None for all.
        per_clip: At most this many items per clip; None for all.

    Returns:
        Items kept, and for every caption that lost its place one item and the reason:
        ``limit`` or ``balance``.
    """
    in_cell: Counter[str] = Counter()
    in_clip: Counter[str] = Counter()
    first = {caption_id: items[0] for caption_id, items in candidates.items()}
    order = sorted(first, key=lambda caption_id: seeded_order(seed, caption_id))
    usable: list[str] = []
    for caption_id in order:
        clip_id = str(first[caption_id].payload["clip_id"])
        if per_clip is None or in_clip[clip_id] < per_clip:
            in_clip[clip_id] += 1
            usable.append(caption_id)
    chosen = {caption_id: first[caption_id] for caption_id in usable}
    dropped = {i: "limit" for i in order if i not in chosen}
    if axis == "action_identity":
        by_corpus: dict[str, dict[str, Sequence[Item]]] = defaultdict(dict)
        for caption_id in usable:
            by_corpus[first[caption_id].stratum["corpus"]][caption_id] = candidates[caption_id]
        balanced = [i for own in by_corpus.values() for i in choose_balanced(own, seed)]
        chosen = {str(i.payload["caption_id"]): i for i in balanced}
        dropped |= {i: "balance" for i in usable if i not in chosen}
    kept: list[Item] = []
    for item in chosen.values():
        corpus = item.stratum["corpus"]
        if limit is None or in_cell[corpus] < limit:
            in_cell[corpus] += 1
            kept.append(item)
        else:
            dropped[str(item.payload["caption_id"])] = "limit"
    if axis == "action_identity":
        report = balance_directions(kept, seed)
        kept = list(report.kept)
        dropped |= {str(i.payload["caption_id"]): "balance" for i in report.dropped}
    return kept, [(first[caption_id], code) for caption_id, code in dropped.items()]
