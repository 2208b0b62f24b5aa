"""What a judge study reports: the clip, the question and the system, side by side."""

from __future__ import annotations

from pydantic import Field

from agreement.ceiling import Ceiling
from agreement.coefficient import Coefficient
from agreement.selection import Selection
from benchmarks.items import SCHEMA_VERSION, Frozen


class MethodValue(Frozen):
    """A correlation within one method."""

    method: str
    """The method."""
    pearson_r: Coefficient
    """Over its clips."""
    spearman_rho: Coefficient
    """Over its clips."""


class Within(Frozen):
    """Correlations within methods, which differences between methods cannot raise."""

    pearson_r: Coefficient
    """Mean over the methods where it is defined."""
    spearman_rho: Coefficient
    """Mean over the methods where it is defined."""
    n_methods: int
    """Methods that enter the mean of Pearson's r."""
    by_method: tuple[MethodValue, ...]
    """One entry per method, without intervals."""


class InstanceLevel(Frozen):
    """Clip by clip: mean human score against the judge."""

    n_clips: int
    """Clips of methods, with both scores."""
    pearson_r: Coefficient
    """Pooled over methods."""
    spearman_rho: Coefficient
    """Pooled over methods."""
    within_method: Within | None
    """Null where scores are no numbers."""
    mean_bias: Coefficient
    """Mean of judge minus human, in points of the scale; positive: the judge is lenient."""
    mean_absolute_difference: Coefficient
    """Mean of |judge - human|, in points of the scale."""


class ClassRates(Frozen):
    """One label: what the judge makes of it."""

    label: str
    """The label."""
    n_human: int
    """How often people gave it."""
    n_judge: int
    """How often the judge gave it."""
    recall: Coefficient
    """Share of people's answers of this label that the judge repeats: with two labels the TPR of
    one and the TNR of the other."""
    precision: Coefficient
    """Share of the judge's answers of this label that people share."""


class OneQuestion(Frozen):
    """One question alone."""

    question: str
    """The question."""
    accuracy: Coefficient
    """Share of equal rounded scores."""
    cohen_kappa: Coefficient
    """Unweighted, on rounded scores."""
    pearson_r: Coefficient
    """Over its clips, scores as they are."""
    spearman_rho: Coefficient
    """Over its clips, scores as they are."""
    mean_bias: Coefficient
    """Judge minus human."""


class QuestionLevel(Frozen):
    """Every answer to every question, scores rounded to whole points (a half up)."""

    n: int
    """Answers."""
    n_tied: int
    """Answers left out because people's verdicts were tied."""
    accuracy: Coefficient
    """Share of equal rounded scores."""
    cohen_kappa: Coefficient
    """Unweighted."""
    cohen_kappa_quadratic: Coefficient | None
    """With quadratic weights; null for verdicts in words."""
    labels: tuple[str, ...]
    """Whole scores or verdicts, in order."""
    confusion: tuple[tuple[int, ...], ...]
    """Rows: people's label; columns: the judge's. Empty for more than twenty labels."""
    classes: tuple[ClassRates, ...]
    """By label; empty for more than twenty labels."""
    by_question: tuple[OneQuestion, ...]
    """Each question alone; empty where there is one."""


class MethodMean(Frozen):
    """One method's means."""

    method: str
    """The method."""
    n_clips: int
    """Its clips."""
    human: float
    """Mean human score."""
    judge: float
    """Mean score of the judge."""


class SystemLevel(Frozen):
    """Method by method: do both sides rank systems alike? For these methods only."""

    n_methods: int
    """M; a correlation of few methods says little."""
    pearson_r: Coefficient
    """Of method means; its interval resamples clips or prompts, methods stay fixed."""
    p: float | None
    """Two-sided exact permutation p of Pearson's r for 3 to 8 methods; else null."""
    spearman_rho: float | None
    """Of method means; null where undefined."""
    kendall_tau_b: float | None
    """Of method means; null where undefined."""
    methods: tuple[MethodMean, ...]
    """By human mean, best first."""


class Levels(Frozen):
    """The three levels side by side."""

    instance: InstanceLevel
    question: QuestionLevel
    system: SystemLevel


class LevelGroup(Levels):
    """The three levels of a part of the clips, e.g. version V1."""

    stratum: dict[str, str]
    """Which part."""


class JudgeReport(Levels):
    """One judge."""

    judge: str
    """The judge's column."""
    ceiling: Ceiling | None = None
    """How far people agree, measured the same way; null with one rater."""
    groups: tuple[LevelGroup, ...] = ()
    """By version, axis, difficulty, and axis x difficulty."""
    dropped: dict[str, int] = Field(default_factory=dict)
    """Rows left out, by reason: ``no_human``, ``no_judge``."""
    warnings: tuple[str, ...] = ()
    """What a reader must know first."""


class JudgeStudy(JudgeReport):
    """A study of judges: the first in full at the top, the others beside it."""

    schema_version: int = SCHEMA_VERSION
    """Version of this record."""
    title: str
    """What was judged."""
    tool_version: str
    """Version of MotionJury."""
    n_rows: int
    """Clips of methods times questions."""
    raters: tuple[str, ...]
    """Human raters."""
    unit: str
    """What is resampled: ``clip`` or the cluster column."""
    n_units: int
    """How many there are."""
    within_methods: bool
    """Whether they are drawn within methods, because none is shared between methods."""
    resamples: int
    """Number of resamples."""
    seed: int
    """Seed of the draws."""
    level: float
    """Confidence level."""
    others: tuple[JudgeReport, ...]
    """Further judges."""
    selection: Selection | None
    """Which judge is nearest to people (T2MBench Table 2); null where scores are no numbers."""
    notes: tuple[str, ...]
    """What was assumed while reading."""
    methods_text: str
    """A paragraph on how the numbers were made."""

    @property
    def judges(self) -> tuple[str, ...]:
        """All judges, the first at the top."""
        return (self.judge, *(other.judge for other in self.others))
