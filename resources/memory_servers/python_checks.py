"""The checks of a memory written in Python: whether all of its state is in its store, among others."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace

from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory
from memflow.memories.server.protocol import WireItem
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckLine, checks_of, run_checks
from memflow.resources.memory_servers.check_messages import CODE_QUERY, SECRETS
from memflow.resources.memory_servers.checked_memory import SIZES, CheckedMemory, contains, items_of
from memflow.resources.memory_servers.conversation_checks import CONVERSATION
from memflow.resources.memory_servers.forget_checks import FORGET
from memflow.resources.memory_servers.python_connection import PythonConnection
from memflow.resources.memory_servers.read_checks import READ

OF_SERVERS = ("dates", "item_counts")
"""The checks of the conversation that need what an entry or a class has not: a date, and the k of a read."""


class CheckedPython(CheckedMemory):
    """A memory in Python."""

    connection: PythonConnection


async def check_python(
    create: Callable[[EntryStore], Memory], sizes: tuple[int, int] = SIZES
) -> list[CheckLine]:
    """Run all checks of a memory. `create` returns it on a store. Return one line per check."""
    memory = CheckedPython(PythonConnection(create), 0.0, sizes, has_k=False)
    memory.greeting = await memory.connection.hello()
    first = [*checks_of("python", globals()), *FORGET]
    # State outside the store, or a changing one, would show in every line of the conversation.
    of_store = tuple(check.name for check in first)
    further = [check for check in (*CONVERSATION, *READ) if check.name not in OF_SERVERS]
    return await run_checks(
        [*first, *(replace(check, after=(*of_store, *check.after)) for check in further)], memory
    )


async def write(memory: CheckedPython) -> str:
    """Write a message."""
    space = await memory.space("write")
    await memory.write(space, memory.message(1, SECRETS[0]))
    return f"a message became {len(memory.connection.spaces[space].memory.store.live())} entries"


async def read(memory: CheckedPython) -> str:
    """Read an empty memory, and another."""
    await memory.texts(await memory.space("read"), CODE_QUERY)
    texts = await memory.texts(await memory.two_secrets("read"), CODE_QUERY)
    return f"returns {len(texts)} texts, and an empty memory can be read"


async def state_in_store(memory: CheckedPython) -> str:
    """Read a new memory on an empty store, after another memory was written."""
    await memory.two_secrets("state")
    if contains(await memory.texts(await memory.space("new"), CODE_QUERY), "xylophone"):
        raise CheckFailed(
            "a new memory on an empty store recalls what another memory was given: it has state outside its store, "
            "shared by all episodes"
        )
    return "a new memory on an empty store is empty"


async def restored_equals_living(memory: CheckedPython) -> str:
    """Compare a memory with one that is restored from its entries, also after one more write."""
    space, restored = await memory.two_secrets("living"), await memory.space("restored")
    await memory.connection.fork(space, restored)
    for query in (CODE_QUERY, SECRETS[1]):
        if difference := await _difference(memory, space, restored, query):
            raise CheckFailed(
                f"restored from its entries, it recalls different {difference}: it has state outside the store"
            )
    for name in (space, restored):
        await memory.write(name, memory.message(9, "The vault code of Fulbert is walrus."))
    if difference := await _difference(memory, space, restored, CODE_QUERY):
        raise CheckFailed(f"after one more write, the restored memory recalls different {difference}")
    return "restored from its entries, it recalls the same"


async def pure_reads(memory: CheckedPython) -> str:
    """Read twice with `frozen`."""
    space = await memory.two_secrets("pure_reads")
    store = memory.connection.spaces[space].memory.store
    version = store.version
    texts = [await memory.texts(space, CODE_QUERY) for _ in range(2)]
    if store.version != version:
        raise CheckFailed("a read with frozen=True changed the store, so that a probe changes what follows")
    if texts[0] != texts[1]:
        raise CheckFailed("the same read, repeated, recalls other texts: reads write outside the store")
    return "two equal reads with frozen=True recall the same and change nothing"


async def deterministic(memory: CheckedPython) -> str:
    """Write the same messages to two memories, and compare them."""
    first, second = await memory.two_secrets("same-1"), await memory.two_secrets("same-2")
    exported = [(await memory.connection.export(space)).items for space in (first, second)]
    if _contents(exported[0]) != _contents(exported[1]):
        raise CheckFailed("two memories that were given the same messages have different entries")
    if difference := await _difference(memory, first, second, CODE_QUERY):
        raise CheckFailed(f"two memories that were given the same messages recall different {difference}")
    return "two memories that were given the same messages have the same entries"


async def clock(memory: CheckedPython) -> str:
    """Look for the date of today."""
    space = await memory.two_secrets("clock")
    today = datetime.datetime.now(datetime.UTC)
    days = [(today + datetime.timedelta(days=days)).strftime("%Y-%m-%d") for days in (-1, 0, 1)]
    entries = memory.connection.spaces[space].memory.store.live()
    texts = [*await memory.texts(space, CODE_QUERY), *(f"{item.text} {dict(item.meta)}" for item in entries)]
    if any(contains(texts, day) for day in days):
        raise CheckFailed("messages dated 2015 come back with today's date")
    return "entries of messages dated 2015 have no date of today"


async def _difference(memory: CheckedPython, first: str, second: str, query: str) -> str:
    """Return what differs between the reads of two spaces, or an empty text."""
    answers = [await memory.connection.read(space, query, 1) for space in (first, second)]
    if _contents(items_of(answers[0])) == _contents(items_of(answers[1])):
        return ""
    return "entries" if any(answer.items for answer in answers) else "notes"


def _contents(items: Sequence[WireItem]) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.text, item.sources) for item in items]
