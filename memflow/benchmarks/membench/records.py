"""Published files -> raw records, each with its sum, licence and origin; and which reader a data set has."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from memflow.benchmarks.file import File
from memflow.benchmarks.membench import memdaily, memdaily_graphs, noise_files, published
from memflow.benchmarks.membench.trajectories import Trajectory
from memflow.datasets import Dataset
from memflow.records import Record

Reader = Callable[[File], Iterator[tuple[str, dict[str, Any]]]]
MEMDAILY = "memdaily"


def trajectory(record: Record) -> Trajectory:
    """The trajectory of a record that holds one."""
    return memdaily.trajectory(record) if record.dataset == MEMDAILY else published.trajectory(record)


def _reader(dataset: Dataset, source: str) -> Reader:
    if "noise" in PurePosixPath(source).stem:
        return noise_files.read
    if dataset.name != MEMDAILY:
        return published.read
    return memdaily_graphs.read if PurePosixPath(source).name == memdaily_graphs.NAME else memdaily.read


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Every record of `dataset`. `files` are its files by their path in the data folder. Raises BadInput."""
    found: list[Record] = []
    seen: set[str] = set()
    for source, path in files.items():
        file = File(dataset, source, path.read_bytes())
        sha256 = hashlib.sha256(file.content).hexdigest()
        for record_id, raw in _reader(dataset, source)(file):
            if record_id in seen:
                raise file.bad(f"the id {record_id} is there twice")
            seen.add(record_id)
            found.append(
                Record(
                    dataset=dataset.name,
                    record_id=record_id,
                    position=len(found),
                    source=source,
                    sha256=sha256,
                    licence=dataset.licence,
                    origin=dataset.origin,
                    content=json.dumps(raw, ensure_ascii=False),
                )
            )
    return found
