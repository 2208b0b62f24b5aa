"""Many clips, several processes or machines: nothing is drawn twice, a stopped run goes on."""

from __future__ import annotations

import importlib
import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.items import Frozen
from corpus.clips import Clip
from corpus.problems import InputError, Problem
from render.clip import (
    ClipInfo,
    RenderSettings,
    fit_error,
    known_clip,
    render_clip,
    stimulus_key,
)
from render.video import PART, EncodingError

ATTEMPTS = 3
"""How often a clip is tried when the process that draws it dies."""
STALE = 3600.0
"""Seconds after which an unfinished file belongs to no one any more (ours)."""
_IDLE_S = 20


class RenderJob(NamedTuple):
    """One clip to draw."""

    clip: Clip
    base: Path
    """Folder that a relative ``clip.path`` starts from."""
    folder: Path
    """Where ``<key>.mp4`` goes and, for the player's 3D view, ``<key>.glb``."""
    settings: RenderSettings


class Rendered(Frozen):
    """What became of one job."""

    clip_id: str
    """The clip."""
    key: str = ""
    """``render.clip.stimulus_key``; empty where the motion could not be read."""
    file: str = ""
    """File name within the job's folder; empty where nothing was drawn."""
    info: ClipInfo | None = None
    """The file's facts; null where nothing was drawn."""
    skipped: bool = False
    """True where the file was there already."""
    problem: Problem | None = None
    """Why nothing was drawn."""


def render_job(job: RenderJob, since: float = math.inf) -> Rendered:
    """Draw one clip unless its file is there; refusals come back as a problem, not raised.

    Args:
        job: What to draw.
        since: Seconds since the epoch: a file written later is this run's own, left by a process
            that died before it could tell.
    """
    from corpus.reading import load_motion
    from render.glb import write_animation

    clip_id = job.clip.id
    try:
        motion = load_motion(job.clip, job.base)
        key = stimulus_key(motion, job.settings)
        out = job.folder / f"{key}.mp4"
        there = out.is_file()
        skipped = there and out.stat().st_mtime < since
        if not there:
            info = render_clip(motion, out, job.settings)
        else:
            info = known_clip(motion, out, job.settings)
            if not skipped:
                fit = fit_error(motion, job.settings)
                info = info.model_copy(update={"fit_error_mm": fit})
        # A study that shows bare joints must not show more of the person in 3D, and the 3D view
        # has the embedded body only.
        in_3d = job.settings.view == "mesh" and job.settings.body == "embedded"
        if in_3d and not out.with_suffix(".glb").is_file():
            write_animation(motion, out.with_suffix(".glb"), job.settings)
    except InputError as error:
        return Rendered(clip_id=clip_id, problem=error.problem)
    except (EncodingError, OSError) as error:
        reason = " ".join(str(error).split())
        return Rendered(clip_id=clip_id, problem=Problem(file=clip_id, reason=reason))
    return Rendered(clip_id=clip_id, key=key, file=out.name, info=info, skipped=skipped)


def render_many(
    jobs: Sequence[RenderJob],
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    cluster: str | None = None,
) -> Iterator[Rendered]:
    """Draw clips and yield each as it is done, in no particular order.

    Args:
        jobs: What to draw.
        workers: Processes; null for as many as there are processors, 1 for this process alone.
        progress: Called with jobs done and jobs in all.
        cluster: Address of a Dask scheduler whose workers draw instead; they see the same
            folders and have this package installed.

    Yields:
        One result per job. A clip whose process dies is tried ``ATTEMPTS`` times.

    Raises:
        InputError: No Dask, or no scheduler at the address.
    """
    for folder in {job.folder for job in jobs}:
        _remove_stale(folder)
    count = min(workers or os.cpu_count() or 1, len(jobs))
    found = _on_cluster(jobs, cluster) if cluster else _on_processes(jobs, count)
    for done, result in enumerate(found, start=1):
        if progress is not None:
            progress(done, len(jobs))
        yield result


def _on_processes(jobs: Sequence[RenderJob], workers: int) -> Iterator[Rendered]:
    """Draw on this machine through joblib; a death costs only the clips that were being drawn."""
    if workers <= 1:
        yield from map(render_job, jobs)
        return
    from joblib import Parallel, delayed, parallel_config

    waiting = deque(enumerate(jobs))
    start = time.time()
    while waiting:
        running: dict[int, RenderJob] = {}

        def taken(running: dict[int, RenderJob] = running) -> Iterator[Any]:
            while waiting:
                number, job = waiting.popleft()
                running[number] = job
                yield delayed(_numbered)(number, job)

        try:
            # A page that is served after rendering does not keep idle processes for minutes.
            with parallel_config(
                backend="loky", inner_max_num_threads=1, idle_worker_timeout=_IDLE_S
            ):
                parallel = Parallel(
                    n_jobs=workers,
                    batch_size=1,
                    pre_dispatch="n_jobs",
                    return_as="generator_unordered",
                )
                for number, result in parallel(taken()):
                    del running[number]
                    yield result
        except BrokenProcessPool:
            # One of these died and the others went with it: each alone, so that it is found out.
            for job in list(running.values()):
                yield _alone(job, start)


def _numbered(number: int, job: RenderJob) -> tuple[int, Rendered]:
    return number, render_job(job)


def _alone(job: RenderJob, start: float) -> Rendered:
    """Draw a clip in a process of its own, again where that dies."""
    from joblib.externals.loky import get_reusable_executor

    for _ in range(ATTEMPTS - 1):
        try:
            executor = get_reusable_executor(max_workers=1)
            result: Rendered = executor.submit(render_job, job, start).result()
        except BrokenProcessPool:
            continue
        return result
    return _died(job)


def _died(job: RenderJob, times: int = ATTEMPTS) -> Rendered:
    reason = f"the process that drew it died {times} times; is there enough memory?"
    return Rendered(clip_id=job.clip.id, problem=Problem(file=job.clip.id, reason=reason))


def _on_cluster(jobs: Sequence[RenderJob], address: str) -> Iterator[Rendered]:
    """Draw on the workers of a Dask scheduler, which gives a dead worker's clips to others."""
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise InputError(
            "--cluster: expected dask[distributed], which is not installed; "
            "run `pip install 'motionjury[cluster]'`"
        ) from error
    try:
        client = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        why = " ".join(str(error).split())[:160]
        raise InputError(
            f"--cluster: expected a Dask scheduler at {address}, got: {why}"
        ) from error
    try:
        futures = client.map(render_job, list(jobs), pure=False)
        job_of = {future.key: job for future, job in zip(futures, jobs, strict=True)}
        for future in distributed.as_completed(futures, loop=client.loop):
            job = job_of[future.key]
            failure = future.exception()
            if failure is None:
                yield future.result()
            elif isinstance(failure, distributed.KilledWorker):
                yield _died(job, failure.allowed_failures + 1)
            else:
                reason = f"a worker of the cluster failed: {' '.join(str(failure).split())[:200]}"
                yield Rendered(
                    clip_id=job.clip.id, problem=Problem(file=job.clip.id, reason=reason)
                )
            future.release()
    finally:
        client.close()


def _remove_stale(folder: Path) -> None:
    """Remove what processes left unfinished that were killed long ago."""
    for part in folder.glob(f"{PART}*"):
        try:
            if time.time() - part.stat().st_mtime > STALE:
                part.unlink()
        except OSError:
            continue
