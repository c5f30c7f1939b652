"""Context windows of models: what servers state in their list of models and in refusals, and the record of the home.

The results of a run do not depend on whether a server answers at the moment: the fingerprints of what a window changes
are computed from the record and from memflow.toml alone.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from memflow.concurrency import run_coroutine
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import BrokenReply
from memflow.resources.endpoints.tables import WIRE_WORDS
from memflow.resources.files.local_files import lock_file, replace_file

FILE = "windows.json"
"""The file in the home: tokens by address and model."""
LEAST_WINDOW, MOST_WINDOW = 128, 1 << 30
"""Smaller and larger numbers are no context windows."""
_Learned = TypeAdapter(dict[str, int])


def window_in_error(details: str) -> int | None:
    """Return the window that the text of an error response states for a prompt that is too long; None without one."""
    for pattern in WIRE_WORDS["stated_windows"]:
        match = re.search(pattern, details, re.IGNORECASE)
        if match and (window := _plausible(int(match[1].replace(",", "") or 0))):
            return window
    return None


def read_models(content: bytes) -> dict[str, int | None]:
    """Return the window in tokens, or None, of each model of a list, by id. Raises BrokenReply for another response."""
    try:
        return {model.get("id", ""): _listed_window(model) for model in from_json(content)["data"]}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BrokenReply("the response is no list of models") from error


def served_models(url: str, key_variable: str, profile: Profile, seconds: float) -> dict[str, int | None]:
    """Return the windows (as `read_models`) at an address. Raises ChatError if it does not answer within `seconds`."""

    async def models() -> dict[str, int | None]:
        async with Endpoint(url, key_variable, profile, timeout=seconds, tries=1) as endpoint:
            served, _ = await endpoint.send("/models", read_models)
        return served

    return run_coroutine(models())


def window_of(model: str, served: Mapping[str, int | None]) -> int | None:
    """Return the window of a model in a server's list, or of its only model; None if the list states none."""
    return next(iter(served.values())) if len(served) == 1 else served.get(model)


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


def _listed_window(model: Mapping[str, Any]) -> int | None:
    """Return the window of a model in a list; llama.cpp states it among further data."""
    further = model.get("meta") or {}
    stated = [*(model.get(name) for name in WIRE_WORDS["listed_windows"]), further.get("n_ctx")]
    return _plausible(next(filter(None, stated), None))


def _plausible(tokens: Any) -> int | None:
    """Return a number of tokens that may be a context window, or None."""
    return tokens if isinstance(tokens, int) and LEAST_WINDOW <= tokens <= MOST_WINDOW else None
