"""The evidence in the entries of a memory server, and the reasons why some evidence is missing."""

from collections.abc import Mapping
from typing import Any

from memflow.memories.memory import Memory
from memflow.memories.server.memory import ServerMemory
from memflow.memories.server.mirror import SERVER
from memflow.memories.server.protocol import Capabilities

NO_SOURCES = (
    'sources are not reported: the memory server declares `sources: "none"`, so no answer can be attributed to a '
    "message. Return the ids of messages with each item."
)
NO_EXPORT = (
    'write and read failures cannot be told apart: the memory server declares `export: "none"`, so only what it '
    "returned is known. Add the operation `export`."
)
NO_CONTENT = (
    'the content of the memory is not reported: the memory server declares `export: "none"`. Add the operation '
    "`export`."
)


def is_server(memory: type[Memory]) -> bool:
    """Return whether a class of memories runs as a server."""
    return issubclass(memory, ServerMemory)


def declared_capabilities(kind: str, meta: Mapping[str, Any]) -> Capabilities | None:
    """Return the capabilities that an entry of kind `server` records; None for another entry."""
    return Capabilities(**meta["can"]) if kind == SERVER else None
