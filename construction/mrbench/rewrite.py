"""Captions of three lengths written by a model from frames, text and rationale (MRBench)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.items import Frozen
from construction.mrbench.lengths import Fault, Trio, check_trio
from construction.mrbench.verify import Checked, said_of
from construction.stages import Stages
from llm.outcome import Reply
from llm.requests import Request

STAGE = "rewrite"
"""Name of the stage."""

_NOT_CHECKED = "No check was made."


class Rewritten(Frozen):
    """What the model answers."""

    concise: str
    """The principal motion, about 9 words."""
    standard: str
    """The usual amount of detail, about 16 words."""
    fine: str
    """Body parts and their course in time, about 44 words."""


class Written(NamedTuple):
    """What came of one pair."""

    trio: Trio | None
    """The captions; None where they are missing or do not make a set."""
    reply: Reply[Rewritten]
    """The answer."""
    fault: Fault | None
    """Why there are none: ``rewrite_`` and the outcome, or a fault of ``check_trio``."""


def rewrite(pairs: Sequence[Checked], stages: Stages) -> list[Written]:
    """Have three captions written for each pair and check them.

    Args:
        pairs: Pairs with their frames.
        stages: Models, one for ``rewrite`` among them.

    Returns:
        One outcome for each pair, in order.

    Raises:
        InputError: As ``LanguageModel.ask_many``.
    """
    asked = stages.prompts.load("mrbench.rewrite")
    requests = []
    for pair in pairs:
        caption = pair.filed.candidate.caption
        answer = pair.reply.value if pair.reply is not None else None
        values = {
            "caption": caption.text,
            "rationale": answer.rationale if answer is not None else _NOT_CHECKED,
            **said_of(pair),
        }
        requests.append(Request(id=caption.id, prompt=asked.render(values), media=pair.media))
    replies = stages.ask(STAGE, requests, Rewritten) if requests else []
    return [
        _written(reply, pair.filed.candidate.caption.text)
        for reply, pair in zip(replies, pairs, strict=True)
    ]


def _written(reply: Reply[Rewritten], source: str) -> Written:
    if reply.value is None:
        return Written(None, reply, Fault(f"rewrite_{reply.outcome}", reply.reason))
    value = reply.value
    trio = Trio(*(" ".join(text.split()) for text in (value.concise, value.standard, value.fine)))
    fault = check_trio(trio, source)
    return Written(None if fault else trio, reply, fault)
