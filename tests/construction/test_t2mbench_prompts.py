"""T2MBench prompts: the quota offline, expansion and refinement by a model behind a real server."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from benchmarks.t2mbench import CATEGORIES, MotionPrompt
from construction.prompt_files import PromptFiles
from construction.report import flags
from construction.sampling import same_text
from construction.stages import Stages
from construction.t2mbench import expansion
from construction.t2mbench.book import Cell, cells
from construction.t2mbench.clay import check_prompt
from construction.t2mbench.grammar import RULE as GRAMMAR
from construction.t2mbench.moves import find_moves, moves
from construction.t2mbench.prompts import draft_prompts
from construction.t2mbench.refinement import refinement_fault
from construction.t2mbench.run import Plan, categories_of, draft_t2mbench
from construction.t2mbench.seeds import Seed, builtin_seeds, read_seeds
from construction.t2mbench.wording import ABOUT
from corpus.problems import InputError
from llm.cache import ResponseCache
from tests.llm.server import FakeEndpoint, completion, failure, user_text
from tests.llm.world import model

DANCE = [Cell("dance", "short", 4)]
PARTS = ("arm", "knee", "foot", "hand", "elbow", "leg", "palm", "heel")


@pytest.fixture(scope="module")
def offline():
    """All 1,025 prompts without a model."""
    return draft_prompts(cells(), 0, Stages())


def asked_count(body):
    return int(re.search(r"Write (\d+) different", user_text(body)).group(1))


def good(number):
    side = ("left", "right")[number % 2]
    way = ("forward", "backward", "up", "down")[number // 2 % 4]
    return f"A person moves the {side} {PARTS[number // 8 % 8]} {way}."


class Writer:
    """A model that answers ``expand`` with new prompts and ``refine`` with the text itself."""

    def __init__(self, **wrong):
        self.made = 0
        self.wrong = wrong

    def __call__(self, body, number):
        text = user_text(body)
        if "Write " in text[:7]:
            several = []
            for _ in range(asked_count(body)):
                several.append(self.wrong.get("first", good)(self.made))
                self.made += 1
            return completion(json.dumps({"prompts": several}))
        kept = text.split("\n\n")[1]
        return completion(json.dumps({"text": self.wrong.get("refined", lambda t: t)(kept)}))


def test_the_quota_is_the_papers(offline):
    # T2MBench Table 1: 1,025 prompts, 745 of them outside Accuracy.
    assert sum(cell.planned for cell in cells()) == 1025
    outside = [c.planned for c in cells() if CATEGORIES[c.category].dimension != "accuracy"]
    assert sum(outside) == 745
    made = Counter((i.stratum["category"], i.stratum["length"]) for i in offline.items)
    assert made == {(c.category, c.length): c.planned for c in cells()}


def test_every_prompt_made_offline_passes_the_rule_and_is_new(offline):
    texts = [MotionPrompt.model_validate(item.payload) for item in offline.items]
    assert [t.text for t in texts if check_prompt(t.text, t.category, t.length)] == []
    assert len({same_text(t.text) for t in texts}) == 1025
    assert len({t.prompt_id for t in texts}) == len({item.id for item in offline.items}) == 1025
    assert {"{", "}"} & set("".join(t.text for t in texts)) == set()
    assert offline.notes == []


def test_every_move_leads_a_prompt_and_both_sides_come_up(offline):
    led = Counter((i.stratum["category"], i.provenance.parameters["lead"]) for i in offline.items)
    for category in ("dance", "explosive", "martial_arts", "balance", "intent", "invisible_object"):
        own = {move.name for move in moves(category)}
        assert {lead for (name, lead) in led if name == category} == own
    sides = Counter(w for i in offline.items for w in re.findall(r"left|right", i.payload["text"]))
    assert 0.8 < sides["left"] / sides["right"] < 1.25


def test_each_refusal_has_a_place_a_code_and_the_text(offline):
    assert offline.rejected
    for refusal in offline.rejected:
        assert refusal.code in ("too_long", "duplicate")
        assert refusal.reason
        assert refusal.text
        assert set(refusal.cell) == {"dimension", "category", "length"}


def test_the_seed_decides(offline):
    assert draft_prompts(cells(), 0, Stages()).items == offline.items
    other = draft_prompts(cells(("dance",)), 1, Stages()).items
    assert len({i.id for i in other} & {i.id for i in offline.items}) < 20


def test_a_limit_and_categories_narrow_the_quota():
    assert [tuple(c) for c in cells(("dance", "whole_body"), 3)] == [
        ("dance", "long", 3), ("dance", "short", 3), ("whole_body", "short", 3),
    ]  # fmt: skip
    assert categories_of("accuracy,dance") == ("dance", "numerical", "whole_body", "body_part")
    for wrong in ("yoga", " , "):
        with pytest.raises(ValueError, match="expected some of"):
            categories_of(wrong)


def test_every_category_has_words_and_seeds_where_it_is_made_of_moves():
    assert set(ABOUT) == set(CATEGORIES)
    assert {c for c in CATEGORIES if not builtin_seeds(c)} == {
        "asymmetric", "numerical", "whole_body", "body_part",
    }  # fmt: skip
    assert [m.name for m in find_moves("he does a spinning back fist", "martial_arts")] == [
        "spinning back fist"
    ]


def test_seeds_lead_the_grammar_and_unknown_ones_are_refused():
    seeds = [
        Seed(id="a", text="roundhouse kick", category="martial_arts"),
        Seed(id="b", text="quantum flux", category="martial_arts"),
    ]
    found = draft_prompts(cells(("martial_arts", "dance"), 3), 0, Stages(), seeds=seeds)
    martial = [i for i in found.items if i.stratum["category"] == "martial_arts"]
    assert len(martial) == 6
    assert {i.provenance.parameters["lead"] for i in martial} == {"roundhouse kick"}
    assert all("shin across" in i.payload["text"] for i in martial)
    assert [(r.source, r.code) for r in found.rejected if r.stage == "seed"] == [
        ("b", "unknown_move")
    ]
    assert len(found.items) == 12


def test_a_file_whose_seeds_name_no_move_falls_back_and_says_so():
    found = draft_prompts(cells(("dance",), 2), 0, Stages(), seeds=[Seed(id="x", text="zzz")])
    assert len(found.items) == 4
    assert [note for note in found.notes if "no seed names a move" in note]
    assert [r.code for r in found.rejected if r.stage == "seed"] == ["unknown_move"]


def test_a_grammar_that_runs_dry_tells_what_is_missing(monkeypatch):
    monkeypatch.setattr(expansion, "_DRY", 8)
    found = draft_prompts([Cell("body_part", "short", 9000)], 0, Stages())
    made = len(found.items)
    assert 100 < made < 9000
    assert f"{9000 - made} of 9000 are missing" in found.notes[0]


def test_files_of_seeds_are_read_in_every_form(tmp_path):
    files = {
        "a.txt": "front kick\n\nback kick\n",
        "a.jsonl": '{"text": "front kick", "category": "Martial"}\n"back kick"\n',
        "a.json": '{"x1": {"prompt": "front kick"}, "x2": "back kick"}',
        "a.csv": "caption,category\nfront kick,martial-arts\nback kick,\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        seeds, problems = read_seeds(path)
        assert [seed.text for seed in seeds] == ["front kick", "back kick"]
        assert problems == []
        assert seeds[0].category in (None, "martial_arts")


def test_malformed_rows_of_seeds_are_named_and_the_rest_goes_on(tmp_path):
    path = tmp_path / "seeds.jsonl"
    rows = [
        '{"text": "front kick"}', "{oops", "[1, 2]", '{"text": 7}', '{"id": "n"}',
        '{"text": "Front  kick"}', '{"text": "plié", "category": "yoga"}',
        json.dumps({"text": "a" * 3000}), '{"text": "a\\u202eb"}', '{"id": "k", "text": "jab"}',
        '{"id": "k", "text": "cross"}', "[" * 3000,
    ]  # fmt: skip
    path.write_text("\n".join(rows), encoding="utf-8")
    seeds, problems = read_seeds(path)
    assert [seed.text for seed in seeds] == ["front kick", "jab"]
    assert [p.place for p in problems] == [f"line {n}" for n in (2, 3, 4, 5, 6, 7, 8, 9, 11, 12)]
    assert "stands in line 1 already" in problems[4].reason
    assert "category: expected one of" in problems[5].reason


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("s.xlsx", b"", "expected a file of .csv"),
        ("s.txt", b"\n\n", "found none that can be used"),
        ("s.txt", b"\xff\xfe\x00", "expected UTF-8"),
        ("s.json", b"{", "expected JSON"),
        ("s.json", b"3", "expected a list"),
        ("s.csv", b'text\n"a', "expected CSV"),
        ("s.csv", b"text\na,b\n", "found none that can be used; first: row 2"),
    ],
)
def test_a_file_without_seeds_is_refused_in_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_seeds(tmp_path / name)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_model_fills_the_cells_in_rounds_and_is_told_its_mistakes():
    def first(number):
        return "A person gracefully raises the left arm up." if number < 4 else good(number)

    with FakeEndpoint(Writer(first=first)) as server:
        stages = Stages({"expand": model(server.url)})
        found = draft_prompts(DANCE, 0, stages)
        told = [user_text(got.body) for got in server.got]
    assert [i.payload["text"] for i in found.items] == [good(n) for n in (4, 5, 6, 7)]
    assert Counter(r.code for r in found.rejected) == {"vague_word": 4}
    assert [r.source for r in found.rejected] == [f"dance.short.r0.0#{n}" for n in (1, 2, 3, 4)]
    assert len(told) == 2
    assert "refused for these reasons" not in told[0]
    assert "says how it looks, not what moves" in told[1]
    made = found.items[0].provenance
    assert made.rule == "t2mbench.expand/1"
    assert made.model_asked == "asked-model"
    assert made.parameters["seed_text"] in [move.name for move in moves("dance")]
    assert stages.uses()["expand"].coverage.line() == "2 of 2 answered (ok 2)"


def test_what_the_model_repeats_or_gives_too_much_is_refused():
    with FakeEndpoint(lambda *_: completion(json.dumps({"prompts": [good(0)] * 3 + [
        good(n) for n in range(1, 9)]}))) as server:  # fmt: skip
        found = draft_prompts(DANCE, 0, Stages({"expand": model(server.url)}))
    assert [i.payload["text"] for i in found.items] == [good(n) for n in range(4)]
    assert Counter(r.code for r in found.rejected) == {"duplicate": 2, "surplus": 5}


def test_a_second_run_asks_nothing(tmp_path):
    with FakeEndpoint(Writer()) as server:
        cache = ResponseCache(tmp_path)
        quota = [Cell("dance", "short", 12), Cell("martial_arts", "short", 7)]
        runs = []
        for _ in range(2):
            stages = Stages({s: model(server.url, cache) for s in ("expand", "refine")})
            runs.append(draft_prompts(quota, 5, stages))
            asked = len(server.got)
        assert runs[0].items == runs[1].items
        assert len(runs[0].items) == 19
        assert asked == 5 + 19


def test_refinement_keeps_sides_numbers_and_the_rule():
    cell = Cell("numerical", "short", 1)
    before = "A person raises the left arm overhead 3 times."
    assert refinement_fault(before, "The left arm goes overhead 3 times.", cell) is None
    for after, code in (
        ("A person raises the right arm overhead 3 times.", "side_changed"),
        ("A person raises the left arm overhead 4 times.", "number_changed"),
        ("A person gracefully raises the left arm overhead 3 times.", "vague_word"),
        ("", "empty"),
    ):
        fault = refinement_fault(before, after, cell)
        assert fault is not None
        assert fault.code == code


def test_refined_prompts_keep_where_they_come_from():
    with FakeEndpoint(Writer(refined=lambda text: text.replace("A person", "Someone"))) as server:
        stages = Stages({s: model(server.url) for s in ("expand", "refine")})
        found = draft_prompts(DANCE, 0, stages)
    assert [i.payload["text"] for i in found.items] == [
        good(n).replace("A person", "Someone") for n in range(4)
    ]
    told = found.items[0].provenance.parameters["refined"]
    assert (told["rule"], told["before"]) == ("t2mbench.refine/1", good(0))
    assert told["model_asked"] == "asked-model"


def test_prompts_of_the_grammar_may_be_refined_too():
    with FakeEndpoint(Writer(refined=lambda text: f"{text[:-1]}!")) as server:
        found = draft_prompts(DANCE, 0, Stages({"refine": model(server.url)}))
        assert len(server.got) == 4
    assert all(item.payload["text"].endswith("!") for item in found.items)
    assert all("refined" in item.provenance.parameters for item in found.items)
    assert {item.provenance.rule for item in found.items} == {GRAMMAR}


def test_a_refinement_that_breaks_the_rule_leaves_the_prompt_flagged():
    def worse(text):
        return text.replace("left", "right") if "left" in text else text.replace(".", " softly.")

    with FakeEndpoint(Writer(refined=worse)) as server:
        stages = Stages({s: model(server.url) for s in ("expand", "refine")})
        found = draft_prompts(DANCE, 0, stages)
    assert [i.payload["text"] for i in found.items] == [good(n) for n in range(4)]
    assert Counter(r.code for r in found.rejected) == {"side_changed": 2, "vague_word": 2}
    assert all(flags(item)[0].startswith("refinement refused") for item in found.items)


def test_a_model_that_refuses_everything_drafts_nothing_and_says_so():
    def script(*_):
        return completion(None, refusal="I will not.")

    with FakeEndpoint(script) as server:
        models = {s: model(server.url) for s in ("expand", "refine", "target")}
        drafted = draft_t2mbench(Plan(categories=("dance",), limit=3), Stages(models))
        assert len(server.got) == 2
    assert drafted.items == []
    assert [row.short for row in drafted.report.cells] == [3, 3]
    assert drafted.report.rejected == {"refused": 2}
    assert "expand: no usable answer in round 1" in drafted.report.notes[0]
    assert drafted.report.stages["expand"].coverage.counts["refused"] == 2


def test_an_endpoint_that_is_down_ends_the_run_and_keeps_the_rest(tmp_path):
    writer, broken = Writer(), []

    def script(body, number):
        return failure(500) if broken else writer(body, number)

    with FakeEndpoint(script) as server:
        cache = ResponseCache(tmp_path)
        half = draft_prompts(
            DANCE, 0, Stages({"expand": model(server.url, cache, concurrency=1)}), per_call=4
        )
        broken.append(True)
        quota = [*DANCE, Cell("explosive", "short", 50)]
        stages = Stages({"expand": model(server.url, cache, concurrency=1, attempts=1)})
        before = len(server.got)
        found = draft_prompts(quota, 0, stages, per_call=4)
        # The first round keeps what the cache has; the second has no usable answer and is the last.
        assert len(server.got) - before <= 4
    assert [i.id for i in found.items] == [i.id for i in half.items]
    reasons = [r.reason for r in found.rejected]
    assert any("the endpoint is down" in reason for reason in reasons)
    assert found.notes[0].startswith("expand: no usable answer in round 2")


def test_a_dry_run_sends_nothing_and_reckons():
    with FakeEndpoint(Writer()) as server:
        stages = Stages({"expand": model(server.url)}, dry_run=True)
        found = draft_prompts(DANCE, 0, stages)
        assert server.got == []
    assert found.items == []
    assert len(stages.estimates["expand"]) == 1


def test_a_prompt_file_with_an_unknown_variable_is_refused_before_anything_is_asked(tmp_path):
    head = '+++\nid = "mine"\nversion = 1\nvariables = ["text", "mood"]\n+++\n'
    (tmp_path / "refine.md").write_text(head + "{{ text }} {{ mood }}", encoding="utf-8")
    with FakeEndpoint(Writer()) as server:
        models = {s: model(server.url) for s in ("expand", "refine")}
        with pytest.raises(InputError, match="unknown variable: .'mood'"):
            draft_prompts(DANCE, 0, Stages(models, prompts=PromptFiles(tmp_path)))
        assert server.got == []
