from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from corpus.problems import InputError
from evaluators.scores_stride import FileChoices, FileScores, read_stride_file

WIDE = "item_id,corpus,axis,motion_id,s_mc,s_mcp,s_uc,s_ucp,draw\n"


def write(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def scores(path: Path, higher: bool | None = True) -> FileScores:
    read = read_stride_file(path, higher)
    assert isinstance(read, FileScores)
    return read


def test_a_wide_file_has_one_row_a_control(tmp_path) -> None:
    text = WIDE + "b,h3d,mirror_reflection,m2,3,1,2,2,0\na,h3d,mirror_reflection,m1,1,2,0,1,0\n"
    read = scores(write(tmp_path, text + "b,h3d,mirror_reflection,m2,3,1,5,4,1\n"))
    assert read.items.ids == ("b", "a")
    assert read.items.motion_id == ("m2", "m1")
    np.testing.assert_array_equal(read.matched, [[3, 1], [1, 2]])
    np.testing.assert_array_equal(read.item, [0, 1, 0])
    np.testing.assert_array_equal(read.control, [[2, 2], [0, 1], [5, 4]])


def test_lower_is_better_turns_every_score_around(tmp_path) -> None:
    path = write(tmp_path, "item_id,s_mc,s_mcp,s_uc,s_ucp\na,1,2,3,4\n")
    np.testing.assert_array_equal(scores(path, False).matched, [[-1, -2]])
    np.testing.assert_array_equal(scores(path, False).control, [[-3, -4]])


def test_long_and_wide_say_the_same(tmp_path) -> None:
    rng = np.random.default_rng(0)
    own, other = rng.random((5, 2)), rng.random((5, 3, 2))
    wide = pd.DataFrame(
        [
            [f"i{i}", d, *own[i], *other[i, d]]
            for i in range(5)
            for d in range(3)
        ],
        columns=["item_id", "draw", "s_mc", "s_mcp", "s_uc", "s_ucp"],
    )  # fmt: skip
    rows = []
    for i in range(5):
        for k, word in enumerate(("orig", "pert")):
            rows.append([f"i{i}", "matched", "", word, own[i, k]])
            rows += [[f"i{i}", "unrelated", d, word, other[i, d, k]] for d in range(3)]
    long = pd.DataFrame(rows, columns=["item_id", "role", "draw", "caption", "score"])
    wide.to_parquet(tmp_path / "wide.parquet")
    long.to_csv(tmp_path / "long.csv", index=False)
    first, second = scores(tmp_path / "wide.parquet"), scores(tmp_path / "long.csv")
    assert first.items == second.items
    np.testing.assert_array_equal(first.matched, second.matched)
    np.testing.assert_array_equal(first.item, second.item)
    np.testing.assert_array_equal(first.control, second.control)


def test_choices_need_no_direction(tmp_path) -> None:
    text = "item_id,role,draw,choice\na,matched,,original\na,unrelated,0,tie\na,unrelated,1,invalid"
    read = read_stride_file(write(tmp_path, text), None)
    assert isinstance(read, FileChoices)
    assert read.matched == ("original",)
    assert read.control == ("tie", "invalid")


PLAIN = "item_id,s_mc,s_mcp,s_uc,s_ucp\n"
LONG = "item_id,role,caption,score\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN + "a,1,2,3,4\nb,1,nan,3,4\n", "line 3: s_mcp: expected a finite number, got nan"),
        (PLAIN + "a,1,2,3,\n", "line 2: s_ucp is empty"),
        (PLAIN + "a,1,2,3,x\n", "line 2: s_ucp: expected a number, got 'x'"),
        (PLAIN + "a,1,2,3,inf\n", "line 2: s_ucp: expected a finite number, got inf"),
        (PLAIN + "a,1,2,3,4\na,1,2,3,4\n", "line 3: item_id 'a' stands twice, first in line 2"),
        (PLAIN + "a,1,2,3,4,5\n", "Expected 5 fields in line 2, saw 6"),
        ("item_id,s_mc,s_mcp,s_uc\na,1,2,3\n", "no column 's_ucp'"),
        (PLAIN, "the table has no rows"),
        ("", "the file is empty"),
        (WIDE + "a,h,x,m,1,2,3,4,0\na,h,x,m,9,2,3,4,1\n", "item 'a' has other s_mc or s_mcp"),
        (WIDE + "a,h,x,m,1,2,3,4,0\na,h,x,n,1,2,3,4,1\n", "has motion_id 'n' here and 'm'"),
        (LONG + "a,matched,orig,1\na,matched,pert,1\n", "item 'a': no unrelated row"),
        (LONG + "a,matched,orig,1\na,unrelated,orig,1\n", "no matched score for caption 'pert'"),
        (LONG + "a,other,orig,1\n", "role: expected one of matched, unrelated, got 'other'"),
        (LONG + "a,matched,orig,1\na,matched,orig,2\n", "line 3: a second score"),
        ("item_id,role,choice\na,matched,A\n", "choice: expected one of original"),
    ],
)
def test_a_bad_file_is_refused_with_its_row(text: str, message: str, tmp_path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as refused:
        read_stride_file(path, True)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_direction_that_nobody_states_is_refused(tmp_path) -> None:
    path = write(tmp_path, PLAIN + "a,1,2,3,4\n")
    with pytest.raises(InputError, match="--higher-is-better or --lower-is-better"):
        read_stride_file(path, None)


def test_the_file_may_state_the_direction(tmp_path) -> None:
    path = write(tmp_path, "item_id,s_mc,s_mcp,s_uc,s_ucp,higher_is_better\na,1,2,3,4,false\n")
    np.testing.assert_array_equal(scores(path, None).matched, [[-1, -2]])
    with pytest.raises(InputError, match="the file says lower is better, the option says higher"):
        read_stride_file(path, True)
