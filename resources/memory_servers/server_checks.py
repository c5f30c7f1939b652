"""The checks of a memory server: whether it keeps the protocol, and has the capabilities that it declares.

check_lines.py runs them; capability_checks.py has those of declared capabilities.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence

from memflow.memories.server.protocol import Capabilities, Found, Hello, SentMessage
from resources.memory_servers.check_lines import (
    Check,
    CheckFailed,
    CheckLine,
    CheckNote,
    CheckSkipped,
    run_checks,
)
from resources.memory_servers.check_messages import (
    CODE_QUERY,
    CONTRADICTION,
    ODD_TEXTS,
    OLD_DATES,
    SECRETS,
    SEPARATE,
    message,
)
from resources.memory_servers.checked_memory import CheckedMemory
from resources.memory_servers.connection import ServerConnection
from resources.memory_servers.conversation_checks import SIZES, ConversationChecks
from resources.memory_servers.server_space import ServerSpace

LATE_S = 2.0
"""Seconds in which a read is repeated to see whether a write is found late."""
K = 10
READS = 8
"""Equal reads, to find a random difference: one in two is missed once in 128 checks."""
WRITES_WITH_MODELS = 60
"""The most writes that a server gets which uses models."""
WRITES = {"message": 700, "session": 60}
"""About as many writes other servers get, by `batch`, with those that a restart repeats; else WRITES_IN_PAIRS."""
WRITES_IN_PAIRS = 360


INDEXED = ("indexed",)


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
        self.server = connect()
        self.greeting: Hello | None = None
        self.run_name = f"check-{uuid.uuid4().hex[:12]}"
        self.spaces: list[str] = []
        self.written: dict[str, int] = {}
        self.writes = 0
        """Writes of all checks, without those that a restart repeats."""
        self.kills = 0
        """How often a check ended the server."""

    @property
    def can(self) -> Capabilities:
        """The capabilities that the server declared."""
        assert self.greeting is not None, "the server was started"
        return self.greeting.can

    @property
    def uses_models(self) -> bool:
        """Whether a write may cost requests to models."""
        return self.can.models != "none"

    async def run(self) -> list[CheckLine]:
        """Run all checks, and end the server. Return one line per check."""
        from resources.memory_servers.capability_checks import capability_checks  # noqa: PLC0415  (it imports this)

        try:
            # What the server declares is known only when it was started.
            lines = await run_checks(self._start_checks())
            if any(line.verdict == "wrong" for line in lines):
                return lines
            conversation = self._conversation()
            checks = [*self._checks(), *capability_checks(self), *conversation.checks()]
            return lines + await run_checks([*checks, *self._last_checks(conversation)])
        finally:
            await self.server.stop()

    def _start_checks(self) -> list[Check]:
        command = "Fix the command or the address; logs belong on stderr."
        return [
            Check("start", self._start, command, needed=True),
            Check("stable_hello", self._stable_hello, "Answer `hello` with constants: results depend on it."),
        ]

    def _checks(self) -> list[Check]:
        return [
            Check(
                "write", self._write, "Answer each write with one JSON line, when it is done.", needed=True
            ),
            Check("read", self._read, "Answer each read with at most k valid items.", needed=True),
            Check("indexed", self._indexed, "Answer a write only when `read` finds what was written."),
            Check("spaces", self._spaces, "Filter reads by `space`.", after=INDEXED),
            Check("reset", self._reset, "Delete everything of the space at `reset`.", after=INDEXED),
            Check(
                "reused_ids",
                self._reused_ids,
                "Store a message by space and id, and forget ids at `reset`.",
                after=(*INDEXED, "spaces", "reset"),
            ),
            Check(
                "requests_in_flight",
                self._in_flight,
                "Repeat the request's `n` in its answer.",
                after=(*INDEXED, "reused_ids"),
            ),
        ]

    def _last_checks(self, conversation: ConversationChecks) -> list[Check]:
        known = (*INDEXED, "complete", "unchanged", "queries", "restart")
        return [
            Check(
                "restart",
                lambda: self._restart(conversation),
                "Make the state of a space depend on its requests alone.",
                after=("conversation", "stable_reads", "isolation"),
            ),
            Check(
                "batch",
                self._batch,
                "Store every message of a write, or declare a smaller `batch`.",
                after=known,
            ),
            Check(
                "texts", self._texts, "Keep quotes, line breaks and control characters in texts.", after=known
            ),
            Check(
                "deterministic",
                self._deterministic,
                "Declare deterministic: false.",
                after=("stable_reads", "restart"),
            ),
            Check("contradictions", self._contradictions, "Nothing to fix."),
            Check("stops", self._stops, "Find the reason in the server's log."),
        ]

    def _conversation(self) -> ConversationChecks:
        """Return the checks with the long conversation."""
        can = self.can

        async def open_space(name: str) -> ServerSpace:
            return ServerSpace(self.server, await self.space(name), can, self.write)

        memory = CheckedMemory(
            open_space,
            can.design,
            can.sources,
            can.dates,
            can.ranked,
            can.batch,
            time_travel=can.as_of == "writes",
            deterministic=can.deterministic,
            uses_models=self.uses_models,
            one_space=self.can.spaces == 1,
        )
        return ConversationChecks(memory, self.late, self.sizes)

    # What the checks use

    async def space(self, name: str) -> str:
        """Create an empty space, and return its name."""
        full = f"{self.run_name}/{name}"
        await self.reset(full)
        return full

    async def reset(self, space: str) -> None:
        """Create or empty a space. The oldest one is closed if the server allows no more."""
        if space not in self.spaces:
            while self.can.spaces and len(self.spaces) >= self.can.spaces:
                await self.server.close(self.spaces.pop(0))
            self.spaces.append(space)
        self.written[space] = 0
        await self.server.reset(space)

    def need_spaces(self, number: int) -> None:
        """Raise CheckSkipped if the server allows fewer spaces at once."""
        if 0 < self.can.spaces < number:
            raise CheckSkipped(f"the server declares spaces: {self.can.spaces}")

    async def write(self, space: str, *messages: SentMessage) -> None:
        """Write messages. Raises CheckFailed if the server reports failures."""
        for part in _parts(messages, self.can.batch):
            self.written[space] += 1
            self.writes += 1
            answer = await self.server.write(space, self.written[space], part)
            if answer.failures:
                raise CheckFailed(f"the server reported a failed write: {answer.failures[0].why}")

    def message(self, number: int, text: str) -> SentMessage:
        """Return a message of a role that the server stores."""
        return message(number, text, self.can.design.roles[0])

    async def has(self, space: str, query: str, word: str, k: int = K) -> bool:
        """Return whether a read finds a text with a word, in any case of its letters. A failed read is repeated."""
        for _ in range(READS):
            if any(word in text.lower() for text in await self.texts(space, query, k)):
                return True
        return False

    async def texts(self, space: str, query: str, k: int = K) -> list[str]:
        """Return the texts that a read finds, and the notes."""
        return texts_of(await self.server.read(space, query, k))

    async def two_secrets(self, name: str) -> str:
        """Create a space with two messages."""
        space = await self.space(name)
        for number, (text, date) in enumerate(zip(SECRETS, OLD_DATES, strict=True), 1):
            sent = self.message(number, text)
            await self.write(space, sent.model_copy(update={"sent_at": date if self.can.dates else None}))
        return space

    # The checks

    async def _start(self) -> str:
        began = time.perf_counter()
        self.greeting = await self.server.hello()
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
        self.first = await self.space("write")
        await self.write(self.first, self.message(21, SECRETS[0]))
        return "answered a write of one message"

    async def _read(self) -> str:
        found = await self.server.read(self.first, CODE_QUERY, 1)
        await self.server.read(self.first, "", 1)
        return f"answered a read with {len(found.items)} of 1 item"

    async def _indexed(self) -> str:
        space = await self.space("indexed")
        await self.write(space, self.message(11, SECRETS[1]))
        began, reads = time.perf_counter(), 1
        while not contains(await self.texts(space, SECRETS[1]), "zeppelin"):
            waited = time.perf_counter() - began
            if waited > self.late:
                if self.can.design.merges:
                    raise CheckNote("a message is not found by its words: the memory declares that it merges")
                role = "assistant" if self.can.design.roles[0] == "user" else "user"
                await self.write(space, message(12, SECRETS[1], role))
                if contains(await self.texts(space, SECRETS[1]), "zeppelin"):
                    raise CheckFailed(
                        f"only messages of the {role} are found; one role is a design to declare"
                    )
                raise CheckFailed(
                    f"a message that was written is not found, also {waited:.1f} s after the answer"
                )
            await asyncio.sleep(0.02)
            reads += 1
        waited = time.perf_counter() - began
        again = [
            contains(await self.texts(space, SECRETS[1]), "zeppelin")
            for _ in range(READS if reads > 1 else 0)
        ]
        if not all(again):
            raise CheckNote("equal reads return other items: `stable_reads`")
        if reads > 1:
            raise CheckFailed(f"a message is found only {waited:.2f} s after the answer to its write")
        return "a message is found at the first read after its write"

    async def _texts(self) -> str:
        if self.can.design.merges:
            raise CheckSkipped("the memory declares that it merges: its texts are its own")
        space = await self.space("texts")
        await self.write(space, *map(self.message, range(len(ODD_TEXTS)), ODD_TEXTS.values()))
        damaged = []
        for kind, text in ODD_TEXTS.items():
            found = await self.texts(space, _query(text))
            if not contains(found, text):
                damaged.append(kind)
        if damaged:
            raise CheckFailed(f"not found as written: {', '.join(damaged)}")
        return f"{len(ODD_TEXTS)} texts with quotes, line breaks, emoji and NUL are unchanged"

    async def _batch(self) -> str:
        if self.can.batch == "message":
            raise CheckSkipped("the server gets one message a write")
        if self.can.design.merges or self.can.design.window:
            raise CheckSkipped("a declared design: `complete` counts what is stored")
        space = await self.space("batch")
        texts = SEPARATE[: 4 if self.uses_models else len(SEPARATE)]
        await self.write(space, *map(self.message, range(len(texts)), texts))
        lost = [
            text for text in texts if not await self.has(space, text, text.split()[0].lower(), len(texts))
        ]
        if lost:
            raise CheckFailed(
                f"{len(lost)} of {len(texts)} messages written as `{self.can.batch}` are not found"
            )
        return f"{len(texts)} messages written as `{self.can.batch}` are found"

    async def _spaces(self) -> str:
        self.need_spaces(2)
        spaces = [await self.space(f"spaces-{number}") for number in (1, 2)]
        # Both messages have the same id, as those of two episodes may.
        for space, text in zip(spaces, SECRETS, strict=True):
            await self.write(space, self.message(1, text))
        for space, other in zip(spaces, ("zeppelin", "xylophone"), strict=True):
            if contains(await self.texts(space, CODE_QUERY), other):
                raise CheckFailed("a read finds what was written to another space")
        self.pair = spaces
        return "two spaces do not see each other"

    async def _reset(self) -> str:
        await self.reset(self.first)
        if contains(await self.texts(self.first, SECRETS[0]), "xylophone"):
            raise CheckFailed("after `reset`, a read still finds what was written before")
        return "nothing is left after `reset`"

    async def _reused_ids(self) -> str:
        self.need_spaces(3)
        if self.can.design.merges:
            raise CheckSkipped("the memory declares that it merges: its texts are its own")
        for space, text in zip(self.pair, SECRETS, strict=True):
            if not await self.has(space, text, text.split()[-1].rstrip(".")):
                raise CheckFailed("a message is lost when another space gets one with the same id")
        await self.write(self.first, self.message(21, SECRETS[1]))
        if not await self.has(self.first, SECRETS[1], "zeppelin"):
            raise CheckFailed("after `reset`, a message with an id of before is not stored")
        return "the same id in another space, or after `reset`, is another message"

    async def _in_flight(self) -> str:
        self.need_spaces(3)
        words = ("xylophone", "zeppelin")
        reads = [(number, space) for number, space in enumerate(self.pair) for _ in range(8)]
        found = await asyncio.gather(*(self.texts(space, SECRETS[number]) for number, space in reads))
        for (number, space), texts in zip(reads, found, strict=True):
            is_lost = not texts and not await self.has(space, SECRETS[number], words[number])
            if contains(texts, words[1 - number]) or (is_lost and not self.can.design.merges):
                raise CheckFailed(
                    "with several requests in flight, a read got no answer, or that of another read"
                )
        swapped = getattr(self.server.transport, "out_of_order", 0)
        if swapped:
            raise CheckNote(f"{swapped} answers came before that of an earlier request, which is allowed")
        return "16 concurrent reads have their own answers"

    async def _deterministic(self) -> str:
        if not self.can.deterministic:
            raise CheckSkipped("not declared")
        reads = list[list[list[str]]]()
        for number in (1, 2):
            space = await self.two_secrets(f"same-{number}")
            reads.append([await self.texts(space, CODE_QUERY) for _ in range(READS)])
        if reads[0] != reads[1]:
            raise CheckFailed("two spaces with the same writes return different items")
        return "two spaces with the same writes return the same"

    async def _contradictions(self) -> str:
        space = await self.space("contradictions")
        for number, text in enumerate(CONTRADICTION):
            await self.write(space, self.message(number, text))
        found = await self.texts(space, "What is my favorite color?")
        kept = [color for color in ("turquoise", "magenta") if contains(found, color)]
        raise CheckNote(f"of two contradicting facts, a read finds {' and '.join(kept) or 'none'}")

    async def _restart(self, conversation: ConversationChecks) -> str:
        if self.server.transport.outlives_run:
            raise CheckSkipped("memflow does not start this server")
        if self.uses_models:
            return await self._restart_space(await self.two_secrets("restart"))
        return await conversation.compare_restarted(self._kill)

    async def _kill(self) -> None:
        self.kills += 1
        await self.server.transport.kill()

    async def _restart_space(self, space: str) -> str:
        before = await self.texts(space, CODE_QUERY)
        await self._kill()
        after = await self.texts(space, CODE_QUERY)
        if before != after and (self.can.deterministic or not after):
            raise CheckFailed(
                f"a read found {len(before)} items, and {len(after)} other items after a restart and replay"
            )
        return "a read finds the same after a restart and a replay of the writes"

    async def _stops(self) -> str:
        if stops := self.server.restarts - self.kills:
            raise CheckFailed(f"the server stopped {stops} times; at last it {self.server.last_stop}")
        return "the server did not end"


def planned_writes(can: Capabilities | None) -> str:
    """Return how many writes a check sends to a server, in words; None for a server that was not started yet."""
    if can is None:
        return f"at most {WRITES_WITH_MODELS} writes if it uses models, else about {WRITES_IN_PAIRS}"
    if can.models != "none":
        return f"at most {WRITES_WITH_MODELS} writes"
    return f"about {WRITES.get(can.batch, WRITES_IN_PAIRS)} writes without models"


def contains(texts: Sequence[str], part: str) -> bool:
    """Return whether a text contains `part`."""
    return any(part in text for text in texts)


def texts_of(found: Found) -> list[str]:
    """Return the texts of the items of a read, and its notes."""
    return [*(item.text for item in found.items), *([found.notes] if found.notes else [])]


def _query(text: str) -> str:
    """Return a query that finds a text: its first words."""
    return " ".join(text.split()[:3])


def _parts(messages: Sequence[SentMessage], batch: str) -> list[Sequence[SentMessage]]:
    size = {"message": 1, "pair": 2}.get(batch, len(messages))
    return [messages[first : first + size] for first in range(0, len(messages), size)]
