"""Reading of persona files: JSON Lines, Parquet with published columns, and damaged files."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memflow.benchmarks.amemgym.load import read_records
from memflow.benchmarks.datasets import Dataset
from tests.reader_faults import reported_faults

ROWS = [
    {"uuid": "a1", "persona": "A printer who rows.", "sports_persona": "Rows.", "sex": "Female", "age": 51},
    {"uuid": "b2", "persona": "A miller who sings.", "sports_persona": "None.", "sex": "Male", "age": 33},
]


def of(*files: str) -> Dataset:
    return Dataset("mine", "Mine", "amemgym", files, "own", "own", "Fix it.")


def read(path):
    return read_records(of(path.name), {path.name: path})


def lines(path, *rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_jsonl_and_parquet_files_of_same_personas_give_same_records(tmp_path):
    lines(tmp_path / "p.jsonl", *ROWS)
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "p.parquet")
    one, other = read(tmp_path / "p.jsonl"), read(tmp_path / "p.parquet")
    assert [row.record_id for row in one] == ["a1", "b2"]
    assert [row.content for row in one] == [row.content for row in other]
    assert json.loads(one[0].content) == ROWS[0]


@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    [
        ("p.jsonl", b'{"id": "a", "name": "A"}\n[1]\n', "line 2: the persona is not a JSON object"),
        ("p.jsonl", b'{"question": "q"}\n', "is not a persona: it has neither the fields name and about"),
        (
            "p.jsonl",
            b'{"id": "a", "name": 7}\n',
            "line 1: at name: Input should be a valid string",
        ),
        ("p.jsonl", b'{"id": "a", "name": "A"}\n{"id": "a", "name": "B"}\n', "the record id a occurs twice"),
        (
            "p.jsonl",
            b'{"id": "a", "name": "A"}\n{"id": "b", "name"\n',
            "line 2: the line is truncated or invalid JSON",
        ),
        ("p.jsonl", b"\n\n", "the file has no personas"),
        ("p.jsonl", b"\xff\xfe", "not UTF-8"),
        ("p.parquet", b"PAR1 and no more", "truncated or not Parquet"),
    ],
)
def test_reader_reports_fault_in_persona_file_with_its_name(tmp_path, name, content, wrong):
    (tmp_path / name).write_bytes(content)
    faults = reported_faults(lambda: read(tmp_path / name))
    assert name in faults and wrong in faults
