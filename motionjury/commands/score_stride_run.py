"""One call of `score stride`: each file or model becomes the numbers of one model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.problems import InputError
from motionjury.options import bar

if TYPE_CHECKING:
    from evaluators.protocol import ForcedChoiceModel
    from evaluators.source import MotionLibrary, ScoreSource
    from metrics.stride import Credits, Ties
    from metrics.stride_cells import StrideResult
    from metrics.stride_files import StrideFile
    from metrics.stride_scoring import StrideTask
    from metrics.stride_tables import Kind, StrideModel
    from motionjury.models import NamedModel


class StrideRun:
    """One call: options and the items of the release, if there is one."""

    def __init__(
        self,
        tasks: list[StrideTask] | None,
        ties: Ties,
        controls: int,
        resamples: int,
        seed: int,
        higher_is_better: bool | None,
        likelihoods: Sequence[str] | None = None,
    ) -> None:
        """Keep the options; see ``score_stride.stride_command``."""
        self.tasks, self.ties, self.controls = tasks, ties, controls
        self.resamples, self.seed, self.higher_is_better = resamples, seed, higher_is_better
        self.likelihoods = likelihoods or ()

    def from_file(self, name: str, path: Path) -> StrideModel:
        """Score a file of scores or choices."""
        from evaluators.file_source import read_pair_scores
        from evaluators.score_tables import read_score_table
        from metrics.results import file_source
        from metrics.stride_files import read_stride_scores
        from metrics.stride_grid import audit_mirrors
        from metrics.stride_tables import StrideModel

        if not path.is_file():
            raise InputError("expected a score file, found none", file=str(path))
        matrix = path.suffix.lower() == ".npz"
        if matrix or "text_id" in read_score_table(path).columns:
            if self.tasks is None:
                raise InputError(
                    "scores by text and motion need the release whose items they are about: "
                    "score stride RELEASE --scores FILE",
                    file=str(path),
                )
            source = read_pair_scores(path, name, self.higher_is_better)
            return self._from_source(
                source, source.knows_mirrored(), kind=self._kind(name), file=path
            )
        found: StrideFile = read_stride_scores(
            path, higher_is_better=self.higher_is_better, ties=self.ties, tasks=self.tasks
        )
        return StrideModel(
            name=name,
            kind="choices" if found.choices else self._kind(name),
            result=self._result(found.given),
            keys=found.given.keys,
            grids=found.grids,
            audits=() if found.grids is None else tuple(audit_mirrors(found.grids, self.ties)),
            sources=(file_source(path, "choices" if found.choices else "scores"),),
            dropped=found.dropped,
            notes=found.notes,
        )

    def from_models(
        self, models: Sequence[NamedModel], library: MotionLibrary, cache: Path
    ) -> list[StrideModel]:
        """Score the release with models.

        Args:
            models: Opened models.
            library: Motions of the release.
            cache: Folder of kept vectors.
        """
        from evaluators.model_source import ModelScores
        from evaluators.protocol import ForcedChoiceModel

        found = []
        for kind, model in models:
            if isinstance(model, ForcedChoiceModel):
                found.append(self._from_choices(model, library))
                continue
            with bar(model.name) as told:
                source = ModelScores(model, library, cache, told)
                found.append(self._from_source(source, True, kind=kind))
        return found

    def _from_choices(self, model: ForcedChoiceModel, library: MotionLibrary) -> StrideModel:
        from evaluators.vlm import VlmJudge
        from llm.outcome import same_model_warning
        from metrics.results import Source
        from metrics.stride_choices import choices_csv
        from metrics.stride_scoring import choose_items
        from metrics.stride_tables import StrideModel
        from motionjury.vlm import telling

        tasks = self.tasks or []
        with bar(f"{model.name}: questions") as told:
            if isinstance(model, VlmJudge):
                model.progress = telling(told)
            scored = choose_items(
                tasks, model, library, count=self.controls, seed=self.seed, ties=self.ties
            )
        drafters = {task.drafter for task in tasks if task.drafter is not None}
        warning = same_model_warning(model.name, sorted(drafters))
        return StrideModel(
            name=model.name,
            kind="choices",
            result=self._result(scored.given),
            keys=scored.given.keys,
            native_metric=model.native_metric,
            sources=(Source(name=model.name, role="model", sha256=model.fingerprint),),
            dropped=scored.dropped,
            notes=() if warning is None else (warning,),
            choices=choices_csv(scored.asked, model.shown) if isinstance(model, VlmJudge) else "",
        )

    def _from_source(
        self,
        source: ScoreSource,
        mirrored: bool,
        *,
        kind: Kind = "evaluator",
        file: Path | None = None,
    ) -> StrideModel:
        from metrics.results import Dropped, Source, file_source
        from metrics.stride_cells import score_stride
        from metrics.stride_grid import audit_mirrors, score_grids
        from metrics.stride_scoring import score_items
        from metrics.stride_tables import StrideModel

        tasks = self.tasks or []
        scored = score_items(tasks, source, count=self.controls, seed=self.seed, ties=self.ties)
        grids = score_grids(tasks, source) if mirrored else None
        dropped = scored.dropped
        if grids is not None:
            pairs = sum(key.axis == "mirror_reflection" for key in scored.given.keys)
            if lost := pairs - len(grids.item_ids):
                why = "the model refused the mirror image"
                dropped = (*dropped, Dropped(what="mirror pairs", n=lost, reason=why))
        return StrideModel(
            name=source.name,
            kind=kind,
            result=score_stride(
                scored.given,
                invisible=scored.invisible,
                ties=self.ties,
                resamples=self.resamples,
                seed=self.seed,
            ),
            keys=scored.given.keys,
            native_metric=source.native_metric,
            grids=grids if grids is not None and grids.item_ids else None,
            audits=()
            if grids is None
            else tuple(audit_mirrors(grids, self.ties, resolution=source.resolution)),
            sources=(
                file_source(file, "scores")
                if file is not None
                else Source(name=source.name, role="model", sha256=source.fingerprint),
            ),
            dropped=dropped,
        )

    def _kind(self, name: str) -> Kind:
        return "likelihood" if name in self.likelihoods else "evaluator"

    def _result(self, given: Credits) -> StrideResult:
        from metrics.stride_cells import score_stride

        return score_stride(given, ties=self.ties, resamples=self.resamples, seed=self.seed)
