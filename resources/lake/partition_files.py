"""The files of partitions: where they are, what their metadata says, and whether they are intact.

lake.py reads and writes their rows. verification.py and file_hash.py compare hashes.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.records import TABLES
from memflow.resources.files.file_cache import FileState
from memflow.resources.files.local_files import link_file, partition_of, stem_of
from memflow.resources.lake.columns import unknown_table
from memflow.resources.lake.damage import damaged_file, rebuild_command
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.file_hash import WrongHash
from memflow.resources.lake.storage import LakeFolder
from memflow.resources.lake.verification import VERIFIED, damage_of, verify_rows

Partition = tuple[str, str]
"""A table and a partition of it."""


class PartitionFiles:
    """The files of the partitions of all tables in a folder. Each state of a file is verified once in a process."""

    def __init__(self, root: str | Path) -> None:
        self.storage = LakeFolder(root)

    @property
    def root(self) -> str:
        """The lake's folder."""
        return self.storage.root

    def partitions(self, table: str) -> list[str]:
        """Return the partitions of a table that exist in the lake, sorted."""
        folder = self._folder_key(table)
        return sorted(
            partition_of(key.removeprefix(f"{folder}/").removesuffix(".parquet"))
            for key in self.storage.files(folder)
            if key.endswith(".parquet")
        )

    def current_partitions(self, table: str) -> list[str]:
        """Return the partitions of a table, sorted, without those whose file cannot be used."""
        return [name for name in self.partitions(table) if self.intact_facts(table, name) is not None]

    def place(self, files: Mapping[Partition, Path]) -> None:
        """Create hard links to the files of partitions at these paths, unless the files are missing."""
        for partition, at in files.items():
            with suppress(FileNotFoundError):
                link_file(Path(self.path(*partition)), at)

    def remember_damage(self, table: str, partition: str, state: FileState | None, reason: str) -> None:
        """Remember why a file in this state is damaged, so that its partition is not up to date."""
        self._found_damaged(table, self._key(table, partition), state, reason)

    def folder(self, table: str) -> str:
        """Return the folder of a table's files."""
        return f"{self.root}/{self._folder_key(table)}"

    def _folder_key(self, table: str) -> str:
        if table not in TABLES:
            raise unknown_table(table)
        return table.replace(".", "/")

    def path(self, table: str, partition: str) -> str:
        """Return the path of a partition's file; `domain/full` is stored as `domain,full.parquet`."""
        return f"{self.root}/{self._key(table, partition)}"

    def _key(self, table: str, partition: str) -> str:
        if not partition:
            raise BadInput(
                f"the partition name for the table {table} is empty. Pass `domain` or `domain/assistant`."
            )
        return f"{self._folder_key(table)}/{stem_of(partition)}.parquet"

    def facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition; None if it was never materialized. Raises DamagedFile."""
        try:
            return self.facts_of(table, self._key(table, partition))
        except FileNotFoundError:
            return None

    def facts_of(self, table: str, key: str) -> Facts:
        """Return the metadata of the file with a key, which is verified whole on first use.

        Raises DamagedFile and FileNotFoundError.
        """
        state, path = self.storage.state(key), self.storage.path(key)
        if reason := VERIFIED.get(state):
            raise damaged_file(self.root, table, key, reason)
        cached = self.storage.facts_cache.get(path, state)
        if cached is not None:
            return Facts(*cached)
        try:
            file, state = self.storage.open(key)
            with file:
                facts = verify_rows(table, file)
        except WrongHash as wrong:
            raise self._found_damaged(table, key, state, str(wrong)) from None
        except FileNotFoundError:
            raise
        except OSError as error:
            raise BadInput(f"{path} cannot be read ({error}). Fix or move it, then rerun.") from error
        VERIFIED[state] = ""
        self.storage.facts_cache.put(path, state, list(asdict(facts).values()))
        return facts

    def state(self, table: str, partition: str) -> FileState | None:
        """Return a value that differs for every version of a partition; None if it is missing or of the past."""
        return self.storage.state(self._key(table, partition))

    def damage(self, table: str, partition: str) -> str | None:
        """Return why the file of a partition cannot be used, as far as is known; None if it is intact or missing."""
        try:
            self.facts(table, partition)
        except MissingData:
            return None
        except BadInput as wrong:
            return str(wrong)
        return None

    def intact_facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition; None if it is missing or damaged."""
        try:
            return self.facts(table, partition)
        except BadInput:
            return None

    @contextmanager
    def _opened(self, table: str, key: str) -> Iterator[pa.NativeFile]:
        """Open a file that is verified, now or earlier in this state. Raises DamagedFile and FileNotFoundError."""
        file, state = self.storage.open(key)
        with file:
            if reason := damage_of(table, file, state):
                raise self._found_damaged(table, key, state, reason)
            file.seek(0)
            yield file

    def _found_damaged(self, table: str, key: str, state: FileState | None, reason: str) -> DamagedFile:
        """Remember that a file is damaged, so that its partition is not up to date. Return the error."""
        if state is not None:
            VERIFIED[state] = reason
        self.storage.facts_cache.put(self.storage.path(key), state, None)
        return damaged_file(self.root, table, key, reason)

    @contextmanager
    def _open(self, table: str, partition: str) -> Iterator[pa.NativeFile]:
        with ExitStack() as stack:
            try:
                opened = stack.enter_context(self._opened(table, self._key(table, partition)))
            except FileNotFoundError:
                raise MissingData(
                    f"{table} of {partition} is missing from the lake ({self.root}). Materialize the asset "
                    f"{table.replace('.', '/')} for this partition, or run {rebuild_command(table, partition)}."
                ) from None
            yield opened
