"""The demo corpus moves like a person, and its labels and captions are true of it."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from corpus.clips import EventLabel
from corpus.formats.arrays import load
from corpus.formats.source import ReadOptions
from corpus.skeletons import SMPL22
from corpus.synthetic import SyntheticClip, demo_corpus, write_demo_corpus

CORPUS = demo_corpus()
IDS = [made.clip.id for made in CORPUS]
SIDES = ("left", "right")
clips = pytest.mark.parametrize("made", CORPUS, ids=IDS)


def joint(made: SyntheticClip, name: str) -> np.ndarray:
    return made.motion.joint(name).astype(np.float64)


def frames(made: SyntheticClip, event: EventLabel) -> slice:
    fps = made.clip.fps
    return slice(round(event.start * fps), round(event.end * fps) + 1)


def forward(made: SyntheticClip) -> np.ndarray:
    """Unit vector the pelvis faces, (T, 3), from the hips alone."""
    across = joint(made, "left_hip") - joint(made, "right_hip")
    ahead = np.cross(across, [0.0, 1.0, 0.0])
    return ahead / np.linalg.norm(ahead, axis=1, keepdims=True)


def yaw(made: SyntheticClip) -> np.ndarray:
    """Heading over time in radians, unwrapped; grows toward the person's left."""
    ahead = forward(made)
    return np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2]))


def test_size_length_and_records() -> None:
    assert len(CORPUS) >= 60
    assert len(set(IDS)) == len(CORPUS)
    for made in CORPUS:
        assert 2.0 <= made.clip.duration <= 8.0, made.clip.id
        assert made.clip.fps in (20.0, 30.0)
        assert made.clip.content_hash == made.motion.content_hash()
        assert made.clip.frames == made.motion.frames
        assert 1 <= len(made.clip.events) <= 3
        assert 2 <= len(made.captions) <= 3
        assert not made.clip.path.startswith("/")
    assert {made.clip.fps for made in CORPUS} == {20.0, 30.0}


def test_left_and_right_are_balanced() -> None:
    sides: Counter[tuple[str, str]] = Counter()
    ways: Counter[str] = Counter()
    for made in CORPUS:
        for event in made.clip.events:
            if event.side in SIDES:
                sides[event.action, event.side] += 1
            if event.direction in (*SIDES, "clockwise", "counterclockwise"):
                ways[event.direction] += 1
    assert len({action for action, _ in sides}) >= 8
    for action, _ in list(sides):
        assert sides[action, "left"] == sides[action, "right"], action
    assert ways["left"] == ways["right"]
    assert ways["clockwise"] == ways["counterclockwise"]


@clips
def test_bones_keep_their_length(made: SyntheticClip) -> None:
    positions = made.motion.positions.astype(np.float64)
    for child, parent in enumerate(SMPL22.parents):
        if parent >= 0:
            bone = np.linalg.norm(positions[:, child] - positions[:, parent], axis=1)
            assert np.ptp(bone) < 1e-5, SMPL22.joints[child]


@clips
def test_rotations_give_the_positions(made: SyntheticClip) -> None:
    rotations = made.motion.local_rotations
    root = made.motion.root_translation
    assert rotations is not None
    assert root is not None
    identity = np.einsum("tjab,tjcb->tjac", rotations, rotations)
    assert np.abs(identity - np.eye(3)).max() < 1e-5
    positions = made.motion.positions
    world: list[np.ndarray] = []
    for child, parent in enumerate(SMPL22.parents):
        if parent < 0:
            world.append(rotations[:, child])
            assert np.allclose(root, positions[:, child], atol=1e-6)
            continue
        world.append(world[parent] @ rotations[:, child])
        bone = positions[:, child] - positions[:, parent]
        rest = np.einsum("tba,tb->ta", world[parent], bone)
        assert np.ptp(rest, axis=0).max() < 1e-4, SMPL22.joints[child]


@clips
def test_nothing_sinks_and_a_foot_stands_unless_the_person_flies(made: SyntheticClip) -> None:
    lowest = made.motion.positions[:, :, 1].min(axis=1)
    assert lowest.min() > -0.005
    flying = np.zeros(made.motion.frames, dtype=bool)
    for event in made.clip.events:
        if event.action in {"jump", "hop", "run", "jog"}:
            flying[frames(made, event)] = True
    assert lowest[~flying].max() < 0.01


