"""What the person does on the spot: kicks, jumps, bows, arms. Each returns to standing."""

from __future__ import annotations

import numpy as np

from corpus.synthetic.body import SIDES, SIGN, STANDING
from corpus.synthetic.gaits import arm_pose
from corpus.synthetic.performer import HANGING, Performer, other

GRAVITY = 9.81
"""Metres per second squared."""

OVERHEAD = (0.16, 1.0, 0.06, -0.7, 0.0, -0.5, 0.22)
IN_FRONT = (0.12, -0.05, 1.0, -0.5, 0.85, 0.05, 0.15)
OUTWARD = (1.0, 0.0, 0.12, 0.0, 0.05, 1.0, 0.15)
GUARD = (0.28, -0.85, 0.38, -0.35, 0.45, 0.85, 2.15)
STRAIGHT_PUNCH = (-0.22, 0.0, 1.0, -0.5, 0.85, 0.0, 0.12)
GREETING = (0.85, 0.06, 0.34, 0.05, 1.0, 0.12)
ON_THIGHS = (0.14, -0.9, 0.36, -0.25, 0.36, 0.9, 0.75)
WIND_UP = (0.95, 0.12, -0.28, 0.05, 1.0, 0.1, 1.75)
RELEASE = (0.3, 0.42, 0.9, 0.0, 0.8, -0.5, 0.35)
FOLLOW_THROUGH = (-0.35, -0.62, 0.7, -0.6, 0.3, 0.6, 0.45)


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
    for track in (p.place[side], p.lift[side], p.pitch[side]):
        track.hold(start + 0.3)
    back, chamber = t + 0.14, t + 0.36
    snap = chamber + p.vary(0.17)
    recoil, end = snap + 0.3, snap + 0.78
    p.foot_in_air(side, back, 0.0, -0.70, -0.28, 0.7)
    p.foot_in_air(side, chamber, 0.0, -0.42, 0.26, 0.45)
    high = p.vary(0.2, 0.25)
    p.foot_in_air(side, snap, -0.02, -high, float(np.sqrt(0.802**2 - high**2)), 0.35)
    p.foot_in_air(side, recoil, 0.0, -0.56, 0.25, 0.3)
    p.plant(side, end)
    trunk(p, back, (0.12, -s * 0.03, -s * 0.12), (0.1, s * 0.05, s * 0.2), rest=False)
    trunk(p, snap, (-0.24, -s * 0.05, s * 0.22), (0.2, s * 0.04, -s * 0.34), rest=False)
    trunk(p, recoil, (-0.05, 0, s * 0.06), (0.1, 0, -s * 0.1), rest=False)
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
    for track in (p.place[side], p.lift[side], p.pitch[side]):
        track.hold(start + 0.32)
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


def punch(p: Performer, side: str, times: int = 1) -> None:
    """Take guard, drive a straight punch from the back heel, come back, let the arms down."""
    start, s = p.t, SIGN[side]
    p.hold()
    stay = other(side)
    guard = start + 0.42
    for arm in SIDES:
        p.arm(arm, guard, GUARD)
    p.height.rest(guard, (STANDING - 0.04,))
    t = guard
    for _ in range(times):
        wind, hit = t + 0.2, t + 0.2 + p.vary(0.2)
        back = hit + 0.34
        trunk(p, wind, (0.05, 0, -s * 0.1), (0.08, 0, -s * 0.2), (0, 0, 0))
        trunk(p, hit, (0.1, 0, -s * -0.28), (0.1, 0, s * 0.5), (0, 0, 0), rest=False)
        trunk(p, back, (0.05, 0, 0), (0.08, 0, 0), (0, 0, 0))
        p.arms[side].hold(wind - 0.02)
        p.arm(side, hit, STRAIGHT_PUNCH, rest=False)
        p.arm(side, back, GUARD)
        p.arms[stay].hold(back)
        p.ground.hold(wind - 0.1)
        p.shift(hit + 0.02, stay, 0.35, 0.05)
        p.shift(back + 0.05, None)
        p.pitch[side].hold(wind)
        p.pitch[side].rest(hit, (0.45,))
        p.pitch[side].rest(back + 0.05, (0.0,))
        t = back + 0.06
    p.height.hold(t)
    p.t = t + 0.55
    for arm in SIDES:
        p.arms[arm].hold(t)
    upright(p, p.t)
    p.label("punch", start, side)


