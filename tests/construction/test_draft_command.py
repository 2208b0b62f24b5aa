import json

import pytest

from construction.stride import _CHUNK
from construction.text.temporal import reverse_events
from corpus.clips import Caption
from corpus.problems import InputError
from motionjury.commands.draft import audit, captions, stride
from motionjury.workspace import init_workspace
from store.clips import add_clips
from store.items import list_items
from tests.construction.test_scorers import echoed
from tests.construction.test_stride import TEXTS, corpus_of
from tests.construction.test_stride_steps import verdict
from tests.llm.server import FakeEndpoint, completion, failure, user_text


def lines(path, *records):
    raw = [r if isinstance(r, bytes) else json.dumps(r).encode() for r in records]
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


def answers(capsys):
    printed = capsys.readouterr()
    return [json.loads(line) for line in printed.out.splitlines()], printed.err


def test_one_answer_per_line_in_order(tmp_path, capsys):
    file = lines(
        tmp_path / "in.jsonl",
        {"id": "b", "caption": "He turns LEFT."},
        {"id": 7, "caption": "He walks."},
        {"id": "a", "caption": "his left and right arms", "more": 1},
        {"id": "\u00e9", "caption": "  "},
    )
    captions(file, "mirror_reflection")
    found, err = answers(capsys)
    assert [(a["id"], a["outcome"], a["text"]) for a in found] == [
        ("b", "item", "He turns RIGHT."),
        (7, "not_applicable", None),
        ("a", "rejected", None),
        ("\u00e9", "not_applicable", None),
    ]
    assert all(set(a) == {"id", "outcome", "text", "reason"} and a["reason"] for a in found)
    assert err == ""


def test_bad_lines_are_named_and_the_rest_goes_on(tmp_path, capsys):
    file = lines(
        tmp_path / "in.jsonl",
        {"id": "a", "caption": "turns left"},
        b"{not json",
        b'{"id": "l1", "caption": "caf\xe9"}',
        {"id": "b"},
        {"id": "c", "caption": 3},
        {"id": "a", "caption": "turns right"},
        {"caption": "no id"},
        [1, 2],
        b"[" * 5000,
        b'{"id": "\\ud800", "caption": "turns left"}',
        {"id": "z", "caption": "turns right"},
    )
    captions(file, "mirror_reflection")
    found, err = answers(capsys)
    assert [(a["id"], a["outcome"]) for a in found] == [
        ("a", "item"),
        ("b", "rejected"),
        ("c", "rejected"),
        ("a", "rejected"),
        ("z", "item"),
    ]
    for number in (2, 3, 4, 5, 6, 7, 8, 9, 10):
        assert f"{file}: line {number}: " in err
    assert "refused 9 of 11 lines" in err


@pytest.mark.parametrize("content", [b"", b"\n\n", b"nope\n", b'{"id": 1}\n'])
def test_a_file_without_a_usable_caption_is_an_error(tmp_path, content):
    file = tmp_path / "in.jsonl"
    file.write_bytes(content)
    with pytest.raises(InputError, match="no usable caption"):
        captions(file, "temporal_order")


def test_missing_file_and_unknown_axis(tmp_path):
    with pytest.raises(InputError, match="expected a JSONL file"):
        captions(tmp_path / "none.jsonl", "temporal_order")
    file = lines(tmp_path / "in.jsonl", {"id": 1, "caption": "x"})
    with pytest.raises(InputError, match="mirror_reflection"):
        captions(file, "mirror")


def test_random_content_draws_from_the_other_lines(tmp_path, capsys):
    texts = ["he walks", "he runs", "he jumps"]
    file = lines(tmp_path / "i.jsonl", *({"id": i, "caption": t} for i, t in enumerate(texts)))
    captions(file, "random_content", seed=4)
    found, _ = answers(capsys)
    for answer in found:
        assert answer["text"] in set(texts) - {texts[answer["id"]]}
    captions(file, "random_content", seed=4)
    assert answers(capsys)[0] == found


def workspace_of(folder, texts, more=()):
    """Make a workspace with clips and captions."""
    ws = init_workspace(folder)
    clips, captions_of = corpus_of(texts)
    with ws.db.write() as session:
        add_clips(session, clips, [*captions_of, *more])
    return ws, captions_of


