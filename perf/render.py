"""How long a clip takes, as ratios in one run. Run: ``python -m perf.render``.

306 frames (about 10 s at 30 fps) at 768 x 768 in a warm process: a walk across the floor (the
body fills about 8 % of the frame) and gestures in place (about 25 %). Printed are

- the whole clip, pose to finished MP4, over x264 alone on the same frames from I420;
- pyrender as it is commonly used (a new Mesh per frame, EGL, 4 x MSAA, RGB frames piped to
  ffmpeg) over the whole clip;
- clips per second of two workers over those of one;
- the largest memory of a worker, and of its ffmpeg;
- the cost per frame of clips two and four times as long over that of the clip.

Wall time is what users wait for; processor time (this process and ffmpeg) is steadier on a
machine that does other things too. Both are printed: the median of the repeats.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpus.clips import Clip
from corpus.formats.arrays import save
from corpus.motion import Motion
from corpus.skeletons import REST_OFFSETS, SMPL22
from render.actor import skinned
from render.batch import RenderJob, render_many
from render.clip import RenderSettings, Stage, render_clip
from render.video import video_writer

FRAMES = 306
SETTINGS = RenderSettings(backend="raster")


class Cost(NamedTuple):
    """Seconds of one call."""

    wall: float
    processor: float


def walk(travel: float, frames: int = FRAMES) -> Motion:
    """A swinging gait at 30 fps that moves sideways by ``travel`` metres."""
    joints = np.zeros((frames, 22, 3))
    phase = np.arange(frames) / 30 * 2 * np.pi
    swing = 0.5 * np.sin(phase)
    angle = {
        "left_knee": swing, "right_knee": -swing, "left_ankle": swing - 0.3,
        "right_ankle": -swing - 0.3, "left_elbow": -swing, "right_elbow": swing,
        "left_wrist": 0.4 - swing, "right_wrist": 0.4 + swing,
    }  # fmt: skip
    for j, parent in enumerate(SMPL22.parents):
        if parent < 0:
            joints[:, 0] = [0.0, 0.94, 0.0]
            joints[:, 0, 0] = travel * (np.arange(frames) / frames - 0.5)
            continue
        x, y, z = REST_OFFSETS[j]
        if SMPL22.joints[j].endswith(("elbow", "wrist")):
            x, y = np.sign(x) * 0.05, -abs(x)
        a = angle.get(SMPL22.joints[j], np.zeros(frames))
        bone = np.stack([np.full(frames, x), y * np.cos(a), z - y * np.sin(a)], axis=1)
        joints[:, j] = joints[:, parent] + bone
    return Motion(positions=joints, fps=30.0)


def cost(call: Callable[[], object], repeats: int) -> Cost:
    """Median cost of a call; children that ended count."""
    return costs([call], repeats)[0]


def costs(calls: list[Callable[[], object]], repeats: int) -> list[Cost]:
    """Median cost of each call; they take turns, so that other work on the machine hits all."""

    def processor() -> float:
        used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(u.ru_utime + u.ru_stime for u in used)

    seen: list[list[tuple[float, float]]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, found in zip(calls, seen, strict=True):
            wall, own = time.perf_counter(), processor()
            call()
            found.append((time.perf_counter() - wall, processor() - own))
    return [Cost(*(float(value) for value in np.median(found, axis=0))) for found in seen]


def said(name: str, value: Cost) -> None:
    """Print one row of seconds."""
    print(f"  {name:34} {value.wall:6.2f} s wall, {value.processor:6.2f} s processor")


def ratio(name: str, over: Cost, under: Cost, target: str) -> None:
    """Print one ratio."""
    print(
        f"  {name:34} {over.wall / under.wall:6.2f} x wall, "
        f"{over.processor / under.processor:6.2f} x processor  ({target})"
    )


def common_pyrender(stage: Stage, out: Path) -> None:
    """A clip as it is commonly drawn: mesh, normals, materials and buffers anew each frame."""
    import imageio_ffmpeg

    from render.pyrender_backend import _pyrender

    pyrender = _pyrender()
    import trimesh

    size, actor, camera = SETTINGS.size, stage.actor, stage.camera
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = camera.axes.T, camera.eye
    renderer = pyrender.OffscreenRenderer(size, size)
    scene = pyrender.Scene(bg_color=[0.8, 0.8, 0.8, 1.0], ambient_light=[0.3, 0.3, 0.3])
    centre = size / 2
    scene.add(pyrender.IntrinsicsCamera(camera.focal, camera.focal, centre, centre), pose=pose)
    for _ in range(2):
        scene.add(pyrender.DirectionalLight(intensity=2.0), pose=pose)
    material = pyrender.MetallicRoughnessMaterial(baseColorFactor=(0.6, 0.6, 0.9, 1.0))
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt",
        "rgb24", "-s", f"{size}x{size}", "-r", "30", "-i", "-", "-c:v", "libx264", "-pix_fmt",
        "yuv420p", str(out),
    ]  # fmt: skip
    vertices = np.empty_like(actor.vertices)
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        for frame in range(stage.frames):
            skinned(actor, frame, vertices)
            shape = trimesh.Trimesh(vertices, actor.faces, process=False)
            node = scene.add(pyrender.Mesh.from_trimesh(shape, material=material))
            colour, _ = renderer.render(scene)
            scene.remove_node(node)
            process.stdin.write(colour.tobytes())
        process.stdin.close()
    renderer.delete()


def clip_ratios(name: str, travel: float, repeats: int, folder: Path, common: bool) -> None:
    """Print the whole clip against x264 alone and against pyrender as commonly used."""
    motion, out = walk(travel), folder / "clip.mp4"
    render_clip(motion, out, SETTINGS)
    posed = cost(lambda: Stage(motion, SETTINGS), repeats)
    stage = Stage(motion, SETTINGS)
    drawn = cost(lambda: [0 for _ in stage.planes()], repeats)
    frames = [bytes(planes) for planes in stage.planes()]

    def encode() -> None:
        with video_writer(folder / "alone.mp4", SETTINGS.size, SETTINGS.fps) as pipe:
            for planes in frames:
                pipe.write(planes)

    whole, alone = costs([lambda: render_clip(motion, out, SETTINGS), encode], 2 * repeats)
    print(f"{name}: {FRAMES} frames, {out.stat().st_size / 1024:.0f} KiB")
    said("whole clip", whole)
    said("  of it pose and background", posed)
    said("  of it drawing to I420", drawn)
    said("x264 alone", alone)
    if common:
        usual = cost(lambda: common_pyrender(stage, folder / "usual.mp4"), 1)
        said("pyrender as commonly used", usual)
        ratio("pyrender / whole clip", usual, whole, "at least 6")
    ratio("whole clip / x264 alone", whole, alone, "at most 1.7")


def worker_ratios(folder: Path, clips: int = 8) -> None:
    """Print clips per second of two workers over one."""
    found = []
    for number in range(clips):
        motion = walk(2.0 + 0.3 * number)
        save(motion, folder / f"{number}.npz")
        found.append(
            Clip(
                id=f"perf:{number}", corpus="perf", path=f"{number}.npz", format="arrays",
                content_hash=motion.content_hash(), frames=motion.frames, fps=motion.fps,
                duration=motion.duration, joints=22, skeleton=motion.skeleton,
            )
        )  # fmt: skip

    def seconds(workers: int, name: str) -> float:
        jobs = [RenderJob(clip, folder, folder / name, SETTINGS) for clip in found]
        start = time.perf_counter()
        for result in render_many(jobs, workers):
            if result.info is None:
                raise RuntimeError(result.problem)
        return time.perf_counter() - start

    seconds(2, "warm")
    both = [(seconds(1, f"one{n}"), seconds(2, f"two{n}")) for n in range(2)]
    one, two = min(a for a, _ in both), min(b for _, b in both)
    print(f"{clips} clips: one worker {one:.2f} s, two workers {two:.2f} s (best of 2)")
    print(
        f"  two workers / one                  {one / two:6.2f} x clips per second (at least 1.2)"
    )


def peak(process: str) -> int:
    """Largest memory of a process so far, MiB; Linux only."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def memory_of_one_clip(out: Path) -> None:
    """Draw one clip and print this process's largest memory and its ffmpeg's, MiB."""
    ffmpeg = 0

    def look(done: int, total: int) -> None:
        nonlocal ffmpeg
        if done == total:
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            ffmpeg = max(peak(child) for child in children)

    render_clip(walk(0.0), out, SETTINGS, look)
    print(peak("self"), ffmpeg)


