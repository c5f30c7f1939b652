"""The spaces of the checks of a conversation: those of a memory server, and memories in Python on a store of their own.

`write` raises CheckFailed with the reason of a failed write. `read` returns items, best first; with `as_of`, as of the
write with this number. `stored` returns everything that the memory contains, or None if it cannot say so.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from memflow.errors import ServerFailed
from memflow.memories.entries import EntryStore, Item
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import FAILURE, Memory, Message
from memflow.memories.server.batches import sent_message
from memflow.memories.server.protocol import Capabilities, SentMessage, WireItem
from memflow.resources.memory_servers.check_lines import CheckFailed
from memflow.resources.memory_servers.connection import ServerConnection


class ServerSpace:
    """A space. `write` sends messages, and counts them; `number` returns the number of the next write."""

    def __init__(
        self,
        server: ServerConnection,
        name: str,
        can: Capabilities,
        write: Callable[..., Awaitable[None]],
        number: Callable[[str], int],
    ) -> None:
        self.server = server
        self.name = name
        self.can = can
        self._write = write
        self._next = number

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

    async def forget(self, request: ForgetRequest) -> None:
        """Send a request to forget. Raises CheckFailed with what the server could not do."""
        answer = await self.server.forget(self.name, self._next(self.name), request)
        if answer.failures:
            raise CheckFailed(answer.failures[0].why)

    async def read(self, query: str, k: int, as_of: int | None = None) -> Sequence[WireItem]:
        """Return the items of a read, or its notes as one item."""
        found = await self.server.read(self.name, query, k, as_of=as_of)
        notes = [WireItem(id="notes", text=found.notes)] if found.notes and not found.items else []
        return [*found.items, *notes]

    async def stored(self) -> Sequence[WireItem] | None:
        """Return the export, if the server has one."""
        return None if self.can.export == "none" else (await self.server.export(self.name)).items


class PythonSpace:
    """A memory with its store."""

    def __init__(self, create: Callable[[EntryStore], Memory]) -> None:
        self._create = create
        self.memory = create(EntryStore())
        self._sequences: list[int] = []
        """The sequence number after each write."""
        self._messages: list[Message] = []

    async def write(self, messages: Sequence[SentMessage]) -> None:
        """Write messages as the player does. Raises CheckFailed if the memory records a failure."""
        store = self.memory.store
        store.advance(len(messages))
        failures = len(store.live(FAILURE))
        received = [Message(each.id, each.role, each.text, None, each.sent_at) for each in messages]
        await self.memory.write(received)
        self._messages += received
        self._sequences.append(store.sequence)
        if len(store.live(FAILURE)) > failures:
            raise CheckFailed(store.live(FAILURE)[-1].text)

    async def forget(self, request: ForgetRequest) -> None:
        """Pass a request to forget to the memory, as the player does after the message that asks for it."""
        self.memory.store.advance(1)
        await self.memory.forget(request.with_messages(self._messages))
        self._sequences.append(self.memory.store.sequence)

    async def read(self, query: str, k: int, as_of: int | None = None) -> Sequence[WireItem]:
        """Return the entries of a recall, best first, or else its texts. `k` is the memory's own."""
        memory = self.memory
        if as_of is not None:
            memory = self._create(EntryStore.restored(list(memory.store), self._sequences[as_of - 1]))
        recall = await memory.read(query, frozen=True)
        if recall.entries:
            return _items(recall.ranked)
        texts = [recall.notes, *(each.content for each in recall.messages)]
        return [WireItem(id=str(at), text=text) for at, text in enumerate(texts) if text]

    async def stored(self) -> Sequence[WireItem]:
        """Return the current entries."""
        memory = self.memory
        return _items(item for item in memory.store.live() if item.kind not in memory.bookkeeping_kinds)


def _items(entries: Iterable[Item]) -> list[WireItem]:
    return [WireItem(id=entry.entry_id, text=entry.text, sources=entry.sources) for entry in entries]
