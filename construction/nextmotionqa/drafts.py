"""A draft as a model or the template writes it, and the checks that make it an item's payload."""

from __future__ import annotations

import re

from pydantic import Field

from benchmarks.items import Frozen
from benchmarks.nextmotionqa import (
    CaptionItem,
    ChoiceItem,
    CorrectionItem,
    Difficulty,
    ErrorSpan,
    SemanticAxis,
)
from construction.nextmotionqa.words import content

OPTIONS = 4
"""Options of a T1 question (NextMotionQA 4)."""
FEWEST_WORDS, MOST_WORDS = 3, 80
"""Words of a question or caption (ours)."""

Payload = ChoiceItem | CaptionItem | CorrectionItem


class Draft(Frozen):
    """What all drafts say first."""

    possible: bool = Field(
        description="false when nothing given licenses an item on this axis; the rest is then empty"
    )
    """Whether the source licenses such an item."""
    reason: str = Field(description="why it is not possible; empty when it is")
    """Why not; empty when it does."""


class ChoiceDraft(Draft):
    """T1."""

    question: str
    """The question."""
    options: tuple[str, ...] = Field(description="exactly four, each different")
    """Options."""
    gold: tuple[str, ...] = Field(description="the options that are right, word for word; 1 to 4")
    """The right ones."""


class CaptionDraft(Draft):
    """T2."""

    caption: str
    """The reference caption."""


class CorrectionDraft(Draft):
    """T3. Places are given by words: models count characters badly."""

    corrected: str = Field(description="the caption as it should be")
    """The right caption."""
    corrupted: str = Field(description="the same caption with one mistake put in")
    """The caption with its mistake."""
    wrong: str = Field(description="the words of corrupted that are wrong, word for word")
    """The wrong words."""
    rewrite: str = Field(description="what should stand in their place; gives corrected exactly")
    """What should stand there."""


class Reviewed(Frozen):
    """What the second pass says besides."""

    changed: bool = Field(description="true when anything but spelling was changed")
    """Whether the model says it changed the draft."""
    why: str = Field(description="what in the video made the change necessary; empty without one")
    """Its reason."""


class ChoiceReview(ChoiceDraft, Reviewed):
    """T1 after the second pass."""


class CaptionReview(CaptionDraft, Reviewed):
    """T2 after the second pass."""


class CorrectionReview(CorrectionDraft, Reviewed):
    """T3 after the second pass."""


class Checked(Frozen):
    """A draft after the checks: a payload, or why there is none."""

    payload: Payload | None = None
    """The item's content."""
    code: str = ""
    """Short name of the reason; empty with a payload."""
    reason: str = ""
    """The reason in words."""
    notes: tuple[str, ...] = ()
    """What the checks could not settle, for a person to look at."""


class Cell(Frozen):
    """What a draft is for."""

    clip_id: str
    """The clip."""
    axis: SemanticAxis
    """The axis."""
    difficulty: Difficulty
    """The clip's tier."""


def check_draft(cell: Cell, draft: Draft) -> Checked:
    """Check a draft and make it a payload.

    Args:
        cell: What it is for.
        draft: ``ChoiceDraft``, ``CaptionDraft`` or ``CorrectionDraft``.

    Returns:
        The payload, or the reason: ``not_possible`` (the drafter said so), ``length``,
        ``options``, ``gold``, ``span``, ``same``, ``other_axis``.

    Raises:
        TypeError: Another type.
    """
    if not draft.possible:
        reason = draft.reason.strip() or "the drafter gave no reason"
        return Checked(code="not_possible", reason=reason)
    if isinstance(draft, ChoiceDraft):
        return _check_choice(cell, draft)
    if isinstance(draft, CaptionDraft):
        return _check_caption(cell, draft)
    if isinstance(draft, CorrectionDraft):
        return _check_correction(cell, draft)
    raise TypeError(f"draft: expected a draft of T1, T2 or T3, got {type(draft).__name__}")


