"""Disks that are full or read-only: how to recognize them, and the sentence for the user.

Libraries report such a disk in many ways ("disk I/O error", "unable to open database file", a bus error message), so a
failed write is explained by a test of the folder.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memflow.errors import StoreFailed

PROBE_BYTES = 64 * 1024
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
_FULL_WORDS = ("is full", "No space left", "Disk quota exceeded", "File too large")


def disk_fault(folder: Path) -> str:
    """Return what prevents writing below a folder, and what to do; "" if a test file can be written."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    probe = there / f".{secrets.token_hex(8)}.writing"
    try:
        with probe.open("xb") as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return os_fault(error, there)
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
    return ""


def os_fault(error: OSError, folder: Path) -> str:
    """Return the fault that an error of the operating system reports for a folder; "" for another error."""
    if error.errno in _FULL:
        return f"the disk of {folder} is full ({error.strerror}). Free some space, then rerun: nothing stored is lost."
    if error.errno in _READ_ONLY:
        return (
            f"{folder} is read-only ({error.strerror}). Make it writable, or choose another folder with --home, then "
            "rerun."
        )
    return ""


def failed_write(error: BaseException, folder: Path) -> StoreFailed | None:
    """Return the exception that explains a failed write below a folder; None if its disk is not the cause."""
    causes = _causes(error)
    fault = next((os_fault(each, folder) for each in causes if isinstance(each, OSError)), "")
    if not fault and any(words in str(each) for each in causes for words in _FULL_WORDS):
        fault = f"the disk of {folder} is full. Free some space, then rerun: nothing stored is lost."
    fault = fault or disk_fault(folder)
    return StoreFailed(fault) if fault else None


def require_writable(*folders: Path) -> None:
    """Raise StoreFailed if a file cannot be written below one of the folders."""
    for folder in folders:
        if fault := disk_fault(folder):
            raise StoreFailed(fault)


@contextmanager
def explained_writes(folder: Path) -> Iterator[None]:
    """Raise StoreFailed instead of an OSError whose cause is a full or read-only disk."""
    try:
        yield
    except OSError as error:
        if fault := os_fault(error, folder):
            raise StoreFailed(fault) from error
        raise


def _causes(error: BaseException | None) -> list[BaseException]:
    """Return an exception and its causes."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        original = getattr(error, "orig", None)
        error = original if isinstance(original, BaseException) else error.__cause__ or error.__context__
    return found
