"""Legs and trunk on the spot: kicks, jumps, bows, sitting. Each returns to standing."""

from __future__ import annotations

import numpy as np

from corpus.synthetic.body import SIDES, SIGN, STANDING
from corpus.synthetic.gaits import arm_pose
from corpus.synthetic.performer import HANGING, STANCE, Performer, other

GRAVITY = 9.81
"""Metres per second squared."""

REACHING = (0.15, 0.35, 1.0, -0.5, 0.85, -0.2, 0.2)
ON_THIGHS = (0.14, -0.9, 0.36, -0.25, 0.36, 0.9, 0.75)


def trunk(
    p: Performer, t: float, hips: tuple[float, float, float], spine: tuple[float, float, float],
    head: tuple[float, float, float] = (0.0, 0.0, 0.0), rest: bool = True,
) -> None:  # fmt: skip
    """Key pelvis, chest and head together, the head a moment later."""
    key = "rest" if rest else "through"
    getattr(p.hips, key)(t, hips)
    getattr(p.spine, key)(t + 0.02, spine)
    getattr(p.head, key)(t + 0.04, head)


def upright(p: Performer, t: float) -> None:
    """Bring trunk, weight, height and both arms back to relaxed standing at ``t``."""
    trunk(p, t, (0, 0, 0), (0.02, 0, 0))
    p.shift(t, None)
    p.height.rest(t, (STANDING,))
    for side in SIDES:
        p.arm(side, t + 0.08, HANGING)


def kick(p: Performer, side: str) -> None:
    """Kick forward: weight over the standing leg, swing back, snap out, recoil, plant."""
    start, s = p.t, SIGN[side]
    p.hold()
    stay = other(side)
    t = start + p.vary(0.42)
    p.shift(t, stay, 0.92)
    p.height.rest(t, (STANDING - 0.025,))
    p.leave(side, start + 0.3)
    back, chamber = t + 0.14, t + 0.36
    snap = chamber + p.vary(0.17)
    recoil, end = snap + 0.3, snap + 0.78
    p.foot_in_air(side, back, 0.0, -0.60, -0.28, 0.75)
    p.foot_in_air(side, chamber, 0.0, -0.42, 0.26, 0.45)
    high = p.vary(0.2, 0.25)
    p.foot_in_air(side, snap, -0.02, -high, float(np.sqrt(0.802**2 - high**2)), 0.35)
    p.foot_in_air(side, recoil, 0.0, -0.56, 0.25, 0.3)
    p.plant(side, end)
    trunk(p, back, (0.12, -s * 0.03, s * 0.12), (0.1, s * 0.05, -s * 0.2), rest=False)
    trunk(p, snap, (-0.24, -s * 0.05, -s * 0.22), (0.2, s * 0.04, s * 0.34), rest=False)
    trunk(p, recoil, (-0.05, 0, -s * 0.06), (0.1, 0, s * 0.1), rest=False)
    p.shift(recoil + 0.1, stay, 0.8, 0.01)
    p.height.hold(recoil)
    p.arm(side, back, arm_pose(0.35, 0.25, 0.7), rest=False)
    p.arm(stay, back, arm_pose(-0.3, 0.3, 0.5), rest=False)
    p.arm(side, snap + 0.03, arm_pose(-0.55, 0.4, 0.6), rest=False)
    p.arm(stay, snap + 0.03, arm_pose(0.65, 0.35, 0.9), rest=False)
    upright(p, end + 0.25)
    p.t = end + 0.1
    p.label("kick", start, side)


def knee_raise(p: Performer, side: str) -> None:
    """Raise one knee to hip height, hold, put the foot down."""
    start, s = p.t, SIGN[side]
    p.hold()
    stay = other(side)
    t = start + 0.4
    p.shift(t, stay, 0.95)
    p.leave(side, start + 0.32)
    up = t + p.vary(0.5)
    p.foot_in_air(side, t + 0.1, 0.0, -0.66, 0.02, 0.5)
    p.foot_in_air(side, up, 0.0, -0.38, 0.3, 0.15, rest=True)
    hold = up + p.vary(0.45)
    p.foot_in_air(side, hold, 0.0, -0.385, 0.3, 0.15, rest=True)
    end = hold + 0.6
    p.plant(side, end)
    trunk(p, up, (-0.1, -s * 0.05, 0), (0.12, s * 0.06, 0))
    trunk(p, hold, (-0.1, -s * 0.05, 0), (0.12, s * 0.06, 0))
    p.ground.hold(hold + 0.1)
    for arm in SIDES:
        p.arm(arm, up + 0.05, arm_pose(0.1, 0.5, 0.5))
        p.arms[arm].hold(hold)
    upright(p, end + 0.25)
    p.t = end + 0.1
    p.label("raise knee", start, side)


