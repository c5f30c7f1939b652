"""The download of data sets into the data folder: plan, disk space, transfer, verification and placement.

A file reaches its place by an atomic rename, after its size and checksum were compared.
"""

import asyncio
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import RemoteFile
from memflow.errors import DownloadFailed
from resources.data.downloads.archives import unpack
from resources.data.downloads.listing import ListedOrigin, list_origins
from resources.data.downloads.partial_file import discard
from resources.data.downloads.record import FOLDER, DownloadRecord, read_records, write_record
from resources.data.downloads.transfer import Transfer

UNPACKED = 5
"""The assumed ratio of unpacked to packed bytes, for the check of the disk space."""
SPARE = 50_000_000
"""Bytes that stay free on the disk."""


@dataclass(frozen=True)
class DownloadPlan:
    """What is to be downloaded into a data folder. `present` are the files that are there already."""

    folder: Path
    items: tuple[ListedOrigin, ...]
    present: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The bytes to transfer, without items of unknown size and without what partial files have."""
        return sum(max(0, (each.size or 0) - _partial_size(self.folder, each)) for each in self.items)

    @property
    def of_unknown_size(self) -> int:
        """The number of items whose size is not known before their download."""
        return sum(each.size is None for each in self.items)

    @property
    def needed(self) -> int:
        """The bytes needed on the disk, including unpacked archives."""
        archives = (each for each in self.items if not isinstance(each.origin, RemoteFile))
        return self.size + sum(
            min(UNPACKED * (each.size or 0), getattr(each.origin, "most_bytes", 0)) for each in archives
        )

    @property
    def free(self) -> int:
        """The free bytes on the disk of the data folder."""
        folder = self.folder.absolute()
        there = next(each for each in (folder, *folder.parents) if each.is_dir())
        return shutil.disk_usage(there).free


@dataclass(frozen=True)
class Downloaded:
    """A finished download, and the files that it wrote, relative to the data folder."""

    record: DownloadRecord
    files: tuple[str, ...] = field(default=())


async def plan_download(
    transfer: Transfer, folder: Path, datasets: Sequence[Dataset], *, force: bool = False
) -> DownloadPlan:
    """Return what is missing of data sets; with `force`, everything.

    Raises DownloadFailed if a data set cannot be downloaded, or if a file is there with a wrong checksum.
    """
    records = read_records(folder)
    items: dict[tuple[str, tuple[str, ...]], ListedOrigin] = {}
    present: list[str] = []
    for dataset in datasets:
        if dataset.download is not None:
            transfer.page = dataset.download.page
            transfer.token_name = dataset.download.token
            transfer.token = os.environ.get(dataset.download.token, "") if dataset.download.token else ""
        if not force and dataset.download is not None:
            there = _all_present(folder, dataset, records)
            if there is not None:
                present += there
                continue
        for item in await list_origins(transfer, dataset):
            files = _present(folder, item, records)
            if files is None or force:
                items[item.origin.url, item.targets] = item  # two data sets can share an archive
            else:
                if not dataset.partial:  # else a part of the published file is valid as well
                    await _refuse_other_content(folder, item)
                present += files
    return DownloadPlan(folder, tuple(items.values()), tuple(dict.fromkeys(present)))


def check_space(plan: DownloadPlan) -> None:
    """Raise DownloadFailed if the disk of the data folder has not enough free space."""
    if plan.needed + SPARE > plan.free:
        raise DownloadFailed(
            f"the download needs {plan.needed:,} bytes, but the disk of {plan.folder} has {plan.free:,} free. Free "
            "space, or choose another folder with MEMFLOW_DATA or `data` in memflow.toml."
        )


async def download(
    plan: DownloadPlan, transfer: Transfer, item: ListedOrigin, *, accept_changed: bool = False
) -> Downloaded:
    """Download one item of a plan, verify it, and put its files in place.

    Raises DownloadFailed. A partial file stays for the next attempt, unless its content is wrong.
    """
    url, folder = item.origin.url, plan.folder
    declared = item.dataset.download
    transfer.page = declared.page if declared else ""
    transfer.token_name = declared.token if declared else ""
    transfer.token = os.environ.get(transfer.token_name, "") if transfer.token_name else ""
    partial = partial_path(folder, url)
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        for target in item.targets:
            _check_place(folder, target)
        await transfer.fetch(url, partial, item.size, bool(item.sha256))
        found = await asyncio.to_thread(_sha256, partial)
        former = read_records(folder).get(url)
        if item.sha256 and found != item.sha256:
            discard(partial)
            raise DownloadFailed(
                f"{url} has the SHA-256 {found} instead of the published {item.sha256}. The file was removed. Rerun; "
                "if the checksum is wrong again, the file at the origin has changed: report this to memflow."
            )
        if not item.sha256 and former is not None and former.sha256 != found and not accept_changed:
            raise DownloadFailed(
                f"{url} has changed since its first download on {former.downloaded_at[:10]}: its SHA-256 is {found}, "
                f"and was {former.sha256}. The former files are unchanged. Use --accept-changed to replace them."
            )
        size = partial.stat().st_size
        files = await asyncio.to_thread(_place, folder, item, partial)
    except OSError as wrong:
        raise DownloadFailed(
            f"cannot write {wrong.filename or folder} ({wrong.strerror}). Make the data folder writable, or choose "
            "another with MEMFLOW_DATA or `data` in memflow.toml."
        ) from wrong
    record = DownloadRecord(
        url=url,
        dataset=item.dataset.name,
        licence=item.dataset.licence,
        sha256=found,
        size=size,
        downloaded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        published_checksum=bool(item.sha256),
        files={**(former.files if former else {}), **files},
    )
    write_record(folder, record)
    return Downloaded(record, tuple(files))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a data folder. Raises DownloadFailed if another process downloads into it."""
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        lock = (folder / FOLDER / "lock").open("w")
    except OSError as wrong:
        raise DownloadFailed(
            f"cannot write into the data folder {folder} ({wrong.strerror}). Make it writable, or choose another with "
            "MEMFLOW_DATA or `data` in memflow.toml."
        ) from wrong
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as wrong:
            raise DownloadFailed(
                f"another `memflow data get` downloads into {folder}. Wait for its end, then rerun."
            ) from wrong
        yield


