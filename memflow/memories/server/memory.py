"""ServerMemory: a memory whose content is in a memory server, mirrored as entries.

The server's state is a cache. What counts is in the store: the writes, the items that the server exports or returns,
the reads of each checkpoint, and what failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memflow.memories.external import ExternalMemory
from memflow.memories.memory import Message, Recall, parameter

MODES = ("auto", "as_of", "restore", "fork", "ask_at_once", "replay")


@dataclass
class ServerMemory(ExternalMemory):
    """A memory that runs as a server: a program of any language, in an environment of its own."""

    k: int = parameter(10, "How many items a read requests.", low=1, high=100_000)
    budget: int = parameter(0, "Tokens of notes, the best items first; 0 is no limit.")
    mode: str = parameter("auto", "How the memory is read as of a checkpoint.", choices=MODES)

    async def on_start(self, episode_id: str) -> None:
        """Open an empty space."""

    async def on_checkpoint(self, queries: Sequence[str]) -> None:
        """Read and store the result of each query."""

    async def on_end(self, is_base: bool) -> None:
        """Close the space."""

    async def write(self, messages: Sequence[Message]) -> None:
        """Send the messages to the server."""

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the items that the server returns for a query."""
        return Recall()