@clips
def test_standing_feet_do_not_slide(made: SyntheticClip) -> None:
    """A foot whose ball is on the floor in two frames on end has not moved along the floor."""
    for side in SIDES:
        ball = joint(made, f"{side}_foot")
        down = ball[:, 1] < 0.004
        pairs = down[1:] & down[:-1]
        moved = np.linalg.norm(np.diff(ball[:, [0, 2]], axis=0), axis=1)
        assert pairs.any()
        assert moved[pairs].max() < 0.005
        heel = joint(made, f"{side}_ankle")
        flat = pairs & (heel[1:, 1] < 0.062) & (heel[:-1, 1] < 0.062)
        crept = np.linalg.norm(np.diff(heel[:, [0, 2]], axis=0), axis=1)
        assert crept[flat].max() < 0.005


@clips
def test_no_joint_jumps(made: SyntheticClip) -> None:
    """Speeds and accelerations stay within what a body does.

    Elite sprinters' feet and boxers' fists pass 15 m/s and 10 m/s (ours: bounds well below).
    """
    positions, fps = made.motion.positions.astype(np.float64), made.clip.fps
    speed = np.linalg.norm(np.diff(positions, axis=0), axis=2) * fps
    assert speed.max() < 9.5
    change = np.linalg.norm(np.diff(positions, n=2, axis=0), axis=2) * fps**2
    assert change.max() < 140.0
    trunk = [SMPL22.index(name) for name in ("pelvis", "spine3", "head")]
    assert change[:, trunk].max() < 40.0


@clips
def test_joints_bend_the_way_joints_bend(made: SyntheticClip) -> None:
    rotations = made.motion.local_rotations
    assert rotations is not None
    for side in SIDES:
        knee = rotations[:, SMPL22.index(f"{side}_knee")]
        # Shin behind the thigh: the rest direction -Y turns toward -Z.
        assert (knee[:, 2, 1] >= -1e-6).all()
        elbow = rotations[:, SMPL22.index(f"{side}_elbow")]
        sign = 1.0 if side == "left" else -1.0
        # Forearm to the front of the T-pose: the rest direction turns toward +Z.
        assert (sign * elbow[:, 2, 0] >= -1e-6).all()
        hip, knee_at = joint(made, f"{side}_hip"), joint(made, f"{side}_knee")
        ankle = joint(made, f"{side}_ankle")
        middle = knee_at - 0.5 * (hip + ankle)
        assert (np.sum(middle * forward(made), axis=1) > -0.03).all()


@clips
def test_events_lie_in_the_clip_in_order(made: SyntheticClip) -> None:
    last = 0.0
    for event in made.clip.events:
        assert last <= event.start < event.end <= made.clip.duration
        last = event.end


def _every(*actions: str) -> list[object]:
    return [
        pytest.param(made, event, id=f"{made.clip.id}-{i}")
        for made in CORPUS
        for i, event in enumerate(made.clip.events)
        if event.action in actions
    ]


def _other(side: str | None) -> str:
    return "right" if side == "left" else "left"


@pytest.mark.parametrize(("made", "event"), _every("kick", "raise knee"))
def test_the_named_leg_rises(made: SyntheticClip, event: EventLabel) -> None:
    span = frames(made, event)
    acting, standing = (joint(made, f"{s}_ankle")[span] for s in (event.side, _other(event.side)))
    assert acting[:, 1].max() > 0.4
    assert standing[:, 1].max() < 0.08
    if event.action == "kick":
        ahead = np.sum((acting - joint(made, "pelvis")[span]) * forward(made)[span], axis=1)
        assert ahead.max() > 0.6


@pytest.mark.parametrize(("made", "event"), _every("raise arm", "wave", "stretch"))
def test_the_named_hand_rises(made: SyntheticClip, event: EventLabel) -> None:
    span = frames(made, event)
    out = any("out to the side" in c.text or "wide" in c.text for c in made.captions)
    for side in SIDES:
        wrist = joint(made, f"{side}_wrist")[span]
        if event.side not in (side, "both"):
            assert wrist[:, 1].max() < joint(made, f"{side}_elbow")[span][:, 1].max()
        elif out:
            far = np.linalg.norm((wrist - joint(made, "spine3")[span])[:, [0, 2]], axis=1)
            assert far.max() > 0.6
        else:
            head = joint(made, "head")[span][:, 1]
            margin = -0.02 if event.action == "wave" else 0.2
            assert (wrist[:, 1] - head).max() > margin


