"""From a job to an item: the passes, the checks between them, provenance and flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from benchmarks.items import Item, Provenance, make_item
from benchmarks.nextmotionqa import ChoiceItem, CorrectionItem, Task
from construction.nextmotionqa.divergence import divergence
from construction.nextmotionqa.drafts import Cell, Checked, Draft, Payload, check_draft
from construction.nextmotionqa.failures import Failure, item_failures
from construction.nextmotionqa.passes import PASS_1, PASS_2, Frames, Job, ask_drafts, ask_reviews
from construction.nextmotionqa.template import RULE, draft_by_template
from construction.nextmotionqa.words import content, tables_hash
from construction.report import FLAGS, Rejected
from construction.stages import Stages
from llm.outcome import Reply, tool_version

OnFailure = Literal["flag", "refuse"]
"""What becomes of an item that a failure of its source touches."""

KINDS: dict[Task, str] = {"T1": "choice", "T2": "caption", "T3": "correction"}
"""Kind of an item by task."""

NOT_POSSIBLE = "not_possible"
"""Code of a draft whose labels do not license the cell; no fault of the drafter."""


class Made(NamedTuple):
    """What came of one job: an item, or why there is none."""

    job: Job
    """The job."""
    item: Item | None
    """The item."""
    rejected: Rejected | None
    """The refusal; exactly one of the two is there."""


class _Draft(NamedTuple):
    """A draft that passed the checks of pass 1."""

    draft: Draft
    checked: Checked
    payload: Payload
    reply: Reply[Draft] | None


def make_items(
    jobs: Sequence[Job], stages: Stages, frames: Frames, seed: int, on_failure: OnFailure
) -> list[Made]:
    """Run both passes for many jobs.

    Without a model for ``pass1`` the template drafts; without one for ``pass2`` the drafts stay
    as they are, and their provenance says that no video was looked at.

    Args:
        jobs: Drafts wanted.
        stages: The models.
        frames: The clips' frames, for pass 2.
        seed: Seed of the template's choices.
        on_failure: Whether an item touched by F1–F4 is flagged or refused.

    Returns:
        One result for each job, in order.
    """
    made: dict[int, Made] = {}
    first: dict[int, _Draft] = {}
    replies: Sequence[Reply[Draft] | None] = (
        ask_drafts(jobs, stages) if stages.has(PASS_1) else [None] * len(jobs)
    )
    for number, (job, reply) in enumerate(zip(jobs, replies, strict=True)):
        draft = reply.value if reply else None
        if reply is None or (draft is None and stages.dry_run):
            # In a dry run the template stands in, so that pass 2 can be reckoned.
            draft = draft_by_template(job.clip, job.task, job.axis, seed)
        if draft is None:
            made[number] = _failed(job, PASS_1, reply)
            continue
        checked = check_draft(_cell(job), draft)
        if checked.payload is None:
            made[number] = _refused(job, PASS_1, checked, draft)
        else:
            answered = reply if reply and reply.usable else None
            first[number] = _Draft(draft, checked, checked.payload, answered)
    numbers = sorted(first)
    reviews: Sequence[Reply[Draft] | None] = (
        ask_reviews([jobs[n] for n in numbers], [first[n].draft for n in numbers], frames, stages)
        if stages.has(PASS_2)
        else [None] * len(numbers)
    )
    for number, review in zip(numbers, reviews, strict=True):
        made[number] = _finish(jobs[number], first[number], review, seed, on_failure)
    return [made[number] for number in range(len(jobs))]


def _finish(
    job: Job, first: _Draft, review: Reply[Draft] | None, seed: int, on_failure: OnFailure
) -> Made:
    checked, payload, diverged = first.checked, first.payload, ""
    if review is not None:
        if review.value is None:
            return _failed(job, PASS_2, review)
        checked = check_draft(_cell(job), review.value)
        if checked.payload is None:
            return _refused(job, PASS_2, checked, review.value)
        payload = checked.payload
        diverged = divergence(first.payload, payload)
        said = review.value.model_dump()
        if not diverged and said["changed"]:
            diverged = f"the model says so: {said['why'] or 'no reason given'}"
    failures = _touching(job, payload)
    if failures and on_failure == "refuse":
        reason = "; ".join(failure.line for failure in failures)
        refusal = _rejection(job, "audit", failures[0].mode, reason, _text(payload))
        return Made(job, None, refusal)
    flags = [failure.line for failure in failures]
    if job.tier.borderline:
        flags.append(f"borderline difficulty, for an expert to settle: {job.tier.reason}")
    if diverged:
        flags.append(f"pass 2 changed the meaning: {diverged}")
    if not any(content(job.clip.caption).on(axis) for axis in ("action", "direction", "body_part")):
        flags.append("the caption has no known word; the difficulty rests on the labels")
    flags += checked.notes
    provenance = _provenance(job, first, review, seed, diverged, flags)
    stratum = {
        "corpus": job.clip.corpus,
        **job.cell,
        "tier": "borderline" if job.tier.borderline else "clear",
    }
    return Made(job, make_item("nextmotionqa", KINDS[job.task], stratum, payload, provenance), None)


def _provenance(
    job: Job,
    first: _Draft,
    review: Reply[Draft] | None,
    seed: int,
    diverged: str,
    flags: Sequence[str],
) -> Provenance:
    own = Provenance(rule=RULE, rule_hash=tables_hash(), seed=seed, tool_version=tool_version())
    drafted = first.reply.provenance(seed) if first.reply else own
    parameters: dict[str, Any] = {
        "labels": [label.line for label in job.clip.labels],
        "labels_from": job.clip.origin,
        "caption": job.clip.caption,
        "difficulty": job.tier.reason,
        "source_audit": [failure.line for failure in job.failures],
        "pass1": drafted.model_dump(mode="json", exclude={"media", "seed"}),
        "pass2": "not run: no model" if review is None else ("diverged" if diverged else "agrees"),
        FLAGS: list(flags),
    }
    media = {job.clip.clip_id: job.clip.content_hash}
    if review is None:
        kept = own if first.reply is None else drafted
        return kept.model_copy(
            update={"parameters": {**kept.parameters, **parameters}, "media": media}
        )
    if diverged:
        parameters["pass1_draft"] = first.draft.model_dump(mode="json")
    last = review.provenance(seed, **parameters)
    return last.model_copy(update={"media": {**last.media, **media}})


def _touching(job: Job, payload: Payload) -> tuple[Failure, ...]:
    if isinstance(payload, ChoiceItem):
        texts: tuple[str, ...] = (payload.question, *payload.options)
        wrong = [option for option in payload.options if option not in payload.gold]
        # The question says whose left is meant for all options.
        texts = (" ".join(texts),)
        return item_failures(job.axis, texts, job.failures, (payload.gold, wrong))
    if isinstance(payload, CorrectionItem):
        return item_failures(job.axis, (payload.corrected,), job.failures)
    return item_failures(job.axis, (payload.caption,), job.failures)


def _cell(job: Job) -> Cell:
    return Cell(clip_id=job.clip.clip_id, axis=job.axis, difficulty=job.tier.difficulty)


def _text(draft: Draft | Payload) -> str:
    plain = draft.model_dump(mode="json")
    names = ("question", "options", "caption", "corrupted")
    return " | ".join(
        " / ".join(value) if isinstance(value, list) else str(value)
        for name in names
        if (value := plain.get(name))
    )


def _failed(job: Job, stage: str, reply: Reply[Draft] | None) -> Made:
    reason = reply.reason if reply else ""
    code = reply.outcome if reply else "error"
    if reason.startswith("not sent"):
        return Made(job, None, _rejection(job, stage, "not_sent", reason))
    if reason.startswith("not drawn"):
        return Made(job, None, _rejection(job, stage, "not_drawn", reason))
    return Made(job, None, _rejection(job, stage, code, reason))


def _refused(job: Job, stage: str, checked: Checked, draft: Draft) -> Made:
    return Made(job, None, _rejection(job, stage, checked.code, checked.reason, _text(draft)))


def _rejection(job: Job, stage: str, code: str, reason: str, text: str = "") -> Rejected:
    return Rejected(
        source=job.clip.clip_id, cell=job.cell, stage=stage, code=code, reason=reason, text=text
    )
