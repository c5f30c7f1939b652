"""The library: locates the files of data sets and verifies their checksums. Nothing is downloaded here.

memflow/benchmarks/datasets.py declares data sets; benchmarks read the files.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset, how_to_get
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_dataset as named
from memflow.errors import BadInput, MissingData
from memflow.resources.files.file_cache import FileCache, FileState

CHECKSUMS = ".cache/checksums-1"
"""The cache of the data files' checksums below the home folder, with the version of its content."""


class Library:
    """The data sets in `folder` (None if no folder is set) and in the package memflow.

    `cache` is a file of checksums; without it, every process computes the checksums again.
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
        """Return a data set whose `files` are resolved: patterns and alternatives are replaced by the files found.

        `optional` contains the optional files that are missing. Raises BadInput for an unknown name.
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
        """Return the paths of a data set's files by name.

        Raises MissingData with the missing files, the searched folder and where to get the files; BadInput if a file's
        checksum differs from the published one.
        """
        dataset = self.dataset(dataset)
        if missing := self.missing(dataset):
            folder = f"the package {dataset.package}" if dataset.ships else f"the data folder {self.folder}"
            raise MissingData(
                f"{', '.join(missing)} of the data set {dataset.name} is missing; searched {folder}. {dataset.advice}"
            )
        there = self.existing(dataset)
        for name, path in there.items():
            published = dataset.sums.get(name)
            if published and not dataset.partial and self._sum(path) != published.lower():
                raise BadInput(
                    f"{path} of the data set {dataset.name} differs from the published file: its SHA-256 is "
                    f"{self._sum(path)} instead of {published}. {dataset.replacement_advice}"
                )
        return there

    def missing(self, dataset: Dataset | str) -> list[str]:
        """Return the required files of a data set that do not exist."""
        there = self.existing(dataset)
        return [name for name in self.dataset(dataset).files if name not in there]

    def sums(self, dataset: Dataset | str) -> dict[str, str]:
        """Return the SHA-256 of each existing file of a data set, by the path in `Dataset.files`."""
        return {name: self._sum(path) for name, path in self.existing(dataset).items()}

    def existing(self, dataset: Dataset | str) -> dict[str, Path]:
        """Return the absolute path of each existing file of a data set, by the path in `Dataset.files`."""
        dataset = self.dataset(dataset)
        root = Path(str(files(dataset.package))) if dataset.ships else self.folder
        candidates = {name: Path(name).expanduser() for name in dataset.files}
        if root is not None:
            candidates = {name: root / path for name, path in candidates.items()}
        return {name: path for name, path in candidates.items() if path.is_absolute() and path.is_file()}

    def found(self, dataset: Dataset | str) -> bool:
        """Return whether every required file of a data set exists; contents are not checked."""
        return not self.missing(dataset)

    def datasets_of(self, domain: Domain) -> tuple[list[Dataset], list[Dataset]]:
        """Return the data sets of a domain that can be read, and those of which files are missing.

        Raises MissingData if none can be read.
        """
        wanted = [self.dataset(name) for name in domain.datasets]
        found = [each for each in wanted if self.found(each)]
        lacking = [each for each in wanted if each not in found]
        if not found:
            raise MissingData(
                f"{domain.name}: none of its data sets is installed in the data folder {self.folder}. "
                f"{how_to_get(lacking)} MEMFLOW_DATA, or `data` in memflow.toml, names another data folder."
            )
        partly = [
            replace(
                each,
                how=f"{each.advice} Until then it is read without {', '.join(each.optional)}.",
                download=None,
            )
            for each in found
            if each.optional
        ]
        return found, lacking + partly

    def _serving(self, dataset: Dataset, name: str) -> list[str]:
        """Return the existing files for a file name of a data set, or for the first of its alternatives that exists."""
        for candidate in (name, *dataset.instead.get(name, ())):
            if found := self._matching(candidate):
                return found
        return []

    def _matching(self, name: str) -> list[str]:
        """Return the existing files that match a file name or a pattern, sorted."""
        path = Path(name).expanduser()
        root = Path(path.anchor) if path.is_absolute() else self.folder
        if root is None:
            return []
        if "*" not in name:
            return [name] if (root / path).is_file() else []
        below = path.relative_to(root) if path.is_absolute() else path
        found = sorted(each for each in root.glob(below.as_posix()) if each.is_file())
        return [str(each if path.is_absolute() else each.relative_to(root)) for each in found]

    def _sum(self, path: Path) -> str:
        """Return the file's SHA-256, cached while the file is unchanged."""
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