@pytest.mark.parametrize(("made", "event"), _every("punch", "throw"))
def test_the_named_fist_goes_forward(made: SyntheticClip, event: EventLabel) -> None:
    span = frames(made, event)
    reach = {
        side: np.sum(
            (joint(made, f"{side}_wrist") - joint(made, "pelvis"))[span] * forward(made)[span],
            axis=1,
        ).max()
        for side in SIDES
    }
    assert reach[str(event.side)] > 0.45
    # The shoulder drives the fist: it comes ahead of the other one, and the hand goes straight.
    fist = joint(made, f"{event.side}_wrist")[span]
    ahead = forward(made)[span][0]
    moment = int(((fist - fist[0]) @ ahead).argmax())
    shoulders = [
        joint(made, f"{s}_shoulder")[span][moment] for s in (event.side, _other(event.side))
    ]
    assert (shoulders[0] - shoulders[1]) @ ahead > 0.1
    off = np.cross([0.0, 1.0, 0.0], ahead) @ (fist[moment] - joint(made, "pelvis")[span][0])
    assert abs(off) < 0.3
    if event.action == "punch":
        assert reach[str(event.side)] > reach[_other(event.side)] + 0.1


@pytest.mark.parametrize(("made", "event"), _every("turn"))
def test_turns_go_to_the_named_side(made: SyntheticClip, event: EventLabel) -> None:
    span = frames(made, event)
    turned = np.degrees(yaw(made)[span][-1] - yaw(made)[span][0])
    assert (turned > 80) if event.direction == "left" else (turned < -80)


@pytest.mark.parametrize(("made", "event"), _every("walk", "run", "jog", "step", "lunge", "jump"))
def test_travel_goes_the_named_way(made: SyntheticClip, event: EventLabel) -> None:
    span = frames(made, event)
    path = joint(made, "pelvis")[span]
    ahead = forward(made)[span][0]
    left = np.cross([0.0, 1.0, 0.0], ahead)
    turned = np.degrees(yaw(made)[span][-1] - yaw(made)[span][0])
    moved = path[-1] - path[0]
    along, across = float(moved @ ahead), float(moved @ left)
    if event.action == "lunge":
        assert ((path - path[0]) @ ahead).max() > 0.3
        stepped = joint(made, f"{event.side}_ankle")[span]
        assert ((stepped - stepped[0]) @ ahead).max() > 0.6
        return
    match event.direction:
        case "forward":
            assert along > 0.5
            assert abs(across) < 0.1
        case "backward":
            assert along < -0.8
        case "up":
            assert np.linalg.norm(moved[[0, 2]]) < 0.1
        case "counterclockwise":
            assert turned > 250
        case "clockwise":
            assert turned < -250
        case "left" | "right":
            sign = 1.0 if event.direction == "left" else -1.0
            assert sign * across > 0.25
            if event.action == "step":
                assert abs(along) < 0.1
            else:
                assert sign * turned > 60
        case _:
            pytest.fail(f"no direction in {event}")


