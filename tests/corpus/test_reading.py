import json
import os
from pathlib import Path

import numpy as np
import pytest

from corpus.clips import Clip
from corpus.formats import arrays
from corpus.formats.registry import FORMATS, detect, scan_path
from corpus.formats.source import ReadOptions
from corpus.motion import Motion
from corpus.problems import InputError, Problem
from corpus.reading import inspect_path, load_motion, open_motion, read_motions, read_path
from corpus.skeletons import KIMODO30_AS_SMPL22
from tests.corpus.people import moving
from tests.corpus.test_bvh import document
from tests.shared_data import shared


@pytest.fixture
def walk(tmp_path):
    file = tmp_path / "walk.npy"
    np.save(file, moving(frames=40, fps=20).positions)
    return file


def clip_of(path, **options) -> Clip:
    (clip,) = read_path(path, ReadOptions(**options)).clips
    return clip


def test_a_clip_is_read_again_as_it_was(walk):
    clip = clip_of(walk, fps=20, up="y", unit="m")
    assert clip.options == {"fps": 20, "up": "y", "unit": "m"}
    motion = load_motion(clip, walk.parent)
    assert motion.content_hash() == clip.content_hash
    assert np.array_equal(motion.positions, np.load(walk))
    assert motion.source == "arrays:walk"


def test_a_path_may_be_relative_to_the_workspace(walk):
    clip = clip_of(walk, fps=20).model_copy(update={"path": walk.name})
    assert load_motion(clip, walk.parent).frames == 40


def test_a_changed_file_is_refused(walk):
    clip = clip_of(walk, fps=20)
    np.save(walk, moving(frames=40, fps=20, seed=9).positions)
    with pytest.raises(InputError, match="expected the motion imported as arrays:walk") as caught:
        load_motion(clip, walk.parent)
    assert caught.value.problem.file == str(walk)


def test_a_vanished_file_is_refused_and_the_rest_goes_on(walk, tmp_path):
    arrays.save(moving(), tmp_path / "b.npz")
    clips = [clip_of(walk, fps=20), clip_of(tmp_path / "b.npz")]
    walk.unlink()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_motion(clips[0], tmp_path)
    (_, first), (_, second) = read_motions(clips, tmp_path)
    assert isinstance(first, Problem)
    assert isinstance(second, Motion)


def test_a_span_is_cut_out(walk):
    cut = Motion(positions=np.load(walk)[10:30], fps=20)
    clip = clip_of(walk, fps=20).model_copy(
        update={"span": (0.5, 1.5), "content_hash": cut.content_hash()}
    )
    assert np.array_equal(load_motion(clip, walk.parent).positions, cut.positions)
    late = clip.model_copy(update={"span": (1.5, 9.0)})
    with pytest.raises(InputError, match="span: expected 0 <= start < end <= 2.000 s"):
        load_motion(late, walk.parent)


def test_the_fixed_json_of_inspect(walk):
    plain = json.loads(inspect_path(walk, ReadOptions(fps=20)).model_dump_json())
    assert list(plain) == ["format", "clips", "problems"]
    (clip,) = plain["clips"]
    assert list(clip) == [
        "id", "frames", "fps", "duration_s", "joints", "skeleton", "captions", "assumptions",
    ]  # fmt: skip
    assert (clip["id"], clip["frames"], clip["duration_s"]) == ("arrays:walk", 40, 2.0)
    (problem,) = json.loads(inspect_path(walk).model_dump_json())["problems"]
    assert list(problem) == ["file", "reason"]


