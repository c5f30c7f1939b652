"""Which reader reads which data set."""

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
    writingbench,
    writingprompts,
)
from memflow.benchmarks.memorybench.tasks import unified_cases as unwrapped
from memflow.benchmarks.memorybench.tasks.task import Pool
from memflow.benchmarks.published_file import File
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
    **{f"unified_{name}": unified for name in unwrapped.CASES},
}
"""By data set."""


def reader_of(dataset: str) -> Reader:
    """The reader of a data set. Raises BadInput where there is none."""
    if dataset not in READERS:
        raise BadInput(f"MemoryBench has no reader for {dataset!r}; it reads {', '.join(READERS)}")
    return READERS[dataset]


def build_pools(records: Sequence[Record]) -> list[Pool]:
    """The pools of the records' data sets, in order. Raises BadInput where two data sets hold the same one."""
    found: dict[str, Pool] = {}
    for dataset, group in groupby(records, key=lambda record: record.dataset):
        for pool in reader_of(dataset).pools(dataset, list(group)):
            if pool.name in found:
                raise BadInput(f"{dataset} holds {pool.name}, which another data set of the domain holds too")
            found[pool.name] = pool
    return list(found.values())
