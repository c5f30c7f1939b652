"""Unpacking of downloaded zip and tar archives: selected regular files only, within limits, and outside no folder.

Files are unpacked into a new folder, and moved to their places only after the whole archive was read without a fault.
"""

import fnmatch
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path
from typing import IO

from memflow.benchmarks.origins import RemoteArchive, check_target
from memflow.errors import DownloadFailed

CHUNK = 1 << 20
MOST_RATIO = 1000
"""The maximum ratio of unpacked to packed bytes beyond SMALL; text compresses by 3 to 20, a file of zeros by 1,030."""
FAULTS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    LZMAError,
    EOFError,
    RuntimeError,  # an encrypted zip
    NotImplementedError,  # an unknown compression
    ValueError,  # a name in another encoding
)
"""The errors that the readers of damaged archives raise, besides OSError."""
SMALL = 10_000_000
"""Unpacked bytes that are always allowed."""
UNWANTED_RATIO = 100
"""The maximum ratio of the bytes of unwanted tar members, which are unpacked to skip them, to packed bytes."""


@dataclass(frozen=True)
class _Member:
    """A member of an archive. `skipped` is the number of bytes that are unpacked if the member is not wanted."""

    name: str
    regular: bool
    folder: bool
    skipped: int
    open: Callable[[], IO[bytes] | None]


def unpack(archive: Path, wanted: RemoteArchive, into: Path) -> list[str]:
    """Unpack the wanted members of `archive` below the folder `into`, and return their paths below it.

    Raises DownloadFailed for an archive that is damaged, exceeds a limit, lacks a wanted member, or has a wanted member
    that is no regular file or whose path is absolute or contains `..`. OSError is raised unchanged.
    """
    found: list[str] = []
    seen: set[str] = set()
    served: set[str] = set()
    packed = archive.stat().st_size
    written, most = 0, min(wanted.most_bytes, max(SMALL, MOST_RATIO * packed))
    skipped, most_skipped = 0, max(SMALL, UNWANTED_RATIO * packed)
    with _faults(wanted.url), _members(archive) as members:
        for number, member in enumerate(members, 1):
            if number > wanted.most_members:
                raise DownloadFailed(
                    f"{wanted.url} has more than {wanted.most_members:,} members. Do not unpack it."
                )
            source, target = _target(member, wanted)
            if not target:
                skipped += member.skipped
                if skipped > most_skipped:
                    raise DownloadFailed(
                        f"{wanted.url} has unwanted members of more than {most_skipped:,} bytes ({member.name!r} is "
                        "too large). Do not unpack it."
                    )
                continue
            if target in seen:
                raise DownloadFailed(f"{wanted.url} has two members for {target}. Do not unpack it.")
            path = into / target
            path.parent.mkdir(parents=True, exist_ok=True)
            written += _copy(member, path, most - written, wanted.url)
            seen.add(target)
            served.add(source)
            found.append(target)
    missing = [source for source in wanted.members if source not in served]
    if missing:
        raise DownloadFailed(
            f"{wanted.url} has no {', '.join(missing)}. The archive at the origin has changed; get the files by hand."
        )
    return found


def _target(member: _Member, wanted: RemoteArchive) -> tuple[str, str]:
    """Return the key of `wanted.members` for a member, and its path below the data folder; empty if not wanted.

    Raises DownloadFailed for a member with an unsafe name, wanted or not: no honest archive has one.
    """
    name = member.name.removeprefix("./")
    if not name or name == ".":
        return "", ""
    try:
        check_target(name)
    except ValueError as wrong:
        raise DownloadFailed(
            f"{wanted.url} has the member {member.name!r}, whose path leads out of the archive. Do not unpack it."
        ) from wrong
    parts = name.split("/")[wanted.strip :]
    path = "/".join(parts)
    if member.folder or not path:
        return "", ""
    for source, target in wanted.members.items():
        if source.endswith("/") and path.startswith(source):
            below = path.removeprefix(source)
            if wanted.patterns and not any(fnmatch.fnmatchcase(below, each) for each in wanted.patterns):
                continue
            path_below = f"{target}{below}"
        elif path == source:
            path_below = target
        else:
            continue
        if not member.regular:
            raise DownloadFailed(
                f"{wanted.url}: the member {member.name!r} is a link or a device, not a file. Do not unpack it."
            )
        return source, path_below
    return "", ""


def _copy(member: _Member, path: Path, room: int, url: str) -> int:
    """Write a member to a new file and return its size. Raises DownloadFailed if it has more than `room` bytes."""
    source = member.open()
    if source is None:
        raise DownloadFailed(f"{url}: the member {member.name!r} has no content. Do not unpack it.")
    size = 0
    with source, path.open("xb") as file:
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > room:
                raise DownloadFailed(
                    f"{url}: unpacked, it is larger than its limit ({member.name!r} is too large). Do not unpack it."
                )
            file.write(chunk)
    return size


@contextmanager
def _faults(url: str) -> Iterator[None]:
    """Raise the errors of a damaged archive as DownloadFailed."""
    try:
        yield
    except (*FAULTS, OSError) as wrong:
        # gzip and bz2 report damaged data as OSError without a number; other OSErrors are those of the disk.
        if isinstance(wrong, OSError) and wrong.errno is not None:
            raise
        raise DownloadFailed(
            f"{url} is not a readable archive ({wrong}). Rerun to download it again."
        ) from wrong


@contextmanager
def _members(archive: Path) -> Iterator[Iterator[_Member]]:
    """Yield the members of a zip or tar archive, in order. Raises tarfile.TarError if it is neither."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            yield (_of_zip(packed, info) for info in packed.infolist())
        return
    with tarfile.open(archive, "r:*") as tar:
        yield (_of_tar(tar, info) for info in tar)


def _of_zip(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    mode = info.external_attr >> 16
    regular = not info.is_dir() and (stat.S_IFMT(mode) in (0, stat.S_IFREG))
    # `orig_filename` has the name before the library changes separators, and before a null byte ends it.
    return _Member(info.orig_filename, regular, info.is_dir(), 0, lambda: packed.open(info))


def _of_tar(tar: tarfile.TarFile, info: tarfile.TarInfo) -> _Member:
    return _Member(info.name, info.isreg(), info.isdir(), info.size, lambda: tar.extractfile(info))
