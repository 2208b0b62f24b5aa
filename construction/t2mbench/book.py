"""The quota of prompts, and the book of candidates: what is kept, what is refused and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.items import Item, Provenance, content_hash, make_item
from benchmarks.t2mbench import CATEGORIES, Length, MotionPrompt
from construction.report import FLAGS, Rejected
from construction.sampling import same_text
from construction.t2mbench import clay

_LENGTHS: tuple[Length, ...] = ("long", "short")


class Cell(NamedTuple):
    """A category and a length with its quota."""

    category: str
    """Key of ``CATEGORIES``."""
    length: Length
    """``long`` or ``short``."""
    planned: int
    """Prompts wanted."""

    @property
    def stratum(self) -> dict[str, str]:
        """What its prompts are counted by."""
        dimension = CATEGORIES[self.category].dimension
        return {"dimension": dimension, "category": self.category, "length": self.length}


@dataclass
class PromptDraft:
    """What drafting brought."""

    items: list[Item] = field(default_factory=list)
    """Prompts that pass the rule, of kind ``prompt``."""
    rejected: list[Rejected] = field(default_factory=list)
    """Every other candidate, with the reason."""
    notes: list[str] = field(default_factory=list)
    """What the reader of the report must know."""


def cells(categories: Sequence[str] | None = None, limit: int | None = None) -> list[Cell]:
    """Return the quota (T2MBench, Table 1).

    Args:
        categories: Keys of ``CATEGORIES``; None for all.
        limit: At most so many prompts of each category and length.

    Returns:
        One cell for each category and length that has prompts, in the paper's order.
    """
    chosen = CATEGORIES if categories is None else {name: CATEGORIES[name] for name in categories}
    found = []
    for name, plan in chosen.items():
        for length in _LENGTHS:
            planned = plan.long if length == "long" else plan.short
            if planned:
                found.append(Cell(name, length, min(planned, limit or planned)))
    return found


@dataclass
class Candidate:
    """A prompt that passed, before it is an item."""

    cell: Cell
    """Where it belongs."""
    text: str
    """The prompt."""
    source: str
    """Id of the question or try it came from."""
    provenance: Provenance
    """How it was made, the seed left out."""

    def flag(self, reason: str) -> None:
        """Note why a person should look at it first."""
        held = self.provenance.parameters
        self.note(**{FLAGS: [*held.get(FLAGS, ()), reason]})

    def note(self, **parameters: Any) -> None:
        """Add parameters to its provenance."""
        changed = {"parameters": {**self.provenance.parameters, **parameters}}
        self.provenance = self.provenance.model_copy(update=changed)

    def item(self, seed: int) -> Item:
        """Return it as a drafted item of kind ``prompt``."""
        category, length = self.cell.category, self.cell.length
        name = f"{category}-{length}-{content_hash([category, length, self.text], digits=8)}"
        payload = MotionPrompt(prompt_id=name, text=self.text, category=category, length=length)
        provenance = self.provenance.model_copy(update={"seed": seed})
        return make_item("t2mbench", "prompt", self.cell.stratum, payload, provenance)


class Book:
    """Keeps what passes and says why the rest does not."""

    def __init__(self, found: PromptDraft) -> None:
        """Begin with an empty book; refusals and notes go to ``found``."""
        self.found = found
        self.kept: list[Candidate] = []
        """Candidates that passed, in order."""
        self.texts: dict[str, str] = {}
        """Source of each kept text, by ``same_text``."""
        self._count: Counter[Cell] = Counter()

    def missing(self, cell: Cell) -> int:
        """Return how many prompts a cell still lacks."""
        return cell.planned - self._count[cell]

    def offer(self, candidate: Candidate) -> bool:
        """Keep a candidate where it passes; note the reason where not."""
        cell, text = candidate.cell, candidate.text
        faults = clay.check_prompt(text, cell.category, cell.length)
        if faults:
            reason = "; ".join(fault.reason for fault in faults)
            self.refuse(cell, candidate.source, "check", faults[0].code, reason, text)
            return False
        if (twin := self.texts.get(same_text(text))) is not None:
            self.refuse(cell, candidate.source, "check", "duplicate", f"same as {twin}", text)
            return False
        if not self.missing(cell):
            reason = f"the cell has its {cell.planned} prompts"
            self.refuse(cell, candidate.source, "quota", "surplus", reason, text)
            return False
        self.texts[same_text(text)] = candidate.source
        self._count[cell] += 1
        self.kept.append(candidate)
        return True

    def refuse(
        self, cell: Cell | None, source: str, stage: str, code: str, reason: str, text: str = ""
    ) -> None:
        """Note a refusal; without a cell where a seed fits none."""
        where = {} if cell is None else cell.stratum
        refusal = Rejected(
            source=source, cell=where, stage=stage, code=code, reason=reason, text=text
        )
        self.found.rejected.append(refusal)
