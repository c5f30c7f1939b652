"""Published files -> raw records, and these -> contexts: which source a file is read by, told by its name."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from types import ModuleType

from memflow.benchmarks.comem.contexts import Context
from memflow.benchmarks.comem.parameters import parameters_of
from memflow.benchmarks.comem.sources import dialogues, dialsim
from memflow.benchmarks.file import records_of
from memflow.datasets import Dataset
from memflow.domains import Domain
from memflow.errors import BadInput
from memflow.records import Record

SOURCES: tuple[tuple[str, ModuleType], ...] = (
    (dialsim.PICKLE, dialsim),
    (dialsim.SCRIPT, dialsim),
    ("*.json", dialogues),
)
"""What the files of a source are called, and its module; the first that fits."""


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Every record of `dataset`. `files` are its files by their path in the data folder. Raises BadInput."""
    return records_of(dataset, files, lambda source: _source(source).read)


def contexts_of(domain: Domain, records: Sequence[Record]) -> list[Context]:
    """The contexts of a domain's records, in their order, as many as its limit. Raises BadInput for an id of two."""
    by_source: dict[tuple[str, ModuleType], list[Record]] = {}
    for record in records:
        by_source.setdefault((record.dataset, _source(record.source)), []).append(record)
    parameters = parameters_of(domain)
    found = [
        context
        for (_, source), held in by_source.items()
        for context in source.contexts(domain, held, parameters)
    ]
    seen: set[str] = set()
    for context in found:
        if context.context_id in seen:
            raise BadInput(f"domain {domain.name}: there are two contexts {context.context_id}")
        seen.add(context.context_id)
    return found[: domain.limit or None]


def _source(source: str) -> ModuleType:
    name = PurePosixPath(source).name
    for pattern, module in SOURCES:
        if fnmatch(name, pattern):
            return module
    known = ", ".join(pattern for pattern, _ in SOURCES)
    raise BadInput(f"{source}: by its name it is none of CoMem's sources: {known}")
