"""Context windows of models: what a server states when it refuses a prompt, and the record of known windows.

A learned window stands in a file of the home. So the results of a run do not depend on whether a server answers at the
moment: the fingerprints of what a window changes are computed from the file and from memflow.toml alone.
"""

import json
import re
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from memflow.resources.endpoints.model_list import plausible_window
from memflow.resources.endpoints.wire_words import WIRE_WORDS
from memflow.resources.files.local_files import lock_file, replace_file

FILE = "windows.json"
"""The file in the home: tokens by address and model."""
_STATED = tuple(re.compile(pattern, re.IGNORECASE) for pattern in WIRE_WORDS["stated_windows"])
_Learned = TypeAdapter(dict[str, int])


def window_in_error(details: str) -> int | None:
    """Return the window that the text of an error response states for a prompt that is too long; None without one."""
    for pattern in _STATED:
        match = pattern.search(details)
        if match and (window := plausible_window(int(match[1].replace(",", "") or 0))):
            return window
    return None


def learned_window(home: Path, url: str, model: str) -> int | None:
    """Return the recorded window of a model at an address; None if it is unknown."""
    return _read(home).get(f"{url} {model}")


def record_window(home: Path, url: str, model: str, window: int) -> bool:
    """Record the window of a model at an address. Return whether it is news. Raises StoreFailed."""
    if learned_window(home, url, model) == window:
        return False
    with lock_file(home / f".{FILE}.lock"):
        learned = {**_read(home), f"{url} {model}": window}
        text = json.dumps(learned, indent=1, sort_keys=True)
        replace_file(home / FILE, lambda file: file.write(text.encode()))
    return True


def _read(home: Path) -> dict[str, int]:
    try:
        return _Learned.validate_json((home / FILE).read_bytes())
    except (OSError, ValidationError):
        return {}  # it is learned again
