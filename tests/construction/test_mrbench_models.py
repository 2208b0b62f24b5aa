"""MRBench with language models: a real server answers, refuses, errs, or is not there."""

from __future__ import annotations

import json
import socket
from collections import Counter

import pytest
from typer.testing import CliRunner

from benchmarks.taxonomy import default_taxonomy
from construction.mrbench.draft import STAGES, MrbenchSettings, draft_mrbench
from construction.mrbench.frames import frame_source
from construction.mrbench.verify import Alignment, KeyPoint, alignment_scores
from construction.report import flags
from construction.stages import Stages
from corpus.motion import Motion
from corpus.problems import InputError
from llm.embedding import TfidfEmbedder
from llm.outcome import Reply
from motionjury.cli import cli
from tests.construction.mrbench_world import answering, captioned, good, model, plain_frames, tfidf
from tests.construction.nextmotion import demo as demo_motions
from tests.construction.nextmotion import workspace
from tests.llm.server import FakeEndpoint, completion, failure, user_text
from tests.llm.world import Heard

TEXTS = {
    "a:1": ["a man kicks with the left leg"],
    "a:2": ["a man waves the right hand twice"],
    "a:3": ["a man sits down, then claps three times"],
    "a:4": ["a person walks forward"],
}


def drafted(stages, texts=TEXTS, frames=plain_frames, **options):
    clips, captions = captioned(texts)
    chosen = MrbenchSettings(min_per_category=0, **options)
    return draft_mrbench(clips, captions, default_taxonomy(), tfidf, frames, stages, chosen)


def run(answer=good, texts=TEXTS, frames=plain_frames, names=STAGES, folder=None, **options):
    """Draft with one model for all named stages; return the draft and the server."""
    with FakeEndpoint(answering(answer)) as server:
        one = model(server.url, folder)
        return drafted(Stages(dict.fromkeys(names, one)), texts, frames, **options), server


def schemas(server):
    return [g.body["response_format"]["json_schema"]["name"] for g in server.got]


def codes(made):
    return Counter(r.code for r in made.rejected)


def changed(schema, **fields):
    """Return answers in which those of one schema differ."""

    def answer(asked, caption):
        said = good(asked, caption)
        return {**said, **fields} if asked == schema else said

    return answer


def test_every_stage_asks_and_the_item_tells_of_each():
    made, server = run()
    assert codes(made) == {"generic": 1}
    assert {i.payload["clip_id"] for i in made.items} == {"a:1", "a:2", "a:3"}
    asked = Counter(schemas(server))
    # Only the caption that two rules fit is put to the classifier.
    assert asked == {"CaptionScore": 3, "CategoryChoice": 1, "Alignment": 3, "Rewritten": 3}
    item = next(i for i in made.items if i.payload["clip_id"] == "a:3")
    assert item.payload["category"] == ["Sports", "Combat", "Kick"]
    origin = item.provenance
    assert origin.rule == "mrbench.rewrite/1"
    assert (origin.model_asked, origin.model_answered) == ("asked-model", "answering-model")
    assert len(origin.media) == 2
    assert origin.parameters["filed_by"] == "model"
    assert origin.parameters["score"]["discriminability"] == 4
    assert origin.parameters["verify"]["answer"]["primary_verdict"] == "yes"
    assert origin.parameters["verify"]["provenance"]["rule"] == "mrbench.verify/1"
    assert made.report.not_run == {}
    assert made.report.stages["verify"].coverage.line() == "3 of 3 answered (ok 3)"
    (alignment,) = made.report.tables["alignment"]
    assert (alignment["answered"], alignment["asked"]) == (3, 3)
    assert alignment["mean_accuracy"] == 1.0


def test_frames_go_in_order_with_their_times_and_the_rationale_goes_on():
    _, server = run(texts={"a:1": TEXTS["a:1"]})
    looked = [g.body for g in server.got if isinstance(g.body["messages"][-1]["content"], list)]
    assert len(looked) == 2
    for body in looked:
        parts = body["messages"][-1]["content"]
        labels = [p["text"] for p in parts if p["type"] == "text"][1:]
        assert labels == ["Frame 1 of 2, t = 0.00 s", "Frame 2 of 2, t = 0.20 s"]
        assert sum(p["type"] == "image_url" for p in parts) == 2
        assert "about 5 per second" in user_text(body)
    assert "<check>seen at 0.2 s</check>" in user_text(looked[1])


