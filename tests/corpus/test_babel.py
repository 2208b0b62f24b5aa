"""BABEL and HumanML3D's index: official layout, times of the AMASS sequence, what is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.formats.babel import amass_key, read_babel
from corpus.formats.humanml3d_index import dropped_seconds, read_index, texts_folder
from corpus.problems import InputError


def label(text="walk", start=None, end=None, cats=("walk",)):
    """Return a label as BABEL writes it."""
    made = {"raw_label": text.title(), "proc_label": text, "seg_id": "s", "act_cat": list(cats)}
    return made if start is None else {**made, "start_t": start, "end_t": end}


def entry(name="KIT/KIT/3/kick_01_poses.npz", dur=10.0, frame=None, seq=(label(),), **more):
    """Return one sequence as BABEL writes it."""
    made = {
        "babel_sid": 1,
        "url": "https://example.org/1.mp4",
        "feat_p": name,
        "dur": dur,
        "seq_ann": {"babel_lid": "a", "anntr_id": "b", "mul_act": True, "labels": list(seq)},
        "frame_ann": None if frame is None else {"babel_lid": "c", "labels": list(frame)},
    }
    return {**made, **more}


def write(folder, name="train", **entries):
    """Write a split."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder


def test_frame_labels_win_over_those_of_the_sequence(tmp_path):
    frame = [label("wave", 4, 6.5, ("wave",)), label("walk", 0, 4.0), label("walk", 0, 4.0)]
    (sequence,), problems = read_babel(write(tmp_path, **{"4005": entry(frame=frame)}))
    assert problems == []
    assert (sequence.sid, sequence.split, sequence.amass) == ("4005", "train", "kit/3/kick_01")
    found = [(s.label, s.raw, s.categories, s.start, s.end, s.timed) for s in sequence.segments]
    assert found == [
        ("walk", "Walk", ("walk",), 0.0, 4.0, True),
        ("wave", "Wave", ("wave",), 4.0, 6.5, True),
    ]


def test_labels_of_the_whole_sequence_are_timed_only_when_alone(tmp_path):
    alone = entry(seq=[label("walk")])
    several = entry("CMU/CMU/83/83_30_poses.npz", seq=[label("walk"), label("wave")])
    sequences, _ = read_babel(write(tmp_path, a=alone, b=several))
    assert [[(s.start, s.end, s.timed) for s in q.segments] for q in sequences] == [
        [(0.0, 10.0, True)],
        [(0.0, 10.0, False), (0.0, 10.0, False)],
    ]


def test_the_first_of_several_annotators_who_labelled_is_taken(tmp_path):
    made = entry()
    del made["seq_ann"], made["frame_ann"]
    made["frame_anns"] = [{"labels": None}, {"labels": [label("hop", 1, 2, ())]}, None]
    made["seq_anns"] = [{"labels": [label()]}]
    (sequence,), _ = read_babel(write(tmp_path, "extra_train", x=made))
    assert [s.label for s in sequence.segments] == ["hop"]


def test_overlapping_segments_are_kept(tmp_path):
    frame = [label("walk", 0, 5), label("wave", 1, 3)]
    (sequence,), problems = read_babel(write(tmp_path, x=entry(frame=frame)))
    assert len(sequence.segments) == 2
    assert problems == []


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (label("walk", 4, 2), "expected start_t before end_t, got 4 and 2 s"),
        (label("walk", 2, 2), "expected start_t before end_t, got 2 and 2 s"),
        (label("walk", 2, 11), "expected end_t within the 10 s of the motion, got 11 s"),
        (label("walk", -1, 2), "start_t: expected seconds from 0 up, got -1"),
        (label("walk", float("nan"), 2), "start_t: expected seconds from 0 up, got nan"),
        (label("walk", True, 2), "start_t: expected seconds from 0 up, got True"),
        (label("walk", 10**400, 2), "start_t: expected seconds from 0 up, got 1000"),
        ({**label("walk", 1, 2), "proc_label": 3}, "proc_label: expected text, got 3"),
        ({**label("walk", 1, 2), "act_cat": "walk"}, "act_cat: expected a list of names"),
        ("walk", "expected a label object, got str"),
        (label("walk " * 200, 1, 2), "proc_label: expected at most 500 signs, got 1000"),
    ],
)
def test_a_bad_segment_is_refused_by_name_and_the_rest_goes_on(tmp_path, row, reason):
    folder = write(tmp_path, **{"17": entry(frame=[label("sit", 0, 1), row])})
    (sequence,), (problem,) = read_babel(folder)
    assert [s.label for s in sequence.segments] == ["sit"]
    assert problem.line().startswith(f"{folder / 'train.json'}: sid 17, frame_ann label 1: ")
    assert reason in problem.reason


