"""What the 3D view costs: `python -m perf.view3d`. Sizes in KiB, as stored and gzipped."""

from __future__ import annotations

import gzip
import tempfile
import time
from pathlib import Path
from statistics import mean, median

from annotation_app.view3d import body, script
from corpus.reading import load_motion
from corpus.synthetic import write_demo_corpus
from render.glb import animation_glb


def main() -> None:
    """Print a table: the script, the body, and the motions of the demo corpus at 30 fps."""
    built = script()
    rows = [("script, once a browser", [built.data])] if built else []
    rows.append(("body, once a browser", [body().data]))
    motions, seconds, frames = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for entry in write_demo_corpus(Path(folder), seed=0):
            motion = load_motion(entry.clip, Path(folder))
            start = time.process_time()
            motions.append(animation_glb(motion))
            seconds.append(time.process_time() - start)
            frames.append(motion.resampled(30.0).frames)
    rows.append((f"motion, mean of {len(motions)} clips of {mean(frames):.0f} frames", motions))
    rows.append(("motion, the largest of them", [max(motions, key=len)]))
    for name, files in rows:
        plain = mean(len(data) for data in files) / 1024
        packed = mean(len(gzip.compress(data)) for data in files) / 1024
        print(f"{name:45} {plain:7.0f} KiB {packed:7.0f} KiB gzipped")
    print(f"{'a frame of motion':45} {sum(map(len, motions)) / sum(frames):7.0f} bytes")
    print(f"{'a motion written, processor time, median':45} {median(seconds) * 1000:7.0f} ms")


if __name__ == "__main__":
    main()
