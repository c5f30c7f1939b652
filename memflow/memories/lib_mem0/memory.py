"""Adapter for the package mem0ai (Chhikara et al. 2025), with its own prompts, store and search.

Each `write` calls the package's `add` once and mirrors the result in the EntryStore. A restored memory fills a new
store of the package from these entries, without a model. Deviations from the package are in deviations.yaml and
docs/explanation/memories.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from memflow.errors import BadSettings
from memflow.memories.entries import Item
from memflow.memories.forgetting import FORMS
from memflow.memories.lib_mem0.bridge import Bridge
from memflow.memories.lib_mem0.library import PACKAGE, Library, LibraryChange
from memflow.memories.memory import AT_LIMIT, FAILURE, Calls, Message, ModelWrittenMemory, Recall, parameter
from memflow.memories.notes import recalled
from memflow.memories.verbatim import with_date

MEMORY = "memory"


@dataclass
class LibMem0(ModelWrittenMemory):
    """A memory of facts that the installed package mem0ai adds, updates and deletes with a model.

    An entry's `meta` contains its number in order of creation, the package's text and the date. Its sources are the
    messages of all calls of `add` that changed the memory.
    """

    k: int = parameter(10, "Number of recalled memories.", low=1)

    # Extraction and update; the vectors of facts and of new texts, and one that shows the number of dimensions.
    calls: ClassVar[Calls] = Calls(chat_write=2, embed_write=3, embed_read=1)
    forgets: ClassVar[frozenset[str]] = FORMS
    """The package's store is rebuilt from the entries that are left, as after its `delete`."""
    requires: ClassVar[str] = PACKAGE

    def __post_init__(self) -> None:
        self._library: Library | None = None
        self._mirrored_version = 0

    async def write(self, messages: Sequence[Message]) -> None:
        """Add the messages to the package."""
        sources = [message.message_id for message in messages]
        date = next((message.sent_at for message in reversed(messages) if message.sent_at), None)
        await self.add(
            [{"role": message.role, "content": _words(message)} for message in messages], sources, date
        )

    async def add(
        self, messages: Sequence[Mapping[str, str]], sources: Sequence[str], date: str | None
    ) -> None:
        """Call the package's `add` and copy the changes into the EntryStore.

        Args:
            messages: The messages, each with its `role` and `content`.
            sources: The ids of these messages.
            date: The simulated date of the last message, if known.
        """
        library = await self._open_library(sample_text=messages[0]["content"])
        bridge = library.bridge
        changes: list[LibraryChange] = []
        try:
            changes = await bridge.run_in_thread(lambda: library.add(messages, date))
        except BadSettings:
            raise
        except Exception as error:  # noqa: BLE001  (any exception of the package is recorded)
            if not bridge.errors:
                bridge.errors.append(f"mem0: {type(error).__name__}: {error}")
        if bridge.fatal_error is not None:
            raise bridge.fatal_error
        if len(changes) < bridge.requested_changes and not bridge.errors:
            bridge.errors.append(
                f"mem0 made {len(changes)} of the {bridge.requested_changes} changes that were asked for"
            )
        for reason in bridge.errors:
            self.store.add(FAILURE, reason, sources=sources)
        if bridge.at_limit:
            self.store.add(AT_LIMIT, "; ".join(bridge.at_limit), sources=sources)
        self._mirror(library, changes, sources, date)
        bridge.vectors.clear()
        self._mirrored_version = self.store.version

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the entries that the package's search finds, best first."""
        if not self.store.live(MEMORY):
            return Recall()
        [vector] = await self.embed([query], "query")
        library = await self._open_library(sample_text=query)
        library.bridge.vectors[query] = vector
        numbers = library.search(query, self.k)
        library.bridge.vectors.clear()
        entries = self._memory_entries()
        return recalled([entries[number] for number in numbers])

    async def _open_library(self, sample_text: str) -> Library:
        """Return the package's store of the live memories, which is rebuilt if the entries have changed.

        The vector of `sample_text` tells the number of dimensions if nothing else does.
        """
        changes = self.store.changes(self._mirrored_version)
        if self._library is not None and not any(change.kind == MEMORY for change in changes):
            self._mirrored_version = self.store.version
            return self._library
        memories = {
            number: (item.meta["memory"], item.vector)
            for number, item in self._memory_entries().items()
            if item.vector is not None
        }
        if memories:
            _, first_vector = next(iter(memories.values()))
            dimensions = len(first_vector)
        else:
            dimensions = self.tools.embedder.dimensions if self.tools.embedder else 0
        if not dimensions:
            [sample_vector] = await self.embed([sample_text], "passage")
            dimensions = len(sample_vector)
        created_count = sum(item.kind == MEMORY and item.previous is None for item in self.store)
        self._library = Library(Bridge(self._chat(), self.embed, vars(self)), dimensions, created_count)
        self._library.restore(memories)
        self._mirrored_version = self.store.version
        return self._library

    def _mirror(
        self, library: Library, changes: Sequence[LibraryChange], sources: Sequence[str], date: str | None
    ) -> None:
        """Apply the package's changes to the EntryStore: add, revise or retire the entry of each changed memory."""
        texts, entries = library.memories(), self._memory_entries()
        updated = {change.number for change in changes if change.event == "UPDATE"}
        for number, item in entries.items():
            if number not in texts:
                self.store.retire(item.entry_id)
            elif number in updated or texts[number] != item.meta["memory"]:
                self.store.revise(
                    item,
                    text=with_date(texts[number], date),
                    sources=dict.fromkeys((*item.sources, *sources)),
                    vector=library.bridge.vectors[texts[number]],
                    meta=_meta(number, texts[number], date),
                )
        for number in sorted(texts.keys() - entries.keys()):
            self.store.add(
                MEMORY,
                with_date(texts[number], date),
                sources=sources,
                vector=library.bridge.vectors[texts[number]],
                meta=_meta(number, texts[number], date),
            )

    def _memory_entries(self) -> dict[int, Item]:
        return {item.meta["mem0"]: item for item in self.store.live(MEMORY)}


def _meta(number: int, memory: str, date: str | None) -> dict[str, object]:
    return {"mem0": number, "memory": memory, "date": date}


def _words(message: Message) -> str:
    """Return the message's text after the speaker's name, since the package stores no speakers."""
    return f"{message.speaker}: {message.text}" if message.speaker else message.text
