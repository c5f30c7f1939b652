"""The server that a check writes to and reads: its spaces, the writes that were sent, and the texts of reads."""

import uuid
from collections.abc import Sequence

from memflow.memories.server.protocol import Capabilities, Hello, SentMessage
from memflow.resources.memory_servers.check_lines import CheckFailed, CheckSkipped
from memflow.resources.memory_servers.check_messages import OLD_DATES, SECRETS, message
from memflow.resources.memory_servers.connection import ServerConnection

K = 10
READS = 8
"""Equal reads, to find a random difference: one in two is missed once in 128 checks."""


class CheckedServer:
    """A server, and what the checks wrote to it."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection
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

    async def space(self, name: str) -> str:
        """Create an empty space, and return its name."""
        full = f"{self.run_name}/{name}"
        await self.reset(full)
        return full

    async def reset(self, space: str) -> None:
        """Create or empty a space. The oldest one is closed if the server allows no more."""
        if space not in self.spaces:
            while self.can.spaces and len(self.spaces) >= self.can.spaces:
                await self.connection.close(self.spaces.pop(0))
            self.spaces.append(space)
        self.written[space] = 0
        await self.connection.reset(space)

    def need_spaces(self, number: int) -> None:
        """Raise CheckSkipped if the server allows fewer spaces at once."""
        if 0 < self.can.spaces < number:
            raise CheckSkipped(f"the server declares spaces: {self.can.spaces}")

    def next_write(self, space: str) -> int:
        """Count a write, or a request to forget, and return its number in the space."""
        self.written[space] += 1
        self.writes += 1
        return self.written[space]

    async def write(self, space: str, *messages: SentMessage) -> None:
        """Write messages. Raises CheckFailed if the server reports failures."""
        for part in _parts(messages, self.can.batch):
            answer = await self.connection.write(space, self.next_write(space), part)
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
        found = await self.connection.read(space, query, k)
        return [*(item.text for item in found.items), *([found.notes] if found.notes else [])]

    async def two_secrets(self, name: str) -> str:
        """Create a space with two messages."""
        space = await self.space(name)
        for number, (text, date) in enumerate(zip(SECRETS, OLD_DATES, strict=True), 1):
            sent = self.message(number, text)
            await self.write(space, sent.model_copy(update={"sent_at": date if self.can.dates else None}))
        return space

    async def kill(self) -> None:
        """End the server."""
        self.kills += 1
        await self.connection.transport.kill()


def contains(texts: Sequence[str], part: str) -> bool:
    """Return whether a text contains `part`."""
    return any(part in text for text in texts)


def _parts(messages: Sequence[SentMessage], batch: str) -> list[Sequence[SentMessage]]:
    size = {"message": 1, "pair": 2}.get(batch, len(messages))
    return [messages[first : first + size] for first in range(0, len(messages), size)]
