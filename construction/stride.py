"""Drafting STRIDE items from captions by rule, with no language model (STRIDE 2.1, 2.2, A.1).

The paper's two checks that need a text scorer, the likelihood gap and the text-only check of
Action Identity, are not made here: they take a scorer as input and run after drafting.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import metadata

from benchmarks.items import Frozen, Item, Provenance, make_item
from benchmarks.stride import AXES, StrideAxis, Triplet
from construction.balance import select_items
from construction.sampling import RULE as RANDOM_RULE
from construction.sampling import random_content, same_text
from construction.text import actions as action_rule
from construction.text import mirror as mirror_rule
from construction.text import temporal as temporal_rule
from construction.text.outcome import Outcome, OutcomeKind, not_applicable, rejected
from construction.text.tables import table_hash
from corpus.clips import Caption, Clip
from corpus.problems import InputError

Editor = Callable[[str, int], Outcome]

_EDITORS: dict[StrideAxis, Editor] = {
    "temporal_order": lambda caption, seed: temporal_rule.reverse_events(caption),
    "mirror_reflection": lambda caption, seed: mirror_rule.mirror(caption),
    "action_identity": action_rule.swap_action,
}
_RULES: dict[StrideAxis, tuple[str, tuple[str, ...]]] = {
    "temporal_order": (temporal_rule.RULE, ("temporal", "verb_use", "verbs")),
    "mirror_reflection": (mirror_rule.RULE, ("lateral", "verbs")),
    "action_identity": (action_rule.RULE, ("actions", "verb_use", "verbs")),
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


@cache
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


def _outcomes(
    clip: Clip, caption: Caption, axis: StrideAxis, seed: int, pool: _Pool
) -> list[Outcome]:
    """Return every sound edit of a caption, or the one reason why there is none."""
    if caption.span is not None and caption.span != clip.span:
        return [rejected("the caption describes a part of the clip only", "partial_span")]
    if axis == "random_content":
        return [pool.draw(clip, caption, seed)]
    first = edit_caption(caption.text, axis)
    if first.text is None:
        return [first]
    found = [first]
    if axis == "action_identity":
        found = [c for c in action_rule.action_candidates(caption.text) if c.outcome == "item"]
    own = {same_text(text) for text in pool.by_clip[clip.id]}
    sound = [o for o in found if o.text is not None and same_text(o.text) not in own]
    if not sound:
        return [rejected("the edited text is another caption of this motion", "also_a_caption")]
    return sound


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
        candidates: dict[str, list[Item]] = {}
        seen: set[tuple[str, str]] = set()
        for caption in ordered:
            clip = by_id[caption.clip_id]
            outcomes = _outcomes(clip, caption, axis, seed, pool)
            key = (clip.id, same_text(caption.text))
            if key in seen and outcomes[0].text is not None:
                outcomes = [rejected("the same caption was used for this motion", "duplicate")]
            if outcomes[0].text is None:
                passed.append(_passed(clip, caption, axis, outcomes[0]))
                continue
            seen.add(key)
            candidates[caption.id] = [
                _triplet_item(clip, caption, axis, outcome, seed) for outcome in outcomes
            ]
        kept, dropped = select_items(candidates, axis, seed, limit, per_clip_limit)
        drafted += kept
        passed += [_dropped(item, axis, code) for item, code in dropped]
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


_DROPPED = {
    "limit": "over the limit asked for",
    "balance": "no item in the other direction of the same action pair is left to balance it",
}


def _dropped(item: Item, axis: StrideAxis, code: str) -> Passed:
    clip_id, caption_id, _ = _place(item)
    return Passed(
        corpus=item.stratum["corpus"],
        clip_id=clip_id,
        caption_id=caption_id,
        axis=axis,
        outcome="rejected",
        reason_code=code,
        reason=_DROPPED[code],
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
