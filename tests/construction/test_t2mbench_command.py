"""`motionjury draft t2mbench` and its companions, from the command line to people's verdicts."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from audit.access import add_person, list_people
from audit.assignment import next_assignment
from audit.labelling import submit
from audit.members import add_member
from audit.records import StudyError, get_study
from audit.training import acknowledge_guidelines
from audit.versions import propose_version
from corpus.synthetic import demo_corpus
from motionjury.cli import cli, main
from motionjury.workspace import Workspace, init_workspace
from store.clips import add_clips
from store.items import list_items
from tests.construction.test_t2mbench_prompts import Writer
from tests.llm.server import FakeEndpoint, completion, failure
from tests.llm.test_embedding import vectors


@pytest.fixture
def ws(tmp_path, monkeypatch) -> Workspace:
    """An empty workspace that commands find."""
    made = init_workspace(tmp_path / "ws")
    monkeypatch.setenv("MOTIONJURY_WORKSPACE", str(made.root))
    monkeypatch.chdir(tmp_path)
    return made


def run(*words):
    result = CliRunner().invoke(cli, [*words])
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.stdout


def mistake(monkeypatch, capsys, *words):
    """Run a command that a user got wrong; return the one line said."""
    monkeypatch.setattr(sys, "argv", ["motionjury", *words])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert left.value.code == 2
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith("motionjury: ")
    assert "Traceback" not in said.err
    return said.err


def label_all(ws, name, answers):
    """Let the experts of a study label all they are given; ``answers`` takes the item's id."""
    with ws.db.write() as session:
        study = get_study(session, name).id
        for person in list_people(session):
            if not person.name.endswith(f"of {name}"):
                continue
            acknowledge_guidelines(session, study, person.id)
            while (held := next_assignment(session, study, person.id)) is not None:
                submit(session, held.id, person.id, f"s-{held.id}", answers(held.item_id), {})


def judged(ws, name, protocol, answers):
    """Make, launch and label a study of two experts."""
    run("study", "create", name, "--protocol", protocol, "--ratings", "2")
    with ws.db.write() as session:
        for who in ("Ann", "Ben"):
            add_member(session, name, add_person(session, f"{who} of {name}", "expert").id)
    run("study", "launch", name)
    label_all(ws, name, answers)


def test_prompts_and_targets_are_drafted_reviewed_and_verified(ws, monkeypatch, capsys):
    told = json.loads(
        run("draft", "t2mbench", "--categories", "dance,whole_body", "--limit", "2", "--json")
    )
    assert [(c["cell"]["category"], c["planned"], c["drafted"]) for c in told["cells"]] == [
        ("dance", 2, 2), ("dance", 2, 2), ("whole_body", 2, 2),
    ]  # fmt: skip
    assert (told["asked"], told["drafted"], told["added"]) == (6, 8, 8)
    assert told["not_run"] == {
        "expansion by language model": "no model is named",
        "refinement": "no model is named",
        "targets by language model": "no model is named",
        "OOD check": "no corpus is named (--ood-corpus)",
    }
    folder = ws.results_dir / "draft-t2mbench"
    unverified = json.loads((folder / "root_move.json").read_text())["targets"]
    assert [entry["verified"] for entry in unverified] == [False, False]
    assert json.loads((folder / "body_part.json").read_text())["targets"] == []
    assert json.loads(run("draft", "t2mbench", "--categories", "dance,whole_body",
                          "--limit", "2", "--json"))["added"] == 0  # fmt: skip

    good = {"kinematic": "yes", "executable": "yes", "wording": "yes", "verdict": "accept"}
    judged(ws, "review", "prompt_review", lambda _item: good)
    run("study", "close", "review")
    with ws.db.read() as session:
        held = list_items(session, "t2mbench")
    assert {(i.kind, i.state) for i in held} == {("prompt", "accepted"), ("target", "drafted")}

    said = mistake(monkeypatch, capsys, "draft", "t2mbench-targets", "--verified")
    assert "none of 2 targets was accepted" in said

    wrong = next(item for item in held if item.kind == "target")
    edit = {"verdict": "revise", "edit": "root translation: 1.25 m left"}
    judged(ws, "check", "target_check",
           lambda item: edit if item == wrong.id else {"verdict": "accept"})  # fmt: skip
    with ws.db.write() as session:
        payload = {**wrong.payload, "target": "1.25 m to the left"}
        with pytest.raises(StudyError, match="expected e.g."):
            propose_version(session, "check", wrong.id, payload, "the side")
        payload["target"] = edit["edit"]
        propose_version(session, "check", wrong.id, payload, "the side")
    label_all(ws, "check", lambda _item: {"verdict": "accept"})
    run("study", "close", "check")
    told = json.loads(run("draft", "t2mbench-targets", "--verified", "-o", "out", "--json"))
    assert (told["targets"], told["not_verified"]) == (
        {"root_move.json": 2, "body_part.json": 0}, 1,
    )  # fmt: skip
    found = json.loads((ws.root.parent / "out" / "root_move.json").read_text())["targets"]
    assert [entry["verified"] for entry in found] == [True, True]
    assert {"kind": "root_translation", "displacement_m": [1.25, 0.0, 0.0]} in [
        entry["target"] for entry in found
    ]


