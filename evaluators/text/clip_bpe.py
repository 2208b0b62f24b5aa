"""CLIP's byte pairs (Radford et al. 2021) from ``bpe_simple_vocab_16e6.txt.gz``."""

from __future__ import annotations

import gzip
import html
import re
import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from corpus.problems import InputError

MERGES = 48894
"""Merges of the file that CLIP uses; the first line is a head."""
CONTEXT = 77
"""Ids of a text, both marks and padding included."""
_END_OF_WORD = "</w>"
_LARGEST = 1 << 24
"""Characters of the file of merges that are read (ours; it has 3.2 million)."""
_WORDS = re.compile(
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[^\W\d_]+|\d|(?:[^\s\w]|_)+",
    re.IGNORECASE,
)


class BytePairs:
    """Cuts captions into byte pairs."""

    def __init__(self, merges: Sequence[tuple[str, str]]) -> None:
        """Keep the merges, earliest first; ids follow from them."""
        alphabet = list(_byte_letters().values())
        pieces = alphabet + [letter + _END_OF_WORD for letter in alphabet]
        pieces += ["".join(pair) for pair in merges]
        self.start, self.end = len(pieces), len(pieces) + 1
        self._ids = {piece: place for place, piece in enumerate(pieces)}
        self._pieces = [*pieces, "<|startoftext|>", "<|endoftext|>"]
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._cut = lru_cache(maxsize=100_000)(self._merge)

    @classmethod
    def read(cls, path: Path) -> BytePairs:
        """Read the file of merges.

        Raises:
            InputError: Not there, not gzip, or no list of pairs.
        """
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                lines = file.read(_LARGEST).split("\n")
        except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
            raise InputError(f"expected CLIP's merges in gzip: {error}", file=str(path)) from error
        pairs = [tuple(line.split()) for line in lines[1 : MERGES + 1] if line]
        if not pairs or any(len(pair) != 2 for pair in pairs):
            raise InputError("expected two pieces a line below a head", file=str(path))
        return cls([(pair[0], pair[1]) for pair in pairs])

    def __len__(self) -> int:
        return len(self._pieces)

    def ids(self, text: str, context: int = CONTEXT) -> list[int]:
        """Return the ids of a text between its marks; a longer one is cut, its end mark kept."""
        clean = " ".join(html.unescape(html.unescape(_typed(text))).split()).lower()
        letters = _byte_letters()
        found: list[int] = []
        for word in (part for run in _WORDS.findall(clean) for part in _numbers_apart(run)):
            if word in ("<|startoftext|>", "<|endoftext|>"):
                found.append(self.start if word.startswith("<|start") else self.end)
                continue
            spelled = "".join(letters[byte] for byte in word.encode(errors="replace"))
            found += [self._ids[piece] for piece in self._cut(spelled)]
        return [self.start, *found[: context - 2], self.end]

    def array(self, texts: Sequence[str], context: int = CONTEXT) -> NDArray[np.int64]:
        """Return (N, context) ids, zeros behind the end mark."""
        rows = np.zeros((len(texts), context), dtype=np.int64)
        for place, text in enumerate(texts):
            ids = self.ids(text, context)
            rows[place, : len(ids)] = ids
        return rows

    def visible(self, text: str, context: int = CONTEXT) -> str:
        """Return the pieces that are read, joined by spaces."""
        return " ".join(self._pieces[k] for k in self.ids(text, context)[1:-1])

    def _merge(self, word: str) -> tuple[str, ...]:
        """Merge the earliest learned pair, everywhere in the word, until none is left."""
        parts = [*word[:-1], word[-1] + _END_OF_WORD]
        while len(parts) > 1:
            pairs = set(zip(parts, parts[1:], strict=False))
            best = min(pairs, key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if best not in self._ranks:
                break
            merged: list[str] = []
            for part in parts:
                if merged and (merged[-1], part) == best:
                    merged[-1] += part
                else:
                    merged.append(part)
            parts = merged
        return tuple(parts)


_KEYS = {
    **dict.fromkeys((0x2BC, *range(0x2018, 0x201C)), "'"),
    **dict.fromkeys(range(0x201C, 0x2020), '"'),
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    0x3000: " ",
}
"""Curled quotation marks, ligatures and wide letters, as one would type them."""


def _typed(text: str) -> str:
    """Return a text as CLIP's own cleaning (the library ftfy) leaves it; mojibake is not mended."""
    return unicodedata.normalize("NFC", text.translate(_KEYS))


def _numbers_apart(word: str) -> list[str]:
    """Cut out numerals that are no digits, such as a half or a square: each is a word."""
    if word.isascii() or not any(unicodedata.category(c).startswith("N") for c in word):
        return [word]
    parts = [""]
    for letter in word:
        if unicodedata.category(letter).startswith("N"):
            parts += [letter, ""]
        else:
            parts[-1] += letter
    return [part for part in parts if part]


@lru_cache(maxsize=1)
def _byte_letters() -> dict[int, str]:
    """Return a printable letter for each byte, in the order that gives the ids."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {
        byte: chr(256 + place) for place, byte in enumerate(others)
    }
