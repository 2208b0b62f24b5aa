import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corpus.formats import bvh
from corpus.formats.bvh_names import take_apart
from corpus.formats.source import ReadOptions
from corpus.problems import InputError
from corpus.reading import inspect_path, open_motion
from corpus.skeletons import REST_OFFSETS, SMPL22
from tests.shared_data import shared

SMPL_NAMES = SMPL22.joints


def names_like(limbs: str, center: dict[str, str]) -> dict[str, str]:
    """Names of one scheme for SMPL's joints; ``limbs`` lists hip, knee … wrist."""
    parts = ("hip", "knee", "ankle", "foot", "collar", "shoulder", "elbow", "wrist")
    table = dict(center)
    for part, name in zip(parts, limbs.split(), strict=True):
        for side in ("left", "right"):
            table[f"{side}_{part}"] = name.replace("~", " ").format(
                Side=side.title(), S=side[0].upper(), s=side[0]
            )
    return table


def spine(*names: str) -> dict[str, str]:
    """Pelvis, three spine joints, neck, head."""
    return dict(zip(("pelvis", "spine1", "spine2", "spine3", "neck", "head"), names, strict=True))


SCHEMES = {
    "mixamo": names_like(
        "mixamorig:{Side}UpLeg mixamorig:{Side}Leg mixamorig:{Side}Foot mixamorig:{Side}ToeBase "
        "mixamorig:{Side}Shoulder mixamorig:{Side}Arm mixamorig:{Side}ForeArm mixamorig:{Side}Hand",
        spine(*(f"mixamorig:{n}" for n in ("Hips", "Spine", "Spine1", "Spine2", "Neck", "Head"))),
    ),
    "lafan": names_like(
        "{Side}UpLeg {Side}Leg {Side}Foot {Side}Toe {Side}Shoulder {Side}Arm "
        "{Side}ForeArm {Side}Hand",
        spine("Hips", "Spine", "Spine1", "Spine2", "Neck", "Head"),
    ),
    "xsens": names_like(
        "{Side}Hip {Side}Knee {Side}Ankle {Side}Toe {Side}Collar {Side}Shoulder "
        "{Side}Elbow {Side}Wrist",
        spine("Hips", "Chest", "Chest2", "Chest3", "Neck", "Head"),
    ),
    "bandai": names_like(
        "UpperLeg_{S} LowerLeg_{S} Foot_{S} Toes_{S} Shoulder_{S} UpperArm_{S} "
        "LowerArm_{S} Hand_{S}",
        spine("Hips", "Spine", "Chest", "Chest2", "Neck", "Head"),
    ),
    "smpl": names_like(
        "{S}_Hip {S}_Knee {S}_Ankle {S}_Foot {S}_Collar {S}_Shoulder {S}_Elbow {S}_Wrist",
        spine("Pelvis", "Spine1", "Spine2", "Spine3", "Neck", "Head"),
    ),
    "unreal": names_like(
        "thigh_{s} calf_{s} foot_{s} ball_{s} clavicle_{s} upperarm_{s} lowerarm_{s} hand_{s}",
        spine("pelvis", "spine_01", "spine_02", "spine_03", "neck_01", "head"),
    ),
    "biped": names_like(
        "Bip01~{S}~Thigh Bip01~{S}~Calf Bip01~{S}~Foot Bip01~{S}~Toe0 Bip01~{S}~Clavicle "
        "Bip01~{S}~UpperArm Bip01~{S}~Forearm Bip01~{S}~Hand",
        spine(*(f"Bip01 {n}" for n in ("Pelvis", "Spine", "Spine1", "Spine2", "Neck", "Head"))),
    ),
    "rigify": names_like(
        "thigh.{S} shin.{S} foot.{S} toe.{S} shoulder.{S} upper_arm.{S} forearm.{S} hand.{S}",
        spine("hips", "spine", "spine.001", "spine.002", "neck", "head"),
    ),
}  # fmt: skip


