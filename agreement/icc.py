"""Intraclass correlation, six forms, from sums of squares (McGraw and Wong 1996)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from agreement.coefficient import Array, Reason, Statistic, make_statistic, ratio
from agreement.ratings import Ratings

IccType = Literal["ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)"]
ICC_TYPES: tuple[IccType, ...] = get_args(IccType)
"""One-way, two-way absolute agreement and two-way consistency; of one rating and of the mean of
k. Shrout and Fleiss (1979) call them ICC(1,·), ICC(2,·) and ICC(3,·)."""


def icc(ratings: Ratings, form: IccType = "ICC(A,1)") -> Statistic:
    """Share of the variance of ratings that lies between items.

    Mean squares between items (R), between raters (C), residual (E), within items (W):
    ``ICC(1,1) = (R-W)/(R+(k-1)W)``, ``ICC(C,1) = (R-E)/(R+(k-1)E)``,
    ``ICC(A,1) = (R-E)/(R+(k-1)E+k(C-E)/n)``; for the mean of k ``(R-W)/R``, ``(R-E)/R``,
    ``(R-E)/(R+(C-E)/n)``. Items that some rater did not rate are left out (listwise).

    Args:
        ratings: The table; its labels must be numbers. Raters without any rating are left out.
        form: Which of the six.

    Returns:
        The statistic, at most 1. Undefined: fewer than two complete items (``too_few``), one
        rater, no variance (``no_variation``). The last holds for ``ICC(A,k)`` too where the
        variance of the means, its denominator, is estimated as zero or less: the quotient of two
        negative numbers could be anything, even above 1.

    Raises:
        ValueError: Labels that are no numbers, or an unknown form.
    """
    if form not in ICC_TYPES:
        raise ValueError(f"icc form {form!r}, expected one of {', '.join(ICC_TYPES)}")
    values = ratings.axis.values
    if values is None:
        raise ValueError(f"icc needs labels that are numbers, not {list(ratings.axis.domain)}")
    active = np.flatnonzero(ratings.per_rater > 0)
    k = len(active)
    codes = ratings.patterns[:, active]
    complete = np.asarray((codes >= 0).all(axis=1))
    n_items = int((ratings.codes[:, active] >= 0).all(axis=1).sum()) if k else 0
    scores = np.array(values, dtype=np.float64)
    # Shifting and scaling all scores leaves the coefficient alone and keeps the squares exact.
    centre = float(scores.mean()) if len(scores) else 0.0
    spread = float(np.ptp(scores)) if len(scores) > 1 else 1.0
    x = np.where(complete[:, None], ((scores - centre) / spread)[codes], 0.0)
    row = x.sum(axis=1)
    sums = np.column_stack([complete, row**2, (x**2).sum(axis=1), x])

    def evaluate(totals: Array) -> Array:
        n = totals[..., 0]
        n_safe = np.maximum(n, 1.0)
        columns = totals[..., 3:]
        correction = columns.sum(axis=-1) ** 2 / (n_safe * k)
        between_items = totals[..., 1] / k - correction
        between_raters = (columns**2).sum(axis=-1) / n_safe - correction
        total = totals[..., 2] - correction
        within = total - between_items
        residual = within - between_raters
        r = ratio(between_items, n - 1.0)
        c = between_raters / max(k - 1, 1)
        e = ratio(residual, (n - 1.0) * (k - 1))
        w = ratio(within, n * (k - 1))
        return _form(form, r, c, e, w, n_safe, k)

    reason: Reason | None = None
    if k <= 1:
        reason = "single_rater"
    elif n_items == 0:
        reason = "no_pairable_items"
    elif n_items < 2:
        reason = "too_few"
    found = make_statistic(ratings, "icc", {"type": form}, n_items, sums, evaluate, reason=reason)
    if form == "ICC(A,k)" and found.reason == "no_variation" and np.ptp(x[complete]) > 0:
        return replace(found, warnings=("the variance of the means is estimated as zero or less",))
    return found


def _form(form: IccType, r: Array, c: Array, e: Array, w: Array, n: Array, k: int) -> Array:
    if form == "ICC(1,1)":
        return ratio(r - w, r + (k - 1) * w)
    if form == "ICC(C,1)":
        return ratio(r - e, r + (k - 1) * e)
    if form == "ICC(A,1)":
        return ratio(r - e, r + (k - 1) * e + k * (c - e) / n)
    if form == "ICC(1,k)":
        return ratio(r - w, r)
    if form == "ICC(C,k)":
        return ratio(r - e, r)
    of_means = r + (c - e) / n
    return ratio(r - e, np.where(of_means > 0, of_means, 0.0))
