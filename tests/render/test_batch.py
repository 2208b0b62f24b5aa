import os
import sys
import time
from types import SimpleNamespace

import pytest

from corpus.clips import Clip
from corpus.formats.arrays import save
from corpus.problems import InputError
from render import batch
from render.batch import RenderJob, render_many
from render.clip import RenderSettings, stimulus_key
from tests.render.poses import left_arm_up, striding
from tests.render.small_body import write

SMALL = RenderSettings(size=64)


def _clip(folder, name, motion):
    save(motion, folder / f"{name}.npz")
    return Clip(
        id=f"test:{name}", corpus="test", path=f"{name}.npz", format="arrays",
        content_hash=motion.content_hash(), frames=motion.frames, fps=motion.fps,
        duration=motion.duration, joints=22, skeleton=motion.skeleton,
    )  # fmt: skip


@pytest.fixture
def jobs(tmp_path):
    motions = {"stride": striding(6), "arm": left_arm_up(4), "gone": striding(8)}
    clips = [_clip(tmp_path, name, motion) for name, motion in motions.items()]
    (tmp_path / "gone.npz").unlink()
    return [RenderJob(clip, tmp_path, tmp_path / "media", SMALL) for clip in clips]


def test_each_job_gives_a_file_named_by_its_key_or_a_problem(jobs, tmp_path):
    seen = []
    results = {
        r.clip_id: r for r in render_many(jobs, 1, lambda done, total: seen.append((done, total)))
    }
    assert seen == [(1, 3), (2, 3), (3, 3)]
    stride = results["test:stride"]
    assert stride.key == stimulus_key(striding(6), SMALL)
    assert stride.info.frames == 6
    assert not stride.skipped
    assert "stride" not in stride.file
    gone = results["test:gone"]
    assert (gone.info, gone.key) == (None, "")
    assert "gone.npz" in gone.problem.line()
    drawn = sorted(r.file for r in results.values() if r.info)
    assert sorted(path.name for path in (tmp_path / "media").glob("*.mp4")) == drawn
    # The 3D view's animation lies beside each video, under the same name.
    stems = sorted(path.stem for path in (tmp_path / "media").glob("*.glb"))
    assert stems == [name.removesuffix(".mp4") for name in drawn]
    assert len(list((tmp_path / "media").iterdir())) == 2 * len(drawn)


def test_an_animation_is_added_to_a_video_drawn_before_and_never_to_another_body(jobs, tmp_path):
    (first,) = render_many(jobs[:1], 1)
    animation = (tmp_path / "media" / first.file).with_suffix(".glb")
    data = animation.read_bytes()
    animation.unlink()
    (again,) = render_many(jobs[:1], 1)
    assert again.skipped
    assert animation.read_bytes() == data
    bare = jobs[0]._replace(
        folder=tmp_path / "bare", settings=RenderSettings(size=64, view="skeleton")
    )
    (joints,) = render_many([bare], 1)
    assert [path.name for path in (tmp_path / "bare").iterdir()] == [joints.file]
    # The 3D view would show the embedded body where the video shows another.
    write(tmp_path / "bodies", "smpl")
    licensed = RenderSettings(size=64, body="smpl", bodies=tmp_path / "bodies")
    (other,) = render_many([jobs[0]._replace(folder=tmp_path / "other", settings=licensed)], 1)
    assert [path.name for path in (tmp_path / "other").iterdir()] == [other.file]


def test_what_is_there_is_not_drawn_again(jobs, tmp_path, monkeypatch):
    first = {r.clip_id: r for r in render_many(jobs[:2], 1)}
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "media").iterdir()}
    monkeypatch.setattr(batch, "render_clip", lambda *_: pytest.fail("drawn again"))
    for again in render_many(jobs[:2], 1):
        assert again.skipped
        assert again.info == first[again.clip_id].info.model_copy(update={"fit_error_mm": {}})
    assert stamps == {path: path.stat().st_mtime_ns for path in (tmp_path / "media").iterdir()}


def test_what_a_dead_process_of_the_same_run_had_finished_counts_as_drawn(jobs):
    start = time.time() - 1
    first = batch.render_job(jobs[0])
    assert batch.render_job(jobs[0], start) == first
    assert first.info.fit_error_mm
    assert batch.render_job(jobs[0], time.time() + 1).skipped


def test_two_processes_give_the_same_bytes_as_one(jobs, tmp_path):
    alone = {r.clip_id: r.info.sha256 for r in render_many(jobs[:2], 1)}
    other = [job._replace(folder=tmp_path / "other") for job in jobs[:2]]
    assert {r.clip_id: r.info.sha256 for r in render_many(other, 2)} == alone


