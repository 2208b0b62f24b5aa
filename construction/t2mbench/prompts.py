"""Drafting the prompts of T2MBench (3.1): expanded from seeds, checked, refined."""

from __future__ import annotations

from collections.abc import Sequence

from construction.stages import Stages
from construction.t2mbench import expansion, refinement
from construction.t2mbench.book import Book, Cell, PromptDraft
from construction.t2mbench.seeds import Seed

STAGES = ("expand", "refine", "target")
"""Stages that may ask a language model."""
PER_CALL = 5
"""Prompts asked for in one call (ours)."""
ROUNDS = 3
"""Most rounds of asking a language model for what is missing (ours)."""


def draft_prompts(
    quota: Sequence[Cell],
    seed: int,
    stages: Stages,
    *,
    seeds: Sequence[Seed] = (),
    per_call: int = PER_CALL,
    rounds: int = ROUNDS,
) -> PromptDraft:
    """Draft prompts cell by cell.

    With a model for the stage ``expand`` the candidates are its answers, asked for in rounds until
    the quota is met; without one they are put together by grammar. Every candidate must pass the
    Clay Figurine Rule and be new. With a model for ``refine`` each kept prompt is refined; a
    refinement that breaks the rule or changes sides or numbers is refused, and the prompt stays as
    it was, flagged.

    Args:
        quota: Cells of :func:`cells`.
        seed: Seed of every choice.
        stages: Language models by stage.
        seeds: Seeds of one's own; our own where a category has none of them.
        per_call: Prompts asked for in one call.
        rounds: Most rounds.

    Returns:
        Items, refusals and notes. The same arguments give the same result; with a model, as far as
        its answers are in the cache.

    Raises:
        InputError: A prompt file that cannot be used; as ``Stages.ask``.
    """
    for stage in (expansion.STAGE, refinement.STAGE):
        if stages.has(stage):
            stages.prompts.load(f"t2mbench.{stage}")
    found = PromptDraft()
    book = Book(found)
    if stages.has(expansion.STAGE):
        expansion.by_model(book, quota, seed, stages, seeds, per_call, rounds)
    else:
        expansion.by_grammar(book, quota, seed, seeds)
    if stages.has(refinement.STAGE) and book.kept:
        refinement.refine(book, stages)
    found.items.extend(one.item(seed) for one in book.kept)
    return found
