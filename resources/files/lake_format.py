"""The format of a lake in a folder: a small file in it, so that a home of another version of memflow is refused.

The first write to an empty lake creates the file. The settings check it, which every command and Dagster read first.
"""

from pathlib import Path

from memflow.errors import BadSettings
from memflow.resources.files.local_files import replace_file

FORMAT_FILE = ".format"
FORMAT = b"memflow lake 1\n"
"""The content of the file. Change the number with whatever makes older files unreadable."""


class OtherVersion(BadSettings):
    """The exception for a home that another version of memflow wrote."""


def mark_lake(folder: Path) -> None:
    """Write the format of a lake that has none yet."""
    if not (folder / FORMAT_FILE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / FORMAT_FILE, lambda file: file.write(FORMAT))


def check_format(home: Path, lake: Path) -> None:
    """Raise OtherVersion if a lake has tables and another format than this version's, or none.

    Raises BadSettings for a path that SQLAlchemy and DuckDB, which read `?` as the start of parameters, cannot open.
    """
    if "?" in str(home):
        raise BadSettings(f"the home {home} contains `?`. Choose a path without it with `home` or --home.")
    try:
        if (lake / FORMAT_FILE).read_bytes() == FORMAT:
            return
    except OSError:
        if not lake.is_dir() or all(path.name.startswith(".") for path in lake.iterdir()):
            return
    raise OtherVersion(
        f"the home {home} was written by another version of memflow. To start over, choose another `home` in "
        "memflow.toml or with --home, or move the folder away."
    )
