"""Drafting STRIDE items from captions by rule, with no language model (STRIDE 2.1, 2.2, A.1).

The paper's two checks that need a text scorer, the likelihood gap and the text-only check of
Action Identity, are not made here: they take a scorer as input and run after drafting.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata

from benchmarks.items import Frozen, Item, Provenance, content_hash, make_item
from benchmarks.stride import AXES, StrideAxis, Triplet
from construction.text import mirror as mirror_rule
from construction.text.outcome import Outcome, OutcomeKind, not_applicable, rejected
from construction.text.outcome import item as item_outcome
from construction.text.tables import table_hash
from construction.text.tokens import unreadable
from corpus.clips import Caption, Clip
from corpus.problems import InputError

RANDOM_RULE = "stride.random/1"
"""Name and version of the Random Content rule."""

_DRAWS = 16

Editor = Callable[[str, int], Outcome]

_EDITORS: dict[StrideAxis, Editor] = {
    "mirror_reflection": lambda caption, seed: mirror_rule.mirror(caption),
}
_RULES: dict[StrideAxis, tuple[str, tuple[str, ...]]] = {
    "mirror_reflection": (mirror_rule.RULE, ("lateral", "verbs")),
    "random_content": (RANDOM_RULE, ()),
}


class Passed(Frozen):
    """A caption that made no item on an axis."""

    corpus: str
    """Corpus of the clip."""
    clip_id: str
    """The clip."""
    caption_id: str
    """The caption."""
    axis: StrideAxis
    """The axis."""
    outcome: OutcomeKind
    """``not_applicable`` or ``rejected``."""
    reason_code: str
    """Short stable name of the reason."""
    reason: str
    """The reason in words."""


class CellCount(Frozen):
    """Counts of one corpus × axis cell; items + not_applicable + rejected = captions tried."""

    corpus: str
    """Corpus."""
    axis: StrideAxis
    """Axis."""
    items: int
    """Items drafted."""
    not_applicable: int
    """Captions the axis does not concern."""
    rejected: int
    """Captions or candidates refused by a check."""
    reasons: dict[str, int]
    """Number of captions passed over, by reason code."""


class DraftResult(Frozen):
    """What a draft produced and what it passed over."""

    items: tuple[Item, ...]
    """Drafted items, ordered by corpus, axis, clip and caption."""
    passed: tuple[Passed, ...]
    """Captions that made no item, in the same order."""
    cells: tuple[CellCount, ...]
    """Counts by corpus and axis."""


class BalanceReport(Frozen):
    """What balancing the directions of action pairs kept."""

    kept: tuple[Item, ...]
    """Items kept, in the order given."""
    dropped: tuple[Item, ...]
    """Items dropped because their direction was in surplus."""
    by_pair: dict[str, dict[str, int]]
    """For each action pair: items found in each direction, e.g. ``{"walk>run": 7, …}``, and
    ``kept`` in each direction."""


def seeded_order(seed: int, *keys: str) -> str:
    """Return a hex key whose order is a fixed shuffle.

    Args:
        seed: Study or draft seed.
        keys: What is ordered, e.g. an item id.
    """
    return hashlib.sha256("\x1f".join([str(seed), *keys]).encode()).hexdigest()


def _same_text(caption: str) -> str:
    return " ".join(caption.casefold().replace(".", " ").split())


def random_content(
    caption: str,
    key: str,
    candidates: Sequence[tuple[str, str]],
    seed: int,
    avoid: Iterable[str] = (),
    allowed: Callable[[str], bool] = lambda _: True,
) -> Outcome:
    """Take the caption of another motion of the corpus (STRIDE 2.1, reference axis).

    Args:
        caption: The ground-truth caption.
        key: Its id; the draw depends on seed, key and the candidates.
        candidates: (caption id, text) of the corpus, in a fixed order.
        seed: Seed of the draw.
        avoid: Texts that are also true of this motion, e.g. its other captions.
        allowed: Whether a caption id may be drawn (another motion); all may by default.

    Returns:
        ``item`` with another caption that differs in more than case, spaces and full stops;
        ``rejected`` where there is none.
    """
    true_of_motion = {_same_text(caption), *map(_same_text, avoid)}

    def usable(candidate: tuple[str, str]) -> bool:
        found, text = candidate
        if found == key or not allowed(found) or unreadable(text):
            return False
        return _same_text(text) not in true_of_motion

    # A few draws nearly always succeed; only then is the whole corpus searched.
    for attempt in range(_DRAWS if candidates else 0):
        drawn = candidates[int(seeded_order(seed, key, str(attempt)), 16) % len(candidates)]
        if usable(drawn):
            return item_outcome(
                drawn[1], "caption of another motion", "drawn", {"source_caption": drawn[0]}
            )
    rest = [candidate for candidate in candidates if usable(candidate)]
    if not rest:
        return rejected("no other motion has a different caption", "no_other_caption")
    drawn = rest[int(seeded_order(seed, key), 16) % len(rest)]
    return item_outcome(
        drawn[1], "caption of another motion", "drawn", {"source_caption": drawn[0]}
    )


def edit_caption(caption: str, axis: StrideAxis, seed: int = 0) -> Outcome:
    """Edit one caption on one structural axis.

    Args:
        caption: The caption.
        axis: ``temporal_order``, ``mirror_reflection`` or ``action_identity``.
        seed: Decides between several possible actions; the other axes have one edit at most.

    Returns:
        The edit, or why there is none.

    Raises:
        InputError: The axis is unknown, or is ``random_content``, which needs other captions.
    """
    editor = _EDITORS.get(axis)
    if editor is None:
        raise InputError(f"axis: expected one of {', '.join(_EDITORS)}, got {axis}")
    if not caption.strip():
        return not_applicable("empty caption", "empty")
    return editor(caption, seed)


def rule_provenance(axis: StrideAxis, seed: int, media: Mapping[str, str]) -> Provenance:
    """Describe how an item of an axis was made.

    Args:
        axis: The axis.
        seed: Seed of the draft.
        media: Content hash of the motion, by clip id.
    """
    rule, tables = _RULES[axis]
    return Provenance(
        rule=rule,
        rule_hash=table_hash(*tables) if tables else None,
        seed=seed,
        parameters={"likelihood_filter": "not run", "text_only_check": "not run"},
        tool_version=_tool_version(),
        media=dict(media),
    )


def _tool_version() -> str:
    try:
        return metadata.version("motionjury")
    except metadata.PackageNotFoundError:
        return ""


class _Pool:
    """Captions of a corpus, and for each clip what else is true of it."""

    def __init__(self, clips: Mapping[str, Clip], captions: Sequence[Caption]) -> None:
        self.by_corpus: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.motion: dict[str, str] = {}
        self.by_clip: dict[str, list[str]] = defaultdict(list)
        for caption in captions:
            self.by_clip[caption.clip_id].append(caption.text)
            clip = clips[caption.clip_id]
            self.by_corpus[clip.corpus].append((caption.id, caption.text))
            self.motion[caption.id] = clip.content_hash

    def draw(self, clip: Clip, caption: Caption, seed: int) -> Outcome:
        """Draw another motion's caption; a copy of the motion under another id is no other."""
        return random_content(
            caption.text,
            caption.id,
            self.by_corpus[clip.corpus],
            seed,
            avoid=self.by_clip[clip.id],
            allowed=lambda other: self.motion[other] != clip.content_hash,
        )