def test_each_stage_may_have_its_own_model_and_one_for_all_is_warned_of():
    made, _ = run()
    assert any("models favour what they wrote" in note for note in made.report.notes)
    with FakeEndpoint(answering()) as server:
        models = {name: model(server.url, model=f"{name}-model") for name in STAGES}
        made = drafted(Stages(models))
    assert not any("models favour" in note for note in made.report.notes)
    assert {n: use.model for n, use in made.report.stages.items()} == {
        name: f"{name}-model" for name in STAGES
    }


@pytest.mark.parametrize(
    ("names", "rule", "looked"),
    [(("rewrite",), "mrbench.rewrite/1", 0), (("verify",), "mrbench.compose/1", 1)],
)
def test_stages_without_a_model_go_by_rule_beside_those_with_one(names, rule, looked):
    own = ["A man kicks left.", "A man kicks with the left leg.",
           "A man lifts the left knee, leans back and kicks with the left leg."]  # fmt: skip
    texts = {"a:1": own, "a:2": ["a man waves the right hand twice"]}
    made, server = run(texts=texts, names=names)
    assert {i.provenance.rule for i in made.items} == {rule}
    assert set(made.report.not_run) == set(STAGES) - set(names)
    if looked:
        # The second motion has no three lengths of its own and no event labels, so nobody looks.
        assert set(codes(made)) == {"lengths"}
        assert Counter(schemas(server)) == {"Alignment": looked}


@pytest.mark.parametrize(
    ("schema", "fields", "stage", "code"),
    [
        ("CaptionScore", {"discriminability": 2}, "score", "discriminability"),
        ("CaptionScore", {"compactness": 1}, "score", "compactness"),
        ("Alignment", {"primary_verdict": "no"}, "verify", "not_observable"),
        ("Alignment", {"primary_verdict": "unclear"}, "verify", "unclear"),
        ("Rewritten", {"concise": " "}, "rewrite", "empty"),
        ("Rewritten", {"fine": "a man kicks"}, "rewrite", "lengths"),
        ("Rewritten", {"fine": "a man slowly lifts and then kicks with the right leg " * 2},
         "rewrite", "contradiction"),
    ],
)  # fmt: skip
def test_answers_that_fail_a_pair_are_told(schema, fields, stage, code):
    made, _ = run(changed(schema, **fields), {"a:1": TEXTS["a:1"]})
    assert not made.items
    assert [(r.stage, r.code) for r in made.rejected] == [(stage, code)]
    trained = {pair.clip_id for pair in made.training}
    # What the frames do not show is no training pair; what was only ill rewritten is one.
    assert trained == ({"a:1"} if stage == "rewrite" else set())


@pytest.mark.parametrize(
    ("category", "code"), [("none", "no_category"), ("Flying", "unknown_category")]
)
def test_a_model_that_files_nowhere(category, code):
    made, _ = run(changed("CategoryChoice", category=category), {"a:3": TEXTS["a:3"]})
    assert codes(made) == {code: 1}


def test_a_path_is_taken_for_the_fine_name_it_ends_in():
    path = "Sports / Combat / kick"
    made, _ = run(changed("CategoryChoice", category=path), {"a:3": TEXTS["a:3"]})
    assert made.items[0].stratum["fine"] == "Kick"


def test_points_that_are_not_seen_flag_the_item():
    points = [
        {"point": "left leg", "verdict": "no", "rationale": "it is the right one"},
        {"point": "a kick", "verdict": "yes", "rationale": "seen"},
    ]
    made, _ = run(changed("Alignment", key_points=points), {"a:1": TEXTS["a:1"]})
    assert flags(made.items[0]) == ("no in the frames: left leg",)
    assert made.report.flagged == 1


