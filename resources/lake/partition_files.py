"""The files of partitions: where they are, what their metadata says, and whether they are intact.

lake.py reads and writes their rows. verification.py and file_hash.py compare hashes.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.records import TABLES
from memflow.resources.files.file_cache import FileState
from memflow.resources.files.local_files import partition_of, stem_of
from memflow.resources.lake.columns import unknown_table
from memflow.resources.lake.damage import damaged_file, rebuild_command
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.file_hash import WrongHash
from memflow.resources.lake.storage.opening import LakeStorage
from memflow.resources.lake.verification import VERIFIED, FileKey, verify_metadata, verify_rows

Partition = tuple[str, str]
"""A table and a partition of it."""


class PartitionFiles:
    """The files of the partitions of all tables in a storage. Each state of a file is verified once in a process."""

    def __init__(self, storage: LakeStorage) -> None:
        self.storage = storage

    @property
    def root(self) -> str:
        """The lake's folder or address."""
        return self.storage.root

    @property
    def local(self) -> bool:
        """Whether other programs can read the current files at `path`."""
        return self.storage.local

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
        """Place copies of the files of partitions at these paths, in existing folders, unless they are missing."""
        self.storage.place([(self._key(*partition), at) for partition, at in files.items()])

    def remember_damage(self, table: str, partition: str, state: FileState | None, reason: str) -> None:
        """Remember why a copy that was placed in this state is damaged, so that its partition is not up to date."""
        key = self._key(table, partition)
        self._found_damaged(table, key, state if self.local else self.storage.state(key), reason)

    def folder(self, table: str) -> str:
        """Return the folder or address of a table's files."""
        return f"{self.root}/{self._folder_key(table)}"

    def _folder_key(self, table: str) -> str:
        if table not in TABLES:
            raise unknown_table(table)
        return table.replace(".", "/")

    def path(self, table: str, partition: str) -> str:
        """Return the path or address of a partition's file; `domain/full` is stored as `domain,full.parquet`."""
        return f"{self.root}/{self._key(table, partition)}"

    def _key(self, table: str, partition: str) -> str:
        if not partition:
            raise BadInput(
                f"the partition name for the table {table} is empty. Pass `domain` or `domain/assistant`."
            )
        return f"{self._folder_key(table)}/{stem_of(partition)}.parquet"

    def facts(self, table: str, partition: str) -> Facts | None:
        """Return the metadata of a partition; None if it was never materialized. Raises DamagedFile."""
        key = self._key(table, partition)
        try:
            return self.facts_of(table, key, self.storage.state(key))
        except FileNotFoundError:
            return None

    def facts_of(self, table: str, key: str, state: FileState | None = None) -> Facts:
        """Return the metadata of the file with a key. Raises DamagedFile and FileNotFoundError.

        On first use, a local file is verified whole, and of an object in a store its metadata.
        """
        state = state or self.storage.state(key)
        if reason := VERIFIED.get(self._file_key(key, state)):
            raise damaged_file(self.root, table, key, reason)
        address = f"{self.root}/{key}"
        cached = self.storage.facts_cache.get(address, state)
        if cached is not None:
            return Facts(*cached)
        try:
            file, state = self.storage.open_end(key, state)
            with file:
                facts = verify_rows(table, file) if self.local else verify_metadata(table, file)
        except WrongHash as wrong:
            raise self._found_damaged(table, key, state, str(wrong)) from None
        except FileNotFoundError:
            raise
        except OSError as error:
            raise BadInput(f"{address} cannot be read ({error}). Fix or move it, then rerun.") from error
        if self.local:
            VERIFIED[state] = ""
        self.storage.facts_cache.put(address, state, list(asdict(facts).values()))
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
    def _opened(
        self, table: str, key: str, state: FileState | None = None
    ) -> Iterator[tuple[pa.NativeFile, FileState | None]]:
        """Open a file that is verified, now or earlier in this state. Raises DamagedFile and FileNotFoundError."""
        reason = ""
        for _ in range(2):
            file, state = self.storage.open(key, state)
            with file:
                reason = self._verify(table, key, file, state)
                if not reason:
                    file.seek(0)
                    yield file, state
                    return
            if not self.storage.discard(key, state):  # the copy in a local cache may be what is damaged
                break
            VERIFIED.pop(self._file_key(key, state), None)
        raise self._found_damaged(table, key, state, reason)

    def _verify(self, table: str, key: str, file: pa.NativeFile, state: FileState | None) -> str:
        """Return why an open file cannot be used; "" if it is intact. Each state is read once in a process."""
        reason = VERIFIED.get(self._file_key(key, state))
        if reason is None:
            try:
                verify_rows(table, file)
                reason = ""
            except WrongHash as wrong:
                reason = str(wrong)
            VERIFIED[self._file_key(key, state)] = reason
        return reason

    def _found_damaged(self, table: str, key: str, state: FileState | None, reason: str) -> DamagedFile:
        """Remember that a file is damaged, so that its partition is not up to date. Return the error."""
        if state is not None:
            VERIFIED[self._file_key(key, state)] = reason
        self.storage.facts_cache.put(f"{self.root}/{key}", state, None)
        return damaged_file(self.root, table, key, reason)

    def _file_key(self, key: str, state: FileState | None) -> FileKey | None:
        """Return what identifies a verified file: its state, for an object in a store with its key."""
        return state if self.local or state is None else (f"{self.root}/{key}", state)

    @contextmanager
    def _open(
        self, table: str, partition: str, state: FileState | None = None
    ) -> Iterator[tuple[pa.NativeFile, FileState | None]]:
        with ExitStack() as stack:
            try:
                opened = stack.enter_context(self._opened(table, self._key(table, partition), state))
            except FileNotFoundError:
                raise MissingData(
                    f"{table} of {partition} is missing from the lake ({self.root}). Materialize the asset "
                    f"{table.replace('.', '/')} for this partition, or run {rebuild_command(table, partition)}."
                ) from None
            yield opened
