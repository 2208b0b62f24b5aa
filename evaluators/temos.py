"""TEMOS (Petrovich et al. 2022), as MRBench can use it: trained in TMR's repository.

The checkpoints of TEMOS's own repository are for KIT-ML rotations only and are recognised and
refused by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.tmr import Tmr, open_as

if TYPE_CHECKING:
    from evaluators.models import ModelFiles

NAME = "TEMOS"


def open_model(files: ModelFiles) -> Tmr:
    """Open TEMOS in TMR's layout (``model=temos``, trained without the contrastive loss).

    Raises:
        InputError: A file is missing or not what it should be.
    """
    return open_as(files, NAME)
