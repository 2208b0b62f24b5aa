"""The catalogue of gestures: what the person can do on the spot, and how people say it."""

from __future__ import annotations

from corpus.synthetic import arms, gestures
from corpus.synthetic.body import SIDES
from corpus.synthetic.moves import Move, say


def kick(side: str) -> Move:
    """Kick forward."""
    return Move(
        lambda p: gestures.kick(p, side),
        say(
            f"kicks with the {side} leg",
            f"kicks {{poss}} {side} foot forward",
            f"does a front kick with {{poss}} {side} leg",
        ),
        f"a {side} kick",
    )


def punch(side: str, times: int = 1) -> Move:
    """Punch forward."""
    again = " twice" if times == 2 else ""
    return Move(
        lambda p: arms.punch(p, side, times),
        say(
            f"punches{again} with the {side} hand",
            f"punches forward{again} with {{poss}} {side} fist",
        ),
        f"a {side} punch" if times == 1 else None,
    )


def wave(side: str, times: int = 3) -> Move:
    """Wave a hand."""
    return Move(
        lambda p: arms.wave(p, side, times),
        say(
            f"waves with the {side} hand",
            f"waves {{poss}} {side} hand",
        ),
    )


def raise_arm(side: str) -> Move:
    """Raise one arm overhead."""
    return Move(
        lambda p: arms.raise_arm(p, (side,)),
        say(
            f"raises the {side} arm",
            f"raises {{poss}} {side} hand above {{poss}} head",
            f"lifts {{poss}} {side} arm up",
        ),
    )


def raise_arm_side(side: str) -> Move:
    """Raise one arm sideways to shoulder height."""
    return Move(
        lambda p: arms.raise_arm(p, (side,), "side"),
        say(
            f"raises {{poss}} {side} arm out to the side",
            f"holds the {side} arm out to the side",
        ),
    )


def raise_arms(way: str = "front") -> Move:
    """Raise both arms."""
    said = (
        say(
            "raises both arms",
            "raises both hands above {poss} head",
        )
        if way == "front"
        else say(
            "raises both arms out to the sides",
            "spreads {poss} arms wide",
        )
    )
    return Move(lambda p: arms.raise_arm(p, SIDES, way), said)


def knee(side: str) -> Move:
    """Raise a knee."""
    return Move(
        lambda p: gestures.knee_raise(p, side),
        say(
            f"raises the {side} knee",
            f"lifts {{poss}} {side} knee to hip height",
        ),
    )


def squat() -> Move:
    """Squat."""
    return Move(gestures.squat, say("squats", "does a squat"), "a squat")


def crouch(hold: float = 0.7) -> Move:
    """Crouch and stay low for ``hold`` seconds."""
    return Move(lambda p: gestures.crouch(p, hold), say("crouches", "crouches down low"))


def bow() -> Move:
    """Bow."""
    return Move(
        gestures.bow,
        say("bows", "bows deeply", "takes a bow"),
        "a bow",
    )


def sit() -> Move:
    """Sit down."""
    return Move(gestures.sit, say("sits down", "takes a seat"))


def stand() -> Move:
    """Stand up from sitting."""
    return Move(gestures.stand, say("stands up", "stands back up"))


def jump() -> Move:
    """Jump in place."""
    return Move(
        gestures.jump,
        say("jumps", "jumps up", "jumps in place"),
        "a jump",
    )


def jump_forward() -> Move:
    """Jump forward."""
    return Move(
        lambda p: gestures.jump(p, p.vary(0.7)),
        say(
            "jumps forward",
            "jumps forward with both feet",
        ),
        "a jump forward",
    )


def stretch() -> Move:
    """Stretch upward."""
    return Move(
        arms.stretch,
        say(
            "stretches {poss} arms up",
            "stretches both arms overhead",
        ),
    )


def hop(side: str) -> Move:
    """Hop on one foot."""
    return Move(
        lambda p: gestures.hop(p, side),
        say(
            f"hops on the {side} foot",
            f"hops up and down on {{poss}} {side} leg",
        ),
    )


def lunge(side: str) -> Move:
    """Lunge forward."""
    return Move(
        lambda p: gestures.lunge(p, side),
        say(
            f"lunges forward with the {side} leg",
            f"does a forward lunge with {{poss}} {side} leg",
        ),
        f"a {side} lunge",
    )


def clap() -> Move:
    """Clap."""
    return Move(arms.clap, say("claps {poss} hands", "claps several times"))


def throw(side: str) -> Move:
    """Throw overhand."""
    return Move(
        lambda p: arms.throw(p, side),
        say(
            f"throws something with the {side} hand",
            f"makes an overhand throw with {{poss}} {side} arm",
        ),
    )
