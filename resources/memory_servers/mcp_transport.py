"""The transport of MCP memory servers: JSON-RPC by the tools that mcp_tools.py finds.

MCP has no reset and no spaces. Of a command, each space is a process in a folder of its own, over stdin and stdout, and
`{space}` and `{folder}` stand for its name and folder. At an address (streamable HTTP), each space is a session. A
server that keeps its data elsewhere, and has no scope such as a user, mixes the spaces, which the check reports.
"""

import asyncio
import json
import re
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

from memflow.errors import ServerFailed
from memflow.memories.server.protocol import Capabilities
from memflow.resources.memory_servers.http_transport import HttpTransport
from memflow.resources.memory_servers.mcp_tools import Tool, find_tools, result_items
from memflow.resources.memory_servers.process import ServerCommand
from memflow.resources.memory_servers.stdio_transport import StdioTransport
from memflow.resources.memory_servers.transport import InvalidAnswer, ServerStopped, Transport, decode, shown
from memflow.resources.models.event_loop import detached

MCP_VERSION = "2025-06-18"
CAN = {"models": "own", "spaces": 16}
_SESSION, ENDING_S = "Mcp-Session-Id", 2.0
"""The header of a session, and the seconds that its end may take."""
WORDS, MOST_WORDS = "words", 16
"""The setting with which a query that finds nothing is searched word by word, and the most words of it."""


