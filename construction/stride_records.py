"""STRIDE drafts as records: items with their provenance, counts by corpus × axis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from benchmarks.items import Frozen, Item, Provenance, make_item
from benchmarks.stride import AXES, STRUCTURAL_AXES, StrideAxis, Triplet
from construction.balance import PairCount
from construction.report import FLAGS
from construction.sampling import RULE as RANDOM_RULE
from construction.stride_candidates import Candidate, Passed
from construction.stride_filter import NAME as FILTER
from construction.text import actions as action_rule
from construction.text import mirror as mirror_rule
from construction.text import temporal as temporal_rule
from construction.text.tables import table_hash
from llm.outcome import tool_version

_RULES: dict[StrideAxis, tuple[str, tuple[str, ...]]] = {
    "temporal_order": (temporal_rule.RULE, ("temporal", "verb_use", "verbs")),
    "mirror_reflection": (mirror_rule.RULE, ("lateral", "verbs")),
    "action_identity": (action_rule.RULE, ("actions", "verb_use", "verbs")),
    "random_content": (RANDOM_RULE, ()),
}
NO_SCORER = "no text scorer was given"


class CellCount(Frozen):
    """Counts of one corpus × axis cell."""

    corpus: str
    """Corpus."""
    axis: StrideAxis
    """Axis."""
    items: int
    """Items drafted."""
    flagged: int = 0
    """Items that a person should look at first."""
    not_applicable: int
    """Captions the axis does not concern."""
    rejected: int
    """Captions and candidates refused by a check; one caption may lose several candidates."""
    reasons: dict[str, int]
    """Number of captions and candidates passed over, by reason code."""


class DraftResult(Frozen):
    """What a draft produced and what it passed over."""

    items: tuple[Item, ...]
    """Drafted items, ordered by corpus, axis, clip and caption."""
    passed: tuple[Passed, ...]
    """Captions and candidates that made no item, in the same order."""
    cells: tuple[CellCount, ...]
    """Counts by corpus and axis."""
    pairs: tuple[PairCount, ...] = ()
    """Both directions of every action pair, before and after balancing."""
    not_run: dict[str, str] = {}
    """Steps that were not run, and why."""


def draft_result(
    kept: Sequence[Candidate],
    over: Sequence[Passed],
    pairs: Sequence[PairCount],
    not_run: Mapping[str, str],
    seed: int,
) -> DraftResult:
    """Make items of the candidates that were kept, and count.

    Args:
        kept: Candidates.
        over: What was passed over.
        pairs: Counts of the action pairs.
        not_run: Steps that were not run, and why.
        seed: Seed of the draft.

    Returns:
        The result, in an order that does not depend on that of the input.
    """
    items = [_item(candidate, not_run, seed) for candidate in kept]
    items.sort(key=lambda i: (i.stratum["corpus"], _rank(i.stratum["axis"]), *_place(i)))
    listed = sorted(
        over,
        key=lambda p: (p.corpus, AXES.index(p.axis), p.clip_id, p.caption_id, p.stage, p.text),
    )
    return DraftResult(
        items=tuple(items),
        passed=tuple(listed),
        cells=_cells(items, listed),
        pairs=tuple(pairs),
        not_run=dict(not_run),
    )


def _item(candidate: Candidate, not_run: Mapping[str, str], seed: int) -> Item:
    payload = Triplet(
        axis=candidate.axis,
        corpus=candidate.corpus,
        clip_id=candidate.clip.id,
        caption_id=candidate.caption.id,
        caption=candidate.caption.text,
        perturbed=candidate.text,
        edit=dict(candidate.edit),
    )
    stratum = {"corpus": candidate.corpus, "axis": candidate.axis}
    provenance = _provenance(candidate, not_run, seed)
    return make_item("stride", "triplet", stratum, payload, provenance)


def _provenance(candidate: Candidate, not_run: Mapping[str, str], seed: int) -> Provenance:
    notes = dict(candidate.notes)
    if candidate.axis in STRUCTURAL_AXES:
        notes.setdefault(FILTER, f"not run: {not_run.get(FILTER, NO_SCORER)}")
    if candidate.flags:
        notes[FLAGS] = list(candidate.flags)
    media = {candidate.clip.id: candidate.clip.content_hash}
    made_by = candidate.made_by
    if made_by is not None:
        own = {**made_by.parameters, **notes}
        return made_by.model_copy(update={"parameters": own, "media": media})
    rule, tables = _RULES[candidate.axis]
    return Provenance(
        rule=rule,
        rule_hash=table_hash(*tables) if tables else None,
        seed=seed,
        parameters=notes,
        tool_version=tool_version(),
        media=media,
    )


def _rank(axis: str) -> int:
    return [str(name) for name in AXES].index(axis)


def _place(item: Item) -> tuple[str, str, str]:
    return str(item.payload["clip_id"]), str(item.payload["caption_id"]), item.id


def _cells(items: Sequence[Item], over: Sequence[Passed]) -> tuple[CellCount, ...]:
    made: Counter[tuple[str, str]] = Counter()
    flagged: Counter[tuple[str, str]] = Counter()
    for item in items:
        where = (item.stratum["corpus"], item.stratum["axis"])
        made[where] += 1
        flagged[where] += FLAGS in item.provenance.parameters
    outcomes: Mapping[tuple[str, str], Counter[str]] = defaultdict(Counter)
    reasons: Mapping[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for p in over:
        outcomes[p.corpus, p.axis][p.outcome] += 1
        reasons[p.corpus, p.axis][p.reason_code] += 1
    return tuple(
        CellCount(
            corpus=corpus,
            axis=axis,
            items=made[corpus, axis],
            flagged=flagged[corpus, axis],
            not_applicable=outcomes[corpus, axis]["not_applicable"],
            rejected=outcomes[corpus, axis]["rejected"],
            reasons=dict(sorted(reasons[corpus, axis].items())),
        )
        for corpus in sorted({where[0] for where in (*made, *outcomes)})
        for axis in AXES
        if made[corpus, axis] or (corpus, axis) in outcomes
    )
