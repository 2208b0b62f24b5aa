"""Prompt files: what is read, what is refused, what the hash stands for."""

from __future__ import annotations

import hashlib

import pytest

from corpus.problems import InputError
from llm.prompts import load_prompt

TEXT = """+++
id = "stride.temporal"
version = 3
variables = ["caption", "options"]
system = "You rewrite captions."
+++
Caption: {{ caption }}
{% for option in options %}
{{ loop.index }}. {{ option }}
{% endfor %}
"""


def write(folder, text):
    """Write a prompt file."""
    file = folder / "prompt.md"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_a_prompt_is_filled_in_and_hashed(tmp_path):
    prompt = load_prompt(write(tmp_path, TEXT))
    assert (prompt.rule, prompt.sha256) == (
        "stride.temporal/3",
        hashlib.sha256(TEXT.encode()).hexdigest(),
    )
    ready = prompt.render({"caption": "a person walks", "options": ["yes", "no"]})
    assert ready.text == "Caption: a person walks\n1. yes\n2. no"
    assert ready.system == "You rewrite captions."
    assert (ready.rule, ready.template_sha256) == (prompt.rule, prompt.sha256)
    other = prompt.render({"caption": "a person runs", "options": ["yes", "no"]})
    assert other.sha256 != ready.sha256
    assert other.template_sha256 == ready.template_sha256


def test_line_ends_do_not_change_the_hash(tmp_path):
    windows = load_prompt(write(tmp_path, b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()))
    assert windows.sha256 == load_prompt(write(tmp_path, TEXT)).sha256


def test_a_caption_is_never_read_as_a_template(tmp_path):
    prompt = load_prompt(write(tmp_path, TEXT))
    sly = "{{ options }} {% raw %} <b>&amp;</b>"
    assert prompt.render({"caption": sly, "options": []}).text == f"Caption: {sly}"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{{ caption }}", "{{ captoin }}", "does not declare: ['captoin']"),
        ('"caption", ', '"caption", "extra", ', "does not use: ['extra']"),
        ("{{ caption }}", "{{ caption", "broken"),
        ("version = 3", "version = 0", "version"),
        ("version = 3", "version =", "no TOML"),
        ("version = 3", 'version = 3\nmood = "x"', "mood"),
        ('"stride.temporal"', '"Two Words"', "id"),
        ("+++\nid", "id", "between two lines of +++"),
        ('captions."\n+++', 'captions."', "between two lines of +++"),
        (TEXT[TEXT.index("Caption:") :], " \n", "does not use"),
    ],
)
def test_a_bad_prompt_is_refused_with_its_file(tmp_path, old, new, words):
    file = write(tmp_path, TEXT.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_prompt(file)
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_variable_the_caller_does_not_give_is_refused(tmp_path):
    file = write(tmp_path, TEXT)
    assert load_prompt(file, ["caption", "options", "unused"]).version == 3
    with pytest.raises(InputError, match=r"unknown variable: \['options'\]; known are \['caption'"):
        load_prompt(file, ["caption"])
    with pytest.raises(InputError, match="takes"):
        load_prompt(file).render({"caption": "a"})
    with pytest.raises(InputError, match="takes"):
        load_prompt(file).render({"caption": "a", "options": [], "more": 1})


def test_files_that_are_no_text_are_refused(tmp_path):
    for raw, words in ((b"\xff\xfe+\x00", "UTF-8"), (b"", "between"), (b"x" * 300_000, "at most")):
        with pytest.raises(InputError, match=words):
            load_prompt(write(tmp_path, raw))
    with pytest.raises(InputError, match="cannot be read"):
        load_prompt(tmp_path / "none.md")
    with pytest.raises(InputError, match="cannot be read"):
        load_prompt(tmp_path)


@pytest.mark.parametrize(
    "attack",
    [
        "{{ caption.__class__.__mro__[1].__subclasses__() }}",
        "{{ caption.no_such_thing }}",
        "{{ 1 // 0 }}{{ caption }}",
        "{{ caption + 1 }}",
    ],
)
def test_a_template_that_reaches_out_or_fails_is_one_line(tmp_path, attack):
    head = '+++\nid = "a"\nversion = 1\nvariables = ["caption"]\n+++\n'
    prompt = load_prompt(write(tmp_path, head + attack))
    with pytest.raises(InputError, match="cannot be filled in"):
        prompt.render({"caption": "walks"})
