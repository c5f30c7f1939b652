"""Full and read-only disks: one sentence at once, nothing lost, and the same call works when there is room."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memflow.errors import StoreFailed
from memflow.resources.files.disks import failed_write, require_writable
from memflow.resources.files.local_files import replace_file
from memflow.resources.files.sqlite_urls import sqlite_url
from memflow.resources.ledger import database
from memflow.resources.ledger.sql_ledger import SqlLedger


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a file system of 2 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(["mount", *options], check=False, capture_output=True).returncode != 0:
        pytest.skip("a small file system cannot be mounted without rights of root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_disk(folder: Path) -> Path:
    """Write a file that takes all space of a file system. Return its path."""
    file = folder / "filler"
    with file.open("wb", buffering=0) as written, pytest.raises(OSError, match="No space"):
        while True:
            written.write(bytes(4096))
    return file


def remount(folder: Path, *options: str) -> None:
    subprocess.run(["mount", "-o", ",".join(("remount", *options)), str(folder)], check=True)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test in which a disk without room is waited for."""

    def sleep(seconds: float) -> None:
        raise AssertionError(f"waited {seconds} s")

    monkeypatch.setattr(database.time, "sleep", sleep, raising=True)


def test_new_ledger_on_a_full_disk_is_reported_without_waiting(small_disk: Path) -> None:
    filler = fill_disk(small_disk)
    with pytest.raises(StoreFailed, match="is full"):
        SqlLedger(sqlite_url(small_disk / "ledger.sqlite"))
    filler.unlink()
    SqlLedger(sqlite_url(small_disk / "ledger.sqlite")).close()


def test_read_only_disk_is_reported_without_waiting(small_disk: Path) -> None:
    remount(small_disk, "ro")
    for folder in (small_disk, small_disk / "deeper"):
        with pytest.raises(StoreFailed, match=r"is read-only .*Make it writable"):
            SqlLedger(sqlite_url(folder / "ledger.sqlite"))
        with pytest.raises(StoreFailed, match="is read-only"):
            replace_file(folder / "rows.parquet", lambda file: file.write(b"x"))
        with pytest.raises(StoreFailed, match="is read-only"):
            require_writable(folder)


def test_file_of_the_lake_on_a_full_disk_keeps_the_former_file(small_disk: Path) -> None:
    path = small_disk / "rows.parquet"
    replace_file(path, lambda file: file.write(b"former"))
    filler = fill_disk(small_disk)
    with pytest.raises(StoreFailed, match="is full"):
        replace_file(path, lambda file: file.write(bytes(100_000)))
    filler.unlink()
    assert path.read_bytes() == b"former"
    assert [file.name for file in small_disk.iterdir()] == ["rows.parquet"]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "is full"),
        (errno.EFBIG, "is full"),
        (errno.EROFS, "is read-only"),
    ],
)
def test_failed_write_names_the_disk_as_the_cause_of_other_errors(
    tmp_path: Path, number: int, sentence: str
) -> None:
    try:
        try:
            raise OSError(number, os.strerror(number))
        except OSError as error:
            raise ValueError("a library's own error") from error
    except ValueError as error:
        explained = failed_write(error, tmp_path)
    assert explained is not None and sentence in str(explained) and str(tmp_path) in str(explained)
    assert failed_write(ValueError("another error"), tmp_path) is None
    assert list(tmp_path.iterdir()) == [], "the test file is removed"
