"""Models and motions for the score commands: what ``--model`` and ``--motions`` name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from corpus.problems import InputError

if TYPE_CHECKING:
    from corpus.clips import Clip
    from evaluators.builtin import BuiltinEvaluator
    from evaluators.protocol import ForcedChoiceModel, Scorer
    from evaluators.source import MotionLibrary
    from llm.budget import Budget
    from motionjury.workspace import Workspace

BUILTIN = "builtin"
"""Name of the built-in evaluator."""
OWN = "own"
"""Name of a model of the user's own, ``own=FILE.py:FUNCTION``."""
VLM = "vlm"
"""Name of a vision-language model asked to choose, ``vlm`` or ``vlm=MODEL``."""


class NamedModel(NamedTuple):
    """A model and the table of STRIDE it belongs to."""

    kind: Literal["evaluator", "likelihood", "choices"]
    model: Scorer | ForcedChoiceModel


_TABLES: dict[str, Literal["evaluator", "likelihood", "choices"]] = {
    "embedding": "evaluator",
    "pair": "evaluator",
    "likelihood": "likelihood",
    "forced choice": "choices",
}


def open_models(
    names: Sequence[str],
    file: Sequence[str] | None = None,
    option: Sequence[str] | None = None,
    *,
    trust: bool = False,
    device: str = "auto",
    workspace: Path | None = None,
    budget: Budget | None = None,
    both_orders: bool = False,
) -> list[NamedModel]:
    """Open the models that ``--model`` names.

    Args:
        names: ``builtin``, ``builtin=WEIGHTS``, ``own=FILE.py:FUNCTION``, ``vlm``, ``vlm=MODEL``,
            or a released model, ``NAME`` or ``NAME=FOLDER``.
        file: ``KEY=PATH`` files of the one released model.
        option: ``NAME=VALUE`` options of the one released model.
        trust: Whether Python objects in its checkpoints may be loaded.
        device: ``auto``, ``cpu`` or a GPU.
        workspace: Whose ``[llm]`` table says where a vision-language model is.
        budget: The most each vision-language model may use; None is no limit.
        both_orders: Whether a vision-language model is asked in both orders of the captions.

    Raises:
        InputError: An unknown model, files that are missing or of another model, or files and
            options for more than one released model.
    """
    from motionjury.commands.score_selfcheck import pairs

    released = [name for name in names if name.partition("=")[0] not in (BUILTIN, OWN, VLM)]
    if (file or option) and len(released) != 1:
        raise InputError(
            f"--file and --option: expected one released model, got {len(released)}; give each "
            "its folder with --model NAME=FOLDER"
        )
    opened = []
    for entry in names:
        name, _, path = entry.partition("=")
        place = Path(path) if path else None
        if name == BUILTIN:
            opened.append(NamedModel("evaluator", open_builtin(place)))
            continue
        if name == OWN:
            from evaluators.own import open_own

            kind, own = open_own(path)
            opened.append(NamedModel(_TABLES[kind], own))
            continue
        if name == VLM:
            from motionjury.vlm import open_vlm

            around = _workspace(workspace)
            judge = open_vlm(path or None, around, budget=budget, both_orders=both_orders)
            opened.append(NamedModel("choices", judge))
            continue
        from evaluators.registry import MODELS, open_model

        if name not in MODELS:
            known = ", ".join((BUILTIN, OWN, VLM, *MODELS))
            raise InputError(f"--model: expected one of {known}, got {name!r}")
        files = {key: Path(value) for key, value in pairs(file, "--file").items()}
        model = open_model(
            name, place, files, pairs(option, "--option"), trust=trust, device=device
        )
        opened.append(NamedModel(_TABLES[MODELS[name].kind], model))
    return opened


def open_builtin(weights: Path | None) -> BuiltinEvaluator:
    """Open the built-in evaluator; without weights at the usual place it is trained now.

    Args:
        weights: Weights file; the usual place when None.

    Raises:
        InputError: The file named is not there or damaged.
    """
    from evaluators.builtin import default_weights, load_builtin

    if weights is None and not default_weights().exists():
        print("training the built-in evaluator once, a minute or two", file=sys.stderr)
        train(default_weights())
    return load_builtin(weights)


