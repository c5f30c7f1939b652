"""The checks of a memory server, and of a memory in Python, of which each space is a store.

Those of its capabilities are in capability_checks.py, those of a long conversation in conversation_checks.py and
read_checks.py.
"""

import asyncio
import datetime
import time
from collections.abc import Callable
from itertools import chain

from memflow.memories.entries import EntryStore
from memflow.memories.memory import Memory
from memflow.memories.server.protocol import Capabilities, Hello
from memflow.memories.server.python_connection import PythonConnection
from memflow.resources.memory_servers import capability_checks, conversation_checks, read_checks
from memflow.resources.memory_servers.check_lines import CheckLine, Checks, Finding, run_checks
from memflow.resources.memory_servers.check_messages import CODE_QUERY, SECRETS, WORDS
from memflow.resources.memory_servers.checked_memory import (
    READS,
    SIZES,
    CheckedMemory,
    contains,
    difference,
)
from memflow.resources.memory_servers.connection import ServerConnection

LATE_S = 2.0
"""Seconds after which a message that a first read did not find is looked for again."""
WRITES_WITH_MODELS = 60
"""The most writes that a server gets which uses models."""
WRITES = 700
"""The most writes that other servers get, with those that a restart repeats."""


class CheckedServer(CheckedMemory):
    """A memory server. `connect` returns a new connection, whose first request starts the server."""

    connection: ServerConnection
    connect: Callable[[], ServerConnection]


async def check_server(
    connect: Callable[[], ServerConnection], sizes: tuple[int, int] = SIZES
) -> tuple[list[CheckLine], CheckedServer]:
    """Run all checks of a server, and end it. Return one line per check, and the server."""
    server = CheckedServer(connect(), sizes)
    server.connect = connect
    groups = ("server", "capabilities", "conversation", "items", "read", "server_end")
    try:
        return await run_checks(groups, CHECKS, server), server
    finally:
        await server.connection.stop()


def planned_writes(can: Capabilities | None) -> str:
    """Return how many writes a check sends to a server, in words; None for a server that was not started yet."""
    if can is None:
        return f"at most {WRITES_WITH_MODELS} writes if it uses models, else at most {WRITES}"
    return f"at most {WRITES if can.models == 'none' else WRITES_WITH_MODELS} writes"


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
    return await run_checks(("python", "conversation", "read"), CHECKS, memory)


async def start(server: CheckedServer) -> str:
    """Start the server twice, and compare its answers to `hello`."""
    began = time.perf_counter()
    hello = server.greeting = await server.connection.hello()
    seconds = time.perf_counter() - began
    other = server.connect()
    try:
        again = await other.hello()
    finally:
        await other.stop()
    for field in Hello.model_fields:
        first, second = getattr(hello, field), getattr(again, field)
        if first != second:
            raise Finding(f"`{field}` was {first!r} at the first start, and {second!r} at the second")
    declared = hello.can.model_dump(exclude_defaults=True)
    capabilities = ", ".join(f"{name}: {value}" for name, value in declared.items()) or "no capability"
    return f"{hello.name} {hello.version} after {seconds:.1f} s, declares {capabilities}"


async def write(server: CheckedMemory) -> str:
    """Write two messages."""
    await server.two_secrets("write")
    return "answered two writes of one message"


async def read(server: CheckedMemory) -> str:
    """Read one item, with odd queries, and an empty space."""
    space = f"{server.run_name}/write"
    found = await server.connection.read(space, CODE_QUERY, 1)
    for query in ("", "?! ... ;;"):
        await server.connection.read(space, query, 1)
    await server.connection.read(await server.space("empty"), CODE_QUERY, 1)
    return f"answered a read with {len(found.items)} of 1 item"


async def indexed(server: CheckedMemory) -> str:
    """Read before a write, and right after it."""
    space, text, word = await server.space("indexed"), SECRETS[1], WORDS[1]
    await server.texts(space, text)
    await server.write_text(space, 11, text)
    if contains(await server.texts(space, text), word):
        return "a message is found at the first read after its write"
    await asyncio.sleep(LATE_S)
    later = [contains(await server.texts(space, text), word) for _ in range(READS)]
    written, when = f"{text!r}, written to space {space},", f"{LATE_S:g} s after the answer to its write"
    if all(later):
        raise Finding(f"{written} is found {when}, and not at once")
    if any(later):
        raise Finding(f"equal reads of space {space} return other items; see the line `stable_reads`", "note")
    if server.can.design.merges:
        raise Finding(f"a read of {text!r} does not find it; the memory declares `merges`", "note")
    if contains(await server.texts(space, CODE_QUERY), word):
        raise Finding(
            f"{written} is found by {CODE_QUERY!r}, but not by the query of before its write: a cache of reads"
        )
    raise Finding(f"{written} is not found {when}")


