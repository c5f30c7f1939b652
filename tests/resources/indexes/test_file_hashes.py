"""The hashes of search indexes: a changed file is refused, and a rebuilt index is used again."""

import random
from pathlib import Path

import factories
import pyarrow as pa
import pytest

from memflow.errors import DamagedFile, MissingData
from resources.indexes.file_hashes import IndexHashes, index_name
from resources.indexes.lance import LanceIndex
from resources.lake.columns import schema, to_arrays

ENTRIES = [factories.entry(entry_id=f"e{n}", text=f"green tea {n}", vector=[float(n), 1.0]) for n in range(5)]
NAME = index_name("d", "a")


def batches():
    return iter(
        pa.Table.from_arrays(
            to_arrays("memory.indexes", ENTRIES), schema=schema("memory.indexes")
        ).to_batches()
    )


@pytest.fixture
def index(tmp_path: Path) -> LanceIndex:
    index = LanceIndex(tmp_path / "lance")
    index.rebuild("d", "a", batches, "content")
    return index


def files(index: LanceIndex) -> list[Path]:
    return sorted(path for path in Path(index.root).rglob("*") if path.is_file() and path.stat().st_size)


def found(index: LanceIndex) -> list[str]:
    return sorted(row["entry_id"] for row in LanceIndex(index.root).search("d", "a", text="tea", k=9))


def test_search_refuses_a_flipped_bit_in_any_file_of_an_index(index: LanceIndex) -> None:
    expected, chooser = found(index), random.Random(1)
    assert len(expected) == 5
    for path in files(index):
        intact = path.read_bytes()
        for _ in range(3):
            changed = bytearray(intact)
            bit = chooser.randrange(len(changed) * 8)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            with pytest.raises(DamagedFile, match=r"search index of a in d .* is damaged: .*`memflow run`"):
                found(index)
        path.write_bytes(intact)
    assert found(index) == expected


def test_damaged_or_deleted_index_is_rebuilt(index: LanceIndex) -> None:
    expected = found(index)
    hashes = IndexHashes(index.root)
    assert hashes.is_current(NAME, "content") and not hashes.is_current(NAME, "other content")
    for path in files(index):
        path.write_bytes(b"damaged")
    assert hashes.damage(NAME) is not None
    index.rebuild("d", "a", batches, "content")
    assert (hashes.damage(NAME), found(index)) == (None, expected)
    for path in files(index):
        path.unlink()
    with pytest.raises((MissingData, DamagedFile)):
        found(index)
    index.rebuild("d", "a", batches, "content")
    assert found(index) == expected