def train(out: Path, **recipe: Any) -> Any:
    """Train the built-in evaluator with a bar; see ``evaluators.training.builtin``.

    Args:
        out: Weights file to write.
        **recipe: Fields of ``BuiltinConfig`` that are not the default.

    Returns:
        ``Trained``.

    Raises:
        InputError: A recipe that is none, or another kind of file at ``out``.
    """
    from pydantic import ValidationError

    from evaluators.builtin import load_weights
    from evaluators.training.builtin import BuiltinConfig, train_builtin
    from motionjury.options import bar

    try:
        config = BuiltinConfig(**recipe)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"--{first['loc'][0]}: {first['msg']}") from error
    if out.is_file():
        try:
            load_weights(out)
        except InputError as error:
            reason = "is there, but no weights of the built-in evaluator; delete it or name another"
            raise InputError(reason, file=str(out)) from error
    with bar("built-in evaluator") as told:
        return train_builtin(out, config, lambda _, done, total: told(done, total))


def motion_library(
    motion_ids: Iterable[str],
    *,
    motions: Path | None = None,
    corpus: str | None = None,
    fps: float | None = None,
    workspace: Path | None = None,
) -> MotionLibrary:
    """Find the motions of a release.

    Args:
        motion_ids: Ids that are wanted.
        motions: File or folder to read them from; read as ``corpus import`` reads it.
        corpus: Name of the corpus there, the first part of the ids; by default its format.
        fps: Frames a second of files there that store none.
        workspace: Workspace that knows them, when no folder is named; else the nearest one upward.

    Returns:
        The motions. Those of the demo corpus are made anew where nothing else has them.

    Raises:
        InputError: One is found nowhere; the first is named and all are counted.
    """
    from evaluators.source import MotionLibrary

    wanted = set(motion_ids)
    known: dict[str, tuple[str, Callable[[], Any]]] = {}
    place = ""
    if motions is not None:
        known, place = _from_folder(motions, corpus, fps, wanted), str(motions)
    else:
        opened = _workspace(workspace)
        if opened is not None:
            known, place = _from_workspace(opened, wanted), str(opened.root)
    if any(name.startswith("synthetic:") for name in wanted - known.keys()):
        from motionjury.scored_clips import demo_clips

        lacking = wanted - known.keys()
        known |= {c.id: (c.content_hash, c.read) for c in demo_clips() if c.id in lacking}
    missing = sorted(wanted - known.keys())
    if missing:
        raise InputError(
            f"{len(missing)} of {len(wanted)} motions are not there, the first is {missing[0]!r}; "
            "name their folder with --motions, and the corpus with --corpus",
            file=place,
        )
    return MotionLibrary(known)


def cache_folder(workspace: Path | None) -> Path:
    """Return where vectors are kept: in the workspace where there is one, else the user's cache."""
    from evaluators.builtin import default_weights

    opened = _workspace(workspace)
    if opened is not None:
        return opened.root / "embeddings"
    return default_weights().parent.parent / "embeddings"


def _workspace(named: Path | None) -> Workspace | None:
    """Open the workspace named, or the nearest one if there is one."""
    from motionjury.workspace import open_workspace

    if named is not None:
        return open_workspace(named)
    try:
        return open_workspace()
    except InputError:
        return None


def _from_workspace(
    opened: Workspace, wanted: set[str]
) -> dict[str, tuple[str, Callable[[], Any]]]:
    from store.clips import list_clips

    with opened.db.read() as session:
        clips = [clip for clip in list_clips(session) if clip.id in wanted]
    return _readers(clips, opened.root)


def _from_folder(
    path: Path, corpus: str | None, fps: float | None, wanted: set[str]
) -> dict[str, tuple[str, Callable[[], Any]]]:
    from motionjury.options import print_problems
    from motionjury.scored_clips import read_folder

    reading = read_folder(path, corpus, fps)
    if wanted - {clip.id for clip in reading.clips}:
        print_problems(reading.problems)
    return _readers([clip for clip in reading.clips if clip.id in wanted], Path.cwd())


def _readers(clips: Iterable[Clip], base: Path) -> dict[str, tuple[str, Callable[[], Any]]]:
    from corpus.reading import load_motion

    return {clip.id: (clip.content_hash, partial(load_motion, clip, base)) for clip in clips}