def test_drafts_are_stored_once_and_what_was_passed_over_is_listed(tmp_path, capsys):
    part = Caption(id="demo:e#9", clip_id="demo:e", text="he turns left.", span=(0.5, 1.5))
    ws, texts = workspace_of(tmp_path / "ws", TEXTS, [part])
    stride(axes="mirror_reflection, temporal_order", seed=2, workspace=ws.root, as_json=True)
    first = json.loads(capsys.readouterr().out)
    assert first["drafted"] == first["added"] == 5
    assert [c["drafted"] for c in first["cells"]] == [2, 3]
    assert "1000 captions" in first["not_run"]["likelihood_filter"]
    listed = [
        json.loads(line)
        for line in (ws.results_dir / "draft-stride" / "rejected.jsonl").read_text().splitlines()
    ]
    assert len(listed) == 2 * (len(texts) + 1) - 5
    assert {"partial_span", "no_lateral"} <= {r["code"] for r in listed}
    assert all(r["reason"] and r["stage"] and set(r["cell"]) >= {"corpus", "axis"} for r in listed)
    stride(axes="mirror_reflection, temporal_order", seed=2, workspace=ws.root, as_json=True)
    assert json.loads(capsys.readouterr().out)["added"] == 0
    with ws.db.read() as session:
        items = list_items(session)
    assert len(items) == 5
    assert all("not run" in i.provenance.parameters["likelihood_filter"] for i in items)
    with pytest.raises(InputError, match="no captions"):
        stride(corpus="other", workspace=ws.root)


