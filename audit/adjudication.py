"""From the labels of an item to what becomes of it."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from audit.answers import is_asked
from audit.protocol import Protocol
from audit.protocols.registry import PROTOCOLS
from audit.ratings import counted_labels
from audit.records import Study, conditions_of
from benchmarks.items import Frozen
from store.events import log
from store.items import set_state
from store.tables import DecisionRow, ItemRow, StudyItemRow

Outcome = Literal["accepted", "rejected", "revise"]


class Verdict(Frozen):
    """What a rule says about an item."""

    outcome: Outcome
    """State the item goes to."""
    rule: str
    """The rule."""
    votes: dict[str, dict[str, int]]
    """Number of each answer, by check."""
    reason: str
    """Why, in one sentence."""


class CloseReport(Frozen):
    """What closing a study did."""

    study_id: str
    """The study."""
    outcomes: dict[str, int]
    """Number of items by outcome."""
    incomplete: dict[str, str]
    """Items that stay in review, with the reason."""


def majority(yes: int, answered: int) -> bool:
    """Return whether more than half said yes; a tie does not pass.

    >>> majority(2, 3), majority(1, 2)
    (True, False)
    """
    return 2 * yes > answered


def unanimous(yes: int, answered: int) -> bool:
    """Return whether everybody said yes."""
    return yes == answered


CHECK_RULES: dict[str, Callable[[int, int], bool]] = {
    "checks_majority": majority,
    "checks_unanimous": unanimous,
}
"""When a check is passed, from the number of yes and of answers; every check must be."""


def strict_verdict(accept: int, reject: int, given: int) -> Outcome:
    """Return ``accepted`` when all accept, ``rejected`` when any rejects, else ``revise``.

    NextMotionQA 4.2: unanimous accept; revise-flagged items are edited jointly; reject discards.

    >>> strict_verdict(3, 0, 3), strict_verdict(2, 1, 3), strict_verdict(2, 0, 3)
    ('accepted', 'rejected', 'revise')
    """
    if reject:
        return "rejected"
    return "accepted" if accept == given else "revise"


def majority_verdict(accept: int, reject: int, given: int) -> Outcome:
    """Return what more than half say; without such a majority, ``revise``.

    >>> majority_verdict(2, 1, 3), majority_verdict(1, 2, 3), majority_verdict(1, 1, 3)
    ('accepted', 'rejected', 'revise')
    """
    if majority(accept, given):
        return "accepted"
    return "rejected" if majority(reject, given) else "revise"


VERDICT_RULES: dict[str, Callable[[int, int, int], Outcome]] = {
    "verdict": strict_verdict,
    "verdict_majority": majority_verdict,
}
"""What becomes of an item, from the number of accept, of reject and of all verdicts."""

RULES: tuple[str, ...] = (*CHECK_RULES, *VERDICT_RULES)
"""All decision rules; ``none`` decides nothing."""


def rules_for(protocol: Protocol) -> tuple[str, ...]:
    """Return the rules that a study with this protocol may use, ``none`` among them."""
    checks = tuple(CHECK_RULES) if protocol.checks else ()
    verdicts = tuple(VERDICT_RULES) if protocol.verdict is not None else ()
    return (*checks, *verdicts, "none")


def decide(
    answers: Sequence[Mapping[str, Any]],
    protocol: Protocol,
    rule: str | None = None,
    conditions: Mapping[str, str] | None = None,
) -> Verdict:
    """Apply a decision rule to the answers of one item.

    By a rule on checks an item is accepted when every check that is asked of it passes, and
    rejected otherwise; by a rule on verdicts the numbers of accept, revise and reject decide. The
    order of the answers makes no difference.

    Args:
        answers: Answers of each rater, at least one.
        protocol: Its ``checks``, or its verdict, are counted.
        rule: One of ``RULES``; the protocol's own by default.
        conditions: Strata of the item that decide which checks are asked.

    Returns:
        The outcome with the votes behind it.

    Raises:
        ValueError: No answers, nothing to count, an unknown rule, or an answer that is missing.
    """
    name = rule or protocol.decision
    if name not in RULES:
        raise ValueError(f"unknown decision rule {name!r}; rules are {sorted(RULES)}")
    if not answers:
        raise ValueError("expected at least one rater's answers, got none")
    if name in VERDICT_RULES:
        return _by_verdict(answers, protocol, name)
    return _by_checks(answers, protocol, name, conditions or {})


def _by_verdict(answers: Sequence[Mapping[str, Any]], protocol: Protocol, name: str) -> Verdict:
    question = protocol.verdict
    if question is None:
        raise ValueError(f"{protocol.name} asks for no verdict; rule {name!r} cannot be applied")
    count = Counter(str(one[question.name]) for one in answers if question.name in one)
    missing = len(answers) - count.total()
    if missing:
        raise ValueError(f"{missing} of {len(answers)} raters have no verdict")
    votes = {value: count[value] for value in question.domain}
    told = ", ".join(f"{number} {value}" for value, number in votes.items() if number)
    return Verdict(
        outcome=VERDICT_RULES[name](count["accept"], count["reject"], len(answers)),
        rule=name,
        votes={question.name: votes},
        reason=f"verdicts: {told}",
    )


def _by_checks(
    answers: Sequence[Mapping[str, Any]],
    protocol: Protocol,
    name: str,
    conditions: Mapping[str, str],
) -> Verdict:
    votes: dict[str, dict[str, int]] = {}
    failed = []
    for check in protocol.checks:
        question = protocol.question(check)
        given = [one for one in answers if is_asked(question, conditions, one)]
        if not given:
            continue
        missing = sum(check not in one for one in given)
        if missing:
            raise ValueError(f"{missing} of {len(given)} raters have no answer to {check!r}")
        count = Counter(str(one[check]) for one in given)
        votes[check] = {value: count[value] for value in question.domain}
        if not CHECK_RULES[name](count["yes"], len(given)):
            failed.append(f"{check} has {count['yes']} yes of {len(given)}")
    if not votes:
        raise ValueError(f"none of the checks {list(protocol.checks)} is asked of this item")
    reason = f"failed: {', '.join(failed)}" if failed else f"passed: {', '.join(votes)}"
    outcome: Outcome = "rejected" if failed else "accepted"
    return Verdict(outcome=outcome, rule=name, votes=votes, reason=reason)


def apply(session: Session, study: Study, actor: str | None, now: float) -> CloseReport:
    """Decide every item of a study that has its ratings, and move the items.

    Items that lack ratings stay in review; withdrawn ones and those settled before are left alone.
    A rule ``none`` decides nothing.

    Args:
        session: A writing session in which the study is locked.
        study: The study.
        actor: Who closed it; ``None`` at the command line.
        now: UTC seconds.

    Returns:
        Counts of outcomes and the items that stay.
    """
    protocol = PROTOCOLS[study.protocol]
    query = select(DecisionRow.item_id).where(DecisionRow.study_id == study.id)
    decided = set(session.scalars(query))
    outcomes: Counter[str] = Counter()
    incomplete = {}
    wanted = study.config.ratings_per_item
    for row, answers in rated(session, study):
        if row.id in decided:
            continue
        if len(answers) < wanted:
            incomplete[row.id] = f"{len(answers)} of {wanted} ratings"
        elif row.state != "in_review":
            incomplete[row.id] = f"not in review any more but {row.state}"
        elif study.rule != "none":
            verdict = decide(answers, protocol, study.rule, conditions_of(protocol, row.record))
            record_decision(session, study, row.id, verdict, actor, now)
            outcomes[verdict.outcome] += 1
    return CloseReport(study_id=study.id, outcomes=dict(outcomes), incomplete=incomplete)


def rated(session: Session, study: Study) -> list[tuple[ItemRow, list[dict[str, Any]]]]:
    """Return the items of a study by id, each with the answers that count."""
    answers: dict[str, list[dict[str, Any]]] = {}
    for label, _code, _record in counted_labels(session, study.id):
        answers.setdefault(label.item_id, []).append(label.answers)
    query = (
        select(ItemRow)
        .join(StudyItemRow, StudyItemRow.item_id == ItemRow.id)
        .where(
            StudyItemRow.study_id == study.id,
            StudyItemRow.purpose == "work",
            StudyItemRow.withdrawn_at.is_(None),
        )
        .order_by(ItemRow.id)
    )
    return [(row, answers.get(row.id, [])) for row in session.scalars(query)]


def record_decision(
    session: Session, study: Study, item_id: str, verdict: Verdict, actor: str | None, now: float
) -> None:
    """Append a decision and move its item, both or neither.

    Raises:
        ValueError: The item cannot go to this state.
    """
    set_state(session, item_id, verdict.outcome)
    row = DecisionRow(
        id=secrets.token_hex(12),
        study_id=study.id,
        item_id=item_id,
        outcome=verdict.outcome,
        rule=verdict.rule,
        person_id=actor,
        reason=verdict.reason,
        votes=verdict.votes,
        created_at=now,
    )
    session.add(row)
    session.flush()
    log(
        session,
        "item_decided",
        person_id=actor,
        study_id=study.id,
        subject=item_id,
        details={"decision": row.id, "outcome": verdict.outcome},
        at=now,
    )
