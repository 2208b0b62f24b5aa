"""The two backends draw the same picture."""

import subprocess
import sys

import numpy as np
import pytest

from corpus.problems import InputError
from render import clip, pyrender_backend
from render.clip import RenderSettings, Stage, render_clip, stimulus_key
from render.paint import Painter
from tests.render.poses import left_arm_up, motion_of, striding

SITTING = {
    "left_hip": (-80, 0, 0), "right_hip": (-80, 0, 10), "left_knee": (85, 0, 0),
    "right_knee": (60, 0, 0), "spine1": (20, 15, 0), "right_shoulder": (0, 60, 20),
}  # fmt: skip
POSES = {
    "left arm up": left_arm_up(2),
    "striding": striding(8),
    "sitting": motion_of(SITTING),
    "turned away": motion_of({"pelvis": [[0, 0, 0], [0, 140, 0]]}),
    "lying": motion_of({"pelvis": (-88, 0, 0)}, root=np.array([[0.0, 0.15, 0.0]])),
}


@pytest.fixture(scope="module")
def egl():
    if not pyrender_backend.renderer_name():
        pytest.skip("no EGL with OpenGL 4.1 on this machine")


def _drawn(stage, backend, frame):
    """One frame and the pixels that the body covers by half or more."""
    painter = Painter(stage.actor, stage.camera, backend)
    painter.draw(frame)
    # A body without light on white: what is left of the white is what it does not cover.
    paper = np.full_like(painter.frame, 255)
    whole = np.array([0, 0, painter.size, painter.size])
    painter._layer.draw(
        paper, painter._world, np.zeros_like(painter._light), painter._points, whole,
        painter._changed,
    )  # fmt: skip
    return painter.frame.astype(int), paper[..., 0] < 160


@pytest.mark.parametrize(
    ("name", "view"), [*((name, "mesh") for name in POSES), ("sitting", "skeleton")]
)
def test_backends_agree(egl, name, view):
    motion = POSES[name]
    # Thin bars are mostly outline, where the samples of a pixel lie elsewhere: more pixels.
    size = 768 if view == "mesh" else 1536
    stage = Stage(motion, RenderSettings(size=size, view=view, backend="raster"))
    frame = stage.frames - 1
    ours, inside = _drawn(stage, "raster", frame)
    theirs, inside_theirs = _drawn(stage, "pyrender", frame)
    either = inside | inside_theirs
    assert either.sum() > 2000
    assert (inside & inside_theirs).sum() / either.sum() >= 0.99
    difference = np.abs(ours - theirs)
    # At most 1 % of the range where both draw the body, 0.1 % in the whole picture.
    assert difference[inside & inside_theirs].mean() < 2.55
    assert difference.mean() < 0.255


def test_pyrender_writes_a_clip_and_its_mesh_moves(egl, tmp_path):
    settings = RenderSettings(size=128, backend="pyrender")
    info = render_clip(striding(6), tmp_path / "clip.mp4", settings)
    assert (info.frames, info.backend) == (6, "pyrender")
    stage = Stage(striding(12), settings)
    third, first = stage.picture(3), stage.picture(0)
    assert np.abs(third.astype(int) - first).max() > 100
    assert np.array_equal(stage.picture(3), third)


def test_auto_takes_pyrender_only_with_a_graphics_processor(monkeypatch):
    motion, auto = striding(2), RenderSettings(size=64)
    for gpu, chosen in ((True, "pyrender"), (False, "raster")):
        monkeypatch.setattr(pyrender_backend, "has_gpu", lambda gpu=gpu: gpu)
        assert clip.chosen_backend(auto) == chosen
        same = RenderSettings(size=64, backend=chosen)
        assert stimulus_key(motion, auto) == stimulus_key(motion, same)


@pytest.mark.parametrize(
    ("name", "hardware"),
    [
        ("", False),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", False),
        ("llvmpipe (LLVM 17.0.6, 256 bits)", False),
        ("softpipe", False),
        ("Software Rasterizer", False),
        ("Google SwiftShader", False),
        ("ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)), SwiftShader driver)", False),
        ("virgl (LLVMPIPE (LLVM 15.0.6, 256 bits))", False),
        ("zink Vulkan 1.3(llvmpipe (LLVM 15.0.7, 256 bits) (MESA_LLVMPIPE))", False),
        ("D3D12 (Microsoft Basic Render Driver)", False),
        ("D3D12 (NVIDIA GeForce RTX 3080)", True),
        ("AMD Radeon RX 6800 (navi21, LLVM 15.0.7, DRM 3.54, 6.5.0-14-generic)", True),
        ("virgl (NVIDIA GeForce RTX 3060/PCIe/SSE2)", True),
        ("Mali-G610 (Panfrost)", True),
        ("Apple M1 (G13G B1)", True),
        ("Mesa Intel(R) UHD Graphics 620 (KBL GT2)", True),
        ("NVIDIA GeForce RTX 4090/PCIe/SSE2", True),
    ],
)
def test_hardware_is_told_by_the_renderer_name(name, hardware):
    assert pyrender_backend.is_hardware(name) is hardware


def test_a_machine_without_devices_is_not_asked_for_a_context(monkeypatch):
    monkeypatch.setattr(pyrender_backend, "DEVICES", ("/nowhere/*",))
    monkeypatch.setattr(pyrender_backend, "renderer_name", lambda: pytest.fail("asked"))
    assert pyrender_backend.has_gpu.__wrapped__() is False


def test_missing_egl_is_one_line(monkeypatch):
    def absent():
        raise InputError(pyrender_backend._no_egl(ImportError("Unable to load EGL library")))

    monkeypatch.setattr(pyrender_backend, "_pyrender", absent)
    monkeypatch.setattr(pyrender_backend, "_renderer", pyrender_backend._renderer.__wrapped__)
    with pytest.raises(InputError, match="Unable to load EGL library; install libegl1"):
        Stage(striding(2), RenderSettings(size=64, backend="pyrender"))
    assert pyrender_backend.renderer_name.__wrapped__() == ""


def test_rasteriser_needs_no_pyrender():
    code = "import sys, render.clip, render.paint; sys.exit('pyrender' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
