"""Conversion of published files to raw records. `tasks/` has the readers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.memorybench.tasks.readers import build_pools, reader_of
from memflow.benchmarks.published_file import records_of
from memflow.records import Record


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return all records of `dataset`. `files` maps paths in the data folder to files. Raises BadInput."""
    return records_of(dataset, files, lambda source: reader_of(dataset.name).records)


SCRIPT = ".txt"
"""Ending of the names of scripts, whose records are sessions."""


def count_contents(records: Sequence[Record]) -> Contents:
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