@pytest.fixture
def deadly_ffmpeg(tmp_path, monkeypatch):
    """An ffmpeg that kills who called it: for one size always, for others once."""
    import imageio_ffmpeg
    from joblib.externals.loky import get_reusable_executor

    real = imageio_ffmpeg.get_ffmpeg_exe()
    fake = tmp_path / "ffmpeg"
    fake.write_text(
        "#!/bin/sh\n"
        'case "$*" in *66x66*) kill -9 $PPID; exit 1;; esac\n'
        f'if mkdir "{tmp_path}/died" 2>/dev/null; then kill -9 $PPID; exit 1; fi\n'
        f'exec "{real}" "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(fake))
    get_reusable_executor().shutdown(wait=True)
    yield
    get_reusable_executor().shutdown(wait=True)


def test_a_killed_process_costs_no_clip_but_the_one_that_kills_it(tmp_path, deadly_ffmpeg):
    motions = {f"clip{n}": striding(4 + n) for n in range(5)}
    jobs = [
        RenderJob(
            _clip(tmp_path, name, motion), tmp_path, tmp_path / "media",
            RenderSettings(size=66) if name == "clip1" else SMALL,
        )
        for name, motion in motions.items()
    ]  # fmt: skip
    results = {r.clip_id: r for r in render_many(jobs, 2)}
    assert len(results) == 5
    assert "died 3 times" in results.pop("test:clip1").problem.reason
    for number, result in enumerate(results[f"test:clip{n}"] for n in (0, 2, 3, 4)):
        assert result.info.frames == (4, 6, 7, 8)[number]
    whole = [p for p in (tmp_path / "media").glob("*.mp4") if not p.name.startswith(".part-")]
    assert len(whole) == 4


def test_what_was_left_unfinished_long_ago_is_removed(jobs, tmp_path):
    folder = tmp_path / "media"
    folder.mkdir()
    for name, age in ((".part-old.mp4", 7200), (".part-new.mp4", 60), ("older.mp4", 7200)):
        (folder / name).write_bytes(b"half")
        stamp = time.time() - age
        os.utime(folder / name, (stamp, stamp))
    list(render_many(jobs[:1], 1))
    assert not (folder / ".part-old.mp4").exists()
    assert (folder / ".part-new.mp4").exists()
    assert (folder / "older.mp4").exists()


def test_a_cluster_gives_the_same_files(jobs, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    alone = {r.clip_id: r.info.sha256 for r in render_many(jobs[:2], 1)}
    other = [job._replace(folder=tmp_path / "other") for job in jobs]
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(dashboard_address=None, **options) as cluster:
        address = cluster.scheduler_address
        results = {r.clip_id: r for r in render_many(other, cluster=address)}
        assert {k: r.info.sha256 for k, r in results.items() if r.info} == alone
        assert "gone.npz" in results["test:gone"].problem.line()

        def killed(job):
            raise distributed.KilledWorker(job.clip.id, SimpleNamespace(address="gone"), 3)

        monkeypatch.setattr(batch, "render_job", killed)
        dead = list(render_many(other[:1], cluster=address))
        assert "died 4 times" in dead[0].problem.reason


def test_the_clips_of_a_killed_worker_are_done_again(tmp_path, deadly_ffmpeg):
    distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
    dask = pytest.importorskip("dask")
    jobs = [
        RenderJob(
            _clip(tmp_path, f"clip{n}", striding(4 + n)), tmp_path, tmp_path / "media",
            RenderSettings(size=66) if n == 1 else SMALL,
        )
        for n in range(3)
    ]  # fmt: skip
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "silence_logs": 50}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 2}),
        distributed.LocalCluster(dashboard_address=None, **options) as cluster,
    ):
        results = {r.clip_id: r for r in render_many(jobs, cluster=cluster.scheduler_address)}
    assert (tmp_path / "died").exists()
    assert "died 3 times" in results.pop("test:clip1").problem.reason
    assert [results[f"test:clip{n}"].info.frames for n in (0, 2)] == [4, 6]


def test_no_scheduler_is_said(jobs, monkeypatch):
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    with pytest.raises(InputError, match="expected a Dask scheduler at nonsense://x, got"):
        list(render_many(jobs, cluster="nonsense://x"))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"motionjury\[cluster\]"):
        list(render_many(jobs, cluster="tcp://127.0.0.1:1"))
