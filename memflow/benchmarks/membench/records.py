"""Published files -> raw records, each with its sum, licence and origin; and which reader a data set has."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from memflow.benchmarks.file import File
from memflow.benchmarks.membench import memdaily
from memflow.benchmarks.membench.generation import sources
from memflow.datasets import Dataset
from memflow.records import Record


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Every record of `dataset`. `files` are its files by their path in the data folder. Raises BadInput."""
    if sources.serves(dataset):
        return sources.read(dataset, files)
    found: list[Record] = []
    seen: set[str] = set()
    for source, path in files.items():
        file = File(dataset, source, path.read_bytes())
        sha256 = hashlib.sha256(file.content).hexdigest()
        for record_id, raw in memdaily.read(file):
            if record_id in seen:
                raise file.bad(f"the id {record_id} is there twice")
            seen.add(record_id)
            found.append(
                Record(
                    dataset=dataset.name,
                    record_id=record_id,
                    position=len(found),
                    source=source,
                    sha256=sha256,
                    licence=dataset.licence,
                    origin=dataset.origin,
                    content=json.dumps(raw, ensure_ascii=False),
                )
            )
    return found
