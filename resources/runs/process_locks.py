"""Lock files of the processes that run partitions. Each file is locked while its process runs.

This module does not import Dagster, so that commands can find killed processes quickly.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from resources.files.plain_paths import plain_path
from resources.runs.leases import abandoned_runs

LOCKS = "processes"
"""The folder of the locks, below that of the instance."""


def instance_folder(home: Path) -> Path:
    """Return the folder of Dagster's instance, which may not exist yet. DAGSTER_HOME overrides `home`."""
    return plain_path(Path(os.environ.get("DAGSTER_HOME") or home / "dagster").absolute())


def has_stale_locks(home: Path) -> bool:
    """Return whether a killed process has left a lock file or a lease, so its runs may be marked as in progress."""
    folder = instance_folder(home)
    return any(True for _ in (*stale_locks(folder / LOCKS), *abandoned_runs(folder)))


def stale_locks(locks: Path) -> Iterator[Path]:
    """Yield the lock files of processes that have ended."""
    for path in sorted(locks.glob("[!.]*")):
        try:
            with path.open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield path
        except (BlockingIOError, FileNotFoundError):
            continue  # the process runs, or another process has removed the file
