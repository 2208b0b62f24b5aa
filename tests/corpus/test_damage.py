import random

import numpy as np
import pytest

from corpus.formats import arrays
from corpus.formats.source import ReadOptions
from corpus.reading import inspect_path
from tests.corpus.people import moving
from tests.corpus.test_amass import upright
from tests.corpus.test_bvh import document


def originals(folder):
    """One healthy file of each kind."""
    motion = moving(frames=24)
    np.save(folder / "a.npy", motion.positions)
    arrays.save(motion, folder / "b.npz")
    np.savez(folder / "c.npz", poses=upright(), trans=np.zeros((24, 3)), mocap_framerate=60.0)
    np.savez_compressed(folder / "d.npz", joints=motion.positions, fps=20)
    (folder / "e.bvh").write_text(document(), encoding="utf-8")
    (folder / "new_joints").mkdir()
    np.save(folder / "new_joints/f.npy", motion.positions)
    (folder / "texts").mkdir()
    (folder / "texts/f.txt").write_text("a person waves.#x/Y#0.0#0.5\n" * 3)
    return {
        name: (folder / name, folder if "/" in name else folder / name)
        for name in ("a.npy", "b.npz", "c.npz", "d.npz", "e.bvh", "new_joints/f.npy", "texts/f.txt")
    }


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_read_or_refused_and_never_end_the_program(tmp_path, seed):
    # Bytes flipped, cut out, doubled or cut off: whatever is left, the answer is an inspection
    # in which every problem is one line that names a file.
    chance = random.Random(seed)
    for file, path in originals(tmp_path).values():
        data = bytearray(file.read_bytes())
        for _ in range(chance.choice([1, 3, 30])):
            at = chance.randrange(len(data))
            damage = chance.choice(["flip", "cut", "double", "end", "header"])
            if damage == "flip":
                data[at] = chance.randrange(256)
            elif damage == "cut":
                del data[at : at + chance.randrange(1, 20)]
            elif damage == "double":
                data[at:at] = data[at : at + 40]
            elif damage == "end":
                del data[max(at, 1) :]
            else:
                data[at % 128 % len(data)] = chance.randrange(256)
            if not data:
                data = bytearray(b"\0")
        healthy = file.read_bytes()
        file.write_bytes(bytes(data))
        found = inspect_path(path, ReadOptions(fps=20))
        for clip in found.clips:
            assert clip.frames >= 2
            assert clip.fps > 0
        for problem in found.problems:
            assert problem.file
            assert problem.reason
            assert "\n" not in problem.reason
        file.write_bytes(healthy)