def test_halves_of_surrogate_pairs_do_not_reach_a_report(tmp_path):
    name = "KIT/KIT/3/\ud800_poses.npz"
    row = label("\ud800 walk", 0, 1, cats=("walk\ud83d",))
    folder = write(tmp_path, **{"\udfff1": entry(name, frame=[row, label("sit", 3, 2)])})
    (sequence,), (problem,) = read_babel(folder)
    assert (sequence.sid, sequence.amass) == ("?1", "kit/3/?")
    assert (sequence.segments[0].label, sequence.segments[0].categories) == ("walk", ("walk?",))
    assert problem.line().encode()
    assert sequence.model_dump_json()


def test_a_segment_a_little_past_the_end_is_cut(tmp_path):
    (sequence,), problems = read_babel(write(tmp_path, x=entry(frame=[label("walk", 1, 10.2)])))
    assert (sequence.segments[0].end, problems) == (10.0, [])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ([], "expected an object, got list"),
        (entry(name="walk.npz"), "feat_p: expected archive/dataset/…/file, got 'walk.npz'"),
        (entry(name=7), "feat_p: expected the path of an AMASS file, got 7"),
        (entry(dur=0), "dur: expected seconds above 0, got 0"),
        (entry(dur=None), "dur: expected seconds from 0 up, got None"),
        (entry(frame_ann={"labels": 3}), "frame_ann: expected an object with a list of labels"),
    ],
)
def test_a_bad_sequence_is_refused_by_name(tmp_path, bad, reason):
    good = entry("CMU/CMU/83/83_30_poses.npz")
    sequences, (problem,) = read_babel(write(tmp_path, bad=bad, good=good))
    assert [s.sid for s in sequences] == ["good"]
    assert problem.place == "sid bad"
    assert reason in problem.reason


def test_a_number_too_long_for_a_number_is_said(tmp_path):
    (tmp_path / "train.json").write_text('{"1": {"dur": ' + "9" * 5000 + "}}")
    with pytest.raises(InputError, match="expected BABEL, got a number too long"):
        read_babel(tmp_path)
    (tmp_path / "val.json").write_text(json.dumps({"1": entry()}))
    (tmp_path / "test.json").write_bytes("{}".encode("utf-16"))
    (sequence,), problems = read_babel(tmp_path)
    assert sequence.split == "val"
    assert ["number too long" in p.reason for p in problems] == [True, False]
    assert "expected UTF-8" in problems[1].reason


def test_an_id_or_a_motion_given_twice_is_refused(tmp_path):
    one, other = json.dumps(entry()), json.dumps(entry("CMU/CMU/1/1_poses.npz"))
    (tmp_path / "train.json").write_text(f'{{"7": {one}, "7": {other}, "8": {one}}}')
    write(tmp_path, "val", **{"7": entry("SFU/SFU/2/3_poses.npz")})
    sequences, problems = read_babel(tmp_path)
    assert [(s.sid, s.amass) for s in sequences] == [("7", "kit/3/kick_01")]
    assert [(p.place, p.reason) for p in problems] == [
        ("sid 7", "sid 7 was given before, in train.json, sid 7"),
        ("sid 8", "kit/3/kick_01 was given before, in train.json, sid 7"),
        ("sid 7", "sid 7 was given before, in train.json, sid 7"),
    ]


