"""The connection to a memory server: checked answers, one restart per request, and the replay of a space's writes.

It implements `Connection` of memflow/memories/server/protocol.py on a transport (transport.py).
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

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
from memflow.resources.memory_servers.transport import InvalidAnswer, ServerStopped, Transport
from memflow.resources.model_proxy.access import ModelAccess
from memflow.resources.settings.own_sections import ServerTimeLimits

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


@dataclass
class _Space:
    """The requests that filled a space, which are sent again after a restart."""

    requests: list[Mapping[str, Any]] = field(default_factory=list)
    filling: asyncio.Lock = field(default_factory=asyncio.Lock)
    filled: int = 0
    """The last start of the server that has the content; 0 if it is not known."""


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
        limits: ServerTimeLimits | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        access: ModelAccess | None = None,
        seed: int | None = None,
        secrets: Mapping[str, str] | None = None,
        greeted: Callable[[Hello], None] = lambda hello: None,
    ) -> None:
        self.name = name
        self.transport = transport
        self.limits = limits or ServerTimeLimits()
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
        self._start_number = 0
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
        await self._request({"op": "reset", "space": space}, Wire)

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
        written = await self._request(request, WriteAnswer)
        failures = [each.model_copy(update={"why": self._redacted(each.why)}) for each in written.failures]
        return written.model_copy(update={"failures": tuple(failures)})

    async def read(
        self, space: str, query: str, k: int, *, asked_at: str | None = None, as_of: int | None = None
    ) -> ReadAnswer:
        """Return at most `k` items for a query."""
        request: dict[str, Any] = {"op": "read", "space": space, "query": query, "k": k}
        request |= {} if asked_at is None else {"asked_at": asked_at}
        request |= {} if as_of is None else {"as_of": as_of}
        found = await self._request(request, ReadAnswer)
        if len(found.items) > k:
            raise self._failed("read", f"it answered {len(found.items)} items although k is {k}")
        return found

    async def export(self, space: str) -> ExportAnswer:
        """Return all items of a space."""
        return await self._request({"op": "export", "space": space}, ExportAnswer)

    async def fork(self, space: str, to: str) -> None:
        """Copy a space."""
        await self._request({"op": "fork", "space": space, "to": to}, Wire)

    async def restore(self, space: str, items: Sequence[WireItem]) -> None:
        """Fill an empty space with items."""
        sent = [item.model_dump(exclude_none=True) for item in items]
        await self._request({"op": "restore", "space": space, "items": sent}, Wire)

    async def close(self, space: str) -> None:
        """Delete a space that is not used any more."""
        if self._spaces.pop(space, None) is not None and self._running:
            with suppress(ServerStopped):  # the next request starts it again
                await self._exchange({"op": "close", "space": space}, Wire)

    async def stop(self) -> None:
        """End the server, or close the connections. A later request fails."""
        self._down = self._down or f"the connection to the memory server {self.name} is closed. Rerun."
        running, self._running = self._running, False
        if running and self.transport.outlives_run:  # the server may allow a few spaces only
            closing = (self._exchange({"op": "close", "space": space}, Wire) for space in self._spaces)
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(*closing, return_exceptions=True), CLOSING_S)
        await self.transport.stop()

    async def _request(self, request: Mapping[str, Any], answer: type[A]) -> A:
        """Send a request, and again if the server stops. Raises ServerFailed or ServerDown."""
        space = self._spaces.setdefault(request["space"], _Space())
        try:
            for alone in (False, True):
                async with AsyncExitStack() as places:
                    async with self._turn:  # a repeated request is alone in flight, so that it harms no other
                        for _ in range(REQUESTS_AT_ONCE if alone else 1):
                            await places.enter_async_context(self._slots)
                    number = await self._start()
                    try:
                        return await self._send(request, space, answer)
                    except ServerStopped as stopped:
                        reason = stopped
                        await self._stopped(number, stopped)
            raise self._failed(
                request["op"], f"it {reason}. It was started again and failed again"
            ) from reason
        finally:
            if self._access is not None and self._access.failure is not None:
                raise self._access.failure

    async def _send(self, request: Mapping[str, Any], space: _Space, answer: type[A]) -> A:
        if request["op"] == "reset":
            space.filled = self._start_number
        async with space.filling:
            if space.filled != self._start_number:
                number = self._start_number
                for former in ({"op": "reset", "space": request["space"]}, *space.requests):
                    await self._exchange({**former, "space": request["space"]}, Wire)
                space.filled = number
        try:
            result = await self._exchange(request, answer)
        except BaseException as error:
            if request["op"] not in ("read", "export") and not isinstance(error, ReportedError):
                space.filled = 0  # it may have been processed, or not
            raise
        if request["op"] in ("write", "restore", "forget"):
            space.requests.append(request)
        elif request["op"] == "fork":
            self._spaces[request["to"]] = _Space(list(space.requests), filled=space.filled)
        return result

    async def _exchange(self, request: Mapping[str, Any], answer: type[A]) -> A:
        operation = request["op"]
        for repeat in range(REPEATS + 1):
            try:
                raw = await self.transport.request(request, self.limits.of(operation))
            except ServerStopped as stopped:
                raise ServerStopped(self._redacted(str(stopped))) from None  # causes are stored, too
            except (InvalidAnswer, ServerFailed) as wrong:
                what = f"it {wrong}" if isinstance(wrong, InvalidAnswer) else str(wrong)
                raise self._failed(operation, what) from None
            error = raw.get("error")
            if error is None:
                self._stops = 0 if operation != "hello" else self._stops
                try:
                    return answer.model_validate(raw)
                except ValidationError as wrong:
                    first = wrong.errors(include_url=False, include_input=False)[0]
                    place = ".".join(map(str, first["loc"])) or "the answer"
                    what = f"it sent an invalid answer: {place}: {first['msg']}"
                    raise self._failed(operation, what) from wrong
            error = error if isinstance(error, Mapping) else {"message": error}
            again = error.get("again") is True
            if operation == "close" and not again:
                return answer()  # the operation is optional
            if not again or repeat == REPEATS:
                code, message = str(error.get("code", "error"))[:100], str(error.get("message", ""))[:500]
                raise ReportedError(str(self._failed(operation, f"it reported the error {code}: {message}")))
            await asyncio.sleep(PAUSE_S * 2**repeat)
        raise AssertionError

    async def _start(self) -> int:
        """Start the server if it does not run. Return the number of the start."""
        async with self._starting:
            if self._down is not None:
                raise ServerDown(self._down)
            if self._running:
                return self._start_number
            try:
                await self.transport.start()
                hello = await self._exchange(self._greeting, Hello)
            except (ServerStopped, ServerFailed) as error:
                stopped = f"the memory server {self.name} {error}"
                raise await self._give_up(
                    str(error) if isinstance(error, ServerFailed) else stopped
                ) from error
            if self._hello is not None and hello != self._hello:
                raise await self._give_up(
                    f"the memory server {self.name} answered `hello` differently after a restart. Its name, "
                    "version, settings and capabilities have to stay the same"
                )
            if self._hello is None:
                self._greeted(hello)
            self._hello = hello
            self._start_number += 1
            self._running = True
            return self._start_number

    async def _stopped(self, number: int, reason: ServerStopped) -> None:
        """Record that the server of a start stopped. Several requests in flight report the same stop."""
        async with self._starting:
            if number != self._start_number or not self._running:
                return
            self._running = False
            self._stops += 1
            self.restarts += 1
            self.last_stop = str(reason)
            await self.transport.stop()
            if self._stops >= STOPS:
                raise await self._give_up(
                    f"the memory server {self.name} {reason}. It stopped {STOPS} times without an answer"
                )

    async def _give_up(self, reason: str) -> ServerDown:
        await self.transport.stop()
        check = f"check it with `memflow memories check {self.name}`"
        what = self._redacted(reason).rstrip(".")
        self._down = f"{what}. Fix the server or {self.transport.setting}, {check}, then rerun."
        return ServerDown(self._down)

    def _failed(self, operation: str, what: str) -> ServerFailed:
        return ServerFailed(self._redacted(f"the memory server {self.name} failed at {operation}: {what}."))

    def _redacted(self, text: str) -> str:
        for secret, name in self._secrets.items():
            text = text.replace(secret, name)
        return text
