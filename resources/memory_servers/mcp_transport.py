"""The transport of MCP memory servers: the client of the SDK `mcp` calls the tools that mcp_tools.py finds.

MCP has no reset and no spaces. Of a command, each space is a process in a folder of its own, over stdin and stdout, and
`{space}` and `{folder}` stand for its name and folder. At an address (streamable HTTP), each space is a session. A
server that keeps its data elsewhere, and has no scope such as a user, mixes the spaces, which the check reports.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from memflow.errors import BadSettings, ServerFailed
from memflow.memories.server.protocol import Capabilities
from memflow.resources.endpoints.addresses import display_address, proxy_of
from memflow.resources.memory_servers.mcp_tools import Tool, find_tools, result_items
from memflow.resources.memory_servers.process import ServerCommand, ServerLog
from memflow.resources.memory_servers.transport import CONNECT_S, ServerStopped, Transport, key_headers
from memflow.resources.models.event_loop import detached

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")
CAN = {"models": "own", "spaces": 16}
ENDING_S = 10.0
"""Seconds that the end of a process or session may take."""
SDK_MISSING = (
    "MCP servers need the package mcp, which is not installed. Install it: pip install 'memflow-bench[mcp]'."
)
WORDS, MOST_WORDS = "words", 16
"""The setting with which a query that finds nothing is searched word by word, and the most words of it."""


class McpTransport(Transport):
    """A memory server that calls the tools of an MCP server: a command, or one that runs at an address."""

    outlives_run = False

    def __init__(
        self, command: ServerCommand, log: Path, url: str = "", key_variable: str = "", setting: str = ""
    ) -> None:
        super().__init__()
        self.setting = setting if url else command.setting
        words = [str(path) if (path := command.folder / word).is_file() else word for word in command.words]
        self._command, self._log = replace(command, words=words), ServerLog(log)
        self._url, self._key_variable = url, key_variable
        self._by_word = False
        self._spaces: dict[str, _McpSpace] = {}
        self._write = self._read = Tool("", {})

    async def start(self) -> None:
        """Begin without a space. The first request starts a process."""
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs each line of a banner with a traceback
        await self.stop()

    async def kill(self) -> str:
        """End the processes or sessions. Return the end of their log."""
        await self.stop()
        return "" if self._url else self._log.tail()

    async def stop(self) -> None:
        """End the processes or sessions."""
        spaces = [self._spaces.pop(name) for name in list(self._spaces)]
        await asyncio.gather(*(space.close() for space in spaces))

    async def exchange(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer to a message of memflow's protocol; for an operation that MCP lacks, `error`."""
        operation, name = message["op"], message.get("space", "")
        if operation == "hello":
            return await self._hello(message["settings"])
        if operation in ("reset", "close"):
            if former := self._spaces.pop(name, None):
                await former.close()
            if operation == "reset":
                await self._open(name)
            return {}
        if operation not in ("write", "read"):
            return {"error": {"code": "unsupported", "message": f"MCP has no {operation}"}}
        space = self._spaces.get(name)
        if space is None:
            raise ServerStopped("is not running")
        if operation == "write":
            return {"failures": await self._write_messages(space, message["messages"])}
        return await self._read_items(space, message["query"], message["k"])

    async def _hello(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        named = {part: settings[part] for part in ("write", "read") if part in settings}
        self._by_word = settings.get(WORDS) is True
        declared = {name: value for name, value in settings.items() if name not in {*named, WORDS}}
        if unknown := sorted(declared.keys() - Capabilities.model_fields.keys()):
            raise ServerFailed(
                f"the setting {unknown[0]!r} in `settings` is no capability. Use write, read, "
                f"{WORDS}, {', '.join(Capabilities.model_fields)}, or remove it"
            )
        space = await self._open("")
        info = space.client.server_info
        assert info is not None, "a server with sessions names itself"
        tools = list[Mapping[str, Any]]()
        cursor: str | None = ""
        while cursor is not None:
            page = await space.result(space.client.list_tools(cursor=cursor or None), "tools/list")
            tools += [tool.model_dump(by_alias=True) for tool in page.tools]
            cursor = page.next_cursor
        await self.stop()
        self._write, self._read = find_tools(tools, named, info.name)
        calls = {
            part: {"tool": tool.name, "arguments": tool.arguments}
            for part, tool in (("write", self._write), ("read", self._read))
        }
        return {
            "name": f"mcp {info.name}",
            "version": info.version,
            "settings": {**settings, **calls},
            "can": {**CAN, **declared},
        }

    async def _open(self, name: str) -> "_McpSpace":
        """Start the process or session of a space."""
        space = self._spaces[name] = _McpSpace(self)
        await space.open()
        return space

    @asynccontextmanager
    async def connect(self, space: str) -> "AsyncIterator[Client]":
        """Yield a client of a new process or session. Raises BadSettings, and the errors of the SDK."""
        import httpx2  # noqa: PLC0415  (0.1 s; the SDK 1 s)

        try:
            from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415
            from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415
        except ImportError as error:
            raise BadSettings(f"{self.setting}: {SDK_MISSING}") from error

        async with AsyncExitStack() as stack:
            if self._url:
                http = httpx2.AsyncClient(
                    headers=key_headers(self._key_variable, self.setting),
                    timeout=httpx2.Timeout(None, connect=CONNECT_S),
                    proxy=proxy_of(self._url),
                    trust_env=False,
                )
                await stack.enter_async_context(http)
                transport = streamable_http_client(self._url, http_client=http)
            else:
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="memflow-mcp-")))
                words = [
                    word.replace("{space}", space).replace("{folder}", str(folder))
                    for word in self._command.words
                ]
                command = replace(self._command, words=words, folder=folder)
                # The SDK ends a server that does not end by itself; the shell, what another left behind.
                parameters = StdioServerParameters(
                    command="/bin/sh",
                    args=["-c", '"$@"; kill -KILL 0', "sh", *command.resolved()],
                    env=command.environment(),
                    cwd=folder,
                )
                transport = stdio_client(parameters, stack.enter_context(self._log.opened(command)))
            yield await stack.enter_async_context(Client(transport, mode="legacy", cache=None))

    def stopped(self, error: BaseException) -> ServerStopped:
        """Return the reason why a process or session ended: the error of the SDK."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._url:
            return ServerStopped(
                f"cannot be reached at {display_address(self._url)} ({str(error)[:500] or type(error).__name__})"
            )
        return ServerStopped(f"ended ({error}){self._log.tail()}")

    async def _write_messages(
        self, space: "_McpSpace", messages: list[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        """Write messages, one by one. Return the failures."""
        failures = list[Mapping[str, Any]]()
        for message in messages:
            text = f"{message.get('speaker') or message['role']}: {message['text']}"
            try:
                await space.use(self._write, {"text": text, "id": message["id"]})
            except ServerFailed as error:
                failures.append({"why": str(error), "sources": [message["id"]]})
            space.sent.add(message["id"])
        return failures

    async def _read_items(self, space: "_McpSpace", query: str, k: int) -> Mapping[str, Any]:
        """Return the items for a query; with the setting `words`, those of its words if it finds none."""
        found = result_items(await space.use(self._read, {"query": query, "k": k}))
        if isinstance(found, str):
            return {"notes": found}
        words = [*dict.fromkeys(re.findall(r"\w{3,}", query))][:MOST_WORDS]
        if self._by_word and not found and len(words) > 1:
            hits: dict[str, list[dict[str, Any]]] = {}
            for word in words:
                rows = result_items(await space.use(self._read, {"query": word, "k": k}))
                for item in rows if isinstance(rows, list) else ():
                    hits.setdefault(item["id"], []).append(item)
            found = [items[0] for items in sorted(hits.values(), key=len, reverse=True)]
        return {
            "items": [
                {**item, "sources": [item["id"]] if item["id"] in space.sent else []} for item in found[:k]
            ]
        }


class _McpSpace:
    """The process or session of one space. A task owns its client, which has to end in the task that opened it."""

    client: "Client"

    def __init__(self, transport: McpTransport) -> None:
        self._transport = transport
        self._name = token_hex(12)
        self._owner: asyncio.Task[None] | None = None
        self.sent: set[str] = set()
        """The ids of the messages that were written."""

    async def open(self) -> None:
        """Start the process or session. Raises BadSettings or ServerStopped."""
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._owner = detached(self._own(opened))
        self.client = await opened

    async def _own(self, opened: "asyncio.Future[Client]") -> None:
        try:
            async with self._transport.connect(self._name) as client:
                opened.set_result(client)
                await asyncio.Event().wait()
        except BaseException as error:
            if not opened.done():
                opened.set_exception(
                    error if isinstance(error, BadSettings) else self._transport.stopped(error)
                )
            if not isinstance(error, Exception):
                raise

    async def close(self) -> None:
        """End the process or session."""
        if self._owner is not None:
            self._owner.cancel()
            await asyncio.wait({self._owner}, timeout=ENDING_S)

    async def use(self, tool: Tool, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a tool's JSON result. Raises ServerStopped, or ServerFailed if the tool reports an error."""
        work = self.client.call_tool(tool.name, tool.filled({"space": self._name, **values}))
        called = await self.result(work, f"the tool {tool.name}")
        result = called.model_dump(mode="json", by_alias=True)
        if called.is_error:
            raise ServerFailed(f"the tool {tool.name} failed: {str(result_items(result))[:500]}")
        return result

    async def result(self, work: Awaitable[T], name: str) -> T:
        """Return the result of a request of the client. Raises ServerStopped or ServerFailed."""
        from mcp import MCPError  # noqa: PLC0415
        from mcp.types import CONNECTION_CLOSED  # noqa: PLC0415

        try:
            return await work
        except (MCPError, RuntimeError, ValueError) as error:  # the last two: a result against its schema
            has_ended = str(error) == "Session terminated" or getattr(error, "code", 0) == CONNECTION_CLOSED
            if has_ended:
                raise self._transport.stopped(error) from error
            raise ServerFailed(f"{name} failed: {str(error)[:500]}") from error
