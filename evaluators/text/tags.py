"""Captions as HumanML3D's tagged words ``word/POS``: given, by spaCy, or by a learned lexicon.

The published processing (Guo et al. 2022, ``text_process.py``) takes out hyphens, keeps words of
letters only, and puts the lemma in place of nouns and verbs, ``left`` excepted.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from corpus.problems import InputError

SPACY_MODEL = "en_core_web_sm"
"""spaCy model HumanML3D's captions were tagged with."""
OTHER = "OTHER"
"""Tag of a word of no listed part of speech."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NOT = re.compile(r"n['’]t$", re.IGNORECASE)


class Tagged(NamedTuple):
    """One word of a caption."""

    word: str
    """Lemma of a noun or verb, else the word as it stands."""
    tag: str
    """Universal part of speech, e.g. ``VERB``."""


class Tagger(Protocol):
    """Turns a caption into tagged words."""

    @property
    def id(self) -> str:
        """What it is, for results and the cache's key, e.g. ``spacy:en_core_web_sm``."""

    def __call__(self, caption: str) -> list[Tagged]:
        """Return the caption's tagged words in order.

        Raises:
            InputError: The tagger does not know this caption.
        """


def parse_tags(field: str) -> list[Tagged]:
    """Read a field of ``word/POS`` separated by spaces.

    Raises:
        InputError: A token without ``/POS``.
    """
    found = []
    for token in field.split():
        word, slash, tag = token.rpartition("/")
        if not slash or not word:
            raise InputError(f"expected word/POS, got {token!r}")
        found.append(Tagged(word, tag))
    return found


class GivenTags:
    """Tags the user brings: one caption, one field of ``word/POS``."""

    id = "given tags"

    def __init__(self, tags: Mapping[str, str], fallback: Tagger | None = None) -> None:
        """Keep the tags.

        Args:
            tags: Field of ``word/POS`` by caption.
            fallback: Asked for a caption that is not among them; None refuses it.
        """
        self._tags = {caption.strip(): parse_tags(field) for caption, field in tags.items()}
        self._fallback = fallback
        if fallback is not None:
            self.id = f"given tags, else {fallback.id}"

    def __call__(self, caption: str) -> list[Tagged]:
        """Return the given tags of a caption."""
        found = self._tags.get(caption.strip())
        if found is not None:
            return found
        if self._fallback is not None:
            return self._fallback(caption)
        raise InputError(f"expected tags for every caption, none are given for {caption[:60]!r}")


class SpacyTags:
    """Tags by spaCy, as HumanML3D made them."""

    def __init__(self, model: str = SPACY_MODEL) -> None:
        """Load the model.

        Args:
            model: Name of an installed model, or its folder.

        Raises:
            InputError: spaCy or the model is not installed.
        """
        self._nlp = _spacy(model)
        self.id = f"spacy:{Path(model).name}"

    def __call__(self, caption: str) -> list[Tagged]:
        """Return the words of letters with their tags."""
        found = []
        for token in self._nlp(caption.replace("-", "")):
            if token.text.isalpha():
                lemma = token.pos_ in ("NOUN", "VERB") and token.text != "left"
                found.append(Tagged(token.lemma_ if lemma else token.text, token.pos_))
        return found


class LexiconTags:
    """Each word's most frequent lemma and tag in HumanML3D's own texts (ours)."""

    def __init__(self, entries: Mapping[str, Tagged], source: str) -> None:
        """Keep a lexicon.

        Args:
            entries: Tagged word by surface form.
            source: Where it was learned, for ``id``.
        """
        self._entries = dict(entries)
        self.id = f"lexicon of {len(self._entries)} words from {source}"

    @classmethod
    def learn(cls, folder: Path) -> LexiconTags:
        """Learn from a folder of ``texts/*.txt``.

        A line counts where its words of letters and its tokens are equally many.

        Raises:
            InputError: No file there, or no line that counts.
        """
        seen: defaultdict[str, Counter[Tagged]] = defaultdict(Counter)
        for caption, tags in _tagged_lines(folder):
            words = words_of(caption)
            if len(words) == len(tags):
                for word, tagged in zip(words, tags, strict=True):
                    seen[word.lower()][tagged] += 1
        if not seen:
            raise InputError(
                "expected HumanML3D texts (caption#word/POS ...#start#end), found no line whose "
                "words and tokens match",
                file=str(folder),
            )
        # The tag breaks a tie, so that the order of files never matters.
        entries = {
            word: min(counts.items(), key=lambda pair: (-pair[1], pair[0]))[0]
            for word, counts in seen.items()
        }
        return cls(entries, folder.name)

    def __call__(self, caption: str) -> list[Tagged]:
        """Return the caption's words; an unknown one stands for itself, tagged ``OTHER``."""
        return [self._entries.get(w.lower(), Tagged(w.lower(), OTHER)) for w in words_of(caption)]


