from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from corpus.clips import Clip
from corpus.formats.arrays import save
from render import batch
from render.batch import RenderJob, render_many
from render.clip import RenderSettings, stimulus_key
from tests.render.poses import left_arm_up, striding

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


def test_an_animation_is_added_to_a_video_drawn_before_and_never_to_bare_joints(jobs, tmp_path):
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


def test_what_is_there_is_not_drawn_again(jobs, tmp_path, monkeypatch):
    first = {r.clip_id: r for r in render_many(jobs[:2], 1)}
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "media").iterdir()}
    monkeypatch.setattr(batch, "render_clip", lambda *_: pytest.fail("drawn again"))
    for again in render_many(jobs[:2], 1):
        assert again.skipped
        assert again.info == first[again.clip_id].info.model_copy(update={"fit_error_mm": {}})
    assert stamps == {path: path.stat().st_mtime_ns for path in (tmp_path / "media").iterdir()}


def test_two_processes_give_the_same_bytes_as_one(jobs, tmp_path):
    alone = {r.clip_id: r.info.sha256 for r in render_many(jobs[:2], 1)}
    other = [job._replace(folder=tmp_path / "other") for job in jobs[:2]]
    assert {r.clip_id: r.info.sha256 for r in render_many(other, 2)} == alone


def test_a_clip_whose_process_dies_is_tried_again_then_reported(jobs, monkeypatch):
    deaths = {"test:stride": 1, "test:arm": 99}

    class Pool:
        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def submit(self, function, job):
            future = Future()
            if deaths.get(job.clip.id, 0) > 0:
                deaths[job.clip.id] -= 1
                future.set_exception(BrokenProcessPool())
            else:
                future.set_result(function(job))
            return future

    monkeypatch.setattr(batch, "ProcessPoolExecutor", Pool)
    results = {r.clip_id: r for r in render_many(jobs[:2], 2)}
    assert results["test:stride"].info.frames == 6
    assert "died 3 times" in results["test:arm"].problem.reason
    assert deaths["test:arm"] == 96
