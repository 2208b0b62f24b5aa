"""Drafting STRIDE items: edits by rule or model, checks, filter, balance (STRIDE 2.1, 2.2, A.1).

Everything runs without a language model and without a text scorer; what was not run is said in the
result and in the provenance of every item.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from benchmarks.stride import AXES, STRUCTURAL_AXES, StrideAxis
from construction.balance import PairCount, Selection, pair_counts, select
from construction.sampling import seeded_order
from construction.stride_candidates import (
    Candidate,
    CandidateMaker,
    Passed,
    edits,
    first_of_each,
    passed,
    refuse,
)
from construction.stride_check import NOT_RUN as NO_CHECK_MODEL
from construction.stride_check import ModelCheck, check_by_rule
from construction.stride_filter import NAME as FILTER
from construction.stride_filter import LikelihoodFilter
from construction.stride_records import NO_SCORER, DraftResult, draft_result
from construction.stride_rewrite import TemporalRewriter
from construction.text.outcome import Outcome, rejected
from construction.text.scorers import ScorerNotRun
from corpus.clips import Caption, Clip
from corpus.problems import InputError

_CHUNK = 8

Progress = Callable[[str, int, int], None]
"""Told of a step: its name, how much is done, of how much."""


def edit_caption(caption: str, axis: StrideAxis, seed: int = 0) -> Outcome:
    """Edit one caption on one structural axis by rule.

    Args:
        caption: The caption.
        axis: ``temporal_order``, ``mirror_reflection`` or ``action_identity``.
        seed: Decides between several possible actions; the other axes have one edit at most.

    Returns:
        The edit, or why there is none.

    Raises:
        InputError: The axis is unknown, or is ``random_content``, which needs other captions.
    """
    found = edits(caption, axis)
    return found[seed % len(found)]


def draft_stride(
    clips: Sequence[Clip],
    captions: Sequence[Caption],
    seed: int,
    axes: Sequence[StrideAxis] = AXES,
    limit: int | None = None,
    per_clip_limit: int | None = None,
    *,
    rewriter: TemporalRewriter | None = None,
    likelihood: LikelihoodFilter | None = None,
    check: ModelCheck | None = None,
    no_scorer: str = NO_SCORER,
    progress: Progress | None = None,
) -> DraftResult:
    """Draft the STRIDE items of a set of clips.

    Args:
        clips: Clips. One that comes twice with the same motion counts once; two motions under one
            id are refused with their captions.
        captions: Their captions; captions of clips that are not given are refused.
        seed: Seed of every choice.
        axes: Axes to draft.
        limit: At most this many items per corpus × axis, chosen by hash; None for all.
        per_clip_limit: At most this many items per clip and axis; None for all.
        rewriter: Writes Temporal Order edits; None for the rule.
        likelihood: The likelihood filter of the structural axes; None runs none.
        check: The text-only check of Action Identity by a model; None checks by rule alone.
        no_scorer: Why there is no filter, for the record.
        progress: Told how far it is.

    Returns:
        Items and what was passed over; the same input, answers and seed give the same result
        whatever the order of the input. Action Identity is balanced last.

    Raises:
        InputError: A caption names a clip that is not given, or a limit is below 1.
    """
    for name, value in (("limit", limit), ("per_clip_limit", per_clip_limit)):
        if value is not None and value < 1:
            raise InputError(f"{name}: expected at least 1, got {value}")
    draft = _Draft(clips, captions, seed, (limit, per_clip_limit), progress)
    draft.not_run = {} if likelihood else {FILTER: no_scorer}
    ordered = sorted(set(axes), key=AXES.index)
    draft.learn([a for a in ordered if rewriter is None or a != "temporal_order"])
    for axis in ordered:
        structural = axis in STRUCTURAL_AXES
        if axis == "temporal_order" and rewriter is not None:
            draft.rewrite(rewriter, likelihood)
            continue
        draft.by_rule(axis)
        if axis == "action_identity":
            draft.check_rule()
        if structural and likelihood is not None:
            draft.filter(axis, likelihood)
        if axis == "action_identity" and check is not None:
            draft.check_model(check)
        elif axis == "action_identity":
            draft.not_run["text-only check by a model"] = NO_CHECK_MODEL
        draft.choose(axis)
    return draft.result()


class _Draft:
    """One run: candidates by axis and caption, what was passed over, what was kept."""

    def __init__(
        self,
        clips: Sequence[Clip],
        captions: Sequence[Caption],
        seed: int,
        limits: tuple[int | None, int | None],
        progress: Progress | None,
    ) -> None:
        by_id, doubled = _unique_clips(clips)
        for caption in captions:
            if caption.clip_id not in by_id:
                raise InputError(f"caption {caption.id}: its clip {caption.clip_id} is not given")
        ordered = sorted(captions, key=lambda c: (by_id[c.clip_id].corpus, c.clip_id, c.id, c.text))
        self.refused = _unusable(ordered, doubled)
        self.captions = [c for c, why in zip(ordered, self.refused, strict=True) if why is None]
        self._firsts = list(first_of_each(self.captions))
        self.all_captions = ordered
        self.clips = by_id
        self.seed = seed
        self.limit, self.per_clip = limits
        self.maker = CandidateMaker(list(by_id.values()), self.captions, seed)
        self.not_run: dict[str, str] = {}
        self._progress = progress or (lambda step, done, total: None)
        self._found: dict[StrideAxis, dict[str, list[Candidate]]] = defaultdict(dict)
        self._kept: list[Candidate] = []
        self._passed: list[Passed] = []
        self._pairs: list[PairCount] = []

    def _pass_over(
        self, caption: Caption, axis: StrideAxis, outcome: Outcome, stage: str, text: str = ""
    ) -> None:
        clip = self.clips[caption.clip_id]
        self._passed.append(passed(clip, caption, axis, outcome, stage, text))

    def _open(self, axis: StrideAxis) -> None:
        for caption, why in zip(self.all_captions, self.refused, strict=True):
            if why is not None:
                self._pass_over(caption, axis, why, "input")

    def learn(self, axes: Sequence[StrideAxis]) -> None:
        """Make the edits of all axes, caption by caption."""
        self.maker.learn(self.captions, axes, lambda *at: self._progress("edits", *at))

    def by_rule(self, axis: StrideAxis) -> None:
        """Make the candidates of an axis by its rule."""
        self._open(axis)
        total = len(self.captions)
        for done, (caption, first) in enumerate(self._firsts, 1):
            made = self.maker.by_rule(caption, axis)
            if isinstance(made, Outcome):
                self._pass_over(caption, axis, made, "rule")
            elif not first:
                again = rejected("the same caption was used for this motion", "duplicate")
                self._pass_over(caption, axis, again, "rule")
            else:
                self._found[axis][caption.id] = made
            if done % 1024 == 0 or done == total:
                self._progress(axis, done, total)

    def check_rule(self) -> None:
        """Run the text-only check by rule on the Action Identity candidates."""
        self._replace("action_identity", *check_by_rule(self._all("action_identity")))

    def filter(self, axis: StrideAxis, likelihood: LikelihoodFilter) -> None:
        """Run the likelihood filter on the candidates of an axis."""
        candidates = self._all(axis)
        kept = self._filtered(candidates, likelihood)
        if kept is not None:
            self._replace(axis, *kept)

    def _filtered(
        self, candidates: Sequence[Candidate], likelihood: LikelihoodFilter
    ) -> tuple[list[Candidate], list[Passed]] | None:
        if FILTER in self.not_run:
            return None
        try:
            return likelihood(candidates)
        except ScorerNotRun as error:
            self.not_run[FILTER] = str(error)
            return None

    def check_model(self, check: ModelCheck) -> None:
        """Ask the model about the candidates that would be chosen, until none of those is new."""
        axis: StrideAxis = "action_identity"
        asked: set[tuple[str, str]] = set()
        while fresh := [c for c in self._select(axis).kept if c.key not in asked]:
            asked |= {c.key for c in fresh}
            kept, refused = check(fresh)
            answered = {c.key: c for c in kept}
            lost = {c.key for c in fresh} - set(answered)
            self._passed += refused
            for caption_id, several in list(self._found[axis].items()):
                left = [answered.get(c.key, c) for c in several if c.key not in lost]
                self._found[axis][caption_id] = left
                if not left:
                    del self._found[axis][caption_id]

    def rewrite(self, rewriter: TemporalRewriter, likelihood: LikelihoodFilter | None) -> None:
        """Make Temporal Order candidates by a model, no more than the limit needs."""
        axis: StrideAxis = "temporal_order"
        self._open(axis)
        waiting: dict[str, list[Caption]] = defaultdict(list)
        for caption, first in self._firsts:
            refused = self.maker.usable(caption) or rewriter.refusal(caption.text)
            if refused is None and not first:
                refused = rejected("the same caption was used for this motion", "duplicate")
            if refused is not None:
                self._pass_over(caption, axis, refused, "rule")
            else:
                waiting[self.clips[caption.clip_id].corpus].append(caption)
        for captions in waiting.values():
            captions.sort(key=lambda c: seeded_order(self.seed, c.id))
            self._rewrite_some(captions, rewriter, likelihood)
        self.choose(axis)

    def _rewrite_some(
        self,
        captions: Sequence[Caption],
        rewriter: TemporalRewriter,
        likelihood: LikelihoodFilter | None,
    ) -> None:
        axis: StrideAxis = "temporal_order"
        at = 0
        in_clip: Counter[str] = Counter()
        made = 0
        while at < len(captions):
            wanted = len(captions) if self.limit is None else self.limit - made
            if wanted <= 0 or rewriter.silent:
                why = ("over the limit asked for; not sent to the model", "limit")
                if wanted > 0:
                    why = ("the model gives no answers any more; not sent", "not_answered")
                for caption in captions[at:]:
                    self._pass_over(caption, axis, rejected(*why), "select")
                return
            chunk = captions[at : at + max(wanted, _CHUNK)]
            at += len(chunk)
            candidates = self._rewritten(chunk, rewriter)
            filtered = None if likelihood is None else self._filtered(candidates, likelihood)
            kept, refused = filtered if filtered is not None else (candidates, [])
            self._passed += refused
            for candidate in kept:
                self._found[axis][candidate.caption.id] = [candidate]
                in_clip[candidate.clip.id] += 1
                made += self.per_clip is None or in_clip[candidate.clip.id] <= self.per_clip
            self._progress("temporal_order by model", at, len(captions))

    def _rewritten(
        self, captions: Sequence[Caption], rewriter: TemporalRewriter
    ) -> list[Candidate]:
        axis: StrideAxis = "temporal_order"
        found = rewriter(captions)
        made: list[Candidate] = []
        for caption in captions:
            came = found[caption.id]
            candidate = self.maker.candidate(caption, axis, came.outcome, came.made_by)
            if candidate is not None:
                made.append(candidate)
            elif came.outcome.text is not None:
                why = rejected(
                    "the edited text is another caption of this motion", "also_a_caption"
                )
                self._pass_over(caption, axis, why, "rewrite", came.offered)
            else:
                self._pass_over(caption, axis, came.outcome, "rewrite", came.offered)
        return made

    def _all(self, axis: StrideAxis) -> list[Candidate]:
        return [c for several in self._found[axis].values() for c in several]

    def _replace(
        self, axis: StrideAxis, kept: Sequence[Candidate], refused: Sequence[Passed]
    ) -> None:
        self._passed += refused
        left: dict[str, list[Candidate]] = defaultdict(list)
        for candidate in kept:
            left[candidate.caption.id].append(candidate)
        self._found[axis] = dict(left)

    def _select(self, axis: StrideAxis) -> Selection:
        return select(self._found[axis], axis, self.seed, self.limit, self.per_clip)

    def choose(self, axis: StrideAxis) -> None:
        """Keep what the limits and the balance allow."""
        chosen = self._select(axis)
        self._kept += chosen.kept
        self._passed += [
            refuse(candidate, "select", code, _DROPPED[code]) for candidate, code in chosen.dropped
        ]
        if axis == "action_identity":
            self._pairs = pair_counts(self._all(axis), chosen.kept)

    def result(self) -> DraftResult:
        """Make items of what was kept and count."""
        return draft_result(self._kept, self._passed, self._pairs, self.not_run, self.seed)


_DROPPED = {
    "limit": "over the limit asked for",
    "balance": "no item in the other direction of the same action pair is left to balance it",
}


def _unique_clips(clips: Sequence[Clip]) -> tuple[dict[str, Clip], set[str]]:
    """Return clips by id, and the ids that several motions have."""
    by_id: dict[str, Clip] = {}
    doubled: set[str] = set()
    for clip in sorted(clips, key=lambda c: (c.id, c.content_hash)):
        kept = by_id.setdefault(clip.id, clip)
        if kept.content_hash != clip.content_hash:
            doubled.add(clip.id)
    return by_id, doubled


def _unusable(captions: Sequence[Caption], doubled: set[str]) -> list[Outcome | None]:
    """Say for each caption why its id or its clip's id cannot be relied on."""
    why: list[Outcome | None] = []
    seen: set[str] = set()
    for caption in captions:
        if caption.clip_id in doubled:
            why.append(rejected("two motions have this clip id", "duplicate_clip"))
        elif caption.id in seen:
            why.append(rejected("another caption has this id", "duplicate_caption"))
        else:
            why.append(None)
        seen.add(caption.id)
    return why
