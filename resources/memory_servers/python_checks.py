"""The checks of a memory written in Python: those of a memory server, of which each space is a store."""

import datetime
from collections.abc import Callable
from dataclasses import replace

from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory
from memflow.resources.memory_servers import capability_checks, server_checks
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckLine, checks_of, run_checks
from memflow.resources.memory_servers.check_messages import CODE_QUERY
from memflow.resources.memory_servers.checked_memory import SIZES, CheckedMemory
from memflow.resources.memory_servers.conversation_checks import CONVERSATION
from memflow.resources.memory_servers.forget_checks import FORGET
from memflow.resources.memory_servers.python_connection import PythonConnection
from memflow.resources.memory_servers.read_checks import READ

OF_SERVERS = ("dates", "item_counts")
"""The checks of the conversation that need what an entry or a class has not: a date, and the k of a read."""


class CheckedPython(CheckedMemory):
    """A memory in Python."""

    connection: PythonConnection
    other_space = "another memory: it has state outside its store"
    copy_name = "a memory that is restored from its entries"


async def check_python(
    create: Callable[[EntryStore], Memory], sizes: tuple[int, int] = SIZES
) -> list[CheckLine]:
    """Run all checks of a memory. `create` returns it on a store. Return one line per check."""
    memory = CheckedPython(PythonConnection(create), 0.0, sizes, has_k=False)
    memory.greeting = await memory.connection.hello()
    first = [
        *checks_of("python", {**vars(server_checks), **vars(capability_checks), "clock": clock}),
        *FORGET,
    ]
    # State outside the store, or a changing one, would show in every line of the conversation.
    of_store = tuple(check.name for check in first)
    further = [check for check in (*CONVERSATION, *READ) if check.name not in OF_SERVERS]
    return await run_checks(
        [*first, *(replace(check, after=(*of_store, *check.after)) for check in further)], memory
    )


async def clock(memory: CheckedPython) -> str:
    """Look for the date of today."""
    space = await memory.two_secrets("clock")
    today = datetime.datetime.now(datetime.UTC)
    days = [(today + datetime.timedelta(days=days)).strftime("%Y-%m-%d") for days in (-1, 0, 1)]
    entries = memory.connection.spaces[space].memory.store.live()
    texts = [*await memory.texts(space, CODE_QUERY), *(f"{item.text} {dict(item.meta)}" for item in entries)]
    if dated := next((text for text in texts if any(day in text for day in days)), ""):
        raise CheckFailed(f"messages dated 2015 come back with today's date: {dated[:100]!r}")
    return "entries of messages dated 2015 have no date of today"
