"""The words of the pages, one catalogue a language; English is the one that all others follow.

What a study asks (questions, guidelines) is no part of it: a translated question is another
measurement, so it stays in the language of its protocol.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from annotation_app.plain import sentence

LANGUAGES: dict[str, str] = {"en": "English", "de": "Deutsch"}
"""Languages by code, each under its own name."""
PARAMETER = "lang"
"""Query parameter that chooses a language."""

_HERE = Path(__file__).parent
_PLACE = re.compile(r"\[\[([a-z0-9_.]+)\]\]")


class Texts:
    """The words of one language."""

    def __init__(
        self, language: str, texts: Mapping[str, str], messages: Mapping[str, str]
    ) -> None:
        """Keep the texts by key, and the translations of messages by their English wording."""
        self.language = language
        self._texts = dict(texts)
        self._messages = dict(messages)

    def __call__(self, key: str, **values: object) -> str:
        """Return a text, e.g. ``texts("lobby.stranger_title")``.

        Args:
            key: Table and name in the catalogue.
            **values: What stands in for ``{name}`` in the text.

        Raises:
            KeyError: There is no such text.
        """
        text = self._texts[key]
        return text.format(**values) if values else text

    def count(self, key: str, n: int, **values: object) -> str:
        """Return a text with a number: ``key_one`` for 1, ``key_other`` for all else."""
        return self(f"{key}_{'one' if n == 1 else 'other'}", n=n, **values)

    def table(self, name: str) -> dict[str, str]:
        """Return the texts of a table by their names in it."""
        start = f"{name}."
        return {
            key.removeprefix(start): text
            for key, text in self._texts.items()
            if key.startswith(start)
        }

    def known(self, name: str, word: str) -> str:
        """Return the word for a value of the data, or the value in plain words where none is."""
        return self._texts.get(f"{name}.{word}", word.replace("_", " "))

    def told(self, line: str) -> str:
        """Return a line of another package, in this language where it is translated."""
        return self._messages.get(line, line)

    def message(self, line: str) -> str:
        """Return what went wrong as a sentence, in this language where it is translated."""
        return sentence(self.told(line))

    def fill(self, markup: str) -> str:
        """Return markup with each ``[[key]]`` replaced by its text, escaped."""
        return _PLACE.sub(lambda found: escape(self(found[1])), markup)


@cache
def texts(language: str) -> Texts:
    """Return the words of a language; what it lacks is English.

    Raises:
        KeyError: There is no such language.
    """
    if language not in LANGUAGES:
        raise KeyError(f"unknown language {language!r}; there are {sorted(LANGUAGES)}")
    own = catalogue(language)
    messages = own.pop("messages", {})
    flat = {**_flat(catalogue("en")), **_flat(own)}
    return Texts(language, flat, messages)


def catalogue(language: str) -> dict[str, Any]:
    """Return a catalogue as its file has it: tables of texts."""
    return tomllib.loads((_HERE / f"{language}.toml").read_text(encoding="utf-8"))


def choose(wanted: str | None, accepted: str | None) -> Texts:
    """Return the words to show someone.

    Args:
        wanted: Language asked for by name; ignored where it is unknown.
        accepted: ``Accept-Language`` of their browser.

    >>> choose(None, "fr-FR, de;q=0.8, en;q=0.5").language
    'de'
    """
    if wanted in LANGUAGES:
        return texts(str(wanted))
    ranked = []
    for place, part in enumerate((accepted or "").split(",")):
        name, _, quality = part.strip().partition(";q=")
        try:
            weight = float(quality or 1.0)
        except ValueError:
            continue
        ranked.append((-weight, place, name.split("-")[0].lower()))
    return texts(next((name for *_rank, name in sorted(ranked) if name in LANGUAGES), "en"))


def _flat(tables: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {
        f"{table}.{name}": text
        for table, entries in tables.items()
        if table != "messages"
        for name, text in entries.items()
    }
