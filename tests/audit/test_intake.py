"""Items from tables: what goes in, what is refused and why."""

import json
from pathlib import Path
from typing import Any

import pytest

from audit.intake import Intake, items_from_rows, read_table
from corpus.problems import InputError

CLIPS = {f"demo:{n:04d}": "demo" for n in range(1, 6)}
QUESTIONS = [
    {"id": "q1", "clip": "0001", "question": "What next?", "program": "query_action(after(sit))",
     "answer": "walk", "type": "query_action"},
    {"id": "q2", "clip": "0002", "question": "Which way?", "program": "p", "answer": "left",
     "type": "direction"},
    {"id": "q3", "clip": "0003", "question": "What before?", "program": "p", "answer": "run",
     "type": "action"},
    {"id": "q4", "clip": "0004", "question": "Which part?", "program": "p", "answer": "right hand",
     "type": "body-part", "options": ["right hand", "right arm"]},
]  # fmt: skip


def take(file: Path, kind: str = "pilot_question", **options: Any) -> Intake:
    columns = options.pop("columns", {})
    return items_from_rows(
        read_table(file),
        options.pop("benchmark", "nextmotionqa"),
        kind,
        columns,
        CLIPS,
        file=str(file),
        clip_prefix="demo:",
        **options,
    )


def written(tmp_path: Path, rows: Any, name: str = "questions.json") -> Path:
    file = tmp_path / name
    if name.endswith(".jsonl"):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        file.write_text("\n".join(lines), encoding="utf-8")
    else:
        file.write_text(json.dumps(rows), encoding="utf-8")
    return file


def test_questions_come_in_with_the_answers_of_their_type(tmp_path: Path) -> None:
    rows = [*QUESTIONS, QUESTIONS[1] | {"id": "q5", "answer": "right"}]
    found = take(written(tmp_path, rows))
    assert found.refused == []
    payloads = [item.payload for item in found.items]
    assert [one["options"] for one in payloads] == [
        ["run", "walk"],
        ["left", "right"],
        ["run", "walk"],
        ["right hand", "right arm"],
        ["left", "right"],
    ]
    assert payloads[0]["program"] == "query_action(after(sit))"
    assert found.items[0].stratum == {"query_type": "action", "corpus": "demo"}
    assert found.items[3].stratum["query_type"] == "body_part"
    assert found.items[0].provenance.rule == "table-import/1"


def test_json_by_id_jsonl_and_csv_give_the_same_items(tmp_path: Path) -> None:
    rows = [QUESTIONS[0], QUESTIONS[2]]
    listed = take(written(tmp_path, rows))
    by_id = {row["id"]: {k: v for k, v in row.items() if k != "id"} for row in rows}
    named = take(written(tmp_path, by_id, "by_id.json"))
    lines = take(written(tmp_path, rows, "q.jsonl"))
    csv = tmp_path / "q.csv"
    csv.write_text(
        "\ufeffid,clip,question,answer,type,program\n"
        "q1,0001,What next?,walk,query_action,query_action(after(sit))\n"
        "q3,0003,What before?,run,action,p\n",
        encoding="utf-8",
    )
    ids = [item.id for item in listed.items]
    assert len(set(ids)) == 2
    for other in (named, lines, take(csv)):
        assert [item.id for item in other.items] == ids


def test_cells_hold_lists_and_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text(
        'id,clip,question,answer,type,options\nq1,0001,"two\nlines",b,action,a | b |c\n',
        encoding="utf-8",
    )
    (item,) = take(file).items
    assert item.payload["options"] == ["a", "b", "c"]
    assert item.payload["question"] == "two\nlines"


def test_options_are_drawn_with_the_answer_among_them(tmp_path: Path) -> None:
    rows = [QUESTIONS[0] | {"id": f"q{n}", "answer": f"act {n:02d}"} for n in range(20)]
    file = written(tmp_path, rows)
    drawn = take(file, max_options=4, seed=3)
    assert all(len(item.payload["options"]) == 4 for item in drawn.items)
    assert all(item.payload["answer"] in item.payload["options"] for item in drawn.items)
    assert drawn.items == take(file, max_options=4, seed=3).items
    other = take(file, max_options=4, seed=4)
    assert [i.payload["options"] for i in drawn.items] != [
        i.payload["options"] for i in other.items
    ]


