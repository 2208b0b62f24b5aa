"""Parquet files that are not what their name says, or not what Python can hold."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus.parquet import parquet_columns
from corpus.problems import InputError


def test_columns_come_as_python_values_and_folders_are_no_columns(tmp_path):
    folder = tmp_path / "rater=A1"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1, None], "b": [["x"], []]}), folder / "t.parquet")
    assert parquet_columns(folder / "t.parquet") == {"a": [1, None], "b": [["x"], []]}


def test_two_columns_of_one_name_are_refused(tmp_path):
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(twice, tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t.parquet: column 'a' stands twice"):
        parquet_columns(tmp_path / "t.parquet")


def test_text_that_is_no_utf_8_is_refused(tmp_path):
    offsets = pa.py_buffer(np.array([0, 2], np.int32).tobytes())
    text = pa.Array.from_buffers(pa.utf8(), 1, [None, offsets, pa.py_buffer(b"\xff\xfe")])
    pq.write_table(pa.table({"a": text}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="expected Parquet: 'utf-8' codec"):
        parquet_columns(tmp_path / "t.parquet")


@pytest.mark.parametrize("content", [b"", b"PAR1PAR1", b"no parquet at all"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(InputError, match="expected Parquet"):
        parquet_columns(tmp_path / "t.parquet")
