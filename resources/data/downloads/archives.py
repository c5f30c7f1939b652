"""Unpacking of downloaded tar archives: selected regular files only, within limits, and outside no folder.

Files are unpacked into a new folder, and moved to their places only after the whole archive was read without a fault.
"""

import fnmatch
import shutil
import tarfile
import zlib
from lzma import LZMAError
from pathlib import Path

from memflow.benchmarks.origins import RemoteArchive, check_target
from memflow.errors import DownloadFailed

MOST_RATIO, SMALL = 1000, 10_000_000
"""The maximum ratio of unpacked to packed bytes, beyond SMALL; text compresses by 3 to 20, a file of zeros by 1,030."""
FAULTS = (tarfile.TarError, zlib.error, LZMAError, EOFError, ValueError)
"""The errors that the readers of damaged archives raise, besides OSError."""


def unpack(archive: Path, wanted: RemoteArchive, into: Path) -> list[str]:
    """Unpack the wanted members of `archive` below the folder `into`, and return their paths below it.

    Raises DownloadFailed for an archive that is damaged, exceeds a limit, lacks a wanted member, or has a wanted member
    that is no regular file or whose path is absolute or contains `..`. OSError is raised unchanged.
    """
    try:
        sources = _unpack(archive, wanted, into)
    except (*FAULTS, OSError) as wrong:
        # gzip and bz2 report damaged data as OSError without a number; other OSErrors are those of the disk.
        if isinstance(wrong, OSError) and wrong.errno is not None:
            raise
        raise DownloadFailed(
            f"{wanted.url} is not a readable archive ({wrong}). Rerun to download it again."
        ) from wrong
    if missing := [source for source in wanted.members if source not in sources.values()]:
        raise DownloadFailed(
            f"{wanted.url} has no {', '.join(missing)}. The archive at the origin has changed; get the files by hand."
        )
    return list(sources)


def _unpack(archive: Path, wanted: RemoteArchive, into: Path) -> dict[str, str]:
    """Unpack the wanted members. Return their paths, with the keys of `wanted.members`."""
    sources: dict[str, str] = {}
    size, most = 0, min(wanted.most_bytes, max(SMALL, MOST_RATIO * archive.stat().st_size))
    with tarfile.open(archive, "r:*") as members:
        for number, member in enumerate(members, 1):
            source, target = _target(member, wanted)
            size += member.size  # unwanted members are unpacked too
            if number > wanted.most_members or size > most:
                raise DownloadFailed(
                    f"{wanted.url} is larger than its limit of {wanted.most_members:,} members and {most:,} unpacked "
                    f"bytes ({member.name!r}). Do not unpack it."
                )
            if not target:
                continue
            content = members.extractfile(member) if member.isreg() else None
            if target in sources or content is None:
                raise DownloadFailed(
                    f"{wanted.url} has a link, a device or a second member for {target}. Do not unpack it."
                )
            (into / target).parent.mkdir(parents=True, exist_ok=True)
            with content, (into / target).open("xb") as file:
                shutil.copyfileobj(content, file)
            sources[target] = source
    return sources


def _target(member: tarfile.TarInfo, wanted: RemoteArchive) -> tuple[str, str]:
    """Return the key of `wanted.members` for a member, and its path below the data folder; empty if not wanted.

    Raises DownloadFailed for a member with an unsafe name, wanted or not: no honest archive has one.
    """
    name = member.name.removeprefix("./")
    if name in ("", "."):
        return "", ""
    try:
        check_target(name)
    except ValueError as wrong:
        raise DownloadFailed(
            f"{wanted.url} has the member {member.name!r}, whose path leads out of the archive. Do not unpack it."
        ) from wrong
    path = "/".join(name.split("/")[wanted.strip :])
    for source, target in wanted.members.items() if not member.isdir() else ():
        below = path.removeprefix(source) if source.endswith("/") and path.startswith(source) else ""
        if (
            below
            and wanted.patterns
            and not any(fnmatch.fnmatchcase(below, each) for each in wanted.patterns)
        ):
            continue
        if below or path == source:
            return source, f"{target}{below}"
    return "", ""
