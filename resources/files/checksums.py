"""Checksums of folders of model weights and data."""

import hashlib
from collections.abc import Sequence
from pathlib import Path


def checksums(folder: Path, names: Sequence[str] | None = None) -> list[list[str]]:
    """Return [relative path, SHA-256] of the files `names` in a folder (default: of all files), sorted by path."""
    files = (
        (path for path in folder.rglob("*") if path.is_file())
        if names is None
        else map(folder.joinpath, names)
    )
    found = []
    for path in sorted(files):
        with path.open("rb") as file:
            found.append(
                [path.relative_to(folder).as_posix(), hashlib.file_digest(file, "sha256").hexdigest()]
            )
    return found