class _Channel(Transport):
    """The connection of one space."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.name = token_hex(12)
        self.server: Mapping[str, Any] = {}
        self.sent: set[str] = set()
        """The ids of the messages that were written."""
        self.turn = asyncio.Lock()

    async def begin(self) -> None:
        """Start, and exchange versions."""
        await self.start()
        client = {"name": "memflow", "version": "1"}
        begun = await self.call(
            "initialize", {"protocolVersion": MCP_VERSION, "capabilities": {}, "clientInfo": client}
        )
        self.server = begun.get("serverInfo") or {}
        await self.notify(_line(method="notifications/initialized"))

    @abstractmethod
    async def notify(self, content: bytes) -> None:
        """Send a message without an answer."""

    async def call(self, method: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of a request. Raises ServerFailed if the server reports an error."""
        self._number += 1
        answer = await self.exchange(self._number, _line(id=self._number, method=method, params=parameters))
        if error := answer.get("error"):
            raise ServerFailed(f"{method} failed: {str(error.get('message', error))[:500]}")
        return dict(answer.get("result") or {})

    async def use(self, tool: Tool, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of a tool. Raises ServerFailed if the tool reports an error."""
        result = await self.call(
            "tools/call", {"name": tool.name, "arguments": tool.filled({"space": self.name, **values})}
        )
        if result.get("isError"):
            raise ServerFailed(f"the tool {tool.name} failed: {str(result_items(result))[:500]}")
        return result


class _ProcessChannel(_Channel, StdioTransport):
    """The process of one space. Lines that are no messages, such as banners, are ignored."""

    async def notify(self, content: bytes) -> None:
        await self._write_line(content)

    def _receive(self, line: bytes) -> None:
        with suppress(InvalidAnswer):
            message = decode(line)
            waiting = self._answers.get(message.get("id", 0))
            if "method" in message and "id" in message:  # a request of the server
                unknown = {"error": {"code": -32601, "message": "unknown"}}
                known = {"result": {}} if message["method"] == "ping" else unknown
                detached(self._write_line(_line(id=message["id"], **known)))
            elif "method" not in message and waiting is not None and not waiting.done():
                waiting.set_result(message)


class _HttpChannel(_Channel, HttpTransport):
    """The session of one space at an address: a POST for each message, answered by JSON or by events."""

    async def notify(self, content: bytes) -> None:
        await self._post(content)

    async def stop(self) -> None:
        """End the session, if the server answers, and close the connections."""
        from aiohttp import ClientError  # noqa: PLC0415  (takes 0.1 s)

        if self._session is not None and _SESSION in self._session.headers:
            with suppress(ClientError, OSError, TimeoutError):
                await asyncio.wait_for(self._session.delete(self.url), ENDING_S)
        await super().stop()

    async def exchange(self, number: int, content: bytes) -> Mapping[str, Any]:
        client = self._session
        if client is None:
            raise ServerStopped("has no open connection")
        client.headers["Accept"] = "application/json, text/event-stream"
        status, received, headers = await self._post(content)
        if status != 200:
            failure = (
                ServerStopped if status in (404, 502, 503, 504) else ServerFailed
            )  # 404: the session ended
            raise failure(f"returned HTTP status {status}: {shown(received)}")
        if session := headers.get(_SESSION):
            client.headers[_SESSION] = session
        texts = [received]
        if headers.get("Content-Type", "").startswith("text/event-stream"):
            events = re.split(rb"\r?\n\r?\n", received)
            texts = [b"\n".join(re.findall(rb"^data: ?(.*?)\r?$", event, re.MULTILINE)) for event in events]
        for message in (decode(text) for text in texts if text.strip()):
            if message.get("id") == number and "method" not in message:
                if version := (message.get("result") or {}).get("protocolVersion"):
                    client.headers["MCP-Protocol-Version"] = version
                return message
        raise InvalidAnswer(f"sent no answer to the request {number}: {shown(received)}")


class McpTransport(Transport):
    """A memory server that calls the tools of an MCP server: a command, or one that runs at an address."""

    outlives_run = False

    def __init__(
        self, command: ServerCommand, log: Path, url: str = "", key_variable: str = "", setting: str = ""
    ) -> None:
        super().__init__()
        self.setting = setting or command.setting
        words = [str(path) if (path := command.folder / word).is_file() else word for word in command.words]
        self._command, self._log, self._address = replace(command, words=words), log, (url, key_variable)
        self._by_word = False
        self._spaces: dict[str, _Channel] = {}
        self._folder: TemporaryDirectory[str] | None = None
        self._write = self._read = Tool("", {})

    async def start(self) -> None:
        """Begin without a space. The first request starts a process."""
        await self.stop()
        self._folder = TemporaryDirectory(prefix="memflow-mcp-")

    async def kill(self) -> str:
        """End the processes at once, as a crash would."""
        return "".join([await channel.kill() for channel in self._spaces.values()][:1])

    async def stop(self) -> None:
        """End the processes, and delete their folders."""
        for space in list(self._spaces):
            await self._close(space)
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()

    async def exchange(self, number: int, content: bytes) -> Mapping[str, Any]:
        """Return the answer to a message of memflow's protocol."""
        request = json.loads(content)
        operation, space = request["op"], request.get("space", "")
        if operation == "hello":
            return await self._hello(request["settings"])
        if operation in ("reset", "close"):
            await self._close(space)
            if operation == "reset":
                await self._open(space)
            return {}
        if operation not in ("write", "read"):
            return {"error": {"code": "unsupported", "message": f"MCP has no {operation}"}}
        channel = self._spaces[space]
        async with channel.turn:
            if operation == "write":
                return {"failures": await self._write_messages(channel, request["messages"])}
            return await self._read_items(channel, request["query"], request["k"])

    async def _hello(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        named = {part: settings[part] for part in ("write", "read") if part in settings}
        self._by_word = settings.get(WORDS) is True
        declared = {name: value for name, value in settings.items() if name not in {*named, WORDS}}
        if unknown := sorted(declared.keys() - Capabilities.model_fields.keys()):
            raise ServerFailed(
                f"has the setting {unknown[0]!r} in `settings`, which is no capability. Use write, read, "
                f"{WORDS}, {', '.join(Capabilities.model_fields)}, or remove it"
            )
        channel = await self._open("")
        server = channel.server
        name = f"{server.get('name', 'unknown')}"
        try:
            tools, cursor = list[Mapping[str, Any]](), dict[str, Any]()
            while True:
                page = await channel.call("tools/list", cursor)
                tools += page.get("tools", ())
                if not page.get("nextCursor"):
                    break
                cursor = {"cursor": page["nextCursor"]}
            self._write, self._read = find_tools(tools, named, name)
        finally:
            await self._close("")
        calls = {
            part: {"tool": tool.name, "arguments": tool.arguments}
            for part, tool in (("write", self._write), ("read", self._read))
        }
        return {
            "name": f"mcp {name}",
            "version": str(server.get("version", "unknown")),
            "settings": {**settings, **calls},
            "can": {**CAN, **declared},
        }

    async def _open(self, space: str) -> _Channel:
        """Start the process or session of a space."""
        url, key_variable = self._address
        if url:
            self._spaces[space] = channel = _HttpChannel(url, key_variable, self.setting)
            await channel.begin()
            return channel
        assert self._folder is not None, "the transport was started"
        folder = Path(self._folder.name) / token_hex(8)
        folder.mkdir()
        process = _ProcessChannel(self._command, self._log)
        words = [
            word.replace("{space}", process.name).replace("{folder}", str(folder))
            for word in self._command.words
        ]
        process.command = replace(self._command, words=words, folder=folder)
        self._spaces[space] = process
        await process.begin()
        return process

    async def _close(self, space: str) -> None:
        if channel := self._spaces.pop(space, None):
            await channel.stop()

    async def _write_messages(
        self, channel: _Channel, messages: list[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        """Write messages, one by one if the tool takes a text. Return the failures."""
        failures = list[Mapping[str, Any]]()
        together = self._write.has("messages") and not self._write.has("text")
        for part in [messages] if together else [[message] for message in messages]:
            lines = [f"{message.get('speaker') or message['role']}: {message['text']}" for message in part]
            turns = [{"role": message["role"], "content": message["text"]} for message in part]
            values = {"text": "\n".join(lines), "messages": turns, "id": part[0]["id"]}
            try:
                await channel.use(self._write, values)
            except ServerFailed as error:
                failures.append({"why": str(error), "sources": [message["id"] for message in part]})
            channel.sent |= {message["id"] for message in part}
        return failures

    async def _read_items(self, channel: _Channel, query: str, k: int) -> Mapping[str, Any]:
        """Return the items for a query; with the setting `words`, those of its words if it finds none."""
        found = result_items(await channel.use(self._read, {"query": query, "k": k}))
        if isinstance(found, str):
            return {"notes": found}
        words = [*dict.fromkeys(re.findall(r"\w{3,}", query))][:MOST_WORDS]
        if self._by_word and not found and len(words) > 1:
            hits: dict[str, list[dict[str, Any]]] = {}
            for word in words:
                rows = result_items(await channel.use(self._read, {"query": word, "k": k}))
                for item in rows if isinstance(rows, list) else ():
                    hits.setdefault(item["id"], []).append(item)
            found = [items[0] for items in sorted(hits.values(), key=len, reverse=True)]
        return {
            "items": [
                {**item, "sources": [item["id"]] if item["id"] in channel.sent else []} for item in found[:k]
            ]
        }


def _line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()
