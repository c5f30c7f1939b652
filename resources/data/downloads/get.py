"""The download of data sets into the data folder: what is missing, transfer, verification and placement.

A file reaches its place by an atomic rename, after its size and checksum were compared.
"""

import fnmatch
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import pooch

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import HuggingFaceFiles, RemoteArchive, RemoteFile, check_target
from memflow.errors import DownloadFailed
from memflow.resources.data.downloads.archives import unpack
from memflow.resources.data.downloads.record import FOLDER, DownloadRecord, read_records, write_record
from memflow.resources.data.downloads.transfer import fetch, json_pages, remote_size
from memflow.resources.files.disks import explained_writes
from memflow.resources.files.local_files import lock_file

HUGGING_FACE = "https://huggingface.co"


@dataclass(frozen=True)
class DownloadItem:
    """A file or archive to download, with its size and checksum as far as they are known."""

    dataset: Dataset
    origin: RemoteFile | RemoteArchive

    @property
    def targets(self) -> tuple[str, ...]:
        """The paths below the data folder that the origin writes: a file, or the members of an archive."""
        return (
            (self.origin.path,) if isinstance(self.origin, RemoteFile) else (*self.origin.members.values(),)
        )


def plan_download(
    folder: Path, datasets: Sequence[Dataset], *, force: bool = False
) -> tuple[list[DownloadItem], list[str]]:
    """Return what is missing of data sets (with `force`, everything), and the files that are there already.

    Raises DownloadFailed if an origin does not have the files.
    """
    records = read_records(folder)
    items: dict[tuple[str, tuple[str, ...]], DownloadItem] = {}
    present: list[str] = []
    for item in (item for dataset in datasets for item in _items(dataset)):
        files = None if force else _present(folder, item, records)
        if files is not None:
            present += files
            continue
        size = remote_size(item.origin.url) if item.origin.size is None else item.origin.size
        # Two data sets can share an archive.
        items[item.origin.url, item.targets] = replace(item, origin=replace(item.origin, size=size))
    return list(items.values()), list(dict.fromkeys(present))


def download(folder: Path, items: Sequence[DownloadItem], *, force: bool = False) -> Iterator[DownloadRecord]:
    """Download the items of a plan, verify them, put their files in place, and yield the record of each.

    Another process that downloads into the folder is waited for. Files without a published checksum that have changed
    since their first download are refused without `force`. Raises DownloadFailed, and StoreFailed if the folder
    cannot be written.
    """
    with explained_writes(folder), lock_file(folder / FOLDER / "lock"):
        for item in items:
            with tempfile.TemporaryDirectory(dir=folder / FOLDER) as name:
                yield _download(folder, item, Path(name), force)


def _download(folder: Path, item: DownloadItem, temporary: Path, force: bool) -> DownloadRecord:
    url, loaded = item.origin.url, temporary / "file"
    fetch(url, loaded, item.origin.size, item.origin.sha256)
    sha256, former = pooch.file_hash(loaded), read_records(folder).get(url)
    if not item.origin.sha256 and former is not None and former.sha256 != sha256 and not force:
        raise DownloadFailed(
            f"{url} has changed since its first download on {former.downloaded_at[:10]}: its SHA-256 is {sha256}, and "
            f"was {former.sha256}. The former files are unchanged. Use --force to replace them."
        )
    sources = {target: loaded for target in item.targets}
    if isinstance(item.origin, RemoteArchive):
        sources = {path: temporary / path for path in unpack(loaded, item.origin, temporary)}
    files = {path: pooch.file_hash(source) for path, source in sources.items()}
    record = DownloadRecord(
        url=url,
        dataset=item.dataset.name,
        licence=item.dataset.licence,
        sha256=sha256,
        size=loaded.stat().st_size,
        downloaded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        published_checksum=bool(item.origin.sha256),
        files={**(former.files if former else {}), **files},
    )
    for path, source in sources.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        source.replace(folder / path)
    write_record(folder, record)
    return replace(record, files=files)


def _items(dataset: Dataset) -> Iterator[DownloadItem]:
    """Yield the files and archives of a data set, before a server is asked for a size."""
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUGGING_FACE  # the variable of its own tools
    for origin in dataset.download.origins if dataset.download else ():
        if isinstance(origin, HuggingFaceFiles):
            for file in _listed(origin, endpoint):
                yield DownloadItem(dataset, file)
        else:
            sums = dataset.sums if isinstance(origin, RemoteFile) else {}
            sha256 = (origin.sha256 or sums.get(getattr(origin, "path", ""), "")).lower()
            url = origin.url.replace(HUGGING_FACE, endpoint, 1)
            yield DownloadItem(dataset, replace(origin, url=url, sha256=sha256))


def _listed(origin: HuggingFaceFiles, endpoint: str) -> list[RemoteFile]:
    """Return the files of a data set that Hugging Face lists, with sizes and checksums."""
    page = (
        f"{endpoint}/api/datasets/{origin.repository}/tree/{quote(origin.revision, safe='')}?recursive=true"
    )
    place = f"{endpoint}/datasets/{origin.repository}/resolve/{origin.revision}"
    files = []
    try:
        for entry in chain.from_iterable(json_pages(page)):
            path = entry["path"]
            if entry["type"] == "file" and any(fnmatch.fnmatchcase(path, each) for each in origin.patterns):
                check_target(path)
                sha256 = str((entry.get("lfs") or {}).get("oid", ""))  # of a large file
                url = f"{place}/{quote(path)}"
                files.append(RemoteFile(url, f"{origin.folder}/{path}", sha256, int(entry["size"])))
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise DownloadFailed(
            f"{page}: the list of files has an unknown form ({wrong}). Try again later."
        ) from wrong
    if not files:
        raise DownloadFailed(
            f"{page} lists no file that matches {', '.join(origin.patterns)}. Report this to memflow."
        )
    return files


def _present(folder: Path, item: DownloadItem, records: Mapping[str, DownloadRecord]) -> list[str] | None:
    """Return the files of an item if they are all there, else None.

    The record of an archive has the files of all data sets that were unpacked from it.
    """
    former = records.get(item.origin.url)
    known = former.files if former else item.targets
    by_target = [[path for path in known if _is_below(path, target)] for target in item.targets]
    files = [path for paths in by_target for path in paths]
    return files if all(by_target) and all((folder / path).is_file() for path in files) else None


def _is_below(path: str, target: str) -> bool:
    return path == target or (target.endswith("/") and path.startswith(target))
