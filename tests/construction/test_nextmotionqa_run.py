"""Whole runs of NextMotionQA drafting: two passes, quota, endpoint failures, resumption."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from audit.access import add_person
from audit.assignment import next_assignment
from audit.blind import blind_item
from audit.labelling import submit
from audit.members import add_member
from audit.studies import launch, list_studies
from benchmarks.nextmotionqa import CaptionItem, ChoiceItem, CorrectionItem
from construction.nextmotionqa.frames import clip_frames, reckoned_frames
from construction.nextmotionqa.passes import STAGES
from construction.nextmotionqa.run import Plan, draft_nextmotionqa
from construction.nextmotionqa.sources import Sources
from construction.report import flags
from construction.stages import Stages
from corpus.problems import InputError
from llm.budget import Budget
from llm.cache import ResponseCache
from llm.media import frames as as_frames
from motionjury.cli import cli
from motionjury.workspace import init_workspace, open_workspace
from store.clips import add_media
from store.items import get_item, list_items
from tests.construction.nextmotion import (
    demo,
    demo_sources,
    drafter,
    label,
    source,
    workspace,
    write_corpus,
)
from tests.llm.server import FakeEndpoint, completion, failure, user_text
from tests.llm.world import model
from tests.shared_data import ROOT

PAYLOADS = {"T1": ChoiceItem, "T2": CaptionItem, "T3": CorrectionItem}


def png(number):
    """Return a small picture."""
    out = io.BytesIO()
    Image.fromarray(np.full((4, 4, 3), number, np.uint8)).save(out, format="PNG")
    return out.getvalue()


FRAMES = as_frames([(0.0, png(1)), (0.5, png(2))])


def no_frames(clip_id):
    """Fail where pictures are asked for."""
    raise AssertionError(f"frames of {clip_id} were asked for")


def run(sources, endpoint=None, cache=None, both=True, frames=lambda _: FRAMES, **plan):
    """Run with a model behind both stages, or without."""
    names = STAGES if both else STAGES[:1]
    models = {n: model(endpoint.url, cache) for n in names} if endpoint else {}
    return draft_nextmotionqa(sources, Plan(**plan), Stages(models), frames)


@pytest.fixture(scope="module")
def sources():
    """The demo corpus as sources."""
    return demo_sources()


def cell_of(item):
    """Return the cell of an item."""
    return tuple(item.stratum[key] for key in ("task", "axis", "difficulty"))


def cells(drafted):
    """Return how many items each cell has."""
    return Counter(map(cell_of, drafted.items))


def test_without_a_model_the_template_fills_the_cells_to_the_quota(sources):
    drafted = run(sources, quota=3, frames=no_frames)
    report = drafted.report
    assert len(report.cells) == 27
    assert all(count <= 3 for count in cells(drafted).values())
    # The demo corpus has two clips of medium difficulty.
    assert [row.short for row in report.cells] == [0, 1, 0] * 9
    assert "9 items are missing to the quota of 3 in each cell" in report.notes
    assert set(report.not_run) == {"pass 1 by a language model", "pass 2 on video"}
    assert report.drafted == len(drafted.items) == 72
    for item in drafted.items:
        PAYLOADS[item.stratum["task"]].model_validate(item.payload)
        assert item.provenance.parameters["pass2"] == "not run: no model"
        assert item.provenance.model_asked is None
    again = run(sources, quota=3, frames=no_frames)
    assert again.items == drafted.items
    assert run(sources, quota=3, seed=1, frames=no_frames).items != drafted.items


def test_what_is_too_many_is_sampled_down_with_the_seed(sources):
    drafted = run(sources, quota=2, surplus=3.0, frames=no_frames)
    surplus = [r for r in drafted.rejected if r.code == "surplus"]
    hard = [r for r in surplus if r.cell == {"task": "T1", "axis": "action", "difficulty": "hard"}]
    assert len(hard) == 4
    assert max(cells(drafted).values()) == 2
    assert drafted.report.rejected["surplus"] == len(surplus)


def test_the_first_pass_sees_no_picture_and_the_second_sees_them_in_order(sources):
    with FakeEndpoint(drafter) as endpoint:
        drafted = run(sources, endpoint, quota=1, limit=6)
    first = [g.body for g in endpoint.got if isinstance(g.body["messages"][-1]["content"], str)]
    second = [
        g.body for g in endpoint.got if not isinstance(g.body["messages"][-1]["content"], str)
    ]
    assert len(first) == len(second) == len(drafted.items) + drafted.report.rejected["surplus"]
    for body in second:
        kinds = [part["type"] for part in body["messages"][-1]["content"]]
        assert kinds == ["text", "text", "image_url", "text", "image_url"]
        labels = [p["text"] for p in body["messages"][-1]["content"][1:] if p["type"] == "text"]
        assert labels == ["Frame 1 of 2, t = 0.00 s", "Frame 2 of 2, t = 0.50 s"]
    made = drafted.items[0].provenance
    assert made.rule.startswith("nextmotionqa.review_t1/")
    assert made.parameters["pass1"]["rule"].startswith("nextmotionqa.t1/")
    assert made.parameters["pass2"] == "agrees"
    assert made.model_asked == "asked-model"
    assert len(made.media) == 3
    assert any("drafted and checked" in note for note in drafted.report.notes)
    assert drafted.report.stages["pass2"].coverage.usable == len(second)


def test_prompts_hold_labels_caption_and_known_failures():
    clip = source(
        label("turn left", 0, 2.5), label("sit", 2.6, 4), caption="a person turns and sits."
    )
    with FakeEndpoint(drafter) as endpoint:
        run(Sources(clips=(clip,)), endpoint, both=False, quota=1)
    text = next(t for g in endpoint.got if "travels or turns" in (t := user_text(g.body)))
    assert "0.00-2.50 s: turn left" in text
    assert "a person turns and sits." in text
    assert "F2: whose left is not said" in text


def test_a_changed_meaning_is_flagged_and_the_first_draft_kept(sources):
    def script(body, number):
        name = body["response_format"]["json_schema"]["name"]
        changed = {"CaptionReview": {"caption": "A person crawls backward on hands and knees."}}
        return drafter(body, number, **changed.get(name, {}))

    with FakeEndpoint(script) as endpoint:
        drafted = run(sources, endpoint, quota=1)
    for item in drafted.items:
        diverged = [f for f in flags(item) if f.startswith("pass 2 changed the meaning")]
        assert bool(diverged) == (item.stratum["task"] == "T2")
        if diverged:
            assert item.provenance.parameters["pass2"] == "diverged"
            assert item.provenance.parameters["pass1_draft"]["caption"] != item.payload["caption"]
    assert drafted.report.flagged >= 9


def test_what_the_model_says_it_changed_is_flagged_too(sources):
    def script(body, number):
        review = body["response_format"]["json_schema"]["name"].endswith("Review")
        return drafter(body, number, **({"changed": True, "why": "speed"} if review else {}))

    with FakeEndpoint(script) as endpoint:
        drafted = run(sources, endpoint, quota=1, limit=10)
    assert all("the model says so: speed" in " ".join(flags(item)) for item in drafted.items)


def test_bad_drafts_are_refused_with_reasons_and_drafted_anew(sources):
    tries = Counter()

    def script(body, number):
        good = drafter(body, number)
        text = user_text(body)
        if body["response_format"]["json_schema"]["name"] != "ChoiceDraft":
            return good
        tries[text] += 1
        content = json.loads(good.body["choices"][0]["message"]["content"])
        if tries[text] == 1:
            return completion(json.dumps({**content, "gold": ["flying"]}))
        return good

    with FakeEndpoint(script) as endpoint:
        drafted = run(sources, endpoint, both=False, quota=1, rounds=2, limit=1)
    bad = [r for r in drafted.rejected if r.code == "gold"]
    assert bad
    assert bad[0].stage == "pass1"
    assert "flying" in bad[0].reason
    assert "Which" in bad[0].text
    # Clips ran out, so the same draft was asked for again, and the second answer was good.
    assert max(tries.values()) == 2
    assert any(item.stratum["task"] == "T1" for item in drafted.items)
    assert len(drafted.report.tables["rounds"]) == 2


def test_what_stays_short_after_the_rounds_is_reported(sources):
    def script(body, number):
        if body["response_format"]["json_schema"]["name"] == "CaptionDraft":
            return completion(None, refusal="I cannot help with that.")
        return drafter(body, number)

    with FakeEndpoint(script) as endpoint:
        drafted = run(sources, endpoint, both=False, quota=2, rounds=3, limit=8)
    assert not any(item.stratum["task"] == "T2" for item in drafted.items)
    rows = [row for row in drafted.report.cells if row.cell["task"] == "T2"]
    assert all(row.short == 2 for row in rows)
    assert any(row.reasons.get("refused") for row in rows)
    assert drafted.report.stages["pass1"].coverage.counts["refused"] > 0


def test_a_model_that_refuses_everything_leaves_no_item_and_no_doubt(sources):
    with FakeEndpoint(lambda body, number: completion(None, refusal="No.")) as endpoint:
        drafted = run(sources, endpoint, quota=1, rounds=2, limit=4)
    assert drafted.items == ()
    coverage = drafted.report.stages["pass1"].coverage
    assert coverage.counts["refused"] == coverage.asked == len(endpoint.got)
    assert drafted.report.rejected == {"refused": coverage.asked}
    assert "pass2" not in drafted.report.stages


@pytest.mark.parametrize("caption", ["walking", "a person walks on " * 100, "eine Person geht vor"])
def test_odd_captions_are_drafted_from_and_said(caption):
    clip = source(label("walk forward"), caption=caption.strip())
    with FakeEndpoint(drafter) as endpoint:
        by_model = run(Sources(clips=(clip,)), endpoint, quota=1)
    by_rule = run(Sources(clips=(clip,)), quota=1, frames=no_frames)
    assert len(by_model.items) == len(by_rule.items) == 9
    unknown = "the caption has no known word; the difficulty rests on the labels"
    assert all((unknown in flags(i)) == ("eine" in caption) for i in by_rule.items)


def test_a_dead_endpoint_ends_the_run_and_keeps_what_was_made(sources):
    def script(body, number):
        return drafter(body, number) if number < 6 else failure(500)

    with FakeEndpoint(script) as endpoint:
        drafted = run(sources, endpoint, both=False, quota=5, rounds=3)
    assert len(drafted.items) > 0
    assert "rest of the drafts" in drafted.report.not_run
    assert len(drafted.report.tables["rounds"]) == 1
    assert drafted.report.rejected["not_sent"] > 0
    # Far fewer requests than drafts: the window of failures ended it.
    assert len(endpoint.got) < 40


def test_a_budget_ends_the_run_and_says_so(sources):
    with FakeEndpoint(drafter) as endpoint:
        models = {name: model(endpoint.url) for name in STAGES}
        stages = Stages(models, budget=Budget(calls=40))
        drafted = draft_nextmotionqa(sources, Plan(quota=3, rounds=3), stages, lambda _: FRAMES)
    assert len(endpoint.got) == 40
    assert "rest of the drafts" in drafted.report.not_run
    assert drafted.report.rejected["not_sent"] > 0
    assert "budget of" in next(r.reason for r in drafted.rejected if r.code == "not_sent")


def test_what_an_earlier_run_drafted_stays_when_sampled_down(sources):
    # Else a run that ended early and was taken up again would leave more than the quota.
    alone = {item.id for item in run(sources, quota=1, surplus=3.0, frames=no_frames).items}
    every = run(sources, quota=3, surplus=1.0, rounds=1, frames=no_frames).items
    others = {cell_of(item): item.id for item in every if item.id not in alone}
    plan = Plan(quota=1, surplus=3.0)
    again = draft_nextmotionqa(sources, plan, Stages(), no_frames, set(others.values()))
    assert len(others) == len(again.items) == 27
    assert {item.id for item in again.items} == set(others.values())


def test_a_clip_that_cannot_be_drawn_is_refused_and_asked_once(sources):
    def broken(clip_id):
        raise InputError("expected 22 joints", file="a.npy")

    with FakeEndpoint(drafter) as endpoint:
        drafted = run(sources, endpoint, quota=1, rounds=3, limit=5, frames=broken)
    assert drafted.items == ()
    assert set(drafted.report.rejected) == {"not_drawn"}
    assert drafted.rejected[0].reason == "not drawn: a.npy: expected 22 joints"
    sent = [user_text(g.body) for g in endpoint.got]
    assert len(sent) == len(set(sent))


def test_failures_of_the_source_flag_or_refuse(sources):
    flagged = run(sources, quota=30, frames=no_frames)
    modes = {f[:2] for item in flagged.items for f in flags(item)}
    assert {"F1", "F2"} <= modes
    audit = {row["mode"]: row for row in flagged.report.tables["source_audit"]}
    assert audit["F1"]["items_flagged"] > 0
    assert audit["F2"]["clips"] > 0
    refused = run(sources, quota=30, on_failure="refuse", frames=no_frames)
    assert not {f[:2] for item in refused.items for f in flags(item)} & {"F1", "F2", "F3", "F4"}
    assert refused.report.rejected["F1"] > 0


def test_borderline_clips_come_last_and_are_flagged():
    clear = source(
        label("walk", 0, 2), label("sit", 2.1, 4), clip_id="x:clear", caption="he moves."
    )
    far = source(label("walk", 0, 1), label("sit", 3, 4), clip_id="x:far", caption="he moves.")
    both = Sources(clips=(clear, far))
    one = run(both, quota=1, surplus=2.0, frames=no_frames)
    assert {item.payload["clip_id"] for item in one.items} == {"x:clear"}
    two = run(both, quota=2, frames=no_frames)
    open_ones = [item for item in two.items if item.stratum["tier"] == "borderline"]
    assert open_ones
    assert all("borderline difficulty" in flags(item)[0] for item in open_ones)
    assert two.report.tables["borderline"][0]["clip"] == "x:far"
    without = run(both, quota=2, borderline=False, frames=no_frames)
    assert {item.payload["clip_id"] for item in without.items} == {"x:clear"}


def test_no_source_at_all_says_why():
    empty = Sources(clips=(), passed={"no labels in BABEL": 3})
    with pytest.raises(InputError, match="no labels in BABEL: 3"):
        run(empty)


def test_frames_are_drawn_once_and_read_again(tmp_path):
    made = demo()[7].motion
    first = clip_frames(made, 3, tmp_path / "frames")
    (folder,) = (tmp_path / "frames").iterdir()
    stamps = {f.name: f.stat().st_mtime_ns for f in folder.iterdir()}
    again = clip_frames(made, 3, tmp_path / "frames")
    assert first == again
    assert {f.name: f.stat().st_mtime_ns for f in folder.iterdir()} == stamps
    assert [m.label.split(",")[0] for m in first] == [f"Frame {k} of 3" for k in (1, 2, 3)]
    assert reckoned_frames(made, 3, tmp_path / "frames") == first
    assert len(reckoned_frames(made, 5, tmp_path / "frames")) == 5
    assert len(list((tmp_path / "frames").iterdir())) == 1
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        clip_frames(made, 1, tmp_path / "file")


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A workspace without clips."""
    return init_workspace(tmp_path_factory.mktemp("empty") / "w").root


