"""Named skeletons: joint names, parents, left-right pairs. The one place joints are numbered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skeleton:
    """An ordered set of named joints."""

    name: str
    joints: tuple[str, ...]
    parents: tuple[int, ...]

    def index(self, joint: str) -> int:
        """Return the position of a joint.

        Raises:
            ValueError: The joint is not in the skeleton; the message lists those that are.
        """
        if joint not in self.joints:
            raise ValueError(f"unknown joint {joint!r}; {self.name} has {', '.join(self.joints)}")
        return self.joints.index(joint)

    def mirror_index(self) -> list[int]:
        """Return for each joint the position of its left-right counterpart."""
        swapped = {"left": "right", "right": "left"}
        result = []
        for joint in self.joints:
            side, _, rest = joint.partition("_")
            result.append(
                self.joints.index(f"{swapped[side]}_{rest}" if side in swapped else joint)
            )
        return result


_SMPL24_JOINTS = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2",
    "left_ankle", "right_ankle", "spine3", "left_foot", "right_foot", "neck", "left_collar",
    "right_collar", "head", "left_shoulder", "right_shoulder", "left_elbow", "right_elbow",
    "left_wrist", "right_wrist", "left_hand", "right_hand",
)  # fmt: skip
_SMPL24_PARENTS = (
    -1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19, 20, 21,
)  # fmt: skip

SMPL22 = Skeleton("smpl22", _SMPL24_JOINTS[:22], _SMPL24_PARENTS[:22])
"""The 22 body joints of SMPL in HumanML3D's order (Loper et al. 2015; Guo et al. 2022)."""
SMPL24 = Skeleton("smpl24", _SMPL24_JOINTS, _SMPL24_PARENTS)
"""SMPL's 24 joints (Loper et al. 2015)."""

KIT21 = Skeleton(
    "kit21",
    (
        "pelvis", "spine1", "spine2", "neck", "head", "left_shoulder", "left_elbow", "left_wrist",
        "right_shoulder", "right_elbow", "right_wrist", "left_hip", "left_knee", "left_ankle",
        "left_midfoot", "left_foot", "right_hip", "right_knee", "right_ankle", "right_midfoot",
        "right_foot",
    ),
    (-1, 0, 1, 2, 3, 3, 5, 6, 3, 8, 9, 0, 11, 12, 13, 14, 0, 16, 17, 18, 19),
)  # fmt: skip
"""The 21 joints of KIT-ML (Plappert et al. 2016) in the order root, BP, BT, BLN, BUN, LS, LE, LW,
RS, RE, RW, LH, LK, LA, LMrot, LF, RH, RK, RA, RMrot, RF of the Master Motor Map (Terlemez et al.
2014). Guo et al. (2022) call joints 11 to 15 right where they work out the heading; MMM's names
and their own rest offsets (+X) say left."""
SNAPMOGEN24 = Skeleton(
    "snapmogen24",
    (
        "pelvis", "spine1", "spine2", "spine3", "neck", "neck2", "head", "left_collar",
        "left_shoulder", "left_elbow", "left_wrist", "right_collar", "right_shoulder",
        "right_elbow", "right_wrist", "lower_pelvis", "left_hip", "left_knee", "left_ankle",
        "left_foot", "right_hip", "right_knee", "right_ankle", "right_foot",
    ),
    (-1, 0, 1, 2, 3, 4, 5, 3, 7, 8, 9, 3, 11, 12, 13, 0, 15, 16, 17, 18, 15, 20, 21, 22),
)  # fmt: skip
"""SnapMoGen's 24 joints (Guo et al. 2025) in the order of its BVH files: ROOT, C_spine0001 to
0003, C_neck0001 and 0002, C_head, the left arm, the right arm, C_pelvis0001, the left leg, the
right leg."""

SKELETONS: dict[str, Skeleton] = {s.name: s for s in (SMPL22, SMPL24, KIT21, SNAPMOGEN24)}
"""Skeletons by name."""

KIMODO30_AS_SMPL22: tuple[int, ...] = (
    0, 22, 26, 1, 23, 27, 2, 24, 28, 3, 25, 29, 4, 10, 16, 6, 11, 17, 12, 18, 13, 19,
)  # fmt: skip
"""For each joint of ``SMPL22`` its position among Kimodo's 30 (names are not stored there)."""

REST_OFFSETS: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0, 0.0), (0.075, -0.085, -0.005), (-0.075, -0.085, -0.005), (0.0, 0.11, -0.02),
    (0.03, -0.39, 0.0), (-0.03, -0.39, 0.0), (0.0, 0.135, 0.005), (-0.01, -0.405, -0.03),
    (0.01, -0.405, -0.03), (0.0, 0.055, 0.01), (0.02, -0.06, 0.12), (-0.02, -0.06, 0.12),
    (0.0, 0.215, -0.03), (0.08, 0.12, -0.02), (-0.08, 0.12, -0.02), (0.0, 0.09, 0.045),
    (0.105, 0.035, -0.01), (-0.105, 0.035, -0.01), (0.255, -0.005, -0.015),
    (-0.255, -0.005, -0.015), (0.25, 0.005, 0.0), (-0.25, 0.005, 0.0), (0.085, -0.01, -0.01),
    (-0.085, -0.01, -0.01),
)  # fmt: skip
"""Offset of each ``SMPL24`` joint from its parent at rest, metres (T-pose, facing +Z, Y up).

Ours: round figures of a person of about 1.7 m in SMPL's joint order, symmetric by construction;
they stand in for a body model where a source stores rotations only.
"""
