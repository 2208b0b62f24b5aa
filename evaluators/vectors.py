"""What dual encoders share: batches of like length, similarities, the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError

if TYPE_CHECKING:
    import torch

Vectors = NDArray[np.float32]
WORKERS = 8
"""Most batches encoded at the same time (ours)."""
NEAR = 0.85
"""``near`` of encoders that mask what is padded (ours)."""
_AREA = 64 * 512**2
"""Most items of a batch times the square of the longest: about 1 GB in TMR (ours)."""
_ROWS = 4096


def device_of(name: str = "auto") -> torch.device:
    """Return a device by name; ``auto`` is the first GPU where there is one, else the CPU.

    Raises:
        InputError: There is no such device here.
    """
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).splitlines()[0][:100]
        raise InputError(f"--device: expected auto, cpu or a GPU, got {name} ({why})") from error
    return device


def in_batches(
    lengths: Sequence[int],
    size: int,
    encode: Callable[[list[int]], Any],
    width: int,
    *,
    near: float = 0.0,
) -> Vectors:
    """Encode items of like length together and put the rows back in order.

    Args:
        lengths: Length of each item; long ones come first, so that memory is tried at once.
        size: Items encoded together at most.
        encode: Given positions of items, returns their vectors as a torch tensor (n, ``width``).
        width: Width of a vector.
        near: As for ``batches``.

    Returns:
        (N, width) float32 in the order of ``lengths``; (0, width) for none.
    """
    found = np.zeros((len(lengths), width), dtype=np.float32)

    def work(batch: list[int]) -> None:
        found[batch] = encode(batch).float().cpu().numpy()

    run_batches(list(batches(lengths, size, near=near)), work)
    return found


def run_batches(made: Sequence[list[int]], work: Callable[[list[int]], None]) -> None:
    """Work on batches, several at once on a processor of several cores, without gradients.

    Each batch keeps to its share of the cores: on two cores two batches beside each other are
    quicker than one after the other. With a GPU they come one after the other.

    Args:
        made: Positions of each batch's items.
        work: Works on one batch; called from several threads.
    """
    import torch

    cores = torch.get_num_threads()
    workers = 1 if torch.cuda.is_available() else min(len(made), cores, WORKERS)

    def quietly(batch: list[int]) -> None:
        with torch.inference_mode():
            work(batch)

    if workers < 2:
        for batch in made:
            quietly(batch)
        return
    torch.set_num_threads(max(1, cores // workers))
    try:
        with ThreadPoolExecutor(workers) as pool:
            for _ in pool.map(quietly, made):
                pass
    finally:
        torch.set_num_threads(cores)


def batches(lengths: Sequence[int], size: int, *, near: float = 0.0) -> Iterator[list[int]]:
    """Yield the positions of items, longest first.

    Args:
        lengths: Length of each item, as far as it is read.
        size: Positions yielded together at most; fewer where they are so long that attention,
            which grows with the square of the length, would take up memory.
        near: Share of a batch's longest length that its shortest has at least; what is padded up
            to the longest costs as much as what is there.
    """
    order = sorted(range(len(lengths)), key=lambda k: -lengths[k])
    batch: list[int] = []
    for place in order:
        longest = lengths[batch[0]] if batch else 0
        full = len(batch) == size or (len(batch) + 1) * longest**2 > _AREA
        if batch and (full or lengths[place] < near * longest):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def padded(rows: Sequence[NDArray[Any]], length: int | None = None) -> tuple[Any, Any]:
    """Stack rows of unequal length, zeros behind the shorter ones.

    Args:
        rows: Each (T, C).
        length: Frames of the result; by default those of the longest.

    Returns:
        Tensors (N, length, C) float32 and (N, length) bool, true where there is a frame.
    """
    import torch

    frames = length or max(len(row) for row in rows)
    stacked = torch.zeros((len(rows), frames, rows[0].shape[1]))
    mask = torch.zeros((len(rows), frames), dtype=torch.bool)
    for place, row in enumerate(rows):
        stacked[place, : len(row)] = torch.from_numpy(np.ascontiguousarray(row, dtype=np.float32))
        mask[place, : len(row)] = True
    return stacked, mask


def cosine(texts: NDArray[Any], motions: NDArray[Any]) -> Vectors:
    """Return the cosine of every text with every motion.

    Args:
        texts: (N, D).
        motions: (M, D).

    Returns:
        (N, M) float32 from -1 to 1; a vector of length 0 gives 0 with all.

    Raises:
        ValueError: Widths differ.
    """
    _same_width(texts, motions)
    product = _unit(texts) @ _unit(motions).T
    return np.clip(product, -1.0, 1.0).astype(np.float32)


def negated_euclidean(texts: NDArray[Any], motions: NDArray[Any]) -> Vectors:
    """Return minus the Euclidean distance of every text from every motion.

    In float64: in float32 the expanded square loses equal vectors to NaN or to a distance that is
    not there.

    Args:
        texts: (N, D).
        motions: (M, D).

    Returns:
        (N, M) float32, at most 0.

    Raises:
        ValueError: Widths differ.
    """
    _same_width(texts, motions)
    others = np.asarray(motions, dtype=np.float64)
    lengths = np.square(others).sum(axis=1)
    found = np.empty((len(texts), len(others)), dtype=np.float32)
    for start in range(0, len(texts), _ROWS):
        rows = np.asarray(texts[start : start + _ROWS], dtype=np.float64)
        square = np.square(rows).sum(axis=1)[:, None] - 2.0 * (rows @ others.T) + lengths
        found[start : start + _ROWS] = -np.sqrt(np.maximum(square, 0.0))
    return found


def _unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    data = np.asarray(rows, dtype=np.float32)
    length = np.linalg.norm(data, axis=1, keepdims=True)
    unit: NDArray[np.float32] = data / np.where(length > 0, length, 1.0)
    return unit


def _same_width(texts: NDArray[Any], motions: NDArray[Any]) -> None:
    if texts.ndim != 2 or motions.ndim != 2 or texts.shape[1] != motions.shape[1]:
        raise ValueError(
            f"texts, motions: expected (N, D) and (M, D), got {texts.shape} and {motions.shape}"
        )
