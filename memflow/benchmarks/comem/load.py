"""Published files -> raw records, and these -> contexts: which source a file is read by, told by its name."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from types import ModuleType

from memflow.benchmarks.comem.config import parameters_of
from memflow.benchmarks.comem.contexts import Context
from memflow.benchmarks.comem.sources import amemgym, dialogues, dialsim, friendsqa, keys, personamem
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import records_of
from memflow.errors import BadInput
from memflow.records import Record

SOURCES: tuple[tuple[str, ModuleType], ...] = (
    ("*keys*.jsonl", keys),
    ("v1.*/data.json", amemgym),
    ("*amemgym*.json", amemgym),
    (dialsim.PICKLE, dialsim),
    (dialsim.SCRIPT, dialsim),
    ("questions_*.csv", personamem),
    ("shared_contexts_*.jsonl", personamem),
    ("friendsqa_*.json", friendsqa),
    ("*.json", dialogues),
)
"""What the files of a source are called, or these and their folder, and its module; the first that fits."""


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Every record of `dataset`. `files` are its files by their path in the data folder. Raises BadInput."""
    return records_of(dataset, files, lambda source: _source(source).read)


def contexts_of(domain: Domain, records: Sequence[Record]) -> list[Context]:
    """The contexts of a domain's records, in their order, as many as its limit. Raises BadInput for an id of two."""
    by_source: dict[tuple[str, ModuleType], list[Record]] = {}
    for record in records:
        by_source.setdefault((record.dataset, _source(record.source)), []).append(record)
    parameters = parameters_of(domain)
    if parameters.keys != "imported" and (held := key_records(records)):
        raise BadInput(
            f"domain {domain.name}: its data set {held[0].dataset} has keys that were made elsewhere: set its "
            'parameter keys to "imported", or take that data set out'
        )
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


def key_records(records: Sequence[Record]) -> list[Record]:
    """Those that are of a file of keys, and of no dialogues."""
    return [record for record in records if _source(record.source) is keys]


def _source(source: str) -> ModuleType:
    path = PurePosixPath(source)
    for pattern, module in SOURCES:
        if fnmatch("/".join(path.parts[-1 - pattern.count("/") :]), pattern):
            return module
    known = ", ".join(pattern for pattern, _ in SOURCES)
    raise BadInput(f"{source}: by its name it is none of CoMem's sources: {known}")
