"""Refinement of prompts for natural English (T2MBench 3.1): nothing of the motion may change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from benchmarks.items import Frozen
from construction.sampling import same_text
from construction.stages import Stages
from construction.t2mbench import clay
from construction.t2mbench.book import Book, Candidate, Cell
from construction.text.tokens import tokenize
from llm.outcome import Reply
from llm.requests import Request

STAGE = "refine"
"""Name of the stage that asks a language model."""


class Refined(Frozen):
    """Answer of the stage ``refine``."""

    text: str
    """The instruction, perhaps unchanged."""


def refine(book: Book, stages: Stages) -> None:
    """Have each kept prompt refined; one that cannot be stays as it was, flagged.

    Args:
        book: Its kept candidates are changed in place.
        stages: Has a model for ``refine``.

    Raises:
        InputError: As ``Stages.ask``.
    """
    prompt = stages.prompts.load("t2mbench.refine")
    requests = []
    for one in book.kept:
        fewest, most = clay.WORD_BOUNDS[one.cell.length]
        values = {"text": one.text, "fewest": fewest, "most": most}
        requests.append(Request(id=one.source, prompt=prompt.render(values)))
    replies = stages.ask("refine", requests, Refined)
    if stages.dry_run:
        return
    for one, reply in zip(book.kept, replies, strict=True):
        if reply.value is None:
            book.refuse(one.cell, one.source, "refine", reply.outcome, reply.reason, one.text)
            one.flag(f"not refined: {reply.outcome}")
            continue
        text = " ".join(reply.value.text.split())
        if text == one.text:
            _note_refinement(one, reply, one.text)
            continue
        fault = refinement_fault(one.text, text, one.cell)
        if fault is None and same_text(text) in book.texts:
            twin = book.texts[same_text(text)]
            fault = None if twin == one.source else clay.Fault("duplicate", f"same as {twin}")
        if fault is not None:
            book.refuse(one.cell, one.source, "refine", fault.code, fault.reason, text)
            one.flag(f"refinement refused: {fault.reason}")
            continue
        del book.texts[same_text(one.text)]
        book.texts[same_text(text)] = one.source
        _note_refinement(one, reply, one.text)
        one.text = text


def refinement_fault(before: str, after: str, cell: Cell) -> clay.Fault | None:
    """Say what is wrong with a refined prompt: the rule, or a side or number that changed.

    Args:
        before: The prompt as it passed.
        after: The refined text.
        cell: Its category and length.

    Returns:
        The first fault; None where it can take the prompt's place.
    """
    faults = clay.check_prompt(after, cell.category, cell.length)
    if faults:
        return faults[0]
    for code, words in (("side_changed", ("left", "right")), ("number_changed", None)):
        old, new = (_marks(text, words) for text in (before, after))
        if old != new:
            return clay.Fault(code, f"expected {_told(old)}, got {_told(new)}")
    return None


def _marks(text: str, words: Iterable[str] | None) -> Counter[str]:
    if words is None:
        return Counter(re.findall(r"\d+(?:[.,]\d+)*", text))
    wanted = set(words)
    return Counter(token.low for token in tokenize(text) if token.low in wanted)


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{word} × {n}" for word, n in sorted(counts.items())) or "none"


def _note_refinement(one: Candidate, reply: Reply[Refined], before: str) -> None:
    made = reply.provenance()
    told = {
        "rule": made.rule,
        "rule_hash": made.rule_hash,
        "model_asked": made.model_asked,
        "model_answered": made.model_answered,
        "llm": made.parameters["llm"],
        "before": before,
    }
    one.note(refined=told)
