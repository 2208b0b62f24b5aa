import subprocess

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from corpus.formats.source import ReadOptions
from corpus.motion import Motion
from corpus.problems import InputError
from corpus.reading import open_motion
from render import video
from render.actor import mesh_actor, skinned
from render.body import PARTS
from render.clip import RenderSettings, Stage, render_clip, render_poster, stimulus_key
from render.video import EncodingError
from tests.render.poses import left_arm_up, motion_of, striding
from tests.shared_data import shared

SMALL = RenderSettings(size=192)


def _ffmpeg():
    import imageio_ffmpeg

    return imageio_ffmpeg.get_ffmpeg_exe()


def _decoded(path, size):
    run = subprocess.run(
        [_ffmpeg(), "-loglevel", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24",
         "-sws_flags", "accurate_rnd+full_chroma_int", "-"],
        capture_output=True, check=True,
    )  # fmt: skip
    return np.frombuffer(run.stdout, dtype=np.uint8).reshape(-1, size, size, 3)


def test_the_file_is_what_was_asked_for(tmp_path):
    out = tmp_path / "deep" / "clip.mp4"
    seen = []
    info = render_clip(striding(24), out, SMALL, lambda done, total: seen.append((done, total)))
    assert (info.frames, info.fps, info.backend) == (24, 30.0, "raster")
    assert info.seconds == pytest.approx(0.8)
    assert info.size_bytes == out.stat().st_size
    assert info.sha256 == video.file_sha256(out)
    assert seen[0] == (1, 24)
    assert seen[-1] == (24, 24)
    said = subprocess.run([_ffmpeg(), "-i", str(out)], capture_output=True, text=True).stderr
    assert "h264" in said
    assert "yuv420p(tv, bt709" in said
    assert "192x192" in said
    assert "30 fps" in said
    data = out.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")  # fast start
    assert [path.name for path in out.parent.iterdir()] == ["clip.mp4"]


def test_every_frame_comes_out_in_order_and_in_its_colours(tmp_path):
    motion = striding(20)
    render_clip(motion, tmp_path / "clip.mp4", SMALL)
    frames = _decoded(tmp_path / "clip.mp4", 192)
    stage = Stage(motion, SMALL)
    drawn = np.array([stage.picture(frame) for frame in range(stage.frames)])
    assert len(frames) == len(drawn) == 20
    # Every fourth pixel along each axis: all frames against all are many pixels.
    shown, meant = (f[:, ::4, ::4].astype(np.int16) for f in (frames, drawn))
    difference = np.abs(shown[:, None] - meant[None]).mean(axis=(2, 3, 4))
    assert np.array_equal(difference.argmin(axis=1), np.arange(20))
    assert np.diag(difference).max() < 3.0


def test_the_same_motion_gives_the_same_bytes(tmp_path):
    infos = [render_clip(striding(10), tmp_path / f"{n}.mp4", SMALL) for n in range(2)]
    assert infos[0].sha256 == infos[1].sha256


@pytest.mark.parametrize(("fps", "frames", "expected"), [(120, 121, 31), (20, 41, 61), (30, 1, 1)])
def test_motion_is_resampled_to_the_video_rate(tmp_path, fps, frames, expected):
    motion = left_arm_up(frames=frames, fps=fps)
    info = render_clip(motion, tmp_path / "clip.mp4", SMALL)
    assert info.frames == expected
    assert len(_decoded(tmp_path / "clip.mp4", 192)) == expected


def test_other_rates_are_kept_in_the_file(tmp_path):
    settings = RenderSettings(size=64, fps=24)
    info = render_clip(left_arm_up(frames=31), tmp_path / "clip.mp4", settings)
    assert info.frames == 25
    said = subprocess.run(
        [_ffmpeg(), "-i", str(tmp_path / "clip.mp4")], capture_output=True, text=True
    ).stderr
    assert "24 fps" in said


@pytest.mark.parametrize("size", [65, 62, 4098])
def test_odd_and_extreme_sizes_are_refused(size):
    with pytest.raises(ValidationError, match="size"):
        RenderSettings(size=size)


def test_motions_that_cannot_be_drawn_are_refused(tmp_path):
    positions = left_arm_up().positions
    out = tmp_path / "clip.mp4"
    with pytest.raises(InputError, match="is the unit right"):
        render_clip(Motion(positions=positions * 1e6, fps=30), out)
    with pytest.raises(InputError, match="at most 600 s"):
        render_clip(Motion(positions=np.repeat(positions, 601, axis=0), fps=1), out)
    with pytest.raises(ValueError, match="infinity"):
        Motion(positions=np.full((2, 22, 3), np.inf), fps=30)
    assert list(tmp_path.iterdir()) == []


