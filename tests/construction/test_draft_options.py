"""Options that all draft commands share, and prompt files of one's own."""

from __future__ import annotations

import json
import re

import pytest
import typer
from typer.testing import CliRunner

from construction.prompt_files import FOLDER, VARIABLES, PromptFiles
from construction.stride_audit import DRAFTED, Pair, sample_pairs
from corpus.problems import InputError
from motionjury.cli import cli
from motionjury.commands.draft import app as drafts
from tests.construction.nextmotion import workspace

# What a run of each command asks first, by rule where an earlier stage has no model.
COMMANDS = {
    "stride": ("action_check", "--axes", "action_identity", "--scorer", "none"),
    "nextmotionqa": ("t2", "--quota", "1"),
    "mrbench": ("score", "--limit", "5"),
    "t2mbench": ("expand", "--categories", "dance", "--limit", "2"),
}
NOWHERE = "http://127.0.0.1:9/v1"
"""No server is needed: nothing is sent."""


def commands():
    return typer.main.get_group(drafts).commands


def own_file(folder, stem, text):
    folder.mkdir(exist_ok=True)
    (folder / f"{stem}.md").write_text(text, encoding="utf-8")
    return folder


def head(*variables):
    return f'+++\nid = "mine"\nversion = 1\nvariables = {json.dumps(variables)}\n+++\n'


def run(*words):
    return CliRunner().invoke(cli, ["draft", *map(str, words)])


def test_every_draft_command_takes_a_limit_and_a_seed():
    lacking = {
        name: missing
        for name, command in commands().items()
        if (missing := {"limit", "seed"} - {p.name for p in command.params})
    }
    assert lacking == {}


def test_every_draft_command_with_stages_takes_prompt_files():
    staged = {name for name, c in commands().items() if "stage_model" in {p.name for p in c.params}}
    assert staged == {*COMMANDS, "t2mbench-targets"}
    assert all("prompts" in {p.name for p in commands()[name].params} for name in staged)


def test_our_prompt_files_are_listed_and_take_what_they_are_given():
    files = {f"{path.parent.name}.{path.stem}" for path in FOLDER.glob("*/*.md")}
    assert files == set(VARIABLES)
    for name, variables in VARIABLES.items():
        prompt = PromptFiles().load(name)
        assert (prompt.id, prompt.variables) == (name, set(variables))


def test_no_two_prompt_files_share_a_name():
    stems = [name.partition(".")[2] for name in VARIABLES]
    assert len(set(stems)) == len(stems)


@pytest.mark.parametrize("benchmark", COMMANDS)
def test_a_prompt_file_of_ones_own_is_what_is_asked(tmp_path, benchmark):
    stem, *options = COMMANDS[benchmark]
    name = f"{benchmark}.{stem}"
    kept = VARIABLES[name][0]
    text = head(kept) + f"Words of my own: {{{{ {kept} }}}}"
    home = workspace(tmp_path / "w", NOWHERE, count=12)
    mine = own_file(tmp_path / "mine", stem, text)
    told = run(benchmark, *options, "--prompts", mine, "--batch-out", tmp_path / "q", "-w", home)
    assert told.exit_code == 0, told.output
    asked = "".join(p.read_text("utf-8") for p in (tmp_path / "q").rglob("batch-*.jsonl"))
    assert "Words of my own: " in asked
    # It need not use all it is given; files that are not in the folder are ours.
    files = PromptFiles(mine)
    assert files.load(name).id == "mine"
    others = [other for other in VARIABLES if not other.endswith(f".{stem}")]
    assert all(files.load(other).id == other for other in others)


@pytest.mark.parametrize("benchmark", [*COMMANDS, "t2mbench-targets"])
def test_an_unknown_variable_is_named_with_its_file_before_anything_is_asked(tmp_path, benchmark):
    stem, *options = COMMANDS.get(benchmark, ("target",))
    home = workspace(tmp_path / "w", NOWHERE, count=1)
    mine = own_file(tmp_path / "mine", stem, head("mood") + "In a {{ mood }} mood.")
    told = run(benchmark, *options, "--prompts", mine, "-w", home)
    assert isinstance(told.exception, InputError)
    said = str(told.exception)
    assert re.search(rf"mine.{stem}\.md: wants an unknown variable: \['mood'\]", said)
    assert "\n" not in said


@pytest.mark.parametrize("benchmark", COMMANDS)
def test_a_folder_without_a_prompt_file_of_the_benchmark_is_refused(tmp_path, benchmark):
    home = workspace(tmp_path / "w", count=1)
    own_file(tmp_path / "mine", "tempral", head("caption") + "{{ caption }}")
    for folder, words in (("mine", "expected some of"), ("absent", "expected a folder of prompt")):
        told = run(benchmark, "--prompts", tmp_path / folder, "-w", home)
        assert isinstance(told.exception, InputError)
        assert words in str(told.exception)


def test_a_sample_of_pairs_is_bounded_in_every_corpus_and_axis():
    pairs = [
        Pair(DRAFTED, axis, corpus, f"{corpus}:{n}", "a", f"b{n}")
        for axis in ("temporal_order", "mirror_reflection")
        for corpus in ("x", "y")
        for n in range(10)
    ]
    chosen = sample_pairs(pairs, 3, 0)
    assert [pair for pair in pairs if pair in chosen] == chosen
    counts = {(p.corpus, p.axis): sum(q[1:3] == p[1:3] for q in chosen) for p in chosen}
    assert len(counts) == 4
    assert set(counts.values()) == {3}
    assert sample_pairs(pairs, 3, 0) == chosen != sample_pairs(pairs, 3, 1)


def test_limits_bound_what_is_read(tmp_path):
    home = workspace(tmp_path / "w", count=12)
    table = tmp_path / "p.csv"
    rows = [f"A person walks {n} meters forward.,p{n},whole_body" for n in range(1, 6)]
    table.write_text("prompt,prompt_id,category\n" + "\n".join(rows), encoding="utf-8")
    read = run("t2mbench-targets", "--from", table, "--limit", 2, "-w", home, "--json")
    assert json.loads(read.stdout)["asked"] == 2
    words = ("t2mbench-ood", "--from", table, "--ood-corpus", "synthetic", "--limit", 3)
    read = run(*words, "-w", home, "--json")
    assert json.loads(read.stdout)["prompts_in_corpus"]["n_points"] == 3
    lines = tmp_path / "c.jsonl"
    lines.write_text("\n".join(f'{{"id": {n}, "caption": "he turns left"}}' for n in range(5)))
    read = run("captions", lines, "--axis", "mirror_reflection", "--limit", 2)
    assert [json.loads(line)["id"] for line in read.stdout.splitlines()] == [0, 1]
    words = ("stride", "--axes", "random_content", "--scorer", "none", "-w", home)
    assert run(*words).exit_code == 0
    words = ("audit", "--scorer", "ngram", "--clips", 0, "-w", home, "--json")
    every = json.loads(run(*words).stdout)["pairs"]
    assert every["random_content"] > 1
    assert json.loads(run(*words, "--limit", 1).stdout)["pairs"] == {"random_content": 1}
