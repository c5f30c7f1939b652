"""The download of data sets into the data folder: what is missing, transfer, verification and placement.

A file reaches its place by an atomic rename, after its size and checksum were compared.
"""

import fnmatch
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import pooch

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import HuggingFaceFiles, RemoteArchive, RemoteFile, check_target
from memflow.errors import DownloadFailed
from memflow.resources.data.downloads.archives import unpack
from memflow.resources.data.downloads.transfer import fetch, json_pages
from memflow.resources.files.disks import explained_writes
from memflow.resources.files.local_files import lock_file

HUGGING_FACE = "https://huggingface.co"
WORK = ".memflow"
"""The folder below the data folder with the lock and unfinished downloads."""


@dataclass(frozen=True)
class DownloadItem:
    """A file or archive to download, with its size and checksum as far as they are known."""

    dataset: Dataset
    origin: RemoteFile | RemoteArchive

    @property
    def targets(self) -> tuple[str, ...]:
        """The paths below the data folder that the origin writes; the path of a folder ends with `/`."""
        return (
            (self.origin.path,) if isinstance(self.origin, RemoteFile) else (*self.origin.members.values(),)
        )


@dataclass(frozen=True)
class Downloaded:
    """A downloaded file or archive: its bytes, and the SHA-256 of each file that it brought, by path."""

    item: DownloadItem
    size: int
    files: Mapping[str, str]


def plan_download(
    folder: Path, datasets: Sequence[Dataset], *, force: bool = False
) -> tuple[list[DownloadItem], list[str]]:
    """Return what is missing of data sets (with `force`, everything), and the files and folders that are there.

    Raises DownloadFailed if an origin does not have the files.
    """
    items: dict[tuple[str, tuple[str, ...]], DownloadItem] = {}
    present: list[str] = []
    for item in (item for dataset in datasets for item in _items(dataset)):
        if not force and all((folder / target).exists() for target in item.targets):
            present += item.targets
            continue
        items[item.origin.url, item.targets] = item  # two data sets can share an archive
    return list(items.values()), list(dict.fromkeys(present))


def download(folder: Path, items: Sequence[DownloadItem]) -> Iterator[Downloaded]:
    """Download the items of a plan, verify them, put their files in place, and yield each.

    Another process that downloads into the folder is waited for. Raises DownloadFailed, and StoreFailed if the folder
    cannot be written.
    """
    with explained_writes(folder), lock_file(folder / WORK / "lock"):
        for item in items:
            with tempfile.TemporaryDirectory(dir=folder / WORK) as name:
                yield _download(folder, item, Path(name))


def _download(folder: Path, item: DownloadItem, temporary: Path) -> Downloaded:
    loaded = temporary / "file"
    fetch(item.origin.url, loaded, item.origin.size, item.origin.sha256)
    size = loaded.stat().st_size
    if isinstance(item.origin, RemoteArchive):
        sources = unpack(loaded, item.origin, temporary / "unpacked")
    else:
        sources = {item.origin.path: loaded}
    files: dict[str, str] = {}
    for target, source in sources.items():
        place = folder / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            shutil.rmtree(place)
        source.replace(place)
        paths = [path for path in sorted(place.rglob("*")) if path.is_file()] if place.is_dir() else [place]
        files |= {path.relative_to(folder).as_posix(): pooch.file_hash(path) for path in paths}
    return Downloaded(item, size, files)


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
