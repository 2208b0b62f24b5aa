"""SnapMoGen's layout, written small: recordings as BVH, clips as spans, captions, splits."""

from __future__ import annotations

import json

import numpy as np
import pytest

from corpus.adapters import as_humanml3d
from corpus.formats.snapmogen import JOINTS, is_folder
from corpus.reading import inspect_path, load_motion, read_path
from corpus.skeletons import REST_OFFSETS, SMPL22, SNAPMOGEN24

FRAMES = 90
LONG = "A person walks forward. They raise the left hand,\n then turn."


def offset(joint: str) -> tuple[float, float, float]:
    """Return a rest offset in centimetres; joints that SMPL lacks lie between its own."""
    if joint in ("pelvis", "lower_pelvis"):
        return (0.0, 0.0, 0.0)
    if joint == "neck2":
        return (0.0, 4.0, 0.0)
    x, y, z = REST_OFFSETS[SMPL22.index(joint)]
    return (100 * x, 100 * y, 100 * z)


def bvh_text(names=JOINTS, frames=FRAMES) -> str:
    """Return a recording: upright, gliding forward 2 cm a frame, ROOT at 95 cm."""
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(SNAPMOGEN24.parents):
        children.setdefault(parent, []).append(joint)

    def block(joint: int) -> list[str]:
        kind = "ROOT" if joint == 0 else "JOINT"
        name = names[joint] if joint == 0 else f"{names[joint]}_bind_JNT"
        x, y, z = offset(SNAPMOGEN24.joints[joint])
        turns = "Zrotation Yrotation Xrotation"
        channels = f"6 Xposition Yposition Zposition {turns}" if joint == 0 else f"3 {turns}"
        inner = [line for child in children.get(joint, []) for line in block(child)]
        inner = inner or ["End Site", "{", "OFFSET 0 1 0", "}"]
        return [f"{kind} {name}", "{", f"OFFSET {x} {y} {z}", f"CHANNELS {channels}", *inner, "}"]

    rows = [
        " ".join(["0", "95", str(2 * k), *["0"] * (3 * len(SNAPMOGEN24.joints))])
        for k in range(frames)
    ]
    head = ["HIERARCHY", *block(0), "MOTION", f"Frames: {frames}", "Frame Time: 0.033333"]
    return "\n".join([*head, *rows]) + "\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "renamed_bvhs").mkdir()
    for name in ("ep1_00000", "m_ep1_00000"):
        (tmp_path / "renamed_bvhs" / f"{name}.bvh").write_text(bvh_text())
    table = {
        "ep1_00000#0#60": {"manual": [LONG, "Walks."], "gpt": ["A figure strolls ahead."]},
        "ep1_00000#30#90": {"manual": ["Turns right."], "gpt": []},
        "m_ep1_00000#0#60": {"manual": ["Raises the right hand."], "gpt": []},
    }
    (tmp_path / "all_caption_clean.json").write_text(json.dumps(table))
    (tmp_path / "data_split_info").mkdir()
    (tmp_path / "data_split_info" / "train_ids.txt").write_text("ep1_00000#0#60\n")
    (tmp_path / "data_split_info" / "test_ids.txt").write_text("ep1_00000#30#90\n")
    return tmp_path


def test_clips_are_spans_of_a_recording_with_captions_and_splits(folder):
    assert is_folder(folder)
    reading = read_path(folder)
    assert (reading.format, reading.problems) == ("snapmogen", ())
    first, second, mirrored = reading.clips
    assert first.id == "snapmogen:ep1_00000#0#60"
    assert (first.frames, first.fps, first.duration, first.joints) == (60, 30.0, 2.0, 24)
    assert (first.split, second.split, mirrored.split) == ("train", "test", None)
    assert second.span == (1.0, 3.0)
    assert [(c.id[-2:], c.text) for c in reading.captions if c.clip_id == first.id] == [
        ("#0", "A person walks forward. They raise the left hand, then turn."),
        ("#1", "Walks."),
        ("#2", "A figure strolls ahead."),
    ]
    assert all(caption.span is None for caption in reading.captions)


def test_motions_are_in_metres_and_read_again_the_same(folder):
    second = read_path(folder).clips[1]
    motion = load_motion(second, folder)
    assert motion.frames == 60
    root = motion.joint("pelvis")
    np.testing.assert_allclose(root[0], [0, 0.95, 0.6], atol=1e-5)
    np.testing.assert_allclose(root[-1], [0, 0.95, 1.78], atol=1e-5)
    left, right = motion.joint("left_wrist"), motion.joint("right_wrist")
    assert (left[:, 0] > right[:, 0]).all()
    plain = as_humanml3d(motion)
    assert (plain.skeleton, plain.fps) == ("smpl22", 20.0)


def test_what_does_not_fit_is_named_and_the_rest_goes_on(folder):
    file = folder / "all_caption_clean.json"
    table = json.loads(file.read_text())
    table |= {
        "gone#0#60": {"manual": ["x"]},
        "ep1_00000#60#30": {"manual": ["x"]},
        "ep1_00000#0#900": {"manual": ["x"]},
        "ep1_00000": {"manual": ["x"]},
        "../x#0#60": {"manual": ["x"]},
        "m_ep1_00000#10#60": {"manual": ["fine", 3, "  "], "gpt": []},
    }
    file.write_text(json.dumps(table))
    found = inspect_path(folder)
    assert len(found.clips) == 4
    said = "\n".join(problem.reason for problem in found.problems)
    for reason in (
        "renamed_bvhs/gone.bvh",
        "a start before the end",
        "0 <= start < end <= 3.000 s",
        "RECORDING#start#end",
        "name of a recording",
        "manual, caption 1: expected text, got int",
        "caption 2: expected a caption, got an empty line",
    ):
        assert reason in said
    assert len(found.problems) == 7


@pytest.mark.parametrize("content", ["{", "[]", '"x"'])
def test_a_table_that_is_none_is_one_problem(folder, content):
    (folder / "all_caption_clean.json").write_text(content)
    found = inspect_path(folder)
    assert (found.clips, len(found.problems)) == ((), 1)


def test_other_joints_are_refused(folder):
    names = ["hips" if name == "C_pelvis0001" else name for name in JOINTS]
    (folder / "renamed_bvhs" / "ep1_00000.bvh").write_text(bvh_text(names))
    found = inspect_path(folder)
    assert [c.id for c in found.clips] == ["snapmogen:m_ep1_00000#0#60"]
    assert "C_pelvis0001 is missing" in found.problems[0].reason
