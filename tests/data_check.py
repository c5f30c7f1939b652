"""The check of a data set: reads its files and compares counts and defects with the published ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.errors import BadInput
from memflow.records import Record
from memflow.resources.data.library import Library

State = Literal["missing", "rejected", "differs", "part", "valid"]
"""`part`: fewer items than published in a data set of which a part can be read, or an alternative file."""


@dataclass(frozen=True)
class QuarantinedItem:
    """A quarantined record, or a quarantined item of a valid record, with the file if known."""

    file: str
    item: str
    reason: str
    known: str
    """The known defect that the item belongs to, or an empty text."""


@dataclass(frozen=True)
class DataCheck:
    """The result of reading a data set."""

    dataset: Dataset
    state: State
    records: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    quarantined: tuple[QuarantinedItem, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a file is rejected, or counts or faults differ from those of the published files."""
        return self.state in ("rejected", "differs")


def check_dataset(library: Library, dataset: Dataset) -> DataCheck:
    """Read all files of a data set and compare counts and defects with the published ones. Never raises BadInput."""
    found = library.dataset(dataset)
    if not library.found(found):
        return DataCheck(dataset, "missing")
    benchmark = registry.benchmark(dataset.benchmark)
    try:
        records = benchmark.records(found, library.paths(found))
        contents = benchmark.contents(found, records)
    except BadInput as rejected:
        return DataCheck(dataset, "rejected", problems=(str(rejected),))
    quarantined = _quarantined(dataset, records, contents)
    is_part = _is_alternative(dataset, found)
    state: State = "part" if is_part else "valid"
    problems = []
    for unit, published in dataset.counts.items():
        count = contents.counts.get(unit, 0)
        if count < published and (dataset.partial or is_part):
            state = "part"
        elif count != published:
            problems.append(f"{count:,} {unit}, but {published:,} are published")
    if unknown := sum(not item.known for item in quarantined):
        problems.append(f"quarantined items without a known defect: {unknown:,}")
    for defect in dataset.defects:
        count = sum(item.known == defect.what for item in quarantined)
        if count > defect.count:
            problems.append(f"{count:,} {defect.what}, but {defect.count:,} are known")
    if problems:
        state = "differs"
    counts = contents.counts
    return DataCheck(dataset, state, len(records), counts, quarantined, tuple(problems))


def _quarantined(dataset: Dataset, records: list[Record], contents: Contents) -> tuple[QuarantinedItem, ...]:
    found = [
        (record.source, record.record_id, record.reason) for record in records if record.reason is not None
    ]
    found += [("", item, reason) for item, reason in contents.quarantined]
    return tuple(QuarantinedItem(file, item, why, _known(dataset, why)) for file, item, why in found)


def _known(dataset: Dataset, reason: str) -> str:
    return next((defect.what for defect in dataset.defects if defect.reason in reason), "")


def _is_alternative(dataset: Dataset, found: Dataset) -> bool:
    """Return whether an alternative file replaces a published file, or an optional file is missing."""
    return bool(found.optional) or any(
        "*" not in name and name not in found.files for name in dataset.files if name in dataset.instead
    )
