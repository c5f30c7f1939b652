"""Origins of data sets: the addresses of published files and archives, which `memflow data get` downloads on request.

A benchmark declares them as `Dataset.download`. resources/data/downloads/ downloads the files.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

GIGABYTE = 1_000_000_000
_RELATIVE = re.compile(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|$))[^\\\x00]+")


@dataclass(frozen=True)
class RemoteFile:
    """A published file, and its path below the data folder."""

    url: str
    path: str
    sha256: str = ""
    """The SHA-256 of the published file; empty if it is not known. `Dataset.sums` can give it as well."""
    size: int | None = None
    """The size in bytes; None if it is not known before the download."""

    def __post_init__(self) -> None:
        check_target(self.path)


@dataclass(frozen=True)
class RemoteArchive:
    """A published tar archive, of which some members are unpacked.

    `members` maps the path of a file or folder in the archive to a path below the data folder. A folder ends with `/`.
    The first `strip` components of member names are ignored, such as `repository-commit/` in archives of GitHub.
    """

    url: str
    members: Mapping[str, str]
    sha256: str = ""
    size: int | None = None
    strip: int = 0
    patterns: tuple[str, ...] = ()
    """Patterns of the paths to unpack, below their folder; `*` also matches `/`. Empty for all."""
    most_bytes: int = 4 * GIGABYTE
    """The maximum total size of the unpacked members."""
    most_members: int = 100_000
    """The maximum number of members of the archive."""

    def __post_init__(self) -> None:
        for source, target in self.members.items():
            check_target(source)
            check_target(target)
            if source.endswith("/") != target.endswith("/"):
                raise ValueError(
                    f"{source!r} and {target!r} are not both folders. End both with `/`, or neither."
                )


@dataclass(frozen=True)
class HuggingFaceFiles:
    """The files of a Hugging Face data set whose paths match a pattern. The API lists their sizes and checksums."""

    repository: str
    """The name with its owner, such as `THUIR/MemoryBench`."""
    folder: str
    """The folder below the data folder, which gets the files under their paths in the repository."""
    patterns: tuple[str, ...] = ("*",)
    """Patterns of paths, in which `*` also matches `/`."""
    revision: str = "main"

    def __post_init__(self) -> None:
        check_target(self.folder)


Origin = RemoteFile | RemoteArchive | HuggingFaceFiles


@dataclass(frozen=True)
class Download:
    """How `memflow data get` downloads a data set."""

    page: str
    """The web page of the data set, with its license and terms."""
    origins: tuple[Origin, ...]
    terms: str = ""
    """What a user has to know before the download, besides the license; empty for nothing."""


def check_target(path: str) -> None:
    """Raise ValueError if a path is not relative, or leads out of its folder."""
    if not _RELATIVE.fullmatch(path):
        raise ValueError(
            f"the path {path!r} is absolute or contains `.` or `..`. Use a path below the data folder."
        )
