"""Drafts from labels alone, by template: what runs where no language model is named.

The wording follows the examples of NextMotionQA's Table 8. The template sees what pass 1 sees,
labels and caption, and says nothing the labels do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.nextmotionqa import SemanticAxis, Task
from construction.nextmotionqa.acts import REGIONS, WAYS, Act, kin, limbs, read_acts
from construction.nextmotionqa.difficulty import shortest_gap
from construction.nextmotionqa.drafts import (
    OPTIONS,
    CaptionDraft,
    ChoiceDraft,
    CorrectionDraft,
    Draft,
)
from construction.nextmotionqa.sources import SourceClip
from construction.nextmotionqa.words import content, table
from construction.sampling import seeded_order
from construction.text.morphology import inflect

RULE = "nextmotionqa.template/1"
"""Name and version of the template."""

_LIMBS = ("left arm", "right arm", "left leg", "right leg")
_OPPOSITE: dict[str, tuple[str, ...]] = {
    "forward": ("backward",),
    "backward": ("forward",),
    "left": ("right",),
    "right": ("left",),
    "clockwise": ("counterclockwise",),
    "counterclockwise": ("clockwise",),
    "in_place": ("while moving forward", "while moving backward"),
}
# Ways that may also be true of a motion that is described by the key.
_ALSO_TRUE = {
    "left": {"forward", "counterclockwise", "in_place"},
    "right": {"forward", "clockwise", "in_place"},
    "counterclockwise": {"forward", "left"},
    "clockwise": {"forward", "right"},
}


class _Piece(NamedTuple):
    """A stretch of a caption, and what would be wrong in its place."""

    text: str
    wrong: tuple[str, ...] = ()


class Impossible(Exception):
    """The labels do not license such an item."""


def draft_by_template(clip: SourceClip, task: Task, axis: SemanticAxis, seed: int) -> Draft:
    """Draft one item from the labels of a clip.

    Args:
        clip: The clip.
        task: Task.
        axis: Semantic axis.
        seed: Decides which wrong options and which mistake; the choice depends on seed, clip, task
            and axis alone.

    Returns:
        A ``ChoiceDraft``, ``CaptionDraft`` or ``CorrectionDraft``; ``possible`` is false, with the
        reason, where the labels do not license it.
    """

    def order(*names: str) -> list[str]:
        keys = {name: seeded_order(seed, clip.clip_id, task, axis, name) for name in names}
        return sorted(names, key=lambda name: keys[name])

    try:
        acts, unknown = read_acts(clip)
        if unknown:
            raise Impossible(unknown)
        if task == "T1":
            return _CHOICES[axis](clip, acts, order)
        pieces = _caption(clip, acts, axis, order)
        return _captioned(pieces) if task == "T2" else _corrupted(pieces, order)
    except Impossible as why:
        return _none(task, str(why))


_Order = Callable[..., list[str]]


def _none(task: Task, reason: str) -> Draft:
    if task == "T1":
        return ChoiceDraft(possible=False, reason=reason, question="", options=(), gold=())
    if task == "T2":
        return CaptionDraft(possible=False, reason=reason, caption="")
    return CorrectionDraft(
        possible=False, reason=reason, corrected="", corrupted="", wrong="", rewrite=""
    )


def _choice(question: str, gold: Sequence[str], wrong: Sequence[str], order: _Order) -> ChoiceDraft:
    need = OPTIONS - len(gold)
    if need < 1:
        raise Impossible("every option would be right")
    if len(wrong) < need:
        raise Impossible(f"expected {need} wrong options that are surely wrong, got {len(wrong)}")
    options = tuple(order(*gold, *wrong[:need]))
    right = tuple(option for option in options if option in gold)
    return ChoiceDraft(possible=True, reason="", question=question, options=options, gold=right)


def _parts_question(clip: SourceClip, acts: list[Act], order: _Order) -> ChoiceDraft:
    named = limbs(acts[0]) if len(acts) == 1 else ()
    if named:
        use = acts[0].verb if acts[0].moves_part else f"use to {acts[0].verb}"
        question = f"Which of their own limbs does the person {use}?"
        return _choice(question, named, [limb for limb in _LIMBS if limb not in named], order)
    regions = _all_regions(acts)
    verbs = " and ".join(dict.fromkeys(act.verb for act in acts))
    question = f"Which parts of the body does the person mainly use to {verbs}?"
    if any(act.moves_part for act in acts):
        question = "Which parts of the body does the person mainly move in the clip?"
    return _choice(question, regions, [r for r in REGIONS if r not in regions], order)


def _ways_question(clip: SourceClip, acts: list[Act], order: _Order) -> ChoiceDraft:
    gold = _ways(clip, acts)
    blocked = {way for found in gold for way in _ALSO_TRUE.get(found, ())} | set(gold)
    if any(act.stays is not False for act in acts):
        blocked.add("in_place")
    wrong = order(*(way for way in WAYS if way not in blocked))
    question = "Which way does the person travel or turn in the clip, from their own point of view?"
    return _choice(question, [WAYS[w] for w in gold], [WAYS[w] for w in wrong], order)


def _acts_question(clip: SourceClip, acts: list[Act], order: _Order) -> ChoiceDraft:
    gold = list(dict.fromkeys(act.gerund for act in acts))[: OPTIONS - 1]
    wrong = [str(inflect(verb, "VBG")) for verb in order(*_other_verbs(clip, acts))]
    for act in acts:
        # One wrong option names a part too, or the right one would stand out by its length.
        if act.moves_part and act.organs:
            wrong[:0] = [
                f"{inflect(verb, 'VBG')} their {act.organs}"
                for verb in order(*_other_objects(clip, acts))[:1]
            ]
    question = "Which of these does the person do in the clip? Mark all that apply."
    return _choice(question, gold, wrong, order)


_CHOICES: dict[SemanticAxis, Callable[[SourceClip, list[Act], _Order], ChoiceDraft]] = {
    "body_part": _parts_question,
    "direction": _ways_question,
    "action": _acts_question,
}


def _all_regions(acts: Sequence[Act]) -> list[str]:
    for act in acts:
        if not act.regions:
            raise Impossible(f"the label does not say what is moved to {act.verb}")
    found = {region for act in acts for region in act.regions}
    return [region for region in REGIONS if region in found]


def _ways(clip: SourceClip, acts: Sequence[Act]) -> list[str]:
    """Return where the person goes, by labels and, where a label leaves it open, the caption."""
    found = [way for act in acts for way in act.ways if act.stays is not True]
    if any(act.stays is not True for act in acts):
        found += [way for way in content(clip.caption).directions if way in WAYS]
        if not found:
            raise Impossible("neither label nor caption says where the person goes")
    return list(dict.fromkeys(found)) or ["in_place"]


def _close(clip: SourceClip, acts: Sequence[Act]) -> frozenset[str]:
    """Return the actions that labels or captions speak of, and what is too close to them."""
    done = {act.verb for act in acts} | {a for text in clip.captions for a in content(text).actions}
    return frozenset().union(*(kin(verb) for verb in done))


def _other_verbs(clip: SourceClip, acts: Sequence[Act]) -> list[str]:
    """Return actions that are surely wrong, to be said without an object."""
    close, actions = _close(clip, acts), table("actions")["actions"]
    return [v for v, row in actions.items() if v not in close and _alone(row)]


def _alone(row: dict[str, Any]) -> bool:
    """Return whether a verb says enough without an object."""
    return row.get("bare", True) and not row.get("object")


def _other_objects(clip: SourceClip, acts: Sequence[Act]) -> list[str]:
    """Return surely wrong verbs that move a named part."""
    close, actions = _close(clip, acts), table("actions")["actions"]
    return [v for v, row in actions.items() if row.get("object") and v not in close]


def _caption(clip: SourceClip, acts: list[Act], axis: SemanticAxis, order: _Order) -> list[_Piece]:
    gap = shortest_gap(clip.actions)
    in_order = len(acts) == 1 or (gap is not None and gap > -0.5)
    say = {"body_part": _with_parts, "direction": _with_ways, "action": _with_verbs}[axis]
    pieces = [_Piece("A person ")]
    for number, act in enumerate(acts):
        if number:
            pieces.append(_Piece(", then " if in_order else " and "))
        pieces += say(clip, act, acts, order)
    if axis == "direction" and not any(piece.wrong for piece in pieces):
        raise Impossible("neither label nor caption says where the person goes")
    return [*pieces, _Piece(".")]


def _with_parts(clip: SourceClip, act: Act, acts: Sequence[Act], order: _Order) -> list[_Piece]:
    _all_regions([act])
    wrong = tuple(limb for limb in limbs(act) and _LIMBS if limb not in limbs(act)) or tuple(
        region for region in ("arms", "legs", "torso", "head") if region not in act.regions
    )
    organs = _Piece(act.organs, wrong)
    if act.moves_part:
        return [_Piece(f"{inflect(act.verb, 'VBZ')} their "), organs]
    return [_Piece("uses their "), organs, _Piece(f" to {act.verb}")]


def _with_ways(clip: SourceClip, act: Act, acts: Sequence[Act], order: _Order) -> list[_Piece]:
    ways = list(act.ways) if act.stays is not True else ["in_place"]
    if not ways and len(acts) == 1:
        ways = _ways(clip, acts)
    if not ways:
        return [_Piece(act.finite)]
    way = ways[0]
    before, _, after = {
        "left": "to their own |left|",
        "right": "to their own |right|",
        "clockwise": "|clockwise|, seen from above",
        "counterclockwise": "|counterclockwise|, seen from above",
        "in_place": "|in place|",
    }.get(way, f"|{way}|").partition(f"|{way.replace('_', ' ')}|")
    said = _Piece(way.replace("_", " "), _OPPOSITE[way])
    return [_Piece(f"{act.finite} {before}"), said, _Piece(after)]


def _with_verbs(clip: SourceClip, act: Act, acts: Sequence[Act], order: _Order) -> list[_Piece]:
    others = _other_objects(clip, acts) if act.moves_part else _other_verbs(clip, acts)
    verb = _Piece(
        str(inflect(act.verb, "VBZ")), tuple(str(inflect(v, "VBZ")) for v in order(*others))
    )
    if act.moves_part and not act.organs:
        raise Impossible(f"the label does not say what is moved to {act.verb}")
    return [verb, _Piece(f" their {act.organs}")] if act.moves_part else [verb]


def _captioned(pieces: Sequence[_Piece]) -> CaptionDraft:
    return CaptionDraft(possible=True, reason="", caption="".join(p.text for p in pieces))


def _corrupted(pieces: Sequence[_Piece], order: _Order) -> CorrectionDraft:
    slots = [str(number) for number, piece in enumerate(pieces) if piece.wrong]
    if not slots:
        raise Impossible("nothing in the caption can be made wrong on this axis")
    at = int(order(*slots)[0])
    wrong = order(*pieces[at].wrong)[0]
    texts = [piece.text for piece in pieces]
    return CorrectionDraft(
        possible=True,
        reason="",
        corrected="".join(texts),
        corrupted="".join([*texts[:at], wrong, *texts[at + 1 :]]),
        wrong=wrong,
        rewrite=texts[at],
    )
