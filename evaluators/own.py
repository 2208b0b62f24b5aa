"""A model of the user's own, written in Python: any object that follows one of the protocols.

This is also how a motion-to-text model from a checkout of its own is scored: put its forward pass
into ``evaluators.m2t.CaptionLikelihood`` and return that.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from corpus.problems import InputError
from evaluators.models import Kind
from evaluators.protocol import (
    EmbeddingModel,
    ForcedChoiceModel,
    LikelihoodModel,
    PairScorer,
)

_KINDS: dict[Kind, Any] = {
    "embedding": EmbeddingModel,
    "pair": PairScorer,
    "likelihood": LikelihoodModel,
    "forced choice": ForcedChoiceModel,
}


def open_own(words: str) -> tuple[Kind, Any]:
    """Import a function and call it for a model.

    The user's code is run, with the folder it stands in (or the current one) on the path.

    Args:
        words: ``FILE.py:FUNCTION`` or ``MODULE:FUNCTION``; the function takes nothing.

    Returns:
        The protocol the model follows, and the model.

    Raises:
        InputError: No such file, module or function, or what it returns follows no protocol.
    """
    place, colon, name = words.rpartition(":")
    if not colon or not place or not name:
        raise InputError(f"own: expected FILE.py:FUNCTION or MODULE:FUNCTION, got {words!r}")
    module = _module(place)
    function = getattr(module, name, None)
    if not callable(function):
        raise InputError(f"own: expected a function {name}, there is none", file=place)
    try:
        model = function()
    except Exception as error:
        raise InputError(f"own: {name} failed: {_why(error)}", file=place) from error
    return kind_of(model, words), model


def kind_of(model: Any, words: str) -> Kind:
    """Return the protocol a model follows.

    Args:
        model: The model.
        words: What to call it in messages.

    Raises:
        InputError: It follows none, several, or does not say its name, metric and fingerprint.
    """
    found: list[Kind] = [kind for kind, protocol in _KINDS.items() if isinstance(model, protocol)]
    if len(found) != 1:
        raise InputError(
            f"{words}: expected a model with embed_texts, embed_motions and similarity, or with "
            f"score, log_likelihood or choose, and name, native_metric and fingerprint; got "
            f"{type(model).__name__}" + (f", which is {' and '.join(found)}" if found else "")
        )
    for field in ("name", "native_metric", "fingerprint"):
        value = getattr(model, field)
        if not isinstance(value, str) or not value:
            raise InputError(f"{words}: expected a text as {field}, got {value!r}")
    return found[0]


def _module(place: str) -> ModuleType:
    path = Path(place).expanduser()
    folder = str(path.resolve().parent if path.suffix == ".py" else Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        if path.suffix != ".py":
            return importlib.import_module(place)
        if not path.is_file():
            raise InputError("own: expected a Python file, it is not there", file=place)
        spec = importlib.util.spec_from_file_location(f"own:{path.resolve()}", path)
        if spec is None or spec.loader is None:
            raise InputError("own: expected a Python file", file=place)
        module = importlib.util.module_from_spec(spec)
        # A class looks its own module up there; the name keeps clear of libraries.
        sys.modules[f"own:{path.resolve()}"] = module
        spec.loader.exec_module(module)
    except InputError:
        raise
    # Whatever the user's code does wrong is the user's to hear, in one line.
    except Exception as error:
        raise InputError(f"own: cannot be imported: {_why(error)}", file=place) from error
    return module


def _why(error: Exception) -> str:
    """Return what was raised and where."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"