def squat(p: Performer, depth: float = 0.47, hold: float = 0.25, arms: bool = True) -> None:
    """Bend hips and knees, arms forward for balance, and come up again."""
    _down_and_up(p, "squat", depth, hold, REACHING if arms else None, 0.42, 0.32, -0.13)


def crouch(p: Performer, hold: float = 0.7) -> None:
    """Crouch low over the knees and rise."""
    _down_and_up(p, "crouch", 0.46, hold, (0.2, -0.8, 0.55, -0.5, 0.3, 0.8, 0.5), 0.6, 0.6, -0.1)


def _down_and_up(
    p: Performer, action: str, low: float, hold: float, arms: tuple[float, ...] | None,
    hips: float, spine: float, back: float,
) -> None:  # fmt: skip
    start = p.t
    p.hold()
    down = start + p.vary(0.85)
    rise = down + hold
    p.height.rest(down, (low,))
    p.height.hold(rise)
    p.shift(down, None, forward=back)
    p.ground.hold(rise)
    trunk(p, down, (hips, 0, 0), (spine, 0, 0), (-0.1, 0, 0))
    for track in (p.hips, p.spine, p.head):
        track.hold(rise)
    for side in SIDES:
        if arms is not None:
            p.arm(side, down, arms)
            p.arms[side].hold(rise)
    end = rise + p.vary(0.85)
    upright(p, end)
    p.t = end + 0.05
    p.label(action, start)


def bow(p: Performer) -> None:
    """Bend forward from the hips, the head following, and straighten."""
    start = p.t
    p.hold()
    down = start + p.vary(0.95)
    rise = down + p.vary(0.4)
    trunk(p, down, (0.62, 0, 0), (0.5, 0, 0), (0.45, 0, 0))
    for track in (p.hips, p.spine, p.head):
        track.hold(rise)
    p.shift(down, None, forward=-0.11)
    p.ground.hold(rise)
    for side in SIDES:
        p.arm(side, down + 0.05, arm_pose(0.45, 0.12, 0.3))
        p.arms[side].hold(rise)
    end = rise + p.vary(1.0)
    upright(p, end)
    p.t = end + 0.05
    p.label("bow", start)


def sit(p: Performer) -> None:
    """Sit down as on a chair and stay there; ``stand`` comes next."""
    start = p.t
    p.hold()
    lean, down = start + 0.55, start + p.vary(1.25)
    p.ground.through(lean, tuple(p.at.ahead(-0.16)[:2]))
    p.height.through(lean, (STANDING - 0.16,))
    trunk(p, lean + 0.1, (0.45, 0, 0), (0.35, 0, 0), (0.1, 0, 0), rest=False)
    p.shift(down, None, forward=-0.40)
    p.height.rest(down, (0.50,))
    for side in SIDES:
        p.arm(side, lean, arm_pose(0.35, 0.15, 0.4), rest=False)
        p.arm(side, down + 0.1, ON_THIGHS)
    trunk(p, down + 0.3, (-0.06, 0, 0), (0.1, 0, 0))
    p.t = down + 0.35
    p.label("sit", start)


def stand(p: Performer) -> None:
    """Rise from sitting: lean over the feet, push up."""
    start = p.t
    p.hold()
    lean, up = start + 0.5, start + p.vary(1.3)
    trunk(p, lean, (0.5, 0, 0), (0.4, 0, 0), (0.05, 0, 0), rest=False)
    p.ground.through(lean + 0.1, tuple(p.at.ahead(-0.26)[:2]))
    p.height.through(lean + 0.1, (0.545,))
    for side in SIDES:
        p.arm(side, lean + 0.1, arm_pose(0.55, 0.15, 0.6), rest=False)
    upright(p, up)
    p.t = up + 0.05
    p.label("stand", start)