def tidy(text: str) -> str:
    """Return a text on one line without spaces at its ends."""
    return " ".join(text.split())


def same_words(text: str) -> str:
    """Reduce a text to its words in lower case, to tell options apart by."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _check_choice(cell: Cell, draft: ChoiceDraft) -> Checked:
    question = tidy(draft.question)
    if bad := _length(question):
        return bad
    options = tuple(tidy(option) for option in draft.options)
    keys = [same_words(option) for option in options]
    if len(options) != OPTIONS or not all(keys):
        return Checked(
            code="options",
            reason=f"expected {OPTIONS} options, got {len(list(filter(None, keys)))}",
        )
    if len(set(keys)) != OPTIONS:
        return Checked(code="options", reason=f"two options say the same: {' / '.join(options)}")
    wanted = {same_words(answer) for answer in draft.gold}
    if not wanted or not wanted <= set(keys):
        said = " / ".join(draft.gold) or "none"
        return Checked(code="gold", reason=f"expected some of the options as gold, got {said}")
    gold = tuple(option for option, key in zip(options, keys, strict=True) if key in wanted)
    notes = ("all four options are right",) if len(gold) == OPTIONS else ()
    payload = ChoiceItem(**cell.model_dump(), question=question, options=options, gold=gold)
    return Checked(payload=payload, notes=notes)


def _check_caption(cell: Cell, draft: CaptionDraft) -> Checked:
    caption = tidy(draft.caption)
    if bad := _length(caption):
        return bad
    notes = () if content(caption).on(cell.axis) else (_unseen(cell.axis),)
    return Checked(payload=CaptionItem(**cell.model_dump(), caption=caption), notes=notes)


def _check_correction(cell: Cell, draft: CorrectionDraft) -> Checked:
    corrected, corrupted = tidy(draft.corrected), tidy(draft.corrupted)
    wrong, rewrite = tidy(draft.wrong), tidy(draft.rewrite)
    if bad := _length(corrected) or _length(corrupted):
        return bad
    if same_words(corrected) == same_words(corrupted):
        return Checked(code="same", reason="the two captions say the same")
    if not same_words(wrong) or not same_words(rewrite):
        return Checked(code="span", reason="the wrong words or their rewrite are empty")
    places = [m.start() for m in re.finditer(rf"(?<!\w){re.escape(wrong)}(?!\w)", corrupted)]
    fits = [at for at in places if _put(corrupted, at, wrong, rewrite) == corrected]
    if not places:
        return Checked(code="span", reason=f"{wrong!r} does not stand in {corrupted!r}")
    if not fits:
        return Checked(
            code="span",
            reason=f"{rewrite!r} for {wrong!r} in {corrupted!r} does not give {corrected!r}",
        )
    before, after = content(corrected), content(corrupted)
    axes: tuple[SemanticAxis, ...] = ("body_part", "direction", "action")
    changed = [axis for axis in axes if before.on(axis) != after.on(axis)]
    if others := [axis for axis in changed if axis != cell.axis]:
        reason = f"{wrong!r} for {rewrite!r} changes {', '.join(others)} too, or instead"
        return Checked(code="other_axis", reason=reason)
    span = ErrorSpan(start=fits[0], end=fits[0] + len(wrong), rewrite=rewrite, axis=cell.axis)
    payload = CorrectionItem(
        **cell.model_dump(), corrupted=corrupted, errors=(span,), corrected=corrected
    )
    return Checked(payload=payload, notes=() if changed else (_unseen(cell.axis),))


def _put(text: str, at: int, old: str, new: str) -> str:
    return text[:at] + new + text[at + len(old) :]


def _unseen(axis: SemanticAxis) -> str:
    return f"no known word of axis {axis}: the rule could not check it"


def _length(text: str) -> Checked | None:
    count = len(text.split())
    if FEWEST_WORDS <= count <= MOST_WORDS:
        return None
    return Checked(
        code="length", reason=f"expected {FEWEST_WORDS} to {MOST_WORDS} words, got {count}"
    )
