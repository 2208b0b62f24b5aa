"""Keyframe tracks: quintic curves through keys, at rest where a key says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Key(NamedTuple):
    """One key of a track."""

    t: float
    value: Array
    rest: bool
    """True: velocity and acceleration are zero here; false: the curve flows through."""
    velocity: Array | None = None
    """Velocity per second where it is prescribed (take-off, landing)."""
    acceleration: Array | None = None
    """Acceleration per second squared where it is prescribed."""


class Track:
    """Values over time, twice continuously differentiable.

    Between keys runs the quintic that meets value, velocity and acceleration at both ends; between
    two keys at rest that is the minimum-jerk curve (Flash and Hogan 1985).
    """

    def __init__(self, value: Sequence[float]) -> None:
        """Start at rest at time 0."""
        self._keys = [Key(0.0, np.array(value, dtype=np.float64), True)]

    @property
    def last(self) -> Key:
        """The latest key."""
        return self._keys[-1]

    def rest(self, t: float, value: Sequence[float] | Array) -> None:
        """Come to rest at a value at time ``t`` (seconds)."""
        self._add(Key(t, np.array(value, dtype=np.float64), True))

    def through(
        self,
        t: float,
        value: Sequence[float] | Array,
        velocity: Sequence[float] | Array | None = None,
        acceleration: Sequence[float] | Array | None = None,
    ) -> None:
        """Pass a value at time ``t``; without a velocity the neighbouring keys decide it."""
        self._add(
            Key(
                t,
                np.array(value, dtype=np.float64),
                False,
                None if velocity is None else np.array(velocity, dtype=np.float64),
                None if acceleration is None else np.array(acceleration, dtype=np.float64),
            )
        )

    def hold(self, t: float) -> None:
        """Stay at the last value until time ``t``; nothing happens when ``t`` is not later."""
        if t > self.last.t + 1e-9:
            self.rest(t, self.last.value)

    def _add(self, key: Key) -> None:
        if key.t <= self.last.t - 1e-9:
            raise ValueError(f"key time: expected after {self.last.t:.3f} s, got {key.t:.3f} s")
        if key.t <= self.last.t + 1e-9:
            self._keys[-1] = key
        else:
            self._keys.append(key)

    def sample(self, times: Array) -> Array:
        """Return the values at ``times`` (seconds), shape (len(times), channels)."""
        t = np.array([k.t for k in self._keys])
        p = np.stack([k.value for k in self._keys])
        if len(t) == 1:
            return np.repeat(p, len(times), axis=0)
        v, a = self._derivatives(t, p)
        i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        h = (t[i + 1] - t[i])[:, None]
        s = np.clip((times - t[i])[:, None] / h, 0.0, 1.0)
        p0, p1, v0, v1 = p[i], p[i + 1], v[i] * h, v[i + 1] * h
        a0, a1 = a[i] * h * h, a[i + 1] * h * h
        d = p1 - p0
        c3 = 10 * d - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1
        c4 = -15 * d + 8 * v0 + 7 * v1 + 1.5 * a0 - a1
        c5 = 6 * d - 3 * v0 - 3 * v1 - 0.5 * a0 + 0.5 * a1
        result: Array = p0 + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5))))
        return result

    def _derivatives(self, t: Array, p: Array) -> tuple[Array, Array]:
        """Velocities and accelerations at the keys: given, zero, or by three-point differences."""
        v, a = np.zeros_like(p), np.zeros_like(p)
        for i, key in enumerate(self._keys):
            if not key.rest and 0 < i < len(t) - 1:
                h0, h1 = t[i] - t[i - 1], t[i + 1] - t[i]
                d0, d1 = (p[i] - p[i - 1]) / h0, (p[i + 1] - p[i]) / h1
                v[i] = (h1 * d0 + h0 * d1) / (h0 + h1)
                a[i] = 2.0 * (d1 - d0) / (h0 + h1)
            if key.velocity is not None:
                v[i] = key.velocity
            if key.acceleration is not None:
                a[i] = key.acceleration
        return v, a
