"""MRBench without a model: the pool, the split, the draft of the demo corpus, the command."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.mrbench import CaptionSet
from benchmarks.taxonomy import default_taxonomy
from construction.mrbench.candidates import gather, motion_groups
from construction.mrbench.classify import classify
from construction.mrbench.draft import MrbenchSettings, draft_mrbench
from construction.mrbench.lengths import word_count
from construction.mrbench.pool import Outcome, draw_pool
from construction.stages import Stages
from corpus.clips import Caption
from corpus.problems import InputError
from motionjury.cli import cli
from motionjury.workspace import open_workspace
from store.items import list_items
from tests.construction.mrbench_world import captioned, clip, demo, event, plain_frames, tfidf
from tests.construction.nextmotion import workspace

TAXONOMY = default_taxonomy()


def filed_of(texts):
    candidates, _, _ = gather(*captioned(texts))
    filed, refused = classify(candidates, TAXONOMY, Stages())
    assert not refused
    return filed


def take_all(batch):
    return [Outcome(True) for _ in batch]


def draw(filed, process=take_all, most=60, embedder=tfidf, **options):
    compare = embedder([f.candidate.caption.text for f in filed])
    return draw_pool(filed, compare, process, most=most, **options)


def drafted_of(clips, captions, least=1, most=60, beyond=(), earlier=(), **options):
    chosen = MrbenchSettings(min_per_category=least, max_per_category=most, **options)
    return draft_mrbench(
        clips, captions, TAXONOMY, tfidf, plain_frames, settings=chosen, beyond=beyond,
        earlier=earlier,
    )  # fmt: skip


class Alike:
    """An embedder to which everything is the same."""

    id = "alike"

    def __init__(self, corpus):
        del corpus

    def embed(self, texts):
        return np.ones((len(texts), 1), np.float32)


def test_near_duplicates_are_passed_over_but_not_other_sides_orders_or_counts():
    filed = filed_of({
        "a:1": ["a man kicks with the left leg"],
        "a:2": ["someone kicks with the left leg"],
        "a:3": ["a man kicks with the right leg"],
        "a:4": ["a man kicks with the right leg twice"],
        "a:5": ["a man kicks with the right leg three times"],
    })  # fmt: skip
    drawn = draw(filed, embedder=Alike)
    texts = {f.candidate.caption.text for f in drawn.accepted}
    assert sum("left" in text for text in texts) == 1
    assert {r.code for r in drawn.refused} == {"near_duplicate"}
    assert len(drawn.accepted) + len(drawn.refused) == 5
    sides = {text.split(" the ")[1].split()[0] for text in texts}
    assert sides == {"left", "right"}
    assert all("cosine 1.000 to a:" in r.reason for r in drawn.refused)


def test_a_near_duplicate_comes_up_again_when_what_it_repeats_fails():
    filed = filed_of({"a:1": ["a man kicks hard"], "a:2": ["someone kicks hard"]})
    seen = []

    def first_fails(batch):
        seen.extend(f.candidate.clip.id for f in batch)
        return [Outcome(len(seen) > 1) for _ in batch]

    drawn = draw(filed, first_fails, embedder=Alike)
    assert sorted(seen) == ["a:1", "a:2"]
    assert [f.candidate.clip.id for f in drawn.accepted] == seen[1:]


def test_another_caption_comes_up_when_a_motions_first_fails():
    filed = filed_of({"a:1": ["a man kicks hard", "a man waves both hands"]})
    seen = []

    def first_fails(batch):
        seen.extend(f.candidate.caption.id for f in batch)
        return [Outcome(len(seen) > 1) for _ in batch]

    drawn = draw(filed, first_fails)
    assert len(seen) == 2
    assert [f.candidate.caption.id for f in drawn.accepted] == seen[1:]


def test_a_category_gives_at_most_so_many_and_a_motion_stands_once():
    deeds = ["kicks with the {} leg {} times", "waves the {} hand {} times"]
    texts = {
        f"a:{n}": [f"a person {deed.format(side, n + 2)}" for deed in deeds]
        for n, side in enumerate(["left", "right"] * 20)
    }
    drawn = draw(filed_of(texts), most=7)
    counts = Counter(f.category.fine for f in drawn.accepted)
    assert counts == {"Kick": 7, "Wave": 7}
    assert len({f.candidate.group for f in drawn.accepted}) == 14
    again = draw(filed_of(texts), most=7)
    assert [f.candidate.caption.id for f in again.accepted] == [
        f.candidate.caption.id for f in drawn.accepted
    ]
    other = draw(filed_of(texts), most=7, seed=1)
    assert other.accepted != drawn.accepted


def test_a_batch_without_a_usable_answer_ends_the_draw():
    texts = {f"a:{n}": [f"a person kicks {n} times"] for n in range(2, 300)}
    asked = []

    def none(batch):
        asked.extend(batch)
        return [Outcome(False, None, answered=False) for _ in batch]

    drawn = draw(filed_of(texts), none)
    assert not drawn.accepted
    assert "none of 60 candidates" in drawn.stopped
    assert len(asked) == 60


def test_the_pool_costs_in_proportion_to_the_candidates():
    """No table of all pairs: vectors held and compared grow with the number of candidates."""

    class Counting:
        id = "counting"

        def __init__(self, corpus):
            del corpus
            self.embedded = 0

        def embed(self, texts):
            self.embedded += len(texts)
            rows = np.zeros((len(texts), 8), np.float32)
            rows[:, 0] = 1
            return rows

    spent = []
    for size in (200, 400, 800):
        texts = {f"a:{n}": [f"a person kicks the ball {'high ' * (n % 9)}"] for n in range(size)}
        filed = filed_of(texts)
        compare = Counting([])
        draw_pool(filed, compare, take_all, most=10)
        spent.append(compare.embedded)
    assert spent == [200, 400, 800]


VERBS = ["kicks", "waves", "claps", "jumps up", "squats", "bows", "punches"]


@st.composite
def corpora(draw):
    """Corpora with twins, copies, shared captions and clips without any."""
    clips, captions = [], []
    for number in range(draw(st.integers(1, 14))):
        twin = "M" if draw(st.booleans()) else ""
        key = f"h:{twin}{draw(st.integers(0, 6)):06d}"
        if any(c.id == key for c in clips):
            continue
        content = draw(st.sampled_from([None, "copied"]))
        clips.append(clip(key, content=content, events=(event("kick", "left"),)))
        for k in range(draw(st.integers(0, 3))):
            times = draw(st.integers(2, 30))
            text = f"a person {draw(st.sampled_from(VERBS))} with the left arm {times} times"
            captions.append(Caption(id=f"{key}#{number}.{k}", clip_id=key, text=text))
    return clips, captions


@given(corpora(), st.integers(0, 5), st.integers(1, 3))
@settings(max_examples=30)
def test_no_motion_is_in_both_benchmark_and_training_set(corpus, seed, most):
    clips, captions = corpus
    made = drafted_of(clips, captions, seed=seed, most=most)
    groups = motion_groups(clips)
    test = [groups[item.payload["clip_id"]] for item in made.items]
    assert len(test) == len(set(test))
    assert set(test).isdisjoint(pair.motion_group for pair in made.training)
    assert set(test).isdisjoint(groups[pair.clip_id] for pair in made.training)
    assert max(Counter(i.stratum["fine"] for i in made.items).values(), default=0) <= most
    # Everything is accounted for: drafted, refused, held out, or of a motion that was drafted.
    told = {r.source for r in made.rejected} | {p.caption_id for p in made.training}
    told |= {i.provenance.parameters["caption_id"] for i in made.items}
    told |= {c.id for c in captions if groups[c.clip_id] in test}
    fates = made.report.tables["captions"]
    assert sum(row["captions"] for row in fates) == made.report.asked == len(captions)
    assert sum(row["of_these_in_training"] for row in fates) == len(made.training)
    assert told >= {c.id for c in captions}


def test_the_demo_corpus_makes_sets_and_says_what_did_not_run():
    made = drafted_of(*demo(), least=2, most=3)
    assert len(made.items) > 40
    for item in made.items:
        payload = CaptionSet.model_validate(item.payload)
        sizes = [word_count(t) for t in (payload.concise, payload.standard, payload.fine)]
        assert sizes == sorted(set(sizes))
        assert TAXONOMY.find(payload.category[2]).path == payload.category
        assert item.provenance.rule == "mrbench.compose/1"
        assert item.provenance.model_asked is None
    report = made.report
    assert set(report.not_run) == {"score", "classify", "verify", "rewrite"}
    assert not report.stages
    short = {row["fine"]: row["missing"] for row in report.tables["supplement"]}
    assert short["Handstand"] == 2
    drafted = Counter(item.stratum["fine"] for item in made.items)
    for category in TAXONOMY.categories:
        assert short.get(category.fine, 0) == max(2 - drafted[category.fine], 0)
    assert sum(report.rejected.values()) == len(made.rejected)
    assert [f.name for f in report.figures] == ["categories", "lengths", "repetition"]
    assert "alignment" not in report.tables


def test_limits_and_earlier_benchmarks_are_kept():
    clips, captions = demo()
    few = drafted_of(clips, captions, limit=5, seed=3)
    seen = {r.source.split("#")[0] for r in few.rejected} | {p.clip_id for p in few.training}
    assert len(seen | {item.payload["clip_id"] for item in few.items}) == 5
    free = drafted_of(clips, captions, most=1)
    held = {pair.clip_id for pair in free.training}
    groups = motion_groups(clips)
    other = drafted_of(clips, captions, most=1, seed=1).items
    again = drafted_of(clips, captions, most=1, earlier=other)
    assert [i.id for i in again.items] == [i.id for i in free.items]
    before = {groups[item.payload["clip_id"]] for item in other}
    assert {p.clip_id for p in again.training} == {c for c in held if groups[c] not in before}
    assert held - {p.clip_id for p in again.training}
    with pytest.raises(InputError, match="max_per_category"):
        drafted_of(clips, captions, least=5, most=2)


@pytest.mark.parametrize(
    ("one", "other"),
    [("h:000001", "h:M000001"), ("s:ep2_00086#0#250", "s:m_ep2_00086#250#500")],
)
def test_a_mirrored_twin_of_another_split_does_not_train(one, other):
    clips, captions = captioned({
        one: ["a man kicks with the left leg"],
        other: ["a man kicks with the right leg"],
        "h:000002": ["a man kicks twice"],
        "h:000003": ["a man kicks three times"],
    })  # fmt: skip
    labelled = [c.model_copy(update={"events": (event("kick", "left"),)}) for c in clips]
    test = drafted_of(labelled[:1], captions[:1], beyond=labelled)
    assert [item.payload["clip_id"] for item in test.items] == [one]
    split = drafted_of(labelled[1:], captions[1:], most=1, beyond=labelled, earlier=test.items)
    trained = {pair.clip_id for pair in split.training}
    assert trained
    assert other not in trained


def test_what_an_earlier_run_took_is_taken_first():
    deeds = ["kicks with the {} leg {} times", "waves the {} hand {} times"]
    texts = {
        f"a:{n}": [f"a person {deed.format('left', n + 2)}" for deed in deeds] for n in range(9)
    }
    filed = filed_of(texts)
    waves = [f.candidate.caption.id for f in filed if f.category.fine == "Wave"][:4]
    drawn = draw(filed, most=4, first=waves)
    accepted = {f.candidate.caption.id for f in drawn.accepted}
    assert set(waves) <= accepted
    assert len(accepted) == 8
    # Left to itself, the other category would have taken some of these motions.
    assert not set(waves) <= {f.candidate.caption.id for f in draw(filed, most=4).accepted}


def run(*arguments, ok=True):
    result = CliRunner().invoke(cli, [*map(str, arguments)])
    assert (result.exit_code == 0) is ok, (result.output, result.exception)
    return result


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return workspace(tmp_path_factory.mktemp("mrbench") / "w", count=78)


def test_the_command_drafts_once_and_its_items_make_a_study(root):
    options = ("--max-per-category", 2, "--min-per-category", 1, "--workspace", root)
    first = json.loads(run("draft", "mrbench", *options, "--json").stdout)
    assert first["drafted"] == first["added"] > 30
    folder = root / "results" / "draft-mrbench"
    names = {path.name for path in folder.iterdir()}
    assert names >= {"report.html", "rejected.jsonl", "train.jsonl", "supplement.csv"}
    lines = (folder / "train.jsonl").read_text(encoding="utf-8").splitlines()
    train = {json.loads(line)["clip_id"] for line in lines}
    again = json.loads(run("draft", "mrbench", *options, "--json").stdout)
    assert (again["drafted"], again["added"]) == (first["drafted"], 0)
    run("study", "create", "sets", "--protocol", "mrbench_validation", "--limit", 1,
        "--ratings", 1, "--workspace", root)  # fmt: skip
    run("render", "all", "--study", "sets", "--size", 64, "--workspace", root)
    run("people", "invite", "Ada", "--role", "expert", "--study", "sets", "--workspace", root)
    run("study", "launch", "sets", "--workspace", root)
    shown = json.loads(run("study", "status", "sets", "--json", "--workspace", root).stdout)
    assert shown
    assert train
    other = json.loads(run("draft", "mrbench", *options, "--seed", 9, "--json").stdout)
    lines = (folder / "train.jsonl").read_text(encoding="utf-8").splitlines()
    later = {json.loads(line)["clip_id"] for line in lines}
    assert other["added"] > 0
    with open_workspace(root).db.read() as session:
        everything = {item.payload["clip_id"] for item in list_items(session, "mrbench")}
    assert later.isdisjoint(everything)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--embedding", "word2vec"), "expected one of tfidf"),
        (("--embedding", "endpoint:e5"), "endpoint"),
        (("--taxonomy", "absent.toml"), "absent.toml"),
        (("--corpus", "absent"), "no captions"),
        (("--max-per-category", "2"), "max_per_category"),
        (("--stage-model", "paint=x"), "STAGE of score, classify, verify, rewrite"),
    ],
)
def test_the_command_says_what_it_cannot_use(root, options, words):
    result = run("draft", "mrbench", *options, "--workspace", root, ok=False)
    assert isinstance(result.exception, InputError)
    assert words in str(result.exception)
