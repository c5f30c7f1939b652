"""Published files -> raw records. What is in them, tasks/ reads."""

from collections.abc import Mapping
from pathlib import Path

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.memorybench.tasks.registry import reader
from memflow.benchmarks.published_file import records_of
from memflow.records import Record


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Every record of `dataset`. `files` are its files by their path in the data folder. Raises BadInput."""
    return records_of(dataset, files, lambda source: reader(dataset.name).read)
