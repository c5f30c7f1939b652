"""The error for a file of the lake that cannot be used, and the command that rebuilds a partition."""

from memflow.errors import DamagedFile
from memflow.resources.files.local_files import partition_of
from memflow.resources.lake.facts import VERSIONS

UNPARTITIONED = ("score.comparisons", "score.leaderboard", "score.history", "score.drift")
"""The tables with one partition over all domains."""


def damaged_file(root: str, table: str, key: str, reason: str) -> DamagedFile:
    """Return the error for the file with a key in the lake `root`: which file, why, and what to do.

    `reason` is what a WrongHash says.
    """
    partition = partition_of(key.rpartition("/")[2].removesuffix(".parquet"))
    name, advice = f"{table} of {partition}", f"Run {rebuild_command(table, partition)}, which rebuilds it"
    advice += ": answers come from the ledger, changed requests are asked again."
    if key.startswith(VERSIONS):
        name, advice = f"an earlier version of {table}", "Delete it: `--as-of` then does not know these rows."
    return DamagedFile(f"{name} in {root}/{key} {reason}. {advice}")


def rebuild_command(table: str, partition: str) -> str:
    """Return the command that rebuilds a partition; answers to unchanged requests come from the ledger."""
    if table in ("raw.records", *UNPARTITIONED):
        return "`memflow run`"
    domain, _, assistant = partition.partition("/")
    option = f" --{'assistant' if '@' in assistant else 'memory'} {assistant}" if assistant else ""
    return f"`memflow run --domain {domain}{option}`"
