"""The catalogues: the same keys and placeholders in each language, and every key that is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import annotation_app
from annotation_app import player
from annotation_app.texts import LANGUAGES, catalogue, choose, texts

HERE = Path(annotation_app.__file__).parent
OTHERS = [language for language in LANGUAGES if language != "en"]


def flat(language: str) -> dict[str, str]:
    tables = catalogue(language)
    tables.pop("messages", None)
    return {f"{t}.{name}": text for t, entries in tables.items() for name, text in entries.items()}


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_every_text_with_its_placeholders(language):
    english, other = flat("en"), flat(language)
    assert set(other) == set(english)
    for key, text in english.items():
        places = sorted(re.findall(r"\{(\w+)\}", text))
        assert sorted(re.findall(r"\{(\w+)\}", other[key])) == places, key


def test_every_key_that_is_used_is_there_and_the_other_way_round():
    python = "\n".join(path.read_text("utf-8") for path in HERE.rglob("*.py"))
    script = "\n".join(path.read_text("utf-8") for path in (HERE / "player").glob("*.js"))
    markup = player.source("labelling.html")
    known = flat("en")
    named = set(re.findall(r"texts(?:\.count)?\(\s*[\"']([a-z_]+\.[a-z0-9_]+)[\"']", python))
    named |= set(re.findall(r"\[\[([a-z0-9_.]+)\]\]", markup))
    forms = {re.sub(r"_(one|other)$", "", key) for key in known}
    assert {key for key in named if key not in known and key not in forms} == set()
    for key in flat("en"):
        table, name = key.split(".", 1)
        stem = re.sub(r"_(one|other)$", "", name)
        if table == "page":
            assert f'"{stem}"' in script or f"[[page.{name}]]" in markup, key


def test_the_language_is_chosen_by_name_and_else_by_the_browser():
    assert choose("de", "en").language == "de"
    assert choose("xx", "de-AT,en;q=0.5").language == "de"
    assert choose(None, "fr;q=1, en;q=0.2, de;q=0.4").language == "de"
    assert choose(None, "fr").language == "en"
    assert choose(None, "de;q=x, en").language == "en"
    assert choose(None, None).language == "en"
    with pytest.raises(KeyError, match="unknown language 'xx'"):
        texts("xx")


def test_markup_is_escaped_and_messages_are_sentences():
    words = texts("de")
    assert words.fill("<b>[[page.leave]]</b>") == "<b>Verlassen</b>"
    assert "&amp;" in type(words)("en", {"a.b": "x & y"}, {}).fill("[[a.b]]")
    assert words.message("no such thing") == "No such thing."
    assert words.message("no such item for you") == "Diese Aufgabe gibt es für Sie nicht."
