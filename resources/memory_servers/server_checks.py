"""The checks of a memory server: whether it keeps the protocol, and has the capabilities that it declares.

check_lines.py runs them; capability_checks.py has those of declared capabilities.
"""

import asyncio
import time
from collections.abc import Callable

from memflow.memories.server.protocol import Capabilities, Hello
from memflow.resources.memory_servers.capability_checks import CapabilityChecks
from memflow.resources.memory_servers.check_lines import (
    CheckFailed,
    CheckLine,
    CheckNote,
    CheckSkipped,
    check,
    checks_of,
    run_checks,
)
from memflow.resources.memory_servers.check_messages import (
    CODE_QUERY,
    ODD_TEXTS,
    SECRETS,
)
from memflow.resources.memory_servers.checked_server import READS, CheckedServer, contains
from memflow.resources.memory_servers.checked_spaces import ServerSpace
from memflow.resources.memory_servers.connection import ServerConnection
from memflow.resources.memory_servers.content_checks import ContentChecks
from memflow.resources.memory_servers.forget_checks import ForgetChecks
from memflow.resources.memory_servers.played_conversation import SIZES, PlayedConversation
from memflow.resources.memory_servers.read_checks import ReadChecks, compare_restarted

LATE_S = 2.0
"""Seconds in which a read is repeated to see whether a write is found late."""
WRITES_WITH_MODELS = 60
"""The most writes that a server gets which uses models."""
WRITES = 700
"""The most writes that other servers get, with those that a restart repeats."""
INDEXED = ("indexed",)


class StartChecks:
    """The checks of the start of a server."""

    def __init__(self, server: CheckedServer, connect: Callable[[], ServerConnection]) -> None:
        self.server = server
        self.connect = connect

    @check("Fix the command or the address; logs belong on stderr.", needed=True)
    async def start(self) -> str:
        """Start the server."""
        began = time.perf_counter()
        self.server.greeting = await self.server.connection.hello()
        seconds = time.perf_counter() - began
        declared = self.server.can.model_dump(exclude_defaults=True)
        said = ", ".join(f"{name}: {value}" for name, value in declared.items()) or "no capability"
        return f"{self.server.greeting.name} {self.server.greeting.version} after {seconds:.1f} s, declares {said}"

    @check("Answer `hello` with constants: results depend on it.")
    async def stable_hello(self) -> str:
        """Compare `hello` of two starts."""
        other = self.connect()
        try:
            again = await other.hello()
        finally:
            await other.stop()
        for field in Hello.model_fields:
            first, second = getattr(self.server.greeting, field), getattr(again, field)
            if first != second:
                raise CheckFailed(f"`{field}` was {first!r} at the first start, and {second!r} at the second")
        return "equal at two starts"


