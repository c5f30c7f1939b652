"""Readers of MemBench's data sets: conversion of files to raw records and of records to trajectories."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import yaml

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.membench.published import memdaily, release
from memflow.benchmarks.membench.turns import Trajectory
from memflow.benchmarks.published_file import File, Reader, records_of
from memflow.benchmarks.raw_records import RawRecord
from memflow.records import Record

MEMDAILY = "memdaily"
SCENES = ("participation/", "observation/")
"""Beginnings of the ids of trajectories."""


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return all records of `dataset`. `files` maps paths in the data folder to files. Raises BadInput."""
    return records_of(dataset, files, lambda source: _reader(dataset, PurePosixPath(source)))


def trajectory(record: Record) -> Trajectory:
    """Return a record as a trajectory."""
    return memdaily.trajectory(record) if record.dataset == MEMDAILY else release.trajectory(record)


def count_contents(dataset: Dataset, records: Sequence[Record]) -> Contents:
    """Return the numbers of trajectories, messages and questions; for other files, the number of records."""
    trajectories = [trajectory(record) for record in records if record.record_id.startswith(SCENES)]
    if not trajectories:
        return Contents({"records": len(records)})
    return Contents(
        {
            "trajectories": len(trajectories),
            "steps": sum(len(each.steps) for each in trajectories),
            "questions": sum(len(each.questions) for each in trajectories),
        },
        [
            (f"{each.trajectory_id}, question {number}", question.reason or each.reason or "")
            for each in trajectories
            for number, question in enumerate(each.questions)
            if each.steps and (question.reason or each.reason)
        ],
    )


def _reader(dataset: Dataset, source: PurePosixPath) -> Reader:
    if dataset.ships:
        return _words
    return memdaily.read if dataset.name == MEMDAILY else release.read


def _words(file: File) -> Iterator[RawRecord]:
    """Yield the words of a bundled file, from which users are generated, as one record."""
    yield RawRecord("the whole file", yaml.safe_load(file.text()), PurePosixPath(file.source).stem)
