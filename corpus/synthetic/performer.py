"""The performer: where the person stands, which tracks move, what has been done so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus.clips import EventLabel
from corpus.motion import Motion
from corpus.synthetic.body import (
    ANKLE_HEIGHT,
    HIP_DROP,
    HIP_WIDTH,
    SIDES,
    SIGN,
    STANDING,
    Controls,
    ankle_from_foot,
    solve,
)
from corpus.synthetic.tracks import Track

Array = NDArray[np.float64]

SPLAY = 0.12
"""How far each foot points outward, radians."""
STANCE = HIP_WIDTH + 0.01
"""Half the distance between the feet in standing, metres."""
HANGING = (0.16, -1.0, 0.02, -0.25, 0.0, 1.0, 0.28)
"""Arm at the side: upper arm, bend direction, elbow flexion (see ``Controls.arms``)."""


def other(side: str) -> str:
    """Return the other side of the body."""
    return "right" if side == "left" else "left"


class Place(NamedTuple):
    """A spot on the floor and the way one faces there."""

    x: float
    z: float
    yaw: float

    def ahead(self, forward: float, left: float = 0.0, turn: float = 0.0) -> Place:
        """Return the place so many metres ahead and to the left, turned left by ``turn``."""
        sin, cos = np.sin(self.yaw), np.cos(self.yaw)
        return Place(
            self.x + forward * sin + left * cos,
            self.z + forward * cos - left * sin,
            self.yaw + turn,
        )


class Performer:
    """Collects keys for the tracks of one clip and the labels of what they show."""

    def __init__(self, rng: np.random.Generator, heading: float = 0.0, fps: float = 30.0) -> None:
        """Stand at the origin, arms at the sides.

        Args:
            rng: Source of the small variations.
            heading: Yaw at the start, radians; 0 faces +Z.
            fps: Frames per second of the motion.
        """
        self.rng = rng
        self.fps = fps
        self.t = 0.0
        self.at = Place(0.0, 0.0, heading)
        self.events: list[EventLabel] = []
        self.flights: list[tuple[float, float]] = []
        self.ground = Track((0.0, 0.0))
        self.height = Track((STANDING,))
        self.heading = Track((heading,))
        self.hips = Track((0.0, 0.0, 0.0))
        self.spine = Track((0.02, 0.0, 0.0))
        self.head = Track((0.0, 0.0, 0.0))
        self.arms = {side: Track(HANGING) for side in SIDES}
        self.place: dict[str, Track] = {}
        self.lift: dict[str, Track] = {}
        self.pitch: dict[str, Track] = {}
        for side in SIDES:
            self.place[side] = Track(self.foothold(side, self.at))
            self.lift[side] = Track((0.0,))
            self.pitch[side] = Track((0.0,))

    def vary(self, value: float, share: float = 0.08) -> float:
        """Return the value times a random factor within ``1 ± share``."""
        return value * (1 + share * float(self.rng.uniform(-1, 1)))

    def foothold(self, side: str, at: Place, width: float = STANCE) -> tuple[float, float, float]:
        """Return x, z and yaw of a foot when the body stands at ``at``."""
        spot = at.ahead(0.0, SIGN[side] * width)
        return spot.x, spot.z, at.yaw + SIGN[side] * SPLAY

    def tracks(self) -> list[Track]:
        """Every track, in a fixed order."""
        result = [self.ground, self.height, self.heading, self.hips, self.spine, self.head]
        for side in SIDES:
            result += [self.arms[side], self.place[side], self.lift[side], self.pitch[side]]
        return result

    def hold(self, t: float | None = None) -> None:
        """Hold every track still until ``t`` (default: now)."""
        for track in self.tracks():
            track.hold(self.t if t is None else t)

    def wait(self, seconds: float) -> None:
        """Stand for a while."""
        self.t += seconds
        self.hold()

    def label(
        self, action: str, start: float, side: str | None = None, direction: str | None = None
    ) -> None:
        """Record that an action ran from ``start`` until now."""
        self.events.append(
            EventLabel.model_validate(
                {
                    "action": action, "start": round(start, 3), "end": round(self.t, 3),
                    "side": side, "direction": direction,
                }
            )
        )  # fmt: skip

    def shift(self, t: float, side: str | None, share: float = 0.85, forward: float = 0.0) -> None:
        """Bring the pelvis over one foot, or between both where ``side`` is null."""
        left = 0.0 if side is None else SIGN[side] * STANCE * share
        spot = self.at.ahead(forward, left)
        self.ground.rest(t, (spot.x, spot.z))

    def foot_in_air(
        self, side: str, t: float, out: float, up: float, forward: float, toes: float,
        rest: bool = False, over: tuple[float, float] | None = None,
    ) -> None:  # fmt: skip
        """Key an ankle relative to its hip joint in upright standing.

        Args:
            side: Which foot.
            t: Time in seconds.
            out: Metres outward.
            up: Metres above the hip (negative: below).
            forward: Metres ahead of the hip.
            toes: Pitch of the foot, radians, toes down positive.
            rest: Whether the foot stops there.
            over: Pelvis position (x, z) at that time; default: its last key.
        """
        x, z = self.ground.last.value if over is None else over
        yaw = float(self.heading.last.value[0])
        spot = Place(float(x), float(z), yaw).ahead(forward, SIGN[side] * (HIP_WIDTH + out))
        height = float(self.height.last.value[0]) - HIP_DROP + up
        foot_yaw = yaw + SIGN[side] * SPLAY * 0.5
        base = ankle_from_foot(np.array([[0.0, 0.0, 0.0, foot_yaw, toes]]))[0]
        key = "rest" if rest else "through"
        getattr(self.place[side], key)(t, (spot.x - base[0], spot.z - base[2], foot_yaw))
        getattr(self.lift[side], key)(t, (height - base[1],))
        getattr(self.pitch[side], key)(t, (toes,))

    def leave(self, side: str, t: float) -> None:
        """Let a foot roll up from time ``t``, lift and only then travel."""
        self.pitch[side].hold(t)
        self.lift[side].hold(t + 0.06)
        self.lift[side].through(t + 0.11, (0.012,))
        self.place[side].hold(t + 0.12)

    def plant(self, side: str, t: float, at: Place | None = None, width: float = STANCE) -> None:
        """Put a foot flat on the floor at time ``t``, coming down from above."""
        self.place[side].rest(t - 0.05, self.foothold(side, self.at if at is None else at, width))
        self.lift[side].rest(t, (0.0,))
        self.pitch[side].rest(t, (0.0,))

    def arm(self, side: str, t: float, pose: Sequence[float], rest: bool = True) -> None:
        """Key an arm pose, stopping there or passing through."""
        if rest:
            self.arms[side].rest(t, pose)
        else:
            self.arms[side].through(t, pose)

    def motion(self, source: str) -> Motion:
        """Sample all tracks and solve the body."""
        self.hold()
        frames = round(self.t * self.fps)
        times = np.arange(frames) / self.fps
        ground, spine = self.ground.sample(times), self.spine.sample(times)
        head = self.head.sample(times)
        phase = self.rng.uniform(0, 2 * np.pi, 4)
        breath = np.sin(2 * np.pi * 0.27 * times + phase[0])
        sway = np.sin(2 * np.pi * 0.31 * times + phase[1])
        drift = np.sin(2 * np.pi * 0.19 * times + phase[2])
        heading = self.heading.sample(times)[:, 0]
        ground = ground + 0.004 * sway[:, None] * np.stack([np.cos(heading), -np.sin(heading)], 1)
        spine = spine + np.stack([0.010 * breath, -0.006 * sway, 0.008 * drift], axis=1)
        head = head + np.stack([-0.006 * breath, 0.006 * sway, 0.03 * drift], axis=1)
        arms = {}
        for side in SIDES:
            pose = self.arms[side].sample(times)
            pose[:, 2] += 0.012 * drift + 0.008 * breath
            pose[:, 6] = np.clip(pose[:, 6] + 0.02 * breath, 0.03, 2.6)
            arms[side] = pose
        feet = {}
        for side in SIDES:
            place = self.place[side].sample(times)
            lift = np.maximum(self.lift[side].sample(times)[:, 0], 0.0)
            pitch = self.pitch[side].sample(times)[:, 0]
            feet[side] = np.stack([place[:, 0], lift, place[:, 1], place[:, 2], pitch], axis=1)
        height = self.height.sample(times)[:, 0]
        flying = np.zeros(frames)
        for begin, end in self.flights:
            flying[(times > begin) & (times < end)] = 1.0
        controls = Controls(
            fps=self.fps,
            pelvis=np.stack([ground[:, 0], height, ground[:, 1]], axis=1),
            flying=flying,
            heading=heading,
            hips=self.hips.sample(times),
            spine=spine,
            head=head,
            feet=feet,
            arms=arms,
        )
        positions, rotations, root = solve(controls)
        return Motion(
            positions=positions.astype(np.float32),
            fps=self.fps,
            local_rotations=rotations.astype(np.float32),
            root_translation=root.astype(np.float32),
            source=source,
        )


__all__ = ["ANKLE_HEIGHT", "HANGING", "SPLAY", "STANCE", "Performer", "Place", "other"]
