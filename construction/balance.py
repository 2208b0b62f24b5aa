"""Which candidates become items: limits, and equal numbers of both directions (STRIDE A.1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.items import Frozen
from benchmarks.stride import StrideAxis
from construction.sampling import seeded_order
from construction.stride_candidates import Candidate


class PairCount(Frozen):
    """Items of one action pair in its two directions, before and after balancing."""

    corpus: str
    """Corpus."""
    pair: str
    """Lemmas in alphabetical order, e.g. ``run/walk``."""
    forward: int
    """Candidates that replace the first by the second; one caption may have several pairs."""
    backward: int
    """Candidates that replace the second by the first."""
    kept: int
    """Items kept in each direction."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen among the candidates of one axis."""

    kept: tuple[Candidate, ...]
    """One candidate for each caption at most."""
    dropped: tuple[tuple[Candidate, str], ...]
    """For every caption that lost its place one candidate and why: ``limit`` or ``balance``."""


def pair_counts(candidates: Sequence[Candidate], kept: Sequence[Candidate]) -> list[PairCount]:
    """Count both directions of every action pair (STRIDE A.1).

    Args:
        candidates: Action Identity candidates before balancing.
        kept: Those that were kept.

    Returns:
        One row for each corpus and pair, by name.
    """
    before = Counter((c.corpus, *_direction(c)) for c in candidates)
    after = Counter((c.corpus, *_direction(c)) for c in kept)
    rows = []
    for corpus, pair in sorted({(corpus, pair) for corpus, pair, _ in before}):
        first, second = pair.split("/")
        forward, backward = f"{first}>{second}", f"{second}>{first}"
        rows.append(
            PairCount(
                corpus=corpus,
                pair=pair,
                forward=before[corpus, pair, forward],
                backward=before[corpus, pair, backward],
                kept=after[corpus, pair, forward],
            )
        )
    return rows


def choose_balanced(candidates: Mapping[str, Sequence[Candidate]], seed: int) -> list[Candidate]:
    """Choose at most one candidate per caption so that many survive balancing.

    Pairs are served in turn, the pair with most candidates in its rarer direction first.

    Args:
        candidates: Action Identity candidates of one corpus, by caption id.
        seed: Decides which captions serve a pair where there are more than needed.

    Returns:
        Candidates, one per caption at most, with equal numbers in both directions of every pair;
        in couples of both directions, every pair in turn, so that any even number from the start
        is balanced.
    """
    by_pair: dict[str, dict[str, dict[str, Candidate]]] = defaultdict(lambda: defaultdict(dict))
    for key, several in candidates.items():
        for candidate in several:
            pair, direction = _direction(candidate)
            by_pair[pair][direction].setdefault(key, candidate)
    couples: list[tuple[int, str, list[Candidate]]] = []
    taken: set[str] = set()
    while by_pair:
        fewest, best = max(
            (min(map(len, found.values())) if len(found) == 2 else 0, pair)
            for pair, found in by_pair.items()
        )
        if fewest == 0:
            break
        sides: list[list[Candidate]] = []
        for _, members in sorted(by_pair.pop(best).items()):
            order = sorted(members, key=lambda k: seeded_order(seed, "balance", k))
            sides.append([members[key] for key in order[:fewest]])
            taken.update(order[:fewest])
        couples += [(k, best, list(both)) for k, both in enumerate(zip(*sides, strict=True))]
        for found in by_pair.values():
            for members in found.values():
                for key in taken & members.keys():
                    del members[key]
    couples.sort(key=lambda couple: couple[:2])
    return [candidate for _, _, both in couples for candidate in both]


def _direction(candidate: Candidate) -> tuple[str, str]:
    """Return (pair, direction) of an Action Identity candidate."""
    source, target = candidate.edit["source_lemma"], candidate.edit["target_lemma"]
    return "/".join(sorted((source, target))), f"{source}>{target}"


def balance_directions(candidates: Sequence[Candidate], seed: int) -> Selection:
    """Keep equal numbers in both directions of every action pair, per corpus (STRIDE A.1).

    Args:
        candidates: Action Identity candidates, one for each caption.
        seed: Decides which of the direction in surplus are dropped.

    Returns:
        Kept in the order given, and dropped. A pair that occurs in one direction only is dropped
        whole.
    """
    groups: dict[tuple[str, str], dict[str, list[Candidate]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for candidate in candidates:
        pair, direction = _direction(candidate)
        groups[candidate.corpus, pair][direction].append(candidate)
    keep: set[tuple[str, str]] = set()
    for directions in groups.values():
        fewest = min(map(len, directions.values())) if len(directions) == 2 else 0
        for members in directions.values():
            members.sort(key=lambda c: seeded_order(seed, "balance", *c.key))
            keep |= {c.key for c in members[:fewest]}
    return Selection(
        kept=tuple(c for c in candidates if c.key in keep),
        dropped=tuple((c, "balance") for c in candidates if c.key not in keep),
    )


def select(
    candidates: Mapping[str, Sequence[Candidate]],
    axis: StrideAxis,
    seed: int,
    limit: int | None,
    per_clip: int | None,
) -> Selection:
    """Choose one candidate per caption within the limits.

    Args:
        candidates: Candidates of one axis, by caption id; several only for Action Identity.
        axis: The axis.
        seed: Decides what is kept.
        limit: At most this many per corpus; None for all.
        per_clip: At most this many per clip; None for all.

    Returns:
        The choice.
    """
    in_cell: Counter[str] = Counter()
    in_clip: Counter[str] = Counter()
    first = {caption_id: several[0] for caption_id, several in candidates.items()}
    order = sorted(first, key=lambda caption_id: seeded_order(seed, caption_id))
    usable: list[str] = []
    for caption_id in order:
        clip_id = first[caption_id].clip.id
        if per_clip is None or in_clip[clip_id] < per_clip:
            in_clip[clip_id] += 1
            usable.append(caption_id)
    chosen = {caption_id: first[caption_id] for caption_id in usable}
    dropped = {i: "limit" for i in order if i not in chosen}
    if axis == "action_identity":
        by_corpus: dict[str, dict[str, Sequence[Candidate]]] = defaultdict(dict)
        for caption_id in usable:
            by_corpus[first[caption_id].corpus][caption_id] = candidates[caption_id]
        balanced = [c for own in by_corpus.values() for c in choose_balanced(own, seed)]
        chosen = {c.caption.id: c for c in balanced}
        dropped |= {i: "balance" for i in usable if i not in chosen}
    kept: list[Candidate] = []
    for candidate in chosen.values():
        if limit is None or in_cell[candidate.corpus] < limit:
            in_cell[candidate.corpus] += 1
            kept.append(candidate)
        else:
            dropped[candidate.caption.id] = "limit"
    if axis == "action_identity":
        balance = balance_directions(kept, seed)
        kept = list(balance.kept)
        dropped |= {c.caption.id: code for c, code in balance.dropped}
    return Selection(
        tuple(kept), tuple((chosen.get(i, first[i]), code) for i, code in dropped.items())
    )
