"""The default data folder: the folder of the platform for the data of a user's programs."""

import os
import sys
from pathlib import Path


def default_data_folder() -> Path:
    """Return `memflow` below the user's data folder: that of XDG, or `Library/Application Support` on macOS.

    A relative XDG_DATA_HOME is ignored, as the XDG specification requires. Without a home folder, such as in a
    container, the folder is `memflow-data` in the working directory.
    """
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    if named.is_absolute():
        return named / "memflow"
    try:
        home = Path.home()
    except RuntimeError:
        return Path("memflow-data")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "memflow"
    return home / ".local" / "share" / "memflow"
