"""The record of the spaces that a run has on an HTTP memory server, so that the next run deletes those of a killed one.

Each connection has a file, which it locks. The kernel releases the lock when the process ends. A file without a lock
lists the spaces that were left on the server.
"""

import json
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO

SUFFIX = ".jsonl"


class SpaceRecord:
    """The spaces of one connection to the server at an address, in a file below `folder`. Close it after use."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder / sha256(url.encode()).hexdigest()[:16]
        self._names: set[str] = set()
        self._path: Path | None = None
        self._file: IO[str] | None = None

    def add(self, name: str) -> None:
        """Record a space, before the server receives it."""
        if name not in self._names:
            self._names.add(name)
            print(json.dumps(name), file=self._opened(), flush=True)

    def remove(self, name: str) -> None:
        """Forget a space that is deleted. The file still lists it, since deleting it again does no harm."""
        self._names.discard(name)

    def close(self) -> None:
        """Release the file. Delete it if all spaces are deleted; else the next run deletes them."""
        if self._file is not None and self._path is not None:
            if not self._names:
                self._path.unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def adopt_leftovers(self) -> list[str]:
        """Return the spaces of connections that ended without deleting them, and record them as own ones."""
        names = list[str]()
        for path in self.folder.glob(f"*{SUFFIX}"):
            with suppress(OSError), path.open("r+", encoding="utf-8") as file:
                # OSError: its connection is open, or another process deletes it.
                flock(file, LOCK_EX | LOCK_NB)
                for line in file:
                    with suppress(ValueError):  # a line that was cut
                        names.append(json.loads(line))
                        self.add(names[-1])
                path.unlink(missing_ok=True)
        return names

    def _opened(self) -> IO[str]:
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = self.folder / f".{token_hex(8)}"
            self._file = new.open("x", encoding="utf-8")
            flock(self._file, LOCK_EX)
            self._path = new.rename(new.with_name(f"{new.name[1:]}{SUFFIX}"))
        return self._file