def document(
    names=SCHEMES["lafan"],
    scale=100.0,
    frames=4,
    rotations=None,
    root=None,
    skip=(),
    rate="0.0333333",
) -> str:
    """BVH text of the rest skeleton with ZXY channels; ``rotations`` by joint in degrees ZXY."""
    children = {j: [k for k, p in enumerate(SMPL22.parents) if p == j] for j in range(22)}
    order: list[int] = []

    def joint(index: int, depth: int) -> list[str]:
        order.append(index)
        pad = "\t" * depth
        channels = "3 Zrotation Xrotation Yrotation"
        if depth == 0:
            channels = "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
        offset = " ".join(f"{v * scale:.6f}" for v in REST_OFFSETS[index])
        below = [k for k in children[index] if SMPL_NAMES[k] not in skip]
        lines = [
            f"{pad}{'JOINT' if depth else 'ROOT'} {names[SMPL_NAMES[index]]}",
            f"{pad}{{",
            f"{pad}\tOFFSET {offset}",
            f"{pad}\tCHANNELS {channels}",
        ]
        for child in below:
            lines += joint(child, depth + 1)
        if not below:
            lines += [f"{pad}\tEnd Site", f"{pad}\t{{", f"{pad}\t\tOFFSET 0 1 0", f"{pad}\t}}"]
        return [*lines, f"{pad}}}"]

    lines = ["HIERARCHY", *joint(0, 0), "MOTION", f"Frames: {frames}", f"Frame Time: {rate}"]
    rotations = rotations or {}
    for frame in range(frames):
        place = (0, 0.95 * scale, frame * 0.1 * scale) if root is None else root
        values = [*place]
        for index in order:
            values += rotations.get(SMPL_NAMES[index], (0, 0, 0))
        lines.append(" ".join(f"{v:.6f}" for v in values))
    return "\n".join(lines) + "\n"


def write(tmp_path, text):
    path = tmp_path / "walk.bvh"
    path.write_text(text, encoding="utf-8")
    return path


def rest_pose() -> np.ndarray:
    pose = np.zeros((22, 3))
    for joint, parent in enumerate(SMPL22.parents):
        pose[joint] = (pose[parent] if parent >= 0 else 0) + np.array(REST_OFFSETS[joint])
    return pose + [0, 0.95, 0]


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_common_naming_schemes(tmp_path, scheme):
    motion = open_motion(write(tmp_path, document(SCHEMES[scheme])))
    assert np.allclose(motion.positions[0], rest_pose(), atol=1e-5)
    assert np.allclose(motion.positions[3] - motion.positions[0], [0, 0, 0.3], atol=1e-5)
    assert motion.fps == 30


@pytest.mark.parametrize(
    ("name", "side", "core"),
    [
        ("LeftUpLeg", "left", "upleg"), ("LHipJoint", "left", "hipjoint"),
        ("RThumb", "right", "thumb"), ("lShldr", "left", "shldr"), ("Leg", "", "leg"),
        ("LowerBack", "", "lowerback"), ("Root", "", "root"), ("joint_Root", "", "root"),
        ("left_hip", "left", "hip"), ("thigh.R", "right", "thigh"), ("HandLeft", "left", "hand"),
        ("Bip01 R Calf", "right", "calf"), ("rig:RightFoot", "right", "foot"),
    ],
)  # fmt: skip
def test_names_taken_apart(name, side, core):
    assert take_apart(name) == (side, core)


def test_rotations_multiply_in_channel_order(tmp_path):
    turns = (25.0, -40.0, 70.0)
    motion = open_motion(
        write(tmp_path, document(rotations={"left_elbow": turns, "pelvis": turns}))
    )
    turn = Rotation.from_euler("ZXY", turns, degrees=True)
    rest = np.array(REST_OFFSETS)
    upper = motion.joint("left_elbow") - motion.joint("left_shoulder")
    assert np.allclose(upper, turn.apply(rest[18]), atol=1e-5)
    lower = motion.joint("left_wrist") - motion.joint("left_elbow")
    assert np.allclose(lower, (turn * turn).apply(rest[20]), atol=1e-5)