def test_files_that_are_no_babel_say_so(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        read_babel(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"expected one of train\.json, val\.json"):
        read_babel(tmp_path)
    (tmp_path / "train.json").write_text("[1]")
    with pytest.raises(InputError, match="expected a JSON object by sequence id, got list"):
        read_babel(tmp_path / "train.json")
    write(tmp_path, "val", x=entry())
    sequences, (problem,) = read_babel(tmp_path)
    assert (len(sequences), problem.file) == (1, str(tmp_path / "train.json"))
    (tmp_path / "train.json").write_text("[" * 100_000)
    assert "nested too deep" in read_babel(tmp_path)[1][0].reason


@given(st.sampled_from(["KIT", "MPI HDM05"]), st.text("abc _01", min_size=1, max_size=8))
def test_both_sources_name_a_sequence_alike(dataset, name):
    name = name.strip() or "x"
    babel = amass_key(f"Archive/{dataset}/subject 1/{name}_poses.npz")
    assert babel == amass_key(f"./pose_data/{dataset}/subject 1/{name}_poses.npy")
    assert babel == amass_key(f"pose_data/{dataset}/subject_1/{name.replace(' ', '_')}_poses.npy")


@pytest.mark.parametrize(
    ("dataset", "seconds"),
    [
        # raw_pose_processing of the HumanML3D release (Guo et al. 2022).
        ("Eyes_Japan_Dataset", 3.0),
        ("MPI_HDM05", 3.0),
        ("TotalCapture", 1.0),
        ("MPI_Limits", 1.0),
        ("Transitions_mocap", 0.5),
        ("KIT", 0.0),
        ("BioMotionLab_NTroje", 0.0),
    ],
)
def test_dropped_seconds_are_those_of_the_release(tmp_path, dataset, seconds):
    assert dropped_seconds(amass_key(f"./pose_data/{dataset}/a/b_poses.npy")) == seconds
    lines = [
        "source_path,start_frame,end_frame,new_name",
        f"./pose_data/{dataset}/a/b_poses.npy,20,140,000007.npy",
    ]
    (tmp_path / "index.csv").write_text("\n".join(lines))
    index, problems = read_index(tmp_path)
    row = index.rows[0]
    assert (row.name, row.start, row.end) == ("000007", seconds + 1, seconds + 7)
    assert problems == []


def test_bad_rows_of_the_index_are_refused_by_line(tmp_path):
    lines = [
        "source_path,start_frame,end_frame,new_name",
        "./pose_data/KIT/3/a_poses.npy,0,100,000001.npy",
        "./pose_data/KIT/3/b_poses.npy,0,100,000001.npy",
        "./pose_data/KIT/3/c_poses.npy,100,100,000002.npy",
        "./pose_data/KIT/3/d_poses.npy,x,100,000003.npy",
        "./pose_data/humanact12/humanact12/P01_poses.npy,0,-1,000004.npy",
        "a.npy,0,100,000005.npy",
        "./pose_data/KIT/3/e_poses.npy,0,100,",
    ]
    (tmp_path / "index.csv").write_text("\n".join(lines))
    (tmp_path / "HumanML3D" / "texts").mkdir(parents=True)
    index, problems = read_index(tmp_path / "HumanML3D")
    assert [row.name for row in index.rows] == ["000001"]
    assert index.elsewhere == 1
    assert [(p.place, p.reason) for p in problems] == [
        ("line 3", "id 000001 stands in line 2 too"),
        ("line 4", "expected 0 <= start_frame < end_frame, got 100 and 100"),
        ("line 5", "expected frame numbers, got 'x' and '100'"),
        ("line 7", "source_path: expected archive/dataset/…/file, got 'a.npy'"),
        ("line 8", "new_name: expected an id, got nothing"),
    ]
    assert texts_folder(tmp_path) == tmp_path / "HumanML3D" / "texts"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_index_is_read_whatever_its_line_ends_and_blanks(tmp_path, end):
    lines = ["source_path, start_frame, end_frame, new_name", "./p/KIT/3/a.npy, 0, 100, 1.npy", ""]
    (tmp_path / "index.csv").write_text(end.join(lines), newline="")
    index, problems = read_index(tmp_path)
    assert [(row.name, row.amass, row.end) for row in index.rows] == [("1", "kit/3/a", 5.0)]
    assert problems == []


def test_an_index_that_is_none_says_so(tmp_path):
    with pytest.raises(InputError, match="expected index.csv of HumanML3D, found none"):
        read_index(tmp_path)
    (tmp_path / "index.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="expected columns source_path, start_frame"):
        read_index(tmp_path)
    head = "source_path,start_frame,end_frame,new_name"
    (tmp_path / "index.csv").write_text(f"{head}\n{'x' * 200_000},0,1,a\n")
    with pytest.raises(InputError, match="line 1: expected CSV, got: field larger"):
        read_index(tmp_path)
    with pytest.raises(InputError, match="expected a folder texts"):
        texts_folder(tmp_path)
