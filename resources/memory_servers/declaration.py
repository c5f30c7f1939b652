"""The memory servers of the settings: their declaration for fingerprints, connections to them, and what is stored.

The last answer to `hello` is a file in the home folder, so that planning starts no server. So is the result of
`memflow memories check`: a run needs one that has passed. A result holds for the command and its files, or for 24 hours
for the name and version of a server at an address.
"""

import hashlib
import json
import os
import shlex
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.concurrency import run_coroutine
from memflow.errors import BadSettings
from memflow.fingerprint import digest
from memflow.memories.server.config import ServerConfig
from memflow.memories.server.protocol import Hello
from memflow.memories.user_memories import server_name
from memflow.resources.endpoints.addresses import display_address, reaches_loopback
from memflow.resources.files.checked_json import with_check, without_check
from memflow.resources.files.local_files import replace_file
from memflow.resources.memory_servers.process import ServerCommand, StdioTransport

if TYPE_CHECKING:
    from memflow.resources.memory_servers.check_lines import CheckLine
    from memflow.resources.memory_servers.connection import ServerConnection
    from memflow.resources.model_proxy.access import ModelAccess
    from memflow.resources.settings.own_sections import OwnMemory

FOLDER = "memory_servers"
"""The folder below the home folder: the last answers to `hello`, the logs, and the results of checks."""
SHORTEST_SECRET = 8
"""Characters of a variable's value that is hidden in messages. Shorter ones, such as `true`, are words of messages."""
HOURS_OF_ADDRESS = 24
"""Hours for which a check of a server at an address holds: nothing else shows that the program there changed."""
UNCHECKED = "unchecked"
"""The mark of results of a memory server without a check; also the metadata value of its partitions."""


def declared_server(name: str, own: "OwnMemory", home: Path) -> ServerConfig | None:
    """Return the declaration of a memory of the settings, with its last answer to `hello`; None if it is no server."""
    if not own.is_server:
        return None
    command = ("mcp", *own.command) if own.contract == "mcp" else own.command
    files = (hashlib.sha256(path.read_bytes()).hexdigest() for path in server_command(name, own).files())
    address = own.address if own.url else ""
    return ServerConfig(command, address, own.settings, own.revision, read_hello(name, home), tuple(files))


def server_command(name: str, own: "OwnMemory", given: Mapping[str, str] | None = None) -> ServerCommand:
    """Return the command of a memory of the settings. `given` are variables that memflow sets."""
    return ServerCommand(
        own.command,
        own.folder,
        own.variables,
        "the command" if is_unnamed(name, own) else f"`command` of [memories.{name}]",
        given or {},
    )


def open_server(
    name: str,
    own: "OwnMemory",
    home: Path,
    *,
    log: str = "",
    access: "ModelAccess | None" = None,
    seed: int | None = None,
) -> "ServerConnection":
    """Return a connection to the memory server of a memory of the settings. Its first request starts the server.

    `log` is the name of the log file; by default, the memory's name. `access` has the models that the server may use;
    one on another machine cannot reach them, and does not get the key.
    """
    from memflow.resources.memory_servers.connection import ServerConnection  # noqa: PLC0415  (settings open no server)
    from memflow.resources.memory_servers.mcp_transport import McpTransport  # noqa: PLC0415
    from memflow.resources.memory_servers.transport import HttpTransport, Transport  # noqa: PLC0415

    setting = "its address" if is_unnamed(name, own) else f"`url` of [memories.{name}]"
    command = server_command(name, own, access.variables(own.variables) if access is not None else {})
    path = home / FOLDER / "logs" / f"{log or name}.log"
    if own.contract == "mcp":
        transport: Transport = McpTransport(command, path, own.url, own.key_variable, setting)
    elif own.command:
        transport = StdioTransport(command, path)
    else:
        transport = HttpTransport(own.url, own.key_variable, setting)
    address = display_address(own.address) if own.url else shlex.quote(own.address)
    shown_name = address if is_unnamed(name, own) else name
    return ServerConnection(
        shown_name,
        transport,
        own.timeout,
        settings=own.settings,
        access=access if own.command or reaches_loopback(own.url) else None,
        seed=seed,
        secrets=_secrets(own),
        greeted=lambda hello: write_hello(name, home, hello),
    )


def is_unnamed(name: str, own: "OwnMemory") -> bool:
    """Return whether a server has no section in memflow.toml: its name is that of its address or command, or empty."""
    return name == (server_name(own.address) if own.address else "")


def read_hello(name: str, home: Path) -> Hello | None:
    """Return the last answer to `hello` of a memory's server, or None before its first start."""
    try:
        return Hello.model_validate(without_check(json.loads(_file(name, home).read_bytes())))
    except (OSError, ValueError):  # a damaged file counts as missing
        return None


def write_hello(name: str, home: Path, hello: Hello) -> None:
    """Store the answer to `hello` of a memory's server. Several processes may do so."""
    text = json.dumps(with_check(hello.model_dump(mode="json")), ensure_ascii=True)
    replace_file(_file(name, home), lambda file: file.write(text.encode()))


def store_check(name: str, own: "OwnMemory", home: Path, hello: Hello, lines: "Sequence[CheckLine]") -> None:
    """Store the result of a check. Several processes may do so."""
    wrong = [vars(line) for line in lines if line.verdict == "wrong"]
    text = json.dumps({"of": _key(name, own, home, hello), "at": time.time(), "wrong": wrong})
    replace_file(_file(name, home, "checks"), lambda file: file.write(text.encode()))


def has_passed(name: str, own: "OwnMemory", home: Path, hello: Hello | None) -> bool:
    """Return whether a stored check of a server holds and found no fault. `hello` is its present greeting."""
    try:
        stored = json.loads(_file(name, home, "checks").read_text(encoding="utf-8"))
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


def check_command(name: str, own: "OwnMemory") -> None:
    """Raise BadSettings if the command of a memory cannot be started."""
    command = server_command(name, own)
    command.resolved()
    command.environment()


def greet(name: str, own: "OwnMemory", seconds: float) -> Hello:
    """Return the answer to `hello` of a server at an address. Raises ServerDown or BadSettings."""
    limited = own.model_copy(update={"timeout": own.timeout.model_copy(update={"hello": seconds})})

    async def work() -> Hello:
        with tempfile.TemporaryDirectory() as folder:
            server = open_server(name, limited, Path(folder))
            try:
                return await server.hello()
            finally:
                await server.stop()

    return run_coroutine(work())


def _secrets(own: "OwnMemory") -> dict[str, str]:
    """Return the values of the variables that the server knows, and their names, which replace them in messages."""
    names = [*own.variables, *([own.key_variable] if own.key_variable else [])]
    values = {os.environ.get(name, ""): f"<{name}>" for name in names}
    return {value: name for value, name in values.items() if len(value) >= SHORTEST_SECRET}


def _file(name: str, home: Path, folder: str = "") -> Path:
    return home / FOLDER / folder / f"{name}.json"