class SpaceChecks:
    """The checks of requests and spaces, with single messages."""

    def __init__(self, server: CheckedServer, late: float) -> None:
        self.server = server
        self.late = late

    @check("Answer each write with one JSON line, when it is done.", needed=True)
    async def write(self) -> str:
        """Write a message."""
        self.first = await self.server.space("write")
        await self.server.write(self.first, self.server.message(21, SECRETS[0]))
        return "answered a write of one message"

    @check("Answer each read with at most k valid items.", needed=True)
    async def read(self) -> str:
        """Read one item, and with an empty query."""
        found = await self.server.connection.read(self.first, CODE_QUERY, 1)
        await self.server.connection.read(self.first, "", 1)
        return f"answered a read with {len(found.items)} of 1 item"

    @check("Answer a write only when `read` finds what was written.")
    async def indexed(self) -> str:
        """Read right after a write."""
        space = await self.server.space("indexed")
        await self.server.write(space, self.server.message(11, SECRETS[1]))
        began, reads = time.perf_counter(), 1
        while not contains(await self.server.texts(space, SECRETS[1]), "zeppelin"):
            waited = time.perf_counter() - began
            if waited > self.late:
                if self.server.can.design.merges:
                    raise CheckNote("a message is not found by its words: the memory declares that it merges")
                raise CheckFailed(
                    f"a message that was written is not found, also {waited:.1f} s after the answer"
                )
            await asyncio.sleep(0.02)
            reads += 1
        waited = time.perf_counter() - began
        again = [
            contains(await self.server.texts(space, SECRETS[1]), "zeppelin")
            for _ in range(READS if reads > 1 else 0)
        ]
        if not all(again):
            raise CheckNote("equal reads return other items: `stable_reads`")
        if reads > 1:
            raise CheckFailed(f"a message is found only {waited:.2f} s after the answer to its write")
        return "a message is found at the first read after its write"

    @check("Filter reads by `space`.", after=INDEXED)
    async def spaces(self) -> str:
        """Write to two spaces."""
        self.server.need_spaces(2)
        spaces = [await self.server.space(f"spaces-{number}") for number in (1, 2)]
        # Both messages have the same id, as those of two episodes may.
        for space, text in zip(spaces, SECRETS, strict=True):
            await self.server.write(space, self.server.message(1, text))
        for space, other in zip(spaces, ("zeppelin", "xylophone"), strict=True):
            if contains(await self.server.texts(space, CODE_QUERY), other):
                raise CheckFailed("a read finds what was written to another space")
        self.pair = spaces
        return "two spaces do not see each other"

    @check("Delete everything of the space at `reset`.", after=INDEXED)
    async def reset(self) -> str:
        """Read after `reset`."""
        await self.server.reset(self.first)
        if contains(await self.server.texts(self.first, SECRETS[0]), "xylophone"):
            raise CheckFailed("after `reset`, a read still finds what was written before")
        return "nothing is left after `reset`"

    @check("Store a message by space and id, and forget ids at `reset`.", after=(*INDEXED, "spaces", "reset"))
    async def reused_ids(self) -> str:
        """Write the same id in another space, and after `reset`."""
        self.server.need_spaces(3)
        if self.server.can.design.merges:
            raise CheckSkipped("the memory declares that it merges: its texts are its own")
        for space, text in zip(self.pair, SECRETS, strict=True):
            if not await self.server.has(space, text, text.split()[-1].rstrip(".")):
                raise CheckFailed("a message is lost when another space gets one with the same id")
        await self.server.write(self.first, self.server.message(21, SECRETS[1]))
        if not await self.server.has(self.first, SECRETS[1], "zeppelin"):
            raise CheckFailed("after `reset`, a message with an id of before is not stored")
        return "the same id in another space, or after `reset`, is another message"

    @check("Repeat the request's `n` in its answer.", after=(*INDEXED, "reused_ids"))
    async def requests_in_flight(self) -> str:
        """Read concurrently."""
        self.server.need_spaces(3)
        words = ("xylophone", "zeppelin")
        reads = [(number, space) for number, space in enumerate(self.pair) for _ in range(8)]
        found = await asyncio.gather(*(self.server.texts(space, SECRETS[number]) for number, space in reads))
        for (number, space), texts in zip(reads, found, strict=True):
            is_lost = not texts and not await self.server.has(space, SECRETS[number], words[number])
            if contains(texts, words[1 - number]) or (is_lost and not self.server.can.design.merges):
                raise CheckFailed(
                    "with several requests in flight, a read got no answer, or that of another read"
                )
        return "16 concurrent reads have their own answers"


