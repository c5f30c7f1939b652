"""The search for damages in a home folder: lake, kept versions, ledger, search indexes, memflow.duckdb and caches.

With `whole`, every byte is read. Without, files whose metadata is cached are not opened, and hashes are not compared.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from memflow.errors import DamagedFile, MemflowError, MissingData
from memflow.records import TABLES
from resources.data.downloads.record import read_records
from resources.files.sqlite_urls import sqlite_path
from resources.indexes.file_hashes import index_name
from resources.lake.lake import Lake
from resources.lake.versions import kept_files
from resources.publishing.outputs import INDEXES, indexes, needs_index
from resources.publishing.record import is_intact
from resources.publishing.score_cache import NAME as SCORES
from resources.repair.damages import Damage, Progress, Repair
from resources.settings.settings import Settings


def find_damages(settings: Settings, lake: Lake, progress: Progress, *, whole: bool = True) -> list[Damage]:
    """Return all damages of a home folder."""
    return [
        *_partitions(lake, progress, whole),
        *(_kept_versions(lake, progress) if whole else ()),
        *ledger_damages(settings, whole=whole),
        *_indexes(settings, lake, progress, whole),
        *_database(settings, lake, whole),
        *(_caches(settings) if whole else ()),
        *_downloads(settings),
    ]


def _partitions(lake: Lake, progress: Progress, whole: bool) -> Iterator[Damage]:
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
            yield _damaged_partition(lake, table, partition, str(wrong))


def _damaged_partition(lake: Lake, table: str, partition: str, reason: str) -> Damage:
    return Damage(
        "lake", f"{table} of {partition}", reason, Repair.rerun, table, partition, lake.path(table, partition)
    )


def _kept_versions(lake: Lake, progress: Progress) -> Iterator[Damage]:
    for number, table in enumerate(TABLES):
        progress("replaced versions", number, len(TABLES))
        for partition, files in kept_files(lake.storage, table).items():
            for file in files:
                try:
                    lake.check_version(table, file)
                except DamagedFile as wrong:
                    what = f"earlier rows of {table} of {partition}"
                    advice = "`--as-of` then does not know these rows."
                    path = f"{lake.root}/{file.key}"
                    yield Damage("version", what, str(wrong), Repair.delete, path=path, advice=advice)


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
