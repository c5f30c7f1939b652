"""Files of the lake: names, and for local files atomic replacement, hard links and locks."""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, unquote

from memflow.resources.files.disks import explained_writes
from memflow.resources.files.file_cache import FileState

ATTEMPTS = 20
STALE_S = 24 * 3600.0
"""Age in seconds after which a snapshot is deleted: its process was killed."""


@lru_cache(maxsize=100_000)
def stem_of(partition: str) -> str:
    """Return the name of a partition's files without ending; `domain/full` becomes `domain,full`."""
    return quote(partition, safe="@").replace("%2F", ",")


def partition_of(stem: str) -> str:
    """Return the partition whose files have this name."""
    return unquote(stem.replace(",", "%2F"))


def link_file(path: Path, at: Path) -> None:
    """Create a hard link to `path`; retry if a writer replaces the file meanwhile."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return at.hardlink_to(path)
        except FileNotFoundError:
            if attempt == ATTEMPTS:
                raise


def can_link(root: Path) -> bool:
    """Return whether hard links work at `root`. Also delete snapshots that killed processes left."""
    try:
        root.mkdir(parents=True)
        (root / "one").touch()
        (root / "two").hardlink_to(root / "one")
    except OSError:
        shutil.rmtree(root, ignore_errors=True)
        return False
    for other in root.parent.iterdir():
        with suppress(FileNotFoundError):
            if time.time() - other.stat().st_mtime > STALE_S:
                shutil.rmtree(other, ignore_errors=True)
    return True


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Wait for the exclusive lock on a file, which is created if needed, and hold it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed, also by a kill
        yield


def replace_file(path: Path, write: Callable[[IO[bytes]], Any]) -> FileState | None:
    """Let `write` fill a temporary file, then sync and rename the file to `path`. Return its new state.

    Readers see either the old or the new file. Raises StoreFailed if the disk is full or read-only.
    """
    written = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.writing")
    try:
        with explained_writes(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            with written.open("xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
                state = FileState.of(os.fstat(file.fileno()))
            written.replace(path)
    except BaseException:
        with suppress(OSError):
            written.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return state


def sync_folder(path: Path) -> None:
    """Write the names of a folder's files to the disk, so that a renamed file survives a power failure."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