class EndChecks:
    """The checks after the conversation."""

    def __init__(self, server: CheckedServer, conversation: PlayedConversation) -> None:
        self.server = server
        self.conversation = conversation

    @check(
        "Make the state of a space depend on its requests alone.",
        after=("conversation", "stable_reads", "isolation"),
    )
    async def restart(self) -> str:
        """Read after the server was killed."""
        if self.server.connection.transport.outlives_run:
            raise CheckSkipped("memflow does not start this server")
        if self.server.uses_models:
            return await self._restart_space(await self.server.two_secrets("restart"))
        return await compare_restarted(self.conversation, self.server.kill)

    @check(
        "Keep quotes, line breaks and control characters in texts.",
        after=(*INDEXED, "complete", "unchanged", "queries", "restart"),
    )
    async def texts(self) -> str:
        """Write odd texts in one write."""
        if self.server.can.design.merges:
            raise CheckSkipped("the memory declares that it merges: its texts are its own")
        space = await self.server.space("texts")
        await self.server.write(space, *map(self.server.message, range(len(ODD_TEXTS)), ODD_TEXTS.values()))
        damaged = []
        for kind, text in ODD_TEXTS.items():
            found = await self.server.texts(space, _query(text))
            if not contains(found, text):
                damaged.append(kind)
        if damaged:
            raise CheckFailed(f"not found as written: {', '.join(damaged)}")
        return f"{len(ODD_TEXTS)} texts with quotes, line breaks, emoji and NUL are unchanged"

    @check("Declare deterministic: false.", after=("stable_reads", "restart"))
    async def deterministic(self) -> str:
        """Write the same to two spaces."""
        if not self.server.can.deterministic:
            raise CheckSkipped("not declared")
        reads = list[list[list[str]]]()
        for number in (1, 2):
            space = await self.server.two_secrets(f"same-{number}")
            reads.append([await self.server.texts(space, CODE_QUERY) for _ in range(READS)])
        if reads[0] != reads[1]:
            raise CheckFailed("two spaces with the same writes return different items")
        return "two spaces with the same writes return the same"

    @check("Find the reason in the server's log.")
    async def stops(self) -> str:
        """Count stops since the start."""
        if stops := self.server.connection.restarts - self.server.kills:
            raise CheckFailed(
                f"the server stopped {stops} times; at last it {self.server.connection.last_stop}"
            )
        return "the server did not end"

    async def _restart_space(self, space: str) -> str:
        before = await self.server.texts(space, CODE_QUERY)
        await self.server.kill()
        after = await self.server.texts(space, CODE_QUERY)
        if before != after and (self.server.can.deterministic or not after):
            raise CheckFailed(
                f"a read found {len(before)} items, and {len(after)} other items after a restart and replay"
            )
        return "a read finds the same after a restart and a replay of the writes"


class ServerChecks:
    """The checks of one server. `connect` returns a new connection, whose first request starts the server.

    `late` is the number of seconds that an index may be late before the check stops to look for it, and `sizes` the
    numbers of messages in the conversations of a server without models.
    """

    def __init__(
        self, connect: Callable[[], ServerConnection], late: float = LATE_S, sizes: tuple[int, int] = SIZES
    ) -> None:
        self.connect = connect
        self.late = late
        self.sizes = sizes
        self.server = CheckedServer(connect())

    async def run(self) -> list[CheckLine]:
        """Run all checks, and end the server. Return one line per check."""
        try:
            # What the server declares is known only when it was started.
            lines = await run_checks(checks_of(StartChecks(self.server, self.connect)))
            if any(line.verdict == "wrong" for line in lines):
                return lines
            conversation = self._conversation()
            groups = (
                SpaceChecks(self.server, self.late),
                CapabilityChecks(self.server),
                ForgetChecks(conversation.open_space, self.server.can),
                conversation,
                ContentChecks(conversation),
                ReadChecks(conversation),
                EndChecks(self.server, conversation),
            )
            return lines + await run_checks(checks_of(*groups))
        finally:
            await self.server.connection.stop()

    def _conversation(self) -> PlayedConversation:
        """Return the conversation, which is not played yet."""
        can = self.server.can

        async def open_space(name: str) -> ServerSpace:
            server = self.server
            return ServerSpace(
                server.connection, await server.space(name), can, server.write, server.next_write
            )

        return PlayedConversation(open_space, can, self.late, self.sizes)


def planned_writes(can: Capabilities | None) -> str:
    """Return how many writes a check sends to a server, in words; None for a server that was not started yet."""
    if can is None:
        return f"at most {WRITES_WITH_MODELS} writes if it uses models, else at most {WRITES}"
    return f"at most {WRITES if can.models == 'none' else WRITES_WITH_MODELS} writes"


def _query(text: str) -> str:
    """Return a query that finds a text: its first words."""
    return " ".join(text.split()[:3])
