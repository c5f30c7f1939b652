"""The library: where the files of a data set are, and whether they are the published ones.

What data sets there are is memflow/benchmarks/datasets.py; reading them is the benchmark's. Nothing is downloaded here.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Literal

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.datasets import dataset as named
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput, MissingData
from resources.file_cache import FileCache, FileState

CHECKSUMS = ".cache/checksums-1"
"""The cache of the data files' checksums below the home folder, with the version of its content."""
State = Literal["found", "part", "missing", "wrong checksum"]


@dataclass(frozen=True)
class Holding:
    """What the library has of a data set. All are file names: `missing` is needed, and `lacking` is not."""

    dataset: Dataset
    state: State
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    checked: bool = False
    """True where every file was compared with a published sum; False where none is known."""


class Library:
    """Data sets below `folder`, and those that ship with memflow. `folder` is None where none is named.

    `cache` is a file that keeps the checksums; without one, every process computes them.
    """

    def __init__(
        self,
        folder: str | Path | None,
        known: Mapping[str, Dataset] | None = None,
        cache: str | Path | None = None,
    ) -> None:
        self.known = registry.datasets() if known is None else known
        self.folder = None if folder is None else Path(folder).expanduser().absolute()
        self._sums: dict[tuple[str, FileState | None], str] = {}
        self._cache = None if cache is None else FileCache(cache)

    def dataset(self, dataset: Dataset | str) -> Dataset:
        """The data set of that name as it is here: its `files` are those that are needed or there, by their own names
        (a pattern's, and those that serve for others), and `optional` those that it has to do without.

        Raises BadInput naming those there are.
        """
        held = named(dataset, self.known) if isinstance(dataset, str) else dataset
        if held.ships:
            return held
        needed = [found for name in held.files for found in self._serving(held, name) or [name]]
        more = {name: self._serving(held, name) for name in held.optional}
        return replace(
            held,
            files=(*needed, *(found for serving in more.values() for found in serving)),
            optional=tuple(name for name, serving in more.items() if not serving),
        )

    def paths(self, dataset: Dataset | str) -> dict[str, Path]:
        """The files of a data set, by their names in it.

        Raises MissingData saying what is missing, where it was looked for and how to get it; BadInput for a
        file whose checksum is not the published one.
        """
        dataset = self.dataset(dataset)
        holding = self.holding(dataset)
        if holding.missing:
            raise MissingData(
                f"{', '.join(holding.missing)} of the data set {dataset.name} is not there; "
                f"looked in {self._where(dataset)}. {dataset.how}"
            )
        if holding.wrong:
            name = holding.wrong[0]
            path = self._there(dataset)[name]
            raise BadInput(
                f"{path} of the data set {dataset.name} is not the published file: its SHA-256 is "
                f"{self._sum(path)}, not {dataset.sums[name]}. {dataset.how}"
            )
        return self._there(dataset)

    def sums(self, dataset: Dataset | str) -> dict[str, str]:
        """The SHA-256 of every file of a data set that is there, by its name in it."""
        return {name: self._sum(path) for name, path in self._there(self.dataset(dataset)).items()}

    def found(self, dataset: Dataset | str) -> bool:
        """Whether every file of a data set is there; what is in them is not looked at."""
        dataset = self.dataset(dataset)
        return len(self._there(dataset)) == len(dataset.files)

    def of(self, domain: Domain) -> tuple[list[Dataset], list[Dataset]]:
        """The data sets of a domain that can be read here, and those that cannot be read whole: not there, there in
        part (which its `how` says), or without a reader yet.

        Raises MissingData where none can be read, saying how to get them.
        """
        wanted = [self.dataset(name) for name in domain.datasets]
        found = [each for each in wanted if each.readable and self.found(each)]
        lacking = [each for each in wanted if each not in found]
        if not found:
            ways = " ".join(each.how for each in lacking)
            raise MissingData(
                f"{domain.name}: none of its data sets is there. {ways} Then set MEMFLOW_DATA to that folder."
            )
        partly = [
            replace(each, how=f"{each.how} Until then it is read without {', '.join(each.optional)}.")
            for each in found
            if each.optional
        ]
        return found, lacking + partly

    def holding(self, dataset: Dataset | str) -> Holding:
        """What the library has of one data set."""
        dataset = self.dataset(dataset)
        there = self._there(dataset)
        missing = tuple(name for name in dataset.files if name not in there)
        wrong = tuple(
            name
            for name, path in there.items()
            if name in dataset.sums and self._sum(path) != dataset.sums[name].lower()
        )
        state: State = "found"
        if wrong:
            state = "wrong checksum"
        elif missing:
            state = "part" if there else "missing"
        checked = not missing and all(name in dataset.sums for name in dataset.files)
        return Holding(dataset, state, missing, wrong, dataset.optional, checked)

    def status(self) -> list[Holding]:
        """What the library has of every known data set, for `memflow data`."""
        return [self.holding(dataset) for dataset in self.known.values()]

    def _there(self, dataset: Dataset) -> dict[str, Path]:
        """The files of a data set that are there, by their names in it."""
        root = Path(str(files(dataset.package))) if dataset.ships else self.folder
        places = {name: Path(name).expanduser() for name in dataset.files}
        if root is not None:
            places = {name: root / path for name, path in places.items()}
        return {name: path for name, path in places.items() if path.is_absolute() and path.is_file()}

    def _serving(self, dataset: Dataset, name: str) -> list[str]:
        """The files that serve for one that a data set names; none where none is there."""
        for candidate in (name, *dataset.instead.get(name, ())):
            if found := self._matching(candidate):
                return found
        return []

    def _matching(self, name: str) -> list[str]:
        """The files that a name or a pattern leads to, in order of their names."""
        path = Path(name).expanduser()
        root = Path(path.anchor) if path.is_absolute() else self.folder
        if root is None:
            return []
        if "*" not in name:
            return [name] if (root / path).is_file() else []
        below = path.relative_to(root) if path.is_absolute() else path
        found = sorted(each for each in root.glob(below.as_posix()) if each.is_file())
        return [str(each if path.is_absolute() else each.relative_to(root)) for each in found]

    def _where(self, dataset: Dataset) -> str:
        if dataset.ships:
            return "the package memflow, which is not whole: install it again"
        if all(Path(name).expanduser().is_absolute() for name in dataset.files):
            return "that place"
        if self.folder is None:
            return "no folder, as none is named: set MEMFLOW_DATA, or data in memflow.toml"
        return str(self.folder) if self.folder.is_dir() else f"{self.folder}, which is no folder itself"

    def _sum(self, path: Path) -> str:
        """The file's SHA-256, computed again only when the file has changed."""
        state = FileState.of(path.stat())
        key = (str(path), state)
        if key not in self._sums:
            cached = None if self._cache is None else self._cache.get(str(path), state)
            if cached is None:
                with path.open("rb") as file:
                    cached = hashlib.file_digest(file, "sha256").hexdigest()
                if self._cache is not None and FileState.of(path.stat()) == state:
                    self._cache.put(str(path), state, cached)
            self._sums[key] = cached
        return self._sums[key]
