from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from corpus.problems import InputError
from evaluators.score_arrays import read_embeddings
from evaluators.scores import read_score_matrix

SCORES = np.arange(6.0).reshape(3, 2)


def arrays(**changed: Any) -> dict[str, Any]:
    whole = {
        "scores": SCORES,
        "text_ids": np.array(["a#0", "a#1", "b#0"]),
        "motion_ids": np.array(["a", "b"]),
        "text_motion": np.array(["a", "a", "b"]),
        "higher_is_better": np.array(True),
    }
    return {name: value for name, value in (whole | changed).items() if value is not None}


def write(folder: Path, **changed: Any) -> Path:
    path = folder / "scores.npz"
    np.savez(path, **arrays(**changed))
    return path


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_matrix_is_read_whole(save: Any, tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    save(path, **arrays(captions=np.array(["x", "y", "z"]), text_similarity=np.eye(3)))
    read = read_score_matrix(path)
    np.testing.assert_array_equal(read.scores, SCORES)
    assert read.labels.text_ids == ("a#0", "a#1", "b#0")
    assert read.labels.motion_ids == ("a", "b")
    assert read.labels.text_motion.tolist() == [0, 0, 1]
    assert read.labels.captions == ("x", "y", "z")
    assert read.text_similarity is not None
    assert read.sign == 1.0


def test_a_stored_matrix_is_mapped_not_loaded(tmp_path: Path) -> None:
    for scores in (np.asfortranarray(SCORES), SCORES.astype(np.float32)):
        read = read_score_matrix(write(tmp_path, scores=scores))
        assert isinstance(read.scores, np.memmap)
        np.testing.assert_array_equal(read.scores, SCORES)


def test_a_large_compressed_matrix_is_unpacked_beside_memory(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("evaluators.score_arrays.SPOOLED_ABOVE", 8)
    path = tmp_path / "scores.npz"
    np.savez_compressed(path, **arrays())
    read = read_score_matrix(path)
    assert isinstance(read.scores, np.memmap)
    np.testing.assert_array_equal(read.scores, SCORES)


def test_texts_belong_to_motions_of_the_same_position_unless_said(tmp_path: Path) -> None:
    path = write(tmp_path, scores=np.eye(2), text_ids=np.array(["x", "y"]), text_motion=None)
    assert read_score_matrix(path).labels.text_motion.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"scores": np.where(SCORES == 3, np.nan, SCORES)},
            "1 not finite, the first is nan at text 'a#1', motion 'b'",
        ),
        (
            {"scores": np.where(SCORES > 3, -np.inf, SCORES)},
            "2 not finite, the first is -inf at text 'b#0'",
        ),
        ({"scores": SCORES[0]}, "expected a matrix of numbers"),
        (
            {"scores": SCORES.astype(object)},
            "expected plain numbers or texts (dtype=str), got object",
        ),
        ({"scores": None}, "no array 'scores', only higher_is_better, motion_ids"),
        ({"text_ids": None}, "no array 'text_ids'"),
        ({"text_ids": np.array(["a#0", "b#0", "a#0"])}, "text_ids: 'a#0' stands twice, at 0 and 2"),
        ({"motion_ids": np.array(["a", "a"])}, "motion_ids: 'a' stands twice, at 0 and 1"),
        ({"motion_ids": np.array(["a", "b", "c"])}, "motion_ids: expected 2 texts"),
        (
            {"text_motion": np.array(["a", "c", "b"])},
            "text_motion: 'c' of text 1 (from 0) is not among",
        ),
        ({"text_motion": None}, "3 texts and 2 motions need text_motion"),
        (
            {
                "scores": np.eye(2),
                "text_ids": np.array(["b#0", "a"]),
                "text_motion": None,
            },
            "text 'b#0' stands beside motion 'a' (place 0, from 0): bring both into one order",
        ),
        ({"higher_is_better": None}, "say --higher-is-better or --lower-is-better"),
        ({"captions": np.array(["x"])}, "captions: expected 3 texts"),
    ],
)
def test_a_bad_matrix_is_refused(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path, **changed)
    with pytest.raises(InputError) as refused:
        read_score_matrix(path)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("number", ["9007199254740993", "-9223372036854775807", "9" * 5000])
def test_whole_numbers_that_would_tie_though_they_differ_are_refused(
    number: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"line 2: score: expected a (whole|finite) number"):
        read_score_matrix(table(tmp_path, ROWS.replace("a#0,a,0,", f"a#0,a,{number},")), True)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("text_id", [["a#0"]], "no column 'text_id' of texts or numbers"),
        ("motion_id", [b"a"], "no column 'motion_id' of texts or numbers"),
        ("text_id", [float("nan")], "row 1: text_id is empty"),
        ("score", [2**62], "row 1: score: expected a whole number below"),
    ],
)
def test_columns_of_parquet_that_are_no_texts_or_numbers(
    column: str, values: list[Any], message: str, tmp_path: Path
) -> None:
    columns = {"text_id": ["a"], "motion_id": ["a"], "score": [1.0], "vector": [[1.0, 2.0]]}
    path = tmp_path / "scores.parquet"
    pd.DataFrame(columns).to_parquet(path)
    assert read_score_matrix(path, True).labels.text_ids == ("a",)
    pd.DataFrame({**columns, column: values}).to_parquet(path)
    with pytest.raises(InputError) as refused:
        read_score_matrix(path, True)
    assert message in str(refused.value)


