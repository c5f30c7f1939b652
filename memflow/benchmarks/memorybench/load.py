"""Conversion of published files to raw records. `tasks/` has the readers."""

from collections.abc import Mapping
from pathlib import Path

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.memorybench.tasks.readers import reader_of
from memflow.benchmarks.published_file import records_of
from memflow.records import Record


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return all records of `dataset`. `files` maps paths in the data folder to files. Raises BadInput."""
    return records_of(dataset, files, lambda source: reader_of(dataset.name).records)