def test_both_accuracies_by_hand():
    def answer(*verdicts):
        points = tuple(KeyPoint(point="p", verdict=v, rationale="") for v in verdicts)
        said = Alignment(primary_motion="", primary_verdict="yes", rationale="", key_points=points)
        return Reply("id", "ok", said)

    refused = Reply("id", "refused", None, "no")
    replies = [answer("yes"), answer("yes", "no", "unclear", "no"), answer(), refused]
    scores = alignment_scores(replies)
    assert (scores.asked, scores.answered, scores.pairs, scores.points) == (4, 3, 2, 5)
    assert scores.mean_accuracy == pytest.approx((1 + 1 / 4) / 2)
    assert scores.global_accuracy == pytest.approx(2 / 5)
    assert scores.unclear_share == pytest.approx(1 / 5)
    assert alignment_scores([answer()]) == (1, 1, 0, 0, None, None, None)


@pytest.mark.parametrize("stage", STAGES)
def test_a_model_that_refuses_everything_is_asked_no_more_than_once_a_caption(stage):
    texts = {f"a:{n}": [f"a man kicks and then waves {n} times"] for n in range(2, 12)}
    refusing = {"score": "CaptionScore", "classify": "CategoryChoice", "verify": "Alignment",
                "rewrite": "Rewritten"}[stage]  # fmt: skip

    def answer(schema, caption):
        if schema == refusing:
            return completion(None, refusal="I cannot help with that")
        return good(schema, caption)

    made, server = run(answer, texts)
    assert not made.items
    assert codes(made) == {f"{stage}_refused": 10}
    asked = Counter(schemas(server))
    assert asked[refusing] == 10
    assert made.report.stages[stage].coverage.counts["refused"] == 10
    if stage == "verify":
        (alignment,) = made.report.tables["alignment"]
        assert (alignment["answered"], alignment["asked"]) == (0, 10)
        assert alignment["mean_accuracy"] is None
    ended = [note for note in made.report.notes if "ended early" in note]
    assert bool(ended) == (stage in ("verify", "rewrite"))


def test_an_endpoint_that_is_down_ends_the_run_and_the_rest_is_kept():
    texts = {f"a:{n}": [f"a man kicks {n} times"] for n in range(2, 90)}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    heard = Heard()
    down = model(url, attempts=1, concurrency=4)
    stages = Stages({"verify": down, "rewrite": down}, tell=lambda stage, event: heard(event))
    made = drafted(stages, texts)
    assert not made.items
    assert "the endpoint is down: 4 calls in a row failed" in heard.of("stopped")[0].detail
    assert len(heard.of("stopped")) == 1
    assert codes(made) == {"verify_error": 60}
    assert any("ended early" in note for note in made.report.notes)
    assert "questions were not sent" in made.report.not_run["rest of the run"]
    # Nothing speaks against these pairs, so they stay for training.
    assert len(made.training) == 88


def test_a_run_that_was_cut_off_goes_on_from_the_cache(tmp_path):
    broken = [True]

    def answer(schema, caption):
        if broken[0] and schema == "Rewritten" and "waves" in caption:
            return failure(400)
        return good(schema, caption)

    names = ("score", "verify", "rewrite")
    with FakeEndpoint(answering(answer)) as server:
        made = [drafted(Stages(dict.fromkeys(names, model(server.url, tmp_path))))]
        calls = [len(server.got)]
        broken[0] = False
        for _ in range(2):
            made.append(drafted(Stages(dict.fromkeys(names, model(server.url, tmp_path)))))
            calls.append(len(server.got))
    assert [len(each.items) for each in made] == [2, 3, 3]
    assert codes(made[0])["rewrite_error"] == 1
    # Three scores, three looks, three rewritings of which one failed; then that one; then nothing.
    assert calls == [9, 10, 10]
    assert [i.id for i in made[2].items] == [i.id for i in made[1].items]


