"""The stored results of `memflow memories check` of memory servers: a run needs one that has passed.

A result holds for the command and its files, or for 24 hours for the name and version of a server at an address.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.errors import BadSettings
from memflow.fingerprint import digest
from memflow.memories.server.protocol import Hello
from memflow.resources.files.local_files import replace_file
from memflow.resources.memory_servers.check_lines import CheckLine
from memflow.resources.memory_servers.declaration import FOLDER, declared_server

if TYPE_CHECKING:
    from memflow.resources.settings.own_sections import OwnMemory

HOURS_OF_ADDRESS = 24
"""Hours for which a check of a server at an address holds: nothing else shows that the program there changed."""
UNCHECKED = "unchecked"
"""The mark of results of a memory server without a check; also the metadata value of its partitions."""


def store_check(name: str, own: "OwnMemory", home: Path, hello: Hello, lines: Sequence[CheckLine]) -> None:
    """Store the result of a check. Several processes may do so."""
    wrong = [vars(line) for line in lines if line.verdict == "wrong"]
    text = json.dumps({"of": _key(name, own, home, hello), "at": time.time(), "wrong": wrong})
    replace_file(_file(name, home), lambda file: file.write(text.encode()))


def has_passed(name: str, own: "OwnMemory", home: Path, hello: Hello | None) -> bool:
    """Return whether a stored check of a server holds and found no fault. `hello` is its present greeting."""
    try:
        stored = json.loads(_file(name, home).read_text(encoding="utf-8"))
        is_recent = bool(own.command) or time.time() - float(stored["at"]) < HOURS_OF_ADDRESS * 3600
        return is_recent and stored["of"] == _key(name, own, home, hello) and not stored["wrong"]
    except (OSError, ValueError, KeyError, TypeError):  # a damaged file counts as missing
        return False


def require_check(name: str, own: "OwnMemory", home: Path, hello: Hello) -> None:
    """Raise BadSettings if a memory server has no passed check, and the settings do not skip it."""
    if not own.unchecked and not has_passed(name, own, home, hello):
        raise BadSettings(
            f"the memory server {name} has no passed check, or changed since then. Run `memflow memories check "
            f"{name}` and fix what it finds, or set `unchecked = true` in [memories.{name}]."
        )


def _key(name: str, own: "OwnMemory", home: Path, hello: Hello | None) -> str:
    """Return the digest of what a check holds for."""
    server = declared_server(name, own, home)
    assert server is not None, "only memory servers are checked"
    greeting = None if own.command or hello is None else [hello.name, hello.version]
    return digest(server.key(), greeting)


def _file(name: str, home: Path) -> Path:
    return home / FOLDER / "checks" / f"{name}.json"