@pytest.mark.parametrize(
    ("scale", "said"),
    [(1.0, "unit m"), (100.0, "unit cm"), (1000.0, "unit mm"), (0.45 / 0.0254, "unit cmu")],
)
def test_units_are_recognised_and_said(tmp_path, scale, said):
    motion = open_motion(write(tmp_path, document(scale=scale)))
    assert np.allclose(motion.positions[0], rest_pose(), atol=1e-4)
    assert any(a.startswith(f"{said}: recognised") for a in motion.assumptions)


def test_a_unit_that_is_none_has_to_be_given(tmp_path):
    path = write(tmp_path, document(scale=1e6))
    (problem,) = inspect_path(path).problems
    assert "say which with --unit" in problem.reason
    assert open_motion(path, ReadOptions(unit="m")).frames == 4


def test_position_channels_replace_the_offset():
    text = """HIERARCHY
    ROOT a { OFFSET 5 5 5 CHANNELS 3 Xposition Yposition Zposition
    """
    with pytest.raises(InputError, match="OFFSET and three numbers"):
        bvh.parse(text + "} MOTION", "x.bvh")
    text = (
        text.replace(" CHANNELS", "\nCHANNELS")
        + """JOINT b {
    OFFSET 7 7 7
    CHANNELS 2 Yposition Zrotation
    JOINT c
    {
    OFFSET 1 0 0
    CHANNELS 0
    End Site {
    OFFSET 9 9 9
    } } } }
    MOTION
    Frames: 2
    Frame Time: .0083333
    1 2 3 4 90
    0 0 0 0 0
    """
    )
    recording = bvh.parse(text, "x.bvh")
    assert [j.name for j in recording.joints] == ["a", "b", "c"]
    positions = bvh.pose(recording)
    assert np.allclose(positions[0], [[1, 2, 3], [8, 6, 10], [8, 7, 10]])
    assert np.allclose(positions[1], [[0, 0, 0], [7, 0, 7], [8, 0, 7]])


def test_missing_spine_collar_and_toe_are_placed_and_said(tmp_path):
    text = document(skip=("left_foot", "right_foot"))
    motion = open_motion(write(tmp_path, text))
    assert "left_foot placed by proportion, the file has no joint for it" in motion.assumptions
    toe = motion.joint("left_foot") - motion.joint("left_ankle")
    assert toe[0, 2] > 0.08
    assert toe[0, 1] < 0


def sample_heading(motion):
    across = motion.joint("left_hip") - motion.joint("right_hip")
    return np.degrees(np.unwrap(np.arctan2(-across[:, 2], across[:, 0])))


@pytest.mark.parametrize(
    ("name", "frames", "turn"),
    [
        ("dataset-1_walk_normal_001", 195, 2),
        ("dataset-1_kick_normal_001", 358, 1084),
        ("dataset-2_walk-turn-left_normal_001", 102, 104),
        ("dataset-2_walk-turn-right_normal_001", 100, -95),
    ],
)
def test_bandai_namco_turns(name, frames, turn):
    # Turns as measured independently in the README of the test data, positive to the left.
    motion = open_motion(shared(f"data/motions/bandai_namco/{name}.bvh"))
    assert (motion.frames, motion.fps) == (frames, 30)
    heading = sample_heading(motion)
    assert heading[-1] - heading[0] == pytest.approx(turn, abs=1)
    assert any(a.startswith("unit cm") for a in motion.assumptions)


def test_bandai_namco_sides():
    wave = open_motion(shared("data/motions/bandai_namco/dataset-2_wave-left-hand_normal_001.bvh"))
    assert wave.joint("left_wrist")[:, 1].max() == pytest.approx(1.75, abs=0.01)
    assert wave.joint("right_wrist")[:, 1].max() < 0.87
    kick = open_motion(shared("data/motions/bandai_namco/dataset-1_kick_normal_001.bvh"))
    assert kick.joint("right_ankle")[:, 1].max() == pytest.approx(1.04, abs=0.01)
    assert kick.joint("left_ankle")[:, 1].max() == pytest.approx(0.16, abs=0.01)
    walk = open_motion(shared("data/motions/bandai_namco/dataset-1_walk_normal_001.bvh"))
    travelled = np.linalg.norm((walk.joint("pelvis")[-1] - walk.joint("pelvis")[0])[[0, 2]])
    assert travelled == pytest.approx(8.08, abs=0.01)


