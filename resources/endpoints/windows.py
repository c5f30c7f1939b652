"""Context windows of models: what a server states, in its list of models or when it refuses a prompt, and their record.

A learned window stands in a file of the home. So the results of a run do not depend on whether a server answers at the
moment: the fingerprints of what a window changes are computed from the file and from memflow.toml alone.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from memflow.concurrency import run_coroutine
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import BrokenReply
from memflow.resources.files.local_files import lock_file, replace_file

FILE = "windows.json"
"""The file in the home: tokens by address and model."""
LEAST, MOST = 128, 1 << 30
"""Smaller and larger numbers are no context windows."""
_STATED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r'"n_ctx":\s*(\d+)',  # llama.cpp
        r"([\d,]+) maximum",  # Anthropic, Mistral
        r"max(?:imum)? (?:context|model|sequence) length\D{0,20}([\d,]+)",  # vLLM, OpenAI, DeepSeek
        r"context (?:length|size|window)\D{0,20}([\d,]+)",  # llama.cpp, SGLang
        r"(?:tokens allowed|must be <=|token limit|exceeds the maximum)\D{0,5}([\d,]+)",  # Gemini, TGI, Moonshot
    )
)
_Learned = TypeAdapter(dict[str, int])


class _Meta(BaseModel):
    n_ctx: int | None = None


class _ListedWindow(BaseModel):
    """A model in a list: vLLM and SGLang; OpenRouter and Together; Groq; Mistral; llama.cpp."""

    id: str = ""
    max_model_len: int | None = None
    context_length: int | None = None
    context_window: int | None = None
    max_context_length: int | None = None
    meta: _Meta | None = None

    @property
    def window(self) -> int | None:
        numbers = (self.max_model_len, self.context_length, self.context_window, self.max_context_length)
        return _plausible(next(filter(None, numbers), None if self.meta is None else self.meta.n_ctx))


class _WindowList(BaseModel):
    data: list[_ListedWindow] = Field(max_length=100_000)


def window_in_list(content: bytes, model: str) -> int | None:
    """Return the window of a model in a server's list of models, or of its only model; None if the list states none.

    Raises BrokenReply if the response is no such list.
    """
    try:
        listed = _WindowList.model_validate_json(content).data
    except ValidationError as error:
        raise BrokenReply("the response is no list of models") from error
    own = [entry for entry in listed if entry.id == model] or (listed if len(listed) == 1 else [])
    return own[0].window if own else None


def window_in_error(details: str) -> int | None:
    """Return the window that the text of an error response states for a prompt that is too long; None without one."""
    for pattern in _STATED:
        if (match := pattern.search(details)) and (window := _plausible(int(match[1].replace(",", "") or 0))):
            return window
    return None


def stated_window(url: str, model: str, key_variable: str, profile: Profile, seconds: float) -> int | None:
    """Return the window that a server's list of models states. Raises ChatError if it does not answer in time."""
    endpoint = Endpoint(url, key_variable, profile, timeout=seconds, tries=1)

    async def window() -> int | None:
        async with endpoint:
            return await endpoint.get("/models", lambda content: window_in_list(content, model))

    return run_coroutine(window())


def learned_window(home: Path, url: str, model: str) -> int | None:
    """Return the recorded window of a model at an address; None if it is unknown."""
    try:
        modified = (home / FILE).stat().st_mtime_ns
    except OSError:
        return None
    return _learned(home, modified).get(_key(url, model))


def record_window(home: Path, url: str, model: str, window: int) -> bool:
    """Record the window of a model at an address. Return whether it is news. Raises StoreFailed."""
    if learned_window(home, url, model) == window:
        return False
    with lock_file(home / f".{FILE}.lock"):
        learned = {**_read(home), _key(url, model): window}
        text = json.dumps(learned, indent=1, sort_keys=True)
        replace_file(home / FILE, lambda file: file.write(text.encode()))
    return True


def _plausible(window: int | None) -> int | None:
    return window if window is not None and LEAST <= window <= MOST else None


def _key(url: str, model: str) -> str:
    return f"{url} {model}"


@lru_cache(maxsize=8)
def _learned(home: Path, modified: int) -> Mapping[str, int]:
    return _read(home)


def _read(home: Path) -> dict[str, int]:
    try:
        return _Learned.validate_json((home / FILE).read_bytes())
    except (OSError, ValidationError):
        return {}  # it is learned again
