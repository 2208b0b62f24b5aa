"""A vision-language model for the score commands, from the workspace's ``[llm]`` table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from corpus.problems import InputError

if TYPE_CHECKING:
    from evaluators.vlm import VlmJudge
    from llm.ask import Event
    from llm.budget import Budget
    from motionjury.workspace import Workspace

STAGE = "score"
"""Stage whose settings, ``[llm.stages.score]``, come before ``[llm]``."""


def open_vlm(
    model: str | None,
    workspace: Workspace | None,
    seed: int = 0,
    budget: Budget | None = None,
    *,
    both_orders: bool = False,
) -> VlmJudge:
    """Open a vision-language model; its answers are kept in the workspace's ``llm-cache``.

    Args:
        model: Name of the model as the endpoint knows it; None for the table's.
        workspace: Whose ``[llm]`` table names the endpoint; None leaves the environment.
        seed: Seed of the order of the captions.
        budget: The most it may use; None is no limit.
        both_orders: Whether each question is asked in both orders of the captions.

    Raises:
        InputError: No endpoint or model is named, or an unknown setting.
    """
    from evaluators.vlm import VlmJudge
    from llm.ask import LanguageModel
    from llm.cache import ResponseCache
    from llm.settings import stage_settings

    table = workspace.settings.get("llm") if workspace is not None else None
    if table is not None and not isinstance(table, dict):
        raise InputError("expected a table of settings", file="workspace.toml", place="[llm]")
    settings = stage_settings(table, STAGE, model=model)
    if settings is None:
        raise InputError(
            "--model vlm: no endpoint or model is named; set base_url and model under [llm] in "
            "workspace.toml, or OPENAI_BASE_URL or OPENAI_API_KEY and --model vlm=NAME"
        )
    cache = None if workspace is None else ResponseCache(workspace.root / "llm-cache")
    return VlmJudge(
        LanguageModel(settings, cache, budget),
        seed=seed,
        both_orders=both_orders,
        progress=telling(lambda done, total: None),
    )


def telling(told: Callable[[int, int], None]) -> Callable[[Event], None]:
    """Return what a run tells its events: how far it is, and on stderr why it waits or stops.

    Args:
        told: Called with how many questions are settled, and of how many.
    """

    def tell(event: Event) -> None:
        told(event.done, event.total)
        if event.kind in ("stopped", "notice", "retry"):
            where = f" {event.id}" if event.id else ""
            print(f"{STAGE}{where}: {event.kind}: {event.detail}", file=sys.stderr)

    return tell
