"""Unpacking of downloaded tar archives: selected files within limits. tarfile's filter `data` refuses unsafe members.

Files are unpacked into a new folder, and moved to their places only after the whole archive was read without a fault.
"""

import fnmatch
import tarfile
import zlib
from collections.abc import Iterator
from lzma import LZMAError
from pathlib import Path

from memflow.benchmarks.origins import RemoteArchive
from memflow.errors import DownloadFailed

MOST_RATIO, SMALL = 1000, 10_000_000
"""The maximum ratio of unpacked to packed bytes, beyond SMALL; text compresses by 3 to 20, a file of zeros by 1,030."""
FAULTS = (tarfile.TarError, zlib.error, LZMAError, EOFError, ValueError)
"""The errors that the readers of damaged archives raise, besides OSError."""


def unpack(archive: Path, wanted: RemoteArchive, into: Path) -> dict[str, Path]:
    """Unpack the wanted members of `archive` into a folder. Return the unpacked file or folder of each target.

    Raises DownloadFailed for an archive that is damaged, exceeds a limit, lacks a wanted member, or has a wanted member
    that is a device or leads out of the archive. OSError is raised unchanged.
    """
    try:
        with tarfile.open(archive, "r:*") as members:
            most = min(wanted.most_bytes, max(SMALL, MOST_RATIO * archive.stat().st_size))
            members.extractall(into, _wanted(members, wanted, most), filter="data")
    except tarfile.FilterError as wrong:
        raise DownloadFailed(f"{wanted.url} has an unsafe member: {wrong}. Do not unpack it.") from wrong
    except (*FAULTS, OSError) as wrong:
        # gzip and bz2 report damaged data as OSError without a number; other OSErrors are those of the disk.
        if isinstance(wrong, OSError) and wrong.errno is not None:
            raise
        raise DownloadFailed(
            f"{wanted.url} is not a readable archive ({wrong}). Rerun to download it again."
        ) from wrong
    if missing := [source for source in wanted.members if not (into / source).exists()]:
        raise DownloadFailed(
            f"{wanted.url} has no {', '.join(missing)}. The archive at the origin has changed; get the files by hand."
        )
    return {target: into / source for source, target in wanted.members.items()}


def _wanted(members: tarfile.TarFile, wanted: RemoteArchive, most: int) -> Iterator[tarfile.TarInfo]:
    """Yield the wanted members under their names without `strip` components. Raises DownloadFailed above a limit."""
    size = 0
    for number, member in enumerate(members, 1):
        size += member.size  # unwanted members are unpacked too
        if number > wanted.most_members or size > most:
            raise DownloadFailed(
                f"{wanted.url} is larger than its limit of {wanted.most_members:,} members and {most:,} unpacked "
                f"bytes ({member.name!r}). Do not unpack it."
            )
        path = "/".join(member.name.removeprefix("./").split("/")[wanted.strip :])
        if not member.isdir() and any(_matches(path, source, wanted.patterns) for source in wanted.members):
            yield member.replace(name=path, deep=False)


def _matches(path: str, source: str, patterns: tuple[str, ...]) -> bool:
    if not source.endswith("/"):
        return path == source
    below = path.removeprefix(source)
    return below != path and (not patterns or any(fnmatch.fnmatchcase(below, each) for each in patterns))
