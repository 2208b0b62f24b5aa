"""BERT's word pieces (Devlin et al. 2019), uncased, from a ``vocab.txt``."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from corpus.problems import InputError

UNKNOWN, START, END, PAD = "[UNK]", "[CLS]", "[SEP]", "[PAD]"
_LONGEST_WORD = 100


class WordPieces:
    """Cuts captions into pieces of a vocabulary."""

    def __init__(self, pieces: list[str], *, lower: bool = True) -> None:
        """Keep the vocabulary.

        Args:
            pieces: Pieces in the order of their ids.
            lower: Whether letters are made small and accents taken off.

        Raises:
            InputError: One of the marks is missing.
        """
        self._ids = {piece: place for place, piece in enumerate(pieces)}
        self._pieces = pieces
        self._lower = lower
        for mark in (UNKNOWN, START, END, PAD):
            if mark not in self._ids:
                raise InputError(f"the vocabulary has no {mark}")

    @classmethod
    def read(cls, path: Path) -> WordPieces:
        """Read ``vocab.txt``, one piece a line, or the folder that holds it.

        Raises:
            InputError: Not there, not UTF-8, or no vocabulary of BERT.
        """
        file = path / "vocab.txt" if path.is_dir() else path
        try:
            lines = file.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"expected BERT's vocabulary: {error}", file=str(file)) from error
        if lines and not lines[-1]:
            lines.pop()
        return cls([line.rstrip("\r") for line in lines])

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def pad(self) -> int:
        """Id of padding."""
        return self._ids[PAD]

    def ids(self, text: str, longest: int | None = None) -> list[int]:
        """Return the ids of a text between [CLS] and [SEP].

        Args:
            text: The caption.
            longest: Most ids, marks included; pieces at the end are cut off, never [SEP].
        """
        found = [self._ids[piece] for word in self._words(text) for piece in self._cut(word)]
        if longest is not None:
            found = found[: longest - 2]
        return [self._ids[START], *found, self._ids[END]]

    def visible(self, text: str, longest: int | None = None) -> str:
        """Return the pieces that ``ids`` keeps, joined by spaces."""
        return " ".join(self._pieces[k] for k in self.ids(text, longest)[1:-1])

    def _words(self, text: str) -> list[str]:
        words: list[str] = []
        for word in "".join(_spaced(letter) for letter in text).split():
            if self._lower:
                parts = unicodedata.normalize("NFD", word.lower())
                word = "".join(c for c in parts if unicodedata.category(c) != "Mn")
            start = 0
            for place, letter in enumerate(word):
                if _is_mark(letter):
                    words += [w for w in (word[start:place], letter) if w]
                    start = place + 1
            if word[start:]:
                words.append(word[start:])
        return words

    def _cut(self, word: str) -> list[str]:
        """Cut from the left, the longest known piece each time."""
        if len(word) > _LONGEST_WORD:
            return [UNKNOWN]
        pieces, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self._ids:
                    pieces.append(piece)
                    start = end
                    break
            else:
                return [UNKNOWN]
        return pieces


def _spaced(letter: str) -> str:
    code = ord(letter)
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    if code in (0, 0xFFFD) or unicodedata.category(letter).startswith("C"):
        return ""
    cjk = (
        0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF
        or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
    )  # fmt: skip
    return f" {letter} " if cjk else letter


def _is_mark(letter: str) -> bool:
    # All of ASCII that is neither letter, digit nor space counts, also ^, $ and `.
    ascii_mark = 33 <= ord(letter) <= 126 and not letter.isalnum()
    return ascii_mark or unicodedata.category(letter).startswith("P")