def raise_arm(p: Performer, sides: tuple[str, ...], way: str = "front", hold: float = 0.6) -> None:
    """Raise one arm or both, overhead through the front or out to the side, and lower again."""
    start = p.t
    p.hold()
    top = start + p.vary(0.85)
    end = top + hold + p.vary(0.85)
    for arm in sides:
        lag = 0.0 if arm == sides[0] else 0.03
        if way == "side":
            p.arm(arm, top + lag, OUTWARD)
            p.arms[arm].hold(top + hold)
        else:
            p.arm(arm, start + 0.48 * (top - start) + lag, IN_FRONT, rest=False)
            p.arm(arm, top + lag, OVERHEAD)
            p.arms[arm].hold(top + hold)
            p.arm(arm, top + hold + 0.5 * (end - top - hold), IN_FRONT, rest=False)
        p.arm(arm, end + lag, HANGING)
    s = 0.0 if len(sides) == 2 else SIGN[sides[0]]
    arch = -0.05 if way == "front" else 0.0
    trunk(p, top, (0, 0, 0), (arch, -s * 0.05, 0), (arch, 0, 0))
    p.shift(top, None if s == 0 else other(sides[0]), 0.12)
    for track in (p.hips, p.spine, p.head, p.ground):
        track.hold(top + hold)
    trunk(p, end, (0, 0, 0), (0.02, 0, 0))
    p.shift(end, None)
    p.t = end
    p.label("raise arm", start, sides[0] if len(sides) == 1 else "both")


def wave(p: Performer, side: str, times: int = 3) -> None:
    """Lift a hand beside the head, wave it, let it down."""
    start, s = p.t, SIGN[side]
    p.hold()
    up = start + p.vary(0.6)
    p.arm(side, up - 0.28, (0.55, -0.55, 0.55, -0.1, 0.8, 0.5, 1.2), rest=False)
    p.arm(side, up, (*GREETING, 1.9), rest=False)
    t, beat = up, p.vary(0.26)
    for i in range(2 * times):
        t += beat
        p.arm(side, t, (*GREETING, 1.2 if i % 2 == 0 else 1.95), rest=False)
    end = t + p.vary(0.75)
    p.arm(side, t + 0.3, (0.5, -0.6, 0.5, -0.1, 0.6, 0.6, 1.2), rest=False)
    p.arm(side, end, HANGING)
    for when, share in ((up, 1.0), (t, 1.0), (end, 0.0)):
        p.spine.rest(when, (0.02, -s * 0.05 * share, s * 0.05 * share))
        p.head.rest(when + 0.03, (0, s * 0.05 * share, 0))
        p.shift(when, other(side), 0.2 * share)
    p.t = end
    p.label("wave", start, side)


def squat(p: Performer, depth: float = 0.47, hold: float = 0.25, arms: bool = True) -> None:
    """Bend hips and knees, arms forward for balance, and come up again."""
    _down_and_up(p, "squat", depth, hold, IN_FRONT if arms else None, 0.42, 0.32, -0.13)


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
        p.arm(side, take_off + 0.06, arm_pose(1.5, 0.25, 0.6), rest=False)
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


def stretch(p: Performer) -> None:
    """Reach up with both arms, rise on the toes, and come down."""
    start = p.t
    for side in SIDES:
        p.pitch[side].hold(start + 0.5)
        p.pitch[side].rest(start + 1.1, (0.42,))
        p.pitch[side].hold(start + 1.5)
        p.pitch[side].rest(start + 2.1, (0.0,))
    p.height.hold(start + 0.5)
    p.height.rest(start + 1.1, (STANDING + 0.055,))
    p.height.hold(start + 1.5)
    p.height.rest(start + 2.1, (STANDING,))
    raise_arm(p, SIDES, "front", hold=0.75)
    p.events[-1] = p.events[-1].model_copy(update={"action": "stretch"})
