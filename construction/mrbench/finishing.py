"""From a drawn candidate to a caption set: looked at, put into three lengths, made an item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.items import Item, Provenance, make_item
from benchmarks.mrbench import CaptionSet
from benchmarks.taxonomy import LEVELS
from construction.mrbench import rewrite as rewriting
from construction.mrbench import score as scoring
from construction.mrbench import verify as verification
from construction.mrbench.candidates import Candidate, refuse
from construction.mrbench.classify import Filed
from construction.mrbench.frames import FrameSource, frame_rate
from construction.mrbench.lengths import RULE, Fault, Trio, compose
from construction.mrbench.pool import Outcome
from construction.mrbench.summary import Made
from construction.report import FLAGS
from construction.stages import Stages
from corpus.clips import Caption
from llm.outcome import Reply, tool_version


class Finisher:
    """The stages after the pool; ``process`` is what the pool hands its candidates to."""

    def __init__(
        self,
        candidates: Iterable[Candidate],
        scores: Mapping[str, scoring.CaptionScore],
        frames: FrameSource,
        stages: Stages,
        seed: int,
        tell: Callable[[str], None],
    ) -> None:
        """Keep what the stages need.

        Args:
            candidates: All captions of the corpus, refused ones too: a short one may be concise.
            scores: Scores by caption id, for provenance.
            frames: Draws the frames of a motion.
            stages: Language models.
            seed: Seed of the draft, for provenance.
            tell: Told in one line after each batch.
        """
        self.made: dict[str, Made] = {}
        """Caption sets by caption id."""
        self.looks: list[Reply[verification.Alignment]] = []
        """Replies of the alignment stage, of pairs that did not pass or got no answer too."""
        self._scores = scores
        self._frames = frames
        self._stages = stages
        self._seed = seed
        self._tell = tell
        self._done = 0
        self._own: dict[str, list[Caption]] = {}
        for candidate in candidates:
            self._own.setdefault(candidate.clip.id, []).append(candidate.caption)

    def process(self, batch: Sequence[Filed]) -> list[Outcome]:
        """Verify and rewrite some candidates; one outcome for each, in order."""
        outcomes: dict[str, Outcome] = {}
        # Without a model the captions are known beforehand: nobody looks at what has none.
        composed = {} if self._stages.has(rewriting.STAGE) else self._composed(batch)
        for filed in batch:
            fault = composed.get(_id(filed))
            if isinstance(fault, Fault):
                outcomes[_id(filed)] = _refused(filed, rewriting.STAGE, fault)
        passed = []
        for found in self._look([filed for filed in batch if _id(filed) not in outcomes]):
            if found.code:
                fault = Fault(found.code, found.reason)
                outcomes[_id(found.filed)] = _refused(found.filed, verification.STAGE, fault)
            else:
                passed.append(found)
        for found, made in zip(passed, self._write(passed, composed), strict=True):
            if isinstance(made, Fault):
                outcomes[_id(found.filed)] = _refused(found.filed, rewriting.STAGE, made)
            else:
                self.made[_id(found.filed)] = made
                outcomes[_id(found.filed)] = Outcome(True)
        self._done += len(batch)
        self._tell(f"{self._done} candidates drawn, {len(self.made)} caption sets")
        return [outcomes[_id(filed)] for filed in batch]

    def _composed(self, batch: Sequence[Filed]) -> dict[str, tuple[Trio, str] | Fault]:
        return {
            _id(filed): compose(
                filed.candidate.caption,
                self._own[filed.candidate.clip.id],
                filed.candidate.clip.events,
            )
            for filed in batch
        }

    def _look(self, batch: Sequence[Filed]) -> list[verification.Checked]:
        if not self._stages.has(verification.STAGE):
            if not self._stages.has(rewriting.STAGE):
                return [verification.Checked(filed, (), None, "", "") for filed in batch]
            return [verification.draw(filed, self._frames) for filed in batch]
        found = verification.verify(batch, self._frames, self._stages)
        self.looks += [f.reply for f in found if f.reply is not None]
        if self._stages.dry_run:
            # Reckoned with as though they would pass, so that rewriting is reckoned too.
            return [
                f._replace(code="", reason="") if f.code == "verify_error" else f for f in found
            ]
        return found

    def _write(
        self,
        passed: Sequence[verification.Checked],
        composed: Mapping[str, tuple[Trio, str] | Fault],
    ) -> list[Made | Fault]:
        if not self._stages.has(rewriting.STAGE):
            return [self._by_rule(pair, composed[_id(pair.filed)]) for pair in passed]
        found: list[Made | Fault] = []
        for pair, written in zip(passed, rewriting.rewrite(passed, self._stages), strict=True):
            if written.trio is None:
                found.append(written.fault or Fault("empty", "nothing was written"))
                continue
            provenance = written.reply.provenance(self._seed, **self._said(pair))
            found.append(_set(pair, written.trio, provenance))
        return found

    def _by_rule(
        self, pair: verification.Checked, composed: tuple[Trio, str] | Fault
    ) -> Made | Fault:
        if isinstance(composed, Fault):
            return composed
        trio, how = composed
        clip = pair.filed.candidate.clip
        provenance = Provenance(
            rule=RULE,
            seed=self._seed,
            parameters={**self._said(pair), "lengths": how},
            tool_version=tool_version(),
            media={clip.id: clip.content_hash},
        )
        return _set(pair, trio, provenance)

    def _said(self, pair: verification.Checked) -> dict[str, Any]:
        """Return what the item's provenance says of the stages before."""
        filed, name = pair.filed, _id(pair.filed)
        said: dict[str, Any] = {"caption_id": name, "filed_by": filed.by}
        if filed.reply is not None and filed.reply.exchange is not None:
            said["classify"] = filed.reply.provenance().model_dump(mode="json")
        if (score := self._scores.get(name)) is not None:
            model = {"model": self._stages.model(scoring.STAGE)}
            said["score"] = score.model_dump(mode="json") | model
        if pair.reply is not None and pair.reply.value is not None:
            said["verify"] = {
                "answer": pair.reply.value.model_dump(mode="json"),
                "provenance": pair.reply.provenance().model_dump(mode="json"),
                "frames_per_second": frame_rate(filed.candidate.clip.duration),
            }
        return said


def items_of(made: Iterable[Made]) -> list[Item]:
    """Make the items, with what a person should look at first in their provenance."""
    items = []
    for each in made:
        clip, path = each.filed.candidate.clip, each.filed.category.path
        flagged = {FLAGS: list(each.flags)} if each.flags else {}
        parameters = {**each.provenance.parameters, **flagged}
        stratum = {"corpus": clip.corpus, **dict(zip(LEVELS, path, strict=True))}
        payload = CaptionSet(
            clip_id=clip.id, source=clip.corpus, category=path, **each.trio._asdict()
        )
        provenance = each.provenance.model_copy(update={"parameters": parameters})
        items.append(make_item("mrbench", "caption_set", stratum, payload, provenance))
    return items


def _set(pair: verification.Checked, trio: Trio, provenance: Provenance) -> Made:
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
    return Made(pair.filed, trio, provenance, tuple(flags))


def _refused(filed: Filed, stage: str, fault: Fault) -> Outcome:
    refusal = refuse(filed.candidate, stage, fault.code, fault.reason, filed.category.path)
    return Outcome(False, refusal, answered=not fault.code.startswith(f"{stage}_"))


def _id(filed: Filed) -> str:
    return filed.candidate.caption.id
