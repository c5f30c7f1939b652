"""The checks of a memory written in Python: those of a memory server, of which each space is a store."""

import datetime
from collections.abc import Callable

from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory
from memflow.resources.memory_servers import server_checks
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckLine, run_checks
from memflow.resources.memory_servers.check_messages import CODE_QUERY
from memflow.resources.memory_servers.checked_memory import SIZES, CheckedMemory
from memflow.resources.memory_servers.python_connection import PythonConnection


class CheckedPython(CheckedMemory):
    """A memory in Python."""

    connection: PythonConnection
    has_k = False


async def check_python(
    create: Callable[[EntryStore], Memory], sizes: tuple[int, int] = SIZES
) -> list[CheckLine]:
    """Run all checks of a memory. `create` returns it on a store. Return one line per check."""
    memory = CheckedPython(PythonConnection(create), sizes)
    memory.greeting = await memory.connection.hello()
    checks = {**server_checks.CHECKS, "clock": clock}
    return await run_checks(("python", "conversation", "read"), checks, memory)


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
