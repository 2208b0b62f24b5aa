import json

import pytest

from corpus.clips import Caption
from corpus.problems import InputError
from motionjury.commands.draft import captions, stride
from tests.construction.test_stride import TEXTS, corpus_of


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


def test_drafts_are_stored_once_and_what_was_passed_over_is_listed(tmp_path, capsys):
    pytest.importorskip("store.clips")
    from motionjury.workspace import init_workspace
    from store.clips import add_clips
    from store.items import list_items

    ws = init_workspace(tmp_path / "ws")
    clips, texts = corpus_of(TEXTS)
    part = Caption(id="demo:e#9", clip_id="demo:e", text="he turns left.", span=(0.5, 1.5))
    with ws.db.write() as session:
        add_clips(session, clips, [*texts, part])
    stride(axes="mirror_reflection, temporal_order", seed=2, workspace=ws.root, as_json=True)
    first = json.loads(capsys.readouterr().out)
    assert first["items"] == first["added"] == 5
    assert [c["items"] for c in first["cells"]] == [2, 3]
    listed = (ws.results_dir / "draft_stride_rejected.jsonl").read_text().splitlines()
    assert len(listed) == 2 * (len(texts) + 1) - 5
    assert "partial_span" in {json.loads(line)["reason_code"] for line in listed}
    stride(axes="mirror_reflection, temporal_order", seed=2, workspace=ws.root, as_json=True)
    assert json.loads(capsys.readouterr().out)["added"] == 0
    with ws.db.read() as session:
        assert len(list_items(session)) == 5
    with pytest.raises(InputError, match="no captions"):
        stride(corpus="other", workspace=ws.root)
