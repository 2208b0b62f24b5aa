import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from corpus.formats.arrays import save
from corpus.problems import InputError
from corpus.reading import read_path
from motionjury.commands.render import app
from motionjury.workspace import init_workspace
from render.batch import RenderJob, render_many
from render.clip import RENDERER_VERSION, RenderSettings
from store.clips import add_clips, list_clips, list_media, media_for_clip
from tests.render import small_body
from tests.render.poses import left_arm_up, striding

RUN = CliRunner()


@pytest.fixture
def joints(tmp_path):
    path = tmp_path / "stride.npy"
    np.save(path, striding(13).positions)
    return path


def test_clip_prints_what_it_wrote(joints, tmp_path):
    out = tmp_path / "out.mp4"
    args = [
        "clip",
        str(joints),
        "-o",
        str(out),
        "--fps",
        "20",
        "--up",
        "y",
        "--size",
        "64",
        "--json",
    ]
    result = RUN.invoke(app, args)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert set(answer) == {"frames", "fps", "seconds", "sha256", "backend"}
    assert (answer["frames"], answer["fps"], answer["backend"]) == (19, 30.0, "raster")
    assert answer["seconds"] == pytest.approx(19 / 30)
    assert out.stat().st_size > 500
    plain = RUN.invoke(app, [*args[:-1], "--view", "skeleton"])
    assert "19 frames" in plain.stdout


def test_an_axis_that_the_body_speaks_against_is_said(joints, tmp_path):
    args = ["clip", str(joints), "-o", str(tmp_path / "o.mp4"), "--fps", "30", "--size", "64"]
    wrong = RUN.invoke(app, [*args, "--up", "z"])
    assert wrong.exit_code == 0
    assert "stride.npy: up-axis z: as given, but the head is above the ankles" in wrong.stderr
    assert RUN.invoke(app, [*args, "--up", "y"]).stderr == ""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "say it with --fps"),
        (["--fps", "0"], "--fps: expected a number in"),
        (["--fps", "20", "--size", "77"], "--size: expected an even number of pixels, got 77$"),
        (["--fps", "20", "--size", "20"], "--size: .*64, got 20$"),
        (["--fps", "20", "--video-fps", "0"], "--video-fps: .*got 0"),
        (["--fps", "20", "-o", "out.avi"], "ending in .mp4, got 'out.avi'"),
        (["--fps", "20", "-o", "/dev/null/out.mp4"], "cannot be written"),
    ],
)
def test_clip_refuses_in_one_line(joints, tmp_path, more, said):
    out = [] if "-o" in more else ["-o", str(tmp_path / "out.mp4")]
    result = RUN.invoke(app, ["clip", str(joints), *out, *more])
    assert isinstance(result.exception, InputError)
    with pytest.raises(InputError, match=said):
        raise result.exception
    assert "\n" not in str(result.exception)


def test_clip_names_the_file_and_frame_of_infinite_joints(joints, tmp_path):
    positions = np.load(joints)
    positions[4, 3, 1] = np.inf
    np.save(joints, positions)
    args = ["clip", str(joints), "-o", str(tmp_path / "out.mp4"), "--fps", "20"]
    message = str(RUN.invoke(app, args).exception)
    assert "stride.npy" in message
    assert "4" in message
    assert not (tmp_path / "out.mp4").exists()


@pytest.fixture
def workspace(tmp_path):
    workspace = init_workspace(tmp_path / "work")
    (tmp_path / "data").mkdir()
    for name, motion in (("stride", striding(6)), ("arm", left_arm_up(4)), ("bad", striding(8))):
        save(motion, tmp_path / "data" / f"{name}.npz")
    reading = read_path(tmp_path / "data", corpus="test")
    with workspace.db.write() as session:
        add_clips(session, reading.clips, reading.captions)
    (tmp_path / "data" / "bad.npz").unlink()
    return workspace