def test_a_table_of_prompts_gives_its_targets(ws, tmp_path):
    (tmp_path / "prompts.csv").write_text(
        "prompt_id,subcategory,prompt\n"
        "T1,Whole-body,moves 2.8 meters backward\n"
        "T2,Body-part,keeps the right hand 15 cm in front of the head\n"
        "T3,Body-part,keeps both hands 20 cm apart\n"
        "T4,Dance,raises the left arm\n"
    )
    told = json.loads(
        run("draft", "t2mbench-targets", "--from", "prompts.csv", "-o", "t", "--json")
    )
    assert (told["asked"], told["drafted"], told["rejected"]) == (3, 2, {"parts": 1})
    found = json.loads((tmp_path / "t" / "body_part.json").read_text())["targets"]
    assert found == [
        {
            "id": "T2", "prompt": "keeps the right hand 15 cm in front of the head",
            "target": {
                "kind": "body_part_translation", "base": "head", "target": "right_wrist",
                "offset_m": [0.0, 0.0, 0.15],
            },
            "verified": False,
        }
    ]  # fmt: skip


def test_targets_of_ones_own_go_into_a_study_and_wrong_lines_do_not(ws, tmp_path):
    (tmp_path / "targets.csv").write_text(
        "prompt_id,prompt,category,target\n"
        "a,moves 1 m left,whole_body,root translation: 1 m LEFT\n"
        "b,moves 1 m left,whole_body,one metre left\n"
    )
    told = json.loads(run("study", "import", "targets.csv", "--protocol", "target_check", "--json"))
    assert (told["rows"], told["items"]) == (2, 1)
    with ws.db.read() as session:
        (item,) = list_items(session, "t2mbench")
    assert item.payload["target"] == "root translation: 1 m left"


