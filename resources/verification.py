"""The search for damage in a home folder: lake, kept versions, ledger and memflow.duckdb.

With `whole`, every byte is read. Without, files whose metadata is cached are not opened, and hashes are not compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.records import TABLES
from memflow.resources.lake.damage import rebuild_command
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.versions import kept_files
from memflow.resources.settings.settings import Settings


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
        *_database(settings, lake, whole),
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
            fix = (
                f"Run {rebuild_command(table, partition)} with the options of the run that wrote it: answers come from "
                "the ledger, and only requests whose prompt, model or parameters changed since are asked again."
            )
            yield Damage("lake", f"{table} of {partition}", str(error), fix)
        except BadInput as error:
            yield Damage("lake", f"{table} of {partition}", str(error), "Move the file away.")


def _kept_versions(lake: Lake) -> Iterator[Damage]:
    for table in TABLES:
        for partition, files in kept_files(lake.storage, table).items():
            for file in files:
                try:
                    lake.check_version(table, file)
                except DamagedFile as error:
                    what = f"earlier rows of {table} of {partition}"
                    fix = f"Delete {lake.root}/{file.key}. `--as-of` then does not know these rows."
                    yield Damage("version", what, str(error), fix)


def _ledger(settings: Settings, whole: bool) -> Iterator[Damage]:
    from memflow.resources.ledger.damage import ledger_damage  # noqa: PLC0415  (0.2 s, which a look at the lake saves)

    for sentence in ledger_damage(settings.ledger_url, whole=whole):
        yield Damage("ledger", "the ledger", sentence, f"{sentence[0].upper()}{sentence[1:]}")


def _database(settings: Settings, lake: Lake, whole: bool) -> Iterator[Damage]:
    path, reason = settings.warehouse_path, None
    if not path.exists():
        reason = "it is missing" if "all" in lake.partitions("score.leaderboard") else None
    elif whole:
        from memflow.resources.publishing.database import database_damage  # noqa: PLC0415  (only where all is read)

        reason = database_damage(path)
    if reason is not None:
        fix = f"Delete {path}, then run `memflow run`, which publishes it again."
        yield Damage("database", str(path), reason, fix)
