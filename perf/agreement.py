"""Resampling agreement: ratios of looped libraries to the kernel, in one run.

What a user would write instead is timed on a few resamples from the raw ratings and scaled to all;
the kernel is timed in full. Processor time, the best of some runs.
Run: ``python -m perf.agreement [--resamples N]``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import krippendorff
import numpy as np
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from agreement.axis import Axis
from agreement.kernel import make_design, resample
from agreement.ratings import RatingRecord, Ratings, from_records
from agreement.registry import compute
from agreement.report import build_report, render_html

LABELS = ("1", "2", "3", "4", "5")
LOOPED = 60
"""Resamples of the loops that are timed."""


def ratings_of(n: int, per_clip: int | None, seed: int = 0) -> Ratings:
    """Three raters who share a hidden truth, five labels, strata as in a study."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, n)
    kept = rng.random((n, 3)) < 0.6
    codes = np.where(kept, truth[:, None], rng.integers(0, 5, (n, 3)))
    return from_records(
        Axis(name="check", level="ordinal", domain=LABELS),
        [
            RatingRecord(
                f"item{i}",
                f"A{r + 1}",
                LABELS[codes[i, r]],
                None if per_clip is None else f"clip{i // per_clip}",
                {"axis": "mta"[i % 3], "difficulty": ("easy", "medium", "hard")[i % 9 // 3]},
            )
            for i in range(n)
            for r in range(3)
        ],
    )


def seconds(function: Callable[[], object]) -> float:
    """Return the processor time of one call, which a busy machine changes less than the clock."""
    start = time.process_time()
    function()
    return time.process_time() - start


def loop_fleiss(raw: np.ndarray, draws: list[np.ndarray]) -> list[float]:
    """Statsmodels from raw ratings, once per resample."""
    return [float(fleiss_kappa(aggregate_raters(raw[d])[0])) for d in draws]


def loop_alpha(raw: np.ndarray, draws: list[np.ndarray]) -> list[float]:
    """Krippendorff from raw ratings, once per resample."""
    domain = [1, 2, 3, 4, 5]
    return [
        float(krippendorff.alpha(raw[d].T, value_domain=domain, level_of_measurement="ordinal"))
        for d in draws
    ]


def measure(resamples: int, n: int = 1300) -> dict[str, float]:
    """Time loops and kernel; a ratio is loop over kernel."""
    plain, clustered = ratings_of(n, None), ratings_of(n, 10)
    raw = plain.codes + 1
    rng = np.random.default_rng(1)
    draws = [rng.integers(0, n, n) for _ in range(LOOPED)]
    clips = np.arange(n) // 10
    members = [np.flatnonzero(clips == c) for c in range(clips.max() + 1)]
    by_clip = [
        np.concatenate([members[c] for c in rng.integers(0, len(members), len(members))])
        for _ in range(LOOPED)
    ]
    found: dict[str, float] = {}
    for name, params, loop in (
        ("fleiss_kappa", {}, loop_fleiss),
        ("krippendorff_alpha", {"level": "ordinal"}, loop_alpha),
    ):
        for kind, table, looped in (("items", plain, draws), ("clusters", clustered, by_clip)):
            slow = min(seconds(lambda loop=loop, d=looped: loop(raw, d)) for _ in range(3))
            slow *= resamples / LOOPED
            statistic = compute(table, name, params)
            table.patterns  # noqa: B018 - encoded once per table, as in use
            fast = min(
                seconds(lambda t=table, s=statistic: resample([s], make_design(t), resamples, 0))
                for _ in range(5)
            )
            key = f"{name} by {kind}"
            found[f"{key}: loop, s"] = slow
            found[f"{key}: kernel, s"] = fast
            found[f"{key}: ratio"] = slow / fast
    study = ratings_of(1307, 3)
    found["report of 1307 items x 3 raters, 10000 resamples, s"] = seconds(
        lambda: render_html(build_report([study], title="x", tool_version="0", resamples=10_000))
    )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resamples", type=int, default=10_000)
    rounded = {key: round(v, 3) for key, v in measure(parser.parse_args().resamples).items()}
    print(json.dumps(rounded, indent=2))
