"""The verification of the lake's files: flipped bits are refused, also with an unchanged modification time."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import factories
import pytest
from valid_rows import valid_rows

from memflow.errors import BadInput, DamagedFile
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.past import PastLake
from memflow.resources.lake.snapshots import snapshot_of
from memflow.resources.lake.verification import VERIFIED
from memflow.resources.lake.versions import KeptFile, kept_facts, kept_files, remove_rows
from memflow.resources.publishing.warehouse import Warehouse

TABLE, PARTITION = "score.verdicts", "d/a"
FLIPS = 40
WAYS: tuple[Callable[[Lake, str], Any], ...] = (
    lambda lake, table: lake.read(table, PARTITION),
    lambda lake, table: lake.facts(table, PARTITION),
    lambda lake, table: lake.arrow(table, PARTITION, vectors=False),
    lambda lake, table: list(lake.columns(table, PARTITION, ["assistant"])),
    lambda lake, table: list(lake.batches(table, PARTITION)),
)
"""The ways of reading a partition."""


def verdict(number: int, value: float = 0.5):
    return factories.verdict(assistant="a", probe_id=f"p{number}", metric="choice", value=value)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path / "lake")
    lake.write(TABLE, PARTITION, [verdict(n) for n in range(30)], fingerprint="f", meta={"run": "r1"})
    return lake


def flip(path: str | Path, bit: int, *, keep_time: bool = False) -> None:
    """Flip one bit of a file: in a new file, or in place with the same state."""
    file = Path(path)
    content, before = bytearray(file.read_bytes()), file.stat()
    content[bit // 8] ^= 1 << bit % 8
    if keep_time:
        file.write_bytes(content)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        new = file.with_suffix(".new")
        new.write_bytes(content)
        new.replace(file)


def bits(path: str | Path, seed: int) -> list[int]:
    chooser = random.Random(seed)
    return [chooser.randrange(Path(path).stat().st_size * 8) for _ in range(FLIPS)]


@pytest.mark.parametrize("table", [TABLE, "memory.indexes", "score.leaderboard"])
def test_each_way_of_reading_refuses_a_flipped_bit(tmp_path: Path, table: str) -> None:
    lake = Lake(tmp_path / "lake")
    rows = {
        TABLE: [verdict(n) for n in range(9)],
        "memory.indexes": [
            factories.entry(entry_id=f"e{n}", text=f"text {n}", vector=[n, 0.5]) for n in range(9)
        ],
        "score.leaderboard": [],
    }[table]
    lake.write(table, PARTITION, rows, fingerprint="f")
    path = Path(lake.path(table, PARTITION))
    intact = path.read_bytes()
    for bit in bits(path, 1):
        flip(path, bit)
        other = Lake(tmp_path / "lake")
        for look in WAYS:
            with pytest.raises(DamagedFile, match=r"d,a\.parquet is damaged: .*Run `memflow run"):
                look(other, table)
        found = Warehouse(other, tmp_path / "unused").sql(f"SELECT * FROM {table}")
        assert (found, [*found.left_out[table]]) == ([], [PARTITION])
        path.write_bytes(intact)
    assert Lake(tmp_path / "lake").read(table, PARTITION) == rows


def test_bit_that_changed_without_another_modification_time_is_noticed_by_the_next_process(
    lake: Lake,
) -> None:
    path, facts = lake.path(TABLE, PARTITION), lake.facts(TABLE, PARTITION)
    os.utime(path, (1_700_000_000, 1_700_000_000))  # so that the metadata is cached
    assert Lake(lake.root).facts(TABLE, PARTITION) == facts
    flip(path, 8 * 100, keep_time=True)
    VERIFIED.clear()
    other = Lake(lake.root)
    assert other.facts(TABLE, PARTITION) == facts  # from the cache: the metadata is intact
    with pytest.raises(DamagedFile):
        other.read(TABLE, PARTITION)
    for seen in (other, Lake(lake.root)):
        assert "damaged" in (seen.damage(TABLE, PARTITION) or "")
        assert seen.current_partitions(TABLE) == []
    VERIFIED.clear()
    assert Lake(lake.root).damage(TABLE, PARTITION) is not None  # the cache forgot the metadata


def test_file_is_read_once_for_its_hash_in_each_process(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    verify_rows = __import__("memflow.resources.lake.verification", fromlist=["verify_rows"]).verify_rows
    monkeypatch.setattr(
        "memflow.resources.lake.verification.verify_rows",
        lambda *args: calls.append("") or verify_rows(*args),
    )
    for _ in range(3):
        list(Lake(lake.root).batches(TABLE, PARTITION))
        with snapshot_of(Lake(lake.root), [TABLE]):
            pass
    assert len(calls) == 1


def test_metadata_must_not_contain_the_hash_itself(lake: Lake) -> None:
    key = "memflow.footer_hash"
    with pytest.raises(BadInput, match=r"contains memflow\.footer_hash"):
        lake.write(
            TABLE, PARTITION, [], fingerprint="", meta={f"x\x18{chr(len(key))}{key}\x18 {'0' * 32}\x00": ""}
        )
    lake.write(TABLE, PARTITION, [], fingerprint="", meta={"x": f"{key} {'0' * 32}"})
    assert Lake(lake.root).facts(TABLE, PARTITION).meta == {"x": f"{key} {'0' * 32}"}


def test_flipped_bit_in_replaced_or_removed_rows_is_refused(lake: Lake) -> None:
    before = lake.facts(TABLE, PARTITION)
    assert before is not None
    lake.write(TABLE, PARTITION, [verdict(1, 1.0)], fingerprint="g")
    [file] = kept_files(lake.storage, TABLE)[PARTITION]
    assert kept_facts(lake, TABLE, file) == before
    refuse_flips(lake, file, before)
    remove_rows(lake, TABLE, file)
    [removed] = kept_files(lake.storage, TABLE)[PARTITION]
    assert removed.is_removed and kept_facts(lake, TABLE, removed) == before
    refuse_flips(lake, removed, before)


def refuse_flips(lake: Lake, file: KeptFile, before: Facts) -> None:
    path = Path(lake.root, file.key)
    intact = path.read_bytes()
    for bit in bits(path, 2):
        flip(path, bit)
        other = Lake(lake.root)
        with pytest.raises(BadInput, match=r"is damaged"):
            PastLake(other, before.since).read(TABLE, PARTITION)
        with pytest.raises(DamagedFile):
            other.check_version(TABLE, file)
        path.write_bytes(intact)


@pytest.mark.parametrize(("damage", "rows"), [("flip", 3), ("delete", 3), ("flip in place", 2)])
def test_damaged_or_deleted_history_goes_on_from_a_kept_version(
    tmp_path: Path, damage: str, rows: int
) -> None:
    lake = Lake(tmp_path / "lake")
    row = valid_rows()["score.history"][0]
    for number in (1, 2, 3):
        lake.write("score.history", "all", [row] * number, fingerprint="f")
    assert len(kept_files(lake.storage, "score.history")["all"]) == 2
    path = Path(lake.path("score.history", "all"))
    if damage == "delete":
        path.unlink()
    else:
        flip(path, 800, keep_time=damage == "flip in place")  # the link to this version then changes too
    other = Lake(lake.root)
    assert other.accumulated("score.history", "all") == [row] * rows
    other.update("score.history", "all", lambda found: [*found, row], fingerprint="f")
    assert len(Lake(lake.root).read("score.history", "all")) == rows + 1
