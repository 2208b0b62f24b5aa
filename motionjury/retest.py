"""How experts agree with themselves on items they were shown twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.checks import RetestRow


def retest_table(rows: Sequence[RetestRow]) -> list[dict[str, Any]]:
    """Return Cohen's kappa between first and second answers, by question, all experts together.

    Args:
        rows: Rows of ``audit.checks.retest_rows``.

    Returns:
        ``{"axis", "pairs", "coefficient", "params", "value", "reason"}`` by question; kappa is
        quadratically weighted on ordered answers, and null with a reason where it is undefined.
    """
    from agreement.axis import Axis
    from agreement.cohen import cohen_kappa
    from agreement.retest import retest

    table = []
    for name in dict.fromkeys(row.axis for row in rows):
        own = [row for row in rows if row.axis == name]
        domain = tuple(dict.fromkeys(value for row in own for value in row.domain))
        axis = Axis(name=name, level=own[0].level, domain=domain)
        ratings = retest(
            axis,
            {(row.item_id, row.rater): row.first for row in own},
            {(row.item_id, row.rater): row.second for row in own},
        )
        found = cohen_kappa(ratings, weights=None if axis.level == "nominal" else "quadratic")
        table.append(
            {
                "axis": name,
                "pairs": len(own),
                "coefficient": found.coefficient,
                "params": dict(found.params),
                "value": found.value,
                "reason": found.reason,
            }
        )
    return table
