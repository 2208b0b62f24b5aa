import io
import pickle
import zipfile

import numpy as np
import pytest

from corpus.formats import arrays, numpy_files
from corpus.formats.source import ReadOptions
from corpus.frames import doubts
from corpus.problems import InputError
from corpus.reading import inspect_path, open_motion
from tests.corpus.people import moving
from tests.shared_data import shared

AT20 = ReadOptions(fps=20)


def refused(path, options=AT20) -> str:
    """Read a file that must be refused; return the one problem's reason."""
    found = inspect_path(path, options)
    assert found.clips == ()
    assert len(found.problems) == 1
    assert found.problems[0].file == str(path)
    assert "\n" not in found.problems[0].reason
    return found.problems[0].reason


@pytest.fixture
def walk():
    return moving(frames=30, fps=20).positions


def write(path, array):
    np.save(path, array, allow_pickle=False)
    return path


@pytest.mark.parametrize(
    "shaped",
    [
        lambda p: p,
        lambda p: p[None],
        lambda p: p.reshape(len(p), 66),
        lambda p: p.reshape(1, len(p), 66),
        lambda p: p.astype(np.float64),
        lambda p: p * 100,
        lambda p: p * 1000,
        lambda p: p[..., [0, 2, 1]] * np.float32([1, -1, 1]),
    ],
    ids=["plain", "batch", "flat", "flat batch", "float64", "centimetres", "millimetres", "z up"],
)
def test_one_motion_in_many_shapes(tmp_path, walk, shaped):
    motion = open_motion(write(tmp_path / "walk.npy", shaped(walk)), AT20)
    assert motion.skeleton == "smpl22"
    assert motion.fps == 20
    assert np.allclose(motion.positions, walk, atol=1e-5)


def test_what_was_assumed_is_said(tmp_path, walk):
    file = write(tmp_path / "walk.npy", (walk[..., [0, 2, 1]] * [1, -1, 1] * 100)[None])
    said = " | ".join(inspect_path(file, AT20).clips[0].assumptions)
    for part in ("batch axis of 1", "fps 20: as given", "unit cm: recognised", "up-axis z: mea"):
        assert part in said


def test_given_axis_and_unit_win_over_measured_ones(tmp_path, walk):
    motion = open_motion(write(tmp_path / "walk.npy", walk), ReadOptions(fps=20, up="z", unit="cm"))
    assert np.allclose(motion.positions[..., 2], -walk[..., 1] / 100, atol=1e-6)
    doubt = "up-axis z: as given, but the head is above the ankles along y: is that right?"
    assert doubt in motion.assumptions
    assert doubts(motion.assumptions) == [doubt]
    right = open_motion(write(tmp_path / "right.npy", walk), ReadOptions(fps=20, up="y"))
    assert "up-axis y: as given" in right.assumptions
    # Someone who lies askew or rolls over speaks for no axis.
    askew = walk @ np.array([[1, 0, 0], [0, 0.6, 0.8], [0, -0.8, 0.6]], dtype=np.float32)
    rolled = np.concatenate([askew, -askew])
    given = open_motion(write(tmp_path / "rolled.npy", rolled), ReadOptions(fps=20, up="z"))
    assert "up-axis z: as given" in given.assumptions


def test_exchanged_sides_are_said(tmp_path, walk):
    mirror = walk * np.float32([-1, 1, 1])
    assert "exchanged" in open_motion(write(tmp_path / "a.npy", mirror), AT20).assumptions[-1]
    assert "exchanged" not in str(open_motion(write(tmp_path / "b.npy", walk), AT20).assumptions)


@pytest.mark.parametrize("key", ["joints", "positions", "posed_joints"])
def test_npz_names_and_the_stored_rate(tmp_path, walk, key):
    np.savez(tmp_path / "a.npz", **{key: walk}, fps=25.0, other=np.zeros(3))
    motion = open_motion(tmp_path / "a.npz")
    assert (motion.frames, motion.fps) == (30, 25.0)
    given = open_motion(tmp_path / "a.npz", AT20)
    assert given.fps == 20
    assert "fps 20: as given, the file says 25 (stored in the file)" in given.assumptions


