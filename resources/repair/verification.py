"""The search for damages in a home folder: lake, kept versions, ledger, search indexes, memflow.duckdb and caches.

With `whole`, every byte is read. Without, files whose metadata is cached are not opened, and hashes are not compared.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import sqlalchemy as sa

from memflow.errors import BadInput, DamagedFile, MemflowError, MissingData
from memflow.records import TABLES
from resources.data.downloads.record import read_records
from resources.files.local_files import partition_of
from resources.files.sqlite_urls import sqlite_path
from resources.indexes.file_hashes import index_name
from resources.lake.file_hash import WrongHash
from resources.lake.kept_versions import RecordName, content_of
from resources.lake.lake import ACCUMULATED, Lake
from resources.lake.storage.local import LocalStorage
from resources.lake.verification import verify_rows
from resources.publishing.outputs import INDEXES, indexes, needs_index
from resources.publishing.record import is_intact
from resources.publishing.score_cache import NAME as SCORES
from resources.repair.damages import Damage, Progress, Repair
from resources.settings.settings import Settings


def find_damages(settings: Settings, lake: Lake, progress: Progress, *, whole: bool = True) -> list[Damage]:
    """Return all damages of a home folder."""
    return [
        *_partitions(settings, lake, progress, whole),
        *_deleted_partitions(lake),
        *(_kept_versions(lake, progress) if whole else ()),
        *ledger_damages(settings, whole=whole),
        *_indexes(settings, lake, progress, whole),
        *_database(settings, lake, whole),
        *(_caches(settings) if whole else ()),
        *_downloads(settings),
    ]


def _partitions(settings: Settings, lake: Lake, progress: Progress, whole: bool) -> Iterator[Damage]:
    listed = [(table, partition) for table in TABLES for partition in lake.partitions(table)]
    for number, (table, partition) in enumerate(listed):
        progress("lake", number, len(listed))
        try:
            if whole:
                lake.check(table, partition)
            else:
                lake.facts(table, partition)
        except MissingData:
            continue  # removed meanwhile
        except DamagedFile as wrong:
            yield _damaged_partition(settings, lake, table, partition, str(wrong))
        except BadInput as wrong:
            yield Damage(
                "lake", f"{table} of {partition}", str(wrong), Repair.none, advice="Move the file away."
            )


def _deleted_partitions(lake: Lake) -> Iterator[Damage]:
    for table in ACCUMULATED:
        for partition in lake.deleted_partitions(table):
            if has_copy(lake, table, partition):
                what = f"{table} of {partition}"
                yield Damage("lake", what, "the file was deleted", Repair.copy, table, partition)


def _damaged_partition(settings: Settings, lake: Lake, table: str, partition: str, reason: str) -> Damage:
    what = f"{table} of {partition}"
    path = lake.path(table, partition)
    if table in ACCUMULATED:
        if has_copy(lake, table, partition):
            return Damage("lake", what, reason, Repair.copy, table, partition)
        advice = "The rows of earlier publications are lost."
        return Damage("lake", what, reason, Repair.set_aside, table, partition, path, advice)
    return Damage("lake", what, reason, Repair.rerun, table, partition, path)


def has_copy(lake: Lake, table: str, partition: str) -> bool:
    """Return whether the lake has an intact copy of a file whose rows nothing else can rebuild."""
    if not isinstance(lake.storage, LocalStorage):
        return False
    return file_fault(table, str(lake.storage.copy_path(lake.path(table, partition)))) is None


def file_fault(table: str, path: str, content: str = "") -> str | None:
    """Return why a Parquet file of a table is damaged; None if it is intact, and has rows with this hash if given."""
    try:
        with pa.OSFile(path) as file:
            facts = verify_rows(table, file)
    except (WrongHash, OSError) as wrong:
        return str(wrong)
    except KeyError:
        return "memflow did not write it"
    return "it has other rows than its name states" if content not in ("", content_of(facts)) else None


def _kept_versions(lake: Lake, progress: Progress) -> Iterator[Damage]:
    if not isinstance(lake.storage, LocalStorage):
        return  # an object is named by its hash, and is verified when it is read
    kept = lake.storage.versions
    for number, table in enumerate(TABLES):
        progress("replaced versions", number, len(TABLES))
        for stem, versions in kept.of_table(table).items():
            partition = partition_of(stem)
            for record in versions.records:
                yield from _record(lake.storage, table, stem, record)
            for content in versions.files:
                path = kept.content_path(table, stem, content)
                if (reason := file_fault(table, path, content)) is not None:
                    what = f"earlier rows of {table} of {partition}"
                    advice = "`--as-of` reports these rows as removed."
                    yield Damage("version", what, reason, Repair.set_aside, path=path, advice=advice)


def _record(storage: LocalStorage, table: str, stem: str, record: RecordName) -> Iterator[Damage]:
    try:
        storage.versions.read(table, stem, record)
    except DamagedFile as wrong:
        what = f"the record of {table} of {partition_of(stem)} of {record.since or 'an unknown time'}"
        path = storage.versions.record_path(table, stem, record)
        advice = "`--as-of` does not know this version any more."
        yield Damage("version", what, str(wrong), Repair.set_aside, path=path, advice=advice)
    except OSError:
        return  # removed meanwhile


def ledger_damages(settings: Settings, *, whole: bool) -> Iterator[Damage]:
    """Yield the problems of the ledger; without `whole`, only whether it can be opened."""
    from resources.ledger.sql_ledger import SqlLedger  # noqa: PLC0415  (0.2 s, which a look at the lake saves)
    from resources.ledger.verification import problems  # noqa: PLC0415

    path = sqlite_path(settings.ledger_url)
    if path is not None and not path.is_file():
        return
    try:
        with SqlLedger(settings.ledger_url) as opened, opened.connect() as connection:
            found = problems(connection) if whole else []
    except (MemflowError, sa.exc.DBAPIError) as wrong:
        reason = str(wrong) if isinstance(wrong, MemflowError) else str(wrong.orig)
        advice = "Run `memflow ledger verify`."
        yield Damage("ledger", "the ledger", reason, Repair.none, advice=advice)
        return
    for each in found:
        is_repaired = each.command == "memflow ledger verify --repair"
        yield Damage(
            "ledger",
            each.name,
            f"{each.rows:,} rows, such as {', '.join(each.digests)}",
            Repair.ledger if is_repaired else Repair.none,
            advice="" if is_repaired else f"Run `{each.command}`.",
        )


def _indexes(settings: Settings, lake: Lake, progress: Progress, whole: bool) -> Iterator[Damage]:
    partitions = lake.partitions(INDEXES)
    hashes = indexes(settings)
    for number, partition in enumerate(partitions):
        progress("search indexes", number, len(partitions))
        domain, _, assistant = partition.partition("/")
        reason = hashes.damage(index_name(domain, assistant)) if whole else None
        if reason is None and needs_index(settings, lake, partition):
            reason = "it is missing, or of other entries"
        if reason is not None:
            yield Damage(
                "index", f"search index of {partition}", reason, Repair.search_index, partition=partition
            )


def _database(settings: Settings, lake: Lake, whole: bool) -> Iterator[Damage]:
    path = settings.warehouse_path
    if "all" not in lake.partitions("score.leaderboard") or is_intact(path, whole=whole):
        return
    reason = "it changed since it was written" if path.exists() else "it is missing"
    yield Damage("database", str(path), reason, Repair.database)


def _caches(settings: Settings) -> Iterator[Damage]:
    path = settings.home / SCORES
    if path.is_file() and (reason := sqlite_fault(path)):
        yield Damage("cache", str(path), reason, Repair.delete, path=str(path))


def sqlite_fault(path: Path) -> str | None:
    """Return why an SQLite file is damaged; None if its pages are consistent."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        [[result]] = connection.execute("PRAGMA integrity_check(1)").fetchall()
    except sqlite3.Error as wrong:
        return str(wrong)
    finally:
        connection.close()
    return None if result == "ok" else str(result)


def _downloads(settings: Settings) -> Iterator[Damage]:
    try:
        read_records(settings.data)
    except MemflowError as wrong:
        advice = "Move it away: `memflow data get NAME` compares the files with published checksums."
        yield Damage("data", "the record of downloads", str(wrong), Repair.none, advice=advice)
