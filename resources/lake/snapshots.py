"""Snapshots: unchanging copies of a lake's current partitions, for DuckDB.

DuckDB opens a file several times, and a writer may replace the file in between.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from memflow.records import TABLES
from memflow.resources.files.file_cache import FileState
from memflow.resources.files.local_files import stem_of
from memflow.resources.lake.damage import damaged_file
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_files import Partition
from memflow.resources.lake.verification import damage_of


class Snapshot(Lake):
    """The copies of partitions in the folder `root`. `left_out` has the damaged partitions' reasons, by table."""

    def __init__(self, root: Path, left_out: Mapping[str, dict[str, str]]) -> None:
        super().__init__(root)
        self.left_out = dict(left_out)

    def current_partitions(self, table: str) -> list[str]:
        """Return the partitions of a table, sorted: all were verified."""
        return self.partitions(table)


@contextmanager
def snapshot_of(
    lake: Lake, tables: Sequence[str] = (*TABLES,), only: Collection[str] | None = None
) -> Iterator[Lake]:
    """Yield a snapshot of these tables' current partitions, or of the partitions in `only`.

    Every file is verified; `left_out` names the damaged ones. On disks without hard links, yield the lake itself. The
    snapshot of a past moment has no `removed_partitions`.
    """
    with lake.storage.snapshot_folder() as root:
        if root is None:
            yield lake
            return
        files: dict[Partition, Path] = {
            (table, partition): root / table.replace(".", "/") / f"{stem_of(partition)}.parquet"
            for table in tables
            for partition in lake.partitions(table)
            if only is None or partition in only
        }
        for folder in {at.parent for at in files.values()}:
            folder.mkdir(parents=True, exist_ok=True)
        lake.place(files)
        left_out: dict[str, dict[str, str]] = {}
        for (table, partition), at in files.items():
            if reason := _damage(lake, table, partition, at):
                at.unlink()
                key = lake.path(table, partition).removeprefix(f"{lake.root}/")
                text = str(damaged_file(lake.root, table, key, reason))
                left_out.setdefault(table, {})[partition] = text
        yield Snapshot(root, left_out)


def _damage(lake: Lake, table: str, partition: str, at: Path) -> str:
    """Return why the copy of a partition at the path `at` is damaged; "" if it is intact or missing."""
    try:
        state = FileState.of(at.stat())
    except FileNotFoundError:  # removed meanwhile, or of a past moment
        return ""
    with pa.OSFile(str(at)) as file:
        reason = damage_of(table, file, state)
    if reason:
        lake.remember_damage(table, partition, state, reason)
    return reason