def test_overlap_with_a_corpus_of_the_workspace_and_with_stored_vectors(ws, tmp_path):
    several = demo_corpus()[:24]
    with ws.db.write() as session:
        captions = [c for one in several for c in one.captions]
        add_clips(session, [one.clip for one in several], captions)
    told = json.loads(
        run("draft", "t2mbench", "--categories", "balance", "--limit", "3",
            "--ood-corpus", several[0].clip.corpus, "--json")
    )  # fmt: skip
    assert [row["what"] for row in told["tables"]["out_of_distribution"]] == [
        "prompts in the captions' manifold", "captions in the prompts' manifold",
    ]  # fmt: skip
    folder = ws.results_dir / "draft-t2mbench"
    assert (folder / "ood.svg").read_text().startswith("<svg")
    assert "t-SNE" in (folder / "report.html").read_text()

    with ws.db.read() as session:
        texts = [i.payload["text"] for i in list_items(session, "t2mbench")]
    (tmp_path / "captions.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    every = [*texts, "one", "two", "three", "four", "five"]
    vectors = np.array([[100.0 + n, 0] for n in range(len(texts))] + [[n, 0] for n in range(5)])
    vectors[0] = [2.5, 0]
    np.savez("v.npz", texts=np.array(every), vectors=vectors)
    told = json.loads(
        run("draft", "t2mbench-ood", "--ood-corpus", "captions.txt", "--embedding", "npz:v.npz",
            "--json")
    )  # fmt: skip
    assert told["prompts_in_corpus"]["inside"] == 1
    assert told["prompts_in_corpus"]["share"] == pytest.approx(1 / 6)
    assert (told["embedding"], told["corpus"]) == ("npz:v.npz", "captions")
    printed = run("draft", "t2mbench-ood", "--ood-corpus", "captions.txt", "--k", "9",
                  "--embedding", "npz:v.npz")  # fmt: skip
    assert "undefined: the manifold needs 10 points or more, got 5" in printed


def llm(ws, url, more=""):
    config = ws.root / "workspace.toml"
    text = config.read_text().split("[llm]")[0]
    config.write_text(
        f'{text}[llm]\nmodel = "one"\nbase_url = "{url}"\nattempts = 1\nconcurrency = 2\n{more}'
    )


def test_each_stage_may_have_its_model_and_a_second_run_asks_nothing(ws):
    with FakeEndpoint(Writer()) as server:
        llm(ws, server.url)
        words = ("draft", "t2mbench", "--categories", "dance", "--limit", "3",
                 "--stage-model", "refine=two", "--json")  # fmt: skip
        dry = json.loads(run(*words, "--dry-run"))
        assert server.got == []
        assert set(dry) == {"expand"}
        told = json.loads(run(*words))
        asked = {got.body["model"] for got in server.got}
        calls = len(server.got)
        again = json.loads(run(*words))
    assert asked == {"one", "two"}
    assert {name: use["model"] for name, use in told["stages"].items()} == {
        "expand": "one", "refine": "two",
    }  # fmt: skip
    assert told["drafted"] >= 3
    assert calls == len(server.got)
    assert again["added"] == 0
    assert again["stages"]["refine"]["from_cache"] == again["stages"]["refine"]["coverage"]["asked"]


def test_an_endpoint_may_make_the_vectors_and_is_asked_once(ws, tmp_path):
    (tmp_path / "captions.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    (tmp_path / "p.txt").write_text("one\nsomething else\n")
    words = ("draft", "t2mbench-ood", "--from", "p.txt", "--ood-corpus", "captions.txt",
             "--embedding", "endpoint:e5", "--json")  # fmt: skip
    with FakeEndpoint(vectors) as server:
        llm(ws, server.url)
        told = json.loads(run(*words))
        asked = len(server.got)
        assert {got.body["model"] for got in server.got} == {"e5"}
        assert json.loads(run(*words)) == told
        assert len(server.got) == asked == 1
    assert told["embedding"].startswith("endpoint:")
    assert (told["prompts_in_corpus"]["n_points"], told["n_taken"]) == (2, 5)


def test_vectors_and_stages_draw_on_one_budget(ws, tmp_path):
    (tmp_path / "captions.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    words = ("draft", "t2mbench", "--categories", "dynamics", "--limit", "1", "--json",
             "--ood-corpus", "captions.txt", "--embedding", "endpoint:e5")  # fmt: skip
    writer = Writer()

    def script(body, number):
        return vectors(body) if "input" in body else writer(body, number)

    with FakeEndpoint(script) as server:
        llm(ws, server.url)
        told = json.loads(run(*words[:-4]))
        asked = len(server.got)
        table = told["stages"].values()
        assert asked == sum(use["calls"] for use in table) > 0
        (ws.root / "llm-cache").rename(tmp_path / "aside")
        writer.made = 0
        told = json.loads(run(*words, "--max-calls", str(asked)))
        assert len(server.got) == 2 * asked
    assert "calls" in told["not_run"]["OOD check"]


@pytest.mark.parametrize("how", ["down", "refusing"])
def test_an_endpoint_that_brings_nothing_is_told_in_the_report(ws, how):
    def script(*_):
        return failure(503) if how == "down" else completion(None, refusal="No.")

    with FakeEndpoint(script) as server:
        llm(ws, server.url)
        told = json.loads(run("draft", "t2mbench", "--categories", "dynamics", "--json"))
        assert len(server.got) <= (4 if how == "down" else 55)
    assert told["drafted"] == 0
    assert sum(row["planned"] for row in told["cells"]) == 275
    assert set(told["rejected"]) == {"error" if how == "down" else "refused"}
    assert "expand: no usable answer in round 1" in told["notes"][0]
    assert (ws.results_dir / "draft-t2mbench" / "rejected.jsonl").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("t2mbench", "--categories", "yoga"), "--categories: expected some of dance"),
        (("t2mbench", "--seeds", "absent.txt"), "absent.txt: cannot be read"),
        (("t2mbench", "--prompts", "absent"), "absent: expected a folder of prompt files"),
        (("t2mbench", "--ood-corpus", "absent"), "--ood-corpus: no captions of 'absent'"),
        (("t2mbench", "--ood-corpus", "c.txt", "--embedding", "word2vec"), "expected one of"),
        (("t2mbench", "--ood-corpus", "c.txt", "--embedding", "npz:n.npz"), "n.npz: cannot be"),
        (("t2mbench", "--stage-model", "polish=x"), "STAGE of expand, refine, target"),
        (("t2mbench-ood", "--ood-corpus", "c.txt"), "no prompts in the workspace"),
        (("t2mbench-ood",), "--ood-corpus: expected a corpus"),
        (("t2mbench-targets",), "no prompts in the workspace"),
        (("t2mbench-targets", "--from", "c.txt"), "no prompt of the categories numerical"),
        (("t2mbench-targets", "--verified"), "none of 0 targets was accepted"),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(ws, tmp_path, monkeypatch, capsys, words, said):
    (tmp_path / "c.txt").write_text("a person walks\na person sits down\n")
    told = mistake(monkeypatch, capsys, "draft", *words)
    assert said in told
    assert len(told.splitlines()) == 1


def test_a_prompt_file_with_an_unknown_variable_stops_before_the_first_call(
    ws, tmp_path, monkeypatch, capsys
):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "expand.md").write_text(
        '+++\nid = "mine"\nversion = 1\nvariables = ["mood"]\n+++\nIn a {{ mood }} mood.\n'
    )
    with FakeEndpoint(Writer()) as server:
        llm(ws, server.url)
        told = mistake(monkeypatch, capsys, "draft", "t2mbench", "--prompts", "mine")
        assert server.got == []
    assert "expand.md: wants an unknown variable: ['mood']" in told
    with ws.db.read() as session:
        assert list_items(session, "t2mbench") == []


def test_malformed_seeds_are_named_and_counted(ws, tmp_path):
    (tmp_path / "s.jsonl").write_text('{"text": "jab", "category": "martial_arts"}\n{oops\n')
    result = CliRunner().invoke(
        cli, ["draft", "t2mbench", "--categories", "martial_arts", "--limit", "2",
              "--seeds", "s.jsonl"]
    )  # fmt: skip
    assert result.exit_code == 0
    assert "refused: s.jsonl: line 2" in result.stderr
    assert "seeds: 1 rows were refused, 1 used" in result.stdout
