"""What a rule says about one caption."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from benchmarks.items import Frozen

OutcomeKind = Literal["item", "not_applicable", "rejected"]


class Outcome(Frozen):
    """Result of one rule on one caption."""

    outcome: OutcomeKind
    """``item``: a candidate; ``not_applicable``: the axis has nothing to change here;
    ``rejected``: there is something, but no sound single-property edit was found."""
    text: str | None = None
    """The perturbed caption; null unless ``outcome`` is ``item``."""
    reason: str
    """One line for a person: what was changed, or why nothing was."""
    reason_code: str
    """Short stable name of the reason, for counting, e.g. ``invariant``."""
    edit: dict[str, str] = Field(default_factory=dict)
    """What was changed; keys depend on the axis. Empty unless ``outcome`` is ``item``."""


def item(text: str, reason: str, code: str, edit: dict[str, str]) -> Outcome:
    """Build the outcome of a successful edit."""
    return Outcome(outcome="item", text=text, reason=reason, reason_code=code, edit=edit)


def not_applicable(reason: str, code: str) -> Outcome:
    """Build the outcome of a caption the axis does not concern."""
    return Outcome(outcome="not_applicable", reason=reason, reason_code=code)


def rejected(reason: str, code: str) -> Outcome:
    """Build the outcome of a caption no sound edit was found for."""
    return Outcome(outcome="rejected", reason=reason, reason_code=code)
