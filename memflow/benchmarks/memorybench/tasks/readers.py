"""Functions that select the reader of each data set and convert raw records to pools of cases."""

from collections.abc import Mapping, Sequence
from itertools import groupby

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
from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.benchmarks.memorybench.tasks.task import Pool, TaskReader
from memflow.errors import BadInput
from memflow.records import Record

READERS: Mapping[str, TaskReader] = {
    "memorybench_sample": sample.READER,
    "locomo": locomo.READER,
    **dict.fromkeys(dialsim.CHATBOTS, dialsim.READER),
    **dict.fromkeys(hellobench.HELLOBENCH_CATEGORIES, hellobench.READER),
    "writingprompts": writingprompts.READER,
    **dict.fromkeys(writingbench.WRITINGBENCH_DOMAINS, writingbench.READER),
    "nfcats": nfcats.READER,
    "judge": judge.READER,
    **dict.fromkeys(("lexeval_summarization", "lexeval_judge", "lexeval_qa"), lexeval.READER),
    "ideabench": ideabench.READER,
    "scitechnews": scitechnews.READER,
    "limitgen": limitgen.READER,
    **{f"unified_{name}": unified.READER for name in unified_cases.CASES},
}
"""Readers by data set."""


def reader_of(dataset: str) -> TaskReader:
    """Return the reader of a data set. Raises BadInput for a data set without a reader."""
    if dataset not in READERS:
        raise BadInput(f"MemoryBench cannot read the data set {dataset!r}; use one of {', '.join(READERS)}")
    return READERS[dataset]


def build_pools(records: Sequence[Record]) -> list[Pool]:
    """Return the pools of the records' data sets. Raises BadInput if two data sets have the same pool."""
    found: dict[str, Pool] = {}
    for dataset, group in groupby(records, key=lambda record: record.dataset):
        reader, rows = reader_of(dataset), list(group)
        own = (
            reader.pools(dataset, rows)
            if reader.pools
            else [Pool(dataset, task(dataset), reader.cases(rows))]
        )
        for pool in own:
            if pool.name in found:
                raise BadInput(
                    f"{dataset} has the pool {pool.name}, which another data set of the domain also has. "
                    "Remove one of the data sets."
                )
            found[pool.name] = pool
    return list(found.values())