@pytest.mark.parametrize(("made", "event"), _every("jump", "hop", "run", "jog"))
def test_both_feet_leave_the_floor(made: SyntheticClip, event: EventLabel) -> None:
    span = frames(made, event)
    feet = np.stack([joint(made, f"{side}_foot")[span][:, 1] for side in SIDES])
    assert feet.min(axis=0).max() > (0.15 if event.action == "jump" else 0.02)
    if event.action == "hop":
        free = joint(made, f"{_other(event.side)}_foot")[span][:, 1]
        middle = slice(len(free) // 3, 2 * len(free) // 3)
        assert free[middle].min() > 0.12
        assert joint(made, f"{event.side}_foot")[span][middle, 1].min() < 0.01


@pytest.mark.parametrize(("made", "event"), _every("squat", "crouch", "sit", "bow", "lunge"))
def test_going_down_goes_down(made: SyntheticClip, event: EventLabel) -> None:
    span = frames(made, event)
    part = "head" if event.action == "bow" else "pelvis"
    height = joint(made, part)[span][:, 1]
    assert height[0] - height.min() > (0.25 if event.action == "bow" else 0.35)


@pytest.mark.parametrize(("made", "event"), _every("march", "clap", "stand"))
def test_the_rest(made: SyntheticClip, event: EventLabel) -> None:
    span = frames(made, event)
    if event.action == "march":
        for side in SIDES:
            assert joint(made, f"{side}_knee")[span][:, 1].max() > 0.65
    elif event.action == "clap":
        gap = np.linalg.norm(joint(made, "left_wrist") - joint(made, "right_wrist"), axis=1)[span]
        assert gap.min() < 0.15
    else:
        height = joint(made, "pelvis")[span][:, 1]
        assert height[-1] - height[0] > 0.35


def test_every_action_is_checked_by_a_test() -> None:
    checked = {
        "kick", "raise knee", "raise arm", "wave", "stretch", "punch", "throw", "turn", "walk",
        "run", "jog", "step", "lunge", "jump", "hop", "squat", "crouch", "sit", "bow", "march",
        "clap", "stand",
    }  # fmt: skip
    assert {event.action for made in CORPUS for event in made.clip.events} == checked


@clips
def test_captions_are_true_and_well_formed(made: SyntheticClip) -> None:
    lateral = {
        word
        for event in made.clip.events
        for word in (event.side, event.direction)
        if word in (*SIDES, "clockwise", "counterclockwise")
    }
    for caption in made.captions:
        text = caption.text
        words = re.findall(r"[a-z]+", text)
        assert text == text.lower()
        assert text.endswith(".")
        assert "{" not in text
        assert "  " not in text
        named = {w for w in words if w in (*SIDES, "clockwise", "counterclockwise")}
        assert named == lateral
    assert len({c.text for c in made.captions}) == len(made.captions)


def test_captions_tell_the_order() -> None:
    """The verbs of a caption, put in the order its connective tells, are those of the events."""
    seen = 0
    stems = {
        "walk": "walk|backs|backing|steps forward|steps backwards|stepping backwards|steps ahead"
        "|taking several steps|takes several steps",
        "kick": "kick", "punch": "punch", "squat": "squat", "jump": "jump", "bow": "bow",
    }  # fmt: skip
    for made in CORPUS:
        actions = [event.action for event in made.clip.events]
        if len(actions) != 2 or len(set(actions)) != 2 or not set(actions) <= set(stems):
            continue
        for caption in made.captions:
            text = caption.text.replace("front kick", "kick")
            places = []
            for action in actions:
                found = re.search(stems[action], text)
                assert found, (action, text)
                places.append(found.start())
            inverted = re.search(r"\w+ after ", text) is not None
            assert (places[0] < places[1]) != inverted, text
            seen += 1
    assert seen >= 15


def test_wording_varies() -> None:
    texts = [caption.text for made in CORPUS for caption in made.captions]
    assert len(set(texts)) > 0.95 * len(texts)
    for connective in (" then ", " before ", "after ", "followed by", "finally", "starts by"):
        assert sum(connective in text for text in texts) >= 4, connective
    assert sum("left" in text for text in texts) >= 50
    assert sum("right" in text for text in texts) >= 50


def test_files_are_the_same_bytes_and_read_back(tmp_path) -> None:
    first = write_demo_corpus(tmp_path / "a")
    write_demo_corpus(tmp_path / "b")
    for made in first:
        one, two = (tmp_path / name / made.clip.path for name in "ab")
        assert one.read_bytes() == two.read_bytes()
    for made in first[:5]:
        motion = load(tmp_path / "a" / made.clip.path, ReadOptions())
        assert motion.content_hash() == made.clip.content_hash
        assert motion.fps == made.clip.fps


def test_seeds_vary_the_motion_and_not_the_labels() -> None:
    for made, again in zip(CORPUS[:12], demo_corpus(seed=1)[:12], strict=True):
        assert made.clip.id == again.clip.id
        assert made.clip.content_hash != again.clip.content_hash
        assert [(e.action, e.side) for e in made.clip.events] == [
            (e.action, e.side) for e in again.clip.events
        ]
