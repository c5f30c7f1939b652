"""The connection to a memory server: checked answers, one restart per request, and the replay of a space's writes.

It implements `Connection` of memflow/memories/server/protocol.py on a transport (stdio_transport.py or
http_transport.py).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from memflow.errors import ReportedError, ServerDown, ServerFailed
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.server.protocol import (
    PROTOCOL,
    ExportAnswer,
    Hello,
    ReadAnswer,
    SentMessage,
    Wire,
    WireItem,
    WriteAnswer,
)
from memflow.resources.memory_servers.transport import InvalidAnswer, ServerStopped, TimeLimits, Transport

if TYPE_CHECKING:
    from memflow.resources.model_proxy.access import ModelAccess

A = TypeVar("A", bound=BaseModel)

REQUESTS_AT_ONCE = 64
"""Maximum number of requests in flight."""
REPEATS = 3
"""How often a request is repeated whose error says `again`, with pauses of PAUSE_S, twice that, and so on."""
PAUSE_S = 0.1
CLOSING_S = 10.0
"""Seconds in which the spaces of a run are deleted at its end."""
STOPS = 6
"""The number of times in a row that a server may stop, without an answer to a read or write, before it is given up."""


class EmptyAnswer(Wire):
    """The answer to operations without a result."""


@dataclass
class _Space:
    """The requests that filled a space, which are sent again after a restart."""

    requests: list[Mapping[str, Any]] = field(default_factory=list)
    filling: asyncio.Lock = field(default_factory=asyncio.Lock)


class ServerConnection:
    """A connection to one memory server. A request of which the server stops is repeated once, alone.

    `name` is the name of the memory, for messages. `secrets` are texts, such as keys, that the server knows, and what
    replaces them in the messages of errors, which are stored. `access` has the models that it may use; the error that
    ends their use ends the step, since every further write would fail. `greeted` is called with the first answer to
    `hello`.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        limits: TimeLimits | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        access: "ModelAccess | None" = None,
        seed: int | None = None,
        secrets: Mapping[str, str] | None = None,
        greeted: Callable[[Hello], None] = lambda hello: None,
    ) -> None:
        self.name = name
        self.transport = transport
        self.limits = limits or TimeLimits()
        self.restarts = 0
        """How often the server stopped, so that it had to be started again."""
        self.last_stop = ""
        self._greeted = greeted
        self._access = access
        keys = {} if access is None else {access.key: "<the key of the endpoint>"}
        self._secrets = {**keys, **(secrets or {})}
        endpoints = {} if access is None else access.endpoints()
        self._greeting = {
            "op": "hello",
            "protocol": PROTOCOL,
            "endpoints": {key: endpoint.model_dump() for key, endpoint in endpoints.items()},
            "seed": seed,
            "settings": dict(settings or {}),
        }
        self._hello: Hello | None = None
        self._spaces: dict[str, _Space] = {}
        self._sent = set[str]()
        """The spaces that the server may have."""
        self._filled = set[str]()
        """The spaces of which the running server has the content."""
        self._generation = 0
        self._running = False
        self._stops = 0
        self._down: str | None = None
        self._starting = asyncio.Lock()
        self._turn = asyncio.Lock()
        self._slots = asyncio.Semaphore(REQUESTS_AT_ONCE)
        self._wrote = False

    @property
    def unused_models(self) -> bool:
        """Whether the server declared that it uses the given models, and did not although it was written to."""
        declared = self._hello is not None and self._hello.can.models == "given"
        return declared and self._wrote and (self._access is None or not self._access.requests)

    async def hello(self) -> Hello:
        """Return the server's answer to `hello`. Start the server if necessary."""
        await self._start()
        assert self._hello is not None
        return self._hello

    async def reset(self, space: str) -> None:
        """Empty a space, or create it."""
        self._spaces[space] = _Space()
        await self._in_space(space, {"op": "reset", "space": space}, EmptyAnswer)

    async def write(self, space: str, write: int, messages: Sequence[SentMessage]) -> WriteAnswer:
        """Write messages to a space."""
        sent = [message.model_dump(exclude_none=True) for message in messages]
        self._wrote = True
        return await self._written({"op": "write", "space": space, "write": write, "messages": sent})

    async def forget(self, space: str, write: int, request: ForgetRequest) -> WriteAnswer:
        """Delete what a request names."""
        fields = json.loads(request.to_json())
        return await self._written({"op": "forget", "space": space, "write": write, **fields})

    async def _written(self, request: Mapping[str, Any]) -> WriteAnswer:
        written = await self._in_space(request["space"], request, WriteAnswer)
        failures = [each.model_copy(update={"why": self._redacted(each.why)}) for each in written.failures]
        return written.model_copy(update={"failures": tuple(failures)})

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> ReadAnswer:
        """Return at most `k` items for a query."""
        request: dict[str, Any] = {"op": "read", "space": space, "query": query, "k": k}
        request |= {} if asked_at is None else {"asked_at": asked_at}
        request |= {} if as_of is None else {"as_of": as_of}
        found = await self._in_space(space, request, ReadAnswer)
        if len(found.items) > k:
            raise self._failed("read", f"answered {len(found.items)} items although k is {k}")
        return found

    async def export(self, space: str) -> ExportAnswer:
        """Return all items of a space."""
        return await self._in_space(space, {"op": "export", "space": space}, ExportAnswer)

    async def fork(self, space: str, to: str) -> None:
        """Copy a space."""
        await self._in_space(space, {"op": "fork", "space": space, "to": to}, EmptyAnswer)

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        """Fill an empty space with items."""
        sent = [item.model_dump(exclude_none=True) for item in items]
        await self._in_space(space, {"op": "restore", "space": space, "items": sent}, EmptyAnswer)

    async def close(self, space: str) -> None:
        """Delete a space that is not used any more."""
        known = self._spaces.pop(space, None)
        if known is None or not self._running:
            return  # the server does not have it
        if space not in self._filled and not (space in self._sent and self.transport.outlives_run):
            return
        await self._repeated({"op": "close", "space": space}, None, EmptyAnswer)

    async def stop(self) -> None:
        """End the server, or close the connections. A later request fails."""
        self._down = self._down or f"the connection to the memory server {self.name} is closed. Rerun."
        running, self._running = self._running, False
        if running and self.transport.outlives_run:
            with suppress(TimeoutError, ServerStopped):
                sent = self._sent & self._spaces.keys()
                await asyncio.wait_for(asyncio.gather(*map(self._close_sent, sent)), CLOSING_S)
        await self.transport.stop()

    async def _close_sent(self, space: str) -> None:
        """Delete a space from a server that goes on to exist, and may allow a few spaces only."""
        async with self._slots:
            with suppress(ServerFailed):
                await self._exchange({"op": "close", "space": space}, EmptyAnswer)

    async def _in_space(self, space: str, request: Mapping[str, Any], answer: type[A]) -> A:
        try:
            return await self._repeated(request, self._spaces.setdefault(space, _Space()), answer)
        finally:
            if self._access is not None and self._access.failure is not None:
                raise self._access.failure

    async def _repeated(self, request: Mapping[str, Any], space: _Space | None, answer: type[A]) -> A:
        """Send a request, and again if the server stops. Raises ServerFailed or ServerDown."""
        reason: ServerStopped | None = None
        for alone in (False, True):
            async with self._entered(alone):
                generation = await self._start()
                try:
                    return await self._send(request, space, answer)
                except ServerStopped as stopped:
                    reason = stopped
                    await self._stopped(generation, stopped)
        raise self._failed(request["op"], f"{reason}. It was started again and failed again") from reason

    @asynccontextmanager
    async def _entered(self, alone: bool) -> AsyncIterator[None]:
        """Take a place among the requests in flight, or all places: a repeated request harms no other."""
        places = 0
        try:
            async with self._turn:
                while places < (REQUESTS_AT_ONCE if alone else 1):
                    await self._slots.acquire()
                    places += 1
            yield
        finally:
            for _ in range(places):
                self._slots.release()

    async def _send(self, request: Mapping[str, Any], space: _Space | None, answer: type[A]) -> A:
        if space is None:
            return await self._exchange(request, answer)
        name = str(request["space"])
        if request["op"] == "reset":
            self._filled.add(name)
        self._sent.add(name)
        async with space.filling:
            if name not in self._filled:
                await self._fill(name, space)
        try:
            result = await self._exchange(request, answer)
        except BaseException as error:
            if request["op"] not in ("read", "export") and not isinstance(error, ReportedError):
                self._filled.discard(name)  # it may have been processed, or not
            raise
        if request["op"] in ("write", "restore", "forget"):
            space.requests.append(request)
        elif request["op"] == "fork":
            self._spaces[request["to"]] = _Space(list(space.requests))
            self._filled.add(request["to"])
            self._sent.add(request["to"])
        return result

    async def _fill(self, name: str, space: _Space) -> None:
        """Reset a space, and send the requests that filled it again."""
        await self._exchange({"op": "reset", "space": name}, EmptyAnswer)
        for request in space.requests:
            await self._exchange({**request, "space": name}, EmptyAnswer)
        self._filled.add(name)

    async def _exchange(self, request: Mapping[str, Any], answer: type[A]) -> A:
        operation = request["op"]
        for repeat in range(REPEATS + 1):
            try:
                raw = await self.transport.request(request, self.limits.of(operation))
            except ServerStopped as stopped:
                raise ServerStopped(self._redacted(str(stopped))) from None  # causes are stored, too
            except (InvalidAnswer, ServerFailed) as wrong:
                raise self._failed(operation, str(wrong)) from None
            error = raw.get("error")
            if error is None:
                self._stops = 0 if operation != "hello" else self._stops
                return self._parse(operation, raw, answer)
            code, message, again = _error(error)
            if operation == "close" and not again:
                return self._parse(operation, {}, answer)  # the operation is optional
            if not again or repeat == REPEATS:
                raise ReportedError(str(self._failed(operation, f"reported the error {code}: {message}")))
            await asyncio.sleep(PAUSE_S * 2**repeat)
        raise AssertionError

    def _parse(self, operation: str, raw: Mapping[str, Any], answer: type[A]) -> A:
        try:
            parsed = answer.model_validate(raw)
            if operation == "hello":
                parsed.model_dump_json()  # raises ValueError for `settings` that no file can store
        except ValidationError as wrong:
            first = wrong.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the answer"
            raise self._failed(operation, f"sent an invalid answer: {place}: {first['msg']}") from wrong
        except ValueError as wrong:
            raise self._failed(operation, "sent an invalid answer: a text is no valid Unicode") from wrong
        return parsed

    async def _start(self) -> int:
        """Start the server if it does not run. Return the number of the start."""
        async with self._starting:
            if self._down is not None:
                raise ServerDown(self._down)
            if self._running:
                return self._generation
            try:
                try:
                    hello = await self._greet()
                except ServerStopped:  # once may be an accident
                    hello = await self._greet()
            except (ServerStopped, ServerFailed) as error:
                await self.transport.stop()
                stopped = f"the memory server {self.name} {error}"
                raise self._give_up(str(error) if isinstance(error, ServerFailed) else stopped) from error
            if self._hello is not None and hello != self._hello:
                await self.transport.stop()
                raise self._give_up(
                    f"the memory server {self.name} answered `hello` differently after a restart. Its name, "
                    "version, settings and capabilities have to stay the same"
                )
            if self._hello is None:
                self._greeted(hello)
            self._hello = hello
            self._generation += 1
            self._filled.clear()
            self._running = True
            return self._generation

    async def _greet(self) -> Hello:
        await self.transport.start()
        return await self._exchange(self._greeting, Hello)

    async def _stopped(self, generation: int, reason: ServerStopped) -> None:
        """Record that the server of a start stopped. Several requests in flight report the same stop."""
        async with self._starting:
            if generation != self._generation or not self._running:
                return
            self._running = False
            self._stops += 1
            self.restarts += 1
            self.last_stop = str(reason)
            await self.transport.stop()
            if self._stops >= STOPS:
                raise self._give_up(
                    f"the memory server {self.name} {reason}. It stopped {STOPS} times without an answer"
                )

    def _give_up(self, reason: str) -> ServerDown:
        check = f"check it with `memflow memories check {self.name}`"
        what = self._redacted(reason).rstrip(".")
        self._down = f"{what}. Fix the server or {self.transport.setting}, {check}, then rerun."
        return ServerDown(self._down)

    def _failed(self, operation: str, what: str) -> ServerFailed:
        named = f"the memory server {self.name} failed at {operation}: "
        text = what if what.startswith("the memory server") else f"{named}it {what}."
        return ServerFailed(self._redacted(text))

    def _redacted(self, text: str) -> str:
        for secret, name in self._secrets.items():
            text = text.replace(secret, name)
        return text


def _error(error: Any) -> tuple[str, str, bool]:
    """Return code, message and `again` of an error answer."""
    if not isinstance(error, Mapping):
        return "error", str(error)[:200], False
    code, message = str(error.get("code", "error"))[:100], str(error.get("message", ""))[:500]
    return code, message, error.get("again") is True
