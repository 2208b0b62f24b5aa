import numpy as np
import pytest

from corpus.formats.humanml3d import read_captions
from corpus.reading import inspect_path, read_path
from tests.corpus.people import moving
from tests.shared_data import shared


@pytest.fixture
def folder(tmp_path):
    """A small dataset of our own: two readable clips, one id without motion."""
    root = tmp_path / "HumanML3D"
    for name in ("new_joints", "new_joint_vecs", "texts"):
        (root / name).mkdir(parents=True)
    for name, seed in (("000001", 1), ("M000001", 2)):
        motion = moving(frames=60, fps=20, seed=seed)
        np.save(root / f"new_joints/{name}.npy", motion.positions)
        (root / f"texts/{name}.txt").write_text(
            "a person waves.#a/DET person/NOUN wave/VERB#0.0#0.0\n"
            "a person turns.#a/DET person/NOUN turn/VERB#1.0#2.5\n",
            encoding="utf-8",
        )
    (root / "train.txt").write_text("000001\nM000001\n")
    (root / "test.txt").write_text("000002\n")
    (root / "texts/000002.txt").write_text("a person sits.#x/Y#0.0#0.0\n")
    return root


def test_the_sample():
    reading = read_path(shared("data/motions/humanml3d_sample"))
    assert reading.format == "humanml3d"
    assert reading.problems == ()
    kick, tennis = reading.clips
    assert (kick.id, kick.frames, kick.split) == ("humanml3d:000000", 116, "test")
    assert (tennis.id, tennis.frames, tennis.split) == ("humanml3d:012314", 170, "train")
    assert (kick.fps, kick.duration, kick.joints) == (20, 5.8, 22)
    assert [c.id for c in reading.captions if c.clip_id == tennis.id] == [
        f"humanml3d:012314#{n}" for n in range(3)
    ]
    assert reading.captions[3].text == "he is flying kick with his left leg"
    assert all(c.span is None for c in reading.captions)


def test_captions_spans_and_splits(folder):
    reading = read_path(folder)
    assert [(c.id, c.split) for c in reading.clips] == [
        ("humanml3d:000001", "train"),
        ("humanml3d:M000001", "train"),
    ]
    assert [c.span for c in reading.captions[:2]] == [None, (1.0, 2.5)]


def test_an_id_without_motion_is_one_problem(folder):
    (problem,) = read_path(folder).problems
    assert problem.line() == (
        f"{folder}/texts/000002.txt: id 000002: expected new_joints/000002.npy or "
        "new_joint_vecs/000002.npy, neither is there"
    )


def test_features_alone_are_enough(folder):
    features = np.zeros((40, 263))
    features[:, 3] = 0.95
    features[:, 4:67] = (moving(seed=3).positions[0, 1:] - [0.2, 0, 0]).reshape(63)
    np.save(folder / "new_joint_vecs/000002.npy", features)
    reading = read_path(folder)
    assert reading.problems == ()
    clip = next(c for c in reading.clips if c.id == "humanml3d:000002")
    assert (clip.frames, clip.split) == (40, "test")
    assert "joints recovered from 263-dimensional features" in clip.assumptions


def test_splits_limits_and_names(folder):
    assert read_path(folder, splits=("test",)).clips == ()
    assert read_path(folder, splits=("test",)).skipped == 2
    reading = read_path(folder, limit=1, corpus="mine")
    assert [c.id for c in reading.clips] == ["mine:000001"]
    assert reading.captions[0].id == "mine:000001#0"
    assert reading.skipped == 1


def test_a_latin_1_text_file_costs_its_captions_only(folder):
    file = folder / "texts/000001.txt"
    file.write_bytes("a person waves.#x/Y#0.0#0.0\nun café#x/Y#0.0#0.0\n".encode("latin-1"))
    reading = read_path(folder)
    assert len(reading.clips) == 2
    assert [c for c in reading.captions if c.clip_id == "humanml3d:000001"] == []
    problem = next(p for p in reading.problems if p.file == str(file))
    assert problem.place == "line 2, byte 34"
    assert problem.reason == "expected UTF-8 text, byte 0xe9 is not (Latin-1?)"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a person waves.", "expected caption#tokens#start#end, got 1 of 4 fields"),
        ("a person waves.#x/Y#0.0", "expected caption#tokens#start#end, got 3 of 4 fields"),
        ("a person waves.#x/Y#soon#later", "expected start and end in seconds, got 'soon'"),
        ("a person waves.#x/Y#3.0#1.0", "expected 0 <= start < end in seconds, got 3 and 1"),
        ("a person waves.#x/Y#-1.0#1.0", "expected 0 <= start < end in seconds, got -1 and 1"),
        ("a person waves.#x/Y#0.0#inf", "expected 0 <= start < end in seconds"),
        ("#x/Y#0.0#0.0", "expected a caption, got an empty line"),
        ("a\x00b#x/Y#0.0#0.0", "expected a caption, got text with a NUL character"),
    ],
)
def test_lines_that_are_refused_alone(folder, line, reason):
    file = folder / "texts/000001.txt"
    with file.open("a", encoding="utf-8") as stream:
        stream.write(f"{line}\na person sits.#x/Y#0.0#0.0\n")
    captions, problems = read_captions(file)
    assert [c.number for c in captions] == [0, 1, 3]
    (problem,) = problems
    assert (problem.file, problem.place) == (str(file), "line 3")
    assert problem.reason.startswith(reason)


def test_captions_stay_text(folder):
    file = folder / "texts/000001.txt"
    file.write_text(
        "<script>alert(1)</script> a man\u202e walks\x07 #1 step#x/Y#nan#nan\r\n"
        "cafe\u0301#x/Y#0.0#0.0\n",
        encoding="utf-8",
    )
    (first, second), problems = read_captions(file)
    assert problems == []
    assert first.text == "<script>alert(1)</script> a man walks #1 step"
    assert first.span is None
    assert second.text == "caf\u00e9"


def test_a_span_after_the_end_is_refused_and_one_over_the_end_is_cut(folder):
    (folder / "texts/000001.txt").write_text(
        "one.#x/Y#2.0#9.0\ntwo.#x/Y#3.0#4.0\n", encoding="utf-8"
    )
    reading = read_path(folder)
    (caption,) = [c for c in reading.captions if c.clip_id == "humanml3d:000001"]
    assert caption.span == (2.0, 3.0)
    assert any(
        "before the end of the motion at 3.00 s, got 3 s" in p.reason for p in reading.problems
    )


def test_an_id_in_two_splits_is_said(folder):
    (folder / "test.txt").write_text("000001\n")
    reading = read_path(folder)
    assert reading.clips[0].split == "train"
    assert any("it is in train too" in p.reason for p in reading.problems)


def test_a_broken_motion_is_one_problem_and_the_rest_goes_on(folder):
    file = folder / "new_joints/000001.npy"
    file.write_bytes(file.read_bytes()[:-8])
    found = inspect_path(folder)
    assert [c.id for c in found.clips] == ["humanml3d:M000001"]
    assert [p.file for p in found.problems if "truncated" in p.reason] == [str(file)]


def test_other_joint_counts_are_refused(folder):
    np.save(folder / "new_joints/000001.npy", moving(skeleton="smpl24").positions)
    assert any(p.reason == "expected 22 joints, got smpl24" for p in read_path(folder).problems)
