"""The checks of a memory server: whether it keeps the protocol, and has the capabilities that it declares.

check_lines.py runs them; capability_checks.py has those of declared capabilities.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence

from memflow.memories.server.protocol import Capabilities, Found, Hello, SentMessage, WireItem
from resources.memory_servers.check_lines import (
    Check,
    CheckFailed,
    CheckLine,
    CheckNote,
    CheckSkipped,
    run_checks,
)
from resources.memory_servers.check_messages import CODE_QUERY, CONTRADICTION, ODD_TEXTS, SECRETS, message
from resources.memory_servers.connection import ServerConnection
from resources.memory_servers.stdio_transport import StdioTransport

LATE_S = 2.0
"""Seconds in which a read is repeated to see whether a write is found late."""
K = 10


class ServerChecks:
    """The checks of one server. `connect` returns a new connection, whose first request starts the server.

    `late` is the number of seconds that an index may be late before the check stops to look for it.
    """

    def __init__(self, connect: Callable[[], ServerConnection], late: float = LATE_S) -> None:
        self.connect = connect
        self.late = late
        self.server = connect()
        self.run_name = f"check-{uuid.uuid4().hex[:12]}"
        self.spaces: list[str] = []
        self.written: dict[str, int] = {}

    @property
    def can(self) -> Capabilities:
        """The capabilities that the server declared."""
        return self.greeting.can

    async def run(self) -> list[CheckLine]:
        """Run all checks, and end the server. Return one line per check."""
        from resources.memory_servers.capability_checks import capability_checks  # noqa: PLC0415  (it imports this)

        try:
            return await run_checks([*self._checks(), *capability_checks(self), *self._last_checks()])
        finally:
            await self.server.stop()

    def _checks(self) -> list[Check]:
        return [
            Check(
                "start", self._start, "Fix the command or the address; logs belong on stderr.", needed=True
            ),
            Check("stable_hello", self._stable_hello, "Answer `hello` with constants: results depend on it."),
            Check(
                "write", self._write, "Answer each write with one JSON line, when it is done.", needed=True
            ),
            Check("read", self._read, "Answer each read with at most k valid items.", needed=True),
            Check("indexed", self._indexed, "Answer a write only when `read` finds what was written."),
            Check("texts", self._texts, "Keep texts unchanged, or say what the memory does with them."),
            Check("batch", self._batch, "Store every message of a write, or declare a smaller `batch`."),
            Check("spaces", self._spaces, "Filter reads by `space`."),
            Check("reset", self._reset, "Delete everything of the space at `reset`."),
            Check("requests_in_flight", self._in_flight, "Repeat the request's `n` in its answer."),
        ]

    def _last_checks(self) -> list[Check]:
        return [
            Check("contradictions", self._contradictions, "Nothing to fix."),
            Check("speed", self._speed, "Set `timeout`, or expect long runs."),
            Check("stops", self._stops, "Find the reason in the server's log."),
            Check("restart", self._restart, "Make the state of a space depend on its requests alone."),
        ]

    # What the checks use

    async def space(self, name: str) -> str:
        """Create an empty space, and return its name."""
        full = f"{self.run_name}/{name}"
        self.spaces.append(full)
        self.written[full] = 0
        await self.server.reset(full)
        return full

    async def write(self, space: str, *messages: SentMessage) -> None:
        """Write messages. Raises CheckFailed if the server reports failures."""
        for part in _parts(messages, self.can.batch):
            self.written[space] += 1
            answer = await self.server.write(space, self.written[space], part)
            if answer.failures:
                raise CheckFailed(f"the server reported a failed write: {answer.failures[0].why}")

    async def texts(self, space: str, query: str, k: int = K) -> list[str]:
        """Return the texts that a read finds, and the notes."""
        return texts_of(await self.server.read(space, query, k))

    # The checks

    async def _start(self) -> str:
        began = time.perf_counter()
        self.greeting: Hello = await self.server.hello()
        seconds = time.perf_counter() - began
        declared = self.can.model_dump(exclude_defaults=True)
        said = ", ".join(f"{name}: {value}" for name, value in declared.items()) or "no capability"
        return f"{self.greeting.name} {self.greeting.version} after {seconds:.1f} s, declares {said}"

    async def _stable_hello(self) -> str:
        other = self.connect()
        try:
            again = await other.hello()
        finally:
            await other.stop()
        for field in Hello.model_fields:
            first, second = getattr(self.greeting, field), getattr(again, field)
            if first != second:
                raise CheckFailed(f"`{field}` was {first!r} at the first start, and {second!r} at the second")
        return "equal at two starts"

    async def _write(self) -> str:
        space = await self.space("write")
        await self.write(space, message(1, SECRETS[0]))
        return "answered a write of one message"

    async def _read(self) -> str:
        space = await self.space("read")
        await self.write(space, message(1, SECRETS[0]))
        await self.write(space, message(2, SECRETS[1]))
        found = await self.server.read(space, CODE_QUERY, 1)
        await self.server.read(space, "", 1)
        return f"answered a read with {len(found.items)} of 1 item"

    async def _indexed(self) -> str:
        space = await self.space("indexed")
        await self.write(space, message(1, SECRETS[0]))
        began, reads = time.perf_counter(), 1
        while not contains(await self.texts(space, CODE_QUERY), "xylophone42"):
            waited = time.perf_counter() - began
            if waited > self.late:
                raise CheckFailed(
                    f"a message that was written is not found, also {waited:.1f} s after the answer"
                )
            await asyncio.sleep(0.02)
            reads += 1
        if reads > 1:
            waited = time.perf_counter() - began
            raise CheckFailed(f"a message is found only {waited:.2f} s after the answer to its write")
        return "a message is found at the first read after its write"

    async def _texts(self) -> str:
        space = await self.space("texts")
        damaged = []
        for number, text in enumerate(ODD_TEXTS.values()):
            await self.write(space, message(number, text))
        for kind, text in ODD_TEXTS.items():
            found = await self.texts(space, _query(text))
            if not contains(found, text):
                damaged.append(kind)
        if damaged and len(damaged) == len(ODD_TEXTS) and not await self.texts(space, CODE_QUERY):
            raise CheckNote("no text is found as it was written: the memory rewrites what it stores")
        if damaged:
            raise CheckFailed(f"not found as written: {', '.join(damaged)}")
        return f"{len(ODD_TEXTS)} texts with quotes, line breaks, emoji and NUL are unchanged"

    async def _batch(self) -> str:
        space = await self.space("batch")
        words = [f"narwhal{number}" for number in range(12)]
        await self.write(
            space, *(message(number, f"The {word} is stored.") for number, word in enumerate(words))
        )
        lost = [word for word in words if not contains(await self.texts(space, word, len(words)), word)]
        if lost:
            raise CheckFailed(f"{len(lost)} of 12 messages written as `{self.can.batch}` are not found")
        return f"12 messages written as `{self.can.batch}` are found"

    async def _spaces(self) -> str:
        first, second = await self.space("spaces-1"), await self.space("spaces-2")
        await self.write(first, message(1, SECRETS[0]))
        await self.write(second, message(2, SECRETS[1]))
        for space, other in ((first, "zeppelin77"), (second, "xylophone42")):
            if contains(await self.texts(space, CODE_QUERY), other):
                raise CheckFailed("a read finds what was written to another space")
        return "two spaces do not see each other"

    async def _reset(self) -> str:
        space = await self.space("reset")
        await self.write(space, message(1, SECRETS[0]))
        await self.server.reset(space)
        if contains(await self.texts(space, CODE_QUERY), "xylophone42"):
            raise CheckFailed("after `reset`, a read still finds what was written before")
        return "nothing is left after `reset`"

    async def _in_flight(self) -> str:
        spaces = [await self.space(f"flight-{number}") for number in range(4)]
        for number, space in enumerate(spaces):
            await self.write(space, message(number, f"The token of this room is giraffe{number}."))
        reads = [(number, space) for number, space in enumerate(spaces) for _ in range(4)]
        found = await asyncio.gather(*(self.texts(space, "token of this room") for _, space in reads))
        for (number, _), texts in zip(reads, found, strict=True):
            if not contains(texts, f"giraffe{number}"):
                raise CheckFailed(
                    "with several requests in flight, a read got no answer, or that of another read"
                )
        transport = self.server.transport
        swapped = transport.out_of_order if isinstance(transport, StdioTransport) else 0
        if swapped:
            raise CheckNote(f"{swapped} answers came before that of an earlier request, which is allowed")
        return "16 concurrent reads have their own answers"

    async def _contradictions(self) -> str:
        space = await self.space("contradictions")
        for number, text in enumerate(CONTRADICTION):
            await self.write(space, message(number, text))
        found = await self.texts(space, "What is my favorite color?")
        kept = [color for color in ("turquoise", "magenta") if contains(found, color)]
        raise CheckNote(f"of two contradicting facts, a read finds {' and '.join(kept) or 'none'}")

    async def _restart(self) -> str:
        transport = self.server.transport
        if not isinstance(transport, StdioTransport) or transport.process is None:
            raise CheckSkipped("memflow does not start this server")
        space = await self.space("restart")
        await self.write(space, message(1, SECRETS[0]), message(2, SECRETS[1]))
        before = await self.texts(space, CODE_QUERY)
        await transport.process.kill()
        after = await self.texts(space, CODE_QUERY)
        if before != after and (self.can.deterministic or not after):
            raise CheckFailed(
                f"a read found {len(before)} items, and {len(after)} other items after a restart and replay"
            )
        return "a read finds the same after a restart and a replay of the writes"

    async def _stops(self) -> str:
        if self.server.restarts:
            raise CheckFailed(
                f"the server stopped {self.server.restarts} times; at last it {self.server.last_stop}"
            )
        return "the server did not end"

    async def _speed(self) -> str:
        space = await self.space("speed")
        began = time.perf_counter()
        await self.write(space, message(1, SECRETS[0]))
        wrote = time.perf_counter()
        await self.server.read(space, CODE_QUERY, K)
        write, read = wrote - began, time.perf_counter() - wrote
        found = f"a write of one message takes {write:.2f} s, a read {read:.2f} s"
        limits = self.server.limits
        if write > limits.write / 10 or read > limits.read / 10:
            raise CheckNote(f"{found}: more than a tenth of the time limit")
        return found


def contains(texts: Sequence[str], part: str) -> bool:
    """Return whether a text contains `part`."""
    return any(part in text for text in texts)


def texts_of(found: Found) -> list[str]:
    """Return the texts of the items of a read, and its notes."""
    return [*(item.text for item in found.items), *([found.notes] if found.notes else [])]


def content_of(items: Sequence[WireItem]) -> list[tuple[str, tuple[str, ...]]]:
    """Return texts and sources of items, sorted, to compare two states whose ids may be random."""
    return sorted((item.text, item.sources) for item in items)


def _query(text: str) -> str:
    """Return a query that finds a text: its first words."""
    return " ".join(text.split()[:3])


def _parts(messages: Sequence[SentMessage], batch: str) -> list[Sequence[SentMessage]]:
    size = {"message": 1, "pair": 2}.get(batch, len(messages))
    return [messages[first : first + size] for first in range(0, len(messages), size)]
