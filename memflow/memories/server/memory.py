"""ServerMemory: a memory whose content is in a memory server, mirrored as entries.

The server's state is a cache. The store contains everything else: the writes, the items that the server exports or
returns, the reads of each checkpoint, and the failures. reading.py reads a memory as of a checkpoint.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from memflow.errors import BadInput, BadSettings, CannotForget, RecallFailed, ServerFailed
from memflow.memories.external import ExternalMemory
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import FAILURE, Memory, Message, Recall, parameter
from memflow.memories.server.capabilities import (
    AS_OF,
    ASK_AT_ONCE,
    AUTO,
    MODES,
    choose_mode,
    cut_writes,
    sent_message,
)
from memflow.memories.server.mirror import NOTES, READ, SERVER, WRITE, Mirror, SentWrite
from memflow.memories.server.protocol import Capabilities, ReadAnswer, WriteFailure
from memflow.memories.server.reading import (
    StateReader,
    new_queries,
    read_space,
    recall_of,
    rewrite,
    send_write,
    store_read,
    stored_read,
)
from memflow.memories.server.session import ServerSession, Space, next_state, session_of, state_of
from memflow.timing import leave_unmeasured

READS_AT_ONCE = 16
"""Queries of one checkpoint that are read concurrently."""
DECLARED = {"sources", "export", "ranked", "dates", "pure_reads", "design"}
"""The capabilities that a store records, since they explain its entries."""


@dataclass
class ServerMemory(ExternalMemory):
    """A memory that runs as a server: a program of any language, in an environment of its own."""

    k: int = parameter(10, "Number of items that a read requests.", low=1, high=100_000)
    budget: int = parameter(0, "Tokens of notes, the best items first; 0 is no limit.")
    mode: str = parameter(AUTO, "The way in which the memory is read as of a checkpoint.", choices=MODES)

    bookkeeping_kinds: ClassVar[frozenset[str]] = Memory.bookkeeping_kinds | {SERVER, WRITE, READ}
    global_kinds: ClassVar[frozenset[str]] = frozenset({NOTES})
    cannot_forget: ClassVar[str] = "its answer to `hello` declares no `forget`"

    _space: Space | None = field(default=None, init=False, repr=False, compare=False)
    _reader: StateReader | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def needs_queries(cls, values: Mapping[str, Any]) -> bool:
        """Return whether the mode may read the memory when a checkpoint is reached."""
        return values["mode"] in (AUTO, ASK_AT_ONCE)

    async def on_start(self, episode_id: str) -> None:
        """Open a space: an empty one, or one with the writes of the base episode."""
        session = self._session()
        hello = await session.hello()
        mode = choose_mode(self.mode, hello)
        self._space = await session.open(episode_id)
        if self.store.newest(SERVER) is None:
            capabilities = hello.can.model_dump(mode="json", include=DECLARED)
            meta = {"mode": mode, "episode": episode_id, "can": capabilities}
            note = ", reads change the memory" if mode == ASK_AT_ONCE and not hello.can.pure_reads else ""
            self.store.add(SERVER, f"{hello.name} {hello.version}, mode {mode}{note}", sources=(), meta=meta)
        writes = self._mirror.writes
        state = state_of(writes)
        base = session.find(state) if writes else None
        try:
            if base is not None and hello.can.fork and base.state == state:
                await session.connection.fork(base.name, self._space.name)
                self._space.writes = base.writes
            else:
                await rewrite(session.connection, self._space, writes)
        except ServerFailed as error:
            self._space.broken = f"the space of the episode {episode_id} could not be opened: {error}"
        session.register(self._space, state)

    async def on_checkpoint(self, queries: Sequence[str]) -> None:
        """Read the queries and store the answers, if the mode needs it."""
        if self._declaration().get("mode") == ASK_AT_ONCE:
            capabilities = (await self._session().hello()).can
            unread = new_queries(self.store, queries)
            running = asyncio.Semaphore(READS_AT_ONCE if capabilities.pure_reads else 1)
            answers = await asyncio.gather(*(self._read_at_once(query, running) for query in unread))
            changes = not capabilities.pure_reads
            for query, answer in zip(unread, answers, strict=True):
                store_read(self.store, self._mirror, query, answer, self.k, changes=changes)

    async def on_end(self, is_base: bool) -> None:
        """Close the space, unless another episode or a later read needs it."""
        session, space = self._session(), self._open_space()
        capabilities = (await session.hello()).can
        self._space = None
        is_continued = is_base and capabilities.fork
        if capabilities.spaces or not (is_continued or self._declaration().get("mode") == AS_OF):
            await session.close(space)

    def on_abort(self) -> None:
        """Release the space without a request."""
        if self._space is not None:
            self._session().release(self._space)
            self._space = None

    async def write(self, messages: Sequence[Message]) -> None:
        """Send the messages to the server, and mirror the items that it contains afterwards."""
        space = self._open_space()
        capabilities = (await self._session().hello()).can
        for chunk in cut_writes(messages, capabilities.batch):
            sent = tuple(sent_message(message, capabilities) for message in chunk)
            await self._send(SentWrite(write=space.writes + 1, messages=sent), space)
        await self._mirror_export(space, capabilities)

    async def forget(self, request: ForgetRequest) -> None:
        """Send a request to forget, and mirror what the server contains afterwards.

        A period becomes its messages for a server that forgets by message. Without an export, no entry stays, since
        what the server contains is not known. Raises CannotForget, and ServerFailed with what the server reports.
        """
        space = self._open_space()
        capabilities = (await self._session().hello()).can
        if request.by == "time" and "time" not in capabilities.forget:
            request = replace(request, by="message")
        if request.by not in capabilities.forget:
            forms = (
                f"`forget` by {', '.join(capabilities.forget)} only" if capabilities.forget else "no `forget`"
            )
            raise CannotForget(f"not forgotten by {request.by}: its answer to `hello` declares {forms}")
        write = SentWrite(write=space.writes + 1, messages=(), forget=request)
        failures = await self._send(write, space)
        if capabilities.export == "none":
            self._mirror.retire_all()
        await self._mirror_export(space, capabilities)
        if failures:
            raise ServerFailed("; ".join(failure.why for failure in failures))

    async def _send(self, write: SentWrite, space: Space) -> Sequence[WriteFailure]:
        """Send a write or a request to forget, and record it. Return what the server could not do."""
        session, mirror = self._session(), self._mirror
        for read in self.store.live(READ):
            self.store.retire(read.entry_id)
        space.writes = write.write
        failures: Sequence[WriteFailure] = ()
        try:
            if space.broken:
                raise ServerFailed(space.broken)
            answer = await send_write(session.connection, space, write)
            failures, write = answer.failures, write.model_copy(update={"extracted": answer.extracted})
        except ServerFailed as error:
            write = write.model_copy(update={"failed": True})
            failures = [WriteFailure(why=str(error), sources=write.ids)]
        mirror.add_write(write)
        meta = write.model_dump(mode="json", exclude_defaults=True)
        self.store.add(WRITE, write.summary, sources=(), meta=meta)
        for failure in failures:
            self._add_failure(failure)
        if not write.failed:
            session.register(space, next_state(space.state, write))
        return failures

    async def _mirror_export(self, space: Space, capabilities: Capabilities) -> None:
        if capabilities.export != "none" and not space.broken:
            try:
                exported = await self._session().connection.export(space.name)
            except ServerFailed as error:
                self.store.add(FAILURE, str(error), sources=())
            else:
                self._mirror.add_exported(exported.items)

    async def read(self, query: str, frozen: bool = True) -> Recall:
        """Return the items that the server returns for a query, now or as of the store's sequence number."""
        if self._space is None and self._declaration().get("mode") == ASK_AT_ONCE:
            stored_answer = stored_read(self.store, query, self.k)
            if stored_answer is not None:
                leave_unmeasured()
                self.ranks_entries = self._mirror.capabilities.ranked  # type: ignore[misc]
                return recall_of(*stored_answer, self.budget, self._mirror)
        session = self._session()
        capabilities = (await session.hello()).can
        self.ranks_entries = capabilities.ranked  # type: ignore[misc]
        mirror = self._mirror
        try:
            if self._space is not None:
                answer = await read_space(session.connection, self._space, query, self.k)
            else:
                if self._reader is None:
                    self._reader = StateReader(
                        session, capabilities, self.store, mirror.writes, self._declaration()
                    )
                answer = await self._reader.read(query, self.k)
            items = mirror.find_returned(answer.items) if frozen else mirror.add_returned(answer.items)
        except ServerFailed as error:
            raise RecallFailed(str(error)) from error
        return recall_of(items, answer.notes, self.budget, mirror)

    async def _read_at_once(self, query: str, running: asyncio.Semaphore) -> ReadAnswer | str:
        """Return the answer to a query now, or the reason why the read failed."""
        async with running:
            try:
                return await read_space(self._session().connection, self._open_space(), query, self.k)
            except ServerFailed as error:
                return str(error)

    def _add_failure(self, failure: WriteFailure) -> None:
        """Add an entry for what the server could not store; sources that were never sent are part of its text."""
        unknown = self._mirror.unknown(failure.sources)
        suffix = f" (of messages that were never sent: {', '.join(unknown)})" if unknown else ""
        known_sources = [source for source in failure.sources if source not in unknown]
        self.store.add(FAILURE, failure.why + suffix, sources=known_sources)

    def _declaration(self) -> Mapping[str, Any]:
        """Return mode, episode and capabilities as they were when the episode was played; empty if it never was."""
        entry = self.store.newest(SERVER)
        return {} if entry is None else entry.meta

    @cached_property
    def _mirror(self) -> Mirror:
        capabilities = Capabilities(**self._declaration().get("can", {}))
        return Mirror(self.store, capabilities, self.bookkeeping_kinds | self.global_kinds)

    def _session(self) -> ServerSession:
        if self.tools.server is None:
            raise BadSettings(
                f"a {type(self).__name__} needs a connection to its memory server, but its tools have none. Set "
                "`command` or `url` in [memories.NAME] of memflow.toml, or pass Tools(server=...) in Python."
            )
        return session_of(self.tools.server)

    def _open_space(self) -> Space:
        if self._space is None:
            raise BadInput(
                "a memory server was used before its episode started. Play it with memflow.run.play, which calls "
                "`on_start`."
            )
        return self._space