def memory(folder: Path) -> None:
    """Print the largest memory of a fresh process that draws one clip."""
    code = (
        "import sys; from pathlib import Path; from perf.render import memory_of_one_clip\n"
        "memory_of_one_clip(Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", code, str(folder / "memory.mp4")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    own, ffmpeg = run.stdout.split()
    print(f"memory of a worker: {own} MiB, its ffmpeg {ffmpeg} MiB (less than 700)")


def linear(folder: Path, repeats: int) -> None:
    """Print how the cost per frame grows with the clip's length."""
    out = folder / "long.mp4"
    base = cost(lambda: render_clip(walk(3.0), out, SETTINGS), repeats)
    for times in (2, 4):
        motion = walk(3.0, FRAMES * times)
        longer = cost(lambda m=motion: render_clip(m, out, SETTINGS), max(1, repeats // 2))
        per_frame = Cost(longer.wall / times, longer.processor / times)
        ratio(f"cost per frame, {times} times as long", per_frame, base, "about 1")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} processors, load {load} before the run")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clip_ratios("walk across 5 m", 5.0, repeats, folder, common=True)
        clip_ratios("in place", 0.0, repeats, folder, common=True)
        linear(folder, repeats)
        memory(folder)
        worker_ratios(folder)


if __name__ == "__main__":
    main()
