"""The checks of a memory server: whether it keeps the protocol, and its spaces apart.

capability_checks.py has those of its capabilities, conversation_checks.py and read_checks.py those of a long
conversation. check_lines.py runs them.
"""

import asyncio
import time
from collections.abc import Callable

from memflow.memories.server.protocol import Capabilities, Hello
from memflow.resources.memory_servers.capability_checks import CAPABILITIES
from memflow.resources.memory_servers.check_lines import (
    CheckFailed,
    CheckLine,
    CheckNote,
    CheckSkipped,
    checks_of,
    run_checks,
)
from memflow.resources.memory_servers.check_messages import CODE_QUERY, ODD_TEXTS, SECRETS, WORDS
from memflow.resources.memory_servers.checked_memory import READS, SIZES, CheckedMemory, contains
from memflow.resources.memory_servers.connection import ServerConnection
from memflow.resources.memory_servers.conversation_checks import CONVERSATION
from memflow.resources.memory_servers.forget_checks import FORGET
from memflow.resources.memory_servers.read_checks import READ

LATE_S = 2.0
"""Seconds in which a read is repeated to see whether a write is found late."""
WRITES_WITH_MODELS = 60
"""The most writes that a server gets which uses models."""
WRITES = 700
"""The most writes that other servers get, with those that a restart repeats."""


class CheckedServer(CheckedMemory):
    """A memory server. `connect` returns a new connection, whose first request starts the server."""

    connection: ServerConnection

    def __init__(self, connect: Callable[[], ServerConnection], late: float, sizes: tuple[int, int]) -> None:
        super().__init__(connect(), late, sizes)
        self.connect = connect
        self.kills = 0
        """How often a check ended the server."""


async def check_server(
    connect: Callable[[], ServerConnection], late: float = LATE_S, sizes: tuple[int, int] = SIZES
) -> tuple[list[CheckLine], CheckedServer]:
    """Run all checks of a server, and end it. Return one line per check, and the server."""
    server = CheckedServer(connect, late, sizes)
    try:
        # What the server declares is known only when it was started.
        lines = await run_checks(checks_of("start", globals()), server)
        if all(line.verdict != "wrong" for line in lines):
            first, last = checks_of("server", globals()), checks_of("server_end", globals())
            lines += await run_checks([*first, *CAPABILITIES, *FORGET, *CONVERSATION, *READ, *last], server)
    finally:
        await server.connection.stop()
    return lines, server


def planned_writes(can: Capabilities | None) -> str:
    """Return how many writes a check sends to a server, in words; None for a server that was not started yet."""
    if can is None:
        return f"at most {WRITES_WITH_MODELS} writes if it uses models, else at most {WRITES}"
    return f"at most {WRITES if can.models == 'none' else WRITES_WITH_MODELS} writes"


async def start(server: CheckedServer) -> str:
    """Start the server."""
    began = time.perf_counter()
    hello = server.greeting = await server.connection.hello()
    seconds = time.perf_counter() - began
    declared = hello.can.model_dump(exclude_defaults=True)
    capabilities = ", ".join(f"{name}: {value}" for name, value in declared.items()) or "no capability"
    return f"{hello.name} {hello.version} after {seconds:.1f} s, declares {capabilities}"


async def stable_hello(server: CheckedServer) -> str:
    """Compare `hello` of two starts."""
    other = server.connect()
    try:
        again = await other.hello()
    finally:
        await other.stop()
    for field in Hello.model_fields:
        first, second = getattr(server.greeting, field), getattr(again, field)
        if first != second:
            raise CheckFailed(f"`{field}` was {first!r} at the first start, and {second!r} at the second")
    return "equal at two starts"


async def write(server: CheckedMemory) -> str:
    """Write a message."""
    server.first = await server.space("write")
    await server.write(server.first, server.message(21, SECRETS[0]))
    return "answered a write of one message"


async def read(server: CheckedMemory) -> str:
    """Read one item, with an empty query, and an empty space."""
    found = await server.connection.read(server.first, CODE_QUERY, 1)
    await server.connection.read(server.first, "", 1)
    await server.connection.read(await server.space("empty"), CODE_QUERY, 1)
    return f"answered a read with {len(found.items)} of 1 item"


async def indexed(server: CheckedServer) -> str:
    """Read before a write, and right after it."""
    space = await server.space("indexed")
    await server.texts(space, SECRETS[1])
    await server.write(space, server.message(11, SECRETS[1]))
    began, reads, waited = time.perf_counter(), 1, 0.0
    while not contains(await server.texts(space, SECRETS[1]), WORDS[1]):
        waited = time.perf_counter() - began
        if waited > server.late:
            await _explain_missing(server, space, waited)
        await asyncio.sleep(0.02)
        reads += 1
    if reads > 1:
        again = [contains(await server.texts(space, SECRETS[1]), WORDS[1]) for _ in range(READS)]
        if not all(again):
            raise CheckNote("equal reads return other items: `stable_reads`")
        raise CheckFailed(f"a message is found only {waited:.2f} s after the answer to its write")
    return "a message is found at the first read after its write"


