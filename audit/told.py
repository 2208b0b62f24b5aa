"""What pages and commands tell of each expert's progress while a study runs, and once it is closed.

Exact counts beside codes lead to names: who knows that Ada has answered 17 items finds the code
with 17. Until a study is closed or unblinded, the share answered is told in quarters instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.items import Frozen

if TYPE_CHECKING:
    from audit.progress import ExpertProgress, Progress
    from audit.records import Study


class ToldProgress(Frozen):
    """One expert, by code, as far as may be told."""

    code: str
    """Anonymous code in the study; provisional while it runs."""
    simulated: bool
    """Whether a program answers in their place."""
    stage: str
    """Where they are, in words."""
    quarters: int
    """Share answered: 0 for nothing, 1 to 3, 4 for all."""
    done: int | None
    """Ratings that count; null while codes are provisional, as are the next three."""
    held: int | None
    """Items held at this moment."""
    remaining: int | None
    """Items they could still be given."""
    surplus: int | None
    """Answers that came after the item had its ratings."""


def told_progress(study: Study, found: Progress) -> list[ToldProgress]:
    """Return what may be told of each expert of a study.

    Args:
        study: The study.
        found: Its progress.
    """
    exact = study.tells_codes
    return [
        ToldProgress(
            code=one.code,
            simulated=one.simulated,
            stage=stage(one, found),
            quarters=quarters(one.done, one.done + one.held + one.remaining),
            done=one.done if exact else None,
            held=one.held if exact else None,
            remaining=(one.remaining if found.state == "open" else 0) if exact else None,
            surplus=one.surplus if exact else None,
        )
        for one in found.experts
    ]


def quarters(done: int, total: int) -> int:
    """Return how far someone is in quarters: 0 for nothing answered, 4 for all.

    >>> [quarters(done, 12) for done in (0, 1, 6, 11, 12)]
    [0, 1, 2, 3, 4]
    """
    if not done or total <= 0:
        return 0
    return 4 if done >= total else max(1, min(3, 4 * done // total))


def stage(expert: ExpertProgress, found: Progress) -> str:
    """Return where an expert is; nobody labels in a study that is closed or paused.

    Of a closed study it does not say who left early: that would tell whose code it is.
    """
    if not expert.simulated and found.state == "closed":
        return "study closed"
    if expert.active and expert.retired:
        return "retired"
    if expert.stage == "labelling" and found.paused:
        return "study paused"
    return expert.stage