def test_bad_rows_are_refused_by_place_and_the_others_go_in(tmp_path: Path) -> None:
    good = QUESTIONS[3]
    rows = [
        json.dumps(good),
        "{not json",
        json.dumps(good | {"clip": "0002"}),
        json.dumps(good | {"id": "q6", "clip": "9999"}),
        json.dumps(good | {"id": "q7", "answer": "left foot"}),
        json.dumps({k: v for k, v in good.items() if k != "question"} | {"id": "q8"}),
        json.dumps(good | {"id": "q9", "type": "mood"}),
        json.dumps(good | {"id": "q10", "options": ["right hand", "right hand"]}),
        json.dumps(good | {"id": "q11", "options": ["right hand"]}),
    ]
    found = take(written(tmp_path, rows, "q.jsonl"))
    assert [item.payload["source_id"] for item in found.items] == ["q4"]
    assert [(one.place, one.reason[:34]) for one in found.refused] == [
        ("line 2", "is no JSON object"),
        ("line 3", "source_id ('q4',) stands in line 1"),
        ("line 4", "unknown clip 'demo:9999'; import i"),
        ("line 5", "Value error, the answer 'left foot"),
        ("line 6", "question: Field required"),
        ("line 7", "query_type: Input should be 'direc"),
        ("line 8", "Value error, an option stands twic"),
        ("line 9", "options: Tuple should have at leas"),
    ]


def test_control_characters_do_not_come_in(tmp_path: Path) -> None:
    found = take(written(tmp_path, [QUESTIONS[3] | {"question": "a\x00b עברית 👍🏽"}]))
    assert found.items[0].payload["question"] == "ab עברית 👍🏽"


def test_missing_columns_are_named_with_those_there_are(tmp_path: Path) -> None:
    rows = [{"key": "q1", "clip": "0001", "answer": "a"}]
    file = written(tmp_path, rows)
    with pytest.raises(InputError, match=r"no column for source_id \(as source_id or id or") as bad:
        take(file)
    assert "question (as question)" in str(bad.value)
    assert "columns are ['key', 'clip', 'answer']" in str(bad.value)
    with pytest.raises(InputError, match=r"program \(as code\)"):
        take(file, columns={"program": "code"})
    with pytest.raises(InputError, match="has no field 'colour'"):
        take(file, columns={"colour": "key"})


def test_columns_may_have_any_name(tmp_path: Path) -> None:
    rows = [{"n": 7, "m": "0001", "q": "What?", "a": "x", "t": "action", "o": ["x", "y"]}]
    columns = {"source_id": "n", "clip_id": "m", "question": "q", "answer": "a",
               "query_type": "t", "options": "o"}  # fmt: skip
    (item,) = take(written(tmp_path, rows), columns=columns).items
    assert item.payload["source_id"] == "7"


def test_generated_clips_and_prompts_come_in_by_the_same_door(tmp_path: Path) -> None:
    rows = [
        {"prompt_id": "p1", "prompt": "wave", "method": "MDM", "clip": "0001"},
        {"prompt_id": "p1", "prompt": "wave", "method": "MoMask", "clip": "0002"},
        {"prompt_id": "p1", "prompt": "wave", "method": "MDM", "clip": "0003"},
    ]
    found = take(written(tmp_path, rows), "judged_clip", benchmark="t2mbench")
    assert [item.stratum["method"] for item in found.items] == ["MDM", "MoMask"]
    assert "stands in entry 1 already" in found.refused[0].reason
    assert {item.benchmark for item in found.items} == {"t2mbench"}
    prompts = [{"id": "a", "text": "raise both arms", "category": "dance", "length": "short"}]
    (item,) = take(written(tmp_path, prompts), "prompt", benchmark="t2mbench").items
    assert item.stratum == {"category": "dance", "length": "short"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.txt", "x", "expected .csv, .json or .jsonl, got '.txt'"),
        ("q.csv", "a,b\n", "no row"),
        ("q.csv", 'a,b\n"x', "expected CSV"),
        ("q.json", "{", "expected JSON"),
        ("q.json", "3", "a list of objects"),
        ("q.json", "[]", "no row"),
    ],
)
def test_files_that_are_no_tables_are_named(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as bad:
        read_table(file)
    assert str(file) in str(bad.value)


def test_a_file_that_is_not_there_or_not_utf8_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.csv: cannot be read"):
        read_table(tmp_path / "gone.csv")
    file = tmp_path / "q.csv"
    file.write_bytes(b"a\n\xff\xfe\n")
    with pytest.raises(InputError, match="expected UTF-8"):
        read_table(file)


def test_a_row_with_cells_too_many_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("id,text,category\na,raise arms,dance,extra\nb,bend,dance\n", encoding="utf-8")
    found = take(file, "prompt", benchmark="t2mbench")
    assert [one.reason for one in found.refused] == ["more cells than columns"]
    assert len(found.items) == 1
