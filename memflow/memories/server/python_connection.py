"""A memory in Python behind the protocol of memory servers, for checks and dry runs: a space is a store."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memflow.errors import ReportedError
from memflow.memories.entries import EntryStore, Item
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import FAILURE, Memory, Message
from memflow.memories.server.protocol import (
    Capabilities,
    ExportAnswer,
    Hello,
    ReadAnswer,
    SentMessage,
    WireItem,
    WriteAnswer,
    WriteFailure,
)


@dataclass
class PythonSpace:
    """A memory with its store, the sequence number after each of its writes, and the messages written."""

    memory: Memory
    sequences: list[int] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)


class PythonConnection:
    """The memories that `create` returns on a store, as the spaces of a memory server, which declares `can`.

    Without it, it declares what the class does. A memory in Python has no `restore`: entries are restored by `fork`.
    """

    def __init__(self, create: Callable[[EntryStore], Memory], can: Capabilities | None = None) -> None:
        self._create = create
        self._can = can
        self.spaces: dict[str, PythonSpace] = {}

    async def hello(self) -> Hello:
        """Return what the class declares."""
        memory = self._create(EntryStore())
        names_sources = memory.recalls_entries and not memory.design.merges
        declared = {
            "as_of": "writes",
            "fork": True,
            "export": "live",
            "sources": "message" if names_sources else "none",
            "dates": True,
            "ranked": memory.ranks_entries,
            "models": "own" if memory.calls.chat_write + memory.calls.chat_read > 0 else "none",
            "deterministic": True,
            "forget": sorted(memory.forgets),
            "design": memory.design,
        }
        can = self._can or Capabilities(**declared)
        return Hello(name=type(memory).__name__, version=str(memory.version), can=can)

    async def reset(self, space: str) -> None:
        """Create a memory on an empty store."""
        self.spaces[space] = PythonSpace(self._create(EntryStore()))

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
        """Write messages as the player does. Return the failures that the memory records."""
        opened = self.spaces[space]
        store = opened.memory.store
        version = store.version
        received = [Message(each.id, each.role, each.text, None, each.sent_at) for each in messages]
        store.advance(len(received))
        await opened.memory.write(received)
        opened.messages += received
        opened.sequences.append(store.sequence)
        failed = [item for item in store.changes(version) if item.kind == FAILURE]
        return WriteAnswer(failures=tuple(WriteFailure(why=item.text) for item in failed))

    async def forget(self, space: str, write: int, request: ForgetRequest) -> WriteAnswer:
        """Pass a request to forget to the memory, as the player does after the message that asks for it."""
        opened = self.spaces[space]
        opened.memory.store.advance(1)
        await opened.memory.forget(request.with_messages(opened.messages))
        opened.sequences.append(opened.memory.store.sequence)
        return WriteAnswer()

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> ReadAnswer:
        """Return the entries of a recall, best first, or else its texts as notes. `k` is the memory's own."""
        opened = self.spaces[space]
        memory = opened.memory if as_of is None else self._restored(opened, opened.sequences[as_of - 1])
        version = memory.store.version
        recall = await memory.read(query, frozen=True)
        if memory.store.version != version:
            raise ReportedError(
                "a read with frozen=True changed the store, so that a probe changes what follows"
            )
        if recall.entries:
            return ReadAnswer(items=_items(recall.ranked))
        texts = [recall.notes, *(message.content for message in recall.messages)]
        return ReadAnswer(notes="\n".join(filter(None, texts)))

    async def export(self, space: str) -> ExportAnswer:
        """Return the current entries."""
        memory = self.spaces[space].memory
        items = (item for item in memory.store.live() if item.kind not in memory.bookkeeping_kinds)
        return ExportAnswer(items=_items(items))

    async def fork(self, space: str, to: str) -> None:
        """Restore a memory from the entries of another."""
        opened = self.spaces[space]
        memory = self._restored(opened, opened.memory.store.sequence)
        self.spaces[to] = PythonSpace(memory, [*opened.sequences], [*opened.messages])

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        """Raise ReportedError, since items are no entries."""
        raise ReportedError("a memory in Python has no `restore`. Use `fork`.")

    async def close(self, space: str) -> None:
        """Delete a memory."""
        self.spaces.pop(space, None)

    def _restored(self, opened: PythonSpace, sequence: int) -> Memory:
        return self._create(EntryStore.restored(list(opened.memory.store), sequence))


def _items(entries: Iterable[Item]) -> tuple[WireItem, ...]:
    return tuple(WireItem(id=entry.entry_id, text=entry.text, sources=entry.sources) for entry in entries)
