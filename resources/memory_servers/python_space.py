"""A memory in Python, on a store of its own, for the checks of a conversation."""

from collections.abc import Callable, Iterable, Sequence

from memflow.memories.entries import EntryStore, Item
from memflow.memories.memory import FAILURE, Memory, Message
from memflow.memories.server.protocol import SentMessage, WireItem
from resources.memory_servers.check_lines import CheckFailed


class PythonSpace:
    """A memory with its store."""

    def __init__(self, create: Callable[[EntryStore], Memory]) -> None:
        self._create = create
        self.memory = create(EntryStore())
        self._sequences: list[int] = []
        """The sequence number after each write."""

    async def write(self, messages: Sequence[SentMessage]) -> None:
        """Write messages as the player does. Raises CheckFailed if the memory records a failure."""
        store = self.memory.store
        store.advance(len(messages))
        failures = len(store.live(FAILURE))
        await self.memory.write(
            [Message(each.id, each.role, each.text, None, each.sent_at) for each in messages]
        )
        self._sequences.append(store.sequence)
        if len(store.live(FAILURE)) > failures:
            raise CheckFailed(store.live(FAILURE)[-1].text)

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
