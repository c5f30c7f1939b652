"""Published files -> raw records, and these -> trajectories: which reader a data set and a file have."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.membench.generation import user_sources as sources
from memflow.benchmarks.membench.published import memdaily, memdaily_graphs, noise, release
from memflow.benchmarks.membench.turns import Trajectory
from memflow.benchmarks.published_file import Reader, records_of
from memflow.records import Record

MEMDAILY = "memdaily"


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Every record of `dataset`. `files` are its files by their path in the data folder. Raises BadInput."""
    if sources.serves(dataset):
        return sources.read(dataset, files)
    return records_of(dataset, files, lambda source: _reader(dataset, PurePosixPath(source)))


def trajectory(record: Record) -> Trajectory:
    """The trajectory of a record that holds one."""
    return memdaily.trajectory(record) if record.dataset == MEMDAILY else release.trajectory(record)


def _reader(dataset: Dataset, source: PurePosixPath) -> Reader:
    if "noise" in source.stem:
        return noise.read
    if dataset.name != MEMDAILY:
        return release.read
    return memdaily_graphs.read if source.name == memdaily_graphs.NAME else memdaily.read