def _try(clip: Clip, caption: Caption, axis: StrideAxis, seed: int, pool: _Pool) -> Outcome:
    if caption.span is not None and caption.span != clip.span:
        return rejected("the caption describes a part of the clip only", "partial_span")
    own = pool.by_clip[clip.id]
    if axis == "random_content":
        return pool.draw(clip, caption, seed)
    found = edit_caption(caption.text, axis, int(seeded_order(seed, caption.id)[:12], 16))
    if found.text is not None and _same_text(found.text) in set(map(_same_text, own)):
        return rejected("the edited text is another caption of this motion", "also_a_caption")
    return found


def draft_stride(
    clips: Sequence[Clip],
    captions: Sequence[Caption],
    seed: int,
    axes: Sequence[StrideAxis] = AXES,
    limit: int | None = None,
    per_clip_limit: int | None = None,
) -> DraftResult:
    """Draft the STRIDE items of a set of clips.

    Args:
        clips: Clips, ids unique.
        captions: Their captions; captions of clips that are not given are refused.
        seed: Seed of every choice.
        axes: Axes to draft.
        limit: At most this many items per corpus × axis, chosen by hash; None for all.
        per_clip_limit: At most this many items per clip and axis; None for all.

    Returns:
        Items and what was passed over; the same input and seed give the same result whatever
        the order of the input. Action Identity is balanced (``balance_directions``) last.

    Raises:
        InputError: A caption names a clip that is not given, or a limit is below 1.
    """
    for name, value in (("limit", limit), ("per_clip_limit", per_clip_limit)):
        if value is not None and value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    by_id = {clip.id: clip for clip in clips}
    for caption in captions:
        if caption.clip_id not in by_id:
            raise InputError(f"caption {caption.id}: its clip {caption.clip_id} is not given")
    ordered = sorted(captions, key=lambda c: (by_id[c.clip_id].corpus, c.clip_id, c.id))
    pool = _Pool(by_id, ordered)
    drafted: list[Item] = []
    passed: list[Passed] = []
    for axis in sorted(set(axes), key=AXES.index):
        seen: set[tuple[str, str]] = set()
        candidates: list[Item] = []
        for caption in ordered:
            clip = by_id[caption.clip_id]
            outcome = _try(clip, caption, axis, seed, pool)
            key = (clip.id, _same_text(caption.text))
            if outcome.outcome == "item" and key in seen:
                outcome = rejected("the same caption was used for this motion", "duplicate")
            if outcome.text is None:
                passed.append(_passed(clip, caption, axis, outcome))
                continue
            seen.add(key)
            candidates.append(_triplet_item(clip, caption, axis, outcome, seed))
        kept, dropped = _limited(candidates, seed, limit, per_clip_limit)
        passed += [_dropped(item, axis, "limit", "over the limit asked for") for item in dropped]
        if axis == "action_identity":
            balance = balance_directions(kept, seed)
            kept = list(balance.kept)
            why = "its direction is in surplus for this pair of actions"
            passed += [_dropped(item, axis, "balance", why) for item in balance.dropped]
        drafted += kept
    drafted.sort(key=lambda i: (i.stratum["corpus"], AXES.index(_axis(i)), *_place(i)))
    passed.sort(key=lambda p: (p.corpus, AXES.index(p.axis), p.clip_id, p.caption_id))
    return DraftResult(items=tuple(drafted), passed=tuple(passed), cells=_cells(drafted, passed))


