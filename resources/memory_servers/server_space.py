"""A space of a memory server for the checks of a conversation."""

from collections.abc import Awaitable, Callable, Sequence

from memflow.errors import ServerFailed
from memflow.memories.memory import Message
from memflow.memories.server.batches import sent_message
from memflow.memories.server.protocol import Capabilities, SentMessage, WireItem
from resources.memory_servers.check_lines import CheckFailed
from resources.memory_servers.connection import ServerConnection

Write = Callable[..., Awaitable[None]]


class ServerSpace:
    """A space. `write` sends messages, and counts them for the checks."""

    def __init__(self, server: ServerConnection, name: str, can: Capabilities, write: Write) -> None:
        self.server = server
        self.name = name
        self.can = can
        self._write = write

    async def write(self, messages: Sequence[SentMessage]) -> None:
        """Write messages as runs do: with dates, or with the date before the text."""
        sent = [
            sent_message(Message(each.id, each.role, each.text, None, each.sent_at), self.can)
            for each in messages
        ]
        try:
            await self._write(self.name, *sent)
        except ServerFailed as failed:
            raise CheckFailed(str(failed)) from failed

    async def read(self, query: str, k: int, as_of: int | None = None) -> Sequence[WireItem]:
        """Return the items of a read, or its notes as one item."""
        found = await self.server.read(self.name, query, k, as_of=as_of)
        notes = [WireItem(id="notes", text=found.notes)] if found.notes and not found.items else []
        return [*found.items, *notes]

    async def stored(self) -> Sequence[WireItem] | None:
        """Return the export, if the server has one."""
        return None if self.can.export == "none" else (await self.server.export(self.name)).items