def test_cmu_units():
    motion = open_motion(shared("data/motions/cmu_bvh/01_01.bvh"))
    assert (motion.frames, motion.fps) == (2752, 120)
    assert any(a.startswith("unit cmu") for a in motion.assumptions)
    # 25.5 units of 0.0254 / 0.45 m.
    assert motion.joint("head")[0, 1] == pytest.approx(25.5 * 0.0254 / 0.45, abs=0.02)


# Bad input.


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("Frames: 4", "Frames: 9"), "MOTION: Frames says 9, 4 lines of values came"),
        (("Frames: 4", "Frames: 3"), "MOTION: Frames says 3, 4 lines of values came"),
        (("Frames: 4", "Frames: many"), "expected 'Frames: NUMBER', got 'Frames: many'"),
        (("Frames: 4", "Frames: 1.5"), "expected a whole number of Frames, got 1.5"),
        (("Frame Time: 0.0333333", "Frame Time: 0"), "expected a Frame Time of 0.001 to 10 s"),
        (("HIERARCHY", "HIERACHY"), "line 1: expected HIERARCHY, got 'HIERACHY'"),
        (("MOTION", "MOTIONLESS"), "expected 'Frames: NUMBER'"),
        (("LeftLeg", "Bone17"), "joint left_knee: expected a joint for left_knee (named like knee"),
        (("JOINT Head", "JOINT Skull"), "joint head: expected a joint for head"),
        (("3 Zrotation", "3 Wrotation"), "expected CHANNELS, their number, and as many of"),
        (("3 Zrotation", "4 Zrotation"), "expected CHANNELS, their number, and as many of"),
        (("0.000000 95.000000 0.000000", "0.000000 NaN 0.000000"), "frame 0: expected finite"),
        (("0.000000 95.000000 0.000000", "0.000000 oops 0.000000"), "expected numbers, got 'oops'"),
        (("0.000000 95.000000 0.000000", "0.000000 95.000000"), "expected 69 values (one per chan"),
    ],
)  # fmt: skip
def test_each_fault_is_one_problem(tmp_path, change, said):
    text = document()
    assert change[0] in text
    path = write(
        tmp_path, text.replace(*change, 1) if change[0] != "3 Zrotation" else text.replace(*change)
    )
    found = inspect_path(path)
    assert found.clips == ()
    (problem,) = found.problems
    assert problem.file == str(path)
    assert said in problem.reason


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9])
def test_a_file_cut_anywhere_is_one_problem(tmp_path, keep):
    text = document()
    found = inspect_path(write(tmp_path, text[: int(len(text) * keep)]))
    assert found.clips == ()
    assert len(found.problems) == 1


@pytest.mark.parametrize("frames", [0, 1])
def test_clips_without_length(tmp_path, frames):
    (problem,) = inspect_path(write(tmp_path, document(frames=frames))).problems
    assert problem.reason == f"expected at least 2 frames, got {frames}"


def test_a_hierarchy_without_end_does_not_end_the_program(tmp_path):
    text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n" + "JOINT b\n{\nOFFSET 0 0 0\n" * 5000 + "MOTION"
    (problem,) = inspect_path(write(tmp_path, text)).problems
    assert "at most 256 joints below each other" in problem.reason


def test_latin_1_names_the_byte(tmp_path):
    path = tmp_path / "a.bvh"
    path.write_bytes(document().replace("Head", "Tête").encode("latin-1"))
    (problem,) = inspect_path(path).problems
    assert "byte 0xea is not (Latin-1?)" in problem.reason
