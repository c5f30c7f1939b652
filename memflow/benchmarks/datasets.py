"""The description of a data set: files, license, origin, checksums, and how to get the files.

Each benchmark declares its data sets in `<benchmark>/datasets.toml` (dataset_file.py) and reads them in
`<benchmark>/load.py`. `resources/data/library.py` finds the files, and resources/data/downloads/ downloads them on
request. memflow ships no published data, only samples that we wrote.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memflow.benchmarks.origins import Download


@dataclass(frozen=True)
class Defect:
    """A known defect of published files: `count` items whose reason contains `reason` are quarantined."""

    what: str
    reason: str
    count: int


@dataclass(frozen=True)
class Contents:
    """The number of items of a data set by unit, such as questions, and its quarantined items.

    Counts include quarantined items. `quarantined` has the location and the reason of each item within a valid record.
    """

    counts: Mapping[str, int]
    quarantined: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Dataset:
    """A published data set or a data set of the user."""

    name: str
    title: str
    benchmark: str
    files: tuple[str, ...]
    """Paths below the data folder; absolute paths are allowed for a user's own. `*` matches any name."""
    licence: str
    origin: str
    how: str
    """How to get the files, in one sentence."""
    sums: Mapping[str, str] = field(default_factory=dict)
    """Published SHA-256 sums by file, where known."""
    optional: tuple[str, ...] = ()
    """Files without which only a part of the data set is read."""
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Replacements by file; the first that exists is used."""
    ships: bool = False
    """True for data that ship with the benchmark: `files` are then paths inside the package `package`."""
    own: bool = False
    """True for a file of the user's own, named in memflow.toml."""
    package: str = "memflow"
    """The Python package that holds the files of a data set that ships."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Published numbers of items by unit, as in `Contents.counts`, where known."""
    defects: tuple[Defect, ...] = ()
    """The known defects of the published files."""
    partial: bool = False
    """True if some of its files, or of their records, serve as a part. Files with other checksums are then read too."""
    download: Download | None = None
    """How `memflow data get` downloads the files; None if they can only be had by hand."""

    @property
    def advice(self) -> str:
        """How to get the files, in one or two sentences, for messages about missing files."""
        return how_to_get((self,))

    @property
    def replacement_advice(self) -> str:
        """How to replace a file that differs from the published one."""
        return f"Replace it with `memflow data get {self.name} --force`." if self.download else self.how


def how_to_get(datasets: Iterable[Dataset]) -> str:
    """Return how to get data sets: one command for those that memflow can download, and what to do for the others."""
    wanted = tuple(datasets)
    names = " ".join(dict.fromkeys(each.name for each in wanted if each.download))
    ways = [f"Download it with `memflow data get {names}`."] if names else []
    return " ".join([*ways, *dict.fromkeys(each.how for each in wanted if not each.download)])