def test_all_renders_once_and_records_the_media(workspace):
    args = ["all", "-w", str(workspace.root), "--size", "64", "--workers", "1", "--json"]
    first = RUN.invoke(app, args)
    assert first.exit_code == 0, first.output
    summary = json.loads(first.stdout)
    assert [summary[k] for k in ("clips", "rendered", "skipped", "refused")] == [3, 2, 0, 1]
    assert "bad.npz" in first.stderr
    assert "bad.npz" in summary["problems"][0]["file"]
    with workspace.db.read() as session:
        for clip in list_clips(session):
            media = media_for_clip(session, clip.id)
            if clip.id.endswith("bad"):
                assert media == []
                continue
            assert [m.file for m in media] == [f"{media[0].key}.mp4"]
            file = workspace.media_dir / media[0].file
            assert file.stat().st_size == media[0].size
            assert media[0].settings["size"] == 64
            assert media[0].settings["renderer_version"] == RENDERER_VERSION
            assert "bodies" not in media[0].settings
            assert 0 <= media[0].fit_error_mm["left_wrist"] < 30
    second = json.loads(RUN.invoke(app, args).stdout)
    assert [second[k] for k in ("rendered", "skipped", "refused")] == [0, 2, 1]
    with workspace.db.read() as session:
        assert all(media.fit_error_mm for media in list_media(session))


def test_a_clip_whose_run_died_before_it_was_recorded_gets_its_fit_error(workspace):
    args = ["all", "-w", str(workspace.root), "--size", "64", "--workers", "1"]
    with workspace.db.read() as session:
        clips = [clip for clip in list_clips(session) if not clip.id.endswith("bad")]
    settings = RenderSettings(size=64)
    jobs = [RenderJob(clip, workspace.root, workspace.media_dir, settings) for clip in clips]
    drawn = {r.clip_id: r.info.fit_error_mm for r in render_many(jobs, 1)}
    result = RUN.invoke(app, args)
    assert "0 rendered, 2 there already" in result.stdout
    with workspace.db.read() as session:
        assert {m.clip_id: m.fit_error_mm for m in list_media(session)} == drawn


def test_all_fails_when_nothing_could_be_rendered(workspace, tmp_path):
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    result = RUN.invoke(app, ["all", "-w", str(workspace.root), "--workers", "1"])
    assert result.exit_code == 2
    assert "3 refused" in result.stdout


def test_all_knows_no_study_by_a_wrong_name(workspace):
    result = RUN.invoke(app, ["all", "-w", str(workspace.root), "--study", "nowhere"])
    assert isinstance(result.exception, InputError)
    assert "nowhere" in str(result.exception)


def _run(*words):
    result = RUN.invoke(app, [str(word) for word in words])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_strip_tells_frames_times_and_displacement(joints, tmp_path):
    out = tmp_path / "strip.png"
    answer = json.loads(_run("strip", joints, "-o", out, "--fps", 20, "--tile", 64, "--json"))
    assert answer["frames"] == [0, 3, 6, 9, 12, 15, 18]
    assert answer["times"][1] == pytest.approx(0.1)
    assert len(answer["displacement_m"]) == answer["columns"] == 7
    with Image.open(out) as image:
        assert image.size == (answer["width"], answer["height"])
    said = _run("strip", joints, "-o", out, "--fps", 20, "--tile", 64, "--columns", 3)
    assert "7 tiles in 3 rows" in said


def test_keyframes_as_one_picture_or_a_folder(joints, tmp_path):
    common = ["--fps", 20, "--size", 64]
    assert "6 frames at 0.00" in _run("keyframes", joints, "-o", tmp_path / "a.jpg", *common)
    assert (tmp_path / "a.jpg").read_bytes()[:2] == b"\xff\xd8"
    more = [*common, "--per-second", 5, "--format", "jpg", "--json"]
    answer = json.loads(_run("keyframes", joints, "-o", tmp_path / "frames", *more))
    assert answer == {
        "frames": [0, 6, 12, 18],
        "times": [0.0, 0.2, 0.4, 0.6],
        "files": ["001.jpg", "002.jpg", "003.jpg", "004.jpg"],
    }
    assert len(list((tmp_path / "frames").iterdir())) == 4


