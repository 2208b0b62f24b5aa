"""How long a clip takes, against x264 alone on the same frames. Run: ``python -m perf.render``.

Prints seconds for 306 frames (about 10 s at 30 fps) at 768 x 768 in a warm process: a walk across
the floor (the body fills about 8 % of the frame) and gestures in place (about 25 %).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from corpus.motion import Motion
from corpus.skeletons import REST_OFFSETS, SMPL22
from render.clip import RenderSettings, Stage, render_clip
from render.video import video_writer

FRAMES = 306


def walk(travel: float) -> Motion:
    """A swinging gait of 306 frames at 30 fps that moves sideways by ``travel`` metres."""
    joints = np.zeros((FRAMES, 22, 3))
    phase = np.arange(FRAMES) / 30 * 2 * np.pi
    swing = 0.5 * np.sin(phase)
    angle = {
        "left_knee": swing, "right_knee": -swing, "left_ankle": swing - 0.3,
        "right_ankle": -swing - 0.3, "left_elbow": -swing, "right_elbow": swing,
        "left_wrist": 0.4 - swing, "right_wrist": 0.4 + swing,
    }  # fmt: skip
    for j, parent in enumerate(SMPL22.parents):
        if parent < 0:
            joints[:, 0] = [0.0, 0.94, 0.0]
            joints[:, 0, 0] = travel * (np.arange(FRAMES) / FRAMES - 0.5)
            continue
        x, y, z = REST_OFFSETS[j]
        if SMPL22.joints[j].endswith(("elbow", "wrist")):
            x, y = np.sign(x) * 0.05, -abs(x)
        a = angle.get(SMPL22.joints[j], np.zeros(FRAMES))
        bone = np.stack([np.full(FRAMES, x), y * np.cos(a), z - y * np.sin(a)], axis=1)
        joints[:, j] = joints[:, parent] + bone
    return Motion(positions=joints, fps=30.0)


def timed(repeats: int, call: object) -> list[float]:
    """Seconds of each of several calls."""
    result = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        result.append(time.perf_counter() - start)
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    settings = RenderSettings()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "clip.mp4"
        for name, travel in (("walk across 5 m", 5.0), ("in place", 0.0)):
            motion = walk(travel)
            render_clip(motion, out, settings)
            whole = timed(repeats, lambda m=motion: render_clip(m, out, settings))
            posed = timed(repeats, lambda m=motion: Stage(m, settings))
            stage = Stage(motion, settings)
            drawn = timed(repeats, lambda s=stage: [0 for _ in s.planes()])
            frames = [bytes(planes) for planes in stage.planes()]

            def encode(frames: list[bytes] = frames) -> None:
                with video_writer(Path(folder) / "alone.mp4", settings.size, settings.fps) as pipe:
                    for planes in frames:
                        pipe.write(planes)

            alone = timed(repeats, encode)
            print(f"{name}: {FRAMES} frames, {out.stat().st_size / 1024:.0f} KiB")
            for label, seconds in (
                ("whole clip", whole), ("pose and background", posed),
                ("drawing to I420", drawn), ("x264 alone", alone),
            ):  # fmt: skip
                ordered = sorted(seconds)
                print(
                    f"  {label:20} median {ordered[len(ordered) // 2]:.2f} s, "
                    f"{ordered[0]:.2f} to {ordered[-1]:.2f}"
                )
            ratio = sorted(whole)[len(whole) // 2] / sorted(alone)[len(alone) // 2]
            print(f"  whole clip is {ratio:.2f} times x264 alone")


if __name__ == "__main__":
    main()