def words_of(caption: str) -> list[str]:
    """Return the words of letters: hyphens out, what follows an apostrophe off.

    >>> words_of("a man's left-hand doesn't move 2 times.")
    ['a', 'man', 'lefthand', 'does', 'move', 'times']
    """
    found = []
    for word in _WORD.findall(caption.replace("-", "")):
        bare = _NOT.sub("", word)
        found.append(re.split("['’]", bare)[0])
    return [word for word in found if word.isalpha()]


def read_tags(path: Path) -> dict[str, str]:
    """Read the tags of captions: a folder of HumanML3D texts, or CSV with ``caption,tokens``.

    Raises:
        InputError: Neither.
    """
    if path.is_dir():
        return {
            caption: " ".join(f"{word}/{tag}" for word, tag in tags)
            for caption, tags in _tagged_lines(path)
        }
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not {"caption", "tokens"} <= set(reader.fieldnames or ()):
                raise InputError("expected the columns caption and tokens", file=str(path))
            found = {}
            for row in reader:
                place = f"row {reader.line_num}"
                if row["tokens"] is None:
                    raise InputError("expected caption and tokens", file=str(path), place=place)
                try:
                    parse_tags(row["tokens"])
                except InputError as error:
                    reason = error.problem.reason
                    raise InputError(reason, file=str(path), place=place) from error
                found[row["caption"]] = row["tokens"]
            return found
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"expected CSV in UTF-8: {error}", file=str(path)) from error


def open_tagger(texts: Path | None = None, spacy: str | None = None) -> Tagger:
    """Return the best tagger there is: given tags first, then spaCy, then a lexicon.

    Args:
        texts: A folder of HumanML3D texts or a CSV of ``caption,tokens``.
        spacy: Name or folder of a spaCy model; None takes ``en_core_web_sm`` if it is installed.

    Raises:
        InputError: ``spacy`` is named and not there, or there is neither spaCy nor ``texts``.
    """
    fallback: Tagger | None = None
    try:
        fallback = SpacyTags(spacy or SPACY_MODEL)
    except InputError:
        if spacy is not None:
            raise
    if texts is None:
        if fallback is None:
            raise InputError(
                "the evaluator reads tagged words: install spaCy with en_core_web_sm, or give "
                "HumanML3D's texts folder or a CSV of caption,tokens"
            )
        return fallback
    if fallback is None and texts.is_dir():
        fallback = LexiconTags.learn(texts)
    return GivenTags(read_tags(texts), fallback)


def _tagged_lines(folder: Path) -> Iterable[tuple[str, list[Tagged]]]:
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise InputError("expected texts of HumanML3D (*.txt), found none", file=str(folder))
    for file in files:
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            parts = line.rsplit("#", 3)
            if len(parts) == 4 and parts[1].strip():
                try:
                    yield parts[0].strip(), parse_tags(parts[1])
                except InputError:
                    continue


def _spacy(model: str) -> Any:
    try:
        import spacy
    except ImportError as error:
        raise InputError("spaCy is not installed: pip install spacy") from error
    try:
        return spacy.load(model)
    except OSError as error:
        raise InputError(
            f"spaCy has no model {model}: python -m spacy download {SPACY_MODEL}"
        ) from error
    except (ImportError, ValueError, KeyError, TypeError) as error:
        why = " ".join(str(error).split())[:160]
        raise InputError(f"spaCy cannot load the model {model}: {why}") from error
