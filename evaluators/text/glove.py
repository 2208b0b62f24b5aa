"""Word vectors of HumanML3D's evaluator: GloVe, a part of speech, and words that matter more.

Vectors, parts of speech and the five lists are those of Guo et al. (2022), ``word_vectorizer.py``
(MIT licence).
"""

from __future__ import annotations

import io
import pickle
import pickletools
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError
from evaluators.checkpoints import read_array
from evaluators.text.tags import OTHER, Tagged

TAGS = (
    "VERB", "NOUN", "DET", "ADP", "NUM", "AUX", "PRON", "ADJ", "ADV", "Loc_VIP", "Body_VIP",
    "Obj_VIP", "Act_VIP", "Desc_VIP", OTHER,
)  # fmt: skip
"""Places of the one-hot vector, in order."""
IMPORTANT = {
    "Loc_VIP": (
        "left right clockwise counterclockwise anticlockwise forward back backward up down "
        "straight curve"
    ),
    "Body_VIP": "arm chin foot feet face hand mouth leg waist eye knee shoulder thigh",
    "Obj_VIP": "stair dumbbell chair window floor car ball handrail baseball basketball",
    "Act_VIP": (
        "walk run swing pick bring kick put squat throw hop dance jump turn stumble stop sit lift "
        "lower raise wash stand kneel stroll rub bend balance flap jog shuffle lean rotate spin "
        "spread climb"
    ),
    "Desc_VIP": (
        "slowly carefully fast careful slow quickly happy angry sad happily angrily sadly"
    ),
}
"""Words whose part of speech gives way to their list."""
LONGEST = 20
"""Words of a caption that are read; two marks come round them."""
UNKNOWN = "unk"
"""Word whose vector stands for words without one, and for padding."""

_LISTED = {word: tag for tag, words in IMPORTANT.items() for word in words.split()}


class WordVectors:
    """A vocabulary with its vectors."""

    def __init__(self, places: dict[str, int], vectors: NDArray[np.float32]) -> None:
        """Keep the vectors.

        Args:
            places: Row of each word.
            vectors: (V, 300).

        Raises:
            InputError: ``unk``, ``sos`` or ``eos`` is missing, or a row is out of range.
        """
        for word in (UNKNOWN, "sos", "eos"):
            if word not in places:
                raise InputError(f"the vocabulary has no word {word!r}")
        if max(places.values()) >= len(vectors) or min(places.values()) < 0:
            raise InputError(f"the vocabulary names rows outside the {len(vectors)} vectors")
        self._places = places
        self._vectors = vectors

    @classmethod
    def read(cls, folder: Path, name: str = "our_vab") -> WordVectors:
        """Read ``NAME_data.npy``, ``NAME_words.pkl`` and ``NAME_idx.pkl``.

        The two pickles are read as lists, dictionaries, texts and numbers only.

        Raises:
            InputError: A file is missing or is something else.
        """
        vectors = read_array(folder / f"{name}_data.npy")
        words = _plain_pickle(folder / f"{name}_words.pkl")
        index = _plain_pickle(folder / f"{name}_idx.pkl")
        if vectors.ndim != 2 or not isinstance(words, list) or not isinstance(index, dict):
            raise InputError("expected vectors, a list of words and their rows", file=str(folder))
        for word in words:
            if not isinstance(word, str) or not isinstance(index.get(word), int):
                raise InputError(f"the word {str(word)[:40]!r} has no row", file=str(folder))
        try:
            return cls({word: index[word] for word in words}, vectors)
        except InputError as error:
            raise InputError(error.problem.reason, file=str(folder)) from error

    @property
    def width(self) -> int:
        """Width of a vector."""
        return int(self._vectors.shape[1])

    def seen(self, words: Sequence[Tagged]) -> list[Tagged]:
        """Return what the evaluator sees of a caption: 20 words, unknown ones alike, its tags."""
        found = []
        for word, tag in words[:LONGEST]:
            if word not in self._places:
                found.append(Tagged(UNKNOWN, OTHER))
            else:
                found.append(Tagged(word, _LISTED.get(word, tag if tag in TAGS else OTHER)))
        return found

    def arrays(
        self, captions: Sequence[Sequence[Tagged]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """Return vectors (N, 22, 300), one-hot tags (N, 22, 15) and lengths (N,), marks included.

        Padding is ``unk`` with the tag OTHER, as in the published loader.
        """
        marked = [
            [Tagged("sos", OTHER), *self.seen(words), Tagged("eos", OTHER)] for words in captions
        ]
        frame = LONGEST + 2
        rows = np.full((len(marked), frame), self._places[UNKNOWN], dtype=np.int64)
        tags = np.full((len(marked), frame), TAGS.index(OTHER), dtype=np.int64)
        for place, words in enumerate(marked):
            rows[place, : len(words)] = [self._places[word] for word, _ in words]
            tags[place, : len(words)] = [TAGS.index(tag) for _, tag in words]
        lengths = np.array([len(words) for words in marked], dtype=np.int64)
        return self._vectors[rows], np.eye(len(TAGS), dtype=np.float32)[tags], lengths


class _Plain(pickle.Unpickler):
    """Admits no name at all, so only plain values can come out."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it names {module}.{name}, which was not loaded")


def _plain_pickle(path: Path) -> Any:
    try:
        content = path.read_bytes()
        # A place far beyond the file would have memory set aside up to it.
        for step, place, _ in pickletools.genops(content):
            if step.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(place or 0) > len(content):
                raise pickle.UnpicklingError(f"it names the place {place}")
        return _Plain(io.BytesIO(content)).load()
    except (
        OSError, pickle.UnpicklingError, EOFError, ValueError, IndexError, KeyError, TypeError,
        AttributeError, MemoryError, OverflowError, struct.error,
    ) as error:  # fmt: skip
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"expected a pickled list or dictionary: {why}", file=str(path)) from error
