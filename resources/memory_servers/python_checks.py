"""The checks of a memory written in Python: whether all of its state is in its store, among others.

check_lines.py runs them. server_checks.py has those of memory servers.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace

from memflow.memories.entries import EntryStore, Item
from memflow.memories.memory import FAILURE, Memory, Message, Recall
from memflow.memories.server.protocol import Capabilities
from memflow.resources.memory_servers.check_lines import (
    CheckFailed,
    CheckLine,
    CheckNote,
    CheckSkipped,
    check,
    checks_of,
    run_checks,
)
from memflow.resources.memory_servers.check_messages import CODE_QUERY, OLD_DATES, SECRETS, message
from memflow.resources.memory_servers.checked_server import contains
from memflow.resources.memory_servers.checked_spaces import PythonSpace
from memflow.resources.memory_servers.content_checks import ContentChecks
from memflow.resources.memory_servers.forget_checks import ForgetChecks
from memflow.resources.memory_servers.played_conversation import SIZES, PlayedConversation
from memflow.resources.memory_servers.read_checks import ReadChecks

IN_STORE = "Keep all state in `self.store`; use a memory server for a service with state of its own."


class StoreChecks:
    """The checks with single messages. `create` returns the memory on a store."""

    def __init__(self, create: Callable[[EntryStore], Memory]) -> None:
        self.create = create

    async def _filled(self, *texts: str) -> Memory:
        """Return a memory to which each text was written as a message of its own."""
        memory = self.create(EntryStore())
        for number, text in enumerate(texts, 1):
            await _write(memory, number, text)
        return memory

    @check("Fix `write`.", needed=True)
    async def write(self) -> str:
        """Write a message."""
        memory = await self._filled(SECRETS[0])
        failures = [item.text for item in memory.store.live(FAILURE)]
        if failures:
            raise CheckFailed(f"the write of a message failed: {failures[0]}")
        return f"a message became {len(memory.store.live())} entries"

    @check("Fix `read`.", needed=True)
    async def read(self) -> str:
        """Read an empty memory, and another."""
        memory = self.create(EntryStore())
        await memory.read(CODE_QUERY)
        recall = await (await self._filled(*SECRETS)).read(CODE_QUERY)
        return f"returns {len(recall.entries)} entries, and an empty memory can be read"

    @check(IN_STORE)
    async def state_in_store(self) -> str:
        """Read a new memory on an empty store, after another memory was written."""
        await self._filled(SECRETS[0])
        recall = await self.create(EntryStore()).read(CODE_QUERY)
        if contains(_texts(recall), "xylophone"):
            raise CheckFailed(
                "a new memory on an empty store recalls what another memory was given: it has state outside its store, "
                "shared by all episodes"
            )
        return "a new memory on an empty store is empty"

    @check(IN_STORE)
    async def restored_equals_living(self) -> str:
        """Compare a memory with one that is restored from its entries."""
        living = await self._filled(*SECRETS)
        restored = self.create(EntryStore.restored(list(living.store), living.store.sequence))
        for query in (CODE_QUERY, SECRETS[1]):
            if difference := _difference(await living.read(query), await restored.read(query)):
                raise CheckFailed(
                    f"restored from its entries, it recalls different {difference}: it has state outside the store"
                )
        for memory in (living, restored):
            await _write(memory, 9, "The vault code of Fulbert is walrus.")
        if difference := _difference(await living.read(CODE_QUERY), await restored.read(CODE_QUERY)):
            raise CheckFailed(f"after one more write, the restored memory recalls different {difference}")
        return "restored from its entries, it recalls the same"

    @check("Store nothing in `read` when `frozen` is true.")
    async def pure_reads(self) -> str:
        """Read twice with `frozen`."""
        memory = await self._filled(*SECRETS)
        version = memory.store.version
        first = await memory.read(CODE_QUERY, frozen=True)
        again = await memory.read(CODE_QUERY, frozen=True)
        if memory.store.version != version:
            raise CheckFailed(
                "a read with frozen=True changed the store, so that a probe changes what follows"
            )
        if difference := _difference(first, again):
            raise CheckFailed(
                f"the same read, repeated, recalls different {difference}: reads write outside the store"
            )
        return "two equal reads with frozen=True recall the same and change nothing"

    @check("Use no clock, random number or set order.")
    async def deterministic(self) -> str:
        """Write the same messages to two memories, and compare them."""
        first, second = await self._filled(*SECRETS), await self._filled(*SECRETS)
        if _contents(first.store.live()) != _contents(second.store.live()):
            raise CheckFailed("two memories that were given the same messages have different entries")
        if difference := _difference(await first.read(CODE_QUERY), await second.read(CODE_QUERY)):
            raise CheckFailed(f"two memories that were given the same messages recall different {difference}")
        return "two memories that were given the same messages have the same entries"

    @check("Give `store.add` the ids of the messages that were written.")
    async def source_ids(self) -> str:
        """Look for invented sources."""
        memory = await self._filled(*SECRETS)
        known = {"check-1", "check-2"}
        entries = [item for item in memory.store.live() if item.kind not in memory.bookkeeping_kinds]
        strange = {source for item in entries for source in item.sources} - known
        if strange:
            raise CheckFailed(
                f"entries name sources that were never written: {', '.join(sorted(strange)[:3])}"
            )
        if entries and not any(item.sources for item in entries):
            raise CheckNote("entries have no sources: wrong answers are not attributed by evidence")
        if not memory.recalls_entries:
            raise CheckSkipped("the memory recalls no entries")
        return "entries name the messages that they are from"

    @check("Use `sent_at` of the messages, and no clock.")
    async def clock(self) -> str:
        """Look for the date of today."""
        memory = await self._filled(*SECRETS)
        today = datetime.datetime.now(datetime.UTC)
        days = [(today + datetime.timedelta(days=days)).strftime("%Y-%m-%d") for days in (-1, 0, 1)]
        seen = [*_texts(await memory.read(CODE_QUERY)), *(item.text for item in memory.store.live())]
        seen += [str(dict(item.meta)) for item in memory.store.live()]
        if any(contains(seen, day) for day in days):
            raise CheckFailed("messages dated 2015 come back with today's date")
        return "entries of messages dated 2015 have no date of today"


class PythonChecks:
    """The checks of one memory. `create` returns the memory on a store. `sizes` are those of the conversations."""

    def __init__(self, create: Callable[[EntryStore], Memory], sizes: tuple[int, int] = SIZES) -> None:
        self.create = create
        self.sizes = sizes

    async def run(self) -> list[CheckLine]:
        """Run all checks. Return one line per check."""
        conversation = self._conversation()
        forms = {"forget": sorted(self.create(EntryStore()).forgets), "dates": True}
        forgetting = ForgetChecks(conversation.open_space, conversation.can.model_copy(update=forms))
        first = checks_of(StoreChecks(self.create), forgetting)
        checks = checks_of(conversation, ContentChecks(conversation), ReadChecks(conversation))
        # State outside the store, or a changing one, would show in every line of the conversation.
        of_store = tuple(check.name for check in first)
        return await run_checks(
            [*first, *(replace(check, after=(*of_store, *check.after)) for check in checks)]
        )

    def _conversation(self) -> PlayedConversation:
        """Return the conversation, which is not played yet."""
        memory = self.create(EntryStore())
        names_sources = memory.recalls_entries and not memory.design.merges

        async def open_space(name: str) -> PythonSpace:
            return PythonSpace(self.create)

        can = Capabilities(
            as_of="writes",
            sources="message" if names_sources else "none",
            ranked=memory.ranks_entries,
            models="own" if memory.calls.chat_write + memory.calls.chat_read > 0 else "none",
            deterministic=True,
            design=memory.design,
        )
        return PlayedConversation(open_space, can, 0.0, self.sizes, has_k=False)


async def _write(memory: Memory, number: int, text: str) -> None:
    sent = message(number, text)
    memory.store.advance(1)
    date = OLD_DATES[number % len(OLD_DATES)]
    await memory.write([Message(sent.id, sent.role, sent.text, sent_at=date)])


def _texts(recall: Recall) -> list[str]:
    """Return all texts of a recall."""
    chat = (each.content for each in recall.messages)
    return [recall.notes, *chat, *(item.text for item in recall.entries)]


def _contents(items: Sequence[Item]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(item.kind, item.text, item.sources) for item in items]


def _difference(first: Recall, second: Recall) -> str:
    """Return what differs between two recalls, or an empty text."""
    if _contents(first.entries) != _contents(second.entries):
        return "entries"
    if first.notes != second.notes:
        return "notes"
    return "messages" if first.messages != second.messages else ""
