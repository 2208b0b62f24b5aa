import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corpus.formats.source import ReadOptions
from corpus.frames import doubts
from corpus.motion import SourceBody
from corpus.reading import inspect_path, open_motion
from corpus.skeletons import REST_OFFSETS

FRAMES = 24


def upright(width: int = 156) -> np.ndarray:
    """Poses of a person standing in AMASS's Z-up world and facing -Y, as SMPL at rest turned up."""
    poses = np.zeros((FRAMES, width))
    poses[:, 0] = np.pi / 2
    return poses


def write(path, **changes):
    fields = {
        "poses": upright(),
        "trans": np.column_stack(
            [np.linspace(0, 0.5, FRAMES), -np.linspace(0, 2, FRAMES), np.full(FRAMES, 0.9)]
        ),
        "betas": np.zeros(16),
        "gender": np.array("female"),
        "mocap_framerate": np.float64(120),
    } | changes
    np.savez(path, **{k: v for k, v in fields.items() if v is not None})
    return path


def test_a_standing_person_faces_us_with_the_left_toward_x(tmp_path):
    motion = open_motion(write(tmp_path / "stand_poses.npz"))
    assert (motion.frames, motion.fps, motion.skeleton) == (FRAMES, 120, "smpl22")
    first = motion.positions[0]
    assert first[15, 1] - first[7, 1] > 1.2
    assert first[1, 0] > first[0, 0] > first[2, 0]
    assert first[10, 2] > first[7, 2]
    assert motion.positions[..., 1].min() == 0
    # 0.5 m to +X and 2 m to -Y in the file: +X and +Z here.
    assert np.allclose(motion.positions[-1, 0] - first[0], [0.5, 0, 2.0], atol=1e-5)
    assert np.allclose(motion.local_rotations[:, 0], np.eye(3), atol=1e-6)
    assert np.array_equal(motion.root_translation, motion.positions[:, 0])


def test_rotations_move_the_right_joint_the_right_way(tmp_path):
    poses = upright()
    # The left shoulder (joint 16) turns by -90 degrees about Y: the arm points forward.
    poses[:, 16 * 3 + 1] = -np.pi / 2
    motion = open_motion(write(tmp_path / "a.npz", poses=poses))
    arm = motion.joint("left_elbow") - motion.joint("left_shoulder")
    wanted = Rotation.from_euler("y", -90, degrees=True).apply(REST_OFFSETS[18])
    assert np.allclose(arm, wanted, atol=1e-5)
    assert arm[0, 2] > 0.2
    other = motion.joint("right_elbow") - motion.joint("right_shoulder")
    assert np.allclose(other, REST_OFFSETS[19], atol=1e-5)


@pytest.mark.parametrize(
    ("width", "skeleton", "said"),
    [
        (156, "smpl22", "SMPL-H"),
        (165, "smpl22", "SMPL-X"),
        (72, "smpl24", "SMPL"),
        (66, "smpl22", ""),
    ],
)
def test_body_models(tmp_path, width, skeleton, said):
    motion = open_motion(write(tmp_path / "a.npz", poses=upright(width)))
    assert motion.skeleton == skeleton
    assert any(said in a for a in motion.assumptions)
    assert "rest skeleton is ours; female and 16 betas are kept for licensed bodies" in (
        motion.assumptions
    )
    model = {156: "smplh", 165: "smplx", 72: "smpl", 66: None}[width]
    assert motion.body == SourceBody(model=model, gender="female", betas=(0.0,) * 16)


def test_the_body_stays_with_the_motion_and_does_not_enter_its_hash(tmp_path):
    betas = np.array([[0.5, -1.25]])
    tall = open_motion(write(tmp_path / "a.npz", betas=betas, gender=np.array([b"male"])))
    assert tall.body == SourceBody(model="smplh", gender="male", betas=(0.5, -1.25))
    bare = open_motion(write(tmp_path / "b.npz", betas=None, gender=None))
    assert bare.body == SourceBody(model="smplh")
    assert tall.content_hash() == bare.content_hash()
    assert tall.resampled(20).mirrored().cropped(0, 0.1).body == tall.body


@pytest.mark.parametrize(
    "betas",
    [np.full(10, np.nan), np.array("tall"), np.zeros((24, 10)), np.float64(1), np.zeros(301)],
)
def test_a_shape_that_is_none_costs_no_motion(tmp_path, betas):
    motion = open_motion(write(tmp_path / "a.npz", betas=betas, gender=np.array("unknown")))
    assert motion.body == SourceBody(model="smplh")
    assert any("no gender and no betas" in said for said in motion.assumptions)


def test_a_pickled_gender_costs_no_motion(tmp_path):
    motion = open_motion(write(tmp_path / "a.npz", gender=np.array("male", dtype=object)))
    assert (motion.body.gender, len(motion.body.betas)) == (None, 16)


def test_both_names_of_the_frame_rate(tmp_path):
    file = write(tmp_path / "a.npz", mocap_framerate=None, mocap_frame_rate=np.array(60))
    assert open_motion(file).fps == 60


def test_ids_come_from_the_path(tmp_path):
    (tmp_path / "KIT/3").mkdir(parents=True)
    write(tmp_path / "KIT/3/kick_poses.npz")
    np.savez(tmp_path / "KIT/3/shape.npz", betas=np.zeros(16))
    found = inspect_path(tmp_path)
    assert [c.id for c in found.clips] == ["amass:KIT/3/kick"]
    assert found.format == "amass"
    assert found.problems == ()


@pytest.mark.parametrize(
    ("changes", "place", "came"),
    [
        ({"mocap_framerate": None}, "", "the file stores neither"),
        ({"mocap_framerate": np.float64(0)}, "mocap_framerate", "got 0.0"),
        ({"mocap_framerate": np.float64("nan")}, "mocap_framerate", "expected finite numbers"),
        ({"mocap_framerate": np.array("fast")}, "mocap_framerate", "got dtype <U4"),
        ({"trans": None}, "trans", "got none"),
        ({"trans": np.full((FRAMES, 3), 1e300)}, "trans", "got 1e+300"),
        ({"trans": np.zeros((3, 3))}, "trans", "got (3, 3)"),
        ({"poses": np.zeros((FRAMES, 100))}, "poses", "got (24, 100)"),
        ({"poses": np.zeros((FRAMES, 52, 3))}, "poses", "got (24, 52, 3)"),
        ({"poses": np.zeros((0, 156)), "trans": np.zeros((0, 3))}, "poses", "got 0"),
        (
            {"poses": np.where(np.arange(FRAMES)[:, None] == 5, np.nan, upright())},
            "poses, frame 5",
            "NaN",
        ),
    ],
)
def test_files_that_cannot_be_used(tmp_path, changes, place, came):
    found = inspect_path(write(tmp_path / "a.npz", **changes))
    assert found.clips == ()
    (problem,) = found.problems
    assert problem.reason.startswith(place)
    assert came in problem.reason


def test_a_given_rate_serves_where_the_file_has_none(tmp_path):
    file = write(tmp_path / "a.npz", mocap_framerate=None)
    assert open_motion(file, ReadOptions(fps=100)).fps == 100


def test_an_axis_that_the_body_speaks_against_is_said(tmp_path):
    file = write(tmp_path / "a.npz")
    assert doubts(open_motion(file).assumptions) == []
    (doubt,) = doubts(open_motion(file, ReadOptions(up="y")).assumptions)
    assert doubt == "up-axis y: as given, but the head is above the ankles along z: is that right?"
