"""MRBench from start to end: captions and motions in; caption sets and a training set out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from benchmarks.items import Frozen, Item, Provenance, make_item
from benchmarks.mrbench import CaptionSet
from benchmarks.taxonomy import Taxonomy
from construction.mrbench import rewrite as rewriting
from construction.mrbench import score as scoring
from construction.mrbench import verify as verification
from construction.mrbench.candidates import Candidate, gather, refuse
from construction.mrbench.classify import Filed, classify
from construction.mrbench.filters import FilterLimits, rule_filter
from construction.mrbench.frames import FrameSource, frame_rate
from construction.mrbench.held_out import TrainingPair, held_out
from construction.mrbench.lengths import RULE, Fault, Trio, compose
from construction.mrbench.pool import NEAR, Outcome, draw_pool
from construction.mrbench.summary import Made, summarise
from construction.report import FLAGS, DraftReport, Rejected
from construction.sampling import seeded_order
from construction.stages import Stages
from corpus.clips import Caption, Clip
from corpus.problems import InputError
from llm.embedding import TextEmbedder
from llm.outcome import tool_version

STAGES = ("score", "classify", "verify", "rewrite")
"""Stages that ask a language model, in order; each may have a model of its own."""


class MrbenchSettings(Frozen):
    """Options of a draft."""

    seed: int = 0
    """Seed of every choice."""
    min_per_category: int = Field(default=10, ge=0)
    """Sets a fine category should have; those below are listed to be supplemented (MRBench)."""
    max_per_category: int = Field(default=60, ge=1)
    """Most sets of a fine category (MRBench)."""
    near: float = Field(default=NEAR, gt=0, le=1)
    """Cosine from which two captions of a category are taken for the same (ours)."""
    min_score: int = Field(default=scoring.MIN_SCORE, ge=1, le=5)
    """Least score of discriminability and of compactness (ours)."""
    limit: int | None = Field(default=None, ge=1)
    """Most motions the run sets out from, chosen by the seed; null for all."""
    limits: FilterLimits = FilterLimits()
    """Limits of the rule filter."""


class MrbenchDraft(NamedTuple):
    """What a draft produced."""

    items: tuple[Item, ...]
    """Caption sets, by category."""
    rejected: tuple[Rejected, ...]
    """Every refused candidate with its reason."""
    training: tuple[TrainingPair, ...]
    """Pairs held out of the benchmark; no motion is on both sides."""
    report: DraftReport
    """Counts, tables, pictures."""


def draft_mrbench(
    clips: Sequence[Clip],
    captions: Sequence[Caption],
    taxonomy: Taxonomy,
    embedder: Callable[[Sequence[str]], TextEmbedder],
    frames: FrameSource,
    stages: Stages | None = None,
    settings: MrbenchSettings | None = None,
    *,
    benchmark_clips: Iterable[str] = (),
    tell: Callable[[str], None] | None = None,
) -> MrbenchDraft:
    """Draft MRBench: filter, file, balance, verify, rewrite, hold out the rest.

    Stages without a model go by rule, or not at all, and the report says so: captions are not
    scored, of several fitting categories the first is taken, no motion is looked at, and captions
    of three lengths are put together from what the corpus says.

    Args:
        clips: Motions.
        captions: Their captions.
        taxonomy: Categories.
        embedder: Returns the embedder for the captions that are left after filtering.
        frames: Draws the frames of a motion; used only where a model looks at them.
        stages: Language models.
        settings: Options; the paper's and ours by default.
        benchmark_clips: Clip ids of items drafted before: no training pair shows their motions.
        tell: Told in one line how far the run is.

    Returns:
        Items, refusals, training pairs and the report.

    Raises:
        InputError: Fewer at most than at least, or an endpoint, key, budget or cache that cannot be
            used.
    """
    chosen = settings or MrbenchSettings()
    if chosen.max_per_category < chosen.min_per_category:
        raise InputError(
            f"max_per_category: expected at least min_per_category {chosen.min_per_category}, "
            f"got {chosen.max_per_category}"
        )
    started = time.time()
    run = _Run(stages or Stages(), chosen, frames, tell or (lambda line: None))
    candidates, rejected, groups = gather(clips, captions)
    earlier = {groups[clip_id] for clip_id in benchmark_clips if clip_id in groups}
    run.own_captions(candidates)
    asked = _limited(candidates, chosen)
    kept, by_rule = rule_filter(asked, chosen.limits)
    scored, by_score, scores = scoring.score_captions(kept, run.stages, chosen.min_score)
    run.scores = scores
    filed, unfiled = classify(scored, taxonomy, run.stages)
    run.tell(f"{len(asked)} captions: {len(kept)} kept by rule, {len(filed)} filed")
    compare = embedder([f.candidate.caption.text for f in filed])
    drawn = draw_pool(
        filed,
        compare,
        run.process,
        most=chosen.max_per_category,
        near=chosen.near,
        seed=chosen.seed,
    )
    rejected += [*by_rule, *by_score, *unfiled, *drawn.refused]
    made = [run.made[f.candidate.caption.id] for f in drawn.accepted]
    items = run.items(made)
    training = held_out(filed, made, rejected, earlier)
    report = summarise(
        items=items,
        made=made,
        filed=filed,
        rejected=rejected,
        training=training,
        taxonomy=taxonomy,
        stages=run.stages,
        answers=run.answers,
        settings={
            **chosen.model_dump(mode="json", exclude={"seed"}),
            "taxonomy": f"{taxonomy.title}/{taxonomy.version} {taxonomy.sha256[:12]}",
            "embedding": compare.id,
        },
        seed=chosen.seed,
        least=chosen.min_per_category,
        asked=len(asked),
        stopped=drawn.stopped,
        started=started,
        tool_version=tool_version(),
    )
    return MrbenchDraft(tuple(items), tuple(rejected), tuple(training), report)


class _Run:
    """Verification and rewriting of one draft."""

    def __init__(
        self,
        stages: Stages,
        settings: MrbenchSettings,
        frames: FrameSource,
        tell: Callable[[str], None],
    ) -> None:
        self.stages = stages
        self.tell = tell
        self.scores: dict[str, scoring.CaptionScore] = {}
        self.made: dict[str, Made] = {}
        self.answers: list[verification.Alignment] = []
        self._settings = settings
        self._frames = frames
        self._own: dict[str, list[Caption]] = {}
        self._done = 0

    def own_captions(self, candidates: Iterable[Candidate]) -> None:
        """Keep all captions of each clip, those that are no candidates included."""
        for candidate in candidates:
            self._own.setdefault(candidate.clip.id, []).append(candidate.caption)

    def process(self, batch: Sequence[Filed]) -> list[Outcome]:
        """Verify and rewrite some candidates."""
        self._done += len(batch)
        looked = self._look(batch)
        passed = [found for found in looked if not found.code]
        written = self._write(passed)
        outcomes: list[Outcome] = []
        for found in looked:
            caption = found.filed.candidate.caption
            made = written.get(caption.id)
            if made is None:
                outcomes.append(self._refused(found.filed, "verify", found.code, found.reason))
            elif isinstance(made, Fault):
                outcomes.append(self._refused(found.filed, "rewrite", *made))
            else:
                self.made[caption.id] = made
                outcomes.append(Outcome(True))
        self.tell(f"{self._done} candidates drawn, {len(self.made)} caption sets")
        return outcomes

    def items(self, made: Sequence[Made]) -> list[Item]:
        """Make the items, with what a person should look at first."""
        items = []
        for each in made:
            flagged = {FLAGS: list(each.flags)} if each.flags else {}
            parameters = {**each.provenance.parameters, **flagged}
            clip = each.filed.candidate.clip
            path = each.filed.category.path
            items.append(
                make_item(
                    "mrbench",
                    "caption_set",
                    {"corpus": clip.corpus, **dict(zip(_LEVELS, path, strict=True))},
                    CaptionSet(
                        clip_id=clip.id, source=clip.corpus, category=path, **each.trio._asdict()
                    ),
                    each.provenance.model_copy(update={"parameters": parameters}),
                )
            )
        return items

    def _look(self, batch: Sequence[Filed]) -> list[verification.Checked]:
        if not self.stages.has(verification.STAGE):
            if not self.stages.has(rewriting.STAGE):
                return [verification.Checked(filed, (), None, "", "") for filed in batch]
            return [verification.draw(filed, self._frames) for filed in batch]
        found = verification.verify(batch, self._frames, self.stages)
        self.answers += [f.reply.value for f in found if f.reply is not None and f.reply.value]
        if self.stages.dry_run:
            # Reckoned with as though they would pass, so that rewriting is reckoned too.
            return [
                f._replace(code="", reason="") if f.code == "verify_error" else f for f in found
            ]
        return found

    def _write(self, passed: Sequence[verification.Checked]) -> dict[str, Made | Fault]:
        if not self.stages.has(rewriting.STAGE):
            return {f.filed.candidate.caption.id: self._composed(f) for f in passed}
        found: dict[str, Made | Fault] = {}
        for pair, written in zip(passed, rewriting.rewrite(passed, self.stages), strict=True):
            if written.trio is None:
                fault = written.fault or Fault("empty", "nothing was written")
                found[pair.filed.candidate.caption.id] = fault
                continue
            provenance = written.reply.provenance(self._settings.seed, **self._said(pair))
            found[pair.filed.candidate.caption.id] = self._set(pair, written.trio, provenance)
        return found

    def _composed(self, pair: verification.Checked) -> Made | Fault:
        candidate = pair.filed.candidate
        own = self._own[candidate.clip.id]
        found = compose(candidate.caption, own, candidate.clip.events)
        if isinstance(found, Fault):
            return found
        trio, how = found
        provenance = Provenance(
            rule=RULE,
            seed=self._settings.seed,
            parameters={**self._said(pair), "lengths": how},
            tool_version=tool_version(),
            media={candidate.clip.id: candidate.clip.content_hash},
        )
        return self._set(pair, trio, provenance)

    def _set(self, pair: verification.Checked, trio: Trio, provenance: Provenance) -> Made:
        flags = []
        if pair.filed.by == "first_rule":
            also = ", ".join(pair.filed.others)
            flags.append(f"filed by the first motion named; also fits {also}")
        answer = pair.reply.value if pair.reply is not None else None
        if answer is not None:
            flags += [
                f"{point.verdict} in the frames: {point.point}"
                for point in answer.key_points
                if point.verdict != "yes"
            ]
        return Made(pair.filed, trio, provenance, tuple(flags), pair.reply)

    def _said(self, pair: verification.Checked) -> dict[str, Any]:
        """Return what the item's provenance says of the stages before."""
        filed, caption = pair.filed, pair.filed.candidate.caption
        said: dict[str, Any] = {"caption_id": caption.id, "filed_by": filed.by}
        if filed.reply is not None and filed.reply.exchange is not None:
            said["classify"] = filed.reply.provenance().model_dump(mode="json")
        if (score := self.scores.get(caption.id)) is not None:
            model = {"model": self.stages.model(scoring.STAGE)}
            said["score"] = score.model_dump(mode="json") | model
        if pair.reply is not None and pair.reply.value is not None:
            said["verify"] = {
                "answer": pair.reply.value.model_dump(mode="json"),
                "provenance": pair.reply.provenance().model_dump(mode="json"),
                "frames_per_second": frame_rate(filed.candidate.clip.duration),
            }
        return said

    def _refused(self, filed: Filed, stage: str, code: str, reason: str) -> Outcome:
        refusal = refuse(filed.candidate, stage, code, reason, filed.category.path)
        lost = code.startswith((f"{verification.STAGE}_", f"{rewriting.STAGE}_"))
        return Outcome(False, refusal, answered=not lost)


_LEVELS = ("coarse", "middle", "fine")


def _limited(candidates: Sequence[Candidate], settings: MrbenchSettings) -> list[Candidate]:
    """Return the candidates of at most ``limit`` motions, twins and copies together."""
    if settings.limit is None:
        return list(candidates)
    groups = sorted({c.group for c in candidates}, key=lambda g: seeded_order(settings.seed, g))
    chosen = set(groups[: settings.limit])
    return [c for c in candidates if c.group in chosen]
