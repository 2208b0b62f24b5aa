"""How experts did in training, how attentive they are, and how they agree with themselves.

Attention items have a known answer and look like any other; repeated items are an expert's own,
shown again. Neither is part of the data, nor is training; all are reported by code.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from audit.gold import Gold
from audit.protocol import Level
from audit.protocols.registry import PROTOCOLS
from audit.ratings import code_order
from audit.records import get_study, item_record
from audit.shown import shown_of
from audit.tries import TrainingTries, training_tries
from benchmarks.items import Frozen
from store.tables import AssignmentRow, LabelRow, MemberRow, StudyItemRow


class Stability(Frozen):
    """How often an expert gave the same answer again."""

    same: int
    """Items answered the same both times."""
    pairs: int
    """Items answered both times."""


class ExpertChecks(Frozen):
    """What the checks say about one expert, by code."""

    code: str
    """Anonymous code in the study."""
    attention: int
    """Attention items answered."""
    passed: int
    """Of these, right in every judged question."""
    passed_share: float | None
    """``passed / attention``, 0 to 1; null when none was answered."""
    missed: tuple[str, ...]
    """Attention items answered wrong."""
    stability: dict[str, Stability]
    """By question with a single answer; empty when no item was repeated."""
    training: TrainingTries | None
    """How their tries at the training items went; null until the study is unblinded, for
    coordinators are told by name who runs out of tries and lets them go on."""


class ChecksReport(Frozen):
    """The checks of a study."""

    study_id: str
    """The study."""
    attention_items: int
    """Attention items in the study."""
    repeats_wanted: int
    """Repeated items each expert is to get."""
    training_items: int
    """Training items in the study."""
    first_try_share: float | None
    """Share of training items that experts passed at their first try, over all experts and the
    items each has tried, 0 to 1; null when none was tried."""
    experts: tuple[ExpertChecks, ...]
    """By code; all who take part."""


class RetestRow(Frozen):
    """An expert's two answers to one question about one item."""

    axis: str
    """Name of the question."""
    level: Level
    """Level of measurement."""
    domain: tuple[str, ...]
    """Its answers in declared order; those of the item where it has its own."""
    item_id: str
    """The item."""
    rater: str
    """Code of the expert."""
    first: str
    """Answer when the item came first."""
    second: str
    """Answer when it came again."""


def checks_report(session: Session, study_id: str) -> ChecksReport:
    """Report attention and repeated items by expert code.

    Args:
        session: Any session.
        study_id: Id or name of the study.

    Raises:
        StudyError: There is no such study.
    """
    study = get_study(session, study_id)
    gold = {
        row.item_id: Gold.model_validate(row.gold)
        for row in session.scalars(
            select(StudyItemRow).where(
                StudyItemRow.study_id == study.id,
                StudyItemRow.purpose == "attention",
                StudyItemRow.withdrawn_at.is_(None),
            )
        )
    }
    answered = _answers(session, study.id, "attention")
    pairs = retest_rows(session, study.id)
    tries = training_tries(session, study.id)
    codes = session.scalars(select(MemberRow.code).where(MemberRow.study_id == study.id))
    experts = []
    for code in sorted(codes, key=code_order):
        own = {
            item_id: answers
            for (item_id, rater), answers in answered.items()
            if rater == code and item_id in gold
        }
        missed = tuple(
            sorted(
                item_id
                for item_id, answers in own.items()
                if any(answers.get(name) != value for name, value in gold[item_id].answers.items())
            )
        )
        passed = len(own) - len(missed)
        experts.append(
            ExpertChecks(
                code=code,
                attention=len(own),
                passed=passed,
                passed_share=passed / len(own) if own else None,
                missed=missed,
                stability=_stability([row for row in pairs if row.rater == code]),
                training=None if study.unblinded_at is None else tries[code],
            )
        )
    tried = sum(one.tried for one in tries.values())
    return ChecksReport(
        study_id=study.id,
        attention_items=len(gold),
        repeats_wanted=study.config.repeats,
        training_items=_training_items(session, study.id),
        first_try_share=sum(one.first for one in tries.values()) / tried if tried else None,
        experts=tuple(experts),
    )


def retest_rows(session: Session, study_id: str) -> list[RetestRow]:
    """Return experts' first and second answers to items they were shown twice.

    Args:
        session: Any session.
        study_id: Id or name of the study.

    Returns:
        Rows by question (as declared), item and code; only questions with a single answer, and
        only where both answers are there. The newest revision of each counts.

    Raises:
        StudyError: There is no such study.
    """
    study = get_study(session, study_id)
    first = _answers(session, study.id, "work")
    second = _answers(session, study.id, "repeat")
    rows = []
    for question in PROTOCOLS[study.protocol].questions:
        if not question.agreement or question.kind not in ("choice", "likert", "verdict"):
            continue
        for item_id, code in sorted(second, key=lambda key: (key[0], code_order(key[1]))):
            one = first.get((item_id, code), {}).get(question.name)
            other = second[item_id, code].get(question.name)
            if one is None or other is None:
                continue
            own = shown_of(item_record(session, item_id)).options
            rows.append(
                RetestRow(
                    axis=question.name,
                    level=question.level,
                    domain=own if question.options_from else question.domain,
                    item_id=item_id,
                    rater=code,
                    first=one,
                    second=other,
                )
            )
    return rows


def _training_items(session: Session, study_id: str) -> int:
    query = (
        select(func.count())
        .select_from(StudyItemRow)
        .where(StudyItemRow.study_id == study_id, StudyItemRow.purpose == "training")
    )
    return session.scalar(query) or 0


def _stability(rows: list[RetestRow]) -> dict[str, Stability]:
    found: dict[str, list[bool]] = {}
    for row in rows:
        found.setdefault(row.axis, []).append(row.first == row.second)
    return {name: Stability(same=sum(same), pairs=len(same)) for name, same in found.items()}


def _answers(
    session: Session, study_id: str, purpose: str
) -> dict[tuple[str, str], dict[str, Any]]:
    query = (
        select(LabelRow, MemberRow.code)
        .join(AssignmentRow, AssignmentRow.id == LabelRow.assignment_id)
        .join(
            MemberRow,
            (MemberRow.study_id == LabelRow.study_id) & (MemberRow.person_id == LabelRow.person_id),
        )
        .where(LabelRow.study_id == study_id, AssignmentRow.purpose == purpose)
        .order_by(LabelRow.revision)
    )
    return {(label.item_id, code): label.answers for label, code in session.execute(query)}