def jump(p: Performer, forward: float = 0.0) -> None:
    """Jump with both feet: dip, arms back, fly on a parabola, land soft, straighten."""
    start = p.t
    p.hold()
    dip = start + p.vary(0.5)
    take_off = dip + 0.27
    flight = p.vary(0.44 if forward == 0 else 0.40)
    land, low = take_off + flight, take_off + flight + 0.2
    end = low + 0.6
    speed = GRAVITY * flight / 2
    to, here = p.at.ahead(forward), p.at
    for at, t in ((here.ahead(-0.04), dip), (here.ahead(0.18 * forward), take_off)):
        rate = (to.x - here.x, to.z - here.z)
        if t == dip:
            p.ground.rest(t, (at.x, at.z))
        else:
            p.ground.through(t, (at.x, at.z), [0.68 * r / flight for r in rate], (0, 0))
    off = here.ahead(0.86 * forward)
    p.ground.through(land, (off.x, off.z), [0.68 * r / flight for r in rate], (0, 0))
    p.ground.rest(low + 0.15, (to.ahead(-0.03).x, to.ahead(-0.03).z))
    p.height.rest(dip, (STANDING - 0.26,))
    high = STANDING + 0.045
    p.flights.append((take_off - 0.2, land + 0.15))
    p.height.through(take_off, (high,), (speed,), (-GRAVITY,))
    p.height.through(land, (high - 0.03,), (-speed,), (-GRAVITY,))
    p.height.rest(low, (STANDING - 0.2,))
    for side in SIDES:
        for track in (p.place[side], p.lift[side]):
            track.hold(take_off)
        p.lift[side].through(take_off, (0.0,), (0.55 * speed,), (0.0,))
        apex = speed**2 / (2 * GRAVITY)
        p.lift[side].through(take_off + flight / 2, (apex + 0.03,), (0.0,), (-GRAVITY,))
        p.lift[side].through(land, (0.0,), (-0.5 * speed,), (0.0,))
        p.lift[side].rest(land + 0.034, (0.0,))
        p.place[side].rest(land, p.foothold(side, to))
        p.pitch[side].hold(dip)
        p.pitch[side].through(take_off, (0.85,))
        p.pitch[side].through(take_off + 0.4 * flight, (0.7,))
        p.pitch[side].through(land, (0.3,))
        p.pitch[side].rest(land + 0.09, (0.0,))
        p.arm(side, dip, arm_pose(-0.75, 0.2, 0.4))
        p.arm(side, dip + 0.18, arm_pose(0.1, 0.2, 0.5), rest=False)
        p.arm(side, take_off + 0.1, arm_pose(1.45, 0.25, 0.6), rest=False)
        p.arm(side, land, arm_pose(0.9, 0.35, 0.6), rest=False)
        p.arm(side, low + 0.05, arm_pose(0.3, 0.3, 0.5), rest=False)
    trunk(p, dip, (0.38, 0, 0), (0.35, 0, 0), (-0.1, 0, 0))
    trunk(p, take_off, (0.08, 0, 0), (0.0, 0, 0), (-0.08, 0, 0), rest=False)
    trunk(p, land, (0.12, 0, 0), (0.08, 0, 0), (0.05, 0, 0), rest=False)
    trunk(p, low, (0.3, 0, 0), (0.28, 0, 0), (0.0, 0, 0), rest=False)
    p.at = to
    upright(p, end)
    p.t = end + 0.05
    p.label("jump", start, "both", "forward" if forward > 0 else "up")


