"""The text-only check of Action Identity: two captions are read, no motion is shown (STRIDE 2.2).

By rule from the two texts alone, whatever the edit says it did; and by a language model where one
is named, which is not told which of the two is the original.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from benchmarks.items import Frozen
from construction.sampling import seeded_order
from construction.stages import Stages
from construction.stride_candidates import Candidate, Passed, refuse
from construction.text.morphology import readings
from construction.text.ngram import words_of
from construction.text.tables import table
from llm.outcome import Reply
from llm.requests import Request

STAGE = "action_check"
"""Name of the stage, for ``--stage-model``."""
NAME = "text_only_check"
"""Key of the check's result in an item's provenance."""
RULE = "stride.action_check/1"
"""Name and version of the rule."""
NOT_RUN = "no language model is named for the stage action_check"


class ActionVerdict(Frozen):
    """What the model says of two captions A and B."""

    fluent_a: bool = Field(description="Is caption A fluent English?")
    fluent_b: bool = Field(description="Is caption B fluent English?")
    one_action_differs: bool = Field(
        description="Do the captions differ in one action verb and in nothing else?"
    )
    visually_distinct: bool = Field(
        description="Would anyone who saw both motions tell the two actions apart at a glance?"
    )
    mutually_exclusive: bool = Field(
        description="Is it impossible that one motion is rightly described by both captions?"
    )
    reason: str = Field(description="One sentence.")


def rule_verdict(caption: str, edited: str) -> str | None:
    """Say what is wrong with a pair of captions as an exchange of one action; None if nothing.

    Args:
        caption: The original.
        edited: The edited caption.

    Returns:
        The first fault: not one word differs (articles aside), it is no verb in both, the two
        verbs have no inflection in common, or one is a word for the other.

    >>> rule_verdict("a man walks in place.", "a man runs in place.") is None
    True
    """
    first, second = words_of(caption), words_of(edited)
    if len(first) != len(second):
        return "more than one word differs"
    changed = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    changed = [pair for pair in changed if set(pair) != {"a", "an"}]
    if len(changed) != 1:
        return f"{len(changed)} words differ, expected one"
    source, target = changed[0]
    if not {r.tag for r in readings(source)} & {r.tag for r in readings(target)}:
        return f"'{source}' and '{target}' are no verbs of one form"
    related = table("actions")["related"]
    for a, b in ((source, target), (target, source)):
        for reading in readings(a):
            if b in str(related.get(reading.lemma, "")).split():
                return f"'{target}' is another word for '{source}'"
    return None


def check_by_rule(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Passed]]:
    """Split Action Identity candidates by ``rule_verdict``.

    Returns:
        Those that pass, with the rule in their notes, and the refusals.
    """
    kept: list[Candidate] = []
    refused: list[Passed] = []
    for candidate in candidates:
        fault = rule_verdict(candidate.caption.text, candidate.text)
        if fault is None:
            kept.append(candidate.noted(NAME, {"rule": RULE, "model": f"not run: {NOT_RUN}"}))
        else:
            refused.append(refuse(candidate, NAME, "text_only_check", fault))
    return kept, refused


class ModelCheck:
    """Asks a language model about pairs of captions."""

    def __init__(self, stages: Stages, seed: int) -> None:
        """Keep the models; the prompt is read.

        Args:
            stages: Models of the run; ``action_check`` has one.
            seed: Decides which caption is shown first.
        """
        self._stages = stages
        self._seed = seed
        self._prompt = stages.prompts.load("stride.action_check")

    def __call__(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Passed]]:
        """Split candidates by the model's answers.

        Args:
            candidates: Action Identity candidates.

        Returns:
            Those that pass; those without an answer stay and are flagged. And the refusals.
        """
        asked = [self._request(candidate) for candidate in candidates]
        replies = self._stages.ask(STAGE, asked, ActionVerdict)
        kept: list[Candidate] = []
        refused: list[Passed] = []
        for candidate, reply in zip(candidates, replies, strict=True):
            fault = None if reply.value is None else self._fault(candidate, reply.value)
            if fault is not None:
                refused.append(refuse(candidate, NAME, *fault))
            else:
                kept.append(self._noted(candidate, reply))
        return kept, refused

    def _swapped(self, candidate: Candidate) -> bool:
        """Whether the edited caption is shown as A."""
        return int(seeded_order(self._seed, STAGE, *candidate.key), 16) % 2 == 1

    def _request(self, candidate: Candidate) -> Request:
        shown = [candidate.caption.text, candidate.text]
        if self._swapped(candidate):
            shown.reverse()
        values = {"caption_a": shown[0], "caption_b": shown[1]}
        return Request(id=":".join(candidate.key), prompt=self._prompt.render(values))

    def _fault(self, candidate: Candidate, said: ActionVerdict) -> tuple[str, str] | None:
        fluent = said.fluent_a if self._swapped(candidate) else said.fluent_b
        faults = {
            "not_fluent": not fluent,
            "several_changes": not said.one_action_differs,
            "not_distinct": not said.visually_distinct,
            "not_exclusive": not said.mutually_exclusive,
        }
        code = next((name for name, found in faults.items() if found), None)
        return None if code is None else (code, " ".join(said.reason.split())[:300] or code)

    def _noted(self, candidate: Candidate, reply: Reply[ActionVerdict]) -> Candidate:
        note: dict[str, object] = {"rule": RULE, "prompt": self._prompt.rule}
        note["edited_shown_as"] = "A" if self._swapped(candidate) else "B"
        if reply.value is None:
            note["model"] = f"not run: {reply.outcome}: {reply.reason}"
            flag = f"text-only check without an answer ({reply.outcome})"
            return candidate.noted(NAME, note, flag)
        came = reply.exchange
        note["model"] = came.model_answered or came.model_asked if came else None
        note["answer"] = reply.value.model_dump(mode="json")
        note["prompt_sha256"] = came.prompt_sha256 if came else None
        return candidate.noted(NAME, note)