def test_glb_tells_what_it_wrote(joints, tmp_path):
    out = tmp_path / "walk.glb"
    answer = json.loads(_run("glb", joints, "-o", out, "--fps", 20, "--json"))
    assert (answer["frames"], answer["joints"]) == (19, 24)
    assert answer["size_bytes"] == out.stat().st_size
    assert "24 joints" in _run("glb", joints, "-o", out, "--fps", 20)


def test_clip_takes_the_marks(joints, tmp_path):
    sums = set()
    for mark in ("--facing-arrow", "--legend", "--frame-counter", "--size=400"):
        out = tmp_path / "a.mp4"
        words = ["clip", joints, "-o", out, "--fps", 20, "--size", 384, mark, "--json"]
        sums.add(json.loads(_run(*words))["sha256"])
    assert len(sums) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["strip", "-o", "a.gif"], "--out: expected a file name ending in .png, .jpg, .jpeg, got"),
        (["strip", "-o", "a.png", "--stride", "0"], "stride: expected at least 1"),
        (["keyframes", "-o", "a.png", "--count", "3", "--per-second", "5"], "got both"),
        (["keyframes", "-o", "a.png", "--count", "0"], "count: expected 1 to 2000"),
        (["keyframes", "-o", "frames", "--columns", "3"], "--columns: expected --out to name"),
        (["keyframes", "-o", "a.png", "--legend", "--size", "64"], "--legend: expected a size of"),
        (["glb", "-o", "a.gltf"], "--out: expected a file name ending in .glb"),
        (["glb", "-o", "/dev/null/a.glb"], "cannot be written"),
    ],
)
def test_pictures_refuse_in_one_line(joints, monkeypatch, tmp_path, words, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said) as caught:
        _run(words[0], joints, "--fps", 20, *words[1:])
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stride.npy"]


def test_bodies_of_the_workspace_are_found_by_all_and_doctor(workspace):
    small_body.write(workspace.root / "licensed", "smpl")
    with (workspace.root / "workspace.toml").open("a", encoding="utf-8") as file:
        file.write('[bodies]\nfolder = "licensed"\n')
    args = ["all", "-w", str(workspace.root), "--size", "64", "--workers", "1"]
    result = RUN.invoke(app, [*args, "--body", "smpl", "--betas", "30,0"])
    assert result.exit_code == 0, result.output
    assert "2 rendered" in result.stdout
    assert "stride: the body misses" in result.stdout
    checks = json.loads(RUN.invoke(_doctor(), ["-w", str(workspace.root), "--json"]).stdout)
    found = {check["name"]: check for check in checks["checks"]}
    assert found["smpl neutral"]["ok"]
    assert "96 vertices" in found["smpl neutral"]["detail"]
    assert "auto takes" in found["rendering"]["detail"]
    (workspace.root / "licensed" / "smpl" / "SMPL_MALE.pkl").write_bytes(b"cos\nsystem\n.")
    broken = RUN.invoke(_doctor(), ["-w", str(workspace.root)])
    assert broken.exit_code == 1
    assert "MISS smpl male" in broken.stdout
    assert "os.system" in broken.stdout


def _doctor():
    import typer

    from motionjury.commands.house import doctor_command

    doctor = typer.Typer()
    doctor.command()(doctor_command)
    return doctor


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--body", "smpl"], "--bodies: expected the folder with smpl, got none"),
        (["--body", "smpl", "--bodies", "/nowhere"], "--bodies: expected a folder, got /nowhere"),
        (["--body", "smpl", "--bodies", "."], "expected smpl/SMPL_NEUTRAL.npz or .pkl"),
        (["--betas", "a,b"], "--betas: expected numbers with commas, got 'a,b'"),
        (["--betas", "1"], "--body: expected smpl, smplh or smplx"),
        (["--gender", "male"], "--body: expected smpl, smplh or smplx"),
    ],
)
def test_bodies_are_refused_in_one_line(joints, tmp_path, more, said):
    args = ["clip", str(joints), "-o", str(tmp_path / "out.mp4"), "--fps", "20", "--size", "64"]
    result = RUN.invoke(app, [*args, *more])
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
    assert not (tmp_path / "out.mp4").exists()
