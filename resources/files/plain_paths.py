"""Paths without a question mark, for libraries that read one as the start of URL parameters.

SQLAlchemy's SQLite URLs, which Dagster builds from paths, and DuckDB do so, and would open another file.
"""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from memflow.errors import BadSettings


def plain_path(folder: Path) -> Path:
    """Return a path of a folder without `?`: the folder itself, or one through a link in the temporary folder.

    The symbolic link replaces the path's beginning up to the last name with `?`, which is created if it is missing. All
    processes of a user get the same link. Raises BadSettings if another user has created it.
    """
    if "?" not in str(folder):
        return folder
    parts = folder.absolute().parts
    last = max(number for number, part in enumerate(parts) if "?" in part) + 1
    target = Path(*parts[:last])
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:16]
    links = Path(tempfile.gettempdir()) / f"memflow-links-{os.getuid()}"
    links.mkdir(mode=0o700, exist_ok=True)
    if links.is_symlink() or links.stat().st_uid != os.getuid():
        raise BadSettings(
            f"{links} belongs to another user. memflow needs it for {folder}, whose path contains `?`. Set TMPDIR to a "
            "folder of your own, or choose a path without `?`."
        )
    with suppress(OSError):  # a later write explains it
        target.mkdir(parents=True, exist_ok=True)
    link = links / name
    with suppress(FileExistsError):
        link.symlink_to(target)
    return link.joinpath(*parts[last:])
