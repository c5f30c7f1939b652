"""The readers of the data sets: published files to raw records, and raw records to pools of cases."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.memorybench.tasks import (
    dialsim,
    hellobench,
    ideabench,
    limitgen,
    locomo,
    rows,
    sample,
    unified,
    writingbench,
)
from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.benchmarks.memorybench.tasks.task import Pool, TaskReader
from memflow.benchmarks.memorybench.tasks.unified_cases import CASES
from memflow.benchmarks.published_file import records_of
from memflow.errors import BadInput
from memflow.records import Record

_BY_BEGINNING: Mapping[str, TaskReader] = {
    "locomo": locomo.READER,
    "dialsim": dialsim.READER,
    "hellobench": hellobench.READER,
    "writingprompts": rows.WRITINGPROMPTS,
    "writingbench": writingbench.READER,
    "nfcats": rows.NFCATS,
    "judge": rows.JUDGE,
    "lexeval": rows.LEXEVAL,
    "ideabench": ideabench.READER,
    "scitechnews": rows.SCITECHNEWS,
    "limitgen": limitgen.READER,
}
READERS: Mapping[str, TaskReader] = {
    "memorybench_sample": sample.READER,
    **{name: _BY_BEGINNING[name.partition("_")[0]] for name in CASES},
    **{f"unified_{name}": unified.READER for name in CASES},
}
"""Readers by data set."""


def reader_of(dataset: str) -> TaskReader:
    """Return the reader of a data set. Raises BadInput for a data set without a reader."""
    if dataset not in READERS:
        raise BadInput(f"MemoryBench cannot read the data set {dataset!r}; use one of {', '.join(READERS)}")
    return READERS[dataset]


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return all records of `dataset`. `files` maps paths in the data folder to files. Raises BadInput."""
    return records_of(dataset, files, lambda source: reader_of(dataset.name).records)


def build_pools(records: Sequence[Record]) -> list[Pool]:
    """Return the pools of the records' data sets. Raises BadInput if two data sets have the same pool."""
    found: dict[str, Pool] = {}
    for dataset, group in groupby(records, key=lambda record: record.dataset):
        reader, own = reader_of(dataset), list(group)
        pools = (
            reader.pools(dataset, own) if reader.pools else [Pool(dataset, task(dataset), reader.cases(own))]
        )
        for pool in pools:
            if pool.name in found:
                raise BadInput(
                    f"{dataset} has the pool {pool.name}, which another data set of the domain also has. "
                    "Remove one of the data sets."
                )
            found[pool.name] = pool
    return list(found.values())


SCRIPT = ".txt"
"""Ending of the names of scripts, whose records are sessions."""


def count_contents(dataset: Dataset, records: Sequence[Record]) -> Contents:
    """Return the number of questions before sampling, and the numbers of sessions and messages in corpora."""
    pools = build_pools(records)
    invalid = {record.record_id: record for record in records if record.reason is not None}
    sessions = [session for pool in pools for session in pool.corpus]
    counts = {"questions": sum(len(pool.cases) for pool in pools)}
    if sessions:
        counts |= {
            "conversations": len(pools),
            "sessions": len(sessions) + sum(record.source.endswith(SCRIPT) for record in invalid.values()),
            "messages": sum(len(session.messages) for session in sessions),
        }
    return Contents(
        counts,
        [
            (pool.probe_id(case), case.reason)
            for pool in pools
            for case in pool.cases
            if case.reason is not None and case.case_id not in invalid
        ],
    )
