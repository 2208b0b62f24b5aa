"""Named skeletons: joint names, parents, left-right pairs. The one place joints are numbered."""

from __future__ import annotations

from typing import NamedTuple


class Skeleton(NamedTuple):
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
            result.append(self.joints.index(f"{swapped[side]}_{rest}" if side in swapped else joint))
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

SKELETONS: dict[str, Skeleton] = {s.name: s for s in (SMPL22, SMPL24)}
"""Skeletons by name."""