def test_no_half_file_is_left_when_ffmpeg_is_killed(tmp_path, monkeypatch):
    started = []
    real = subprocess.Popen

    def popen(*args, **kwargs):
        started.append(real(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(video.subprocess, "Popen", popen)
    out = tmp_path / "clip.mp4"
    out.write_bytes(b"the older clip")
    with pytest.raises(EncodingError, match="clip.mp4: ffmpeg ended with code -9"):
        render_clip(
            striding(40), out, SMALL, lambda done, _: started[0].kill() if done == 10 else None
        )
    assert out.read_bytes() == b"the older clip"
    assert [path.name for path in tmp_path.iterdir()] == ["clip.mp4"]


def test_what_ffmpeg_says_is_passed_on(tmp_path, monkeypatch):
    import imageio_ffmpeg

    fake = tmp_path / "ffmpeg"
    fake.write_text("#!/bin/sh\necho 'No space left on device' >&2\nexit 228\n")
    fake.chmod(0o755)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(fake))
    with pytest.raises(EncodingError, match="code 228; it said: No space left on device"):
        render_clip(striding(5), tmp_path / "out" / "clip.mp4", SMALL)
    assert list((tmp_path / "out").iterdir()) == []
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: str(tmp_path / "absent"))
    with pytest.raises(EncodingError, match="could not be started"):
        render_clip(striding(5), tmp_path / "out" / "clip.mp4", SMALL)


def test_a_caller_that_stops_leaves_nothing(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render_clip(striding(5), tmp_path / "clip.mp4", SMALL, stop)
    assert list(tmp_path.iterdir()) == []


def test_key_follows_content_and_settings_only():
    motion = striding()
    key = stimulus_key(motion, RenderSettings())
    assert len(key) == 32
    assert (
        stimulus_key(motion.model_copy(update={"source": "kick_left.npy"}), RenderSettings()) == key
    )
    assert stimulus_key(motion, RenderSettings(backend="raster")) == key
    others = [
        stimulus_key(motion, RenderSettings(fps=20)),
        stimulus_key(motion, RenderSettings(size=512)),
        stimulus_key(motion, RenderSettings(view="skeleton")),
        stimulus_key(motion.mirrored(), RenderSettings()),
    ]
    assert len({key, *others}) == 5


def test_poster_is_a_frame_of_the_clip(tmp_path):
    motion = striding(20)
    render_poster(motion, tmp_path / "a.png", settings=SMALL)
    render_poster(motion, tmp_path / "b.png", time=99.0, settings=SMALL)
    stage = Stage(motion, SMALL)
    for name, frame in (("a.png", 10), ("b.png", 19)):
        with Image.open(tmp_path / name) as image:
            assert np.array_equal(np.asarray(image), stage.picture(frame))


def test_frames_do_not_depend_on_what_was_drawn_before():
    stage = Stage(striding(12), SMALL)
    later = stage.picture(9)
    stage.picture(2)
    assert np.array_equal(stage.picture(9), later)
    planes = [bytes(frame) for frame in stage.planes()]
    again = Stage(striding(12), SMALL)
    assert [bytes(frame) for frame in again.planes()] == planes


def test_skeleton_shows_the_source_joints_where_they_are():
    motion = striding(6)
    stage = Stage(motion, RenderSettings(size=192, view="skeleton"))
    assert stage.actor.fit_error_mm == {}
    out = np.empty_like(stage.actor.vertices)
    skinned(stage.actor, 3, out)
    for j in range(22):
        wanted = motion.positions[3, j] + [0, stage.actor.lift, 0]
        assert np.linalg.norm(out - wanted, axis=1).min() < 0.11


def test_left_kick_of_the_humanml3d_sample_is_a_kick_with_the_left(tmp_path):
    path = shared("data/motions/humanml3d_sample/new_joints/000000.npy")
    motion = open_motion(path, ReadOptions(fps=20))
    actor = mesh_actor(motion)
    feet = {
        side: np.unique(actor.faces[actor.face_parts == PARTS.index(f"{side}_foot")])
        for side in ("left", "right")
    }
    out = np.empty_like(actor.vertices)
    height = {"left": 0.0, "right": 0.0}
    for frame in range(len(actor.transforms)):
        skinned(actor, frame, out)
        for side, foot in feet.items():
            height[side] = max(height[side], float(out[foot, 1].mean()))
    # The source's left toe joint reaches 1.08 m, its right one 0.10 m.
    assert height["left"] > 0.9
    assert height["right"] < 0.3
    assert max(actor.fit_error_mm.values()) < 30


@pytest.mark.parametrize(
    ("path", "fps"),
    [
        ("humanml3d_sample/new_joints/012314.npy", 20),
        ("kimodo/02_multi_text_prompt/motion.npz", 30),
        ("bandai_namco/dataset-2_wave-left-hand_normal_001.bvh", None),
        ("sato/attn_good.npy", 20),
    ],
)
def test_real_motions_are_met_within_three_centimetres(path, fps):
    motion = open_motion(shared(f"data/motions/{path}"), ReadOptions(fps=fps))
    assert max(mesh_actor(motion.cropped(0, 3)).fit_error_mm.values()) < 30


def test_smpl24_is_drawn_too():
    motion = motion_of({"left_shoulder": (0, 0, 40)})
    hands = motion.positions[:, 20:22] + np.array([[0.08, 0, 0], [-0.08, 0, 0]])
    more = Motion(
        positions=np.concatenate([motion.positions, hands], axis=1), fps=30, skeleton="smpl24"
    )
    stage = Stage(more, SMALL)
    assert max(stage.actor.fit_error_mm.values()) < 20
    assert stage.picture(0).std() > 10
