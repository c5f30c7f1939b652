"""Which reader reads which data set."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

from memflow.benchmarks.memorybench.tasks import locomo, nfcats, sample
from memflow.benchmarks.memorybench.tasks.file import File
from memflow.benchmarks.memorybench.tasks.task import Pool
from memflow.errors import BadInput
from memflow.records import Record


class Reader(Protocol):
    """A module of this folder."""

    def read(self, file: File) -> list[tuple[str, dict[str, Any]]]:
        """The records of one file: their ids and what was published. Raises BadInput."""
        ...

    def pools(self, dataset: str, records: Sequence[Record]) -> list[Pool]:
        """What the records of a data set are as pools of cases, in order."""
        ...


READERS: Mapping[str, Reader] = {"memorybench_sample": sample, "locomo": locomo, "nfcats": nfcats}
"""By data set."""


def reader(dataset: str) -> Reader:
    """The reader of a data set. Raises BadInput where there is none."""
    if dataset not in READERS:
        raise BadInput(f"MemoryBench has no reader for {dataset!r}; it reads {', '.join(READERS)}")
    return READERS[dataset]


def pools_of(records: Sequence[Record]) -> list[Pool]:
    """The pools of the records' data sets, in order."""
    return [
        pool
        for dataset, group in groupby(records, key=lambda record: record.dataset)
        for pool in reader(dataset).pools(dataset, list(group))
    ]