@pytest.mark.parametrize(("joints", "skeleton"), [(24, "smpl24"), (52, "smpl22"), (55, "smpl22")])
def test_other_smpl_joint_counts(tmp_path, walk, joints, skeleton):
    wide = np.concatenate([walk, np.repeat(walk[:, 20:21], joints - 22, axis=1)], axis=1)
    motion = open_motion(write(tmp_path / "wide.npy", wide), AT20)
    assert motion.skeleton == skeleton
    assert np.array_equal(motion.positions[:, :22], walk)


def test_our_own_files_come_back_unchanged(tmp_path):
    for skeleton in ("smpl22", "smpl24"):
        motion = moving(skeleton=skeleton)
        arrays.save(motion, tmp_path / "own.npz")
        again = open_motion(tmp_path / "own.npz")
        assert again.content_hash() == motion.content_hash()
        assert np.array_equal(again.root_translation, motion.root_translation)
        assert again.assumptions == ()


def test_features_of_263_are_recovered():
    sample = shared("data/motions/humanml3d_sample")
    motion = open_motion(sample / "new_joint_vecs/012314.npy")
    joints = np.load(sample / "new_joints/012314.npy")
    assert motion.fps == 20
    assert np.abs(motion.positions - joints).max() < 1e-5


def test_the_shared_generated_motions():
    for name, frames in (("good", 120), ("bad", 112)):
        motion = open_motion(shared(f"data/motions/sato/attn_{name}.npy"), AT20)
        assert (motion.frames, motion.skeleton) == (frames, "smpl22")
    motion = open_motion(shared("data/motions/mirror_pair/kimodo_07_mirror_pair.npz"))
    pair = np.load(shared("data/motions/mirror_pair/kimodo_07_mirror_pair.npz"))
    mirrored = arrays.from_array(
        pair["joints_mirrored"], {"fps": pair["fps"]}, ReadOptions(), shared("data/README.md")
    )
    assert motion.fps == 30
    assert np.allclose(motion.mirrored().positions, mirrored.positions, atol=1e-6)


# Bad input: one problem each, naming file, place, what was expected and what came.


def test_a_missing_frame_rate(tmp_path, walk):
    reason = refused(write(tmp_path / "walk.npy", walk), ReadOptions())
    assert reason == "expected a frame rate, the file stores none; say it with --fps"


def test_a_truncated_file(tmp_path, walk):
    file = write(tmp_path / "cut.npy", walk)
    file.write_bytes(file.read_bytes()[:-100])
    assert refused(file) == ("truncated: the header (30, 22, 3) promises 7920 bytes, 7820 came")
    file.write_bytes(file.read_bytes()[:20])
    assert "no valid .npy header" in refused(file)
    file.write_bytes(b"")
    assert "no valid .npy header" in refused(file)