def test_a_folder_of_all_sorts(tmp_path, walk):
    (tmp_path / "b/c").mkdir(parents=True)
    (tmp_path / "b/c/turn.bvh").write_text(document(), encoding="utf-8")
    (tmp_path / "b/c/bad.bvh").write_text("HIERARCHY", encoding="utf-8")
    (tmp_path / "b/readme.txt").write_text("no motion")
    told = []
    found = inspect_path(
        tmp_path, ReadOptions(fps=20), progress=lambda done, total: told.append((done, total))
    )
    assert found.format == "mixed"
    assert [c.id for c in found.clips] == ["arrays:walk", "bvh:b/c/turn"]
    assert [p.file for p in found.problems] == [str(tmp_path / "b/c/bad.bvh")]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_two_files_of_one_name_are_said(tmp_path, walk):
    (tmp_path / "walk.bvh").write_text(document(), encoding="utf-8")
    found = inspect_path(tmp_path, ReadOptions(fps=20))
    assert [c.id for c in found.clips] == ["bvh:walk"]
    assert "expected one motion named 'walk'" in found.problems[0].reason


def test_an_empty_folder_holds_nothing(tmp_path):
    found = inspect_path(tmp_path)
    assert (found.format, found.clips, found.problems) == ("unknown", (), ())


def test_the_order_is_stable_and_every_format_has_a_reader(tmp_path):
    for name in "cab":
        np.save(tmp_path / f"{name}.npy", moving(frames=4).positions)
    assert [s.name for s in scan_path(tmp_path).sources] == ["a", "b", "c"]
    assert detect(tmp_path / "a.npy") in FORMATS


def test_open_motion_wants_one(tmp_path):
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", moving(frames=4).positions)
    with pytest.raises(InputError, match="expected one motion, got 2"):
        open_motion(tmp_path, ReadOptions(fps=20))


def test_kimodo_prompts_become_captions():
    reading = read_path(shared("data/motions/kimodo"))
    assert reading.problems == ()
    assert [c.id for c in reading.clips] == [
        f"kimodo:{n}"
        for n in ("01_single_text_prompt", "02_multi_text_prompt", "07_mixed_constraints")
    ]
    assert [c.fps for c in reading.clips] == [30, 30, 30]
    spans = [c.span for c in reading.captions if "02_" in c.clip_id]
    assert spans[0] == pytest.approx((0, 3.5333), abs=1e-3)
    assert spans[1] == pytest.approx((3.5333, 7.5667), abs=1e-3)
    point = load_motion(reading.clips[2], shared("data"))
    # The test data's README: 5.6 m backward, the right hand 0.71 m to the right at most. It
    # measured the hand's own joint, ours is the wrist.
    assert point.joint("pelvis")[-1, 2] - point.joint("pelvis")[0, 2] == pytest.approx(
        -5.6, abs=0.1
    )
    reach = (point.joint("right_wrist") - point.joint("pelvis"))[:, 0]
    assert -0.75 < reach.min() < -0.5


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ('{"text": "a man walks"}', "expected duration or durations in seconds, got None"),
        ('{"text": "a man walks", "duration": -1}', "in seconds, got -1"),
        ('{"text": "a man walks", "duration": 1e-6}', "expected 1 to 1000 frames a second, got 30"),
        ("[1]", "expected a JSON object, got list"),
        ("{", "expected JSON, got"),
    ],
)
def test_kimodo_folders_with_bad_meta(tmp_path, meta, said):
    person = np.zeros((30, 30, 3))
    person[:, list(KIMODO30_AS_SMPL22)] = moving(frames=30).positions
    np.savez(tmp_path / "motion.npz", posed_joints=person)
    (tmp_path / "meta.json").write_text(meta)
    found = inspect_path(tmp_path)
    assert found.clips == ()
    assert said in found.problems[-1].reason


@pytest.mark.parametrize("name", [b"wal\xe9.npy", b"a\nb.npy", b"a\x1b[2J.npy"])
def test_file_names_that_cannot_be_an_id_are_refused(tmp_path, walk, name):
    odd = os.fsencode(tmp_path) + b"/" + name
    os.link(walk, odd)
    found = inspect_path(tmp_path, ReadOptions(fps=20))
    assert [c.id for c in found.clips] == ["arrays:walk"]
    (problem,) = found.problems
    assert problem.file.isprintable()
    assert problem.reason == "expected a file name in UTF-8 without control characters"
    with pytest.raises(InputError, match="expected a file name in UTF-8"):
        inspect_path(Path(os.fsdecode(odd)))
