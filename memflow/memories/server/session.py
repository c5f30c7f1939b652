"""ServerSession: the spaces of one connection to a memory server, shared by all memories that use the connection.

A state is identified by the digest of the writes that led to it (`next_state`), so a restored memory finds the space
that has it. Space names have a random prefix, because other runs may use the same server.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import reduce
from secrets import token_hex
from typing import Any, cast
from weakref import WeakKeyDictionary, ref

from memflow.errors import ServerFailed
from memflow.fingerprint import digest
from memflow.memories.server.mirror import SentWrite
from memflow.memories.server.protocol import Connection, Hello
from memflow.timing import count_waiting

EMPTY_STATE = digest("an empty space")
"""The state of a space without writes."""
RESTORED = 32
"""Spaces of restored states that are kept for later reads, on a server that allows any number."""
LONGEST_NAME = 200
"""Characters of an episode's id in the name of its space."""


def next_state(state: str, write: SentWrite) -> str:
    """Return the digest of a state after a write."""
    forget = [] if write.forget is None else [write.forget.to_json()]
    messages = [message.model_dump(mode="json") for message in write.messages]
    return digest(state, write.write, messages, *forget)


def state_of(writes: Iterable[SentWrite]) -> str:
    """Return the digest of the state after writes; those that failed do not count."""
    return reduce(next_state, (write for write in writes if not write.failed), EMPTY_STATE)


@dataclass
class Space:
    """A space of the server, its state and the number of its writes."""

    name: str
    state: str = EMPTY_STATE
    writes: int = 0
    states: list[str] = field(default_factory=list)
    """The states under which the session finds this space."""
    users: int = 0
    broken: str = ""
    """Why the space could not be opened, if so."""


class _TimedConnection:
    """A connection whose requests count, with the waiting, as time of the memory that sends them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getattr__(self, operation: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._connection, operation)
        return lambda *arguments, **keywords: count_waiting(method(*arguments, **keywords))


class ServerSession:
    """The spaces of one connection, in use or reusable, within the number of spaces that the server allows."""

    def __init__(self, connection: Connection) -> None:
        self._connection = ref(connection)
        self._prefix = token_hex(4)
        self._opened = 0
        self._hello: Hello | None = None
        self._released = asyncio.Event()
        self._open_count = 0
        self._reusable: OrderedDict[str, Space] = OrderedDict()
        self._building: dict[str, asyncio.Lock] = {}
        self._by_state: dict[str, Space] = {}

    @property
    def connection(self) -> Connection:
        """The connection, which the memories keep open. Its requests count as time of the memory."""
        connection = self._connection()
        assert connection is not None, "a memory that uses the session has the connection"
        return cast("Connection", _TimedConnection(connection))

    async def hello(self) -> Hello:
        """Return the server's answer to `hello`."""
        if self._hello is None:
            self._hello = await self.connection.hello()
        return self._hello

    def find(self, state: str) -> Space | None:
        """Return a space that has, or had, a state; None if none is known. It may have later writes, too."""
        return self._by_state.get(state)

    def register(self, space: Space, state: str) -> None:
        """Set the state of a space, under which `find` returns it from now on."""
        space.state = state
        space.states.append(state)
        self._by_state[state] = space

    async def open(self, episode_id: str, moment: str = "") -> Space:
        """Return a new space, when the server has room. It exists after `reset` or `fork`, up to `close`.

        `moment` ends its name, such as the checkpoint of a copy.
        """
        limit = (await self.hello()).can.spaces
        while limit and self._open_count >= limit:
            if not await self._evict():
                self._released.clear()
                await self._released.wait()
        self._open_count += 1
        self._opened += 1
        return Space(f"{self._prefix}.{self._opened}/{episode_id[:LONGEST_NAME]}{moment}")

    async def close(self, space: Space) -> None:
        """Delete a space, so that another can be opened. A space that the server cannot delete stays unused."""
        self.release(space)
        with suppress(ServerFailed):  # nothing reads the space again
            await self.connection.close(space.name)

    def release(self, space: Space) -> None:
        """Forget a space without a request, such as after an error that ends the step."""
        for state in space.states:
            if self._by_state.get(state) is space:
                del self._by_state[state]
        self._open_count -= 1
        self._released.set()

    @asynccontextmanager
    async def filled_space(
        self, key: str, episode_id: str, moment: str, fill: Callable[[Space], Awaitable[None]]
    ) -> AsyncIterator[Space]:
        """Yield a space that `fill` fills. Later readers of the same `key` share it."""
        async with self._building.setdefault(key, asyncio.Lock()):
            if key not in self._reusable:
                self._reusable[key] = await self._build(episode_id, moment, fill)
            space = self._reusable[key]
            space.users += 1
        try:
            yield space
        finally:
            space.users -= 1
            self._reusable.move_to_end(key)
            self._released.set()
        while len(self._reusable) > RESTORED and await self._evict():
            pass

    async def _build(self, episode_id: str, moment: str, fill: Callable[[Space], Awaitable[None]]) -> Space:
        space = await self.open(episode_id, moment)
        try:
            await fill(space)
        except BaseException as error:
            if isinstance(error, ServerFailed):
                await self.close(space)
            else:
                self.release(space)
            raise
        return space

    async def _evict(self) -> bool:
        """Close the restored space that is unused for longest. Return False if all are used."""
        for key, space in self._reusable.items():
            if not space.users and not self._building[key].locked():
                del self._reusable[key], self._building[key]
                await self.close(space)
                return True
        return False


_SESSIONS: WeakKeyDictionary[Connection, ServerSession] = WeakKeyDictionary()


def session_of(connection: Connection) -> ServerSession:
    """Return the session of a connection, which exists as long as the connection."""
    session = _SESSIONS.get(connection)
    if session is None:
        session = _SESSIONS[connection] = ServerSession(connection)
    return session