class Bomb:
    """Unpickling this makes a file, which must never happen."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (open, (str(self.target), "w"))


def test_pickles_are_never_loaded(tmp_path):
    target = tmp_path / "exploded"
    objects = np.array([Bomb(target)], dtype=object)
    np.save(tmp_path / "object.npy", objects, allow_pickle=True)
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Bomb(target)))
    np.savez(tmp_path / "object.npz", joints=objects, fps=20)
    with zipfile.ZipFile(tmp_path / "raw.npz", "w") as archive:
        archive.writestr("joints.npy", pickle.dumps(Bomb(target)))
    assert "pickled Python objects" in refused(tmp_path / "object.npy")
    assert "a pickle, which is never loaded" in refused(tmp_path / "raw.npy")
    assert refused(tmp_path / "object.npz").startswith("joints: ")
    assert refused(tmp_path / "raw.npz").startswith("joints: ")
    assert not target.exists()


def test_nan_frames_are_counted_and_the_first_is_named(tmp_path, walk):
    broken = walk.copy()
    broken[7:9, 20, 1] = np.nan
    broken[12, 3] = np.inf
    assert refused(write(tmp_path / "nan.npy", broken)) == (
        "frame 7, joint left_wrist: expected finite positions, got NaN or infinity (3 of 30 frames)"
    )


@pytest.mark.parametrize("frames", [0, 1])
def test_clips_without_length(tmp_path, walk, frames):
    file = write(tmp_path / "none.npy", walk[:frames])
    assert refused(file) == f"expected at least 2 frames, got {frames}"


@pytest.mark.parametrize(
    "shape", [(30, 21, 3), (30, 22, 2), (8, 30, 22, 3), (30,), (), (30, 67), (22, 3, 30)]
)
def test_shapes_that_are_none(tmp_path, shape):
    reason = refused(write(tmp_path / "shape.npy", np.zeros(shape)))
    assert "expected joints of shape (T, J, 3)" in reason
    assert reason.endswith(f"got {shape}")


@pytest.mark.parametrize("array", [np.array(["a", "b"]), np.zeros((4, 22, 3), complex)])
def test_values_that_are_no_numbers(tmp_path, array):
    assert "expected numbers, got dtype" in refused(write(tmp_path / "text.npy", array))


def test_an_npz_without_joints_says_what_it_holds(tmp_path):
    np.savez(tmp_path / "a.npz", betas=np.zeros(10), gender=np.array("male"))
    assert refused(tmp_path / "a.npz").endswith("got betas, gender")


def test_a_file_that_is_no_zip(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 not really")
    assert "broken zip" in refused(tmp_path / "a.npz")


@pytest.mark.parametrize("fps", [0.0, -1.0, np.nan, 1e9, np.zeros(3), np.array("fast")])
def test_a_stored_rate_that_is_none(tmp_path, walk, fps):
    np.savez(tmp_path / "a.npz", joints=walk, fps=fps)
    assert refused(tmp_path / "a.npz", ReadOptions()).startswith("fps: expected one number")


def test_a_header_that_promises_the_moon_costs_no_memory(tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f4", "fortran_order": False, "shape": (10**12, 22, 3)}
    )
    (tmp_path / "moon.npy").write_bytes(stream.getvalue())
    assert "expected at most" in refused(tmp_path / "moon.npy")


def test_zip_bombs_are_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(numpy_files, "MAX_MEMBER_BYTES", 10**5)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("joints.npy", b"\0" * 10**7)
    assert "unpacked, the archive says 10000000" in refused(tmp_path / "bomb.npz")
    # An archive that lies about the size in its directory: what comes out is bounded as well.
    data = (tmp_path / "bomb.npz").read_bytes()
    lie = data.replace((10**7).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert lie != data
    (tmp_path / "lie.npz").write_bytes(lie)
    assert refused(tmp_path / "lie.npz").startswith("joints: ")


def test_damaged_archives_are_refused(tmp_path, walk):
    np.savez_compressed(tmp_path / "a.npz", joints=walk, fps=20)
    data = bytearray((tmp_path / "a.npz").read_bytes())
    data[200:260] = bytes(60)
    (tmp_path / "a.npz").write_bytes(bytes(data))
    assert "joints: " in refused(tmp_path / "a.npz")


def test_a_body_lying_on_x_has_to_be_explained(tmp_path, walk):
    file = write(tmp_path / "x.npy", walk[..., [1, 0, 2]] * np.float32([1, -1, 1]))
    assert "upright along y or z, got one along x" in refused(file)
    assert open_motion(file, ReadOptions(fps=20, up="y")).frames == 30


def test_no_person_is_taken_in_metres_and_said(tmp_path):
    file = write(tmp_path / "big.npy", np.random.default_rng(0).normal(size=(10, 22, 3)) * 2)
    motion = open_motion(file, ReadOptions(fps=20, up="y"))
    assert any("no person's size" in a for a in motion.assumptions)


def test_unknown_files_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    for path in (tmp_path / "notes.txt", tmp_path / "absent.npy"):
        with pytest.raises(InputError, match=path.name):
            inspect_path(path)
    with pytest.raises(InputError, match="unknown format 'fbx'"):
        inspect_path(tmp_path, format_name="fbx")


def test_coordinates_beyond_reason_are_refused(tmp_path, walk):
    far = walk.astype(np.float64)
    far[3] += 1e30
    reason = refused(write(tmp_path / "far.npy", far))
    assert reason.startswith("frame 3: expected positions within 1e+07 units")


@pytest.mark.parametrize("value", [np.nan, 1e38])
def test_features_that_cannot_be_recovered_name_frame_and_feature(tmp_path, value):
    features = np.zeros((10, 263), np.float32)
    features[4, 100] = value
    reason = refused(write(tmp_path / "vecs.npy", features))
    assert reason.startswith("frame 4, feature 100: expected finite features up to 1e+07, got")
