import json

import numpy as np
import pytest
from typer.testing import CliRunner

from corpus.formats.arrays import save
from corpus.problems import InputError
from corpus.reading import read_path
from motionjury.commands.render import app
from motionjury.workspace import init_workspace
from store.clips import add_clips, list_clips, media_for_clip
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
    second = json.loads(RUN.invoke(app, args).stdout)
    assert [second[k] for k in ("rendered", "skipped", "refused")] == [0, 2, 1]


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