def command(*arguments):
    """Run `motionjury draft nextmotionqa`."""
    return CliRunner().invoke(cli, ["draft", "nextmotionqa", *map(str, arguments)])


def test_the_command_stores_items_and_writes_the_report(tmp_path):
    home = workspace(tmp_path / "w")
    result = command("--quota", 2, "-w", home, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    with open_workspace(home).db.read() as session:
        items = list_items(session, benchmark="nextmotionqa")
    assert len(items) == summary["added"] == summary["drafted"] > 30
    assert {item.kind for item in items} == {"choice", "caption", "correction"}
    page = Path(summary["report"]).read_text()
    assert "direction" in page
    assert (Path(summary["report"]).parent / "source_audit.csv").is_file()
    again = json.loads(command("--quota", 2, "-w", home, "--json").stdout)
    assert again["added"] == 0


def test_both_passes_by_command_with_babel_and_humanml3d(tmp_path):
    babel, human = write_corpus(tmp_path)
    with FakeEndpoint(drafter) as endpoint:
        home = workspace(tmp_path / "w", endpoint.url, count=0)
        runner = CliRunner()
        imported = runner.invoke(cli, ["corpus", "import", str(human), "-w", str(home)])
        assert imported.exit_code == 0, imported.output
        options = ("--babel", babel, "--humanml3d", human, "--quota", 1, "--frames", 1)
        options += ("--limit", 2, "-w", home, "--json")
        result = command(*options)
        assert result.exit_code == 0, result.output
        stage = command(*options, "--stage-model", "pass2=n")
        # The same clips in another corpus: which of them is meant, the user must say.
        runner.invoke(cli, ["corpus", "import", str(human), "--name", "twice", "-w", str(home)])
        both = command(*options)
        assert "humanml3d:000001" in str(both.exception)
        assert "choose with --corpus" in str(both.exception)
        assert command(*options, "--corpus", "twice", "--dry-run").exit_code == 0
    summary = json.loads(result.stdout)
    assert summary["asked"] == 2
    with open_workspace(home).db.read() as session:
        items = list_items(session, benchmark="nextmotionqa")
    assert len(items) == summary["drafted"]
    assert all(item.provenance.parameters["labels_from"].startswith("babel ") for item in items)
    other = json.loads(stage.stdout)
    assert other["stages"]["pass1"]["from_cache"] == other["stages"]["pass1"]["coverage"]["asked"]
    assert other["stages"]["pass2"]["model"] == "n"
    assert not any("drafted and checked" in note for note in other["notes"])


def test_a_study_of_drafted_items_launches_and_shows_no_answer(tmp_path):
    home = workspace(tmp_path / "w")
    assert command("--quota", 1, "-w", home).exit_code == 0
    runner = CliRunner()
    create = ["study", "create", "v", "--protocol", "expert_verification", "--per-axis", "5"]
    made = runner.invoke(cli, [*create, "--corpus", "synthetic", "-w", str(home), "--json"])
    assert made.exit_code == 0, made.output
    db = open_workspace(home).db
    with db.write() as session:
        (study,) = list_studies(session)
        items = [get_item(session, one) for one in study.config.item_ids]
        for number, clip_id in enumerate(sorted({i.payload["clip_id"] for i in items})):
            add_media(
                session, key=f"{number:032x}", clip_id=clip_id, file=f"{number:032x}.mp4",
                settings={"size": 768}, frames=60, fps=30.0, seconds=2.0, sha256=f"{number:064x}",
                size=1000,
            )  # fmt: skip
        person = add_person(session, "Ella", "expert")
        add_member(session, study.id, person.id)
        launch(session, study.id)
    shown = []
    for number in range(len(items)):
        with db.write() as session:
            held = next_assignment(session, study.id, person.id)
            shown.append(blind_item(session, held.id, person.id).model_dump_json())
            submit(session, held.id, person.id, f"s{number}", {"verdict": "accept"}, {})
    kinds = {item.kind for item in items}
    assert len(shown) == len(items) == 15
    assert kinds == {"choice", "caption", "correction"}
    sent = "".join(shown)
    wording = [i.payload.get("question") or i.payload.get("caption") or i.payload.get("corrupted")
               for i in items]  # fmt: skip
    assert all(json.dumps(words)[1:-1] in sent for words in wording)
    for hidden in ("gold", "rewrite", "corrected", "pass1", "source_audit", "flags"):
        assert hidden not in sent


def test_a_dry_run_sends_and_stores_nothing(tmp_path):
    with FakeEndpoint(drafter) as endpoint:
        home = workspace(tmp_path / "w", endpoint.url)
        result = command("--quota", 2, "-w", home, "--dry-run")
        assert result.exit_code == 0, result.output
        assert endpoint.got == []
    # The template stands in for pass 1, so that pass 2 can be reckoned, pictures and all.
    calls = dict(re.findall(r"^(pass[12]): (\d+) calls", result.stdout, re.M))
    assert int(calls["pass1"]) > 0
    assert int(calls["pass2"]) > 0
    assert re.search(r"^pass2: .* [1-9]\d* pictures", result.stdout, re.M)
    assert not (home / "media" / "frames").exists()
    assert command("--quota", 2, "-w", home, "--dry-run", "--stage-model", "pass1=x").exit_code == 0
    with open_workspace(home).db.read() as session:
        assert list_items(session, benchmark="nextmotionqa") == []


def answered(folder):
    """Answer the questions of a folder as a batch service would; return the file of answers."""
    lines = []
    for file in sorted(folder.rglob("batch-*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            asked = json.loads(line)
            came = {"status_code": 200, "body": drafter(asked["body"], 0).body}
            lines.append(json.dumps({"custom_id": asked["custom_id"], "response": came}))
    back = folder / "answers.jsonl"
    back.write_text("\n".join(lines), encoding="utf-8")
    return back


def test_a_batch_goes_out_stage_by_stage_and_its_answers_make_the_items(tmp_path):
    with FakeEndpoint(drafter) as endpoint:
        home = workspace(tmp_path / "w", endpoint.url)
        options = ("--quota", 1, "--frames", 2, "-w", home)
        told = command(*options, "--batch-out", tmp_path / "one")
        assert told.exit_code == 0, told.output
        # Pass 2 builds on the answers of pass 1, which are not here yet.
        assert {path.name.split("-")[0] for path in (tmp_path / "one").iterdir()} == {"pass1"}
        back = ["--batch-in", answered(tmp_path / "one")]
        told = command(*options, *back, "--batch-out", tmp_path / "two")
        assert "written: " in told.stdout
        assert {path.name.split("-")[0] for path in (tmp_path / "two").iterdir()} == {"pass2"}
        assert (
            "data:image/png;base64,iVBOR" in next((tmp_path / "two").rglob("*.jsonl")).read_text()
        )
        back += ["--batch-in", answered(tmp_path / "two")]
        result = command(*options, *back, "--json")
        assert result.exit_code == 0, result.output
        report = json.loads(result.stdout)
        assert "refused" not in result.stderr
        assert endpoint.got == []
        assert [use["calls"] for use in report["stages"].values()] == [0, 0]
        assert report["added"] == report["drafted"] > 0
        done = command(*options, "--batch-out", tmp_path / "three")
        assert "Every question known by now is answered" in done.stdout
    for more, words in (
        (("--dry-run", "--batch-out", tmp_path / "four"), "without --dry-run"),
        (("--no-model", *back), "expected a model"),
        (("--batch-out", tmp_path / "one"), "without batch-"),
    ):
        assert words in str(command(*options, *more).exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--babel", "b"], "--babel and --humanml3d: expected both or neither"),
        (["--captions", "some"], "--captions: expected first or all, got 'some'"),
        (["--audit", "drop"], "--audit: expected flag or refuse, got 'drop'"),
        (["--corpus", "none"], "no clip has both an action label and a caption"),
        (["--babel", "nowhere", "--humanml3d", "nowhere"], "no such file or folder"),
        (["--stage-model", "pass3=x"], "--stage-model: expected STAGE=NAME"),
    ],
)
def test_a_mistake_is_said_in_one_line(empty, arguments, words):
    result = command("-w", empty, *arguments)
    assert isinstance(result.exception, InputError)
    assert words in str(result.exception)
    assert "\n" not in str(result.exception)


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    def script(body, number):
        answer = drafter(body, number)
        answer.delay = 0.03
        return answer

    with FakeEndpoint(script) as endpoint:
        home = workspace(tmp_path / "w", endpoint.url, count=2)
        arguments = [sys.executable, "-m", "motionjury", "draft", "nextmotionqa"]
        arguments += ["--quota", "1", "--frames", "1", "-w", str(home)]
        running = subprocess.Popen(
            arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        limit = time.monotonic() + 120
        while len(endpoint.got) < 6 and time.monotonic() < limit:
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        kept = len(ResponseCache(home / "llm-cache"))
        sent = [json.dumps(g.body, sort_keys=True) for g in endpoint.got]
        assert 3 <= kept <= len(sent)
        result = command("--quota", 1, "--frames", 1, "-w", home, "--json")
        assert result.exit_code == 0, result.output
        everything = [json.dumps(g.body, sort_keys=True) for g in endpoint.got]
    # Only what was under way when it was killed is asked a second time.
    twice = Counter(everything)
    assert sum(count - 1 for count in twice.values()) <= 3
    stages = json.loads(result.stdout)["stages"]
    assert sum(use["from_cache"] for use in stages.values()) == kept
