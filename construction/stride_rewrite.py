"""Temporal Order by a language model: rewrite, then check from the two texts alone (STRIDE A.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from benchmarks.items import Frozen, Provenance
from construction.stages import Stages
from construction.text.language import foreign
from construction.text.outcome import Outcome, not_applicable, rejected
from construction.text.temporal_check import RULE, askable, check_rewrite
from corpus.clips import Caption
from llm.outcome import Reply
from llm.requests import Request

STAGE = "temporal"
"""Name of the stage, for ``--stage-model``."""


class Reversal(Frozen):
    """What the model answers."""

    reversible: bool = Field(description="Can the order of events be reversed?")
    rewritten: str = Field(description="The caption with its events in reversed order, or empty.")
    reason: str = Field(description="One short sentence.")


class Rewriting(NamedTuple):
    """What came of one caption."""

    outcome: Outcome
    """The checked edit, or why there is none."""
    offered: str
    """What the model wrote; empty where it wrote nothing."""
    made_by: Provenance | None
    """Where the edit comes from; None where nothing came back."""


class TemporalRewriter:
    """Asks a language model to reverse captions and checks what it writes."""

    def __init__(self, stages: Stages, seed: int) -> None:
        """Keep the models; the prompt is read.

        Args:
            stages: Models of the run; ``temporal`` has one.
            seed: Seed of the draft, for provenance.
        """
        self._stages = stages
        self._seed = seed
        self._prompt = stages.prompts.load("stride.temporal")
        self.silent = False
        """Whether the last captions all went without an answer: asking on is of no use."""

    def __call__(self, captions: Sequence[Caption]) -> Mapping[str, Rewriting]:
        """Rewrite captions.

        Captions that cannot have a reversal are not sent.

        Args:
            captions: Captions, ids unique.

        Returns:
            What came of each, by caption id.
        """
        found: dict[str, Rewriting] = {}
        to_ask: list[Caption] = []
        for caption in captions:
            refused = self.refusal(caption.text)
            if refused is None:
                to_ask.append(caption)
            else:
                found[caption.id] = Rewriting(refused, "", None)
        requests = [
            Request(id=c.id, prompt=self._prompt.render({"caption": c.text})) for c in to_ask
        ]
        replies = self._stages.ask(STAGE, requests, Reversal)
        dead = bool(replies) and all(reply.outcome == "error" for reply in replies)
        # A batch holds what is needed now; a plain dry run reckons with the most there can be.
        waits = self._stages.batches.out is not None
        self.silent = dead and (waits or not self._stages.dry_run)
        for caption, reply in zip(to_ask, replies, strict=True):
            found[caption.id] = self._checked(caption, reply)
        return found

    @staticmethod
    def refusal(caption: str) -> Outcome | None:
        """Say why a caption is not sent; None where it is."""
        if not caption.strip():
            return not_applicable("empty caption", "empty")
        language = foreign(caption)
        return not_applicable(language, "not_english") if language else askable(caption)

    def _checked(self, caption: Caption, reply: Reply[Reversal]) -> Rewriting:
        if reply.value is None:
            code = "not_answered" if reply.outcome == "error" else f"model_{reply.outcome}"
            return Rewriting(rejected(reply.reason or reply.outcome, code), "", None)
        offered = " ".join(reply.value.rewritten.split())
        said = " ".join(reply.value.reason.split())[:300]
        if not reply.value.reversible or not offered:
            reason = f"the model sees no reversal: {said}" if said else "the model sees no reversal"
            return Rewriting(rejected(reason, "model_declined"), offered, None)
        outcome = check_rewrite(caption.text, offered)
        return Rewriting(outcome, offered, reply.provenance(self._seed, check=RULE))
