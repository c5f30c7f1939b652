"""Memories on the command line: by name, by the import path of a class, or by the address of a memory server.

An address is http://..., mcp:COMMAND (an MCP server that memflow starts) or mcp:http://... (one that runs).

A memory that is given by an import path or an address has a name that is derived from it.
"""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memflow.errors import BadSettings

MCP_KEY_VARIABLE = "MCP_API_KEY"
"""The environment variable with the key of an MCP server that is named on the command line."""

if TYPE_CHECKING:
    from memflow.operations.front import Front
    from memflow.resources.settings.settings import Settings


def with_own_memories(front: "Front", named: Sequence[str]) -> tuple["Settings", list[str]]:
    """Return the settings with the import paths and addresses among memories or assistants, and the names of all.

    Raises BadSettings for an invalid import path or address, and for two classes with the same name.
    """
    own = own_memories(front.load(), named)
    return front.load(**({"memories": own} if own else {})), [assistant_name(name) for name in named]


def own_memories(settings: "Settings", named: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the setting `memories` for the import paths and addresses in a list of memories and assistants.

    Raises BadSettings for an invalid import path, and for two classes with the same name.
    """
    own: dict[str, dict[str, Any]] = {}
    for given in (_parts(assistant)[0] for assistant in named):
        if is_address(given):
            own[assistant_name(given)] = _server(given)
        elif ":" in given:
            own[_class_name(settings, own, given)] = {"path": given}
    return own


def _class_name(settings: "Settings", own: dict[str, dict[str, Any]], path: str) -> str:
    """Return the name of a class. Raises BadSettings if it has none, or if another memory has it."""
    name = assistant_name(path)
    if not name:
        raise BadSettings(f"{path!r} is not a valid import path. Use the form my_package.my_module:MyMemory.")
    advice = f'Rename it in memflow.toml: [memories.NAME] path = "{path}"'
    if (other := own.get(name, {}).get("path", path)) != path:
        raise BadSettings(f"{other} and {path} have the same name, {name}. {advice}")
    mine = settings.own_memories().get(name)
    if mine is not None and mine.path != path:
        raise BadSettings(
            f"{path} has the name {name}, which {mine.path or mine.system} of {mine.origin} already uses. {advice}"
        )
    return name


def assistant_name(assistant: str) -> str:
    """Return an assistant's name, in which an import path or address is replaced by the name derived from it.

    The name of an address is, for example, `server_127_0_0_1_9000` for `http://127.0.0.1:9000`.
    """
    from memflow.memories.user_memories import memory_name, server_name

    memory, at, model = _parts(assistant)
    if is_address(memory):
        memory = server_name(memory)
    elif ":" in memory:
        memory = memory_name(memory)
    return f"{memory}{at}{model}"


def is_address(memory: str) -> bool:
    """Return whether a memory is given by the address of a memory server."""
    return memory.startswith(("http://", "https://", "mcp:"))


def _parts(assistant: str) -> tuple[str, str, str]:
    """Return memory, @ and model of an assistant. A command may have any @, so it has no model beside it."""
    is_command = assistant.startswith("mcp:") and not assistant.startswith(("mcp:http://", "mcp:https://"))
    return (assistant, "", "") if is_command else assistant.partition("@")


def _server(address: str) -> dict[str, Any]:
    """Return the settings of the server at an address. Raises BadSettings for a command without words."""
    contract, _, rest = address.partition(":")
    if contract != "mcp":
        return {"url": address}
    if rest.startswith(("http://", "https://")):
        key = {"key_variable": MCP_KEY_VARIABLE} if os.environ.get(MCP_KEY_VARIABLE) else {}
        return {"url": rest, "contract": contract, **key}
    try:
        command = shlex.split(rest)
    except ValueError as error:
        raise BadSettings(
            f"{address!r} has a command with an open quote ({error}). Close the quote."
        ) from error
    if not command:
        raise BadSettings(
            "mcp: lacks the command of a server. Write, for example, --memory 'mcp:npx -y PACKAGE'."
        )
    return {"command": command, "contract": contract, "folder": str(Path.cwd())}
