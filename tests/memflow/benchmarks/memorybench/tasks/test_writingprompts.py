"""WritingPrompts: premises, stories, prompt, and rejected files."""

import io
from typing import Any

import pyarrow
from pyarrow import parquet

from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.memorybench.selection import select
from memflow.benchmarks.registry import find_domain

FILE, OPEN = "writingprompts/test.parquet", find_domain("memorybench_open")


def table(**columns: list[Any]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def rows(count: int) -> bytes:
    return table(
        prompt=[f"[ WP ] Premise {n} ." for n in range(count)], story=[f"Story {n}." for n in range(count)]
    )


def test_writingprompts_premise_has_no_tag_at_its_start(read_files) -> None:
    prompts = ["[ WP ] A cat learns to read [ old ] maps .", "No tag", "[SP] One"]
    (pool,) = build_pools(read_files("writingprompts", {FILE: table(prompt=prompts, story=["a", "b", "c"])}))
    assert [(case.case_id, case.question, case.gold) for case in pool.cases] == [
        ("0", "A cat learns to read [ old ] maps .", "a"), ("1", "No tag", "b"), ("2", "One", "c"),
    ]  # fmt: skip


def test_writingprompts_reader_reads_first_2000_rows_and_split_samples_250(read_files) -> None:
    records = read_files("writingprompts", {FILE: rows(2_100)})
    assert len(records) == 2_000 and records[-1].record_id == "1999"
    (selected,) = select(OPEN, records)
    assert (len(selected.test), len(selected.train)) == (50, 200)
