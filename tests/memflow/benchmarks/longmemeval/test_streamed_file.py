"""Streamed JSON lists: the same records as the whole file gives, for every size of the blocks that are read."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.longmemeval.streamed_file import list_items, streamed_records
from memflow.benchmarks.published_file import File, records_of
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.errors import BadInput

DATASET = Dataset("set", "Set", "benchmark", ("list.json",), "MIT", "origin", "Get it.")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "list.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def items(path: Path, block: int) -> list[RawRecord]:
    return list(list_items(File(DATASET, "list.json", b""), path, "item", block))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(VALUES, min_size=1, max_size=5), st.integers(1, 40), st.booleans(), st.sampled_from([None, 1])
)
def test_items_do_not_depend_on_the_size_of_blocks(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[Any],
    block: int,
    ascii_only: bool,
    indent: int | None,
) -> None:
    path = write(tmp_path_factory.mktemp("list"), json.dumps(values, ensure_ascii=ascii_only, indent=indent))
    assert [raw.content for raw in items(path, block)] == values


@pytest.mark.parametrize("block", [1, 3, 1000])
@pytest.mark.parametrize(
    "content",
    [
        *(
            "",
            " ",
            "{}",
            "[]",
            "null",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[1 2]",
            "[1] 2",
            '["a',
            '["\\u12"]',
            "[{]}",
        ),
        *(b"\xff\xfe[1]", b'["\xc3"]', b'["\xc3'),
    ],
)
def test_file_that_is_no_list_is_rejected_for_every_size_of_blocks(
    tmp_path: Path, content: str | bytes, block: int
) -> None:
    with pytest.raises(BadInput, match=r"set: list\.json: the file is"):
        items(write(tmp_path, content), block)


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert [raw.content for raw in items(write(tmp_path, b"\xef\xbb\xbf[1, 23]"), 1)] == [1, 23]


def test_records_equal_those_of_the_whole_file(tmp_path: Path) -> None:
    content = [{"id": "a"}, {"id": "a"}, {"id": ""}, "x", {"id": "half \ud83d"}, {"id": "é"}]
    path = write(tmp_path, json.dumps(content))

    def parse(raws: Iterable[RawRecord]) -> Iterable[RawRecord]:
        return parse_records(raws, named)

    def named(value: Any) -> tuple[str, Any]:
        if not isinstance(value, dict):
            raise RecordFault("not an object")
        return value["id"], value

    whole = records_of(
        DATASET, {"list.json": path}, lambda source: lambda file: parse(file.json_items("item"))
    )
    streamed = streamed_records(DATASET, {"list.json": path}, "item", parse)
    assert [replace(each, content=json.dumps(json.loads(each.content))) for each in whole] == [
        replace(each, content=json.dumps(json.loads(each.content))) for each in streamed
    ]
    assert all(each.content.isascii() for each in streamed)
    assert sum(record.reason is not None for record in whole) == 3


def test_list_without_a_valid_item_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path, "[1, 2]")

    def parse(raws: Iterable[RawRecord]) -> Iterable[RawRecord]:
        return parse_records(raws, lambda value: int("x"))

    with pytest.raises(ValueError, match="invalid literal"):
        streamed_records(DATASET, {"list.json": path}, "item", parse)
    with pytest.raises(BadInput, match="none of its 2 records is valid"):
        streamed_records(
            DATASET,
            {"list.json": path},
            "item",
            lambda raws: (RawRecord("item", 1, fault="bad") for _ in raws),
        )


def test_wrong_file_with_a_published_checksum_is_to_be_downloaded_again(tmp_path: Path) -> None:
    path = write(tmp_path, "[1")
    published = Dataset(
        "set", "Set", "benchmark", ("list.json",), "MIT", "o", "Get it.", sums={"list.json": "0" * 64}
    )
    with pytest.raises(BadInput, match="get the file again: Get it"):
        streamed_records(published, {"list.json": path}, "item", lambda raws: raws)
