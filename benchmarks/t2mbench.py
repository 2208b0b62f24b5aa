"""T2MBench: the dimensions and categories of its prompts, and the rubric people score with."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from benchmarks.items import Frozen

Length = Literal["long", "short"]


class PromptCell(NamedTuple):
    """Planned numbers of prompts of one category (T2MBench 3.1)."""

    dimension: str
    """``dynamics``, ``complexity``, ``interaction`` or ``accuracy``."""
    long: int
    """Prompts of long sequences."""
    short: int
    """Prompts of short sequences."""


CATEGORIES: dict[str, PromptCell] = {
    "dance": PromptCell("dynamics", 50, 50),
    "explosive": PromptCell("dynamics", 25, 50),
    "martial_arts": PromptCell("dynamics", 50, 50),
    "multi_stage": PromptCell("complexity", 50, 50),
    "asymmetric": PromptCell("complexity", 50, 50),
    "balance": PromptCell("complexity", 20, 50),
    "intent": PromptCell("interaction", 50, 50),
    "invisible_object": PromptCell("interaction", 50, 50),
    "numerical": PromptCell("accuracy", 0, 80),
    "whole_body": PromptCell("accuracy", 0, 100),
    "body_part": PromptCell("accuracy", 0, 100),
}
"""Categories with their dimension and counts; 1,025 prompts in all (T2MBench 3.1)."""


class Criterion(NamedTuple):
    """One score of the rubric; higher is better."""

    name: str
    """What it measures."""
    short: str
    """Abbreviation in the paper's tables."""
    top: int
    """Highest score; the lowest is 0."""


RUBRIC: dict[str, Criterion] = {
    "extra_actions": Criterion("Extra Non-Instruction Actions", "ENA", 10),
    "completeness": Criterion("Action Completeness", "AC", 20),
    "order": Criterion("Multi-Stage Order Correctness", "MOC", 10),
    "body_parts": Criterion("Body-Part Understanding", "BPU", 10),
    "plausibility": Criterion("Physical Plausibility", "PP", 10),
}
"""The five scores, 60 points in all (T2MBench 4.2.1)."""

ALIGNED_FROM = 50
"""Total from which a motion counts as aligned; from ``PARTIAL_FROM`` on as partly aligned."""
PARTIAL_FROM = 30
"""Total below which a motion is a mismatch."""


class MotionPrompt(Frozen):
    """A prompt of the benchmark, as its reviewers judge it (T2MBench 3.1)."""

    prompt_id: str = Field(min_length=1)
    """Stable id."""
    text: str = Field(min_length=1)
    """The prompt."""
    category: str
    """Key of ``CATEGORIES``; other values are kept, for prompt sets of one's own."""
    length: Length | None = None
    """Length of the sequence asked for; null where it is not stated."""