def partial_path(folder: Path, url: str) -> Path:
    """Return the path of the partial file of an address."""
    name = hashlib.sha256(url.encode()).hexdigest()[:32]
    return folder / FOLDER / "partial" / name


def _partial_size(folder: Path, item: ListedOrigin) -> int:
    path = partial_path(folder, item.origin.url)
    return path.stat().st_size if path.is_file() else 0


def _all_present(folder: Path, dataset: Dataset, records: dict[str, DownloadRecord]) -> list[str] | None:
    """Return the files of a data set that was downloaded before, without asking a server; None if one is missing."""
    done = [each for each in records.values() if each.dataset == dataset.name]
    declared = dataset.download.origins if dataset.download else ()
    urls = {each.url for each in done}
    if not done or not all(getattr(each, "url", None) in urls for each in declared):
        return None
    files = [path for each in done for path in each.files]
    return files if all((folder / path).is_file() for path in files) else None


def _present(folder: Path, item: ListedOrigin, records: dict[str, DownloadRecord]) -> list[str] | None:
    """Return the files of an item if they are all there, else None."""
    former = records.get(item.origin.url)
    if former is not None:
        # The record of an archive has the files of all data sets that were unpacked from it.
        by_target = [[path for path in former.files if _is_below(path, target)] for target in item.targets]
        if not all(by_target):
            return None
        files = [path for paths in by_target for path in paths]
    elif all(not target.endswith("/") for target in item.targets):
        files = list(item.targets)
    else:
        return None
    return files if all((folder / path).is_file() for path in files) else None


def _is_below(path: str, target: str) -> bool:
    return path.startswith(target) if target.endswith("/") else path == target


async def _refuse_other_content(folder: Path, item: ListedOrigin) -> None:
    if not item.sha256 or not isinstance(item.origin, RemoteFile):
        return
    path = folder / item.origin.path
    found = await asyncio.to_thread(_sha256, path)
    if found != item.sha256:
        raise DownloadFailed(
            f"{path} is there, but has the SHA-256 {found} instead of the published {item.sha256}. Replace it with "
            f"`memflow data get {item.dataset.name} --force`, or move it away."
        )


def _check_place(folder: Path, target: str) -> None:
    """Raise DownloadFailed if the folder of a target leads out of the data folder by a link."""
    place = (folder / target).parent
    if not place.resolve().is_relative_to(folder.resolve()):
        raise DownloadFailed(
            f"{place} is a link to {place.resolve()}, outside the data folder. Remove the link, then rerun."
        )


def _place(folder: Path, item: ListedOrigin, partial: Path) -> dict[str, str]:
    """Move a verified file, or the members of a verified archive, to their places. Return their checksums by path."""
    origin = item.origin
    if isinstance(origin, RemoteFile):
        target = folder / origin.path
        target.parent.mkdir(parents=True, exist_ok=True)
        sha256 = _sha256(partial)
        partial.replace(target)
        discard(partial)
        return {origin.path: sha256}
    with tempfile.TemporaryDirectory(dir=partial.parent) as unpacked:
        try:
            paths = unpack(partial, origin, Path(unpacked))
        except DownloadFailed:
            discard(partial)
            raise
        sums = {}
        for path in paths:
            _check_place(folder, path)
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            sums[path] = _sha256(Path(unpacked, path))
        for path in paths:
            Path(unpacked, path).replace(folder / path)
    discard(partial)
    return sums


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
