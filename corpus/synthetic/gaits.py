"""Getting about: steps planned on the floor, the body carried over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpus.synthetic.body import SIDES, SIGN, STANDING
from corpus.synthetic.performer import HANGING, STANCE, Performer, Place, other


class Gait(NamedTuple):
    """How steps are made. Lengths in metres, times in seconds, angles in radians."""

    step_time: float
    """Seconds from one landing to the next."""
    swing: float
    """Seconds a foot is in the air."""
    lift: float = 0.07
    """Height of the foot in early swing."""
    heel_off: float = 0.9
    """Pitch of the foot as it leaves the floor."""
    toe_up: float = 0.2
    """Pitch of the foot as it lands, toes up; negative lands on the toes."""
    sway: float = 0.35
    """Share of the way from the midline to the standing foot that the pelvis takes."""
    drop: float = 0.012
    """How much lower than standing the pelvis is carried."""
    bounce: float = 0.0
    """Half the rise and fall of the pelvis, highest between landings."""
    lean: float = 0.05
    """Forward pitch of the trunk."""
    twist: float = 0.07
    """Yaw of the pelvis with each step."""
    arm_swing: float = 0.35
    """Swing of the arms to each side of hanging."""
    elbow: float = 0.35
    """Elbow flexion."""
    track: float = 0.75
    """Width of the footprints as a share of standing."""
    high_knee: float = 0.0
    """Height of the knee action: metres the ankle is drawn up under the hip."""
    over: float = 0.4
    """Share of the stance after which the pelvis passes over the foot."""
    start_swing: float = 1.0
    """Seconds of the first weight shift as a share of a step."""


def arm_pose(flexion: float, spread: float, elbow: float) -> tuple[float, ...]:
    """Upper arm swung forward by ``flexion`` and outward by ``spread`` (radians)."""
    upper = (np.sin(spread), -np.cos(spread) * np.cos(flexion), np.cos(spread) * np.sin(flexion))
    return (*upper, -0.3, np.sin(flexion), np.cos(flexion), elbow)


def travel(
    p: Performer, route: list[tuple[str, Place]], gait: Gait, swinging: tuple[str, ...] = SIDES
) -> None:
    """Walk along footholds.

    Args:
        p: The performer; its time and place move on.
        route: Which foot lands next and where the body stands when it does.
        gait: How the steps are made.
        swinging: Arms that swing with the gait; others are left to what else they do.
    """
    start = p.t
    p.hold()
    shift = 0.28 * gait.start_swing
    landings = [start + shift + gait.swing + i * gait.step_time for i in range(len(route))]
    stance = 2 * gait.step_time - gait.swing
    flat = min(0.12, 0.35 * stance)
    ends = landings[-1] + 0.35
    down = {side: start for side in SIDES}
    _begin(p, route, gait, start, shift, swinging)
    for i, (side, place) in enumerate(route):
        land, lift = landings[i], landings[i] - gait.swing
        last = i == len(route) - 1
        _swing(p, side, place, gait, lift, land, max(down[side], lift - 0.55 * stance), flat, last)
        down[side] = land + flat
        p.heading.through(land, (place.yaw,))
        if not last:
            middle = land + gait.over * stance
            spot = place.ahead(0.0, SIGN[side] * STANCE * gait.track * gait.sway)
            p.ground.through(middle, (spot.x, spot.z))
            p.height.through(
                land + (gait.over * stance - 0.5 * gait.step_time), (_carried(gait, 1),)
            )
            p.height.through(middle, (_carried(gait, -1),))
            _carry(p, side, gait, land, middle, i, swinging)
    end = route[-1][1]
    p.ground.rest(ends, (end.x, end.z))
    p.heading.rest(ends, (end.yaw,))
    p.height.rest(ends, (STANDING,))
    p.hips.rest(ends, (0, 0, 0))
    p.spine.rest(ends + 0.15, (0.02, 0, 0))
    p.head.rest(ends + 0.1, (0, 0, 0))
    for arm in swinging:
        p.arm(arm, ends + 0.25, HANGING)
    p.at = end
    p.t = ends


def _carried(gait: Gait, way: int) -> float:
    return STANDING - gait.drop + way * gait.bounce


def _begin(
    p: Performer, route: list[tuple[str, Place]], gait: Gait, start: float, shift: float,
    swinging: tuple[str, ...],
) -> None:  # fmt: skip
    """Shift the weight to the foot that stays, lean into the first step."""
    side, first = route[0]
    middle = start + shift + 0.35 * gait.swing
    stay = p.at.ahead(0.0, -SIGN[side] * STANCE * min(1.0, gait.sway + 0.25))
    share = 0.3
    p.ground.through(
        middle, (stay.x + share * (first.x - p.at.x), stay.z + share * (first.z - p.at.z))
    )
    p.hips.through(middle, (0.4 * gait.lean, -SIGN[side] * 0.02, 0.0))
    p.spine.through(middle, (0.6 * gait.lean, SIGN[side] * 0.03, 0.0))
    p.height.through(middle, (_carried(gait, 0),))


def _swing(
    p: Performer, side: str, place: Place, gait: Gait, lift: float, land: float, heel: float,
    flat: float, last: bool,
) -> None:  # fmt: skip
    """One foot from heel-rise through the air to flat on the floor."""
    width = STANCE if last else STANCE * gait.track
    off = gait.heel_off
    swing = land - lift
    toe_up = gait.toe_up * (0.4 if last else 1.0)
    leave = lift + 0.03
    p.place[side].hold(leave - 0.001)
    p.lift[side].hold(lift - 0.001)
    p.lift[side].through(
        lift, (0.0,), (0.0,), (2.2 * (gait.lift + gait.high_knee) / (0.36 * swing) ** 2,)
    )
    p.pitch[side].hold(heel)
    p.pitch[side].through(lift, (0.92 * off,))
    p.pitch[side].through(lift + 0.13 * swing, (off,))
    high = gait.lift + gait.high_knee
    p.lift[side].through(lift + 0.36 * swing, (high,))
    p.lift[side].through(lift + 0.72 * swing, (0.35 * high,))
    p.lift[side].rest(land, (0.0,))
    p.pitch[side].through(lift + 0.5 * swing, (0.35 * off,))
    p.pitch[side].through(lift + 0.78 * swing, (-0.8 * toe_up,))
    p.pitch[side].through(land, (-toe_up,))
    p.pitch[side].rest(land + flat, (0.0,))
    # The foot leaves briskly: it is pulled along by the leg that trails.
    here, there = p.place[side].last.value, np.array(p.foothold(side, place, width))
    p.place[side].through(leave, here, np.zeros(3), 3.0 * (there - here) / swing**2)
    p.place[side].rest(land - 0.02, there)


def _carry(
    p: Performer, side: str, gait: Gait, land: float, middle: float, i: int,
    swinging: tuple[str, ...],
) -> None:  # fmt: skip
    """Pelvis twist and drop, chest against it, arms against the legs."""
    s = SIGN[side]
    ease = 0.7 if i == 0 else 1.0
    twist = ease * gait.twist
    lean_hips, lean_chest = 0.35 * gait.lean, 0.65 * gait.lean
    p.hips.through(land, (lean_hips, 0.0, -s * twist))
    p.hips.through(middle, (lean_hips, s * 0.045, 0.0))
    p.spine.through(land, (lean_chest, 0.0, s * 2.0 * twist))
    p.spine.through(middle, (lean_chest, -s * 0.06, 0.0))
    swing = ease * gait.arm_swing
    for arm in swinging:
        way = -1.0 if arm == side else 1.0
        elbow = gait.elbow + (0.35 if way > 0 else 0.0) * swing
        bias = 0.15 * gait.elbow
        p.arm(arm, land + 0.03, arm_pose(way * swing + bias - 0.05, 0.15, elbow), rest=False)


WALK = Gait(step_time=0.54, swing=0.44)
SLOW = Gait(step_time=0.78, swing=0.58, arm_swing=0.22, lift=0.06, heel_off=0.7, sway=0.5)
BRISK = Gait(step_time=0.45, swing=0.38, arm_swing=0.5, elbow=0.5, lean=0.08, twist=0.1)
RUN = Gait(
    step_time=0.34, swing=0.44, lift=0.26, heel_off=0.85, toe_up=0.1, sway=0.2, drop=0.05,
    bounce=0.03, lean=0.22, twist=0.13, arm_swing=0.75, elbow=1.55, track=0.45, start_swing=0.8,
)  # fmt: skip
JOG = RUN._replace(
    step_time=0.38, swing=0.46, lift=0.18, lean=0.14, arm_swing=0.5, bounce=0.022, heel_off=0.7
)
BACK = Gait(
    step_time=0.6, swing=0.46, lift=0.07, heel_off=0.25, toe_up=-0.3, sway=0.5, lean=0.03,
    arm_swing=0.15, twist=0.03,
)  # fmt: skip
TURN = Gait(
    step_time=0.46, swing=0.36, lift=0.06, heel_off=0.3, toe_up=0.05, sway=0.6, lean=0.03,
    arm_swing=0.08, twist=0.0, track=1.0,
)  # fmt: skip
MARCH = Gait(
    step_time=0.56, swing=0.48, lift=0.1, heel_off=0.45, toe_up=-0.2, sway=0.75, lean=0.0,
    arm_swing=0.6, elbow=0.9, twist=0.03, high_knee=0.22, track=1.0,
)  # fmt: skip


def straight(
    p: Performer, steps: int, length: float, gait: Gait, first: str = "right",
    swinging: tuple[str, ...] = SIDES,
) -> None:  # fmt: skip
    """Go straight: half a step, ``steps`` whole ones of ``length`` (negative: backward), close."""
    route, at, side = [], p.at, first
    for i in range(steps):
        at = at.ahead(length * (0.65 if i == 0 else 1.0))
        route.append((side, at))
        side = other(side)
    route.append((side, at))
    travel(p, route, gait, swinging)


def run(p: Performer, steps: int, length: float, gait: Gait) -> None:
    """Run: two steps to gather speed, ``steps`` in all, two to lose it."""
    shares = [1.0] * steps
    shares[0], shares[1], shares[-2], shares[-1] = 0.45, 0.8, 0.75, 0.4
    route, at, side = [], p.at, "right"
    for share in shares:
        at = at.ahead(length * share)
        route.append((side, at))
        side = other(side)
    route.append((side, at.ahead(0.08)))
    travel(p, route, gait)


def circle(p: Performer, way: str, radius: float, share: float, length: float, gait: Gait) -> None:
    """Go along a circle with its centre on the side ``way``, for a share of a full turn."""
    sign = SIGN[way]
    centre = p.at.ahead(0.0, sign * radius)
    steps = max(3, round(2 * np.pi * radius * share / length))
    side, route = way, []
    for i in range(1, steps + 1):
        angle = 2 * np.pi * share * (i - 0.35) / (steps - 0.35)
        yaw = p.at.yaw + sign * angle
        spot = Place(centre.x, centre.z, yaw).ahead(0.0, -sign * radius)
        route.append((side, spot))
        side = other(side)
    route.append((side, route[-1][1]))
    travel(p, route, gait)


def pivot(p: Performer, way: str, angle: float) -> None:
    """Turn in place by ``angle`` radians toward ``way``: the near foot opens, the other follows."""
    sign = SIGN[way]
    pairs = max(1, round(angle / 0.8))
    route, at = [], p.at
    for _ in range(pairs):
        at = at.ahead(0.0, 0.0, sign * angle / pairs)
        route += [(way, at), (other(way), at)]
    start = p.t
    p.head.hold(start)
    p.head.rest(start + 0.35, (0.0, 0.0, sign * min(0.45, 0.5 * angle)))
    p.head.through(start + 0.6 + 0.5 * pairs, (0.0, 0.0, sign * 0.25))
    travel(p, route, TURN)


def sidestep(p: Performer, way: str, steps: int, length: float) -> None:
    """Step to one side: the near foot goes, the other closes."""
    route, at = [], p.at
    for _ in range(steps):
        at = at.ahead(0.0, SIGN[way] * length)
        route += [(way, at), (other(way), at)]
    gait = TURN._replace(step_time=0.5, swing=0.4, sway=0.3, heel_off=0.25, drop=0.02)
    travel(p, route, gait)


def march(p: Performer, steps: int, length: float = 0.0) -> None:
    """March with high knees, in place or forward."""
    straight(p, steps, length, MARCH)
