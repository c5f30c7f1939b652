"""The files that a download would write: addresses, targets, sizes and checksums, before anything is downloaded.

Sizes that are not declared are asked of the server. Hugging Face lists the files of a data set.
"""

import fnmatch
import json
import os
from dataclasses import dataclass, replace
from urllib.parse import quote

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.origins import HuggingFaceFiles, Origin, RemoteArchive, RemoteFile, check_target
from memflow.errors import DownloadFailed
from resources.data.downloads.transfer import Transfer

HUGGING_FACE = "https://huggingface.co"
MOST_PAGES = 100


@dataclass(frozen=True)
class ListedOrigin:
    """A file or archive to download, with its size and checksum as far as they are known."""

    dataset: Dataset
    origin: RemoteFile | RemoteArchive
    size: int | None
    sha256: str

    @property
    def targets(self) -> tuple[str, ...]:
        """The paths below the data folder that the origin writes: a file, or the members of an archive."""
        return (
            (self.origin.path,) if isinstance(self.origin, RemoteFile) else (*self.origin.members.values(),)
        )


async def list_origins(transfer: Transfer, dataset: Dataset) -> list[ListedOrigin]:
    """Return what a data set's download consists of, with the sizes that servers report.

    Raises DownloadFailed if a server cannot be reached, or has no such file.
    """
    if dataset.download is None:
        raise DownloadFailed(f"memflow cannot download {dataset.name}. {dataset.how}")
    found = [each for origin in dataset.download.origins for each in await _files(transfer, origin)]
    listed = []
    for origin in found:
        sha256 = origin.sha256
        if isinstance(origin, RemoteFile):
            sha256 = sha256 or dataset.sums.get(origin.path, "")
        size = origin.size
        if size is None:
            remote = await transfer.size(origin.url)
            size, sha256 = remote.size, sha256 or remote.sha256
        listed.append(ListedOrigin(dataset, origin, size, sha256.lower()))
    return listed


def with_endpoint(url: str) -> str:
    """Return an address of Hugging Face at the endpoint in HF_ENDPOINT, the variable that its own tools use."""
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/")
    return url.replace(HUGGING_FACE, endpoint, 1) if endpoint and url.startswith(f"{HUGGING_FACE}/") else url


async def _files(transfer: Transfer, origin: Origin) -> list[RemoteFile | RemoteArchive]:
    if not isinstance(origin, HuggingFaceFiles):
        return [replace(origin, url=with_endpoint(origin.url))]
    page = with_endpoint(
        f"{HUGGING_FACE}/api/datasets/{origin.repository}/tree/{quote(origin.revision, safe='')}?recursive=true"
    )
    first = page
    found: list[RemoteFile | RemoteArchive] = []
    for _ in range(MOST_PAGES):
        text, following = await transfer.text(page)
        found += _listed_files(origin, text, first)
        if not following:
            break
        page = following
    if not found:
        raise DownloadFailed(
            f"{origin.repository} has no file that matches {', '.join(origin.patterns)}. The data set has changed; "
            "report this to memflow."
        )
    return found


def _listed_files(origin: HuggingFaceFiles, text: str, url: str) -> list[RemoteFile]:
    """Return the files of a page of the listing. `lfs.oid` is the SHA-256 of a large file."""
    try:
        entries = json.loads(text)
        files = [
            each for each in entries if each["type"] == "file" and _matches(each["path"], origin.patterns)
        ]
        for each in files:
            check_target(each["path"])
        return [
            RemoteFile(
                with_endpoint(
                    f"{HUGGING_FACE}/datasets/{origin.repository}/resolve/{origin.revision}/{quote(each['path'])}"
                ),
                f"{origin.folder}/{each['path']}",
                str((each.get("lfs") or {}).get("oid", "")),
                int(each["size"]),
            )
            for each in files
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        raise DownloadFailed(
            f"{url}: the list of files has an unknown form ({wrong}). Try again later."
        ) from wrong


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)
