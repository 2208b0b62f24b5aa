"""The prompts of the MRBench stages, one file each below ``construction/prompts/mrbench``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from llm.prompts import Prompt, load_prompt

FOLDER = Path(__file__).parent.parent / "prompts" / "mrbench"
"""Where the prompt files are."""


@cache
def _load(name: str, variables: tuple[str, ...]) -> Prompt:
    return load_prompt(FOLDER / f"{name}.md", variables)


def prompt(name: str, variables: Sequence[str]) -> Prompt:
    """Return a prompt of MRBench.

    Args:
        name: ``score``, ``classify``, ``verify`` or ``rewrite``.
        variables: What the caller will fill in.

    Returns:
        The prompt.

    Raises:
        InputError: The file wants a variable that is not among them.
    """
    return _load(name, tuple(variables))
