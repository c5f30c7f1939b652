"""The locks of the processes that run partitions: one file each, locked for as long as its process lives.

Dagster is not imported here, so that a command can look for the runs of killed processes without it.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

LOCKS = "processes"
"""The folder of the locks, below that of the instance."""


def instance_folder(home: Path) -> Path:
    """Return the folder of Dagster's instance, which may be missing. DAGSTER_HOME goes over `home`."""
    return Path(os.environ.get("DAGSTER_HOME") or home / "dagster").absolute()


def has_stale_locks(home: Path) -> bool:
    """Return whether a process was killed whose runs nobody has ended yet."""
    return any(True for _ in stale_locks(instance_folder(home) / LOCKS))


def stale_locks(locks: Path) -> Iterator[Path]:
    """Yield the lock files that no process holds any more."""
    for path in sorted(locks.glob("[!.]*")):
        try:
            with path.open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield path
        except (BlockingIOError, FileNotFoundError):
            continue  # its process lives, or another process has just removed it
