"""The record of a judge's forced choices: what it was shown, what it said, what that means."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from corpus.cells import no_formula
from evaluators.vlm import Shown
from metrics.stride_scoring import Asked

CHOICE_COLUMNS = ("item_id", "motion_id", "draw", "caption_a", "letter", "outcome", "reason")
"""``draw`` is empty for the item's own motion, else the number of the unrelated one;
``caption_a`` is original or perturbed, ``letter`` empty without a usable answer."""


def choices_csv(asked: Sequence[Asked], shown: Sequence[Sequence[Shown]]) -> str:
    """List every question as it was shown and answered.

    Args:
        asked: The questions, in the order they were put.
        shown: Of each question how often and in which orders it was asked; none where the motion
            could not be drawn.

    Returns:
        CSV text with ``CHOICE_COLUMNS``; two lines a question that was asked in both orders.

    Raises:
        ValueError: Not as many entries as questions.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CHOICE_COLUMNS)
    for question, orders in zip(asked, shown, strict=True):
        draw = "" if question.draw is None else question.draw
        start = [no_formula(question.item_id), no_formula(question.motion_id), draw]
        if not orders:
            writer.writerow([*start, "", "", "not asked", "the motion cannot be drawn"])
        for swapped, reply in orders:
            original = question.swapped == swapped
            letter = "" if reply.value is None else reply.value.choice
            said = [letter, reply.outcome, no_formula(reply.reason)]
            writer.writerow([*start, "original" if original else "perturbed", *said])
    return out.getvalue()
