"""Folders of models and data that the user has: what is in them, wherever they lie."""

import hashlib
from collections.abc import Sequence
from pathlib import Path


def checksums(folder: Path, names: Sequence[str] | None = None) -> list[list[str]]:
    """The files of a folder, or those of these names, each with its SHA-256."""
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
