"""A cache on disk of small values of files, valid while a file's modification time, size and inode do not change."""

import json
import os
import secrets
import stat
import threading
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

RACY_NS = 2_000_000_000
"""A file modified less than this before is not cached: it may change again within the same modification time."""
SPARE_LINES = 1000
"""Outdated lines that the file may have, beyond one for each valid line, before it is rewritten."""


class FileState(NamedTuple):
    """The state of a file: modification time, size and inode."""

    mtime_ns: int
    size: int
    inode: int

    @classmethod
    def of(cls, seen: os.stat_result) -> "FileState | None":
        """Return the state of a regular file; None if the path is not a regular file."""
        return cls(seen.st_mtime_ns, seen.st_size, seen.st_ino) if stat.S_ISREG(seen.st_mode) else None


class FileCache:
    """A cache on disk of values by path and file state. The cache file `path` is created on first use.

    Any number of processes append lines with path, state, value and a checksum. Damaged lines are ignored.

    Paths below `root` are stored relative to `root`, so the cache stays valid if the folder is moved together with it.
    """

    def __init__(self, path: str | Path, root: str | Path = "/") -> None:
        self.path = Path(path)
        self.root = f"{str(root).rstrip('/')}/"
        self._values: dict[str, tuple[FileState, Any]] = {}
        self._lines: dict[str, str] | None = None
        self._lock = threading.Lock()

    def get(self, path: str, state: FileState | None) -> Any:
        """Return the value cached for a file with this size and modification time; None if no value is cached."""
        if state is None:
            return None
        held = self._values.get(path)
        if held is None:
            if self._lines is None:
                self._load()
            line = (self._lines or {}).pop(self._key(path), None)
            held = None if line is None else _parsed(line)
            if held is not None:
                self._values[path] = held
        return held[1] if held is not None and held[0] == state else None

    def put(self, path: str, state: FileState | None, value: Any) -> None:
        """Cache a value computed from a file. `state` must be the file's state before it was read."""
        if state is None or time.time_ns() - state.mtime_ns < RACY_NS:
            return
        self._values[path] = (state, value)
        line = _line(self._key(path), state, value)
        with suppress(OSError):
            # A missing home is not created.
            self.path.parent.mkdir(exist_ok=True)
            # One write appends one line atomically. The first line break ends a line that a killed process left open.
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(file, f"\n{line}\n".encode())
            finally:
                os.close(file)

    def _key(self, path: str) -> str:
        """Return the path as JSON text, which contains no tabs or line breaks."""
        return json.dumps(path.removeprefix(self.root))

    def _load(self) -> None:
        """Read the cache file. If many lines are outdated, rewrite it with the last one of each file."""
        with self._lock:
            if self._lines is not None:
                return
            found: dict[str, str] = {}
            number = 0
            try:
                text = self.path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = ""
            for line in text.split("\n"):
                parts = line.split("\t", 2)
                if len(parts) == 3:
                    number += 1
                    found[parts[1]] = line
            if number > 2 * len(found) + SPARE_LINES:
                self._rewrite(found)
            self._lines = found

    def _rewrite(self, found: dict[str, str]) -> None:
        written = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}.writing")
        try:
            written.write_text("".join(f"{line}\n" for line in found.values()), encoding="utf-8")
            written.replace(self.path)
        except OSError:
            with suppress(OSError):
                written.unlink()


def _line(key: str, state: FileState, value: Any) -> str:
    content = f"{key}\t{json.dumps(state)}\t{json.dumps(value)}"
    return f"{zlib.crc32(content.encode()):08x}\t{content}"


def _parsed(line: str) -> tuple[FileState, Any] | None:
    """Return the file state and value that a line of the cache file contains; None for a damaged line."""
    checksum, _, content = line.partition("\t")
    if checksum != f"{zlib.crc32(content.encode()):08x}":
        return None
    try:
        _, state, value = content.split("\t")
        return FileState(*json.loads(state)), json.loads(value)
    except (TypeError, ValueError):
        return None
