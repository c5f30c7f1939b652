"""The search for damage in a home folder: lake, kept versions, ledger, search indexes, memflow.duckdb and caches.

With `whole`, every byte is read. Without, files whose metadata is cached are not opened, and hashes are not compared.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from memflow.errors import BadInput, DamagedFile, MemflowError, MissingData
from memflow.records import TABLES
from resources.data.downloads.record import read_records
from resources.files.local_files import partition_of
from resources.indexes.file_hashes import index_name
from resources.lake.file_hash import WrongHash
from resources.lake.kept_versions import RecordName, content_of
from resources.lake.lake import ACCUMULATED, Lake, rebuild_command
from resources.lake.storage.local import LocalStorage
from resources.lake.verification import verify_rows
from resources.publishing.outputs import INDEX_FOLDER, INDEXES, indexes, needs_index
from resources.publishing.record import is_intact
from resources.publishing.score_cache import NAME as SCORES
from resources.settings.settings import Settings


@dataclass(frozen=True)
class Damage:
    """A damaged or missing item: its kind, its name, why, and the sentence with the command that rebuilds it."""

    kind: str
    what: str
    reason: str
    fix: str


def find_damage(settings: Settings, lake: Lake, *, whole: bool = True) -> list[Damage]:
    """Return all damage of a home folder."""
    return [
        *_partitions(lake, whole),
        *(_kept_versions(lake) if whole else ()),
        *_ledger(settings, whole),
        *_indexes(settings, lake, whole),
        *_database(settings, lake, whole),
        *(_caches(settings) if whole else ()),
        *_downloads(settings),
    ]


def _partitions(lake: Lake, whole: bool) -> Iterator[Damage]:
    partitions = [(table, partition) for table in TABLES for partition in lake.partitions(table)]
    for table, partition in partitions:
        try:
            if whole:
                lake.check(table, partition)
            else:
                lake.facts(table, partition)
        except MissingData:
            continue  # removed meanwhile
        except DamagedFile as error:
            yield Damage("lake", f"{table} of {partition}", str(error), _lake_fix(lake, table, partition))
        except BadInput as error:
            yield Damage("lake", f"{table} of {partition}", str(error), "Move the file away.")
    deleted = [(table, partition) for table in ACCUMULATED for partition in lake.deleted_partitions(table)]
    for table, partition in deleted:
        if _has_copy(lake, table, partition):
            fix = _lake_fix(lake, table, partition)
            yield Damage("lake", f"{table} of {partition}", "the file was deleted", fix)


def _lake_fix(lake: Lake, table: str, partition: str) -> str:
    if table not in ACCUMULATED:
        return (
            f"Run {rebuild_command(table, partition)} with the options of the run that wrote it: answers come from the "
            "ledger, and only requests whose prompt, model or parameters changed since are asked again."
        )
    if _has_copy(lake, table, partition):
        return "Run `memflow run`, which restores it from its copy."
    path = lake.path(table, partition)
    return f"Move {path} away, then run `memflow run`. The rows of earlier publications are lost."


def _has_copy(lake: Lake, table: str, partition: str) -> bool:
    """Return whether the lake has an intact copy of a file whose rows nothing else can rebuild."""
    if not isinstance(lake.storage, LocalStorage):
        return False
    return _file_fault(table, str(lake.storage.copy_path(lake.path(table, partition)))) is None


def _file_fault(table: str, path: str, content: str = "") -> str | None:
    """Return why a Parquet file of a table is damaged; None if it is intact, and has rows with this hash if given."""
    try:
        with pa.OSFile(path) as file:
            facts = verify_rows(table, file)
    except (WrongHash, OSError) as error:
        return str(error)
    except KeyError:
        return "memflow did not write it"
    return "it has other rows than its name states" if content not in ("", content_of(facts)) else None


def _kept_versions(lake: Lake) -> Iterator[Damage]:
    if not isinstance(lake.storage, LocalStorage):
        return  # an object is named by its hash, and is verified when it is read
    kept = lake.storage.versions
    for table in TABLES:
        for stem, versions in kept.of_table(table).items():
            what = f"{table} of {partition_of(stem)}"
            for record in versions.records:
                yield from _record(lake.storage, table, stem, record)
            for content in versions.files:
                path = kept.content_path(table, stem, content)
                if (reason := _file_fault(table, path, content)) is not None:
                    fix = f"Delete {path}. `--as-of` reports these rows as removed."
                    yield Damage("version", f"earlier rows of {what}", reason, fix)


def _record(storage: LocalStorage, table: str, stem: str, record: RecordName) -> Iterator[Damage]:
    try:
        storage.versions.read(table, stem, record)
    except DamagedFile as error:
        what = f"the record of {table} of {partition_of(stem)} of {record.since or 'an unknown time'}"
        path = storage.versions.record_path(table, stem, record)
        yield Damage("version", what, str(error), f"Delete {path}. `--as-of` forgets this version.")
    except OSError:
        return  # removed meanwhile


def _ledger(settings: Settings, whole: bool) -> Iterator[Damage]:
    from resources.ledger.damage import ledger_damage  # noqa: PLC0415  (0.2 s, which a look at the lake saves)

    for sentence in ledger_damage(settings.ledger_url, whole=whole):
        yield Damage("ledger", "the ledger", sentence, f"{sentence[0].upper()}{sentence[1:]}")


def _indexes(settings: Settings, lake: Lake, whole: bool) -> Iterator[Damage]:
    hashes = indexes(settings)
    for partition in lake.partitions(INDEXES):
        domain, _, assistant = partition.partition("/")
        name = index_name(domain, assistant)
        what = f"search index of {partition}"
        if whole and (reason := hashes.damage(name)) is not None:
            fix = f"Delete {settings.home / INDEX_FOLDER}, then run `memflow run`, which rebuilds it from the lake."
            yield Damage("index", what, reason, fix)
        elif needs_index(settings, lake, partition):
            fix = "Run `memflow run`, which rebuilds it from the lake."
            yield Damage("index", what, "it is missing, or of other entries", fix)


def _database(settings: Settings, lake: Lake, whole: bool) -> Iterator[Damage]:
    path = settings.warehouse_path
    if "all" not in lake.partitions("score.leaderboard") or is_intact(path, whole=whole):
        return
    reason = "it changed since it was written" if path.exists() else "it is missing"
    fix = f"Delete {path}, then run `memflow run`, which publishes it again."
    yield Damage("database", str(path), reason, fix)


def _caches(settings: Settings) -> Iterator[Damage]:
    path = settings.home / SCORES
    if path.is_file() and (reason := _sqlite_fault(path)):
        yield Damage("cache", str(path), reason, f"Delete {path}: its values are computed again.")


def _sqlite_fault(path: Path) -> str | None:
    """Return why a SQLite file is damaged; None if its pages are consistent."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        [[result]] = connection.execute("PRAGMA integrity_check(1)").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return str(error)
    finally:
        connection.close()
    return None if result == "ok" else str(result)


def _downloads(settings: Settings) -> Iterator[Damage]:
    try:
        read_records(settings.data)
    except MemflowError as error:
        fix = "Move it away: `memflow data get NAME` compares the files with published checksums."
        yield Damage("data", "the record of downloads", str(error), fix)
