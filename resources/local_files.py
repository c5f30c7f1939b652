"""Local files of the lake: atomic replacement and hard links."""

import os
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from resources.file_cache import FileState

ATTEMPTS = 20
STALE_S = 24 * 3600.0
"""Age in seconds after which a snapshot is deleted: its process was killed."""


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


def replace_file(path: Path, write: Callable[[IO[bytes]], None]) -> FileState | None:
    """Let `write` fill a temporary file, then sync and rename the file to `path`. Return its new state.

    Readers see either the old or the new file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.writing")
    try:
        with written.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            state = FileState.of(os.fstat(file.fileno()))
        written.replace(path)
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return state