def test_a_file_of_scores_filters_and_is_named(tmp_path, capsys):
    ws, _ = workspace_of(tmp_path / "ws", {"a": ["he turns left."], "b": ["he steps right."]})
    scores = tmp_path / "s.csv"
    scores.write_text(
        "text,score,scorer,unit\nhe turns left.,-2,mine,nats/token\n"
        "he turns right.,-2.1,mine,nats/token\nhe steps right.,-2,mine,nats/token\n"
        "he steps left.,-2.2,mine,nats/token\n"
    )
    stride(axes="mirror_reflection", scorer=f"csv:{scores}", workspace=ws.root, as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert (report["drafted"], report["rejected"]) == (1, {"likelihood_gap": 1})
    assert any("csv:mine, not the paper's scorer" in note for note in report["notes"])
    assert "likelihood_filter" not in report["not_run"]
    with ws.db.read() as session:
        (item,) = list_items(session)
    note = item.provenance.parameters["likelihood_filter"]
    assert (note["scorer"], note["gap"], note["max_gap"]) == ("csv:mine", 0.1, 0.15)


def answering(body, number):
    """Answer both stages: reverse by rule, and find every pair of actions sound."""
    asked = user_text(body)
    if "<caption_a>" in asked:
        return completion(json.dumps(verdict()))
    caption = asked.split("<caption>")[1].split("</caption>")[0]
    text = reverse_events(caption).text or ""
    return completion(json.dumps({"reversible": True, "rewritten": text, "reason": "so"}))


def with_model(ws, server, **more):
    """Name a model in the workspace's settings."""
    lines = [f"{k} = {json.dumps(v)}" for k, v in more.items()]
    table = ["", "[llm]", 'model = "m"', f'base_url = "{server.url}"', "attempts = 1", *lines]
    (ws.root / "workspace.toml").open("a").write("\n".join(table) + "\n")


MODEL_TEXTS = {
    "a": ["a man walks, then claps."],
    "b": ["a man claps, then kneels."],
    "c": ["a man walks in a circle."],
    "d": ["a man runs in a circle."],
}


def test_models_of_both_stages_are_asked_and_a_second_run_asks_nothing(tmp_path, capsys):
    ws, _ = workspace_of(tmp_path / "ws", MODEL_TEXTS)
    with FakeEndpoint(answering) as server:
        with_model(ws, server)
        stride(axes="temporal_order,action_identity", workspace=ws.root, as_json=True)
        report = json.loads(capsys.readouterr().out)
        asked = len(server.got)
        stride(axes="temporal_order,action_identity", workspace=ws.root, as_json=True)
        again = json.loads(capsys.readouterr().out)
        assert len(server.got) == asked
    assert set(report["stages"]) == {"temporal", "action_check"}
    assert again["stages"]["temporal"]["from_cache"] == 2
    with ws.db.read() as session:
        items = list_items(session)
    by_axis = {(i.stratum["axis"], i.payload["caption"]): i for i in items}
    reversed_ = by_axis["temporal_order", "a man walks, then claps."]
    assert reversed_.payload["perturbed"] == "a man claps, then walks."
    assert reversed_.provenance.rule == "stride.temporal/1"
    assert reversed_.provenance.model_asked == "m"
    assert reversed_.provenance.parameters["check"] == "stride.temporal_check/1"
    checked = by_axis["action_identity", "a man runs in a circle."].provenance
    assert checked.parameters["text_only_check"]["answer"]["visually_distinct"] is True
    assert checked.parameters["text_only_check"]["edited_shown_as"] in "AB"


def refusing(body, number):
    return completion(None, refusal="I would rather not.")


@pytest.mark.parametrize(
    ("script", "code"),
    [(refusing, "model_refused"), (lambda body, number: failure(503), "not_answered")],
)
def test_a_model_that_does_not_answer_leaves_the_other_axes_alone(tmp_path, capsys, script, code):
    ws, _ = workspace_of(tmp_path / "ws", {**MODEL_TEXTS, "e": ["a man raises his left arm."]})
    with FakeEndpoint(script) as server:
        with_model(ws, server, concurrency=1)
        stride(workspace=ws.root, as_json=True)
    out = capsys.readouterr()
    report = json.loads(out.out)
    drafted = {c["cell"]["axis"]: c["drafted"] for c in report["cells"]}
    assert drafted == {
        "temporal_order": 0,
        "mirror_reflection": 1,
        "action_identity": 2,
        "random_content": 5,
    }
    assert report["rejected"][code] == 2
    assert any("the rest of the draft went on" in note for note in report["notes"])
    assert report["flagged"] == 2
    with ws.db.read() as session:
        action = next(i for i in list_items(session) if i.stratum["axis"] == "action_identity")
    assert "without an answer" in action.provenance.parameters["flags"][0]


def test_a_dry_run_sends_and_stores_nothing(tmp_path, capsys):
    ws, _ = workspace_of(tmp_path / "ws", MODEL_TEXTS)
    with FakeEndpoint(answering) as server:
        with_model(ws, server)
        stride(workspace=ws.root, dry_run=True, as_json=True)
        assert server.got == []
    assert set(json.loads(capsys.readouterr().out)) == {"temporal", "action_check"}
    with ws.db.read() as session:
        assert list_items(session) == []


def test_a_batch_asks_for_no_more_than_the_limit_needs(tmp_path, capsys):
    moves = "claps", "kneels", "jumps", "waves", "bows", "spins", "crouches", "kicks"
    pairs = [(one, other) for one in moves for other in moves if one != other]
    texts = {f"c{k}": [f"a man {one}, then {other}."] for k, (one, other) in enumerate(pairs)}
    ws, _ = workspace_of(tmp_path / "ws", texts)
    with FakeEndpoint(answering) as server:
        with_model(ws, server)
        for limit, asked in ((1, _CHUNK), (_CHUNK + 4, _CHUNK + 4), (None, len(pairs))):
            out = tmp_path / str(limit)
            stride(axes="temporal_order", limit=limit, batch_out=out, workspace=ws.root)
            (file,) = out.rglob("batch-*.jsonl")
            assert len(file.read_text().splitlines()) == asked
            assert f"{asked} questions" in capsys.readouterr().out
        assert server.got == []


def test_rules_are_used_where_asked_and_a_model_must_be_there_for_llm(tmp_path, capsys):
    ws, _ = workspace_of(tmp_path / "ws", MODEL_TEXTS)
    with pytest.raises(InputError, match="--temporal llm: expected a model"):
        stride(temporal="llm", workspace=ws.root)
    with pytest.raises(InputError, match="--temporal: expected auto"):
        stride(temporal="model", workspace=ws.root)
    with FakeEndpoint(answering) as server:
        with_model(ws, server)
        stride(temporal="rule", axes="temporal_order", workspace=ws.root, as_json=True)
        assert server.got == []
    assert json.loads(capsys.readouterr().out)["settings"]["temporal"] == "rule"


def test_a_scorer_that_cannot_work_is_not_run_and_an_unknown_one_refused(tmp_path, capsys):
    ws, _ = workspace_of(tmp_path / "ws", MODEL_TEXTS)
    for spec, said in (("hf-causal:nowhere", "config.json"), ("none", "--scorer none")):
        stride(axes="mirror_reflection", scorer=spec, workspace=ws.root, as_json=True)
        assert said in json.loads(capsys.readouterr().out)["not_run"]["likelihood_filter"]
    with pytest.raises(InputError, match="--scorer"):
        stride(scorer="gpt2", workspace=ws.root)


def test_a_scorer_behind_an_endpoint_keeps_to_the_budget_of_the_run(tmp_path, capsys):
    ws, _ = workspace_of(tmp_path / "ws", {"a": ["he turns left."], "b": ["he steps right."]})
    words = {"workspace": ws.root, "as_json": True}
    with FakeEndpoint(echoed) as server:
        with_model(ws, server, concurrency=1)
        drafting = {**words, "axes": "mirror_reflection", "scorer": "completions:base"}
        stride(**drafting, no_model=True, max_calls=1)
        report = json.loads(capsys.readouterr().out)
        assert len(server.got) == 1
        assert "1 of 4 done" in report["not_run"]["likelihood_filter"]
        stride(**drafting, no_model=True, max_gap=9.0)
        assert json.loads(capsys.readouterr().out)["not_run"] == {}
        assert len(server.got) == 4
        audit(**words, clips=0, scorer=["completions:one", "completions:two"], max_calls=1)
        told = json.loads(capsys.readouterr().out)["not_run"]
        assert len(server.got) == 5
        assert "calls" in told["completions:one"]
        assert "calls" in told["completions:two"]