async def spaces(server: CheckedMemory) -> str:
    """Write to two spaces messages with the same id, as those of two episodes may have."""
    pair = [await server.space(f"spaces-{number}") for number in (1, 2)]
    for space, text in zip(pair, SECRETS, strict=True):
        await server.write_text(space, 1, text)
    for space, other, word in zip(pair, reversed(pair), reversed(WORDS), strict=True):
        if contains(await server.texts(space, CODE_QUERY), word):
            raise Finding(f"a read of space {space} finds {word!r}, which was written only to {other}")
    for space, text, word in zip(pair, SECRETS, WORDS, strict=True):
        await _require_stored(server, space, text, word, "when another space gets one with the same id")
    return "two spaces do not see each other, and may have messages with the same id"


async def reset(server: CheckedMemory) -> str:
    """Read after `reset`, and after a write of the same id."""
    space = f"{server.run_name}/write"
    await server.reset(space)
    if contains(await server.texts(space, SECRETS[0]), WORDS[0]):
        raise Finding(f"after `reset` of space {space}, a read still finds {SECRETS[0]!r}")
    await server.write_text(space, 1, SECRETS[1])
    await _require_stored(server, space, SECRETS[1], WORDS[1], "if its id was written before `reset`")
    return "nothing is left after `reset`, and the same id is another message"


async def _require_stored(server: CheckedMemory, space: str, text: str, word: str, when: str) -> None:
    """Raise Finding if no read finds a text by its word, in any case of its letters."""
    reads = [await server.texts(space, text) for _ in range(READS)]
    if server.meets("own_texts") and not contains(map(str.lower, chain(*reads)), word):
        raise Finding(f"{text!r} in space {space} is lost {when}")


async def restart(server: CheckedServer) -> str:
    """Read after the server was killed."""
    if server.connection.transport.outlives_run:
        raise Finding("memflow does not start this server", "skipped")
    space = await server.two_secrets("restart")
    before = await server.texts(space, CODE_QUERY)
    await server.connection.transport.kill()
    after = await server.texts(space, CODE_QUERY)
    if (server.can.deterministic or not after) and (change := difference(before, after)):
        raise Finding(
            f"a read finds other items after a restart, although all writes were repeated: {change}"
        )
    return "a read finds the same after a restart and repeated writes"


async def deterministic(server: CheckedMemory) -> str:
    """Write the same to two spaces."""
    first, second = [
        await server.texts(await server.two_secrets(f"same-{number}"), CODE_QUERY) for number in (1, 2)
    ]
    if change := difference(first, second):
        raise Finding(f"two spaces with the same writes return different items: {change}")
    return "two spaces with the same writes return the same"


async def stops(server: CheckedServer) -> str:
    """Count stops since the start."""
    if number := server.connection.restarts:
        raise Finding(f"the server stopped {number} times; at last it {server.connection.last_stop}")
    return "the server did not end"


async def clock(memory: CheckedPython) -> str:
    """Look for the date of today."""
    space = await memory.two_secrets("clock")
    today = datetime.datetime.now(datetime.UTC)
    days = [(today + datetime.timedelta(days=days)).strftime("%Y-%m-%d") for days in (-1, 0, 1)]
    entries = memory.connection.spaces[space].memory.store.live()
    texts = [*await memory.texts(space, CODE_QUERY), *(f"{item.text} {dict(item.meta)}" for item in entries)]
    if dated := next((text for text in texts if any(day in text for day in days)), ""):
        raise Finding(f"messages dated 2015 come back with today's date: {dated[:100]!r}")
    return "entries of messages dated 2015 have no date of today"


CHECKS: Checks = {**vars(capability_checks), **vars(conversation_checks), **vars(read_checks), **globals()}