def _axis(item: Item) -> StrideAxis:
    return Triplet.model_validate(item.payload).axis


def _place(item: Item) -> tuple[str, str, str]:
    return str(item.payload["clip_id"]), str(item.payload["caption_id"]), item.id


def _triplet_item(
    clip: Clip, caption: Caption, axis: StrideAxis, outcome: Outcome, seed: int
) -> Item:
    payload = Triplet(
        axis=axis,
        corpus=clip.corpus,
        clip_id=clip.id,
        caption_id=caption.id,
        caption=caption.text,
        perturbed=outcome.text or "",
        edit=outcome.edit,
    )
    return make_item(
        "stride",
        "triplet",
        {"corpus": clip.corpus, "axis": axis},
        payload,
        rule_provenance(axis, seed, {clip.id: clip.content_hash}),
    )


def _passed(clip: Clip, caption: Caption, axis: StrideAxis, outcome: Outcome) -> Passed:
    return Passed(
        corpus=clip.corpus,
        clip_id=clip.id,
        caption_id=caption.id,
        axis=axis,
        outcome=outcome.outcome,
        reason_code=outcome.reason_code,
        reason=outcome.reason,
    )


def _dropped(item: Item, axis: StrideAxis, code: str, why: str) -> Passed:
    clip_id, caption_id, _ = _place(item)
    return Passed(
        corpus=item.stratum["corpus"],
        clip_id=clip_id,
        caption_id=caption_id,
        axis=axis,
        outcome="rejected",
        reason_code=code,
        reason=why,
    )


def _limited(
    items: list[Item], seed: int, limit: int | None, per_clip: int | None
) -> tuple[list[Item], list[Item]]:
    kept: list[Item] = []
    dropped: list[Item] = []
    in_cell: Counter[str] = Counter()
    in_clip: Counter[str] = Counter()
    for item in sorted(items, key=lambda i: seeded_order(seed, i.id)):
        corpus, clip_id = item.stratum["corpus"], str(item.payload["clip_id"])
        full = limit is not None and in_cell[corpus] >= limit
        if full or (per_clip is not None and in_clip[clip_id] >= per_clip):
            dropped.append(item)
            continue
        in_cell[corpus] += 1
        in_clip[clip_id] += 1
        kept.append(item)
    return kept, dropped


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


def _cells(items: Sequence[Item], passed: Sequence[Passed]) -> tuple[CellCount, ...]:
    made = Counter((i.stratum["corpus"], _axis(i)) for i in items)
    outcomes: dict[tuple[str, StrideAxis], Counter[str]] = defaultdict(Counter)
    reasons: dict[tuple[str, StrideAxis], Counter[str]] = defaultdict(Counter)
    for p in passed:
        outcomes[p.corpus, p.axis][p.outcome] += 1
        reasons[p.corpus, p.axis][p.reason_code] += 1
    cells = sorted({*made, *outcomes}, key=lambda cell: (cell[0], AXES.index(cell[1])))
    return tuple(
        CellCount(
            corpus=corpus,
            axis=axis,
            items=made[corpus, axis],
            not_applicable=outcomes[corpus, axis]["not_applicable"],
            rejected=outcomes[corpus, axis]["rejected"],
            reasons=dict(sorted(reasons[corpus, axis].items())),
        )
        for corpus, axis in cells
    )


def draft_set_hash(items: Sequence[Item]) -> str:
    """Return the hash of a set of items, whatever their order."""
    return content_hash(sorted(item.id for item in items), digits=64)
