"""Readers by data set."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Protocol

from memflow.benchmarks.memorybench.tasks import (
    dialsim,
    hellobench,
    ideabench,
    judge,
    lexeval,
    limitgen,
    locomo,
    nfcats,
    sample,
    scitechnews,
    unified,
    unified_cases,
    writingbench,
    writingprompts,
)
from memflow.benchmarks.memorybench.tasks.task import Pool
from memflow.benchmarks.published_file import File
from memflow.errors import BadInput
from memflow.records import Record


class Reader(Protocol):
    """Interface that every reader module implements."""

    def read(self, file: File) -> list[tuple[str, dict[str, Any]]]:
        """Return the ids and contents of a file's records. Raises BadInput."""
        ...

    def pools(self, dataset: str, records: Sequence[Record]) -> list[Pool]:
        """Return the pools of a data set's records, in order."""
        ...


READERS: Mapping[str, Reader] = {
    "memorybench_sample": sample,
    "locomo": locomo,
    **dict.fromkeys(dialsim.CHATBOTS, dialsim),
    **dict.fromkeys(hellobench.HELLOBENCH_CATEGORIES, hellobench),
    "writingprompts": writingprompts,
    **dict.fromkeys(writingbench.WRITINGBENCH_DOMAINS, writingbench),
    "nfcats": nfcats,
    "judge": judge,
    **dict.fromkeys(("lexeval_summarization", "lexeval_judge", "lexeval_qa"), lexeval),
    "ideabench": ideabench,
    "scitechnews": scitechnews,
    "limitgen": limitgen,
    **{f"unified_{name}": unified for name in unified_cases.CASES},
}
"""Readers by data set."""


def reader_of(dataset: str) -> Reader:
    """Return the reader of a data set. Raises BadInput if there is none."""
    if dataset not in READERS:
        raise BadInput(f"MemoryBench has no reader for {dataset!r}; it reads {', '.join(READERS)}")
    return READERS[dataset]


def build_pools(records: Sequence[Record]) -> list[Pool]:
    """Return the pools of the records' data sets. Raises BadInput if two data sets have the same pool."""
    found: dict[str, Pool] = {}
    for dataset, group in groupby(records, key=lambda record: record.dataset):
        for pool in reader_of(dataset).pools(dataset, list(group)):
            if pool.name in found:
                raise BadInput(
                    f"{dataset} has the pool {pool.name}, which another data set of the domain has too; remove one"
                )
            found[pool.name] = pool
    return list(found.values())