def test_an_id_of_an_embedding_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "motion.npz"
    np.savez(path, embeddings=np.eye(2), ids=np.array(["a", "a"]))
    with pytest.raises(InputError, match="ids: 'a' stands twice, at 0 and 1"):
        read_embeddings(path, "motion embeddings")


def test_option_and_file_may_not_contradict_each_other(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert read_score_matrix(path, True).sign == 1.0
    with pytest.raises(InputError, match="the file says higher is better, the option says lower"):
        read_score_matrix(path, False)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:150])
    with pytest.raises(InputError, match="expected NPZ"):
        read_score_matrix(path)
    with pytest.raises(InputError, match="no such file"):
        read_score_matrix(tmp_path / "none.npz")


LONG = "text_id,motion_id,score,caption\n"
ROWS = "a#0,a,0,x\na#0,b,1,x\na#1,a,2,y\na#1,b,3,y\nb#0,a,4,z\nb#0,b,5,z\n"


def table(folder: Path, rows: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(LONG + rows)
    return path


def test_a_long_table_is_the_same_matrix(tmp_path: Path) -> None:
    read = read_score_matrix(table(tmp_path, ROWS), True)
    np.testing.assert_array_equal(read.scores, SCORES)
    assert read.labels.text_motion.tolist() == [0, 0, 1]
    assert read.labels.captions == ("x", "y", "z")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ROWS.replace("a#1,b,3,y\n", ""),
            "1 of 6 pairs have no score, the first is text 'a#1' with motion 'b'",
        ),
        (
            ROWS + "a#0,a,7,x\n",
            "line 8: text_id 'a#0', motion_id 'a' stands twice, first in line 2",
        ),
        (
            ROWS.replace("a#1,b,3,y", "a#1,b,nan,y"),
            "line 5: score: expected a finite number, got nan",
        ),
        (
            ROWS.replace("a#1,b,3,y", "a#1,b,3,q"),
            "line 5: text 'a#1' has another caption than in line 4",
        ),
        (ROWS.replace("b#0", "c#0"), "text_motion: 'c' of text 2"),
    ],
)
def test_a_bad_table_is_refused(rows: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_score_matrix(table(tmp_path, rows), True)
    assert message in str(refused.value)


def test_embeddings_come_with_or_without_ids(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.ones((2, 3)))
    np.savez(tmp_path / "e.npz", embeddings=np.ones((2, 3)), ids=np.array(["a", "b"]))
    assert read_embeddings(tmp_path / "e.npy", "x")[1] is None
    assert read_embeddings(tmp_path / "e.npz", "x")[1] == ("a", "b")


def test_pickles_are_never_read(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="expected a plain NPY array"):
        read_embeddings(tmp_path / "e.npy", "x")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"text_ids": np.array([b"\xff", b"b", b"c"])}, "text_ids: expected UTF-8"),
        ({"higher_is_better": np.array(7)}, "higher_is_better: expected one true or false"),
        ({"scores": np.full((3, 2), 2**60)}, "cannot be told apart exactly"),
        ({"granularity": np.array(["fine", "", "fine"])}, "granularity: text 1 has none"),
    ],
)
def test_what_would_be_misread_is_refused(
    changed: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        read_score_matrix(write(tmp_path, **changed))


@pytest.mark.parametrize(
    ("byte", "value", "said"),
    [(6, 1, "encrypted"), (8, 99, "compression")],
)
def test_odd_archives_are_refused(byte: int, value: int, said: str, tmp_path: Path) -> None:
    path = write(tmp_path)
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", byte), (b"PK\x01\x02", byte + 2)):
        raw[raw.find(mark) + offset] = value
    path.write_bytes(raw)
    with pytest.raises(InputError, match=f"scores: damaged array.*{said}"):
        read_score_matrix(path)


@pytest.mark.parametrize("number", ["1_0", "٣", "0x10", "1e151", "", "1,5"])
def test_numbers_are_written_plainly_and_are_not_huge(number: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f'text_id,motion_id,score\na#0,a,"{number}"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: score"):
        read_score_matrix(path, higher_is_better=True)


@pytest.mark.parametrize("number", ["1", "-1.5", "+.5", "2.", "1E-3", "1e+100"])
def test_plain_numbers_are_read(number: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f"text_id,motion_id,score\na#0,a,{number}\n", encoding="utf-8")
    assert read_score_matrix(path, higher_is_better=True).scores[0, 0] == float(number)
