"""Many clips, several processes: nothing is drawn twice, and a stopped run goes on."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

from benchmarks.items import Frozen
from corpus.clips import Clip
from corpus.problems import InputError, Problem
from render.clip import ClipInfo, RenderSettings, known_clip, render_clip, stimulus_key
from render.video import EncodingError

ATTEMPTS = 3
"""How often a clip is tried when the process that draws it dies."""


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


def render_job(job: RenderJob) -> Rendered:
    """Draw one clip unless its file is there; refusals come back as a problem, not raised."""
    from corpus.reading import load_motion
    from render.glb import write_animation

    clip_id = job.clip.id
    try:
        motion = load_motion(job.clip, job.base)
        key = stimulus_key(motion, job.settings)
        out = job.folder / f"{key}.mp4"
        skipped = out.is_file()
        info = (
            known_clip(motion, out, job.settings)
            if skipped
            else render_clip(motion, out, job.settings)
        )
        # A study that shows bare joints must not show more of the person in 3D.
        if job.settings.view == "mesh" and not out.with_suffix(".glb").is_file():
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
) -> Iterator[Rendered]:
    """Draw clips and yield each as it is done, in no particular order.

    Args:
        jobs: What to draw.
        workers: Processes; null for as many as there are processors, 1 for this process alone.
        progress: Called with jobs done and jobs in all.

    Yields:
        One result per job. A clip whose process dies is tried ``ATTEMPTS`` times.
    """
    count = min(workers or os.cpu_count() or 1, len(jobs))
    for done, result in enumerate(_results(jobs, count), start=1):
        if progress is not None:
            progress(done, len(jobs))
        yield result


def _results(jobs: Sequence[RenderJob], workers: int) -> Iterator[Rendered]:
    if workers <= 1:
        yield from map(render_job, jobs)
        return
    # Fresh processes: forked ones would share database handles and threads.
    context = multiprocessing.get_context("spawn")
    waiting = list(jobs)
    for attempt in range(ATTEMPTS):
        lost = []
        # After a death one process at a time, so that the culprit alone is found out.
        size = workers if attempt == 0 else 1
        with ProcessPoolExecutor(size, mp_context=context) as pool:
            futures = {}
            for job in waiting:
                try:
                    futures[pool.submit(render_job, job)] = job
                except BrokenProcessPool:
                    lost.append(job)
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    lost.append(futures[future])
        if not lost:
            return
        waiting = lost
    for job in waiting:
        reason = f"the process that drew it died {ATTEMPTS} times; is there enough memory?"
        yield Rendered(clip_id=job.clip.id, problem=Problem(file=job.clip.id, reason=reason))
