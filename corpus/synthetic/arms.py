"""Arms: raising, waving, punching, clapping, throwing. Each returns to standing."""

from __future__ import annotations

from corpus.synthetic.body import SIDES, SIGN, STANDING
from corpus.synthetic.gestures import trunk, upright
from corpus.synthetic.performer import HANGING, Performer, other

OVERHEAD = (0.16, 1.0, 0.06, -0.7, 0.0, -0.5, 0.22)
IN_FRONT = (0.12, -0.05, 1.0, -0.5, 0.85, 0.05, 0.15)
OUTWARD = (1.0, 0.0, 0.12, 0.0, 0.05, 1.0, 0.15)
GUARD = (0.28, -0.85, 0.38, -0.35, 0.45, 0.85, 2.15)
STRAIGHT_PUNCH = (0.4, 0.0, 0.92, -0.5, 0.85, 0.0, 0.12)
GREETING = (0.85, 0.06, 0.34, 0.05, 1.0, 0.12)
WIND_UP = (0.95, 0.12, -0.28, 0.05, 1.0, 0.1, 1.75)
RELEASE = (0.5, 0.42, 0.85, 0.0, 0.8, -0.5, 0.35)
FOLLOW_THROUGH = (-0.05, -0.62, 0.8, -0.6, 0.3, 0.6, 0.45)
HANDS_APART = (0.35, -0.72, 0.55, -0.25, 0.65, 0.75, 1.35)
HANDS_TOGETHER = (0.1, -0.75, 0.62, -0.75, 0.6, 0.5, 1.2)


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
        trunk(p, wind, (0.05, 0, s * 0.08), (0.08, 0, s * 0.16), (0, 0, 0))
        trunk(p, hit, (0.1, 0, -s * 0.22), (0.1, 0, -s * 0.4), (0, 0, 0), rest=False)
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


def clap(p: Performer, times: int = 4) -> None:
    """Clap the hands in front of the chest."""
    start = p.t
    p.hold()
    t, beat = start + 0.55, p.vary(0.19)
    for side in SIDES:
        p.arm(side, t, HANDS_APART)
    for _ in range(times):
        for pose in (HANDS_TOGETHER, HANDS_APART):
            t += beat
            for side in SIDES:
                p.arm(side, t, pose, rest=False)
    trunk(p, start + 0.5, (0, 0, 0), (0.05, 0, 0), (0.08, 0, 0))
    for track in (p.hips, p.spine, p.head):
        track.hold(t)
    p.t = t + 0.65
    upright(p, p.t)
    p.label("clap", start, "both")


def throw(p: Performer, side: str) -> None:
    """Throw overhand: turn away and wind up, whip forward, follow through across the body."""
    start, s = p.t, SIGN[side]
    p.hold()
    stay = other(side)
    wind = start + p.vary(0.75)
    release = wind + p.vary(0.3)
    through = release + 0.22
    end = through + 0.85
    p.shift(wind, side, 0.55, -0.02)
    p.shift(through, stay, 0.6, 0.06)
    p.height.rest(wind, (STANDING - 0.03,))
    p.height.rest(through, (STANDING - 0.04,))
    trunk(p, wind, (-0.06, -s * 0.03, s * 0.3), (-0.08, -s * 0.06, s * 0.5), (0, 0, s * 0.1))
    trunk(p, release, (0.06, 0, -s * 0.1), (0.1, s * 0.08, -s * 0.22), (0, 0, 0), rest=False)
    trunk(p, through, (0.16, s * 0.03, -s * 0.25), (0.25, s * 0.06, -s * 0.42), (0, 0, 0))
    p.arm(side, wind - 0.35, (0.6, -0.7, 0.1, 0.0, 0.6, 0.7, 1.2), rest=False)
    p.arm(side, wind + 0.04, WIND_UP, rest=False)
    p.arm(side, release, RELEASE, rest=False)
    p.arm(side, through + 0.03, FOLLOW_THROUGH, rest=False)
    p.arm(stay, wind, (0.7, -0.25, 0.7, -0.4, 0.6, 0.3, 0.5))
    p.arm(stay, through, (0.35, -0.85, -0.1, -0.2, 0.2, 1.0, 1.3))
    p.pitch[side].hold(wind + 0.05)
    p.pitch[side].rest(through, (0.7,))
    p.pitch[side].hold(through + 0.15)
    p.pitch[side].rest(end, (0.0,))
    upright(p, end)
    p.t = end + 0.05
    p.label("throw", start, side)