def test_a_dry_run_reckons_and_sends_nothing():
    with FakeEndpoint(answering()) as server:
        one = model(server.url)
        stages = Stages(dict.fromkeys(STAGES, one), dry_run=True)
        texts = {**TEXTS, "a:5": ["a man shivers with the whole body, twice"]}
        drafted(stages, texts)
        assert server.got == []
    calls = {name: sum(e.calls for e in found) for name, found in stages.estimates.items()}
    # Two captions wait for the model to file them; they are reckoned with all the same.
    assert calls == {"score": 4, "classify": 2, "verify": 4, "rewrite": 4}
    assert stages.estimates["verify"][0].pictures == 8


def test_a_motion_that_cannot_be_drawn_is_refused_and_the_rest_goes_on():
    def frames(clip):
        if clip.id == "a:1":
            raise InputError("cannot be read", file="a1.npz")
        return plain_frames(clip)

    made, _ = run(frames=frames, names=("verify", "rewrite"))
    assert [(r.source, r.code) for r in made.rejected if r.stage == "verify"] == [
        ("a:1#0", "frames")
    ]
    assert len(made.items) == 2


def test_frames_are_drawn_once_and_reckoned_without_drawing(tmp_path):
    shown = demo_motions()[7]
    loads = []

    def load(clip) -> Motion:
        loads.append(clip.id)
        return shown.motion

    reckoned = frame_source(load, tmp_path, reckon=True)(shown.clip)
    assert not loads
    source = frame_source(load, tmp_path, fps=2.0)
    first = source(shown.clip)
    assert [m.sha256 for m in source(shown.clip)] == [m.sha256 for m in first]
    assert loads == [shown.clip.id]
    assert first[1].label == f"Frame 2 of {len(first)}, t = 0.50 s"
    at_five = frame_source(load, tmp_path)(shown.clip)
    assert abs(len(at_five) - len(reckoned)) <= 1
    assert len(at_five) == pytest.approx(shown.clip.duration * 5, abs=1)
    assert frame_source(load, tmp_path, reckon=True)(shown.clip) == at_five


def test_the_command_reads_models_from_the_workspace(tmp_path):
    root = workspace(tmp_path / "w")

    def script(body, number):
        if "input" not in body:
            return answering()(body, number)
        rows = TfidfEmbedder(body["input"]).embed(body["input"]).tolist()
        data = [{"index": k, "embedding": row} for k, row in enumerate(rows)]
        return completion("", data=data)

    with FakeEndpoint(script) as server:
        config = root / "workspace.toml"
        table = f'\n[llm]\nmodel = "one"\nbase_url = "{server.url}"\nmax_tokens = 300\n'
        config.write_text(config.read_text() + table)
        options = ["draft", "mrbench", "--limit", "1", "--min-per-category", "0", "--seed", "4"]
        options += ["--stage-model", "verify=two", "--workspace", str(root)]
        dry = CliRunner().invoke(cli, [*options, "--dry-run"])
        assert dry.exit_code == 0, dry.output
        assert "verify: " in dry.output
        assert not server.got
        options += ["--embedding", "endpoint:e5", "--json"]
        result = CliRunner().invoke(cli, options)
        assert result.exit_code == 0, (result.output, result.exception)
        report = json.loads(result.stdout)
        assert report["stages"]["verify"]["model"] == "two"
        assert report["stages"]["rewrite"]["model"] == "one"
        assert report["drafted"] > 0
        assert report["settings"]["embedding"].endswith(":e5")
        assert any(note.startswith("embedding: 1 calls, 100 tokens") for note in report["notes"])
        calls = len(server.got)
        again = json.loads(CliRunner().invoke(cli, options).stdout)
        assert len(server.got) == calls
        assert (again["drafted"], again["added"]) == (report["drafted"], 0)
        # Stages and embeddings draw on one budget.
        fresh = [*options, "--limit", "3", "--max-calls", "2"]
        spent = CliRunner().invoke(cli, fresh)
        assert "the budget of 0 calls is used up" in str(spent.exception)
        assert len(server.got) == calls + 2
    html = (root / "results" / "draft-mrbench" / "report.html").read_text(encoding="utf-8")
    assert "Not run" not in html
