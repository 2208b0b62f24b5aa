"""STRIDE's numbers as functions of sums over motions, and their bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.kernel import Replicates, interval
from benchmarks.stride import AXES, STRUCTURAL_AXES
from metrics.stride import Credits, delta

FloatArray = NDArray[np.float64]

_PER_AXIS = 4
_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Estimates:
    """Values by name (``AXIS.acc`` …, ``macro_gpr``, ``gap.AXIS``) with their replicates."""

    values: dict[str, float]
    """NaN where undefined."""
    replicates: dict[str, Replicates]
    """Empty when no resamples were asked for."""
    resamples: int
    """Resamples drawn."""

    def value(self, name: str) -> float | None:
        """Return a number, None where it is undefined."""
        found = self.values[name]
        return found if np.isfinite(found) else None

    def interval(self, name: str) -> tuple[float, float] | None:
        """Return its 95 % interval; None where it or the number is undefined."""
        value = self.value(name)
        if value is None or not self.resamples:
            return None
        found = interval(value, self.replicates[name])
        return None if found is None else (found.low, found.high)


def estimate(given: Credits, corpus: str, *, resamples: int, seed: int) -> Estimates:
    """Compute the numbers of one corpus, on all its motions and on resamples of them.

    All axes see the same resamples, so means over axes and differences between them get intervals
    as well. A resample without items of an axis leaves that axis out.

    Args:
        given: What each item earns.
        corpus: Corpus.
        resamples: How many, 0 for none.
        seed: Seed of the draws.
    """
    sums = _sums(given, corpus)
    values = {name: float(v[0]) for name, v in _numbers(sums.sum(axis=0, keepdims=True)).items()}
    motions = len(sums)
    if not resamples:
        return Estimates(values, {}, 0)
    rng = np.random.default_rng(seed)
    chunk = max(1, _CHUNK_CELLS // motions)
    parts: dict[str, list[FloatArray]] = {name: [] for name in values}
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        counts = rng.multinomial(motions, np.full(motions, 1 / motions), size=size)
        for name, part in _numbers(counts.astype(np.float64) @ sums).items():
            parts[name].append(part)
    left_out = _numbers(sums.sum(axis=0) - sums)
    ones = np.ones(motions, dtype=np.int64)
    return Estimates(
        values,
        {
            name: Replicates(np.concatenate(part), left_out[name], ones)
            for name, part in parts.items()
        },
        resamples,
    )


def _sums(given: Credits, corpus: str) -> FloatArray:
    """Return (motions, axes x 4): items, acc, bias, gain added up by motion."""
    rows = np.flatnonzero([key.corpus == corpus for key in given.keys])
    motions, where = np.unique([given.keys[i].motion_id for i in rows], return_inverse=True)
    axis = np.array([AXES.index(given.keys[i].axis) for i in rows])
    gain = np.full(len(given.keys), np.nan) if given.gain is None else given.gain
    earned = np.column_stack((np.ones(len(rows)), given.acc[rows], given.bias[rows], gain[rows]))
    sums = np.zeros((len(motions), len(AXES), _PER_AXIS))
    np.add.at(sums, (where, axis), earned)
    return sums.reshape(len(motions), -1)


def _numbers(sums: FloatArray) -> dict[str, FloatArray]:
    """Return every number by name, (rows,), from (rows, axes x 4) sums; NaN where undefined."""
    by_axis = sums.reshape(len(sums), len(AXES), _PER_AXIS)
    count = by_axis[:, :, :1]
    means = np.divide(
        by_axis[:, :, 1:], count, out=np.full_like(by_axis[:, :, 1:], np.nan), where=count > 0.5
    )
    numbers: dict[str, FloatArray] = {}
    for place, axis in enumerate(AXES):
        acc, bias, gain = means[:, place].T
        numbers[f"{axis}.acc"], numbers[f"{axis}.bias"] = acc, bias
        numbers[f"{axis}.delta"] = delta(acc, bias)
        numbers[f"{axis}.gpr"] = 100 * gain
    numbers["macro_gpr"] = np.mean([numbers[f"{axis}.gpr"] for axis in STRUCTURAL_AXES], axis=0)
    for axis in STRUCTURAL_AXES:
        numbers[f"gap.{axis}"] = numbers[f"{axis}.delta"] - numbers["random_content.delta"]
    return numbers
