"""Functions that read CoMem's data files and convert records to contexts. The file name selects the source module."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from types import ModuleType

from memflow.benchmarks.comem.config import parse_config
from memflow.benchmarks.comem.contexts import Context
from memflow.benchmarks.comem.sources import dialogues, dialsim, friendsqa, personamem
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import records_of, valid_records
from memflow.errors import BadInput
from memflow.records import Record

SOURCES: tuple[tuple[str, ModuleType], ...] = (
    (dialsim.PICKLE, dialsim),
    ("questions_*.csv", personamem),
    ("shared_contexts_*.jsonl", personamem),
    ("friendsqa_*.json", friendsqa),
    ("*.json", dialogues),
)
"""File name patterns, with or without a folder, and their source modules. The first match counts."""


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return all records of `dataset`. `files` maps paths in the data folder to files. Raises BadInput."""
    return records_of(dataset, files, lambda source: _source(source).read)


def load_contexts(domain: Domain, records: Sequence[Record]) -> list[Context]:
    """Return the contexts of a domain's valid records, up to the domain's limit.

    Raises BadInput for duplicate ids.
    """
    by_source: dict[tuple[str, ModuleType], list[Record]] = {}
    for record in valid_records(records):
        by_source.setdefault((record.dataset, _source(record.source)), []).append(record)
    config = parse_config(domain)
    found = [
        context
        for (_, source), held in by_source.items()
        for context in source.contexts(domain, held, config)
    ]
    seen: set[str] = set()
    for context in found:
        if context.context_id in seen:
            raise BadInput(
                f"domain {domain.name}: the context id {context.context_id} occurs twice. Remove one of "
                "the data sets that contain it."
            )
        seen.add(context.context_id)
    return found[: domain.limit or None]


def count_contents(dataset: Dataset, records: Sequence[Record]) -> Contents:
    """Return the numbers of items in a data set's records by unit, as its source module counts them."""
    source = _source(records[0].source) if records else None
    if source in (personamem, friendsqa):
        found: Contents = source.count_contents(records)
        return found
    unit = {dialsim: "scenes", dialogues: "contexts"}.get(source, "records")  # type: ignore[arg-type]
    return Contents({unit: len(records)})


def _source(source: str) -> ModuleType:
    path = PurePosixPath(source)
    for pattern, module in SOURCES:
        if fnmatch("/".join(path.parts[-1 - pattern.count("/") :]), pattern):
            return module
    known = ", ".join(pattern for pattern, _ in SOURCES)
    raise BadInput(f"{source}: its name matches no source of CoMem. Rename it to match one of: {known}")
