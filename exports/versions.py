"""The lineage of a release: every version of each item that was edited jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from benchmarks.items import Benchmark, Frozen, Item, Provenance
from corpus.problems import Problem
from exports.flat import version_id
from exports.folder import LINEAGE
from exports.records import Outcome, Record

JOINT_RULE = "joint-edit/"
"""What the provenance of a version that was edited jointly begins with."""

Fate = Literal["accepted", "rejected", "revise", "undecided", "rated"]
"""What became of a version: an outcome, or ``rated`` where the study decides nothing."""


class OtherVersion(Frozen):
    """A version of an item that none of the released studies judged."""

    item: Item
    """The version."""
    outcome: Outcome
    """What another study decided; ``undecided`` where none did."""


class VersionRow(Record):
    """One version of an item that has several; labels of all of them are kept."""

    family: str
    """Id of the first version."""
    item_id: str
    """Id of this version."""
    parent: str | None
    """Id of the version this one revises; null for the first."""
    kind: str
    """Kind within the benchmark."""
    outcome: Fate
    """What became of it; ``revise`` where a later version takes its place."""
    judged: bool
    """Whether a study of this release judged it; else its outcome comes from another study."""
    edit_reason: str | None
    """Why it was made of its parent; null for the first version. A coordinator's own words are
    left out unless comments are included."""
    stratum: dict[str, str]
    """What counts are broken down by."""
    content: dict[str, Any]
    """The version itself, as the tool keeps it; with ``parent`` it gives ``item_id``."""


def without_edit_words(provenance: Provenance) -> Provenance:
    """Leave out the coordinator's words on a joint edit."""
    if not provenance.rule.startswith(JOINT_RULE):
        return provenance
    kept = {name: value for name, value in provenance.parameters.items() if name != "reason"}
    return provenance.model_copy(update={"parameters": kept})


def lineage_rows(
    items: Mapping[str, Item],
    fates: Mapping[str, Fate],
    others: Sequence[OtherVersion],
    *,
    include_comments: bool,
) -> tuple[VersionRow, ...]:
    """Return the versions of each item that has more than one, first versions first.

    Args:
        items: Items of the released studies by id.
        fates: What became of each of them.
        others: Versions of them that these studies did not judge.
        include_comments: Whether the coordinator's words are included.

    Returns:
        Rows ordered by family, then from parents to children, then by id.
    """
    outside = {one.item.id: one for one in others if one.item.id not in items}
    known = {**{item_id: one.item for item_id, one in outside.items()}, **items}
    chains = {item_id: _chain(item_id, known) for item_id in known}
    families = {chains[item_id][0] for item_id in known if len(chains[item_id]) > 1}
    chosen = sorted(
        (chain[0], len(chain), item_id) for item_id, chain in chains.items() if chain[0] in families
    )
    return tuple(
        VersionRow(
            family=family,
            item_id=item_id,
            parent=known[item_id].parent,
            kind=known[item_id].kind,
            outcome=fates[item_id] if item_id in items else outside[item_id].outcome,
            judged=item_id in items,
            edit_reason=_edit_reason(known[item_id], include_comments),
            stratum=known[item_id].stratum,
            content=known[item_id].payload,
        )
        for family, _depth, item_id in chosen
    )


def lineage_problems(
    benchmark: Benchmark,
    rows: Sequence[VersionRow],
    judged: Mapping[str, tuple[str | None, str]],
) -> list[Problem]:
    """Check the lineage of a release.

    Args:
        benchmark: Benchmark of the release.
        rows: The versions.
        judged: Parent and outcome of every kept and excluded item.

    Returns:
        A problem for each version that is missing, misplaced or not what its id says.
    """
    reasons: list[str] = []
    by_id = {row.item_id: row for row in rows}
    if len(by_id) != len(rows):
        reasons.append("a version comes twice")
    for row in rows:
        where = f"version {row.item_id}"
        if version_id(benchmark, row.kind, row.stratum, row.content, row.parent) != row.item_id:
            reasons.append(f"{where} does not hold what its id is the hash of")
        before = by_id.get(row.parent or "")
        if row.parent is not None and before is None:
            reasons.append(f"{where}: its parent {row.parent} is missing")
        elif row.family != (before.family if before else row.item_id):
            reasons.append(f"{where}: not of family {row.family}")
        if (row.edit_reason is None) != (row.parent is None):
            reasons.append(f"{where}: expected a reason of an edit where there is a parent")
        if row.judged != (row.item_id in judged):
            said = "judged" if row.judged else "not judged"
            reasons.append(f"{where} is said to be {said} in this release; it is otherwise")
        elif row.judged and judged[row.item_id] != (row.parent, row.outcome):
            reasons.append(f"{where}: parent or outcome differ from its row as an item")
    reasons += [
        f"version {item_id} is missing"
        for item_id, (parent, _outcome) in sorted(judged.items())
        if parent is not None and item_id not in by_id
    ]
    return [Problem(file=LINEAGE, reason=reason) for reason in reasons]


def _chain(item_id: str, known: Mapping[str, Item]) -> list[str]:
    """Return the ids from the first known version to this one."""
    chain = [item_id]
    while (parent := known[chain[0]].parent) is not None and parent in known:
        chain.insert(0, parent)
    return chain


def _edit_reason(item: Item, include_comments: bool) -> str | None:
    if item.parent is None:
        return None
    if not item.provenance.rule.startswith(JOINT_RULE):
        return f"made by {item.provenance.rule}"
    words = item.provenance.parameters.get("reason")
    return str(words) if include_comments and words else "edited jointly"
