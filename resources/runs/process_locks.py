"""Lock files of the processes that execute partitions: each `memflow run`, and `memflow dev`.

A file is locked (`flock`) as long as its process runs, however it ends. This module does not import Dagster, so that
commands can find killed processes quickly.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

LOCKS = "processes"
"""The folder of the locks of `memflow run`, below that of the instance."""
DEV = "dev.lock"
"""The lock of `memflow dev`, in the folder of the instance. It contains the UI's address until its runs are ended."""


def instance_folder(home: Path) -> Path:
    """Return the folder of Dagster's instance, which may not exist yet. DAGSTER_HOME overrides `home`."""
    return Path(os.environ.get("DAGSTER_HOME") or home / "dagster").absolute()


def lock(path: Path) -> IO[str] | None:
    """Lock a file, which is created if it is missing, and return it. Return None if another process has locked it."""
    file = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def is_stale(path: Path) -> bool:
    """Return whether a lock file exists and its process has ended."""
    try:
        with path.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        return False
    return True


def stale_locks(folder: Path) -> Iterator[Path]:
    """Yield the lock files of each `memflow run` that was killed, in the folder of the instance."""
    yield from (path for path in sorted((folder / LOCKS).glob("[!.]*")) if is_stale(path))


def has_stale_locks(home: Path) -> bool:
    """Return whether a `memflow run` or `memflow dev` was killed, so that its runs may be marked as in progress."""
    folder = instance_folder(home)
    return dev_was_killed(folder) or any(True for _ in stale_locks(folder))


def dev_was_killed(folder: Path) -> bool:
    """Return whether the `memflow dev` of an instance has ended, and its runs may still be marked as in progress."""
    return is_stale(folder / DEV) and bool((folder / DEV).read_text(encoding="utf-8"))
