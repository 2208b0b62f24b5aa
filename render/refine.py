"""Poses made better by gradient descent, started from the analytic ones; in torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from corpus.skeletons import SMPL24

STEPS = 60
"""Iterations of Adam (ours)."""
RATE = 0.01
"""Step size, radians (ours)."""
SMOOTH = 2e-5
"""Weight of the change's acceleration, square metres per square radian at 30 fps (ours)."""
STAY = 1e-4
"""Weight of the change itself, square metres per square radian: twist stays where it was (ours)."""

Floats = NDArray[np.float64]


def refined(rotations: Floats, joints: Floats, observed: Floats, fps: float) -> Floats:
    """Turn joints a little so that they come closer to where they were seen.

    Minimises the mean squared distance of the joints, plus small terms for the size of the change
    and for its acceleration over time (Kingma & Ba 2015 for the descent). Bones keep their length.

    Args:
        rotations: (T, 24, 3, 3) world rotations to start from.
        joints: (24, 3) rest joint centres, metres.
        observed: (T, 22 or 24, 3) joints as seen, metres; joint 0 is met exactly.
        fps: Frames per second.

    Returns:
        World rotations (T, 24, 3, 3); those it started from where the joints came no closer.
    """
    import torch

    parents = SMPL24.parents
    count = observed.shape[1]
    world = torch.from_numpy(rotations)
    bones = torch.from_numpy(
        np.stack([joints[j] - joints[max(p, 0)] for j, p in enumerate(parents)])
    )
    target = torch.from_numpy(observed)
    change = torch.zeros(len(rotations), 24, 3, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.Adam([change], lr=RATE)
    # Frames further apart move further: the same acceleration weighs the same at every rate.
    smooth = SMOOTH * (fps / 30.0) ** 4

    def turned() -> torch.Tensor:
        # Each joint turns in its own frame of before, independently of the others (Rodrigues).
        x, y, z = change.unbind(dim=2)
        none = torch.zeros_like(x)
        skew = torch.stack(
            [torch.stack(r, dim=2) for r in ([none, -z, y], [z, none, -x], [-y, x, none])], dim=2
        )
        angle = (change.square().sum(dim=2) + 1e-12).sqrt()[..., None, None]
        sine, rest = angle.sin() / angle, (1 - angle.cos()) / angle.square()
        turn: torch.Tensor = world @ (torch.eye(3, dtype=world.dtype) + sine * skew)
        return turn + world @ (rest * (skew @ skew))

    def reached(turns: torch.Tensor) -> torch.Tensor:
        carried = (turns[:, list(parents[1:])] @ bones[1:, :, None])[..., 0]
        centres = [target[:, 0]]
        for j in range(1, count):
            centres.append(centres[parents[j]] + carried[:, j - 1])
        return torch.stack(centres, dim=1)

    for _ in range(STEPS):
        descent.zero_grad()
        loss = ((reached(turned()) - target) ** 2).sum(dim=2).mean()
        loss = loss + STAY * (change**2).sum(dim=2).mean()
        if len(change) > 2:
            bend = change[2:] - 2 * change[1:-1] + change[:-2]
            loss = loss + smooth * (bend**2).sum(dim=2).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        descent.step()
    with torch.no_grad():
        before, after = (
            float((reached(turns) - target).norm(dim=2).mean()) for turns in (world, turned())
        )
        result: Floats = turned().numpy()
    return result if after < before else rotations