def hop(p: Performer, side: str, times: int = 3) -> None:
    """Lift the other foot behind and hop on one foot."""
    start, s, free = p.t, SIGN[side], other(side)
    p.hold()
    up = start + 0.62
    p.shift(start + 0.4, side, 0.95)
    p.height.rest(start + 0.4, (STANDING - 0.02,))
    p.leave(free, start + 0.3)
    p.foot_in_air(free, up, 0.0, -0.5, -0.27, 0.75)
    trunk(p, up, (0.1, s * 0.05, 0), (0.08, -s * 0.06, 0))
    for arm in SIDES:
        p.arm(arm, up, arm_pose(0.1, 0.55, 0.9))
    t, flight = up, p.vary(0.27)
    speed = GRAVITY * flight / 2
    for _ in range(times):
        dip, take_off = t + 0.17, t + 0.32
        land = take_off + flight
        p.flights.append((take_off - 0.12, land + 0.1))
        p.height.rest(dip, (STANDING - 0.10,))
        p.foot_in_air(free, dip, 0.0, -0.50, -0.26, 0.75)
        p.height.through(take_off, (STANDING + 0.03,), (speed,), (-GRAVITY,))
        p.lift[side].hold(take_off)
        p.place[side].hold(take_off)
        p.pitch[side].hold(dip)
        p.pitch[side].through(take_off, (0.75,))
        p.lift[side].through(take_off, (0.0,), (0.55 * speed,), (0.0,))
        p.lift[side].through(take_off + flight / 2, (speed**2 / 19.62,), (0.0,), (-GRAVITY,))
        p.foot_in_air(free, take_off + 0.3 * flight, 0.0, -0.44, -0.24, 0.8)
        p.height.through(land, (STANDING + 0.01,), (-speed,), (-GRAVITY,))
        p.lift[side].through(land, (0.0,), (-0.5 * speed,), (0.0,))
        p.lift[side].rest(land + 0.034, (0.0,))
        p.pitch[side].through(land, (0.3,))
        p.pitch[side].rest(land + 0.08, (0.0,))
        for arm in SIDES:
            p.arm(arm, dip, arm_pose(-0.05, 0.45, 0.8), rest=False)
            p.arm(arm, take_off + 0.05, arm_pose(0.15, 0.75, 1.0), rest=False)
        t = land
    p.height.rest(t + 0.17, (STANDING - 0.09,))
    p.foot_in_air(free, t + 0.12, 0.0, -0.52, -0.2, 0.7)
    p.plant(free, t + 0.62)
    p.ground.hold(t + 0.2)
    for track in (p.hips, p.spine, p.head):
        track.hold(t + 0.2)
    upright(p, t + 0.85)
    p.t = t + 0.7
    p.label("hop", start, side)


def lunge(p: Performer, side: str) -> None:
    """Step far forward, sink until the front thigh is level, push back."""
    start, s = p.t, SIGN[side]
    p.hold()
    stay = other(side)
    to = p.at.ahead(0.78)
    lift, land = start + 0.32, start + 0.82
    low = land + p.vary(0.35)
    rise, leave = low + 0.3, low + 0.62
    end = leave + 0.55
    over = p.at.ahead(0.0, SIGN[stay] * STANCE * 0.7)
    p.ground.through(lift, (over.x, over.z))
    middle = p.at.ahead(0.43, s * 0.015)
    p.ground.rest(low, (middle.x, middle.z))
    p.ground.hold(rise)
    p.height.through(land - 0.05, (STANDING - 0.16,))
    p.height.rest(low, (0.53,))
    p.height.hold(rise)
    p.height.through(leave, (STANDING - 0.14,))
    for track in (p.place[side], p.lift[side]):
        track.hold(lift)
    p.lift[side].through(lift + 0.22, (0.13,))
    p.lift[side].rest(land, (0.0,))
    p.pitch[side].hold(lift - 0.12)
    p.pitch[side].through(lift + 0.04, (0.5,))
    p.pitch[side].through(land, (-0.15,))
    p.pitch[side].rest(land + 0.12, (0.0,))
    p.place[side].rest(land, p.foothold(side, to))
    p.pitch[stay].hold(lift + 0.1)
    p.pitch[stay].rest(low, (1.0,))
    p.pitch[stay].hold(rise)
    p.pitch[stay].rest(leave + 0.2, (0.0,))
    p.place[side].hold(leave)
    p.lift[side].hold(leave)
    p.pitch[side].hold(leave - 0.15)
    p.pitch[side].through(leave, (-0.25,))
    p.lift[side].through(leave + 0.25, (0.09,))
    p.pitch[side].through(leave + 0.25, (0.1,))
    p.plant(side, end)
    trunk(p, low, (0.06, 0, -s * 0.06), (0.05, 0, s * 0.06))
    for track in (p.hips, p.spine, p.head):
        track.hold(rise)
    for arm in SIDES:
        p.arm(arm, low, arm_pose(0.45 if arm == stay else -0.35, 0.2, 0.7))
        p.arms[arm].hold(rise)
    upright(p, end + 0.2)
    p.t = end + 0.1
    p.label("lunge", start, side, "forward")