async def _explain_missing(server: CheckedServer, space: str, waited: float) -> None:
    """Raise the reason why reads do not find a message."""
    if server.can.design.merges:
        raise CheckNote("a message is not found by its words: the memory declares that it merges")
    if contains(await server.texts(space, CODE_QUERY), WORDS[1]):
        raise CheckFailed(
            "a read does not find a message that was written after an equal read, and another query finds it: a cache "
            "of reads"
        )
    raise CheckFailed(f"a message that was written is not found, also {waited:.1f} s after the answer")


async def spaces(server: CheckedMemory) -> str:
    """Write to two spaces messages with the same id, as those of two episodes may have."""
    server.need_spaces(2)
    server.pair = [await server.space(f"spaces-{number}") for number in (1, 2)]
    for space, text in zip(server.pair, SECRETS, strict=True):
        await server.write(space, server.message(1, text))
    for space, other in zip(server.pair, reversed(WORDS), strict=True):
        if contains(await server.texts(space, CODE_QUERY), other):
            raise CheckFailed(
                f"a read finds what was written to {server.other_space}: {space} returns {other!r}"
            )
    return "two spaces do not see each other"


async def reset(server: CheckedServer) -> str:
    """Read after `reset`."""
    await server.reset(server.first)
    if contains(await server.texts(server.first, SECRETS[0]), WORDS[0]):
        raise CheckFailed("after `reset`, a read still finds what was written before")
    return "nothing is left after `reset`"


async def reused_ids(server: CheckedServer) -> str:
    """Write the same id in another space, and after `reset`."""
    server.need_spaces(3)
    _need_own_texts(server)
    for space, text, word in zip(server.pair, SECRETS, WORDS, strict=True):
        if not await server.has(space, text, word):
            raise CheckFailed("a message is lost when another space gets one with the same id")
    await server.write(server.first, server.message(21, SECRETS[1]))
    if not await server.has(server.first, SECRETS[1], WORDS[1]):
        raise CheckFailed("after `reset`, a message with an id of before is not stored")
    return "the same id in another space, or after `reset`, is another message"


async def requests_in_flight(server: CheckedServer) -> str:
    """Read concurrently."""
    server.need_spaces(3)
    reads = [(number, space) for number, space in enumerate(server.pair) for _ in range(8)]
    answers = await asyncio.gather(*(server.texts(space, SECRETS[number]) for number, space in reads))
    for (number, space), texts in zip(reads, answers, strict=True):
        is_lost = not texts and not await server.has(space, SECRETS[number], WORDS[number])
        if contains(texts, WORDS[1 - number]) or (is_lost and not server.can.design.merges):
            raise CheckFailed(
                "with several requests in flight, a read got no answer, or that of another read"
            )
    return f"{len(reads)} concurrent reads have their own answers"


async def restart(server: CheckedServer) -> str:
    """Read after the server was killed."""
    if server.connection.transport.outlives_run:
        raise CheckSkipped("memflow does not start this server")
    space = await server.two_secrets("restart")
    before = await server.texts(space, CODE_QUERY)
    server.kills += 1
    await server.connection.transport.kill()
    after = await server.texts(space, CODE_QUERY)
    lost = [text for text in before if text not in after]
    if lost and (server.can.deterministic or not after):
        raise CheckFailed(
            f"{len(lost)} of {len(before)} items are lost after a restart, although all writes were repeated, such as "
            f"{lost[0][:60]!r}"
        )
    if before != after and server.can.deterministic:
        raise CheckFailed("reads return other items after a restart and a replay of the writes")
    return "a read finds the same after a restart and a replay of the writes"


async def texts(server: CheckedServer) -> str:
    """Write odd texts."""
    _need_own_texts(server)
    space = await server.space("texts")
    for number, text in enumerate(ODD_TEXTS.values()):
        await server.write(space, server.message(number, text))
    damaged = [
        kind
        for kind, text in ODD_TEXTS.items()
        if not contains(await server.texts(space, " ".join(text.split()[:3])), text)
    ]
    if damaged:
        raise CheckFailed(f"not found as written: {', '.join(damaged)}")
    return f"{len(ODD_TEXTS)} texts with quotes, line breaks, emoji and NUL are unchanged"


async def deterministic(server: CheckedMemory) -> str:
    """Write the same to two spaces."""
    if not server.can.deterministic:
        raise CheckSkipped("not declared")
    reads = list[list[list[str]]]()
    for number in (1, 2):
        space = await server.two_secrets(f"same-{number}")
        reads.append([await server.texts(space, CODE_QUERY) for _ in range(READS)])
    if reads[0] != reads[1]:
        raise CheckFailed("two spaces with the same writes return different items")
    return "two spaces with the same writes return the same"


async def stops(server: CheckedServer) -> str:
    """Count stops since the start."""
    if number := server.connection.restarts - server.kills:
        raise CheckFailed(f"the server stopped {number} times; at last it {server.connection.last_stop}")
    return "the server did not end"


def _need_own_texts(server: CheckedServer) -> None:
    if server.can.design.merges:
        raise CheckSkipped("the memory declares that it merges: its texts are its own")
